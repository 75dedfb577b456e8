use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::clock::Timestamp;
use crate::id::{TenantId, WebhookId};
use crate::store::observed::observed;
use crate::store_error::StoreError;
use crate::version::Version;
use crate::webhook::{Delivery, DeliveryProgress, DueWebhook, Webhook, WebhookBacklog, WebhookWork};

/// Reads webhooks, and keeps the results of their deliveries.
#[apply(observed)]
#[async_trait]
pub trait WebhookStore {
    /// Returns a webhook.
    async fn webhook(&self, tenant: TenantId, id: WebhookId) -> Result<Option<Webhook>, StoreError>;

    /// Returns the webhooks of a tenant, newest first, then by identifier.
    async fn webhooks(&self, tenant: TenantId) -> Result<Vec<Webhook>, StoreError>;

    /// Returns the webhooks of a tenant of which the last attempt has failed, also those that are switched off since,
    /// in the order of [`webhooks`](Self::webhooks).
    async fn failing_webhooks(&self, tenant: TenantId) -> Result<Vec<Webhook>, StoreError>;

    /// Returns at most `limit` deliveries of a webhook, by the start of the last attempt, then by sequence number,
    /// newest first.
    async fn deliveries(&self, tenant: TenantId, webhook: WebhookId, limit: u32) -> Result<Vec<Delivery>, StoreError>;

    /// Returns the enabled webhooks of all active tenants that have something to do at `now`: their log has entries
    /// after their last attempt, and they do not pause, or the next attempt of a delivery is due, see
    /// [`WebhookWork::due`].
    async fn due_webhooks(&self, now: Timestamp) -> Result<Vec<DueWebhook>, StoreError>;

    /// Returns the work for a webhook at `now`, with at most `limit` due deliveries. `None` if the webhook is gone or
    /// not enabled, or its tenant is not active.
    async fn webhook_work(
        &self,
        tenant: TenantId,
        id: WebhookId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Option<WebhookWork>, StoreError>;

    /// Keeps the results of deliveries, one for an event, in place of the former results of the same events. Then keeps
    /// how far the webhook has come, if it still has this version and had come as far as `before`. Returns whether that
    /// was so: not after a change, a replay or the webhook's removal. This does not raise the version of the webhook.
    async fn record_deliveries(
        &self,
        tenant: TenantId,
        id: WebhookId,
        version: Version,
        before: u64,
        progress: &DeliveryProgress,
        deliveries: &[Delivery],
    ) -> Result<bool, StoreError>;

    /// Returns how far the enabled webhooks of all active tenants are behind their logs.
    async fn webhook_backlog(&self) -> Result<WebhookBacklog, StoreError>;
}

/// Reads webhooks inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait WebhookTransaction {
    /// Returns a webhook, and locks it until the unit of work ends.
    async fn lock_webhook(&mut self, id: WebhookId) -> Result<Option<Webhook>, StoreError>;

    /// Returns all webhooks of the tenant, in no particular order. They stay as they are while the tenant and they are
    /// locked.
    async fn all_webhooks(&mut self) -> Result<Vec<Webhook>, StoreError>;

    /// Returns how many webhooks the tenant has. The tenant must be locked.
    async fn count_webhooks(&mut self) -> Result<u64, StoreError>;
}
