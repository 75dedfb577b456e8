use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use iam_model::audit::{EventFormat, NewEvent};
use iam_model::clock::testing::FixedClock;
use iam_model::error::Error;
use iam_model::id::{TenantId, WebhookId};
use iam_model::observe::Observer;
use iam_model::store::Turn;
use iam_model::store_error::StoreError;
use iam_model::webhook::{AddressPolicy, Delivery, DeliveryStatus, SendError, WebhookRequest, WebhookSender};
use iam_store_memory::MemoryStore;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use crate::caller::Caller;
use crate::hashing::HashingCost;
use crate::iam::Iam;
use crate::settings::Settings;
use crate::tenant::NewTenant;
use crate::user::NewUser;
use crate::webhook::{NewWebhook, Webhook, WebhookPatch};

/// Answers each URL in its own way, and counts the requests that it has and has had.
#[derive(Default)]
struct Receivers {
    answers: Mutex<HashMap<String, Answer>>,
    requests: Mutex<Vec<WebhookRequest>>,
    running: AtomicUsize,
    most_running: AtomicUsize,
}

#[derive(Clone, Copy)]
enum Answer {
    Status(u16),
    Nothing,
    /// After this many seconds.
    Slow(u64),
}

#[async_trait]
impl WebhookSender for Receivers {
    fn address_policy(&self) -> AddressPolicy {
        AddressPolicy::Public
    }

    async fn send(&self, request: WebhookRequest) -> Result<u16, SendError> {
        let answer = self.answers.lock().unwrap().get(request.url.as_str()).copied().unwrap_or(Answer::Status(204));
        self.requests.lock().unwrap().push(request);
        let running = self.running.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_running.fetch_max(running, Ordering::Relaxed);
        let _ended = Ended(&self.running);
        match answer {
            Answer::Status(status) => Ok(status),
            Answer::Nothing => std::future::pending().await,
            Answer::Slow(seconds) => {
                sleep(Duration::from_secs(seconds)).await;
                Ok(204)
            }
        }
    }
}

struct Ended<'a>(&'a AtomicUsize);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The states after each attempt.
#[derive(Default)]
struct Attempts(Mutex<Vec<DeliveryStatus>>);

impl Observer for Attempts {
    fn store_answered(&self, _: &'static str, _: Duration, _: Option<&StoreError>) {}

    fn login_failed(&self, _: iam_model::change::LoginFailure) {}

    fn password_hashed(&self, _: Duration, _: Duration) {}

    fn password_refused(&self) {}

    fn webhook_attempted(&self, status: DeliveryStatus) {
        self.0.lock().unwrap().push(status);
    }
}

struct World {
    iam: Iam,
    clock: FixedClock,
    receivers: Arc<Receivers>,
    attempts: Arc<Attempts>,
}

impl World {
    async fn new() -> Self {
        let clock = FixedClock::at("2026-01-31T09:15:00Z");
        let (receivers, attempts) = (Arc::new(Receivers::default()), Arc::new(Attempts::default()));
        let hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
        let builder =
            Iam::builder(Arc::new(MemoryStore::new())).settings(Settings { hashing_cost, ..Settings::default() });
        let builder = builder.clock(clock.clone()).observer(Arc::clone(&attempts) as Arc<dyn Observer>);
        let iam = builder.webhooks(Arc::clone(&receivers) as Arc<dyn WebhookSender>).build().await.unwrap();
        Self { iam, clock, receivers, attempts }
    }

    async fn tenant(&self, slug: &str) -> Caller {
        let administrator = NewUser {
            email: "ada@example.com".into(),
            password: "Passw0rd!".into(),
            first_name: "Ada".into(),
            last_name: "Lovelace".into(),
        };
        let new = NewTenant { name: slug.into(), slug: Some(slug.into()), administrator };
        let caller = Caller::system(self.iam.tenants().create("test", new).await.unwrap().tenant.id, "test");
        self.sequence().await;
        caller
    }

    async fn webhook(&self, caller: &Caller, url: &str, answer: Answer) -> Webhook {
        self.answer(url, answer);
        let new = NewWebhook { url: url.into(), types: vec!["LETTER.SENT".into()], ..NewWebhook::default() };
        self.iam.webhooks().create(caller, new).await.unwrap().webhook
    }

    fn answer(&self, url: &str, answer: Answer) {
        self.receivers.answers.lock().unwrap().insert(url.to_owned(), answer);
    }

