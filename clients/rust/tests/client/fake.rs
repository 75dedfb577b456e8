//! A server on this machine that answers by a function, with every byte that a test wants.
#![cfg(test)]

use std::sync::{Arc, Mutex};

use iam_client::{Builder, Client};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request that has arrived.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) method: String,
    /// With the query.
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn token(&self) -> Option<&str> {
        self.header("authorization")?.strip_prefix("Bearer ")
    }

    pub(crate) fn is(&self, method: &str, path: &str) -> bool {
        self.method == method && self.path.split('?').next() == Some(path)
    }
}

/// The bytes of an answer. Without any, the connection ends.
pub(crate) struct Reply(pub(crate) Vec<u8>);

impl Reply {
    pub(crate) fn new(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        Self(
            format!("HTTP/1.1 {status} X\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}")
                .into(),
        )
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "content-type: application/json\r\n", &body.to_string())
    }

    pub(crate) fn problem(status: u16, code: &str, headers: &str) -> Self {
        let body = json!({
            "type": format!("https://iam.invalid/problems/{code}"), "title": code, "status": status, "detail": "Why.",
            "instance": "/", "correlationId": "c",
        });
        Self::new(status, &format!("content-type: application/problem+json\r\n{headers}"), &body.to_string())
    }

    pub(crate) fn token_refused() -> Self {
        Self::problem(401, "unauthorized", "www-authenticate: Bearer error=\"invalid_token\"\r\n")
    }

    pub(crate) fn step_up() -> Self {
        let header = "www-authenticate: Bearer error=\"insufficient_user_authentication\", max_age=\"600\"\r\n";
        Self::problem(401, "insufficient-authentication", header)
    }

    pub(crate) fn tokens(name: &str) -> Self {
        Self::json(200, &tokens(name))
    }

    pub(crate) const fn nothing() -> Self {
        Self(Vec::new())
    }
}

pub(crate) fn tokens(name: &str) -> Value {
    json!({
        "accessToken": format!("access-{name}"), "refreshToken": format!("refresh-{name}"), "tokenType": "Bearer",
        "expiresIn": 900,
    })
}

/// A server, and what it has received.
pub(crate) struct Fake {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Received>>>,
}

impl Fake {
    /// The function gets each request with the number of requests of the same method and path before it.
    pub(crate) async fn start<F, A>(answer: F) -> Self
    where
        F: Fn(Received, usize) -> A + Send + Sync + 'static,
        A: Future<Output = Reply> + Send,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::<Received>::new()));
        let (answer, log) = (Arc::new(answer), Arc::clone(&seen));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                tokio::spawn(async move {
                    let Some(received) = read(&mut stream).await else { return };
                    let number = {
                        let mut log = log.lock().unwrap();
                        let path = received.path.split('?').next().unwrap_or_default();
                        let number = log.iter().filter(|other| other.is(&received.method, path)).count();
                        log.push(received.clone());
                        number
                    };
                    let Reply(bytes) = answer(received, number).await;
                    let _ = stream.write_all(&bytes).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        Self { url, seen }
    }

    /// The settings of a client that acts by the tokens `access-old` and `refresh-old`.
    pub(crate) fn builder(&self) -> Builder {
        Client::builder(&self.url).tokens(serde_json::from_value(tokens("old")).unwrap())
    }

    pub(crate) fn client(&self) -> Client {
        self.builder().build().unwrap()
    }

    pub(crate) fn seen(&self, method: &str, path: &str) -> Vec<Received> {
        self.seen.lock().unwrap().iter().filter(|received| received.is(method, path)).cloned().collect()
    }
}

async fn read(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or(Ok(0), |(_, value)| value.parse());
    let (start, length) = (end + 4, length.ok()?);
    while bytes.len() < start + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    Some(Received { method, path, headers, body: String::from_utf8(bytes[start..].to_vec()).ok()? })
}
