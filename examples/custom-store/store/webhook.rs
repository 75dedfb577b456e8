use std::cmp::Reverse;

use async_trait::async_trait;
use iam_model::change::WebhookChange;
use iam_model::clock::Timestamp;
use iam_model::id::{TenantId, WebhookId};
use iam_model::store::{WebhookStore, WebhookTransaction};
use iam_model::store_error::StoreError;
use iam_model::tenant::{Tenant, TenantStatus};
use iam_model::version::Version;
use iam_model::webhook::{Delivery, DeliveryProgress, DueWebhook, Webhook, WebhookBacklog, WebhookWork};
use serde::{Deserialize, Serialize};

use super::rows::{Draft, Keys, Row, View, everywhere, key};
use super::sequence::{LeafRow, leaf_key};
use super::transaction::RedbTransaction;
use super::{RedbStore, newest_first};

/// A webhook, and how far it has come.
#[derive(Serialize, Deserialize)]
pub(super) struct WebhookRow {
    webhook: Webhook,
    progress: DeliveryProgress,
}

impl Row for WebhookRow {
    const TABLE: &'static str = "webhooks";

    fn key(&self) -> Vec<u8> {
        key(self.webhook.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.webhook.tenant_id = tenant;
    }
}

/// A delivery of a webhook.
#[derive(Serialize, Deserialize)]
pub(super) struct DeliveryRow {
    webhook: WebhookId,
    pub(super) kept: Delivery,
}

impl Row for DeliveryRow {
    const TABLE: &'static str = "webhook_deliveries";

    fn key(&self) -> Vec<u8> {
        [key(self.webhook), self.kept.sequence.to_be_bytes().to_vec()].concat()
    }
}

#[async_trait]
impl WebhookStore for RedbStore {
    async fn webhook(&self, tenant: TenantId, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        self.read(tenant, |view| view.webhook(id))
    }

    async fn webhooks(&self, tenant: TenantId) -> Result<Vec<Webhook>, StoreError> {
        let rows: Vec<WebhookRow> = self.read(tenant, |view| view.all())?;
        let webhooks = rows.into_iter().map(|row| row.webhook).collect();
        Ok(newest_first(webhooks, |webhook: &Webhook| (webhook.created_at, webhook.id)))
    }

    async fn failing_webhooks(&self, tenant: TenantId) -> Result<Vec<Webhook>, StoreError> {
        let rows = self.read(tenant, |view| view.select(|row: &WebhookRow| row.progress.failures > 0))?;
        let webhooks = rows.into_iter().map(|row| row.webhook).collect();
        Ok(newest_first(webhooks, |webhook: &Webhook| (webhook.created_at, webhook.id)))
    }

    async fn deliveries(&self, tenant: TenantId, webhook: WebhookId, limit: u32) -> Result<Vec<Delivery>, StoreError> {
        let mut deliveries = self.read(tenant, |view| view.deliveries(webhook, |_| true))?;
        deliveries.sort_by_key(|delivery| Reverse((delivery.started_at, delivery.sequence)));
        deliveries.truncate(limit as usize);
        Ok(deliveries)
    }

    async fn due_webhooks(&self, now: Timestamp) -> Result<Vec<DueWebhook>, StoreError> {
        let mut due = Vec::new();
        for (tenant, row) in self.delivering()? {
            if self.read(tenant, |view| view.is_due(&row, now))? {
                let is_failing = row.progress.failures > 0;
                due.push(DueWebhook { tenant_id: row.webhook.tenant_id, id: row.webhook.id, is_failing });
            }
        }
        Ok(due)
    }

    async fn webhook_work(
        &self,
        tenant: TenantId,
        id: WebhookId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Option<WebhookWork>, StoreError> {
        self.read(tenant, |view| {
            let Some(WebhookRow { webhook, progress }) = view.get(&key(id))? else { return Ok(None) };
            if !webhook.enabled || !view.is_active()? {
                return Ok(None);
            }
            let mut due = view.due_deliveries(id, &progress, now)?;
            due.truncate(limit as usize);
            Ok(Some(WebhookWork { webhook, progress, due }))
        })
    }

    async fn record_deliveries(
        &self,
        tenant: TenantId,
        id: WebhookId,
        version: Version,
        before: u64,
        progress: &DeliveryProgress,
        deliveries: &[Delivery],
    ) -> Result<bool, StoreError> {
        self.write(|rows| {
            let draft = Draft::new(rows, tenant);
            let Some(row) = draft.view().get::<WebhookRow>(&key(id))? else { return Ok(false) };
            for kept in deliveries {
                draft.put(DeliveryRow { webhook: id, kept: kept.clone() })?;
            }
            if (row.webhook.version, row.progress.attempted) != (version, before) {
                return Ok(false);
            }
            draft.put(WebhookRow { progress: *progress, ..row })?;
            Ok(true)
        })
        .await
    }

    async fn webhook_backlog(&self) -> Result<WebhookBacklog, StoreError> {
        let mut backlog = WebhookBacklog::default();
        for (tenant, row) in self.delivering()? {
            let head = self.read(tenant, |view| view.log_head())?;
            let Some(head) = head else { continue };
            let next = row.progress.attempted.max(head.removed);
            backlog.entries = backlog.entries.max(head.frontier.size().saturating_sub(next));
            let leaf: Option<LeafRow> = self.read(tenant, |view| view.get(&leaf_key(next)))?;
            backlog.since = backlog.since.into_iter().chain(leaf.map(|leaf| leaf.created_at)).min();
        }
        Ok(backlog)
    }
}

#[async_trait]
impl WebhookTransaction for RedbTransaction {
    async fn lock_webhook(&mut self, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        self.view().webhook(id)
    }

