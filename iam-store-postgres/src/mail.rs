use async_trait::async_trait;
use iam_model::change::MailChange;
use iam_model::clock::Timestamp;
use iam_model::context::{CorrelationId, UserAgent};
use iam_model::id::{LinkId, TenantId};
use iam_model::mail::{ENTERING_AT_ONCE, Lane, Line, MailKind, Message, SentMessages, TURNS_AT_ONCE};
use iam_model::store::{MailStore, MailTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::EmailKey;
use iam_store_sql::mail::{DueRow, Entering, MessageRow, SentRow, enter, readable, stored_address};
use iam_store_sql::source::Transaction;
use sqlx::Postgres;

use crate::PostgresStore;
use crate::column::in_range;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

pub(crate) type Row = MessageRow<Timestamp>;
type Sent = SentRow<Timestamp>;

#[async_trait]
impl MailStore for PostgresStore {
    async fn claim_messages(&self, now: Timestamp, until: Timestamp, limit: u32) -> Result<Vec<Message>, StoreError> {
        let (now, until) = (in_range(now), in_range(until));
        if let Some(claimed) = self.claim_distributed_messages(now, until, limit).await? {
            return Ok(readable(claimed));
        }
        let mut transaction = self.begin_transaction().await?;
        self.answer(line_up(&mut transaction, now)).await?;
        let claimed = self.answer(claim(&mut transaction, until, limit)).await?;
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
        let now = in_range(now);
        let mut transaction = self.begin_transaction().await?;
        // A row that does not exist cannot be locked, so it is created. An existing row is written unchanged, which
        // locks it and returns its newest version.
        let lock = sqlx::query_as!(
            Sent,
            r#"
            INSERT INTO iam.sent_messages AS s (tenant_id, since, urgent, invitations)
            VALUES ($1, $2, 0, 0)
            ON CONFLICT (tenant_id) DO UPDATE SET tenant_id = excluded.tenant_id
            RETURNING s.since, s.urgent, s.invitations
            "#,
            tenant.as_uuid(),
            now
        );
        let counted: SentMessages = lock.fetch_one(&mut transaction).await.map_err(store_error)?.try_into()?;
        let Some(more) = SentMessages::with_another(Some(counted), lane, now, limit) else {
            return Ok(Some(counted.ends_at()));
        };
        let put = sqlx::query!(
            "UPDATE iam.sent_messages SET since = $2, urgent = $3, invitations = $4 WHERE tenant_id = $1",
            tenant.as_uuid(),
            in_range(more.since),
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
            UPDATE iam.messages
            SET attempts = attempts - 1, next_attempt_at = $4, claimed_until = NULL
            WHERE tenant_id = $1 AND id = $2 AND attempts = $3
            "#,
            message.tenant_id.as_uuid(),
            message.id.as_uuid(),
            message.attempts.cast_signed(),
            in_range(next_attempt_at)
        );
        self.answer(update.execute(&self.writes())).await.map(drop)
    }

    async fn postpone_message(&self, message: &Message, next_attempt_at: Timestamp) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE iam.messages
            SET next_attempt_at = $4, claimed_until = NULL
            WHERE tenant_id = $1 AND id = $2 AND attempts = $3
            "#,
            message.tenant_id.as_uuid(),
            message.id.as_uuid(),
            message.attempts.cast_signed(),
            in_range(next_attempt_at)
        );
        self.answer(update.execute(&self.writes())).await.map(drop)
    }

    async fn remove_message(&self, message: &Message) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            "DELETE FROM iam.messages WHERE tenant_id = $1 AND id = $2 AND attempts = $3",
            message.tenant_id.as_uuid(),
            message.id.as_uuid(),
            message.attempts.cast_signed()
        );
        self.answer(delete.execute(&self.writes())).await.map(drop)
    }
}

