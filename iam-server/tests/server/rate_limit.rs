//! Rate limits over several servers.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::client::Client;
use crate::process::{Home, Launch, TIMEOUT, free_address, wait_for};
use crate::store::Store;

const LIMIT: u32 = 60;

/// Sets rate limits that are counted at this URL.
fn counting_at(launch: Launch, url: &str) -> Launch {
    launch
        .env("IAM_RATE_LIMITS", "on")
        .env("IAM_RATE_LIMIT_USER", LIMIT.to_string())
        .env("IAM_RATE_LIMIT_REDIS_URL", url)
}

/// Sends more requests to one server than to the other one, until the other one counts more requests than it received.
fn wait_until_they_count_together(one: &Client, other: &Client) {
    let mut asked = 0;
    wait_for("requests to be counted together", TIMEOUT, || {
        for _ in 0..3 {
            one.get("/api/v1/auth/me");
        }
        asked += 1;
        let remaining = other.get("/api/v1/auth/me").remaining.unwrap();
        (remaining + asked < LIMIT).then_some(())
    });
}

#[test]
fn two_servers_count_together() {
    let store = Store::postgres();
    let [one, other] = [(); 2].map(|()| counting_at(store.iam_server(), &test_support::redis::url()).serve());
    let session = one.client().register("grace@navy.example");
    let [one, other] = [&one, &other].map(|server| server.client().with_token(&session.access));
    wait_until_they_count_together(&one, &other);
}

#[test]
fn a_server_starts_and_limits_requests_while_redis_is_unavailable() {
    let home = Home::new();
    let server = counting_at(home.iam_server(), &format!("redis://:hunter2@{}", free_address()))
        .env("IAM_RATE_LIMIT_AUTHENTICATION", "2")
        .serve();
    let statuses = [(); 3].map(|()| server.client().post_text("/auth/login", "{}").status);
    assert_eq!(statuses, [400, 400, 429]);
    server.log().wait_for_line("the Redis server of the rate limits is unavailable");
    assert!(!server.stop().log.contains("hunter2"));
}

/// Adds TLS as `localhost` to the Redis of the tests. Returns the port.
async fn speak_tls(certificate: CertificateDer<'static>, key: PrivateKeyDer<'static>) -> u16 {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let (acceptor, listener) = (TlsAcceptor::from(Arc::new(config)), tokio::net::TcpListener::bind("127.0.0.1:0"));
    let listener = listener.await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut client = acceptor.accept(client).await.unwrap();
                let mut server = TcpStream::connect(test_support::redis::address()).await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    port
}

#[test]
fn servers_can_reach_redis_over_tls() {
    let store = Store::postgres();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let file = store.home().file("certificate.pem", made.cert.pem());
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let port = runtime.block_on(speak_tls(made.cert.der().clone(), key));
    let one = counting_at(store.iam_server(), &test_support::redis::url()).serve();
    let over_tls = counting_at(store.iam_server(), &format!("rediss://localhost:{port}"));
    let other = over_tls.env("SSL_CERT_FILE", file).serve();
    let session = one.client().register("grace@navy.example");
    let [one, other] = [&one, &other].map(|server| server.client().with_token(&session.access));
    wait_until_they_count_together(&one, &other);
}
