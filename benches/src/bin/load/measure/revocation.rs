//! The time until a process refuses a session or an API key that ended at another process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use iam_benches::Outcome;
use sqlx::{Connection as _, PgConnection};
use tokio::time::{sleep, timeout};

use super::series::{Round, Series};
use crate::api::{PREFIX, ask, credentials, new_key, text};
use crate::client::{Connection, authorization, request};
use crate::installation::{Installation, Tenant};
use crate::process::Process;

/// The number of reads that the other process allows before the session ends.
const READS: u64 = 3;
/// The time limit for a refusal. If the session still works after it, the run fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// What ends.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Ended {
    /// A session, by a logout.
    Session,
    /// An API key, which is revoked.
    Key,
}

pub(crate) struct Revocations {
    pub(crate) ended: Ended,
    /// The time from the answer to the logout to the first refusal. Zero if the refusal came first.
    pub(crate) refusals: Series,
    /// `SELECT 1` on a separate connection.
    pub(crate) round_trips: Series,
    /// The number of trials in which a read was allowed that was sent after the answer to the logout.
    pub(crate) late: u64,
    pub(crate) trials: u64,
}

/// What is measured.
pub(crate) const WORK: &str = "refusal at another process";

/// Ends this number of sessions or keys at one process, each during reads at another process on the same PostgreSQL.
pub(crate) async fn measure(
    ended: Ended,
    one: &Installation,
    tenant: &Tenant,
    trials: u64,
    rounds: u32,
) -> Outcome<Revocations> {
    let other = Process::server(one.database.url()).await?;
    let mut database = PgConnection::connect(one.database.url()).await?;
    let mut connections = [Connection::open(one.server.address).await?, Connection::open(other.address).await?];
    let mut measured = Revocations { ended, refusals: Series::new(), round_trips: Series::new(), late: 0, trials };
    let mut users = tenant.numbers().cycle();
    for _ in 0..rounds {
        let (mut refusals, mut round_trips) = (Round::default(), Round::default());
        for user in users.by_ref().take(usize::try_from(trials / u64::from(rounds))?) {
            let trial = Trial::run(ended, &mut connections, user).await?;
            refusals.latencies.push(trial.refused_after);
            measured.late += u64::from(trial.is_late);
            let began = Instant::now();
            sqlx::query("SELECT 1").execute(&mut database).await?;
            round_trips.latencies.push(began.elapsed());
        }
        measured.refusals.push(refusals);
        measured.round_trips.push(round_trips);
    }
    other.stop().await?;
    Ok(measured)
}

struct Trial {
    refused_after: Duration,
    is_late: bool,
}

impl Trial {
    async fn run(ended: Ended, [one, other]: &mut [Connection; 2], user: u64) -> Outcome<Self> {
        let session = ask(one, "POST", "/auth/login", None, Some(credentials(user)), 200).await?;
        let session = text(&session, "/accessToken")?;
        let (token, [method, path]) = match ended {
            Ended::Session => (session.clone(), ["POST".to_owned(), "/auth/logout".to_owned()]),
            Ended::Key => {
                let key = new_key(one, &session).await?;
                (text(&key, "/key")?, ["DELETE".to_owned(), format!("/api-keys/{}", text(&key, "/id")?)])
            }
        };
        let allowed = AtomicU64::new(0);
        let read = request("GET", &format!("{PREFIX}/auth/me"), &authorization(&token), None);
        let end = async {
            while allowed.load(Ordering::Relaxed) < READS {
                sleep(Duration::from_millis(1)).await;
            }
            ask(one, &method, &path, Some(&session), None, 204).await?;
            Outcome::Ok(Instant::now())
        };
        let (ended, refused) = tokio::join!(end, timeout(PATIENCE, read_until_refused(other, &read, &allowed)));
        let (ended, Refused { at, last_allowed }) = (ended?, refused??);
        Ok(Self { refused_after: at.saturating_duration_since(ended), is_late: last_allowed > ended })
    }
}

struct Refused {
    at: Instant,
    /// The time at which the last allowed read was sent.
    last_allowed: Instant,
}

async fn read_until_refused(connection: &mut Connection, read: &[u8], allowed: &AtomicU64) -> Outcome<Refused> {
    let mut last_allowed = Instant::now();
    loop {
        let sent = Instant::now();
        let answer = connection.ask(read).await?;
        if answer.status == 401 {
            return Ok(Refused { at: Instant::now(), last_allowed });
        }
        answer.expect(200)?;
        allowed.fetch_add(1, Ordering::Relaxed);
        last_allowed = sent;
    }
}