/// Lets the messages that are due enter the line.
async fn line_up(transaction: &mut Transaction<Postgres>, now: Timestamp) -> sqlx::Result<()> {
    lock_line(transaction).await?;
    // Skips locked rows: a unit of work gives them a newer link.
    let due = sqlx::query_as!(
        DueRow,
        r#"
        SELECT tenant_id, id, kind, email, email_key
        FROM iam.messages
        WHERE turn IS NULL AND next_attempt_at <= $1
        ORDER BY next_attempt_at, id
        LIMIT $2
        FOR UPDATE SKIP LOCKED
        "#,
        now,
        i64::from(ENTERING_AT_ONCE)
    );
    let due = due.fetch_all(&mut *transaction).await?;
    if due.is_empty() {
        return Ok(());
    }
    let Entering { tenants, ids, lanes, turns } = enter(&due, line_for(transaction, &due, now).await?);
    let update = sqlx::query!(
        r#"
        UPDATE iam.messages m
        SET lane = e.lane, turn = e.turn, claimed_until = NULL
        FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[]) AS e (tenant_id, id, lane, turn)
        WHERE m.tenant_id = e.tenant_id AND m.id = e.id
        "#,
        &tenants,
        &ids,
        &lanes,
        &turns
    );
    update.execute(transaction).await.map(drop)
}

/// Takes the lock of the line. Replicas let messages enter it one after the other, so that the messages of a tenant get
/// different turns.
pub(crate) async fn lock_line(transaction: &mut Transaction<Postgres>) -> sqlx::Result<()> {
    let lock = sqlx::query!("SELECT pg_advisory_xact_lock(hashtextextended('iam.messages', 0))");
    lock.fetch_one(transaction).await.map(drop)
}

/// Returns the facts that decide where the messages enter the line.
pub(crate) async fn line_for(
    transaction: &mut Transaction<Postgres>,
    due: &[DueRow],
    now: Timestamp,
) -> sqlx::Result<Line> {
    let mut line = Line::default();
    for lane in [Lane::Urgent, Lane::Invitations] {
        let next = sqlx::query_scalar!(
            "SELECT turn FROM iam.messages WHERE turn IS NOT NULL AND lane = $1 ORDER BY turn LIMIT 1",
            lane.number()
        );
        line.next.extend(next.fetch_optional(&mut *transaction).await?.flatten().map(|turn| (lane, turn)));
    }
    let mut tenants: Vec<_> = due.iter().map(|row| row.tenant_id).collect();
    tenants.sort_unstable();
    tenants.dedup();
    let last = sqlx::query!(
        r#"
        SELECT tenant_id, lane AS "lane!", max(turn) AS "turn!"
        FROM iam.messages
        WHERE turn IS NOT NULL AND tenant_id = ANY ($1)
        GROUP BY tenant_id, lane
        "#,
        &tenants
    );
    for last in last.fetch_all(&mut *transaction).await? {
        let lane = if last.lane == Lane::Urgent.number() { Lane::Urgent } else { Lane::Invitations };
        line.last.insert((TenantId::from(last.tenant_id), lane), last.turn);
    }
    let keys: Vec<String> = due.iter().filter_map(|row| Some(row.purpose()?.1.as_str().to_owned())).collect();
    let busy = sqlx::query!(
        r#"
        SELECT kind, email_key AS "email_key!"
        FROM iam.messages
        WHERE email_key = ANY ($1) AND (turn IS NOT NULL OR claimed_until > $2)
        "#,
        &keys,
        now
    );
    for busy in busy.fetch_all(&mut *transaction).await? {
        let kind = busy.kind.parse::<MailKind>().ok();
        line.busy.extend(kind.map(|kind| (kind, EmailKey::stored(busy.email_key))));
    }
    Ok(line)
}

