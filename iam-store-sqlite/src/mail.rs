use async_trait::async_trait;
use iam_model::change::MailChange;
use iam_model::clock::Timestamp;
use iam_model::context::{CorrelationId, UserAgent};
use iam_model::id::{LinkId, TenantId};
use iam_model::mail::{ENTERING_AT_ONCE, Lane, Line, MailKind, Message, SentMessages, TURNS_AT_ONCE};
use iam_model::store::{MailStore, MailTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::EmailKey;
use iam_store_sql::column::StoredMoments as _;
use iam_store_sql::mail::{DueRow, Entering, MessageRow, SentRow, enter, readable, stored_address};
use iam_store_sql::source::Transaction;
use sqlx::Sqlite;
use sqlx::types::Json;
use uuid::Uuid;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = MessageRow<i64>;
type Sent = SentRow<i64>;

#[async_trait]
impl MailStore for SqliteStore {
    async fn claim_messages(&self, now: Timestamp, until: Timestamp, limit: u32) -> Result<Vec<Message>, StoreError> {
        let mut transaction = self.writes().begin().await.map_err(store_error)?;
        line_up(&mut transaction, now).await.map_err(store_error)?;
        let claimed = claim(&mut transaction, until, limit).await.map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        Ok(readable(claimed))
    }

    async fn count_sent_message(
        &self,
        tenant: TenantId,
        lane: Lane,
        now: Timestamp,
        limit: u64,
    ) -> Result<Option<Timestamp>, StoreError> {
        let mut transaction = self.writes().begin().await.map_err(store_error)?;
        let counted = sqlx::query_as!(
            Sent,
            "SELECT since, urgent, invitations FROM sent_messages WHERE tenant_id = ?1",
            tenant.as_uuid()
        );
        let counted = counted.fetch_optional(&mut transaction).await.map_err(store_error)?;
        let counted: Option<SentMessages> = counted.map(SentMessages::try_from).transpose()?;
        let Some(more) = SentMessages::with_another(counted, lane, now, limit) else {
            return Ok(counted.map(|counted| counted.ends_at()));
        };
        let put = sqlx::query!(
            r#"
            INSERT INTO sent_messages (tenant_id, since, urgent, invitations)
            VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (tenant_id) DO UPDATE
            SET since = excluded.since, urgent = excluded.urgent, invitations = excluded.invitations
            "#,
            tenant.as_uuid(),
            millis(more.since),
            more.urgent.cast_signed(),
            more.invitations.cast_signed()
        );
        put.execute(&mut transaction).await.map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        Ok(None)
    }

    async fn return_message(&self, message: &Message, next_attempt_at: Timestamp) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE messages
            SET attempts = attempts - 1, next_attempt_at = ?4, claimed_until = NULL
            WHERE tenant_id = ?1 AND id = ?2 AND attempts = ?3
            "#,
            message.tenant_id.as_uuid(),
            message.id.as_uuid(),
            message.attempts.cast_signed(),
            millis(next_attempt_at)
        );
        self.answer(update.execute(&self.writes())).await.map(drop)
    }

    async fn postpone_message(&self, message: &Message, next_attempt_at: Timestamp) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE messages
            SET next_attempt_at = ?4, claimed_until = NULL
            WHERE tenant_id = ?1 AND id = ?2 AND attempts = ?3
            "#,
            message.tenant_id.as_uuid(),
            message.id.as_uuid(),
            message.attempts.cast_signed(),
            millis(next_attempt_at)
        );
        self.answer(update.execute(&self.writes())).await.map(drop)
    }

    async fn remove_message(&self, message: &Message) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            "DELETE FROM messages WHERE tenant_id = ?1 AND id = ?2 AND attempts = ?3",
            message.tenant_id.as_uuid(),
            message.id.as_uuid(),
            message.attempts.cast_signed()
        );
        self.answer(delete.execute(&self.writes())).await.map(drop)
    }
}

