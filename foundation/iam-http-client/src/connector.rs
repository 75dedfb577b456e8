use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use hyper::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use iam_model::webhook::AddressPolicy;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower::Service;

use crate::error::{RequestError, classify};

/// Resolves names and connects to addresses. Tests replace it.
#[async_trait]
pub(crate) trait Network: Send + Sync + 'static {
    /// Returns the addresses of a host, which is a name or an address, with a port.
    async fn look_up(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;

    /// Connects to an address.
    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream>;
}

/// The network of the machine.
pub(crate) struct System(Arc<Semaphore>);

/// The maximum number of look-ups at the same time. Each occupies a thread until the resolver gives up, which can take
/// half a minute, and the threads are those of the whole process.
const MAX_LOOK_UPS: usize = 128;

impl Default for System {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_LOOK_UPS)))
    }
}

#[async_trait]
impl Network for System {
    async fn look_up(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let permit = Arc::clone(&self.0).acquire_owned().await.map_err(io::Error::other)?;
        let host = host.to_owned();
        let look_up = tokio::task::spawn_blocking(move || {
            // Held until the thread is free: a request that ends does not cancel its look-up.
            let _permit = permit;
            Ok((host.as_str(), port).to_socket_addrs()?.collect())
        });
        look_up.await.map_err(io::Error::other)?
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect(address).await
    }
}

/// Makes the connections of the client, to addresses that its policy allows.
///
/// The check is here, because each connection is made here, also to a host that is an address. A check before the
/// request could see another answer of the resolver than the connection.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) policy: AddressPolicy,
    pub(crate) network: Arc<dyn Network>,
    pub(crate) tls: TlsConnector,
    /// How long a connection may take to be made. The client can finish it in the background, beyond the limit of the
    /// request.
    pub(crate) limit: Duration,
}

/// A connection, with TLS or without.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl Stream for TcpStream {}

impl Stream for TlsStream<TcpStream> {}

impl Connection for Box<dyn Stream> {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

type Connecting = Pin<Box<dyn Future<Output = Result<TokioIo<Box<dyn Stream>>, RequestError>> + Send>>;

impl Service<Uri> for Connector {
    type Response = TokioIo<Box<dyn Stream>>;
    type Error = RequestError;
    type Future = Connecting;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), RequestError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Connecting {
        let connector = self.clone();
        Box::pin(async move {
            let connected = timeout(connector.limit, connector.connect(&uri)).await;
            connected.map_err(|_| RequestError::TimedOut)?.map(TokioIo::new)
        })
    }
}

impl Connector {
    async fn connect(&self, uri: &Uri) -> Result<Box<dyn Stream>, RequestError> {
        let is_encrypted = uri.scheme_str() != Some("http");
        if !is_encrypted && self.policy == AddressPolicy::Public {
            return Err(RequestError::NotAllowed);
        }
        let host = uri.host().ok_or(RequestError::Unresolved)?.trim_start_matches('[').trim_end_matches(']');
        let port = uri.port_u16().unwrap_or(if is_encrypted { 443 } else { 80 });
        let stream = self.reach_one(&self.allowed(host, port).await?).await?;
        if !is_encrypted {
            return Ok(Box::new(stream));
        }
        let name = ServerName::try_from(host.to_owned()).map_err(|_| RequestError::Tls)?;
        let stream = self.tls.connect(name, stream).await.map_err(|error| classify(&error))?;
        Ok(Box::new(stream))
    }

    /// Returns the addresses of a host that may be reached, at least one.
    async fn allowed(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, RequestError> {
        let mut addresses = self.network.look_up(host, port).await.unwrap_or_default();
        if addresses.is_empty() {
            return Err(RequestError::Unresolved);
        }
        addresses.retain(|address| self.policy.allows(address.ip()));
        if addresses.is_empty() { Err(RequestError::NotAllowed) } else { Ok(addresses) }
    }

    /// Connects to the first address that accepts. Each has an equal share of the time, so one that does not answer
    /// leaves time for the others.
    async fn reach_one(&self, addresses: &[SocketAddr]) -> Result<TcpStream, RequestError> {
        let share = self.limit / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
        let mut failure = RequestError::Unreachable;
        for address in addresses {
            failure = match timeout(share, self.network.connect(*address)).await {
                Ok(Ok(stream)) => {
                    // The request is written at once, so there is nothing to wait for.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(_)) => RequestError::Unreachable,
                Err(_) => RequestError::TimedOut,
            };
        }
        Err(failure)
    }
}
