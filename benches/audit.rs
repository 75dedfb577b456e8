//! The speed of changes with their audit entries, of sequencing, of verification and of exports.
//!
//! `cargo bench -p iam-benches --bench audit` under `scripts/with-postgres` with `IAM_TEST_POSTGRES_FSYNC=on`. `-- SQLite`
//! leaves the other database out. `--bench audit_pages` measures the pages of a log with ten million entries.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use iam_benches::Outcome;
use iam_benches::database::{Database, selected};
use iam_core::audit::{AuditEntry, AuditFilter, EventFormat, NewEvent, OcsfEvent, ShownEntry};
use iam_core::tenant::Registration;
use iam_core::user::{NewUser, UserPatch};
use iam_core::{Caller, Error, Iam, RequestContext, Store, UserId};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};

#[derive(Clone, Copy)]
struct Plan {
    /// The length of one measurement of changes, and the number of measurements.
    slice: Duration,
    slices: usize,
    users: usize,
    writers: usize,
    /// The number of entries that are sequenced and verified.
    entries: usize,
    /// The number of entries that arrive per second, and for how long they arrive.
    rate: u64,
    stream: Duration,
}

const FULL: Plan = Plan {
    slice: Duration::from_secs(4),
    slices: 6,
    users: 200,
    writers: 16,
    entries: 100_000,
    rate: 2_000,
    stream: Duration::from_secs(30),
};

const SMALL: Plan = Plan {
    slice: Duration::from_millis(200),
    slices: 1,
    users: 4,
    writers: 2,
    entries: 600,
    rate: 50,
    stream: Duration::from_millis(500),
};

