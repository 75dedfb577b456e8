//! Connections: HTTP/1.1 and HTTP/2, with or without TLS, and nobody keeps one for nothing.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower::Service as _;

use crate::Failure;

/// How many connections there may be; more wait to be accepted.
const CONNECTIONS: usize = 10_000;
/// A client has so long to say what it wants, from the first byte of a request to the end of its headers. It is also how
/// long a connection may be idle between two requests.
const HEADERS: Duration = Duration::from_secs(15);
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The request line and all headers of one request.
const HEADER_BYTES: usize = 32 * 1024;
const STREAMS: u32 = 100;
/// A client of HTTP/2 that does not answer a ping is gone.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_PATIENCE: Duration = Duration::from_secs(10);

/// Reads a certificate chain and its key, both PEM.
pub(crate) fn tls(certificates: &Path, key: &Path) -> Result<TlsAcceptor, Failure> {
    let failed = |path: &Path| {
        let what = format!("reading {}", path.display());
        move |error: &dyn std::error::Error| Failure::new(what.clone(), error)
    };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(certificates)
        .and_then(Iterator::collect)
        .map_err(|error| failed(certificates)(&error));
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key)(&error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::new("TLS", &error))?
        .with_no_client_auth()
        .with_single_cert(chain?, private)
        .map_err(|error| Failure::new("the TLS certificate and its key", &error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Serves until told to stop; then takes no new connections and waits until all requests in flight are answered.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    tls: Option<TlsAcceptor>,
    stopped: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let accepting = async {
        loop {
            // It is never closed.
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let (stream, peer) = accept(&listener).await;
            let connection = Connection { router: router.clone(), peer, watcher: graceful.watcher() };
            let tls = tls.clone();
            tokio::spawn(async move {
                match tls {
                    Some(tls) => connection.secure(tls, stream).await,
                    None => connection.http1(stream).await,
                }
                drop(place);
            });
        }
    };
    tokio::select! {
        () = accepting => {}
        () = stopped => {}
    }
    drop(listener);
    graceful.shutdown().await;
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Answers are written as a whole.
                let _ = stream.set_nodelay(true);
                return (stream, peer);
            }
            Err(error) if is_of_the_connection(&error) => {}
            Err(error) => {
                // Out of file descriptors, as a rule: there will be some again when connections end.
                tracing::warn!(%error, "no connection can be accepted");
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionRefused | ConnectionAborted | ConnectionReset)
}

struct Connection {
    router: Router,
    peer: SocketAddr,
    watcher: Watcher,
}

impl Connection {
    async fn secure(self, tls: TlsAcceptor, stream: TcpStream) {
        let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(stream)).await else { return };
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            self.http2(stream).await;
        } else {
            self.http1(stream).await;
        }
    }

    async fn http1(self, stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        let Self { router, peer, watcher } = self;
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(HEADER_BYTES);
        let service = service_fn(move |request| answer(router.clone(), peer, request));
        ended(watcher.watch(builder.serve_connection(TokioIo::new(stream), service)).await);
    }

    async fn http2(self, stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        let Self { router, peer, watcher } = self;
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(HEADER_BYTES as u32)
            .keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_PATIENCE);
        let service = service_fn(move |request| answer(router.clone(), peer, request));
        ended(watcher.watch(builder.serve_connection(TokioIo::new(stream), service)).await);
    }
}

async fn answer(
    mut router: Router,
    peer: SocketAddr,
    mut request: hyper::Request<Incoming>,
) -> Result<axum::response::Response, std::convert::Infallible> {
    request.extensions_mut().insert(ConnectInfo(peer));
    router.call(request).await
}

/// Clients end connections in all sorts of ways.
fn ended(connection: hyper::Result<()>) {
    if let Err(error) = connection {
        tracing::debug!(%error, "a connection ended");
    }
}