    async fn all_webhooks(&mut self) -> Result<Vec<Webhook>, StoreError> {
        Ok(self.view().all::<WebhookRow>()?.into_iter().map(|row| row.webhook).collect())
    }

    async fn count_webhooks(&mut self) -> Result<u64, StoreError> {
        Ok(self.view().all::<WebhookRow>()?.len() as u64)
    }
}

impl RedbStore {
    /// The enabled webhooks of active tenants.
    fn delivering(&self) -> Result<Vec<(TenantId, WebhookRow)>, StoreError> {
        let mut found = Vec::new();
        for (tenant, row) in self.read_all(|rows| everywhere::<WebhookRow>(rows))? {
            if row.webhook.enabled && self.read(tenant, |view| view.is_active())? {
                found.push((tenant, row));
            }
        }
        Ok(found)
    }
}

impl View<'_> {
    fn webhook(self, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        Ok(self.get::<WebhookRow>(&key(id))?.map(|row| row.webhook))
    }

    fn is_active(self) -> Result<bool, StoreError> {
        let tenant: Option<Tenant> = self.get(&[])?;
        Ok(tenant.is_some_and(|tenant| tenant.status == TenantStatus::Active))
    }

    /// The deliveries of a webhook that match, in the order of the log.
    fn deliveries(self, webhook: WebhookId, passes: impl Fn(&Delivery) -> bool) -> Result<Vec<Delivery>, StoreError> {
        let matches = |row: &DeliveryRow| row.webhook == webhook && passes(&row.kept);
        let rows = self.take(Keys::from(key(webhook)), u32::MAX, matches)?;
        Ok(rows.into_iter().map(|row| row.kept).collect())
    }

    fn due_deliveries(
        self,
        webhook: WebhookId,
        progress: &DeliveryProgress,
        now: Timestamp,
    ) -> Result<Vec<Delivery>, StoreError> {
        let is_due = |delivery: &Delivery| delivery.next_attempt_at.is_some_and(|at| at <= now);
        self.deliveries(webhook, |delivery| delivery.sequence <= progress.attempted && is_due(delivery))
    }

    fn is_due(self, row: &WebhookRow, now: Timestamp) -> Result<bool, StoreError> {
        let size = self.log_head()?.map_or(0, |head| head.frontier.size());
        let continues = size > row.progress.attempted && !row.progress.is_paused(now);
        Ok(continues || !self.due_deliveries(row.webhook.id, &row.progress, now)?.is_empty())
    }
}

impl Draft<'_> {
    pub(super) fn write_webhook(self, change: &WebhookChange) -> Result<(), StoreError> {
        match change {
            WebhookChange::Create { webhook, after } => {
                let progress = DeliveryProgress { attempted: *after, ..DeliveryProgress::default() };
                self.put(WebhookRow { webhook: webhook.clone(), progress })
            }
            WebhookChange::Update { before, after, .. } => {
                let stored = self.stored_webhook(after.id)?;
                let is_switched_on = after.enabled && !before.enabled;
                let progress = if is_switched_on { stored.progress.restarted() } else { stored.progress };
                self.put_changed(after, WebhookRow { progress, ..stored })
            }
            WebhookChange::Rotate { after } => self.put_changed(after, self.stored_webhook(after.id)?),
            WebhookChange::Replay { webhook, after } => {
                let stored = self.stored_webhook(webhook.id)?;
                let attempted = stored.progress.attempted.min(*after);
                let progress = DeliveryProgress { attempted, ..stored.progress.restarted() };
                self.put_changed(webhook, WebhookRow { progress, ..stored })
            }
            WebhookChange::Delete(webhook) => {
                for kept in self.view().deliveries(webhook.id, |_| true)? {
                    self.remove::<DeliveryRow>(&DeliveryRow { webhook: webhook.id, kept }.key())?;
                }
                let existed = self.remove::<WebhookRow>(&key(webhook.id))?;
                if existed { Ok(()) } else { Err(StoreError::Missing("webhook")) }
            }
        }
    }

    fn stored_webhook(self, id: WebhookId) -> Result<WebhookRow, StoreError> {
        self.view().get(&key(id))?.ok_or(StoreError::Missing("webhook"))
    }

    fn put_changed(self, after: &Webhook, stored: WebhookRow) -> Result<(), StoreError> {
        let webhook = Webhook { version: stored.webhook.version.next(), ..after.clone() };
        self.put(WebhookRow { webhook, ..stored })
    }
}