async fn claim(transaction: &mut Transaction<Postgres>, until: Timestamp, limit: u32) -> sqlx::Result<Vec<Row>> {
    // Skips locked rows: a unit of work gives them a newer link. As a subquery, the rows could be selected again for
    // each row of the outer table, without those that are already claimed, and the limit would not hold.
    let claim = sqlx::query_as!(
        Row,
        r#"
        WITH first AS MATERIALIZED (
            SELECT lane, turn
            FROM iam.messages
            WHERE turn IS NOT NULL AND lane >= 0
            ORDER BY lane, turn
            LIMIT 1
        ),
        next AS MATERIALIZED (
            SELECT tenant_id, id
            FROM iam.messages
            WHERE turn IS NOT NULL
                AND lane = (SELECT lane FROM first)
                AND turn < (SELECT turn FROM first) + $3
            ORDER BY turn, id
            LIMIT $2
            FOR UPDATE SKIP LOCKED
        )
        UPDATE iam.messages m
        SET attempts = attempts + 1, next_attempt_at = $1, turn = NULL, claimed_until = $1
        FROM next
        WHERE m.tenant_id = next.tenant_id AND m.id = next.id
        RETURNING
            m.tenant_id,
            m.id,
            m.kind,
            m.email,
            m.email_key,
            m.subject,
            m.link_id,
            m.correlation_id,
            m.ip_address,
            m.user_agent,
            m.attempts,
            m.next_attempt_at,
            m.turn,
            m.claimed_until,
            m.created_at
        "#,
        until,
        i64::from(limit),
        TURNS_AT_ONCE
    );
    claim.fetch_all(transaction).await
}

#[async_trait]
impl MailTransaction for PostgresTransaction {
    async fn lock_queued_messages(
        &mut self,
        counted_in: TenantId,
        kind: MailKind,
        to: &EmailKey,
    ) -> Result<Vec<Timestamp>, StoreError> {
        // A row that does not exist cannot be locked, so it is created. An existing row is written unchanged, which
        // locks it and returns its newest version.
        let lock = sqlx::query_scalar!(
            r#"
            INSERT INTO iam.queued_messages AS q (tenant_id, email_key, kind)
            VALUES ($1, $2, $3)
            ON CONFLICT (tenant_id, email_key, kind) DO UPDATE SET tenant_id = excluded.tenant_id
            RETURNING q.queued_at
            "#,
            counted_in.as_uuid(),
            to.as_str(),
            kind.as_str()
        );
        lock.fetch_one(self.connection()).await.map_err(store_error)
    }

    async fn lock_waiting_message(&mut self, like: &Message, now: Timestamp) -> Result<Option<Message>, StoreError> {
        let to = like.to.key();
        let waiting = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id,
                id,
                kind,
                email,
                email_key,
                subject,
                link_id,
                correlation_id,
                ip_address,
                user_agent,
                attempts,
                next_attempt_at,
                turn,
                claimed_until,
                created_at
            FROM iam.messages
            WHERE tenant_id = $1 AND email_key = $2 AND kind = $3
                AND subject IS NOT DISTINCT FROM $4
                AND (claimed_until IS NULL OR claimed_until <= $5)
            ORDER BY id
            LIMIT 1
            FOR UPDATE
            "#,
            like.tenant_id.as_uuid(),
            to.as_str(),
            like.kind.as_str(),
            like.to.subject(),
            in_range(now)
        );
        let waiting = waiting.fetch_optional(self.connection()).await.map_err(store_error)?;
        waiting.map(Message::try_from).transpose()
    }
}

impl PostgresTransaction {
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
            INSERT INTO iam.messages (
                tenant_id, id, kind, email, email_key, subject, link_id, correlation_id, ip_address, user_agent,
                attempts, next_attempt_at, created_at
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
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
            in_range(message.next_attempt_at),
            in_range(message.created_at)
        );
        insert.execute(self.connection()).await.map_err(store_error)?;
        let put = sqlx::query!(
            r#"
            INSERT INTO iam.queued_messages (tenant_id, email_key, kind, queued_at)
            VALUES ($1, $2, $3, $4)
            ON CONFLICT (tenant_id, email_key, kind) DO UPDATE SET queued_at = excluded.queued_at
            "#,
            counted_in.as_uuid(),
            key.as_str(),
            message.kind.as_str(),
            queued_at
        );
        put.execute(self.connection()).await.map(drop).map_err(store_error)
    }

    async fn renew_message(&mut self, message: &Message) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE iam.messages
            SET email = $3, link_id = $4, next_attempt_at = $5
            WHERE tenant_id = $1 AND id = $2
            "#,
            message.tenant_id.as_uuid(),
            message.id.as_uuid(),
            stored_address(&message.to),
            message.link_id.map(LinkId::as_uuid),
            in_range(message.next_attempt_at)
        );
        update.execute(self.connection()).await.map(drop).map_err(store_error)
    }
}
