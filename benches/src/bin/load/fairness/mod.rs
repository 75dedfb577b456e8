//! What one tenant that does its worst costs another tenant.

mod attack;
mod neighbour;
mod relay;

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use iam_benches::{CHEAP, Outcome};
use iam_core::credential::HashingCost;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use self::attack::{Answers, Attack};
use self::neighbour::Neighbour;
use self::relay::Relay;
use crate::api::ask;
use crate::client::Connection;
use crate::installation::{Installation, Tenant};
use crate::measure::comparison::{Comparison, Goal};
use crate::measure::series::{Round, Series};
use crate::measure::{Kind, LARGE};
use crate::process::Process;
use crate::report;
use crate::text::progress;
use crate::work::{Destination, Work};

/// The data of the tenant that does its worst: the most that the default quotas allow.
const USERS: u64 = 99_000;
const ORGANIZATIONS: u64 = 9_900;
const ENTRIES: u64 = 100_000;
const OTHERS: u64 = 1_000;

const ROUNDS: u32 = 3;
const LENGTH: Duration = Duration::from_millis(1_500);
/// How long a request, or a message, is waited for.
const LIMIT: Duration = Duration::from_secs(60);
/// A request of a tenant that is undisturbed takes less.
const QUIET: Duration = Duration::from_millis(20);
const MAILS: u64 = 3;

/// Runs all attacks, and prints what they cost.
pub(crate) async fn run(kind: Kind) -> Outcome {
    let (relay, mail) = Relay::start().await?;
    let smtp = format!("smtp://{mail}");
    let settings = [
        ("IAM_SMTP_URL", smtp.as_str()),
        ("IAM_MAIL_FROM", "no-reply@iam.example"),
        ("IAM_PUBLIC_URL", "https://iam.example"),
        ("IAM_TRUSTED_PROXIES", "127.0.0.1"),
    ];
    let database = kind.database().await?;
    let server = Process::server_with(database.url(), &settings, Stdio::inherit()).await?;
    let installation = Installation { server, database };
    progress("filling the tenants")?;
    let worst = installation.tenant(LARGE, USERS, ORGANIZATIONS, CHEAP).await?;
    installation.audit_log(&worst, ENTRIES).await?;
    let other = installation.tenant(0, OTHERS, 0, HashingCost::default()).await?;
    let bench = Bench { installation: &installation, other: &other, relay };
    let mut results = Vec::new();
    let mut neighbour = Neighbour::of(&installation, &worst).await?;
    let wide = neighbour.wide_rights().await?;
    let mut attacks = vec![
        neighbour.previews(&wide),
        neighbour.own_rights().await?,
        neighbour.expensive_logins().await?,
        neighbour.streams().await?,
        neighbour.heavy_reads(&wide),
    ];
    attacks.extend(neighbour.long_reads(&wide));
    for attack in &attacks {
        results.extend(bench.beside(attack).await?);
    }
    results.push(bench.mail_beside(&mut neighbour).await?);
    report::print(&results, &[])
}

/// The tenant that is to notice nothing.
struct Bench<'a> {
    installation: &'a Installation,
    other: &'a Tenant,
    relay: Relay,
}