/// Lets the messages that are due enter the line.
async fn line_up(transaction: &mut Transaction<Sqlite>, now: Timestamp) -> sqlx::Result<()> {
    let due = sqlx::query_as!(
        DueRow,
        r#"
        SELECT tenant_id AS "tenant_id!: Uuid", id AS "id!: Uuid", kind, email, email_key
        FROM messages
        WHERE turn IS NULL AND next_attempt_at <= ?1
        ORDER BY next_attempt_at, id
        LIMIT ?2
        "#,
        millis(now),
        ENTERING_AT_ONCE
    );
    let due = due.fetch_all(&mut *transaction).await?;
    if due.is_empty() {
        return Ok(());
    }
    let Entering { tenants, ids, lanes, turns } = enter(&due, line_for(transaction, &due, now).await?);
    for (((tenant, id), lane), turn) in tenants.iter().zip(&ids).zip(&lanes).zip(&turns) {
        let update = sqlx::query!(
            "UPDATE messages SET lane = ?3, turn = ?4, claimed_until = NULL WHERE tenant_id = ?1 AND id = ?2",
            tenant,
            id,
            lane,
            turn
        );
        update.execute(&mut *transaction).await?;
    }
    Ok(())
}

/// Returns the facts that decide where the messages enter the line.
async fn line_for(transaction: &mut Transaction<Sqlite>, due: &[DueRow], now: Timestamp) -> sqlx::Result<Line> {
    let mut line = Line::default();
    for lane in [Lane::Urgent, Lane::Invitations] {
        let next = sqlx::query_scalar!(
            r#"SELECT turn AS "turn!" FROM messages WHERE turn IS NOT NULL AND lane = ?1 ORDER BY turn LIMIT 1"#,
            lane.number()
        );
        line.next.extend(next.fetch_optional(&mut *transaction).await?.map(|turn| (lane, turn)));
    }
    let mut tenants: Vec<Uuid> = due.iter().map(|row| row.tenant_id).collect();
    tenants.sort_unstable();
    tenants.dedup();
    let last = sqlx::query!(
        r#"
        SELECT tenant_id AS "tenant_id!: Uuid", lane AS "lane!", max(turn) AS "turn!: i64"
        FROM messages
        WHERE turn IS NOT NULL AND tenant_id IN (SELECT unhex(value, '-') FROM json_each(?1))
        GROUP BY tenant_id, lane
        "#,
        Json(tenants)
    );
    for last in last.fetch_all(&mut *transaction).await? {
        let lane = if last.lane == Lane::Urgent.number() { Lane::Urgent } else { Lane::Invitations };
        line.last.insert((TenantId::from(last.tenant_id), lane), last.turn);
    }
    let keys: Vec<String> = due.iter().filter_map(|row| Some(row.purpose()?.1.as_str().to_owned())).collect();
    let busy = sqlx::query!(
        r#"
        SELECT kind, email_key AS "email_key!"
        FROM messages
        WHERE email_key IN (SELECT value FROM json_each(?1)) AND (turn IS NOT NULL OR claimed_until > ?2)
        "#,
        Json(keys),
        millis(now)
    );
    for busy in busy.fetch_all(&mut *transaction).await? {
        let kind = busy.kind.parse::<MailKind>().ok();
        line.busy.extend(kind.map(|kind| (kind, EmailKey::stored(busy.email_key))));
    }
    Ok(line)
}

async fn claim(transaction: &mut Transaction<Sqlite>, until: Timestamp, limit: u32) -> sqlx::Result<Vec<Row>> {
    let claim = sqlx::query_as!(
        Row,
        r#"
        WITH first AS MATERIALIZED (
            SELECT lane, turn
            FROM messages
            WHERE turn IS NOT NULL AND lane >= 0
            ORDER BY lane, turn
            LIMIT 1
        )
        UPDATE messages
        SET attempts = attempts + 1, next_attempt_at = ?1, turn = NULL, claimed_until = ?1
        WHERE (tenant_id, id) IN (
            SELECT tenant_id, id
            FROM messages
            WHERE turn IS NOT NULL
                AND lane = (SELECT lane FROM first)
                AND turn < (SELECT turn FROM first) + ?3
            ORDER BY turn, id
            LIMIT ?2
        )
        RETURNING
            tenant_id AS "tenant_id!: Uuid",
            id AS "id!: Uuid",
            kind AS "kind!",
            email AS "email!",
            email_key,
            subject AS "subject: Uuid",
            link_id AS "link_id: Uuid",
            correlation_id,
            ip_address,
            user_agent,
            attempts AS "attempts!: i32",
            next_attempt_at AS "next_attempt_at!",
            turn,
            claimed_until,
            created_at AS "created_at!"
        "#,
        millis(until),
        limit,
        TURNS_AT_ONCE
    );
    claim.fetch_all(transaction).await
}

