//! A mail server that takes half a second for each message.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use iam_benches::Outcome;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::time::sleep;

const PACE: Duration = Duration::from_millis(500);

/// Remembers when it has accepted the first message to each address.
#[derive(Clone, Default)]
pub(super) struct Relay(Arc<Mutex<HashMap<String, Instant>>>);

impl Relay {
    /// Starts it on a thread of its own, so that no measurement waits for it.
    pub(super) async fn start() -> Outcome<(Self, SocketAddr)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let listener = listener.into_std()?;
        let relay = Self::default();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let accepting = relay.clone();
        // It ends with the process.
        thread::spawn(move || runtime.block_on(accepting.accept(listener)));
        Ok((relay, address))
    }

    async fn accept(self, listener: std::net::TcpListener) -> Outcome {
        let listener = TcpListener::from_std(listener)?;
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(self.clone().converse(stream));
        }
    }

    /// Speaks as much of SMTP (RFC 5321) as a client needs that authenticates not and encrypts not.
    async fn converse(self, mut stream: TcpStream) -> Outcome {
        let (read, mut write) = stream.split();
        let mut lines = BufReader::new(read).lines();
        let mut recipients = Vec::new();
        write.write_all(b"220 relay\r\n").await?;
        while let Some(line) = lines.next_line().await? {
            let verb = line.get(..4).unwrap_or_default().to_ascii_uppercase();
            let answer = match verb.as_str() {
                "RCPT" => {
                    let to = line.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
                    recipients.extend(to.map(|(address, _)| address.to_owned()));
                    "250 ok"
                }
                "DATA" => {
                    write.write_all(b"354 go on\r\n").await?;
                    while lines.next_line().await?.is_some_and(|line| line != ".") {}
                    sleep(PACE).await;
                    for recipient in recipients.drain(..) {
                        self.accepted().entry(recipient).or_insert_with(Instant::now);
                    }
                    "250 accepted"
                }
                "QUIT" => return Ok(write.write_all(b"221 bye\r\n").await?),
                _ => "250 ok",
            };
            write.write_all(format!("{answer}\r\n").as_bytes()).await?;
        }
        Ok(())
    }

    fn accepted(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a message to the address is accepted, but not for longer than the limit.
    pub(super) async fn accepted_at(&self, address: &str, limit: Duration) -> Option<Instant> {
        let until = Instant::now() + limit;
        while Instant::now() < until {
            if let Some(at) = self.accepted().get(address) {
                return Some(*at);
            }
            sleep(Duration::from_millis(5)).await;
        }
        None
    }
}