impl Bench<'_> {
    fn address(&self) -> SocketAddr {
        self.installation.server.address
    }

    /// Measures the requests of the other tenant beside an attack, and alone.
    async fn beside(&self, attack: &Attack) -> Outcome<Vec<Comparison>> {
        const OWN: &str = "192.0.2.1";
        progress(attack.name)?;
        let numbers = self.other.numbers();
        let destination = Destination::server(self.installation.token(self.other).await?);
        let works = [
            ("`GET /auth/me`", 16, Work::get(&destination, "/auth/me")),
            ("`POST /auth/login`", 4, Work::login_from(OWN, numbers)),
            ("`POST /auth/login`, refused", 4, Work::refused_login_from(OWN, self.other.id)),
        ];
        let answers = Answers::default();
        let mut results = Vec::new();
        for (name, clients, work) in works {
            let (work, mut alone, mut beside) = (Arc::new(work), Series::new(), Series::new());
            round(self.address(), &work, clients, LENGTH / 3).await?;
            for _ in 0..ROUNDS {
                alone.push(round(self.address(), &work, clients, LENGTH).await?);
                let running = attack.begin(self.address(), &answers);
                sleep(LENGTH / 3).await;
                let round = round(self.address(), &work, clients, LENGTH).await;
                tokio::task::spawn_blocking(|| running.end()).await??;
                beside.push(round?);
                self.wait_for_quiet().await?;
            }
            results.push(Comparison {
                work: format!("{name} beside {}", attack.name),
                baseline: "alone".to_owned(),
                goals: vec![Goal::Rate(0.4), Goal::Times(990, 3.0)],
                ours: beside,
                theirs: alone,
            });
        }
        let memory = self.installation.server.peak_memory()?;
        progress(&format!("  {}: {}; the server's memory was {memory:.0} MiB at most", attack.name, answers.text()))?;
        Ok(results)
    }

    /// The server may still do what the attack has asked for.
    async fn wait_for_quiet(&self) -> Outcome {
        let until = Instant::now() + LIMIT;
        let mut quiet = 0;
        while quiet < 5 && Instant::now() < until {
            let began = Instant::now();
            let mut connection = Connection::open(self.address()).await?;
            timeout(LIMIT, ask(&mut connection, "GET", "/health", None, None, 200)).await??;
            quiet = if began.elapsed() < QUIET { quiet + 1 } else { 0 };
            sleep(QUIET).await;
        }
        Ok(())
    }

    /// Measures how long messages of the other tenant take after the attacker has invited many people, and before.
    async fn mail_beside(&self, neighbour: &mut Neighbour<'_>) -> Outcome<Comparison> {
        progress("messages")?;
        let alone = self.resets(0..MAILS).await?;
        neighbour.invite().await?;
        let beside = self.resets(MAILS..2 * MAILS).await?;
        Ok(Comparison {
            work: "a reset mail beside 1,000 invitations".to_owned(),
            baseline: "alone".to_owned(),
            goals: vec![Goal::Times(990, 3.0)],
            ours: beside,
            theirs: alone,
        })
    }

    async fn resets(&self, users: std::ops::Range<u64>) -> Outcome<Series> {
        let mut round = Round::default();
        for number in users {
            let email = Neighbour::address(self.other, number);
            let began = Instant::now();
            let mut connection = Connection::open(self.address()).await?;
            let body = json!({ "email": email, "tenant": self.other.id });
            ask(&mut connection, "POST", "/auth/password/forgot", None, Some(body), 202).await?;
            let accepted = self.relay.accepted_at(&email, LIMIT).await;
            round.latencies.push(accepted.map_or(LIMIT, |at| at - began));
        }
        let mut series = Series::new();
        series.push(round);
        Ok(series)
    }
}

/// Keeps every client busy for this time. A request without the expected answer counts as one that takes as long as a
/// client waits.
async fn round(address: SocketAddr, work: &Arc<Work>, clients: u64, length: Duration) -> Outcome<Round> {
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..clients {
        tasks.spawn(drive(address, Arc::clone(work), began + length));
    }
    let mut latencies = Vec::new();
    while let Some(task) = tasks.join_next().await {
        latencies.extend(task??);
    }
    Ok(Round { latencies, elapsed: began.elapsed() })
}

async fn drive(address: SocketAddr, work: Arc<Work>, deadline: Instant) -> Outcome<Vec<Duration>> {
    let mut random = fastrand::Rng::new();
    let (mut connection, mut latencies) = (Connection::open(address).await?, Vec::new());
    loop {
        let began = Instant::now();
        if began >= deadline {
            return Ok(latencies);
        }
        let request = work.next(&mut random)?;
        let is_answered = match timeout(LIMIT, connection.ask(&request)).await {
            Ok(Ok(answer)) => work.expect(&answer).is_ok(),
            _ => false,
        };
        if is_answered {
            latencies.push(began.elapsed());
        } else {
            latencies.push(LIMIT);
            connection = Connection::open(address).await?;
        }
    }
}
