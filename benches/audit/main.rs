//! What the audit log costs, and how quick it is: writing with it and without, sealing, verifying.
//!
//! `cargo bench -p iam-benches --bench audit` under `scripts/with-postgres` with `IAM_TEST_POSTGRES_FSYNC=on`. How pages
//! of the log stay quick with ten million entries is measured by `--bench audit_pages`.

mod unaudited;

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use iam_benches::Outcome;
use iam_benches::database::Database;
use iam_core::audit::NewEvent;
use iam_core::tenant::Registration;
use iam_core::user::{NewUser, UserPatch};
use iam_core::{Caller, Iam, RequestContext, Store, UserId};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};

use unaudited::Unaudited;

#[derive(Clone, Copy)]
struct Plan {
    /// How long each way of writing is measured at a time, and how often.
    slice: Duration,
    slices: usize,
    users: usize,
    writers: usize,
    /// How many entries are sealed and verified.
    entries: usize,
    /// How many entries arrive in each second, and for how long.
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
    // `cargo bench` says so; `cargo test` only wants to know that it runs.
    let plan = if env::args().any(|argument| argument == "--bench") { FULL } else { SMALL };
    for (name, database) in [("PostgreSQL", Database::postgres().await?), ("SQLite", Database::sqlite())] {
        report(name, &database, plan).await?;
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "it is what the bench is for")]
async fn report(name: &str, database: &Database, plan: Plan) -> Outcome {
    let store = database.store().await?;
    let world = World::new(Arc::clone(&store), plan.users).await?;
    let unaudited = Iam::builder(Arc::new(Unaudited(store))).build().await?;
    println!("## {name}\n");
    println!("| User updates a second, {} writers | without entries | with, and sealed | ratio |", plan.writers);
    println!("|---|---|---|---|");
    for (name, by) in [("by an authenticated user", By::Token), ("by the program itself", By::System)] {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for _ in 0..plan.slices {
            without.push(world.updates_per_second(&unaudited, by, plan, false).await?);
            with.push(world.updates_per_second(&world.iam, by, plan, true).await?);
        }
        let (with, without) = (median(with), median(without));
        println!("| {name} | {without:.0} | {with:.0} | {:.2} |", with / without);
    }
    println!();

    drain(&world.iam).await?;
    world.fill(plan.entries).await?;
    let begun = Instant::now();
    let sealed = drain(&world.iam).await?;
    let sealing = sealed as f64 / begun.elapsed().as_secs_f64();
    let lag = world.lag(plan).await?;
    drain(&world.iam).await?;
    let begun = Instant::now();
    let verified = world.iam.audit().verify(&world.caller, &[]).await?;
    let verifying = verified.sealed as f64 / begun.elapsed().as_secs_f64();
    if !verified.findings.is_empty() {
        return Err(format!("the log is not what it should be: {:?}", verified.findings).into());
    }
    println!("| Entries a second | |\n|---|---|");
    println!("| sealing a backlog of {sealed} | {sealing:.0} |");
    println!("| verifying {} | {verifying:.0} |\n", verified.sealed);
    println!("| {} entries a second arrive for {} s | |\n|---|---|", plan.rate, plan.stream.as_secs());
    println!("| arrived a second | {:.0} |", lag.arrived);
    println!("| waiting to be sealed, median of samples | {} |", lag.median);
    println!("| waiting to be sealed, at most | {} |\n", lag.most);
    Ok(())
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

/// Who changes users.
#[derive(Clone, Copy)]
enum By {
    /// The administrator, who presents an access token each time, as with every request.
    Token,
    /// A background job, which authenticates nobody.
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

    /// Changes names as quickly as so many writers can, while entries are sealed.
    async fn updates_per_second(&self, iam: &Iam, by: By, plan: Plan, sealing: bool) -> Outcome<f64> {
        let sealer = sealing.then(|| Sealer::start(self.iam.clone()));
        let (count, begun) = (Arc::new(AtomicU64::new(0)), Instant::now());
        let mut writers = JoinSet::<iam_core::Result<()>>::new();
        for writer in 0..plan.writers {
            let (iam, users, count) = (iam.clone(), Arc::clone(&self.users), Arc::clone(&count));
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
        if let Some(sealer) = sealer {
            sealer.stop().await?;
        }
        Ok(rate)
    }

    /// Records events without sealing them.
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

    /// Lets entries arrive at an even pace, and looks how many wait.
    async fn lag(&self, plan: Plan) -> Outcome<Lag> {
        const TICK: Duration = Duration::from_millis(10);
        let sealer = Sealer::start(self.iam.clone());
        let begun = Instant::now();
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let (mut writers, mut arrived, mut waiting) = (JoinSet::new(), 0_u64, Vec::new());
        let sampler = {
            let store = Arc::clone(&self.store);
            async move {
                while begun.elapsed() < plan.stream {
                    sleep(Duration::from_millis(100)).await;
                    waiting.push(store.unsealed(&[], 1_000_000).await?.len());
                }
                iam_core::Result::<_>::Ok(waiting)
            }
        };
        let writing = async {
            while begun.elapsed() < plan.stream {
                ticks.tick().await;
                let due = (begun.elapsed().as_secs_f64() * plan.rate as f64) as u64;
                for number in arrived..due {
                    let (iam, caller) = (self.iam.clone(), self.caller.clone());
                    writers.spawn(async move { iam.audit().log(&caller, event(number as usize)).await });
                }
                arrived = due;
                while let Some(done) = writers.try_join_next() {
                    done??;
                }
            }
            while let Some(done) = writers.join_next().await {
                done??;
            }
            Outcome::Ok(arrived as f64 / begun.elapsed().as_secs_f64())
        };
        let (arrived, waiting) = tokio::join!(writing, sampler);
        let mut waiting = waiting?;
        waiting.sort_unstable();
        sealer.stop().await?;
        let median = waiting.get(waiting.len() / 2).copied().unwrap_or_default();
        Ok(Lag { arrived: arrived?, median, most: waiting.last().copied().unwrap_or_default() })
    }
}

/// Seals in the background as the server does.
struct Sealer {
    stop: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<iam_core::Result<()>>,
}

impl Sealer {
    fn start(iam: Iam) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let task = tokio::spawn(async move {
            while !stopped.load(Ordering::Relaxed) {
                if !iam.seal_audit_logs().await?.more {
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

/// Seals all that waits.
async fn drain(iam: &Iam) -> Outcome<usize> {
    let mut sealed = 0;
    loop {
        let round = iam.seal_audit_logs().await?.entries;
        if round == 0 {
            return Ok(sealed);
        }
        sealed += round;
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
