//! A network that fails at will.

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

/// What is wrong with the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// Whatever is sent takes this much longer.
    Slow(Duration),
    /// Nothing arrives, and nobody is told. The connections that there are, or are made meanwhile, are lost for good.
    Silent,
    /// The connections that there are are lost without a word; new ones are as good as ever.
    Severed,
    /// Connections are reset, and so are new ones.
    Reset,
    /// Connections are reset, and new ones refused: nobody listens.
    Gone,
}

/// Stands between a client and a PostgreSQL server, on a port of its own.
pub struct Proxy {
    address: SocketAddr,
    fault: watch::Sender<Fault>,
    open: Arc<AtomicUsize>,
    /// Of its own, so that clients need none.
    runtime: Option<Runtime>,
}

impl Proxy {
    /// Listens for clients of the server that this URL names.
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
        listener.set_nonblocking(true).expect("it can be told so");
        runtime.spawn(listen(Network { server, fault: faults, open: Arc::clone(&open) }, listener, address));
        Self { address, fault, open, runtime: Some(runtime) }
    }

    /// The same database, through the proxy.
    #[must_use]
    pub fn url(&self, of: &str) -> String {
        options(of).host(&self.address.ip().to_string()).port(self.address.port()).to_url_lossy().into()
    }

    /// From now on this is wrong.
    pub fn set(&self, fault: Fault) {
        self.fault.send_replace(fault);
    }

    /// How many connections there are.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // It cannot be waited for from inside another runtime.
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
    async fn until(&self, is_it: impl Fn(Fault) -> bool) {
        if self.fault.clone().wait_for(|fault| is_it(*fault)).await.is_err() {
            // The proxy is gone, and everything with it.
            pending().await
        }
    }

    async fn serve(self, mut client: TcpStream) {
        self.open.fetch_add(1, Ordering::SeqCst);
        let is_new = *self.fault.borrow() == Fault::Severed;
        if let Ok(mut server) = TcpStream::connect(&self.server).await {
            let (mut from_client, mut to_client) = client.split();
            let (mut from_server, mut to_server) = server.split();
            let reset = tokio::select! {
                () = async { tokio::join!(self.carry(&mut from_client, &mut to_server, is_new), self.carry(&mut from_server, &mut to_client, is_new)); } => false,
                () = self.until(|fault| matches!(fault, Fault::Reset | Fault::Gone)) => true,
            };
            if reset {
                // What is dropped then is reset, not closed.
                let _ = (client.set_zero_linger(), server.set_zero_linger());
            }
        }
        self.open.fetch_sub(1, Ordering::SeqCst);
    }

    /// Carries what is sent in one direction, until it is closed.
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
