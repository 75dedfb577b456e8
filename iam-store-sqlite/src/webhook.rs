use async_trait::async_trait;
use iam_model::change::WebhookChange;
use iam_model::clock::Timestamp;
use iam_model::id::{TenantId, UserId, WebhookId};
use iam_model::store::{WebhookStore, WebhookTransaction};
use iam_model::store_error::StoreError;
use iam_model::version::Version;
use iam_model::webhook::{Delivery, DeliveryProgress, DueWebhook, Webhook, WebhookBacklog, WebhookWork};
use iam_store_sql::column::{counted, integer, moment_optional, not_negative};
use iam_store_sql::error::expect_row;
use iam_store_sql::webhook::{DeliveryRow, ProgressRow, WebhookRow, stored_types};
use sqlx::types::Json;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = WebhookRow<i64>;
type Progress = ProgressRow<i64>;
type Attempted = DeliveryRow<i64>;

#[async_trait]
impl WebhookStore for SqliteStore {
    async fn webhook(&self, tenant: TenantId, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                w.tenant_id, w.id, w.url, w.types, w.format, w.description, w.enabled, w.salt, w.former_salt,
                w.former_until, w.created_at, w.created_by, w.version
            FROM webhooks w
            WHERE w.tenant_id = ?1 AND w.id = ?2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Webhook::try_from).transpose()
    }

    async fn webhooks(&self, tenant: TenantId) -> Result<Vec<Webhook>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                w.tenant_id, w.id, w.url, w.types, w.format, w.description, w.enabled, w.salt, w.former_salt,
                w.former_until, w.created_at, w.created_by, w.version
            FROM webhooks w
            WHERE w.tenant_id = ?1
            ORDER BY w.created_at DESC, w.id
            "#,
            tenant.as_uuid()
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Webhook::try_from).collect()
    }

    async fn failing_webhooks(&self, tenant: TenantId) -> Result<Vec<Webhook>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                w.tenant_id, w.id, w.url, w.types, w.format, w.description, w.enabled, w.salt, w.former_salt,
                w.former_until, w.created_at, w.created_by, w.version
            FROM webhooks w
            WHERE w.tenant_id = ?1 AND w.failures > 0
            ORDER BY w.created_at DESC, w.id
            "#,
            tenant.as_uuid()
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Webhook::try_from).collect()
    }

    async fn deliveries(&self, tenant: TenantId, webhook: WebhookId, limit: u32) -> Result<Vec<Delivery>, StoreError> {
        let rows = sqlx::query_as!(
            Attempted,
            r#"
            SELECT
                d.sequence, d.entry_id, d.event_type, d.attempt, d.status, d.http_status, d.error, d.started_at,
                d.duration_ms, d.next_attempt_at
            FROM webhook_deliveries d
            WHERE d.tenant_id = ?1 AND d.webhook_id = ?2
            ORDER BY d.started_at DESC, d.sequence DESC
            LIMIT ?3
            "#,
            tenant.as_uuid(),
            webhook.as_uuid(),
            i64::from(limit)
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Delivery::try_from).collect()
    }

    async fn due_webhooks(&self, now: Timestamp) -> Result<Vec<DueWebhook>, StoreError> {
        // `CROSS JOIN` begins with the webhooks: there may be many tenants without any.
        let rows = sqlx::query!(
            r#"
            SELECT w.tenant_id, w.id, w.failures > 0 AS "is_failing!: bool"
            FROM webhooks w
            CROSS JOIN tenants t ON t.id = w.tenant_id
            WHERE w.enabled
                AND t.status = 'ACTIVE'
                AND (
                    (w.paused_until IS NULL OR w.paused_until <= ?1)
                        AND EXISTS (
                            SELECT 1 FROM audit_logs g WHERE g.tenant_id = w.tenant_id AND g.size > w.attempted
                        )
                    OR EXISTS (
                        SELECT 1
                        FROM webhook_deliveries d
                        WHERE d.tenant_id = w.tenant_id AND d.webhook_id = w.id AND d.next_attempt_at <= ?1
                            AND d.sequence <= w.attempted
                    )
                )
            "#,
            millis(now)
        );
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
        let progress = sqlx::query_as!(
            Progress,
            r#"
            SELECT w.attempted, w.failures, w.paused_until
            FROM webhooks w
            JOIN tenants t ON t.id = w.tenant_id
            WHERE w.tenant_id = ?1 AND w.id = ?2 AND w.enabled AND t.status = 'ACTIVE'
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        let Some(progress) = self.answer(progress.fetch_optional(&self.reads_of(tenant))).await? else {
            return Ok(None);
        };
        let Some(webhook) = self.webhook(tenant, id).await? else { return Ok(None) };
        let due = sqlx::query_as!(
            Attempted,
            r#"
            SELECT
                d.sequence, d.entry_id, d.event_type, d.attempt, d.status, d.http_status, d.error, d.started_at,
                d.duration_ms, d.next_attempt_at
            FROM webhook_deliveries d
            WHERE d.tenant_id = ?1 AND d.webhook_id = ?2 AND d.next_attempt_at <= ?3 AND d.sequence <= ?5
            ORDER BY d.sequence
            LIMIT ?4
            "#,
            tenant.as_uuid(),
            id.as_uuid(),
            millis(now),
            i64::from(limit),
            progress.attempted
        );
        let due = self.answer(due.fetch_all(&self.reads_of(tenant))).await?;
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
        // First, because an event that counts as attempted must not be without its next attempt.
        if !deliveries.is_empty() {
            self.put_deliveries(tenant, id, deliveries).await?;
        }
        let advance = sqlx::query!(
            r#"
            UPDATE webhooks
            SET attempted = ?4, failures = ?5, paused_until = ?6
            WHERE tenant_id = ?1 AND id = ?2 AND attempted = ?3 AND version = ?7
            "#,
            tenant.as_uuid(),
            id.as_uuid(),
            integer(before),
            integer(progress.attempted),
            i64::from(progress.failures),
            progress.paused_until.map(millis),
            i64::from(version)
        );
        Ok(self.answer(advance.execute(&self.writes())).await?.rows_affected() > 0)
    }

    async fn webhook_backlog(&self) -> Result<WebhookBacklog, StoreError> {
        // The leaves are counted from zero, so the leaf with the number of the last attempted event is the next one.
        let row = sqlx::query!(
            r#"
            SELECT
                coalesce(max(g.size - max(w.attempted, g.removed)), 0) AS "entries!: i64",
                min(l.created_at) AS "since: i64"
            FROM webhooks w
            CROSS JOIN tenants t ON t.id = w.tenant_id
            CROSS JOIN audit_logs g ON g.tenant_id = w.tenant_id
            LEFT JOIN audit_leaves l ON l.tenant_id = w.tenant_id AND l.sequence = max(w.attempted, g.removed)
            WHERE w.enabled AND t.status = 'ACTIVE'
            "#
        );
        let row = self.answer(row.fetch_one(&self.reads())).await?;
        Ok(WebhookBacklog {
            entries: not_negative(row.entries),
            since: moment_optional("audit_leaves.created_at", row.since)?,
        })
    }
}

