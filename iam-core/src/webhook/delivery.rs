//! Sends the events of webhooks.
//!
//! One process at a time has the turn. It has a task for each webhook with something to do, so no receiver waits for
//! another one. A task sends events one after the other, and then records their outcomes and how far the webhook has
//! come, so a process that ends meanwhile has sent at most the events of one task's round twice.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;
use iam_model::audit::AuditEntry;
use iam_model::change::WebhookChange;
use iam_model::clock::cut;
use iam_model::error::{Error, Result};
use iam_model::id::WebhookId;
use iam_model::store::Turn;
use iam_model::store_error::StoreError;
use iam_model::version::Version;
use iam_model::webhook::{
    Delivery, DeliveryProgress, DeliveryStatus, DueWebhook, Webhook, WebhookBacklog, WebhookSender, WebhookWork,
    wait_after,
};
use tokio::sync::Semaphore;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::caller::Caller;
use crate::engine::Engine;
use crate::iam::Iam;
use crate::webhook::WebhookAnswer;

/// How often webhooks with something to do are looked for while no log continues.
const PERIOD: Duration = Duration::from_secs(1);

/// The shortest time between two looks.
const MIN_PERIOD: Duration = Duration::from_millis(100);

/// How long the store may take to answer. Otherwise, a database that falls silent would block all tasks for ever.
const STORE_LIMIT: Duration = Duration::from_secs(5);

/// The maximum number of webhooks that send at the same time. Each has a connection.
const MAX_TASKS: usize = 1_000;

/// How many of them may be slow or failing ones, which wait for their receivers. The others stay free.
const MAX_WAITING: usize = MAX_TASKS / 2;

/// An attempt that takes longer is slow.
const SLOW: Duration = Duration::from_secs(2);

/// How long a process that stops waits for attempts in progress. No other process sends events meanwhile.
const STOP_LIMIT: Duration = Duration::from_secs(3);

/// How many tasks use the store at the same time, so that requests do not wait for its connections.
const STORE_TASKS: usize = 4;

/// After this time, a task begins no further attempt, so that it soon records its deliveries.
const ROUND: Duration = Duration::from_millis(500);

/// How many due deliveries are tried again in a round.
const RETRIES: u32 = 10;

/// How many entries are read at once for a webhook that matches them, and for one that does not.
const CHUNK: u32 = 20;
const SKIPPED_CHUNK: u32 = 200;

impl Iam {
    /// Sends the events of the webhooks of all tenants until `stop` is ready; then it waits up to three seconds for the
    /// attempts in progress. Those that take longer are made again by the next process.
    ///
    /// Of several processes over the same store, one at a time does so: the call returns at once while another process
    /// does, and without a sender. It also returns when it loses the connection that proves its turn. So call it again
    /// after a second. When the sending process ends, in whatever way, the next one that calls takes over. It holds a
    /// connection of the store all the time, so end it before [`close`](Self::close).
    ///
    /// An entry is sent after it is [sequenced](Self::sequence_audit_logs), which some task must do.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails. Events that were sent since the last record are sent again.
    pub async fn deliver_webhooks(&self, stop: impl Future<Output = ()>) -> Result<()> {
        let Some(sender) = self.0.webhooks.clone() else { return Ok(()) };
        let Some(mut turn) = self.take_turn("webhooks").await? else { return Ok(()) };
        let delivered = self.deliver_in_turn(sender, stop, &mut *turn).await;
        // Another process takes over at the latest when the store notices that the connection is gone.
        let _ended = timeout(STORE_LIMIT, turn.end()).await;
        delivered
    }

    pub(super) async fn deliver_in_turn(
        &self,
        sender: Arc<dyn WebhookSender>,
        stop: impl Future<Output = ()>,
        turn: &mut dyn Turn,
    ) -> Result<()> {
        let dispatcher = Dispatcher {
            iam: Arc::clone(&self.0),
            sender,
            slow: Mutex::default(),
            store_tasks: Semaphore::new(STORE_TASKS),
            is_stopping: AtomicBool::new(false),
        };
        Arc::new(dispatcher).deliver_until(stop, turn).await
    }

    /// Returns how far the enabled webhooks of all active tenants are behind their logs, for metrics.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn webhook_backlog(&self) -> Result<WebhookBacklog> {
        Ok(self.0.store.webhook_backlog().await?)
    }
}

