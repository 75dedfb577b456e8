//! Connections: HTTP/1.1, with or without TLS, and HTTP/2 with TLS. Time limits end connections that clients do not
//! use.

mod body_drain;
pub(crate) mod connection_limit;
mod host;
mod stalled_stream;

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request, header};
use axum::middleware::map_response;
use axum::response::Response;
use axum::{BoxError, Router};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use iam_axum::{Problem, with_conventions};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutWriter;
use tokio_rustls::TlsAcceptor;
use tower::Service as _;

use crate::failure::Failure;
use crate::net::body_drain::answer_and_drain;
use crate::net::connection_limit::Clients;
use crate::net::stalled_stream::{Streams, in_pieces};
use crate::settings::CONNECTIONS;
use crate::trace::note_parent;

/// How long a client may take to send the headers of a request, from its first byte to their end. It is also how long
/// a connection may be idle between two requests.
const HEADER_TIMEOUT: Duration = Duration::from_secs(15);
const HANDSHAKE: Duration = Duration::from_secs(10);
/// A client that reads nothing for this long, while the server writes to it, counts as gone.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The most bytes of the request line and all headers of one request.
const HEADER_BYTES: usize = 32 * 1024;
const STREAMS: u32 = 100;
/// How often the server pings a client of HTTP/2. A client that does not answer in time counts as gone.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);
/// The age at which the server ends a connection of HTTP/2, so that the client connects again. A random part of up to
/// a fifth is added, so that clients that connected together do not come back together. HTTP/2 can announce the end
/// of a connection. HTTP/1.1 cannot, and its client might be sending a request at that moment.
const CONNECTION_AGE: Duration = Duration::from_secs(5 * 60);
/// Two years (RFC 6797), for this host name alone: the server must not decide for its subdomains.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=63072000");

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

/// The router of a listener: at first that of a server that starts, and later that of its services.
#[derive(Clone)]
pub(crate) struct Answers {
    starting: Router,
    ready: Arc<OnceLock<Router>>,
    /// Answers a request whose host is missing or invalid.
    without_host: Router,
    has_tls: bool,
}

impl Answers {
    /// Answers by this router until the services are ready. The conventions of the API are for requests without a valid
    /// host.
    pub(crate) fn starting(starting: Router, api: &iam_axum::Settings, has_tls: bool) -> Self {
        let refuse = async |request: Request<axum::body::Body>| {
            let message = host::check(&request).err().unwrap_or_default();
            Problem::from(iam_core::Error::field("Host", message))
        };
        let without_host = with_conventions(Router::new().fallback(refuse), api.clone());
        let answers = Self { starting: Router::new(), ready: Arc::default(), without_host: Router::new(), has_tls };
        Self { starting: answers.secured(starting), without_host: answers.secured(without_host), ..answers }
    }

    /// Answers by this router from now on.
    pub(crate) fn ready(&self, router: Router) {
        // A server becomes ready once.
        let _ = self.ready.set(self.secured(router));
    }

    fn secured(&self, router: Router) -> Router {
        if self.has_tls { router.layer(map_response(strict_transport_security)) } else { router }
    }

    fn of<B>(&self, request: &Request<B>) -> Router {
        match host::check(request) {
            Ok(()) => self.ready.get().unwrap_or(&self.starting).clone(),
            Err(_) => self.without_host.clone(),
        }
    }
}

/// Serves until `stopped` ends. Then accepts no new connections and waits until all requests in flight are answered.
pub(crate) async fn serve(
    listener: TcpListener,
    answers: Answers,
    tls: Option<TlsAcceptor>,
    clients: Clients,
    stopped: impl Future<Output = ()>,
) {
    let (stop, stopping) = watch::channel(());
    let permits = Arc::new(Semaphore::new(CONNECTIONS as usize));
    let accepting = async {
        loop {
            // The semaphore is never closed.
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
            let (stream, peer) = accept(&listener).await;
            let Some(admitted) = clients.admit(peer.ip()) else {
                tracing::debug!(client = %peer.ip(), "refused a connection: this client has too many connections");
                continue;
            };
            let connection = Connection { answers: answers.clone(), peer, stopping: stopping.clone() };
            let tls = tls.clone();
            tokio::spawn(async move {
                connection.serve(tls, stream).await;
                drop((admitted, permit));
            });
        }
    };
    tokio::select! {
        () = accepting => {}
        () = stopped => {}
    }
    drop((listener, stop));
    // Every connection holds a permit until it ends.
    let _ = permits.acquire_many(CONNECTIONS).await;
}