impl SqliteStore {
    async fn put_deliveries(&self, tenant: TenantId, id: WebhookId, deliveries: &[Delivery]) -> Result<(), StoreError> {
        let rows = deliveries.iter().map(|delivery| Attempted::new(delivery, millis));
        let put = sqlx::query!(
            r#"
            INSERT INTO webhook_deliveries (
                tenant_id, webhook_id, sequence, entry_id, event_type, attempt, status, http_status, error,
                started_at, duration_ms, next_attempt_at
            )
            SELECT
                w.tenant_id, w.id,
                d.value ->> 'sequence', unhex(d.value ->> 'entry_id', '-'), d.value ->> 'event_type',
                d.value ->> 'attempt', d.value ->> 'status', d.value ->> 'http_status', d.value ->> 'error',
                d.value ->> 'started_at', d.value ->> 'duration_ms', d.value ->> 'next_attempt_at'
            FROM webhooks w
            CROSS JOIN json_each(?3) d
            WHERE w.tenant_id = ?1 AND w.id = ?2
            ON CONFLICT (tenant_id, webhook_id, sequence) DO UPDATE SET
                attempt = excluded.attempt,
                status = excluded.status,
                http_status = excluded.http_status,
                error = excluded.error,
                started_at = excluded.started_at,
                duration_ms = excluded.duration_ms,
                next_attempt_at = excluded.next_attempt_at
            "#,
            tenant.as_uuid(),
            id.as_uuid(),
            Json(rows.collect::<Vec<_>>()) as _
        );
        self.answer(put.execute(&self.writes())).await.map(drop)
    }
}

