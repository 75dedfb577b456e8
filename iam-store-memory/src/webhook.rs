use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use iam_model::audit::LogHead;
use iam_model::change::WebhookChange;
use iam_model::clock::Timestamp;
use iam_model::id::{TenantId, WebhookId};
use iam_model::store::{WebhookStore, WebhookTransaction};
use iam_model::store_error::StoreError;
use iam_model::tenant::TenantStatus;
use iam_model::version::Version;
use iam_model::webhook::{Delivery, DeliveryProgress, DueWebhook, Webhook, WebhookBacklog, WebhookWork};

use crate::state::{MemoryStore, MemoryTransaction, State, TenantState, newest_first};
use crate::stored_webhook::StoredWebhook;

#[async_trait]
impl WebhookStore for MemoryStore {
    async fn webhook(&self, tenant: TenantId, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        Ok(self.tenant_state(tenant).webhooks.get(&id).map(|stored| stored.webhook.clone()))
    }

    async fn webhooks(&self, tenant: TenantId) -> Result<Vec<Webhook>, StoreError> {
        let state = self.tenant_state(tenant);
        let mut webhooks: Vec<Webhook> = state.webhooks.values().map(|stored| stored.webhook.clone()).collect();
        newest_first(&mut webhooks, |webhook| (webhook.created_at, webhook.id));
        Ok(webhooks)
    }

    async fn failing_webhooks(&self, tenant: TenantId) -> Result<Vec<Webhook>, StoreError> {
        let state = self.tenant_state(tenant);
        let failing = state.webhooks.values().filter(|stored| stored.progress.failures > 0);
        let mut webhooks: Vec<Webhook> = failing.map(|stored| stored.webhook.clone()).collect();
        newest_first(&mut webhooks, |webhook| (webhook.created_at, webhook.id));
        Ok(webhooks)
    }

    async fn deliveries(&self, tenant: TenantId, webhook: WebhookId, limit: u32) -> Result<Vec<Delivery>, StoreError> {
        let state = self.tenant_state(tenant);
        let stored = state.webhooks.get(&webhook);
        let mut deliveries: Vec<Delivery> =
            stored.into_iter().flat_map(|stored| stored.deliveries.values().cloned()).collect();
        deliveries.sort_by_key(|delivery| Reverse((delivery.started_at, delivery.sequence)));
        deliveries.truncate(limit as usize);
        Ok(deliveries)
    }

    async fn due_webhooks(&self, now: Timestamp) -> Result<Vec<DueWebhook>, StoreError> {
        Ok(self.read(|state| {
            let due = state.delivering().filter(|(tenant_id, stored)| stored.is_due(state.log_size(*tenant_id), now));
            let due = due.map(|(tenant_id, stored)| DueWebhook {
                tenant_id,
                id: stored.webhook.id,
                is_failing: stored.progress.failures > 0,
            });
            due.collect()
        }))
    }

    async fn webhook_work(
        &self,
        tenant: TenantId,
        id: WebhookId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Option<WebhookWork>, StoreError> {
        let state = self.tenant_state(tenant);
        let stored = state.webhooks.get(&id).filter(|stored| stored.webhook.enabled && state.is_active());
        Ok(stored.map(|stored| WebhookWork {
            webhook: stored.webhook.clone(),
            progress: stored.progress,
            due: stored.due_deliveries(now).take(limit as usize).cloned().collect(),
        }))
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
        // A unit of work that has begun would undo the write.
        let _writer = self.writer.lock().await;
        Ok(self.change(|state| {
            let stored = state.tenants.get_mut(&tenant).and_then(|tenant| Arc::make_mut(tenant).webhooks.get_mut(&id));
            let Some(stored) = stored else { return false };
            stored.deliveries.extend(deliveries.iter().map(|delivery| (delivery.sequence, delivery.clone())));
            let is_current = (stored.webhook.version, stored.progress.attempted) == (version, before);
            if is_current {
                stored.progress = *progress;
            }
            is_current
        }))
    }

    async fn webhook_backlog(&self) -> Result<WebhookBacklog, StoreError> {
        Ok(self.read(|state| {
            let mut backlog = WebhookBacklog::default();
            for (tenant, stored) in state.delivering() {
                let removed = state.head(tenant).map_or(0, |head| head.removed);
                let next = stored.progress.attempted.max(removed);
                backlog.entries = backlog.entries.max(state.log_size(tenant).saturating_sub(next));
                let leaves = state.audit.get(&tenant).map_or(&[][..], |log| &log.leaves);
                let since = usize::try_from(next).ok().and_then(|next| leaves.get(next)).map(|leaf| leaf.created_at);
                backlog.since = backlog.since.into_iter().chain(since).min();
            }
            backlog
        }))
    }
}

#[async_trait]
impl WebhookTransaction for MemoryTransaction {
    async fn lock_webhook(&mut self, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        Ok(self.draft.webhooks.get(&id).map(|stored| stored.webhook.clone()))
    }

    async fn all_webhooks(&mut self) -> Result<Vec<Webhook>, StoreError> {
        Ok(self.draft.webhooks.values().map(|stored| stored.webhook.clone()).collect())
    }

    async fn count_webhooks(&mut self) -> Result<u64, StoreError> {
        Ok(self.draft.webhooks.len() as u64)
    }
}

impl State {
    /// The enabled webhooks of active tenants.
    fn delivering(&self) -> impl Iterator<Item = (TenantId, &StoredWebhook)> {
        let active = self.tenants.iter().filter(|(_, state)| state.is_active());
        let webhooks = active.flat_map(|(tenant, state)| state.webhooks.values().map(|stored| (*tenant, stored)));
        webhooks.filter(|(_, stored)| stored.webhook.enabled)
    }

    fn head(&self, tenant: TenantId) -> Option<&LogHead> {
        self.audit.get(&tenant)?.head.as_ref()
    }

    fn log_size(&self, tenant: TenantId) -> u64 {
        self.head(tenant).map_or(0, |head| head.frontier.size())
    }
}

impl TenantState {
    fn is_active(&self) -> bool {
        self.tenant.as_ref().is_some_and(|tenant| tenant.status == TenantStatus::Active)
    }

    pub(super) fn write_webhook(&mut self, change: &WebhookChange) -> Result<(), StoreError> {
        match change {
            WebhookChange::Create { webhook, after } => {
                let progress = DeliveryProgress { attempted: *after, ..DeliveryProgress::default() };
                let stored = StoredWebhook { webhook: webhook.clone(), progress, deliveries: BTreeMap::new() };
                self.webhooks.insert(webhook.id, stored);
            }
            WebhookChange::Update { before, after, .. } => {
                let stored = self.changed_webhook(after)?;
                if after.enabled && !before.enabled {
                    stored.progress = stored.progress.restarted();
                }
            }
            WebhookChange::Rotate { after } => drop(self.changed_webhook(after)?),
            WebhookChange::Replay { webhook, after } => {
                let stored = self.changed_webhook(webhook)?;
                let attempted = stored.progress.attempted.min(*after);
                stored.progress = DeliveryProgress { attempted, ..stored.progress.restarted() };
            }
            WebhookChange::Delete(webhook) => {
                self.webhooks.remove(&webhook.id).ok_or(StoreError::Missing("webhook"))?;
            }
        }
        Ok(())
    }

    fn changed_webhook(&mut self, after: &Webhook) -> Result<&mut StoredWebhook, StoreError> {
        let stored = self.webhooks.get_mut(&after.id).ok_or(StoreError::Missing("webhook"))?;
        stored.webhook = Webhook { version: stored.webhook.version.next(), ..after.clone() };
        Ok(stored)
    }
}