/// The state that the tasks share.
struct Dispatcher {
    iam: Arc<Engine>,
    sender: Arc<dyn WebhookSender>,
    /// The webhooks whose last attempt was slow.
    slow: Mutex<HashSet<WebhookId>>,
    store_tasks: Semaphore,
    is_stopping: AtomicBool,
}

/// The webhook of a task.
struct Running {
    webhook: WebhookId,
    /// Whether it may wait for its receiver for long.
    waits: bool,
}

/// The tasks that run. Dropping it cancels them.
#[derive(Default)]
struct Tasks {
    tasks: JoinSet<()>,
    webhooks: HashMap<Id, Running>,
}

impl Tasks {
    /// Begins a task for each webhook that has none, while there are not too many. The order is random, so that no
    /// webhook gets the free tasks again and again before others.
    fn begin(&mut self, dispatcher: &Arc<Dispatcher>, mut due: Vec<DueWebhook>) {
        let order = RandomState::new();
        due.sort_by_cached_key(|due| order.hash_one(due.id));
        let mut running: HashSet<_> = self.webhooks.values().map(|running| running.webhook).collect();
        let mut waiting = self.webhooks.values().filter(|running| running.waits).count();
        for due in due {
            let waits = due.is_failing || dispatcher.slow().contains(&due.id);
            let is_full = running.len() >= MAX_TASKS || waits && waiting >= MAX_WAITING;
            if is_full || !running.insert(due.id) {
                continue;
            }
            waiting += usize::from(waits);
            let dispatcher = Arc::clone(dispatcher);
            let task = self.tasks.spawn(async move { dispatcher.deliver_or_wait(due).await });
            self.webhooks.insert(task.id(), Running { webhook: due.id, waits });
        }
    }

    /// Waits until a task ends. `None` without one.
    async fn ended(&mut self) -> Option<()> {
        let ended = self.tasks.join_next_with_id().await?;
        let id = match ended {
            Ok((id, ())) => id,
            Err(error) => {
                tracing::error!(%error, "the delivery of a webhook panicked");
                error.id()
            }
        };
        self.webhooks.remove(&id);
        Some(())
    }
}

impl Dispatcher {
    async fn deliver_until(self: Arc<Self>, stop: impl Future<Output = ()>, turn: &mut dyn Turn) -> Result<()> {
        let (mut stop, mut tasks) = (pin!(stop), Tasks::default());
        let logs = self.iam.snapshots().log_watches();
        while timeout(STORE_LIMIT, turn.is_held()).await.unwrap_or(false) {
            let next = Instant::now() + MIN_PERIOD;
            // Not as a task of the store, for which it would have to wait.
            let due = in_time(self.iam.store.due_webhooks(self.iam.now())).await?;
            tasks.begin(&self, due);
            let continued = async {
                logs.any().await;
                sleep_until(next).await;
            };
            let (mut pause, mut continued) = (pin!(sleep(PERIOD)), pin!(continued));
            loop {
                tokio::select! {
                    () = &mut stop => {
                        self.is_stopping.store(true, Ordering::Relaxed);
                        let _late = timeout(STOP_LIMIT, async { while tasks.ended().await.is_some() {} }).await;
                        return Ok(());
                    }
                    // The webhook may have more to send.
                    Some(()) = tasks.ended() => pause.as_mut().reset(next),
                    () = &mut pause => break,
                    () = &mut continued => break,
                }
            }
        }
        Ok(())
    }

    /// Uses the store when its turn comes.
    async fn store_task<T>(&self, work: impl Future<Output = Result<T, StoreError>>) -> Result<T> {
        let _permit = self.store_tasks.acquire().await.map_err(|closed| Error::internal("webhooks", closed))?;
        in_time(work).await
    }

    fn slow(&self) -> MutexGuard<'_, HashSet<WebhookId>> {
        self.slow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether an attempt was slow.
    fn note(&self, webhook: WebhookId, took: Duration) {
        let mut slow = self.slow();
        if took > SLOW {
            slow.insert(webhook)
        } else {
            slow.remove(&webhook)
        };
    }

    /// Does a round for a webhook. After an error of the store, it waits, so that no webhook is tried in a tight loop.
    async fn deliver_or_wait(&self, due: DueWebhook) {
        if let Err(error) = self.deliver(due).await {
            let (tenant_id, webhook_id) = (due.tenant_id, due.id);
            tracing::warn!(%tenant_id, %webhook_id, %error, "events of a webhook were not sent");
            sleep(PERIOD).await;
        }
    }

