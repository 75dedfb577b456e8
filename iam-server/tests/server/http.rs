//! Connections of the real server.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use hyper::Version;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use crate::process::{Home, Launch, Server, TIMEOUT, wait_for};

/// Returns everything that arrives before the server ends the connection.
fn until_the_end(mut stream: TcpStream) -> String {
    // Longer than any limit of the server, because the server must end the connection.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

fn begin(server: &Server, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

#[test]
fn a_client_that_never_ends_its_headers_is_cut_off() {
    let home = Home::new();
    let server = home.iam_server().env("IAM_DATABASE_URL", "memory:").serve();
    let half = begin(&server, "GET /health HTTP/1.1\r\nhost: localhost\r\nx-slow: ");
    let answer = until_the_end(half);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    server.client().get("/health").expect(200);
}

#[test]
fn a_body_that_does_not_arrive_in_time_is_408() {
    let home = Home::new();
    let memory = home.iam_server().env("IAM_DATABASE_URL", "memory:");
    let server = memory.env("IAM_REQUEST_TIMEOUT", "2s").serve();
    let half = begin(
        &server,
        "POST /api/v1/auth/login HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: 100\r\n\r\n{",
    );
    let answer = until_the_end(half);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("/request-timeout"), "{answer}");
}

#[test]
fn too_many_headers_are_refused() {
    let home = Home::new();
    let server = home.iam_server().env("IAM_DATABASE_URL", "memory:").serve();
    let long = format!("GET /health HTTP/1.1\r\nhost: localhost\r\nx-long: {}\r\n\r\n", "x".repeat(40_000));
    let answer = until_the_end(begin(&server, &long));
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    let many: String = (0..200).map(|number| format!("x-{number}: 1\r\n")).collect();
    let answer = until_the_end(begin(&server, &format!("GET /health HTTP/1.1\r\nhost: localhost\r\n{many}\r\n")));
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
}

#[test]
fn a_request_without_exactly_one_valid_host_is_400() {
    let home = Home::new();
    let server = home.iam_server().env("IAM_DATABASE_URL", "memory:").serve();
    let ask = |first_line: &str, hosts: &[&str]| {
        let hosts: String = hosts.iter().map(|host| format!("host: {host}\r\n")).collect();
        until_the_end(begin(&server, &format!("GET {first_line}\r\n{hosts}connection: close\r\n\r\n")))
    };
    for (first_line, hosts) in [
        ("/health HTTP/1.1", &["localhost"][..]),
        ("/health HTTP/1.1", &["[::1]:8080"]),
        ("http://other.example/health HTTP/1.1", &["localhost"]),
        ("/health HTTP/1.0", &[]),
        ("/health HTTP/1.0", &["localhost"]),
    ] {
        let answer = ask(first_line, hosts);
        assert!(answer.starts_with("HTTP/1.") && answer.contains(" 200 OK\r\n"), "{first_line} {hosts:?}: {answer}");
    }
    for (first_line, hosts) in [
        ("/health HTTP/1.1", &[][..]),
        ("/health HTTP/1.1", &[""]),
        ("/health HTTP/1.1", &["localhost", "localhost"]),
        ("/health HTTP/1.1", &["localhost", "other.example"]),
        ("/health HTTP/1.1", &["local host"]),
        ("/health HTTP/1.1", &["localhost/health"]),
        ("/health HTTP/1.1", &["user@localhost"]),
        ("/health HTTP/1.1", &["localhost:http"]),
        ("/nowhere HTTP/1.1", &[]),
        ("http://localhost/health HTTP/1.1", &[]),
        ("/health HTTP/1.0", &["localhost", "localhost"]),
    ] {
        let answer = ask(first_line, hosts);
        assert!(answer.contains(" 400 Bad Request\r\n"), "{first_line} {hosts:?}: {answer}");
        for part in ["application/problem+json", "/validation-error", r#""field":"Host""#, "x-correlation-id: "] {
            assert!(answer.contains(part), "{first_line} {hosts:?}: {answer}");
        }
    }
}

#[test]
fn a_request_without_host_leaves_the_connection_usable() {
    let home = Home::new();
    let server = home.iam_server().env("IAM_DATABASE_URL", "memory:").serve();
    let answers = until_the_end(begin(
        &server,
        "POST /api/v1/auth/login HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}\
         GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    ));
    assert!(answers.starts_with("HTTP/1.1 400") && answers.contains("HTTP/1.1 200 OK"), "{answers}");
}

#[test]
fn a_client_that_goes_away_leaves_its_place_among_the_open_streams() {
    let home = Home::new();
    let server = home.iam_server().env("IAM_DATABASE_URL", "memory:").serve();
    let session = server.client().register("ada@example.com");
    let head = |accept: &str, query: &str| {
        format!(
            "GET /api/v1/events{query} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\naccept: {accept}\r\n\r\n",
            session.access
        )
    };
    let open = |text: String| {
        let mut stream = begin(&server, &text);
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        (String::from_utf8(status.to_vec()).unwrap(), stream)
    };
    let stream = || open(head("text/event-stream", ""));
    let mut streams: Vec<_> = (0..10).map(|_| stream()).collect();
    assert!(streams.iter().all(|(status, _)| status == "HTTP/1.1 200"));
    assert_eq!(stream().0, "HTTP/1.1 429");
    streams.pop();
    let place = || Some(stream()).filter(|(status, _)| status == "HTTP/1.1 200");
    streams.push(wait_for("a place", TIMEOUT, place));
    // A request that waits and is given up leaves its place, too.
    streams.pop();
    let waiting = wait_for("another place", TIMEOUT, || {
        let waiting = begin(&server, &head("application/json", "?after=1000&wait=30"));
        (stream().0 == "HTTP/1.1 429").then_some(waiting)
    });
    drop(waiting);
    streams.push(wait_for("the last place", TIMEOUT, place));
}

/// Starts a server with its own certificate for `localhost`. Returns the server and the certificate.
fn serve_tls(home: &Home) -> (Server, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = home.file("certificate.pem", made.cert.pem());
    let key = home.file("key.pem", made.signing_key.serialize_pem());
    let launch = home.iam_server().env("IAM_DATABASE_URL", "memory:");
    let server = launch.env("IAM_TLS_CERTIFICATE", &certificate).env("IAM_TLS_KEY", &key).serve();
    (server, made.cert.der().clone())
}

/// Returns an answer over TLS to a client that offers these protocols.
async fn get_over_tls(
    address: SocketAddr,
    certificate: &CertificateDer<'static>,
    offered: &[&str],
) -> hyper::Response<Incoming> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = offered.iter().map(|name| name.as_bytes().to_vec()).collect();
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    let chosen = stream.get_ref().1.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned());
    let request = hyper::Request::get("https://localhost/api/v1/health").header("host", "localhost");
    let request = request.body(String::new()).unwrap();
    if chosen.as_deref() == Some("h2") {
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        sender.send_request(request).await.unwrap()
    } else {
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        sender.send_request(request).await.unwrap()
    }
}

#[test]
fn tls_uses_http_2_if_the_client_offers_it() {
    let home = Home::new();
    let (server, certificate) = serve_tls(&home);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let http_1 = Version::HTTP_11;
    for (offered, version) in [(&["h2", "http/1.1"][..], Version::HTTP_2), (&["http/1.1"], http_1), (&[], http_1)] {
        let answer = runtime.block_on(get_over_tls(server.address, &certificate, offered));
        assert_eq!((answer.status().as_u16(), answer.version()), (200, version), "{offered:?}");
        assert!(answer.headers().contains_key("content-length"), "{offered:?}");
    }
}

#[test]
fn an_answer_over_tls_requires_tls_for_the_future() {
    let home = Home::new();
    let (server, certificate) = serve_tls(&home);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for offered in ["h2", "http/1.1"] {
        let answer = runtime.block_on(get_over_tls(server.address, &certificate, &[offered]));
        assert_eq!(answer.headers()["strict-transport-security"], "max-age=63072000", "{offered}");
    }
    // Clients need not believe the header in an answer without TLS (RFC 6797, section 7.2).
    let server = home.iam_server().env("IAM_DATABASE_URL", "memory:").serve();
    let request = "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let answer = until_the_end(begin(&server, request));
    assert!(answer.starts_with("HTTP/1.1 200") && !answer.contains("strict-transport-security"), "{answer}");
}

/// Returns whether the server serves another connection while this address has two.
fn serves_a_third(launch: Launch) -> bool {
    let server = launch.env("IAM_DATABASE_URL", "memory:").env("IAM_CLIENT_CONNECTIONS", "2").serve();
    let _others = [(); 2].map(|()| TcpStream::connect(server.address).unwrap());
    let mut third = TcpStream::connect(server.address).unwrap();
    third.set_read_timeout(Some(TIMEOUT)).unwrap();
    // The connection may be closed before or after this write.
    let _ = third.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n");
    third.read(&mut [0; 1]).is_ok_and(|length| length == 1)
}

#[test]
fn one_client_does_not_get_every_connection() {
    let home = Home::new();
    assert!(!serves_a_third(home.iam_server()));
    assert!(serves_a_third(home.iam_server().env("IAM_TRUSTED_PROXIES", "127.0.0.0/8")));
}

#[test]
fn an_error_names_unusable_tls_files() {
    let home = Home::new();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = home.file("certificate.pem", made.cert.pem());
    let key = home.file("key.pem", other.signing_key.serialize_pem());
    for (certificate, key, named, code) in [
        (Some(&certificate), None, "tls_key", 2),
        (None, Some(&key), "tls_certificate", 2),
        (Some(&certificate), Some(&home.path().join("missing.pem")), "missing.pem", 1),
        (Some(&certificate), Some(&key), "certificate", 1),
    ] {
        let mut launch = home.iam_server().env("IAM_DATABASE_URL", "memory:").env("IAM_LISTEN", "127.0.0.1:0");
        for (name, file) in [("IAM_TLS_CERTIFICATE", certificate), ("IAM_TLS_KEY", key)] {
            if let Some(file) = file {
                launch = launch.env(name, file);
            }
        }
        let ended = launch.run();
        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert!(ended.log.contains(named), "{ended:?}");
    }
}