    async fn write(&self, caller: &Caller, resource_type: &str, count: usize) {
        for _ in 0..count {
            let (action, resource_type) = ("SENT".to_owned(), resource_type.to_owned());
            let event = NewEvent { action, resource_type, ..NewEvent::default() };
            self.iam.audit().log(caller, event).await.unwrap();
        }
        self.sequence().await;
    }

    async fn sequence(&self) {
        while self.iam.sequence_audit_logs().await.unwrap().more {}
    }

    /// Sends events for this time, and returns the number of new requests.
    async fn deliver_for(&self, time: Duration) -> usize {
        let before = self.count();
        self.iam.deliver_webhooks(sleep(time)).await.unwrap();
        self.count() - before
    }

    async fn deliver(&self) -> usize {
        self.deliver_for(Duration::from_secs(5)).await
    }

    fn count(&self) -> usize {
        self.receivers.requests.lock().unwrap().len()
    }

    async fn deliveries(&self, webhook: &Webhook) -> Vec<Delivery> {
        let caller = Caller::system(webhook.tenant_id, "test");
        self.iam.webhooks().deliveries(&caller, webhook.id).await.unwrap()
    }

    async fn is_enabled(&self, webhook: &Webhook) -> bool {
        let caller = Caller::system(webhook.tenant_id, "test");
        self.iam.webhooks().get(&caller, webhook.id).await.unwrap().enabled
    }
}

const URL: &str = "https://example.com/hook";

#[tokio::test(start_paused = true)]
async fn events_are_sent_once_and_reported() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let webhook = world.webhook(&acme, URL, Answer::Status(200)).await;
    world.write(&acme, "PARCEL", 250).await;
    world.write(&acme, "LETTER", 45).await;
    assert_eq!((world.deliver().await, world.deliver().await), (45, 0));
    assert_eq!(*world.attempts.0.lock().unwrap(), [DeliveryStatus::Delivered; 45]);
    let deliveries = world.deliveries(&webhook).await;
    let numbers = deliveries.iter().map(|delivery| delivery.sequence);
    let last = deliveries[0].sequence;
    assert!(numbers.eq((last - 44..=last).rev()));
    assert_eq!(last, world.iam.0.log_head(acme.tenant()).await.unwrap().frontier.size());
    assert_eq!(world.iam.webhook_backlog().await.unwrap().entries, 0);
}

#[tokio::test(start_paused = true)]
async fn events_of_other_types_count_as_attempted() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    world.webhook(&acme, URL, Answer::Status(200)).await;
    world.write(&acme, "PARCEL", 3).await;
    // The creation of the webhook is an event, too.
    assert_eq!(world.iam.webhook_backlog().await.unwrap().entries, 4);
    assert_eq!(world.deliver().await, 0);
    assert_eq!(world.iam.webhook_backlog().await.unwrap().entries, 0);
}

#[tokio::test(start_paused = true)]
async fn an_event_whose_type_was_removed_is_not_tried_again() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let webhook = world.webhook(&acme, URL, Answer::Status(500)).await;
    world.write(&acme, "LETTER", 1).await;
    assert_eq!(world.deliver().await, 1);
    let patch = WebhookPatch { types: Some(vec!["PARCEL.*".to_owned()]), ..WebhookPatch::default() };
    world.iam.webhooks().update(&acme, webhook.id, patch).await.unwrap();
    world.clock.advance(TimeDelta::seconds(6));
    assert_eq!(world.deliver().await, 0);
    let ended = world.deliveries(&webhook).await.remove(0);
    assert_eq!((ended.status, ended.attempt, ended.next_attempt_at), (DeliveryStatus::Failed, 1, None));
    assert_eq!(ended.error.as_deref(), Some("the webhook does not send this type any more"));
}

fn fields<T: std::fmt::Debug>(result: Result<T, Error>) -> Vec<String> {
    let Err(Error::Validation(errors)) = result else { panic!("{result:?}") };
    errors.iter().map(|error| error.field.to_string()).collect()
}