    /// Sends the events of a webhook, until a round has taken its time.
    async fn deliver(&self, due: DueWebhook) -> Result<()> {
        let now = self.iam.now();
        let work = self.store_task(self.iam.store.webhook_work(due.tenant_id, due.id, now, RETRIES)).await?;
        let Some(WebhookWork { webhook, progress, due }) = work else { return Ok(()) };
        let mut round = Round {
            dispatcher: self,
            version: webhook.version,
            before: progress.attempted,
            webhook,
            progress,
            ended: Vec::new(),
            until: Instant::now() + ROUND,
        };
        let ran = round.run(due).await;
        // Also after an error: what was sent would otherwise be sent again.
        round.record().await?;
        ran
    }
}

/// Limits the time of a use of the store.
async fn in_time<T, E: Into<Error>>(work: impl Future<Output = Result<T, E>>) -> Result<T> {
    let late = |_| StoreError::Unavailable(format!("no answer within {STORE_LIMIT:?}").into());
    timeout(STORE_LIMIT, work).await.map_err(late)?.map_err(Into::into)
}

/// The work of a task for a webhook.
struct Round<'a> {
    dispatcher: &'a Dispatcher,
    webhook: Webhook,
    /// The version of its row.
    version: Version,
    /// How far the webhook had come at the start.
    before: u64,
    progress: DeliveryProgress,
    ended: Vec<Delivery>,
    until: Instant,
}

/// An event to send.
struct Due {
    sequence: u64,
    entry: AuditEntry,
    /// The number of attempts so far.
    attempts: u32,
}

/// The consequence of an attempt for the round.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// More events may be sent.
    Continue,
    /// The webhook was switched off.
    SwitchedOff,
    /// The webhook has changed, so the attempt does not count.
    Changed,
}