#[async_trait]
impl MailTransaction for SqliteTransaction {
    async fn lock_queued_messages(
        &mut self,
        counted_in: TenantId,
        kind: MailKind,
        to: &EmailKey,
    ) -> Result<Vec<Timestamp>, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT queued_at AS "queued_at: Json<Vec<i64>>"
            FROM queued_messages
            WHERE tenant_id = ?1 AND email_key = ?2 AND kind = ?3
            "#,
            counted_in.as_uuid(),
            to.as_str(),
            kind.as_str()
        );
        let row = row.fetch_optional(self.connection()).await.map_err(store_error)?;
        let moments = row.map(|row| row.queued_at.moments("queued_messages.queued_at")).transpose()?;
        Ok(moments.unwrap_or_default())
    }

    async fn lock_waiting_message(&mut self, like: &Message, now: Timestamp) -> Result<Option<Message>, StoreError> {
        let to = like.to.key();
        let waiting = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id AS "tenant_id!: Uuid",
                id AS "id!: Uuid",
                kind AS "kind!",
                email AS "email!",
                email_key,
                subject AS "subject: Uuid",
                link_id AS "link_id: Uuid",
                correlation_id,
                ip_address,
                user_agent,
                attempts AS "attempts!: i32",
                next_attempt_at AS "next_attempt_at!",
                turn,
                claimed_until,
                created_at AS "created_at!"
            FROM messages
            WHERE tenant_id = ?1 AND email_key = ?2 AND kind = ?3
                AND subject IS ?4
                AND (claimed_until IS NULL OR claimed_until <= ?5)
            ORDER BY id
            LIMIT 1
            "#,
            like.tenant_id.as_uuid(),
            to.as_str(),
            like.kind.as_str(),
            like.to.subject(),
            millis(now)
        );
        let waiting = waiting.fetch_optional(self.connection()).await.map_err(store_error)?;
        waiting.map(Message::try_from).transpose()
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_mail(&mut self, change: &MailChange) -> Result<(), StoreError> {
        match change {
            MailChange::Queue { message, counted_in, queued_at } => {
                self.queue_message(message, *counted_in, queued_at).await
            }
            MailChange::Renew { message } => self.renew_message(message).await,
        }
    }

    // Unlike other statements, these do not bind the tenant of the unit of work: a request for all accounts with an
    // address has no tenant, and messages to an address are counted for all tenants together.
    async fn queue_message(
        &mut self,
        message: &Message,
        counted_in: TenantId,
        queued_at: &[Timestamp],
    ) -> Result<(), StoreError> {
        let (context, key) = (&message.context, message.to.key());
        let insert = sqlx::query!(
            r#"
            INSERT INTO messages (
                tenant_id, id, kind, email, email_key, subject, link_id, correlation_id, ip_address, user_agent,
                attempts, next_attempt_at, created_at
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            "#,
            message.tenant_id.as_uuid(),
            message.id.as_uuid(),
            message.kind.as_str(),
            stored_address(&message.to),
            key.as_str(),
            message.to.subject(),
            message.link_id.map(LinkId::as_uuid),
            context.correlation_id.as_ref().map(CorrelationId::as_str),
            context.ip_address.map(|address| address.to_string()),
            context.user_agent.as_ref().map(UserAgent::as_str),
            message.attempts.cast_signed(),
            millis(message.next_attempt_at),
            millis(message.created_at)
        );
        insert.execute(self.connection()).await.map_err(store_error)?;
        let put = sqlx::query!(
            r#"
            INSERT INTO queued_messages (tenant_id, email_key, kind, queued_at)
            VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (tenant_id, email_key, kind) DO UPDATE SET queued_at = excluded.queued_at
            "#,
            counted_in.as_uuid(),
            key.as_str(),
            message.kind.as_str(),
            Json(queued_at.iter().copied().map(millis).collect::<Vec<_>>())
        );
        put.execute(self.connection()).await.map(drop).map_err(store_error)
    }

    async fn renew_message(&mut self, message: &Message) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE messages
            SET email = ?3, link_id = ?4, next_attempt_at = ?5
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            message.tenant_id.as_uuid(),
            message.id.as_uuid(),
            stored_address(&message.to),
            message.link_id.map(LinkId::as_uuid),
            millis(message.next_attempt_at)
        );
        update.execute(self.connection()).await.map(drop).map_err(store_error)
    }
}