#[tokio::test]
async fn a_webhook_names_what_is_wrong_with_it() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let create = async |url: &str, types: &[&str], description: String| {
        let types = types.iter().map(|text| (*text).to_owned()).collect();
        world
            .iam
            .webhooks()
            .create(&acme, NewWebhook { url: url.into(), types, description, ..NewWebhook::default() })
            .await
    };
    for (url, types, length, expected) in [
        ("", &["USER.*"][..], 0, &["url"][..]),
        (URL, &[], 0, &["types"]),
        (URL, &["USER.*"; 101], 0, &["types"]),
        (URL, &["USER.*", "*"], 0, &["types[1]"]),
        (URL, &["USER.*"], 501, &["description"]),
    ] {
        assert_eq!(fields(create(url, types, "x".repeat(length)).await), expected);
    }
    create(URL, &["USER.*"; 100], "x".repeat(500)).await.unwrap();
}

#[tokio::test]
async fn a_change_replaces_what_is_given() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let before = world.webhook(&acme, URL, Answer::Status(200)).await;
    let update = async |patch| world.iam.webhooks().update(&acme, before.id, patch).await.unwrap();
    let unchanged = update(WebhookPatch { url: Some(URL.to_owned()), ..WebhookPatch::default() }).await;
    assert_eq!(unchanged, before);
    let (url, types) = ("https://example.org/".to_owned(), vec!["USER.*".to_owned()]);
    let patch = WebhookPatch { url: Some(url.clone()), types: Some(types), ..WebhookPatch::default() };
    let after = update(patch).await;
    assert_eq!((after.url.as_str(), &after.types), (&*url, &vec!["USER.*".parse().unwrap()]));
    assert_eq!((after.enabled, &after.description), (before.enabled, &before.description));
    let patch = WebhookPatch { description: Some("x".to_owned()), enabled: Some(false), ..WebhookPatch::default() };
    let after = update(patch).await;
    assert_eq!((after.url.as_str(), after.enabled, after.description.as_str()), (&*url, false, "x"));
    let patch = WebhookPatch { format: Some(EventFormat::Ocsf), ..WebhookPatch::default() };
    let ocsf = update(patch).await;
    assert_eq!(ocsf, Webhook { format: EventFormat::Ocsf, ..after }.changed());
}

