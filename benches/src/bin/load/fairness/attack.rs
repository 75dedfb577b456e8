//! Requests of a tenant that does its worst.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use iam_benches::Outcome;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The pause of a client after a refusal. It is shorter than a polite client's.
const PAUSE: Duration = Duration::from_millis(50);
/// The pause after a 429: the shortest one that `Retry-After` can name. Whoever sends more is a matter for the rate
/// limits, which are off here.
const PAUSE_AFTER_429: Duration = Duration::from_secs(1);

/// Requests that are sent again and again, each on a connection of its own, so that the answer ends with it.
#[derive(Clone)]
pub(super) struct Attack {
    pub(super) name: &'static str,
    pub(super) requests: Vec<Vec<u8>>,
    /// The number of requests at a time.
    pub(super) clients: usize,
}

/// How many answers had which status.
#[derive(Clone, Default)]
pub(super) struct Answers(Arc<Mutex<BTreeMap<u16, u64>>>);

impl Answers {
    fn count(&self, status: u16) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(status).or_default() += 1;
    }

    /// The counts, as a text.
    pub(super) fn text(&self) -> String {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let texts: Vec<String> = counts.iter().map(|(status, count)| format!("{count} × {status}")).collect();
        if texts.is_empty() { "no answer".to_owned() } else { texts.join(", ") }
    }
}

/// An attack that goes on until it is [ended](Self::end).
pub(super) struct Running {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<Outcome>,
}

impl Attack {
    /// Begins on a separate thread, so that no measured request waits for it in the client.
    pub(super) fn begin(&self, address: SocketAddr, answers: &Answers) -> Running {
        let (attack, answers) = (self.clone(), answers.clone());
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            Builder::new_current_thread().enable_all().build()?.block_on(async {
                let mut clients = JoinSet::new();
                for number in 0..attack.clients {
                    let requests = attack.requests.iter().cycle().skip(number).step_by(attack.clients);
                    // At least as many as are needed to send each request.
                    let requests: Vec<_> = requests.take(attack.requests.len()).cloned().collect();
                    clients.spawn(client(address, requests, answers.clone()));
                }
                // Dropping the clients closes their connections.
                let _ = stopped.await;
                Ok(())
            })
        });
        Running { stop, thread }
    }
}

impl Running {
    pub(super) fn end(self) -> Outcome {
        // The thread may have failed already.
        let _ = self.stop.send(());
        self.thread.join().map_err(|_| "an attack failed")?
    }
}

async fn client(address: SocketAddr, requests: Vec<Vec<u8>>, answers: Answers) {
    for request in requests.iter().cycle() {
        match ask(address, request, &answers).await {
            Ok(200..300) => {}
            Ok(429) => sleep(PAUSE_AFTER_429).await,
            _ => sleep(PAUSE).await,
        }
    }
}

/// Sends a request, counts the status, and reads the answer to its end.
async fn ask(address: SocketAddr, request: &[u8], answers: &Answers) -> Outcome<u16> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request).await?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).await?;
    let status = str::from_utf8(head.get(9..).unwrap_or_default())?.parse()?;
    answers.count(status);
    let mut buffer = vec![0; 64 * 1024];
    while stream.read(&mut buffer).await? > 0 {}
    Ok(status)
}