#[tokio::main]
async fn main() -> Outcome {
    // `cargo bench` passes `--bench`. `cargo test` does not, and only checks that the bench runs.
    let plan = if env::args().any(|argument| argument == "--bench") { FULL } else { SMALL };
    for name in selected() {
        report(name, &Database::of(name).await?, plan).await?;
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the bench prints its results")]
async fn report(name: &str, database: &Database, plan: Plan) -> Outcome {
    let world = World::new(database.store().await?, plan.users).await?;
    println!("## {name}\n");
    println!("| User updates a second, {} writers | |\n|---|---|", plan.writers);
    for (name, by) in [("by an authenticated user", By::Token), ("by a background job", By::System)] {
        let mut rates = Vec::new();
        for _ in 0..plan.slices {
            rates.push(world.updates_per_second(by, plan).await?);
        }
        println!("| {name} | {:.0} |", median(rates));
    }
    println!();

    drain(&world.iam).await?;
    world.fill(plan.entries).await?;
    let begun = Instant::now();
    let sequenced = drain(&world.iam).await?;
    let sequencing = sequenced as f64 / begun.elapsed().as_secs_f64();
    let lag = world.lag(plan).await?;
    drain(&world.iam).await?;
    let begun = Instant::now();
    let verified = world.iam.audit().verify(&world.caller, &[]).await?;
    let verifying = verified.sequenced as f64 / begun.elapsed().as_secs_f64();
    if !verified.findings.is_empty() {
        return Err(format!("the verification of the log has findings: {:?}", verified.findings).into());
    }
    println!("| Entries a second | |\n|---|---|");
    println!("| sequenced, of a backlog of {sequenced} | {sequencing:.0} |");
    println!("| verified, of {} | {verifying:.0} |", verified.sequenced);
    for format in [EventFormat::Native, EventFormat::Ocsf] {
        println!("| exported as NDJSON, {format} | {:.0} |", world.exported_per_second(format).await?);
    }
    println!();
    println!("| {} entries a second arrive for {} s | |\n|---|---|", plan.rate, plan.stream.as_secs());
    println!("| arrived a second | {:.0} |", lag.arrived);
    println!("| refused, because too many waited | {} |", lag.refused);
    println!("| pending, median of the samples | {} |", lag.median);
    println!("| pending, maximum | {} |\n", lag.most);
    Ok(())
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

/// The caller that changes users.
#[derive(Clone, Copy)]
enum By {
    /// The administrator, who presents an access token for each change, as requests do.
    Token,
    /// A background job, without authentication.
    System,
}

struct World {
    iam: Iam,
    store: Arc<dyn Store>,
    caller: Caller,
    token: Arc<str>,
    users: Arc<Vec<UserId>>,
}

struct Lag {
    arrived: f64,
    /// The number of entries that a store refused because too many waited for it.
    refused: u64,
    median: usize,
    most: usize,
}

impl World {
    async fn new(store: Arc<dyn Store>, users: usize) -> Outcome<Self> {
        let iam = Iam::builder(Arc::clone(&store)).build().await?;
        let registration = Registration { user: person("admiral@navy.example"), tenant_name: None };
        let registered = iam.tenants().register(&RequestContext::default(), registration).await?;
        let token = registered.login.tokens.access.expose().into();
        let caller = Caller::system(registered.tenant.id, "bench");
        let mut ids = Vec::new();
        for number in 0..users {
            let user = iam.users().create(&caller, person(&format!("u{number}@navy.example"))).await?;
            ids.push(user.id);
        }
        Ok(Self { iam, store, caller, token, users: Arc::new(ids) })
    }

    /// Changes names with this plan's writers, as quickly as they can. The entries are sequenced meanwhile.
    async fn updates_per_second(&self, by: By, plan: Plan) -> Outcome<f64> {
        let sequencer = Sequencer::start(self.iam.clone());
        let (count, begun) = (Arc::new(AtomicU64::new(0)), Instant::now());
        let mut writers = JoinSet::<iam_core::Result<()>>::new();
        for writer in 0..plan.writers {
            let (iam, users, count) = (self.iam.clone(), Arc::clone(&self.users), Arc::clone(&count));
            let (system, token) = (self.caller.clone(), Arc::clone(&self.token));
            writers.spawn(async move {
                let mine = users.iter().skip(writer).step_by(plan.writers);
                for (round, user) in mine.cycle().enumerate() {
                    if begun.elapsed() > plan.slice {
                        break;
                    }
                    let first_name = Some(format!("Grace {writer} {round} {}", begun.elapsed().as_nanos()));
                    let caller = match by {
                        By::Token => iam.authenticate(&token, RequestContext::default()).await?,
                        By::System => system.clone(),
                    };
                    iam.users().update(&caller, *user, UserPatch { first_name, ..UserPatch::default() }).await?;
                    count.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            });
        }
        while let Some(done) = writers.join_next().await {
            done??;
        }
        let rate = count.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64();
        sequencer.stop().await?;
        Ok(rate)
    }

    /// Records events without sequencing them.
    async fn fill(&self, entries: usize) -> Outcome {
        let mut writers = JoinSet::<iam_core::Result<()>>::new();
        for _ in 0..8 {
            let (iam, caller) = (self.iam.clone(), self.caller.clone());
            writers.spawn(async move {
                for number in 0..entries / 8 {
                    iam.audit().log(&caller, event(number)).await?;
                }
                Ok(())
            });
        }
        while let Some(done) = writers.join_next().await {
            done??;
        }
        Ok(())
    }

    /// Exports the log, and writes each entry as a line in memory.
    async fn exported_per_second(&self, format: EventFormat) -> Outcome<f64> {
        let begun = Instant::now();
        let mut export = self.iam.audit().export(&self.caller, AuditFilter::default(), None, format.as_str()).await?;
        let (mut count, mut line) = (0, Vec::new());
        loop {
            let entries = export.next(&self.iam).await?;
            if entries.is_empty() {
                return Ok(count as f64 / begun.elapsed().as_secs_f64());
            }
            for entry in &entries {
                line.clear();
                match format {
                    EventFormat::Native => serde_json::to_writer(&mut line, &ShownEntry::from(entry))?,
                    EventFormat::Ocsf => serde_json::to_writer(&mut line, &OcsfEvent::of(entry))?,
                }
            }
            count += entries.len();
        }
    }

    /// Lets entries arrive at a steady rate, and counts the pending entries.
    async fn lag(&self, plan: Plan) -> Outcome<Lag> {
        const TICK: Duration = Duration::from_millis(10);
        let sequencer = Sequencer::start(self.iam.clone());
        let begun = Instant::now();
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let (mut writers, mut arrived, mut waiting) = (JoinSet::new(), 0_u64, Vec::new());
        let sampler = {
            let store = Arc::clone(&self.store);
            async move {
                while begun.elapsed() < plan.stream {
                    sleep(Duration::from_millis(100)).await;
                    waiting.push(store.pending(&[], 1_000_000).await?.len());
                }
                iam_core::Result::<_>::Ok(waiting)
            }
        };
        let writing = async {
            let mut refused = 0;
            while begun.elapsed() < plan.stream {
                ticks.tick().await;
                let due = (begun.elapsed().as_secs_f64() * plan.rate as f64) as u64;
                for number in arrived..due {
                    let (iam, caller) = (self.iam.clone(), self.caller.clone());
                    writers.spawn(async move { iam.audit().log(&caller, event(number as usize)).await });
                }
                arrived = due;
                while let Some(done) = writers.try_join_next() {
                    refused += u64::from(is_refused(done?)?);
                }
            }
            while let Some(done) = writers.join_next().await {
                refused += u64::from(is_refused(done?)?);
            }
            Outcome::Ok(((arrived - refused) as f64 / begun.elapsed().as_secs_f64(), refused))
        };
        let (arrived, waiting) = tokio::join!(writing, sampler);
        let mut waiting = waiting?;
        waiting.sort_unstable();
        sequencer.stop().await?;
        let median = waiting.get(waiting.len() / 2).copied().unwrap_or_default();
        let (arrived, refused) = arrived?;
        Ok(Lag { arrived, refused, median, most: waiting.last().copied().unwrap_or_default() })
    }
}

/// Sequences entries in the background, as the server does.
struct Sequencer {
    stop: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<iam_core::Result<()>>,
}

impl Sequencer {
    fn start(iam: Iam) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let task = tokio::spawn(async move {
            while !stopped.load(Ordering::Relaxed) {
                if !iam.sequence_audit_logs().await?.more {
                    sleep(Duration::from_millis(250)).await;
                }
            }
            Ok(())
        });
        Self { stop, task }
    }

    async fn stop(self) -> Outcome {
        self.stop.store(true, Ordering::Relaxed);
        Ok(self.task.await??)
    }
}

/// Whether an entry was refused because too many waited for the store.
fn is_refused(recorded: iam_core::Result<AuditEntry>) -> iam_core::Result<bool> {
    match recorded {
        Ok(_) => Ok(false),
        Err(Error::Overloaded { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Sequences all pending entries. Returns their number.
async fn drain(iam: &Iam) -> Outcome<usize> {
    let mut sequenced = 0;
    loop {
        let round = iam.sequence_audit_logs().await?.entries;
        if round == 0 {
            return Ok(sequenced);
        }
        sequenced += round;
    }
}

fn person(email: &str) -> NewUser {
    NewUser {
        email: email.to_owned(),
        password: "Passw0rd!".into(),
        first_name: "Grace".to_owned(),
        last_name: "Hopper".to_owned(),
    }
}

fn event(number: usize) -> NewEvent {
    let metadata = serde_json::json!({ "number": number, "amount": "12.50", "currency": "EUR" });
    NewEvent {
        action: "SENT".to_owned(),
        resource_type: "INVOICE".to_owned(),
        resource_id: Some(format!("2026-{number}")),
        metadata: metadata.as_object().cloned().unwrap_or_default(),
    }
}