#[tokio::test(start_paused = true)]
async fn what_continues_a_log_is_sent_at_once() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    world.webhook(&acme, URL, Answer::Status(200)).await;
    let meanwhile = async {
        // After the first look, and long before the next one by the clock.
        sleep(Duration::from_millis(200)).await;
        let written = Instant::now();
        world.write(&acme, "LETTER", 1).await;
        while world.count() == 0 {
            sleep(Duration::from_millis(1)).await;
        }
        written.elapsed()
    };
    let delivering = world.iam.deliver_webhooks(sleep(Duration::from_secs(5)));
    let (delivered, waited) = tokio::join!(delivering, meanwhile);
    delivered.unwrap();
    assert!(waited < Duration::from_millis(50), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_long_backlog_is_sent_without_a_pause() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    world.webhook(&acme, URL, Answer::Slow(1)).await;
    world.write(&acme, "LETTER", 10).await;
    // A round has one attempt here, because it takes longer than a round.
    let started = Instant::now();
    let stop = async {
        while world.count() < 10 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    world.iam.deliver_webhooks(stop).await.unwrap();
    assert!(started.elapsed() < Duration::from_millis(11_500), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_failing_webhook_reads_one_event_at_a_time() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let webhook = world.webhook(&acme, URL, Answer::Status(500)).await;
    world.write(&acme, "LETTER", 3).await;
    assert_eq!(world.deliver().await, 3);
    let work =
        world.iam.0.store.webhook_work(webhook.tenant_id, webhook.id, world.iam.now(), 9).await.unwrap().unwrap();
    assert_eq!((work.progress.failures, work.due.len()), (3, 0));
    world.answer(URL, Answer::Nothing);
    world.write(&acme, "LETTER", 3).await;
    // The first of them, until there is no answer.
    assert_eq!(world.deliver_for(Duration::from_secs(15)).await, 1);
    let deliveries = world.deliveries(&webhook).await;
    assert_eq!(deliveries.len(), 4);
    assert_eq!(deliveries.iter().filter(|delivery| delivery.http_status.is_none()).count(), 1);
    assert_eq!(deliveries[0].error.as_deref(), Some("no answer within 15 seconds"));
}

#[tokio::test(start_paused = true)]
async fn after_ten_failures_each_further_event_waits_five_minutes() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let webhook = world.webhook(&acme, URL, Answer::Status(500)).await;
    world.write(&acme, "LETTER", 15).await;
    assert_eq!(world.deliver().await, 10);
    assert_eq!(world.iam.webhook_backlog().await.unwrap().entries, 5);
    world.answer(URL, Answer::Status(204));
    world.clock.advance(TimeDelta::milliseconds(299_999));
    // The retries, of which the first success ends the pause.
    assert_eq!(world.deliver().await, 15);
    assert!(world.deliveries(&webhook).await.iter().all(|delivery| delivery.status == DeliveryStatus::Delivered));
}

#[tokio::test(start_paused = true)]
async fn what_a_round_has_sent_is_not_sent_again() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    world.webhook(&acme, URL, Answer::Slow(1)).await;
    world.write(&acme, "LETTER", 4).await;
    assert_eq!(world.deliver_for(Duration::from_secs(10)).await, 4);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_a_failure_says_why() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let webhook = world.webhook(&acme, URL, Answer::Status(200)).await;
    for (status, error) in [
        (199, Some("the status of the answer is not 2xx")),
        (200, None),
        (299, None),
        (300, Some("redirects are not followed")),
        (399, Some("redirects are not followed")),
        (400, Some("the status of the answer is not 2xx")),
    ] {
        world.answer(URL, Answer::Status(status));
        let answer = world.iam.webhooks().test(&acme, webhook.id).await.unwrap();
        assert_eq!((answer.http_status, answer.error.as_deref()), (Some(status), error));
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_without_an_answer_ends() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let webhook = world.webhook(&acme, URL, Answer::Nothing).await;
    let started = Instant::now();
    let answer = world.iam.webhooks().test(&acme, webhook.id).await.unwrap();
    assert_eq!((answer.http_status, answer.error.as_deref()), (None, Some("no answer within 15 seconds")));
    assert_eq!(started.elapsed().as_secs(), 16);
    world.answer(URL, Answer::Slow(15));
    let answer = world.iam.webhooks().test(&acme, webhook.id).await.unwrap();
    assert_eq!((answer.http_status, answer.error), (Some(204), None));
}

#[tokio::test(start_paused = true)]
async fn retries_wait_up_to_a_tenth_longer() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let webhook = world.webhook(&acme, URL, Answer::Status(500)).await;
    let mut waits = Vec::new();
    for _ in 0..9 {
        world.write(&acme, "LETTER", 1).await;
        world.deliver().await;
        let next = world.deliveries(&webhook).await[0].next_attempt_at.unwrap();
        waits.push((next - world.iam.now()).num_milliseconds());
    }
    assert!(waits.iter().all(|wait| (5_000..=5_500).contains(wait)), "{waits:?}");
    waits.sort_unstable();
    waits.dedup();
    assert!(waits.len() > 1, "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn a_retry_is_sent_before_later_events() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let webhook = world.webhook(&acme, URL, Answer::Status(500)).await;
    world.write(&acme, "LETTER", 1).await;
    world.deliver().await;
    let first = world.deliveries(&webhook).await[0].entry_id.to_string();
    world.answer(URL, Answer::Status(204));
    world.clock.advance(TimeDelta::seconds(6));
    world.write(&acme, "LETTER", 2).await;
    assert_eq!(world.deliver().await, 3);
    let ids: Vec<_> = world.receivers.requests.lock().unwrap().iter().map(|request| request.id.clone()).collect();
    assert_eq!((&ids[0], &ids[1]), (&first, &first));
    let states =
        [DeliveryStatus::Pending, DeliveryStatus::Delivered, DeliveryStatus::Delivered, DeliveryStatus::Delivered];
    assert_eq!(*world.attempts.0.lock().unwrap(), states);
}

#[tokio::test(start_paused = true)]
async fn the_tenth_failure_of_an_event_and_410_switch_off() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let failing = world.webhook(&acme, URL, Answer::Status(500)).await;
    let gone = world.webhook(&acme, "https://gone.example", Answer::Status(410)).await;
    world.write(&acme, "LETTER", 2).await;
    assert_eq!(world.deliver().await, 3);
    assert!(world.is_enabled(&failing).await && !world.is_enabled(&gone).await);
    let ended = world.deliveries(&gone).await;
    assert_eq!((ended.len(), ended[0].status, ended[0].next_attempt_at), (1, DeliveryStatus::Failed, None));
    for _ in 0..8 {
        world.clock.advance(TimeDelta::hours(27));
        assert_eq!(world.deliver().await, 2);
        assert!(world.is_enabled(&failing).await);
    }
    world.clock.advance(TimeDelta::hours(27));
    // The first of the two events.
    assert_eq!(world.deliver().await, 1);
    assert!(!world.is_enabled(&failing).await);
    let ended = world.deliveries(&failing).await;
    let states: Vec<_> = ended.iter().map(|delivery| (delivery.status, delivery.attempt)).collect();
    assert_eq!(states, [(DeliveryStatus::Failed, 10), (DeliveryStatus::Pending, 9)]);
    // Switched on again, it tries the other one for the last time.
    let patch = WebhookPatch { enabled: Some(true), ..WebhookPatch::default() };
    world.iam.webhooks().update(&acme, failing.id, patch).await.unwrap();
    assert_eq!(world.deliver().await, 1);
    assert!(!world.is_enabled(&failing).await);
}