async fn strict_transport_security(mut response: Response) -> Response {
    response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
    response
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // The server writes an answer as a whole, so the kernel need not wait for more of it.
                let _ = stream.set_nodelay(true);
                return (stream, peer);
            }
            Err(error) if is_of_the_connection(&error) => {}
            Err(error) => {
                // Usually the process has no file descriptor left. There are some again when connections end.
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
    answers: Answers,
    peer: SocketAddr,
    /// Changes, or is closed, when the server stops.
    stopping: watch::Receiver<()>,
}

impl Connection {
    async fn serve(self, tls: Option<TlsAcceptor>, stream: impl AsyncRead + AsyncWrite + Send + 'static) {
        let mut stream = TimeoutWriter::new(stream);
        stream.set_timeout(Some(WRITE_TIMEOUT));
        let stream = Box::pin(stream);
        let Some(tls) = tls else { return self.http1(stream).await };
        let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(stream)).await else { return };
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            self.http2(stream).await;
        } else {
            self.http1(stream).await;
        }
    }

    async fn http1(self, stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        let Self { answers, peer, stopping } = self;
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT).max_header_size(HEADER_BYTES);
        let service = service_fn(move |request| {
            let answers = answers.clone();
            answer_and_drain(request, async move |request| answer(&answers, peer, request).await)
        });
        until_it_ends(builder.serve_connection(TokioIo::new(stream), service), stop(stopping)).await;
    }

    async fn http2(self, stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        let Self { answers, peer, stopping } = self;
        let mut builder = http2::Builder::new(Streams);
        builder
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(HEADER_BYTES as u32)
            .keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_TIMEOUT);
        let asked = Arc::new(Notify::new());
        let asks = Arc::clone(&asked);
        let service = service_fn(move |request| {
            asks.notify_one();
            let answers = answers.clone();
            async move { answer(&answers, peer, request).await.map(|answer| answer.map(in_pieces)) }
        });
        let shall_end = async {
            tokio::select! {
                () = stop(stopping) => {}
                () = sleep(CONNECTION_AGE.mul_f64(1.0 + fastrand::f64() / 5.0)) => {}
            }
        };
        // Pings start after the handshake, and hyper waits for the handshake without a limit.
        let sends_no_request = async {
            if timeout(HEADER_TIMEOUT, asked.notified()).await.is_ok() {
                pending().await
            }
        };
        tokio::select! {
            () = until_it_ends(builder.serve_connection(TokioIo::new(stream), service), shall_end) => {}
            () = sends_no_request => {}
        }
    }
}

async fn stop(mut stopping: watch::Receiver<()>) {
    let _ = stopping.changed().await;
}

/// Runs a connection. After `shall_end`, it accepts no more requests and ends when all of them are answered.
async fn until_it_ends<C>(connection: C, shall_end: impl Future<Output = ()>)
where
    C: GracefulConnection<Error = hyper::Error>,
{
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shall_end => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // Clients end connections in many ways, so this is not a warning.
        tracing::debug!(%error, "a connection ended");
    }
}

