//! A network whose faults a test controls.

use std::future::pending;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::time::sleep;

/// A fault of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No fault.
    None,
    /// All data arrives later by this delay.
    Slow(Duration),
    /// No data arrives, and neither side gets an error. Connections that exist or are opened during this fault never
    /// work again.
    Silent,
    /// No data arrives on the existing connections, and neither side gets an error. New connections work.
    Severed,
    /// Existing and new connections are reset.
    Reset,
    /// Existing connections are closed. New ones are accepted, and closed after the first message: a proxy that has no
    /// server.
    Closed,
    /// Existing connections are reset, and new ones are refused, because no socket listens on the port.
    Gone,
}

/// A proxy between clients and a PostgreSQL server, on its own port.
pub struct Proxy {
    address: SocketAddr,
    fault: watch::Sender<Fault>,
    open: Arc<AtomicUsize>,
    /// The proxy's own runtime, so that it also works in a test without one.
    runtime: Option<Runtime>,
}

impl Proxy {
    /// Starts a proxy for the server that this URL names.
    #[must_use]
    pub fn before(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("threads can be started");
        let (fault, faults) = watch::channel(Fault::None);
        let open = Arc::<AtomicUsize>::default();
        let server = options(url);
        let server = format!("{}:{}", server.get_host(), server.get_port());
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        listener.set_nonblocking(true).expect("the listener can be set to non-blocking");
        runtime.spawn(listen(Network { server, fault: faults, open: Arc::clone(&open) }, listener, address));
        Self { address, fault, open, runtime: Some(runtime) }
    }

    /// The URL of the same database through the proxy.
    #[must_use]
    pub fn url(&self, of: &str) -> String {
        options(of).host(&self.address.ip().to_string()).port(self.address.port()).to_url_lossy().into()
    }

    /// Sets the fault from this moment on.
    pub fn set(&self, fault: Fault) {
        self.fault.send_replace(fault);
    }

    /// The number of open connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // A drop inside another runtime must not wait for this one.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn options(url: &str) -> PgConnectOptions {
    url.parse().expect("it is the URL of a PostgreSQL database")
}

async fn listen(network: Network, listener: std::net::TcpListener, address: SocketAddr) {
    let mut listener = TcpListener::from_std(listener).expect("it does not block");
    loop {
        let accepting = async {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(network.clone().serve(client));
            }
        };
        tokio::select! {
            () = accepting => {}
            () = network.until(|fault| fault == Fault::Gone) => {}
        }
        drop(listener);
        network.until(|fault| fault != Fault::Gone).await;
        listener = TcpListener::bind(address).await.expect("the port is still free");
    }
}

#[derive(Clone)]
struct Network {
    server: String,
    fault: watch::Receiver<Fault>,
    open: Arc<AtomicUsize>,
}

impl Network {
    async fn until(&self, matches: impl Fn(Fault) -> bool) {
        if self.fault.clone().wait_for(|fault| matches(*fault)).await.is_err() {
            // The proxy is dropped, and its runtime shuts down.
            pending().await
        }
    }

    async fn serve(self, mut client: TcpStream) {
        if *self.fault.borrow() == Fault::Closed {
            let _ = client.read(&mut [0; 1024]).await;
            return;
        }
        self.open.fetch_add(1, Ordering::SeqCst);
        let is_new = *self.fault.borrow() == Fault::Severed;
        if let Ok(mut server) = TcpStream::connect(&self.server).await {
            let (mut from_client, mut to_client) = client.split();
            let (mut from_server, mut to_server) = server.split();
            let reset = tokio::select! {
                () = async { tokio::join!(self.carry(&mut from_client, &mut to_server, is_new), self.carry(&mut from_server, &mut to_client, is_new)); } => false,
                () = self.until(|fault| matches!(fault, Fault::Reset | Fault::Gone)) => true,
                () = self.until(|fault| fault == Fault::Closed) => false,
            };
            if reset {
                // With zero linger, the drop of a socket resets the connection instead of closing it.
                let _ = (client.set_zero_linger(), server.set_zero_linger());
            }
        }
        self.open.fetch_sub(1, Ordering::SeqCst);
    }

    /// Copies data in one direction until the connection is closed.
    async fn carry(&self, from: &mut (impl AsyncRead + Unpin), to: &mut (impl AsyncWrite + Unpin), is_new: bool) {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            let read = tokio::select! {
                read = from.read(&mut bytes) => read,
                () = self.until(|fault| fault == Fault::Silent || (fault == Fault::Severed && !is_new)) => {
                    return pending().await;
                }
            };
            let sent = bytes.get(..read.unwrap_or(0)).unwrap_or_default();
            let fault = *self.fault.borrow();
            if let Fault::Slow(delay) = fault {
                sleep(delay).await;
            }
            if sent.is_empty() || to.write_all(sent).await.is_err() {
                let _ = to.shutdown().await;
                return;
            }
        }
    }
}
