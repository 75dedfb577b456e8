//! Requests to real servers on this machine. The network is replaced where a host must have a public address: the
//! connection to it goes to the receiver of the test.

use std::future::pending;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use hyper::body::Bytes;
use hyper::{Request, Response};
use iam_model::webhook::{AddressPolicy, is_public};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::certificates::Certificates;
use crate::client::{Client, Limits};
use crate::connector::Network;
use crate::error::RequestError;

const PUBLIC: &str = "93.184.215.14";
/// A public address that does not answer.
const SILENT: &str = "93.184.215.15";
const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(30);
const LIMITS: Limits = Limits { total: PATIENCE, body: PATIENCE, idle: PATIENCE, bytes: 1_024 };
const SHORT: Limits = Limits { total: Duration::from_millis(300), ..LIMITS };

async fn bounded<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("it takes too long")
}

/// A network in which each look-up has the next of some answers. The last one is repeated.
struct Scripted {
    answers: Mutex<Vec<Vec<&'static str>>>,
    /// Where connections to public addresses go.
    receiver: SocketAddr,
    connected: Mutex<Vec<IpAddr>>,
}

impl Scripted {
    fn new(receiver: SocketAddr, answers: &[&[&'static str]]) -> Arc<Self> {
        let answers = answers.iter().rev().map(|answer| answer.to_vec()).collect();
        Arc::new(Self { answers: Mutex::new(answers), receiver, connected: Mutex::default() })
    }

    fn connected(&self) -> Vec<String> {
        self.connected.lock().unwrap().iter().map(ToString::to_string).collect()
    }
}

#[async_trait]
impl Network for Scripted {
    async fn look_up(&self, _: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop() } else { answers.first().cloned() };
        let answer = answer.ok_or_else(|| io::Error::other("no such name"))?;
        Ok(answer.iter().map(|address| SocketAddr::new(address.parse().unwrap(), port)).collect())
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        self.connected.lock().unwrap().push(address.ip());
        if address.ip() == SILENT.parse::<IpAddr>().unwrap() {
            pending::<()>().await;
        }
        TcpStream::connect(if is_public(address.ip()) { self.receiver } else { address }).await
    }
}

/// A receiver that handles each connection by a function.
struct Receiver {
    address: SocketAddr,
    /// The requests, each with the number of its connection.
    requests: mpsc::UnboundedReceiver<(usize, String)>,
}

/// One connection of a receiver.
struct Accepted<S> {
    number: usize,
    stream: S,
    requests: mpsc::UnboundedSender<(usize, String)>,
}

impl Receiver {
    async fn start<F: Future<Output: Send> + Send + 'static>(
        handle: impl Fn(Accepted<TcpStream>) -> F + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            for number in 1.. {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(handle(Accepted { number, stream, requests: sender.clone() }));
            }
        });
        Self { address, requests }
    }

    /// Starts a receiver that gives each request the same answer.
    async fn answering(answer: &'static str) -> Self {
        Self::start(move |mut accepted| async move { while accepted.answer(answer).await {} }).await
    }

    /// Starts a receiver with TLS, which answers each request with 200.
    async fn with_tls(config: ServerConfig) -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Self::start(move |Accepted { number, stream, requests }| {
            let accepting = acceptor.accept(stream).into_fallible();
            async move {
                match accepting.await {
                    Ok(stream) => {
                        let mut accepted = Accepted { number, stream, requests };
                        while accepted.answer(OK).await {}
                    }
                    // The client closes the connection: a reset could overtake the reason.
                    Err((_, mut stream)) => {
                        let _ = stream.read_to_end(&mut Vec::new()).await;
                    }
                }
            }
        })
        .await
    }

    fn url(&self) -> String {
        format!("http://{}/hook?a=b", self.address)
    }

    async fn request(&mut self) -> (usize, String) {
        bounded(self.requests.recv()).await.unwrap()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Accepted<S> {
    /// Reads a request. `false` at the end of the connection.
    async fn read(&mut self) -> bool {
        let mut text = Vec::new();
        loop {
            let mut part = [0; 4_096];
            let count = self.stream.read(&mut part).await.unwrap_or(0);
            if count == 0 {
                return false;
            }
            text.extend_from_slice(&part[..count]);
            let read = String::from_utf8_lossy(&text).into_owned();
            if read.split_once("\r\n\r\n").is_some_and(|(head, body)| {
                head.lines().any(|line| line.strip_prefix("content-length: ") == Some(&body.len().to_string()))
            }) {
                return self.requests.send((self.number, read)).is_ok();
            }
        }
    }

    async fn write(&mut self, text: &str) -> bool {
        self.stream.write_all(text.as_bytes()).await.is_ok() && self.stream.flush().await.is_ok()
    }

    async fn answer(&mut self, answer: &str) -> bool {
        self.read().await && self.write(answer).await
    }
}

/// A certificate for `hook.example` and `127.0.0.1` that signs itself.
struct Identity {
    certificate: String,
    key: String,
}

impl Identity {
    fn new() -> Self {
        let names = ["hook.example".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        Self { certificate: made.cert.pem(), key: made.signing_key.serialize_pem() }
    }

    fn certificate(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap()
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate()).unwrap();
        roots
    }

    fn trusted(&self) -> Certificates {
        Certificates(self.roots())
    }

    fn server(&self, asks_for_certificate: bool) -> ServerConfig {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let clients = if asks_for_certificate {
            WebPkiClientVerifier::builder_with_provider(self.roots().into(), provider.clone()).build().unwrap()
        } else {
            WebPkiClientVerifier::no_client_auth()
        };
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap();
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        builder.with_client_cert_verifier(clients).with_single_cert(vec![self.certificate()], key).unwrap()
    }
}

fn request(url: &str) -> Request<Bytes> {
    Request::post(url).header("x-test", "a b").body(Bytes::from_static(b"{\"a\":1}")).unwrap()
}

/// Returns a client without limits on addresses.
fn client(limits: Limits) -> Client {
    Client::new(AddressPolicy::Anywhere, Certificates::none(), limits).unwrap()
}

/// Returns a client of public addresses in a scripted network.
fn public(identity: &Identity, limits: Limits, network: &Arc<Scripted>) -> Client {
    Client::build(AddressPolicy::Public, identity.trusted(), limits, Arc::clone(network) as Arc<dyn Network>).unwrap()
}

async fn answer(client: &Client, url: &str) -> Result<Response<Result<Bytes, RequestError>>, RequestError> {
    let answer = bounded(client.send(request(url))).await;
    // The client puts a connection back in tasks of its own.
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    answer
}

/// Returns the status code of the answer.
async fn send(client: &Client, url: &str) -> Result<u16, RequestError> {
    answer(client, url).await.map(|answer| answer.status().as_u16())
}

/// Returns the body of an answer that has a status code.
async fn body(client: &Client, url: &str) -> Result<Bytes, RequestError> {
    answer(client, url).await.unwrap().into_body()
}

/// Fails if a listener got a connection before.
async fn assert_untouched(listener: &TcpListener) {
    let own = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (_, peer) = bounded(listener.accept()).await.unwrap();
    assert_eq!(peer, own.local_addr().unwrap(), "there was a connection");
}

#[tokio::test]
async fn a_request_arrives_exactly_as_it_is() {
    let mut receiver = Receiver::answering(OK).await;
    let answer = answer(&client(LIMITS), &receiver.url()).await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.into_body()), (200, Ok(Bytes::from_static(b"ok"))));
    let (_, text) = receiver.request().await;
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<&str> = head.lines().collect();
    lines[1..].sort_unstable();
    let host = format!("host: {}", receiver.address);
    assert_eq!(lines, ["POST /hook?a=b HTTP/1.1", "content-length: 7", &host, "x-test: a b"]);
    assert_eq!(body, r#"{"a":1}"#);
}