async fn answer(
    answers: &Answers,
    peer: SocketAddr,
    mut request: hyper::Request<impl HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static>,
) -> Result<Response, std::convert::Infallible> {
    request.extensions_mut().insert(ConnectInfo(peer));
    note_parent(&mut request);
    answers.of(&request).call(request).await
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::{Body, to_bytes};
    use axum::routing::{get, post};
    use futures_util::stream::{iter, repeat};
    use futures_util::{StreamExt as _, TryStreamExt as _};
    use hyper::client::conn::http2::SendRequest;
    use hyper_util::rt::TokioExecutor;
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, RootCertStore};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio_rustls::TlsConnector;

    use super::*;

    /// More bytes than the buffers of a connection hold.
    const LONG: usize = 1_000_000;
    /// The time between two pieces of a slow answer, and the number of its pieces.
    const STEP: Duration = Duration::from_secs(20);
    const STEPS: usize = 30;

    fn connection() -> (Connection, watch::Sender<()>) {
        let endless = async || Body::from_stream(repeat(Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 8192]))));
        let slow = async || {
            let steps = iter(0..STEPS).then(|_| async {
                sleep(STEP).await;
                Ok::<_, Infallible>("x")
            });
            Body::from_stream(steps)
        };
        let router = Router::new()
            .route("/short", get(async || "short"))
            .route("/length", post(async |body: Bytes| body.len().to_string()))
            .route("/long", get(async || "x".repeat(LONG)))
            .route("/endless", get(endless))
            .route("/slow", get(slow));
        let (stop, stopping) = watch::channel(());
        let answers = Answers::starting(router, &iam_axum::Settings::default(), false);
        (Connection { answers, peer: SocketAddr::from(([127, 0, 0, 1], 1)), stopping }, stop)
    }

    /// Returns the client's end of a connection, and a sender that stops the server when it is dropped.
    fn connect(tls: Option<TlsAcceptor>) -> (DuplexStream, watch::Sender<()>) {
        let (client, server) = duplex(64 * 1024);
        let (connection, stop) = connection();
        tokio::spawn(connection.serve(tls, server));
        (client, stop)
    }

    /// Returns a client of HTTP/2 that accepts `window` bytes of an answer before the test reads them.
    async fn connect_http2(window: u32) -> (SendRequest<Body>, watch::Sender<()>) {
        let (client, server) = duplex(64 * 1024);
        let (connection, stop) = connection();
        tokio::spawn(connection.http2(server));
        let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(window);
        let (sender, connection) = builder.handshake(TokioIo::new(client)).await.unwrap();
        tokio::spawn(connection);
        (sender, stop)
    }

    async fn get_body(sender: &mut SendRequest<Body>, path: &str) -> hyper::Result<Body> {
        let request = hyper::Request::get(format!("http://localhost{path}")).body(Body::empty()).unwrap();
        Ok(Body::new(sender.send_request(request).await?.into_body()))
    }

    async fn ask(stream: &mut (impl AsyncWrite + Unpin), path: &str) {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
    }

    /// Requests an endless answer, and reads nothing of it until long after the server should have cut it off.
    async fn assert_is_cut_off(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        ask(&mut stream, "/endless").await;
        sleep(2 * WRITE_TIMEOUT).await;
        let (mut buffer, mut received) = (vec![0; 64 * 1024], 0);
        while let Ok(length @ 1..) = stream.read(&mut buffer).await {
            received += length;
            assert!(received < 10 * LONG, "the answer goes on");
        }
        assert!(received > 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_its_answer_is_cut_off() {
        assert_is_cut_off(connect(None).0).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_tls_client_that_does_not_read_its_answer_is_cut_off() {
        let home = tempfile::TempDir::new().unwrap();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (certificate, key) = (home.path().join("certificate.pem"), home.path().join("key.pem"));
        std::fs::write(&certificate, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap();
        let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
        let (stream, _stop) = connect(Some(tls(&certificate, &key).unwrap()));
        let name = ServerName::try_from("localhost").unwrap();
        assert_is_cut_off(TlsConnector::from(config).connect(name, stream).await.unwrap()).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_gets_the_whole_answer() {
        let (mut stream, _stop) = connect(None);
        ask(&mut stream, "/long").await;
        let (mut buffer, mut received) = (vec![0; 16 * 1024], 0);
        while let length @ 1.. = stream.read(&mut buffer).await.unwrap() {
            received += length;
            sleep(WRITE_TIMEOUT / 2).await;
        }
        assert!(received > LONG, "{received}");
    }

    /// Sends the head of a request whose body the handler does not read.
    async fn begin(client: &mut DuplexStream, length: usize, header: &str) {
        let head = format!("GET /short HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n{header}\r\n");
        client.write_all(head.as_bytes()).await.unwrap();
    }

    async fn receive(client: &mut DuplexStream) -> String {
        let mut answer = vec![0; 1000];
        let read = timeout(2 * HEADER_TIMEOUT, client.read(&mut answer)).await.unwrap().unwrap();
        String::from_utf8_lossy(&answer[..read]).into_owned()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_serves_a_request_after_an_unread_body() {
        let (mut client, _stop) = connect(None);
        for length in [1, 1000, 50_000] {
            begin(&mut client, length, "").await;
            sleep(Duration::from_millis(500)).await;
            client.write_all(&vec![b'x'; length]).await.unwrap();
            let answer = receive(&mut client).await;
            assert!(answer.starts_with("HTTP/1.1 200") && !answer.contains("connection"), "{answer}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_to_an_incomplete_request_closes_the_connection() {
        for (length, header) in [(1, ""), (LONG, ""), (1, "expect: 100-continue\r\n")] {
            let (mut client, _stop) = connect(None);
            begin(&mut client, length, header).await;
            let answer = receive(&mut client).await;
            assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("connection: close"), "{answer}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_serves_a_request_after_100_continue() {
        let (mut client, _stop) = connect(None);
        for (header, body) in
            [("content-length: 5", "hello"), ("transfer-encoding: chunked", "5\r\nhello\r\n0\r\n\r\n")]
        {
            let head = format!("POST /length HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n{header}\r\n\r\n");
            client.write_all(head.as_bytes()).await.unwrap();
            assert_eq!(receive(&mut client).await, "HTTP/1.1 100 Continue\r\n\r\n");
            client.write_all(body.as_bytes()).await.unwrap();
            let answer = receive(&mut client).await;
            assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("\r\n\r\n5"), "{answer}");
            assert!(!answer.contains("connection"), "{answer}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stalled_stream_is_reset() {
        for window in [0, 20_000, LONG as u32 - 1, 1] {
            let (mut sender, _stop) = connect_http2(window).await;
            let body = get_body(&mut sender, "/long").await.unwrap();
            sleep(2 * crate::net::stalled_stream::STALL_LIMIT).await;
            let rest = timeout(crate::net::stalled_stream::STALL_LIMIT, to_bytes(body, usize::MAX)).await.unwrap();
            assert!(rest.is_err(), "{window}");
            // Other streams go on.
            let body = get_body(&mut sender, "/short").await.unwrap();
            if window > 0 {
                assert_eq!(to_bytes(body, usize::MAX).await.unwrap(), "short");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_of_a_stream_gets_the_whole_answer() {
        let (mut sender, _stop) = connect_http2(20_000).await;
        let body = get_body(&mut sender, "/long").await.unwrap();
        let slowly = body.into_data_stream().and_then(|data| async move {
            // Four times as fast as the limit requires.
            sleep(crate::net::stalled_stream::STALL_LIMIT * data.len() as u32 / (64 * 1024)).await;
            Ok(data.len())
        });
        assert_eq!(slowly.try_fold(0, async |sum, length| Ok(sum + length)).await.unwrap(), LONG);
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_client_of_http_2_is_cut_off() {
        let (mut client, server) = duplex(64 * 1024);
        let (connection, _stop) = connection();
        tokio::spawn(connection.http2(server));
        timeout(10 * CONNECTION_AGE, client.read_to_end(&mut Vec::new())).await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_old_connection_of_http_2_finishes_its_requests_and_ends() {
        let (mut sender, _stop) = connect_http2(20_000).await;
        let body = get_body(&mut sender, "/slow").await.unwrap();
        sleep(2 * CONNECTION_AGE - 2 * STEP).await;
        assert!(get_body(&mut sender, "/short").await.is_err());
        assert_eq!(to_bytes(body, usize::MAX).await.unwrap().len(), STEPS);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_finishes_the_requests_in_flight() {
        let (mut sender, stop) = connect_http2(20_000).await;
        let body = get_body(&mut sender, "/slow").await.unwrap();
        drop(stop);
        assert_eq!(to_bytes(body, usize::MAX).await.unwrap().len(), STEPS);
        assert!(get_body(&mut sender, "/short").await.is_err());
    }
}
