//! An HTTP/1.1 client that does as little work as possible, because it shares the cores with the measured process.

use std::net::SocketAddr;
use std::str;
use std::time::Duration;

use iam_benches::Outcome;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A keep-alive connection.
pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

/// An answer. Its body stays in the buffer of the connection.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    /// The time to wait before the next attempt.
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: &'a [u8],
}

impl Answer<'_> {
    /// Returns an error for every other status.
    pub(crate) fn expect(&self, status: u16) -> Outcome {
        if self.status == status {
            return Ok(());
        }
        let body = String::from_utf8_lossy(self.body);
        Err(format!("answered {} instead of {status}: {body}", self.status).into())
    }

    pub(crate) fn json(&self) -> Outcome<Value> {
        Ok(serde_json::from_slice(self.body)?)
    }
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Outcome<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::with_capacity(16 * 1024) })
    }

    /// Sends a request and waits for the whole answer.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Outcome<Answer<'_>> {
        self.stream.write_all(request).await?;
        self.received.clear();
        let head = loop {
            self.receive().await?;
            if let Some(head) = Head::parse(&self.received)? {
                break head;
            }
        };
        let end = head.length + head.content_length;
        while self.received.len() < end {
            self.receive().await?;
        }
        let body = self.received.get(head.length..end).unwrap_or_default();
        Ok(Answer { status: head.status, retry_after: head.retry_after.map(Duration::from_secs), body })
    }

    async fn receive(&mut self) -> Outcome {
        match self.stream.read_buf(&mut self.received).await? {
            0 => Err("the connection was closed".into()),
            _ => Ok(()),
        }
    }
}

/// The parts of a response's head that the client needs.
#[derive(Debug, PartialEq)]
struct Head {
    status: u16,
    /// In seconds.
    retry_after: Option<u64>,
    content_length: usize,
    /// The length of the head in bytes.
    length: usize,
}

impl Head {
    /// Parses the head. `None` if it is not complete yet.
    fn parse(received: &[u8]) -> Outcome<Option<Self>> {
        let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Ok(None);
        };
        let head = str::from_utf8(received.get(..end).unwrap_or_default())?;
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).ok_or("there is no status")?.parse()?;
        // 204 No Content has no Content-Length.
        if status == 204 {
            return Ok(Some(Self { status, retry_after: None, content_length: 0, length: end + 4 }));
        }
        let (mut content_length, mut retry_after) = (None, None);
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                content_length = Some(value.trim().parse()?);
            } else if name.eq_ignore_ascii_case("retry-after") {
                retry_after = Some(value.trim().parse()?);
            }
        }
        let content_length = content_length.ok_or("there is no Content-Length")?;
        Ok(Some(Self { status, retry_after, content_length, length: end + 4 }))
    }
}

/// The header that sends an access token.
pub(crate) fn authorization(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

/// The text of a request, with additional headers, one on each line.
pub(crate) fn request(method: &str, path: &str, headers: &str, body: Option<&str>) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}");
    if let Some(body) = body {
        text.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
    }
    text.push_str("\r\n");
    text.push_str(body.unwrap_or_default());
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_parsed_when_it_is_complete() {
        let whole = b"HTTP/1.1 201 Created\r\nx: y\r\nContent-Length: 2\r\n\r\n{}";
        let expected = Head { status: 201, retry_after: None, content_length: 2, length: whole.len() - 2 };
        assert_eq!(Head::parse(whole).unwrap(), Some(expected));
        assert_eq!(Head::parse(&whole[..40]).unwrap(), None);
        let refused = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 3\r\ncontent-length: 0\r\n\r\n";
        assert_eq!(Head::parse(refused).unwrap().unwrap().retry_after, Some(3));
        assert!(Head::parse(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").is_err());
    }
}