#[async_trait]
impl WebhookTransaction for SqliteTransaction {
    async fn lock_webhook(&mut self, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                w.tenant_id, w.id, w.url, w.types, w.format, w.description, w.enabled, w.salt, w.former_salt,
                w.former_until, w.created_at, w.created_by, w.version
            FROM webhooks w
            WHERE w.tenant_id = ?1 AND w.id = ?2
            "#,
            self.tenant(),
            id.as_uuid()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(Webhook::try_from).transpose()
    }

    async fn all_webhooks(&mut self) -> Result<Vec<Webhook>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                w.tenant_id, w.id, w.url, w.types, w.format, w.description, w.enabled, w.salt, w.former_salt,
                w.former_until, w.created_at, w.created_by, w.version
            FROM webhooks w
            WHERE w.tenant_id = ?1
            "#,
            self.tenant()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(Webhook::try_from).collect()
    }

    async fn count_webhooks(&mut self) -> Result<u64, StoreError> {
        let count =
            sqlx::query_scalar!(r#"SELECT count(*) AS "count!" FROM webhooks WHERE tenant_id = ?1"#, self.tenant());
        counted("webhooks", count.fetch_one(self.connection()).await.map_err(store_error)?)
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_webhook(&mut self, change: &WebhookChange) -> Result<(), StoreError> {
        match change {
            WebhookChange::Create { webhook, after } => self.insert_webhook(webhook, *after).await,
            WebhookChange::Update { before, after, .. } => {
                self.update_webhook(after).await?;
                if after.enabled && !before.enabled {
                    self.resume_webhook(after.id).await?;
                }
                Ok(())
            }
            WebhookChange::Rotate { after } => self.update_webhook(after).await,
            WebhookChange::Replay { webhook, after } => self.replay_webhook(webhook.id, *after).await,
            WebhookChange::Delete(webhook) => self.delete_webhook(webhook.id).await,
        }
    }

    async fn insert_webhook(&mut self, webhook: &Webhook, attempted: u64) -> Result<(), StoreError> {
        let former = webhook.salt.former.as_ref();
        let insert = sqlx::query!(
            r#"
            INSERT INTO webhooks (
                tenant_id, id, url, types, description, enabled, salt, former_salt, former_until, created_at,
                created_by, attempted, format
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            "#,
            self.tenant(),
            webhook.id.as_uuid(),
            webhook.url.as_str(),
            stored_types(webhook),
            webhook.description.as_str(),
            webhook.enabled,
            webhook.salt.current.as_slice(),
            former.map(|former| former.salt.as_slice()),
            former.map(|former| millis(former.until)),
            millis(webhook.created_at),
            webhook.created_by.map(UserId::as_uuid),
            integer(attempted),
            webhook.format.as_str()
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError> {
        let former = webhook.salt.former.as_ref();
        let update = sqlx::query!(
            r#"
            UPDATE webhooks
            SET
                url = ?3,
                types = ?4,
                description = ?5,
                enabled = ?6,
                salt = ?7,
                former_salt = ?8,
                former_until = ?9,
                format = ?10,
                version = version + 1
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            webhook.id.as_uuid(),
            webhook.url.as_str(),
            stored_types(webhook),
            webhook.description.as_str(),
            webhook.enabled,
            webhook.salt.current.as_slice(),
            former.map(|former| former.salt.as_slice()),
            former.map(|former| millis(former.until)),
            webhook.format.as_str()
        );
        expect_row(self.execute(update).await?, "webhook")
    }

    async fn resume_webhook(&mut self, id: WebhookId) -> Result<(), StoreError> {
        let update = sqlx::query!(
            "UPDATE webhooks SET failures = 0, paused_until = NULL WHERE tenant_id = ?1 AND id = ?2",
            self.tenant(),
            id.as_uuid()
        );
        self.execute(update).await.map(drop)
    }

    async fn replay_webhook(&mut self, id: WebhookId, after: u64) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE webhooks
            SET attempted = min(attempted, ?3), failures = 0, paused_until = NULL, version = version + 1
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            id.as_uuid(),
            integer(after)
        );
        expect_row(self.execute(update).await?, "webhook")
    }

    async fn delete_webhook(&mut self, id: WebhookId) -> Result<(), StoreError> {
        let delete = sqlx::query!("DELETE FROM webhooks WHERE tenant_id = ?1 AND id = ?2", self.tenant(), id.as_uuid());
        expect_row(self.execute(delete).await?, "webhook")
    }
}
