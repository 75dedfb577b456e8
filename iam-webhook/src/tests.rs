//! Requests to real receivers on this machine. What the client does with connections is tested in `iam-http-client`.

use std::future::pending;
use std::net::SocketAddr;
use std::time::Duration;

use iam_http_client::{Certificates, Limits};
use iam_model::webhook::{AddressPolicy, SendError, WebhookRequest, WebhookSender as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::sender::{HttpSender, LIMITS, to_http};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(30);
const SHORT: Limits = Limits { total: Duration::from_millis(300), ..LIMITS };
const BODY: &str = r#"{"type":"USER.CREATE","name":"Zo\u00eb"}"#;

/// A receiver that gives each request the same answer.
struct Receiver {
    address: SocketAddr,
    requests: mpsc::UnboundedReceiver<String>,
}

impl Receiver {
    async fn answering(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read(&mut stream).await;
                let _ = sender.send(request);
                stream.write_all(answer.as_bytes()).await.unwrap();
                // The connection stays open.
                tokio::spawn(async move {
                    let _stream = stream;
                    pending::<()>().await
                });
            }
        });
        Self { address, requests }
    }

    fn url(&self) -> String {
        format!("http://{}/hook?a=b", self.address)
    }
}

async fn read(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    while !text.ends_with(BODY.as_bytes()) {
        let mut part = [0; 4_096];
        let count = stream.read(&mut part).await.unwrap();
        if count == 0 {
            break;
        }
        text.extend_from_slice(&part[..count]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn request(url: &str) -> WebhookRequest {
    let body = BODY.as_bytes().to_vec();
    WebhookRequest::new(url.parse().unwrap(), "evt_1".to_owned(), 1_700_000_000, "v1,c2ln v1,Zm9y".to_owned(), body)
}

fn sender(policy: AddressPolicy, limits: Limits) -> HttpSender {
    HttpSender::build(policy, Certificates::none(), limits).unwrap()
}

async fn send(sender: &HttpSender, url: &str) -> Result<u16, SendError> {
    timeout(PATIENCE, sender.send(request(url))).await.expect("it takes too long")
}

#[tokio::test]
async fn a_request_arrives_exactly_as_it_is() {
    let mut receiver = Receiver::answering("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    assert_eq!(send(&sender(AddressPolicy::Anywhere, LIMITS), &receiver.url()).await, Ok(200));
    let text = receiver.requests.recv().await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<&str> = head.lines().collect();
    lines[1..].sort_unstable();
    let expected = [
        "POST /hook?a=b HTTP/1.1",
        "content-length: 40",
        "content-type: application/json",
        &format!("host: {}", receiver.address),
        concat!("user-agent: iam-webhook/", env!("CARGO_PKG_VERSION")),
        "webhook-id: evt_1",
        "webhook-signature: v1,c2ln v1,Zm9y",
        "webhook-timestamp: 1700000000",
    ];
    assert_eq!(lines, expected);
    assert_eq!(body, BODY);
}

#[tokio::test]
async fn the_status_code_of_the_answer_decides_whatever_its_body() {
    let long = format!("HTTP/1.1 200 OK\r\n\r\n{}", "a".repeat(20_000));
    for (status, answer) in [
        (204, "HTTP/1.1 204 No Content\r\n\r\n"),
        (308, "HTTP/1.1 308 \r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"),
        (410, "HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"),
        (500, "HTTP/1.1 500 \r\nconnection: close\r\n\r\nstack trace"),
        (200, "HTTP/1.0 200 OK\r\n\r\n"),
        (200, "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\na"),
        (200, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzzz\r\n"),
        (200, long.leak()),
    ] {
        let receiver = Receiver::answering(answer).await;
        let limits = Limits { body: Duration::from_millis(100), ..LIMITS };
        assert_eq!(send(&sender(AddressPolicy::Anywhere, limits), &receiver.url()).await, Ok(status), "{answer}");
    }
}

#[tokio::test]
async fn a_request_without_an_answer_says_why() {
    let anywhere = sender(AddressPolicy::Anywhere, LIMITS);
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert_eq!(send(&anywhere, &format!("http://{closed}")).await, Err(SendError::Unreachable));
    // The resolver of the machine refuses a label of this length without a query.
    let url = format!("http://{}.invalid", "a".repeat(64));
    assert_eq!(send(&anywhere, &url).await, Err(SendError::Unresolved));
    let other = Receiver::answering("220 mail.example ESMTP\r\n").await;
    assert_eq!(send(&anywhere, &other.url()).await, Err(SendError::Interrupted));

    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    assert_eq!(send(&sender(AddressPolicy::Anywhere, SHORT), &url).await, Err(SendError::TimedOut));
    let untrusted = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let trusting = HttpSender::with_certificates(AddressPolicy::Anywhere, untrusted.cert.pem().as_bytes()).unwrap();
    let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", plain.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = plain.accept().await.unwrap();
        stream.readable().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        pending::<()>().await
    });
    assert_eq!(send(&trusting, &url).await, Err(SendError::Tls));
}

#[tokio::test]
async fn an_address_that_is_not_public_is_not_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let sender = sender(AddressPolicy::Public, LIMITS);
    for url in [
        format!("https://{address}"),
        format!("http://{address}"),
        format!("https://localhost:{}", address.port()),
        format!("https://2130706433:{}", address.port()),
        format!("https://[::1]:{}", address.port()),
        "https://[::ffff:a00:1]".to_owned(),
        "http://hook.example".to_owned(),
    ] {
        assert_eq!(send(&sender, &url).await, Err(SendError::NotPublic), "{url}");
    }
    let own = TcpStream::connect(address).await.unwrap();
    let (_, peer) = listener.accept().await.unwrap();
    assert_eq!(peer, own.local_addr().unwrap(), "there was a connection");
}

#[tokio::test]
async fn a_header_that_cannot_be_written_is_an_error() {
    let sender = sender(AddressPolicy::Anywhere, LIMITS);
    for wrong in ["a\r\nx: y", "a\nb", "\0"] {
        let mut request = request("http://127.0.0.1:1");
        wrong.clone_into(&mut request.id);
        assert!(to_http(request.clone()).is_none());
        assert_eq!(sender.send(request).await, Err(SendError::Unreachable));
    }
}

#[test]
fn an_international_address_is_written_in_ascii() {
    let request = to_http(request("http://bücher.example/ä|^{}?\"'ö=`")).unwrap();
    assert_eq!(request.uri(), "http://xn--bcher-kva.example/%C3%A4|^%7B%7D?%22%27%C3%B6=`");
}

#[test]
fn a_sender_shows_its_reach() {
    let error = HttpSender::with_certificates(AddressPolicy::Public, b"no certificate").unwrap_err();
    assert_eq!(error.to_string(), "there is no certificate");
    let sender = sender(AddressPolicy::Public, LIMITS);
    assert_eq!(sender.address_policy(), AddressPolicy::Public);
    assert_eq!(format!("{sender:?}"), "HttpSender { policy: Public, .. }");
    // The machine of the test may have no certificates.
    if let Err(error) = HttpSender::new(AddressPolicy::Public) {
        assert!(error.to_string().starts_with("the platform has no certification authorities"), "{error}");
    }
}