#[tokio::test(start_paused = true)]
async fn dead_receivers_leave_tasks_for_others() {
    let world = World::new().await;
    let (mut callers, mut dead) = (Vec::new(), 0);
    for tenant in 0..27 {
        let caller = world.tenant(&format!("dead-{tenant}")).await;
        for number in 0..20 {
            let url = format!("https://dead.example/{tenant}/{number}");
            world.webhook(&caller, &url, Answer::Status(500)).await;
            dead += 1;
        }
        world.write(&caller, "LETTER", 1).await;
        callers.push(caller);
    }
    assert_eq!(world.deliver().await, dead);
    for url in world.receivers.answers.lock().unwrap().values_mut() {
        *url = Answer::Nothing;
    }
    world.receivers.most_running.store(0, Ordering::Relaxed);
    for caller in &callers {
        world.write(caller, "LETTER", 1).await;
    }
    world.deliver_for(Duration::from_secs(2)).await;
    assert_eq!(world.receivers.most_running.load(Ordering::Relaxed), 500);

    // Those that hang for the first time can take all tasks, but not for long.
    let fresh = world.tenant("fresh").await;
    for number in 0..20 {
        world.webhook(&fresh, &format!("https://fresh.example/{number}"), Answer::Status(204)).await;
    }
    world.write(&fresh, "LETTER", 1).await;
    let before = world.count();
    let answered = || {
        let requests = world.receivers.requests.lock().unwrap();
        requests.iter().skip(before).filter(|request| request.url.as_str().contains("fresh")).count()
    };
    world.deliver_for(Duration::from_secs(1)).await;
    assert_eq!(answered(), 20);
}

#[tokio::test(start_paused = true)]
async fn no_more_than_a_thousand_webhooks_send_at_the_same_time() {
    let world = World::new().await;
    for tenant in 0..52 {
        let caller = world.tenant(&format!("slow-{tenant}")).await;
        for number in 0..20 {
            world.webhook(&caller, &format!("https://slow.example/{tenant}/{number}"), Answer::Slow(10)).await;
        }
        world.write(&caller, "LETTER", 1).await;
    }
    assert_eq!(world.deliver_for(Duration::from_secs(15)).await, 52 * 20);
    assert_eq!(world.receivers.most_running.load(Ordering::Relaxed), 1_000);
}

/// A turn that is lost after some questions.
struct Brittle(u32);

#[async_trait]
impl Turn for Brittle {
    async fn is_held(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }

    async fn end(self: Box<Self>) {}
}

