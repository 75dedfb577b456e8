//! Webhooks and their deliveries.

use iam_model::store_error::StoreError;
use iam_model::webhook::{Delivery, DeliveryProgress, FormerSalt, Webhook, WebhookSalt};
use serde::Serialize;
use uuid::Uuid;

use crate::column::{StoredMoment, bytes_32, counted, moment, moment_optional, parse};

/// A webhook as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct WebhookRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub url: String,
    pub types: String,
    pub description: String,
    pub enabled: bool,
    pub salt: Vec<u8>,
    pub former_salt: Option<Vec<u8>>,
    pub former_until: Option<T>,
    pub created_at: T,
    pub created_by: Option<Uuid>,
    pub version: i64,
}

impl<T: StoredMoment> TryFrom<WebhookRow<T>> for Webhook {
    type Error = StoreError;

    fn try_from(row: WebhookRow<T>) -> Result<Self, StoreError> {
        let former = match (row.former_salt, row.former_until) {
            (Some(salt), Some(until)) => Some(FormerSalt {
                salt: bytes_32("webhooks.former_salt", &salt)?,
                until: moment("webhooks.former_until", until)?,
            }),
            _ => None,
        };
        let types = row.types.split_ascii_whitespace().map(|pattern| parse("webhooks.types", pattern));
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            url: parse("webhooks.url", &row.url)?,
            types: types.collect::<Result<_, _>>()?,
            description: parse("webhooks.description", &row.description)?,
            enabled: row.enabled,
            salt: WebhookSalt { current: bytes_32("webhooks.salt", &row.salt)?, former },
            created_at: moment("webhooks.created_at", row.created_at)?,
            created_by: row.created_by.map(Into::into),
            version: row.version.into(),
        })
    }
}

/// Returns the value of the column for the patterns of a webhook.
#[must_use]
pub fn stored_types(webhook: &Webhook) -> String {
    webhook.types.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// How far a webhook has come, as the stores read it.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct ProgressRow<T> {
    pub attempted: i64,
    pub failures: i64,
    pub paused_until: Option<T>,
}

impl<T: StoredMoment> TryFrom<ProgressRow<T>> for DeliveryProgress {
    type Error = StoreError;

    fn try_from(row: ProgressRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            attempted: counted("webhooks.attempted", row.attempted)?,
            failures: small("webhooks.failures", row.failures)?,
            paused_until: moment_optional("webhooks.paused_until", row.paused_until)?,
        })
    }
}

/// A delivery as the stores read it, and as a statement gets it in JSON.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, Serialize)]
pub struct DeliveryRow<T> {
    pub sequence: i64,
    pub entry_id: Uuid,
    pub event_type: String,
    pub attempt: i64,
    pub status: String,
    pub http_status: Option<i64>,
    pub error: Option<String>,
    pub started_at: T,
    pub duration_ms: i64,
    pub next_attempt_at: Option<T>,
}

impl<T> DeliveryRow<T> {
    /// Returns the columns of a delivery.
    pub fn new(delivery: &Delivery, stored: impl Fn(iam_model::clock::Timestamp) -> T) -> Self {
        Self {
            sequence: crate::column::integer(delivery.sequence),
            entry_id: delivery.entry_id.as_uuid(),
            event_type: delivery.event_type.clone(),
            attempt: delivery.attempt.into(),
            status: delivery.status.as_str().to_owned(),
            http_status: delivery.http_status.map(Into::into),
            error: delivery.error.clone(),
            started_at: stored(delivery.started_at),
            duration_ms: delivery.duration_ms.into(),
            next_attempt_at: delivery.next_attempt_at.map(stored),
        }
    }
}

impl<T: StoredMoment> TryFrom<DeliveryRow<T>> for Delivery {
    type Error = StoreError;

    fn try_from(row: DeliveryRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            sequence: counted("webhook_deliveries.sequence", row.sequence)?,
            entry_id: row.entry_id.into(),
            event_type: row.event_type,
            attempt: small("webhook_deliveries.attempt", row.attempt)?,
            status: parse("webhook_deliveries.status", &row.status)?,
            http_status: row.http_status.map(|status| small("webhook_deliveries.http_status", status)).transpose()?,
            error: row.error,
            started_at: moment("webhook_deliveries.started_at", row.started_at)?,
            duration_ms: small("webhook_deliveries.duration_ms", row.duration_ms)?,
            next_attempt_at: moment_optional("webhook_deliveries.next_attempt_at", row.next_attempt_at)?,
        })
    }
}

fn small<T: TryFrom<i64, Error: std::fmt::Display>>(column: &'static str, number: i64) -> Result<T, StoreError> {
    number.try_into().map_err(|cause| StoreError::corrupt(column, cause))
}

