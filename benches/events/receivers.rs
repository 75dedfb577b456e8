//! A thousand webhooks, half of which have receivers that never answer.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use iam_benches::database::Database;
use iam_benches::{CHEAP, Outcome, settings};
use iam_core::tenant::NewTenant;
use iam_core::webhook::{AddressPolicy, NewWebhook, WebhookPatch, WebhookRequest, WebhookSender as _, WebhookUrl};
use iam_core::{Caller, Iam};
use iam_webhook::HttpSender;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::time::sleep;

use crate::{Tasks, shown, write};

/// The webhooks of a tenant.
const OF_TENANT: usize = 20;

/// How long the events of a round may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A receiver that notes when it got each event.
#[derive(Clone, Default)]
struct Receiver(Arc<Received>);

#[derive(Default)]
struct Received {
    count: AtomicUsize,
    at: Mutex<Vec<Instant>>,
}

impl Receiver {
    async fn start(&self) -> Outcome<SocketAddr> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let router = Router::new().route("/hook", post(receive)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(address)
    }

    fn take(&self) -> Vec<Instant> {
        self.0.count.store(0, Ordering::Relaxed);
        std::mem::take(&mut *self.0.at.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn receive(State(Receiver(received)): State<Receiver>) -> StatusCode {
    received.at.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
    received.count.fetch_add(1, Ordering::Relaxed);
    StatusCode::NO_CONTENT
}

/// A receiver that takes connections and never answers.
async fn dead() -> Outcome<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Ok((connection, _)) = listener.accept().await {
            kept.push(connection);
        }
    });
    Ok(address)
}

/// Compares the lag of the live receivers with and without dead ones beside them, and sending with a bare client.
#[expect(clippy::print_stdout, reason = "the bench prints its results")]
pub(crate) async fn compare_receivers(kind: &str, webhooks: usize, rounds: usize) -> Outcome {
    // Each webhook has a connection, which has two ends here.
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    let database = Database::of(kind).await?;
    let sender = Arc::new(HttpSender::new(AddressPolicy::Anywhere)?);
    let builder = Iam::builder(database.store().await?).settings(settings(CHEAP)?);
    let iam = builder.webhooks(Arc::clone(&sender) as _).build().await?;
    let receiver = Receiver::default();
    let (live, dead) = (receiver.start().await?, dead().await?);
    let mut callers = Vec::new();
    for number in 0..webhooks / OF_TENANT {
        callers.push(tenant(&iam, number, [live, dead]).await?);
    }
    while iam.sequence_audit_logs().await?.more {}
    let expected = webhooks / 2;
    let alone = {
        let _tasks = Tasks::sending(&iam);
        lag(&iam, &callers, &receiver, expected, rounds).await?
    };
    switch_on(&iam, &callers).await?;
    let beside = {
        let _tasks = Tasks::sending(&iam);
        lag(&iam, &callers, &receiver, expected, rounds).await?
    };
    let ratio = |share: f64| at(&beside, share).as_secs_f64() / at(&alone, share).as_secs_f64();
    println!(
        "| from a commit to {expected} receivers beside {expected} dead ones, p50 / p99 | {} | {} without these | {:.2} / {:.2} |",
        shown(&mut beside.clone()),
        shown(&mut alone.clone()),
        ratio(0.5),
        ratio(0.99)
    );
    one_receiver(&iam, &callers, &receiver, (&sender, live), rounds * 100).await
}

/// A tenant whose webhooks lead to a live and to a dead receiver in turn. The latter are switched off.
async fn tenant(iam: &Iam, number: usize, receivers: [SocketAddr; 2]) -> Outcome<Caller> {
    let administrator = iam_benches::new_user(number as u64);
    let new = NewTenant { name: format!("Tenant {number}"), slug: None, administrator };
    let caller = Caller::system(iam.tenants().create("benchmark", new).await?.tenant.id, "benchmark");
    for webhook in 0..OF_TENANT {
        let is_live = webhook % 2 == 0;
        let [live, dead] = receivers;
        let url = format!("http://{}/hook", if is_live { live } else { dead });
        let types = vec!["LETTER.SENT".to_owned()];
        let new = NewWebhook { url, types, enabled: is_live, ..NewWebhook::default() };
        iam.webhooks().create(&caller, new).await?;
    }
    Ok(caller)
}

async fn switch_on(iam: &Iam, callers: &[Caller]) -> Outcome {
    for caller in callers {
        for webhook in iam.webhooks().list(caller).await? {
            let patch = WebhookPatch { enabled: Some(true), ..WebhookPatch::default() };
            iam.webhooks().update(caller, webhook.id, patch).await?;
        }
    }
    Ok(())
}

/// The times from the end of the commits of a round until each live receiver has its event, sorted.
async fn lag(
    iam: &Iam,
    callers: &[Caller],
    receiver: &Receiver,
    expected: usize,
    rounds: usize,
) -> Outcome<Vec<Duration>> {
    let mut lags = Vec::new();
    sleep(Duration::from_secs(2)).await;
    for _ in 0..rounds.max(1) {
        receiver.take();
        for caller in callers {
            write(iam, caller).await?;
        }
        let committed = Instant::now();
        while receiver.0.count.load(Ordering::Relaxed) < expected {
            if committed.elapsed() > PATIENCE {
                return Err("not every live receiver got its event".into());
            }
            sleep(Duration::from_millis(5)).await;
        }
        lags.extend(receiver.take().iter().map(|at| at.saturating_duration_since(committed)));
        sleep(Duration::from_millis(500)).await;
    }
    lags.sort_unstable();
    Ok(lags)
}

fn at(times: &[Duration], share: f64) -> Duration {
    times.get(((times.len() as f64 - 1.0) * share) as usize).copied().unwrap_or_default()
}

/// Compares the events of one webhook in a second with bare requests of the same client.
#[expect(clippy::print_stdout, reason = "the bench prints its results")]
async fn one_receiver(
    iam: &Iam,
    callers: &[Caller],
    receiver: &Receiver,
    (sender, live): (&HttpSender, SocketAddr),
    events: usize,
) -> Outcome {
    let caller = callers.first().ok_or("there is no tenant")?;
    for webhook in iam.webhooks().list(caller).await? {
        iam.webhooks().delete(caller, webhook.id).await?;
    }
    let url = format!("http://{live}/hook");
    let new = NewWebhook { url: url.clone(), types: vec!["LETTER.SENT".into()], ..NewWebhook::default() };
    iam.webhooks().create(caller, new).await?;
    for _ in 0..events {
        write(iam, caller).await?;
    }
    while iam.sequence_audit_logs().await?.more {}
    receiver.take();
    let (began, mut sent) = (Instant::now(), Duration::ZERO);
    let all = async {
        while receiver.0.count.load(Ordering::Relaxed) < events {
            sleep(Duration::from_millis(1)).await;
        }
        // The end of the call waits for the dead receivers.
        sent = began.elapsed();
    };
    iam.deliver_webhooks(all).await?;
    let url: WebhookUrl = url.parse()?;
    let body = vec![b' '; 700];
    let began = Instant::now();
    for number in 0..events {
        let request = WebhookRequest::new(url.clone(), number.to_string(), 0, "v1,".to_owned(), body.clone());
        sender.send(request).await?;
    }
    let bare = began.elapsed();
    let rate = |time: Duration| events as f64 / time.as_secs_f64();
    println!(
        "| events of a webhook to one receiver, one after the other | {:.0}/s | {:.0}/s | {:.2} |\n",
        rate(sent),
        rate(bare),
        bare.as_secs_f64() / sent.as_secs_f64()
    );
    Ok(())
}