#[tokio::test(start_paused = true)]
async fn without_its_turn_a_process_sends_nothing_more() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let webhook = world.webhook(&acme, URL, Answer::Nothing).await;
    world.write(&acme, "LETTER", 1).await;
    let sender = Arc::clone(&world.receivers) as Arc<dyn WebhookSender>;
    let ended = world.iam.deliver_in_turn(sender, std::future::pending(), &mut Brittle(3)).await;
    ended.unwrap();
    sleep(Duration::from_millis(1)).await;
    // The attempt is cancelled, and nothing is recorded.
    assert_eq!((world.count(), world.receivers.running.load(Ordering::Relaxed)), (1, 0));
    assert!(world.deliveries(&webhook).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_second_task_of_the_same_process_does_nothing() {
    let world = World::new().await;
    let turn = world.iam.take_turn("webhooks").await.unwrap().unwrap();
    let nothing = world.iam.deliver_webhooks(std::future::pending());
    timeout(Duration::from_secs(1), nothing).await.unwrap().unwrap();
    turn.end().await;
    let delivering = world.iam.deliver_webhooks(std::future::pending());
    timeout(Duration::from_secs(1), delivering).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_attempts_in_progress_and_begins_none() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let webhook = world.webhook(&acme, URL, Answer::Slow(3)).await;
    world.write(&acme, "LETTER", 2).await;
    let stop = Notify::new();
    let stopping = async {
        sleep(Duration::from_secs(1)).await;
        stop.notify_one();
    };
    let (delivered, ()) = tokio::join!(world.iam.deliver_webhooks(stop.notified()), stopping);
    delivered.unwrap();
    assert_eq!((world.count(), world.deliveries(&webhook).await.len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_a_dead_receiver() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    world.webhook(&acme, URL, Answer::Nothing).await;
    world.write(&acme, "LETTER", 1).await;
    let started = Instant::now();
    world.deliver_for(Duration::from_secs(1)).await;
    assert_eq!(started.elapsed().as_secs(), 4);
}

#[tokio::test(start_paused = true)]
async fn slow_receivers_leave_tasks_for_others() {
    let world = World::new().await;
    let mut callers = Vec::new();
    for tenant in 0..27 {
        let caller = world.tenant(&format!("slow-{tenant}")).await;
        for number in 0..20 {
            world.webhook(&caller, &format!("https://slow.example/{tenant}/{number}"), Answer::Slow(3)).await;
        }
        world.write(&caller, "LETTER", 2).await;
        callers.push(caller);
    }
    let started = Instant::now();
    let stop = async {
        while world.count() < 540 {
            sleep(Duration::from_millis(10)).await;
        }
        world.receivers.most_running.store(0, Ordering::Relaxed);
        sleep(Duration::from_secs(5)).await;
    };
    world.iam.deliver_webhooks(stop).await.unwrap();
    assert!(started.elapsed() > Duration::from_secs(4));
    assert_eq!(world.receivers.most_running.load(Ordering::Relaxed), 500);
}

#[tokio::test(start_paused = true)]
async fn a_tenant_makes_four_tests_at_the_same_time() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let webhook = world.webhook(&acme, URL, Answer::Slow(4)).await;
    let started = Instant::now();
    let test = async || world.iam.webhooks().test(&acme, webhook.id).await.unwrap();
    tokio::join!(test(), test(), test(), test(), test());
    assert_eq!((started.elapsed().as_secs(), world.receivers.most_running.load(Ordering::Relaxed)), (8, 4));
    world.answer(URL, Answer::Slow(10));
    let test = async || world.iam.webhooks().test(&acme, webhook.id).await.map(|answer| answer.http_status);
    let answers = tokio::join!(test(), test(), test(), test(), test());
    assert!(matches!(answers.4, Err(Error::Overloaded { .. })), "{answers:?}");
}

#[tokio::test(start_paused = true)]
async fn the_service_answers_what_it_has_done() {
    let world = World::new().await;
    let acme = world.tenant("acme").await;
    let service = world.iam.webhooks();
    let new = NewWebhook { url: URL.into(), types: vec!["USER.*".into()], ..NewWebhook::default() };
    let issued = service.create(&acme, new).await.unwrap();
    let id = issued.webhook.id;
    assert_eq!(service.list(&acme).await.unwrap(), std::slice::from_ref(&issued.webhook));
    let patch = WebhookPatch { description: Some("ours".into()), ..WebhookPatch::default() };
    let updated = service.update(&acme, id, patch).await.unwrap();
    assert_eq!((updated.description.as_str(), updated.url.as_str()), ("ours", URL));
    let rotated = service.rotate_secret(&acme, id).await.unwrap();
    assert_ne!(rotated.secret.expose(), issued.secret.expose());
    assert_eq!(service.get(&acme, id).await.unwrap(), rotated.webhook);
    service.replay(&acme, id, 1).await.unwrap();
    for wrong in [0, 1_000] {
        service.replay(&acme, id, wrong).await.unwrap_err();
    }
    service.delete(&acme, id).await.unwrap();
    service.get(&acme, id).await.unwrap_err();
    service.replay(&acme, id, 1).await.unwrap_err();
    service.rotate_secret(&acme, WebhookId::from(uuid::Uuid::nil())).await.unwrap_err();
    service.list(&Caller::system(TenantId::NONE, "test")).await.unwrap();
}