/// Selects webhooks; the literal says which.
#[doc(hidden)]
#[macro_export]
macro_rules! select_webhooks {
    ($row:ident, $which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            $row,
            r#"
            SELECT
                w.tenant_id,
                w.id,
                w.url,
                w.types,
                w.description,
                w.enabled,
                w.salt,
                w.former_salt,
                w.former_until,
                w.created_at,
                w.created_by,
                w.version
            "# + $which,
            $($argument),+
        )
    };
}

/// Selects deliveries; the literal says which.
#[doc(hidden)]
#[macro_export]
macro_rules! select_deliveries {
    ($row:ident, $which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            $row,
            r#"
            SELECT
                d.sequence,
                d.entry_id,
                d.event_type,
                d.attempt,
                d.status,
                d.http_status,
                d.error,
                d.started_at,
                d.duration_ms,
                d.next_attempt_at
            "# + $which,
            $($argument),+
        )
    };
}

/// Implements the ports of webhooks; see [`store`](crate::store).
#[macro_export]
macro_rules! webhook_ports {
    (
        $store:ident,
        $transaction:ident,
        by_id: $by_id:literal,
        of_tenant: $of_tenant:literal,
        lock: $lock:literal,
        count: $count:literal,
        due: $due:literal,
        progress: $progress:literal,
        deliveries: $deliveries:literal,
        due_deliveries: $due_deliveries:literal,
        put_deliveries: $put_deliveries:literal,
        advance: $advance:literal,
        backlog: $backlog:literal,
        insert: ($($insert:tt)+),
        update: ($($update:tt)+),
        resume: $resume:literal,
        replay: ($($replay:tt)+),
        delete: ($($delete:tt)+) $(,)?
    ) => {
        const _: () = {
            use iam_model::change::WebhookChange;
            use iam_model::clock::Timestamp;
            use iam_model::id::{TenantId, UserId, WebhookId};
            use iam_model::store::{WebhookStore, WebhookTransaction};
            use iam_model::store_error::StoreError;
            use iam_model::version::Version;
            use iam_model::webhook::{
                Delivery, DeliveryProgress, DueWebhook, Webhook, WebhookBacklog, WebhookWork,
            };
            use $crate::column::{counted, integer, moment_optional, not_negative};
            use $crate::error::expect_row;
            use $crate::store::SqlStore;
            use $crate::webhook::{DeliveryRow, stored_types};

            type Moment = <$store as SqlStore>::Moment;
            type Row = $crate::webhook::WebhookRow<Moment>;
            type ProgressRow = $crate::webhook::ProgressRow<Moment>;
            type Attempted = DeliveryRow<Moment>;

            #[async_trait::async_trait]
            impl WebhookStore for $store {
                async fn webhook(&self, tenant: TenantId, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
                    let row = $crate::select_webhooks!(Row, $by_id, tenant.as_uuid(), id.as_uuid());
                    self.answer(row.fetch_optional(&self.reads())).await?.map(Webhook::try_from).transpose()
                }

                async fn webhooks(&self, tenant: TenantId) -> Result<Vec<Webhook>, StoreError> {
                    let rows = $crate::select_webhooks!(Row, $of_tenant, tenant.as_uuid());
                    self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(Webhook::try_from).collect()
                }

                async fn deliveries(
                    &self,
                    tenant: TenantId,
                    webhook: WebhookId,
                    limit: u32,
                ) -> Result<Vec<Delivery>, StoreError> {
                    let (tenant, webhook, limit) = (tenant.as_uuid(), webhook.as_uuid(), i64::from(limit));
                    let rows = $crate::select_deliveries!(Attempted, $deliveries, tenant, webhook, limit);
                    self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(Delivery::try_from).collect()
                }

                async fn due_webhooks(&self, now: Timestamp) -> Result<Vec<DueWebhook>, StoreError> {
                    let rows = sqlx::query!($due, $store::stored(now));
                    let rows = self.answer(rows.fetch_all(&self.reads())).await?;
                    let due = rows.into_iter().map(|row| DueWebhook {
                        tenant_id: row.tenant_id.into(),
                        id: row.id.into(),
                        is_failing: row.is_failing,
                    });
                    Ok(due.collect())
                }

                async fn webhook_work(
                    &self,
                    tenant: TenantId,
                    id: WebhookId,
                    now: Timestamp,
                    limit: u32,
                ) -> Result<Option<WebhookWork>, StoreError> {
                    let progress = sqlx::query_as!(ProgressRow, $progress, tenant.as_uuid(), id.as_uuid());
                    let Some(progress) = self.answer(progress.fetch_optional(&self.reads())).await? else {
                        return Ok(None);
                    };
                    let Some(webhook) = self.webhook(tenant, id).await? else { return Ok(None) };
                    let (tenant, id, limit) = (tenant.as_uuid(), id.as_uuid(), i64::from(limit));
                    let (now, attempted) = ($store::stored(now), progress.attempted);
                    let due =
                        $crate::select_deliveries!(Attempted, $due_deliveries, tenant, id, now, limit, attempted);
                    let due = self.answer(due.fetch_all(&self.reads())).await?;
                    let due = due.into_iter().map(Delivery::try_from).collect::<Result<_, _>>()?;
                    Ok(Some(WebhookWork { webhook, progress: progress.try_into()?, due }))
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
                    let (tenant, id) = (tenant.as_uuid(), id.as_uuid());
                    // First, because an event that counts as attempted must not be without its next attempt.
                    if !deliveries.is_empty() {
                        let rows = deliveries.iter().map(|delivery| Attempted::new(delivery, $store::stored));
                        let rows = sqlx::types::Json(rows.collect::<Vec<_>>());
                        let put = sqlx::query!($put_deliveries, tenant, id, rows as _);
                        self.answer(put.execute(&self.writes())).await?;
                    }
                    let advance = sqlx::query!(
                        $advance,
                        tenant,
                        id,
                        integer(before),
                        integer(progress.attempted),
                        i64::from(progress.failures),
                        progress.paused_until.map($store::stored),
                        i64::from(version)
                    );
                    Ok(self.answer(advance.execute(&self.writes())).await?.rows_affected() > 0)
                }

                async fn webhook_backlog(&self) -> Result<WebhookBacklog, StoreError> {
                    let row = self.answer(sqlx::query!($backlog).fetch_one(&self.reads())).await?;
                    Ok(WebhookBacklog {
                        entries: not_negative(row.entries),
                        since: moment_optional("audit_leaves.created_at", row.since)?,
                    })
                }
            }

            #[async_trait::async_trait]
            impl WebhookTransaction for $transaction {
                async fn lock_webhook(&mut self, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
                    let row = $crate::select_webhooks!(Row, $lock, self.tenant(), id.as_uuid());
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    row.map(Webhook::try_from).transpose()
                }

                async fn count_webhooks(&mut self) -> Result<u64, StoreError> {
                    let count = sqlx::query_scalar!($count, self.tenant());
                    let count = count.fetch_one(self.connection()).await.map_err($store::store_error)?;
                    counted("webhooks", count)
                }
            }

            impl $transaction {
                pub(crate) async fn write_webhook(&mut self, change: &WebhookChange) -> Result<(), StoreError> {
                    match change {
                        WebhookChange::Create { webhook, after } => self.insert_webhook(webhook, *after).await,
                        WebhookChange::Update { before, after, .. } => {
                            self.update_webhook(after).await?;
                            if after.enabled && !before.enabled {
                                let resume = sqlx::query!($resume, self.tenant(), after.id.as_uuid());
                                resume.execute(self.connection()).await.map_err($store::store_error)?;
                            }
                            Ok(())
                        }
                        WebhookChange::Rotate { after } => self.update_webhook(after).await,
                        WebhookChange::Replay { webhook, after } => {
                            let (id, after) = (webhook.id.as_uuid(), integer(*after));
                            let updated = execute_audited!(self, $($replay)+, self.tenant(), id, after)?;
                            expect_row(updated.rows_affected(), "webhook")
                        }
                        WebhookChange::Delete(webhook) => {
                            let id = webhook.id.as_uuid();
                            let deleted = execute_audited!(self, $($delete)+, self.tenant(), id)?;
                            expect_row(deleted.rows_affected(), "webhook")
                        }
                    }
                }

                async fn insert_webhook(&mut self, webhook: &Webhook, attempted: u64) -> Result<(), StoreError> {
                    let former = webhook.salt.former.as_ref();
                    execute_audited!(
                        self,
                        $($insert)+,
                        self.tenant(),
                        webhook.id.as_uuid(),
                        webhook.url.as_str(),
                        stored_types(webhook),
                        webhook.description.as_str(),
                        webhook.enabled,
                        webhook.salt.current.as_slice(),
                        former.map(|former| former.salt.as_slice()),
                        former.map(|former| $store::stored(former.until)),
                        $store::stored(webhook.created_at),
                        webhook.created_by.map(UserId::as_uuid),
                        integer(attempted)
                    )?;
                    Ok(())
                }

                async fn update_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError> {
                    let former = webhook.salt.former.as_ref();
                    let updated = execute_audited!(
                        self,
                        $($update)+,
                        self.tenant(),
                        webhook.id.as_uuid(),
                        webhook.url.as_str(),
                        stored_types(webhook),
                        webhook.description.as_str(),
                        webhook.enabled,
                        webhook.salt.current.as_slice(),
                        former.map(|former| former.salt.as_slice()),
                        former.map(|former| $store::stored(former.until))
                    )?;
                    expect_row(updated.rows_affected(), "webhook")
                }
            }
        };
    };
}