impl Round<'_> {
    /// Sends until there is nothing more, or nothing more may be sent in this round.
    async fn run(&mut self, retries: Vec<Delivery>) -> Result<()> {
        for retry in retries {
            if self.is_over() || self.retry(retry).await? != After::Continue {
                return Ok(());
            }
        }
        let mut is_matching = true;
        while !self.is_over() && !self.is_paused() {
            let chunk = if self.progress.failures > 0 { 1 } else { CHUNK };
            let (next, is_last, due) = self.read(if is_matching { chunk } else { SKIPPED_CHUNK }).await?;
            is_matching = !due.is_empty();
            for event in due {
                if self.is_over() || self.is_paused() {
                    return Ok(());
                }
                let sequence = event.sequence;
                let after = self.send(event).await?;
                if after != After::Changed {
                    self.progress.attempted = sequence;
                }
                if after != After::Continue {
                    return Ok(());
                }
            }
            self.progress.attempted = next;
            if is_last {
                break;
            }
        }
        Ok(())
    }

    fn is_paused(&self) -> bool {
        self.progress.is_paused(self.dispatcher.iam.now())
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.until || self.dispatcher.is_stopping.load(Ordering::Relaxed)
    }

    /// Reads entries of the log. Returns how far they reach, whether there are no more, and those that the webhook
    /// sends.
    async fn read(&self, limit: u32) -> Result<(u64, bool, Vec<Due>)> {
        let (store, tenant, attempted) = (&self.dispatcher.iam.store, self.webhook.tenant_id, self.progress.attempted);
        self.dispatcher
            .store_task(async {
                let head = self.dispatcher.iam.log_head(tenant).await?;
                // Retention removes entries that a webhook has not sent.
                let from = attempted.max(head.removed);
                let mut read = store.sequenced_entries(tenant, from, limit).await?;
                // A replica may have entries that are not safe on the primary yet.
                read.retain(|read| read.leaf.sequence < head.leaves);
                let next = read.last().map_or(from, |last| last.leaf.sequence + 1);
                let is_last = read.len() < limit as usize;
                let events = read.into_iter().filter_map(|read| {
                    let entry = read.entry.filter(|entry| self.webhook.sends(entry))?;
                    Some(Due { sequence: read.leaf.sequence + 1, entry, attempts: 0 })
                });
                Ok((next, is_last, events.collect()))
            })
            .await
    }

    /// Tries again to send an event.
    async fn retry(&mut self, delivery: Delivery) -> Result<After> {
        let store = &self.dispatcher.iam.store;
        let entry = self.dispatcher.store_task(store.audit_entry(self.webhook.tenant_id, delivery.entry_id)).await?;
        let error = match entry {
            Some(entry) if self.webhook.sends(&entry) => {
                return self.send(Due { sequence: delivery.sequence, entry, attempts: delivery.attempt }).await;
            }
            Some(_) => "the webhook does not send this type any more",
            None => "retention has removed the event",
        };
        let (status, error) = (DeliveryStatus::Failed, Some(error.to_owned()));
        self.ended.push(Delivery { status, error, next_attempt_at: None, ..delivery });
        Ok(After::Continue)
    }

    /// Sends an event.
    async fn send(&mut self, due: Due) -> Result<After> {
        let Due { sequence, entry, attempts } = due;
        let iam = &self.dispatcher.iam;
        let answer = iam.attempt(&*self.dispatcher.sender, &self.webhook, &entry).await?;
        self.dispatcher.note(self.webhook.id, Duration::from_millis(answer.duration_ms.into()));
        let (now, is_success) = (iam.now(), answer.error.is_none());
        self.progress = match attempts {
            0 => self.progress.after_first_attempt(is_success, now),
            _ => self.progress.after_retry(is_success),
        };
        let attempt = attempts.saturating_add(1);
        let wait = if answer.is_gone() { None } else { wait_after(attempt) };
        let (status, next_attempt_at, after) = match (&answer.error, wait) {
            (None, _) => (DeliveryStatus::Delivered, None, After::Continue),
            (Some(_), Some(wait)) => {
                (DeliveryStatus::Pending, Some(cut(now + self.with_jitter(wait))), After::Continue)
            }
            (Some(error), None) => {
                let Some(version) = in_time(self.switch_off(&answer, error)).await? else { return Ok(After::Changed) };
                self.version = version;
                (DeliveryStatus::Failed, None, After::SwitchedOff)
            }
        };
        if let Some(observer) = &iam.observer {
            observer.webhook_attempted(status);
        }
        let WebhookAnswer { http_status, error, started_at, duration_ms } = answer;
        self.ended.push(Delivery {
            sequence,
            entry_id: entry.id,
            event_type: entry.event_type(),
            attempt,
            status,
            http_status,
            error,
            started_at,
            duration_ms,
            next_attempt_at,
        });
        Ok(after)
    }

    /// Returns a delay with up to a tenth more, so that deliveries which failed together are not tried again together.
    fn with_jitter(&self, wait: TimeDelta) -> TimeDelta {
        let [share] = self.dispatcher.iam.random.bytes();
        wait + wait * i32::from(share) / 2_550
    }

    /// Switches the webhook off, unless it has changed meanwhile. Returns its new version.
    async fn switch_off(&self, answer: &WebhookAnswer, error: &str) -> Result<Option<Version>> {
        let reason = if answer.is_gone() {
            "the receiver has answered with the status 410".to_owned()
        } else {
            format!("the last attempt to send an event has failed: {error}")
        };
        let webhook = &self.webhook;
        let caller = Caller::system(webhook.tenant_id, "webhook delivery");
        let mut work = self.dispatcher.iam.begin(&caller).await?;
        let locked = work.reads().lock_webhook(webhook.id).await?;
        let Some(before) = locked.filter(|locked| locked.version == webhook.version) else { return Ok(None) };
        let after = Webhook { enabled: false, ..before.clone() }.changed();
        let (before, version) = (Box::new(before), after.version);
        work.apply(WebhookChange::Update { before, after, reason: Some(reason) }).await?;
        work.commit().await?;
        tracing::warn!(tenant_id = %webhook.tenant_id, webhook_id = %webhook.id, error, "a webhook was switched off");
        Ok(Some(version))
    }

    /// Records the outcomes of the events, and how far the webhook has come, unless it has changed meanwhile. Then the
    /// events since are sent by its new settings, or again.
    async fn record(self) -> Result<()> {
        let (tenant, id): (_, WebhookId) = (self.webhook.tenant_id, self.webhook.id);
        if self.ended.is_empty() && self.progress.attempted == self.before {
            return Ok(());
        }
        let store = &self.dispatcher.iam.store;
        let recorded = store.record_deliveries(tenant, id, self.version, self.before, &self.progress, &self.ended);
        if !self.dispatcher.store_task(recorded).await? {
            tracing::debug!(tenant_id = %tenant, webhook_id = %id, "a webhook has changed during its deliveries");
        }
        Ok(())
    }
}