#[tokio::test]
async fn an_answer_is_returned_whatever_its_status_code() {
    for (status, expected, answer) in [
        (204, "", "HTTP/1.1 204 No Content\r\n\r\n"),
        (410, "", "HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"),
        (500, "trace", "HTTP/1.1 500 \r\ncontent-length: 5\r\n\r\ntrace"),
        (200, "", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
        (200, "no gzip", "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 7\r\n\r\nno gzip"),
        (101, "", "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"),
    ] {
        let receiver = Receiver::answering(answer).await;
        let answered = self::answer(&client(LIMITS), &receiver.url()).await.unwrap();
        assert_eq!(answered.status(), status, "{answer}");
        assert_eq!(answered.into_body().as_deref(), Ok(expected.as_bytes()), "{answer}");
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_not_followed() {
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    for status in [301, 302, 303, 307, 308] {
        let location = format!("http://{}/", target.local_addr().unwrap());
        let answer = format!("HTTP/1.1 {status} \r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
        let receiver = Receiver::answering(answer.leak()).await;
        assert_eq!(send(&client(LIMITS), &receiver.url()).await, Ok(status));
    }
    assert_untouched(&target).await;
}

#[tokio::test]
async fn a_receiver_without_an_answer_is_left_in_time() {
    let (closed, mut closings) = mpsc::unbounded_channel();
    let hanging = Receiver::start(move |mut accepted| {
        let closed = closed.clone();
        async move {
            while accepted.read().await {}
            closed.send(()).unwrap();
        }
    })
    .await;
    assert_eq!(send(&client(SHORT), &hanging.url()).await, Err(RequestError::TimedOut));
    bounded(closings.recv()).await.expect("the connection is closed");

    let dripping = Receiver::start(|mut accepted| async move {
        accepted.read().await;
        accepted.write("HTTP/1.1 200 OK\r\nx-slow: ").await;
        while accepted.write("a").await {
            sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    assert_eq!(send(&client(SHORT), &dripping.url()).await, Err(RequestError::TimedOut));

    let continuing = Receiver::start(|mut accepted| async move {
        accepted.read().await;
        while accepted.write("HTTP/1.1 100 Continue\r\n\r\n").await {
            sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    assert_eq!(send(&client(SHORT), &continuing.url()).await, Err(RequestError::TimedOut));

    // It accepts the connection and says nothing, so the handshake does not end.
    let silent = format!("https://{}", hanging.address);
    assert_eq!(send(&client(SHORT), &silent).await, Err(RequestError::TimedOut));
}

#[tokio::test]
async fn a_body_that_is_late_or_long_or_broken_is_an_error_beside_the_status_code() {
    let slow = Receiver::start(|mut accepted| async move {
        accepted.answer("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n").await;
        while accepted.write("a").await {
            sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    let limits = Limits { body: Duration::from_millis(200), ..LIMITS };
    assert_eq!(body(&client(limits), &slow.url()).await, Err(RequestError::TimedOut));

    let (closed, mut closings) = mpsc::unbounded_channel();
    let endless = Receiver::start(move |mut accepted| {
        let closed = closed.clone();
        async move {
            accepted.answer("HTTP/1.1 200 OK\r\n\r\n").await;
            while accepted.write(&"a".repeat(1_000)).await {}
            closed.send(()).unwrap();
        }
    })
    .await;
    assert_eq!(body(&client(LIMITS), &endless.url()).await, Err(RequestError::TooLong));
    bounded(closings.recv()).await.expect("the connection is closed");
    let exact = format!("HTTP/1.1 200 OK\r\ncontent-length: 1024\r\n\r\n{}", "a".repeat(1_024));
    let exact = Receiver::answering(exact.leak()).await;
    assert_eq!(body(&client(LIMITS), &exact.url()).await.unwrap().len(), 1_024);

    let broken = Receiver::start(|mut accepted| async move {
        accepted.answer("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzzz\r\n").await;
    })
    .await;
    assert_eq!(body(&client(LIMITS), &broken.url()).await, Err(RequestError::Interrupted));
}

#[tokio::test]
async fn an_answer_that_is_late_leaves_no_time_for_its_body() {
    let late = Receiver::start(|mut accepted| async move {
        accepted.read().await;
        sleep(Duration::from_millis(100)).await;
        accepted.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n").await;
        pending::<()>().await
    })
    .await;
    let limits = Limits { total: Duration::from_millis(500), body: PATIENCE * 2, ..LIMITS };
    assert_eq!(body(&client(limits), &late.url()).await, Err(RequestError::TimedOut));
}

#[tokio::test]
async fn a_connection_that_ends_and_an_answer_of_another_protocol_are_interruptions() {
    let closing = Receiver::start(|accepted| async { drop(accepted) }).await;
    let silent = Receiver::start(|mut accepted| async move { accepted.read().await }).await;
    let garbage = Receiver::answering("220 mail.example ESMTP\r\n").await;
    let partial = Receiver::start(|mut accepted| async move { accepted.answer("HTTP/1.1 200 OK\r\nx: ").await });
    let long = format!("HTTP/1.1 200 OK\r\nx: {}\r\ncontent-length: 0\r\n\r\n", "a".repeat(20_000));
    let long = Receiver::answering(long.leak());
    for receiver in [closing, silent, garbage, partial.await, long.await] {
        assert_eq!(send(&client(LIMITS), &receiver.url()).await, Err(RequestError::Interrupted));
    }
    let closing = Receiver::start(|accepted| async { drop(accepted) }).await;
    let encrypted = format!("https://{}", closing.address);
    assert_eq!(send(&client(LIMITS), &encrypted).await, Err(RequestError::Interrupted));
}

#[tokio::test]
async fn a_host_that_cannot_be_reached_is_an_error() {
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let url = format!("http://{address}");
    assert_eq!(send(&client(LIMITS), &url).await, Err(RequestError::Unreachable));
    for answers in [&[][..], &[&[][..]]] {
        let client = public(&Identity::new(), LIMITS, &Scripted::new(address, answers));
        assert_eq!(send(&client, "https://hook.example").await, Err(RequestError::Unresolved));
    }
    // The resolver of the machine refuses a label of this length without a query.
    let url = format!("http://{}.invalid", "a".repeat(64));
    assert_eq!(send(&client(LIMITS), &url).await, Err(RequestError::Unresolved));
}

#[tokio::test]
async fn a_receiver_must_have_a_valid_certificate() {
    let (identity, other) = (Identity::new(), Identity::new());
    let mut receiver = Receiver::with_tls(identity.server(false)).await;
    let network = Scripted::new(receiver.address, &[&[PUBLIC]]);
    let trusting = public(&identity, LIMITS, &network);
    assert_eq!(send(&trusting, "https://hook.example/hook").await, Ok(200));
    assert!(receiver.request().await.1.contains("\r\nhost: hook.example\r\n"));
    // Another name, and an authority that is not known.
    assert_eq!(send(&trusting, "https://other.example").await, Err(RequestError::Tls));
    let distrusting = public(&other, LIMITS, &network);
    assert_eq!(send(&distrusting, "https://hook.example").await, Err(RequestError::Tls));
    assert!(receiver.requests.try_recv().is_err());

    let trusted = Certificates::of_platform_and(identity.certificate.as_bytes()).unwrap();
    let by_address = Client::new(AddressPolicy::Anywhere, trusted, LIMITS).unwrap();
    assert_eq!(send(&by_address, &format!("https://{}", receiver.address)).await, Ok(200));

    let asking = Receiver::with_tls(identity.server(true)).await;
    let network = Scripted::new(asking.address, &[&[PUBLIC]]);
    let client = public(&identity, LIMITS, &network);
    assert_eq!(send(&client, "https://hook.example").await, Err(RequestError::Tls));
}

#[tokio::test]
async fn a_receiver_without_tls_gets_no_request() {
    let mut receiver = Receiver::start(|mut accepted| async move {
        accepted.stream.readable().await.unwrap();
        accepted.write("HTTP/1.1 400 Bad Request\r\n\r\n").await;
        accepted.read().await;
    })
    .await;
    let url = format!("https://{}", receiver.address);
    assert_eq!(send(&client(LIMITS), &url).await, Err(RequestError::Tls));
    assert!(receiver.requests.try_recv().is_err());
}

#[tokio::test]
async fn a_name_that_leads_to_a_private_address_is_not_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    for private in ["127.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1"] {
        let network = Scripted::new(address, &[&[private]]);
        let client = public(&Identity::new(), LIMITS, &network);
        let url = format!("https://hook.example:{}", address.port());
        assert_eq!(send(&client, &url).await, Err(RequestError::NotAllowed), "{private}");
        assert_eq!(network.connected(), [""; 0]);
    }
    // By the resolver of the machine.
    let identity = Identity::new();
    let client = Client::new(AddressPolicy::Public, identity.trusted(), LIMITS).unwrap();
    let url = format!("https://localhost:{}", address.port());
    assert_eq!(send(&client, &url).await, Err(RequestError::NotAllowed));
    assert_untouched(&listener).await;
}

#[tokio::test]
async fn an_address_in_the_url_is_checked_too_and_the_scheme() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = Client::new(AddressPolicy::Public, Certificates::none(), LIMITS).unwrap();
    for url in [
        format!("https://{address}"),
        format!("https://[::1]:{}", address.port()),
        "https://[::ffff:a00:1]".to_owned(),
        format!("http://{address}"),
    ] {
        assert_eq!(send(&client, &url).await, Err(RequestError::NotAllowed), "{url}");
    }
    assert_untouched(&listener).await;
    let network = Scripted::new(address, &[&[PUBLIC]]);
    let client = public(&Identity::new(), LIMITS, &network);
    assert_eq!(send(&client, "http://hook.example").await, Err(RequestError::NotAllowed));
    assert_eq!(network.connected(), [""; 0]);
}

#[tokio::test]
async fn only_the_public_addresses_of_a_name_are_reached() {
    let identity = Identity::new();
    let receiver = Receiver::with_tls(identity.server(false)).await;
    let network = Scripted::new(receiver.address, &[&["127.0.0.1", PUBLIC, "10.0.0.1"]]);
    let url = format!("https://hook.example:{}", receiver.address.port());
    assert_eq!(send(&public(&identity, LIMITS, &network), &url).await, Ok(200));
    assert_eq!(network.connected(), [PUBLIC]);

    // Also if the public one does not answer.
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let network = Scripted::new(closed, &[&["127.0.0.1", PUBLIC, "10.0.0.1"]]);
    let answer = send(&public(&identity, LIMITS, &network), &url).await;
    assert_eq!((answer, network.connected()), (Err(RequestError::Unreachable), vec![PUBLIC.to_owned()]));
}

#[tokio::test]
async fn an_address_that_does_not_answer_leaves_time_for_the_next() {
    let identity = Identity::new();
    let receiver = Receiver::with_tls(identity.server(false)).await;
    let network = Scripted::new(receiver.address, &[&[SILENT, PUBLIC]]);
    let limits = Limits { total: Duration::from_secs(4), ..LIMITS };
    assert_eq!(send(&public(&identity, limits, &network), "https://hook.example").await, Ok(200));
    assert_eq!(network.connected(), [SILENT, PUBLIC]);

    let network = Scripted::new(receiver.address, &[&[SILENT]]);
    assert_eq!(send(&public(&identity, SHORT, &network), "https://hook.example").await, Err(RequestError::TimedOut));
}

#[tokio::test]
async fn each_connection_is_checked_against_its_own_look_up() {
    let identity = Identity::new();
    let acceptor = TlsAcceptor::from(Arc::new(identity.server(false)));
    // It closes each connection after one answer, so the next request needs another connection.
    let receiver = Receiver::start(move |Accepted { number, stream, requests }| {
        let accepting = acceptor.accept(stream);
        async move {
            let mut accepted = Accepted { number, stream: accepting.await.unwrap(), requests };
            accepted.answer("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await;
        }
    })
    .await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let network = Scripted::new(receiver.address, &[&[PUBLIC], &["127.0.0.1"]]);
    let client = public(&identity, LIMITS, &network);
    let url = format!("https://hook.example:{}", listener.local_addr().unwrap().port());
    assert_eq!(send(&client, &url).await, Ok(200));
    assert_eq!(send(&client, &url).await, Err(RequestError::NotAllowed));
    assert_eq!(network.connected(), [PUBLIC]);
    assert_untouched(&listener).await;
}

#[tokio::test]
async fn requests_share_a_connection_until_it_is_idle() {
    let (closed, mut closings) = mpsc::unbounded_channel();
    let mut receiver = Receiver::start(move |mut accepted| {
        let closed = closed.clone();
        async move {
            while accepted.answer("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n").await {
                // The client waits for the body. Otherwise it would need another connection.
                sleep(Duration::from_millis(50)).await;
                accepted.write("ok").await;
            }
            closed.send(()).unwrap();
        }
    })
    .await;
    let limits = Limits { idle: Duration::from_secs(1), ..LIMITS };
    let client = client(limits);
    for _ in 0..3 {
        assert_eq!(send(&client, &receiver.url()).await, Ok(200));
        assert_eq!(receiver.request().await.0, 1);
    }
    bounded(closings.recv()).await.expect("the connection is closed");
    assert_eq!(send(&client, &receiver.url()).await, Ok(200));
    assert_eq!(receiver.request().await.0, 2);
}

#[tokio::test]
async fn a_connection_that_the_receiver_closed_is_replaced() {
    let (closed, mut closings) = mpsc::unbounded_channel();
    let mut receiver = Receiver::start(move |mut accepted| {
        let closed = closed.clone();
        async move {
            accepted.answer(OK).await;
            accepted.stream.shutdown().await.unwrap();
            // The client has noticed it when it closes its side.
            accepted.stream.read_to_end(&mut Vec::new()).await.unwrap();
            closed.send(()).unwrap();
        }
    })
    .await;
    let client = client(LIMITS);
    for number in 1..=3 {
        assert_eq!(send(&client, &receiver.url()).await, Ok(200));
        assert_eq!(receiver.request().await.0, number);
        bounded(closings.recv()).await.unwrap();
    }
}

/// The test runs itself again, because the environment of a process cannot be changed safely.
#[tokio::test]
async fn proxies_of_the_environment_are_not_used() {
    const URL: &str = "IAM_HTTP_CLIENT_TEST_URL";
    if let Ok(url) = std::env::var(URL) {
        assert_eq!(send(&client(LIMITS), &url).await, Ok(200));
        return;
    }
    let mut receiver = Receiver::answering(OK).await;
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "tests::proxies_of_the_environment_are_not_used"]).env(URL, receiver.url());
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        again.env(name, format!("http://{}", proxy.local_addr().unwrap()));
    }
    again.env_remove("no_proxy").env_remove("NO_PROXY");
    let output = bounded(tokio::task::spawn_blocking(move || again.output())).await.unwrap().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(receiver.request().await.0, 1);
    assert_untouched(&proxy).await;
}

#[test]
fn certificates_must_be_valid() {
    let message = |pem: &[u8]| Certificates::of_platform_and(pem).unwrap_err().to_string();
    assert_eq!(message(b"no certificate"), "there is no certificate");
    let broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert!(message(broken).starts_with("a certificate is not valid: "));
    let cut = b"-----BEGIN CERTIFICATE-----\nAAAA\n";
    assert!(message(cut).starts_with("a certificate is not valid: "));
    // The machine of the test may have no certificates.
    if let Err(error) = Certificates::of_platform() {
        assert!(error.to_string().starts_with("the platform has no certification authorities"), "{error}");
    }
}
