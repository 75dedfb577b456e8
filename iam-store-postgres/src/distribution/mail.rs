//! The outbox on Citus, which joins no table with a list, and neither locks nor updates rows of several nodes. So each
//! message is written by a statement of its own.

use iam_model::clock::Timestamp;
use iam_model::mail::{ENTERING_AT_ONCE, TURNS_AT_ONCE};
use iam_model::store_error::StoreError;
use iam_store_sql::mail::{DueRow, Entering, enter};
use iam_store_sql::source::Transaction;
use sqlx::Postgres;

use crate::PostgresStore;
use crate::error::store_error;
use crate::mail::{Row, line_for, lock_line};

impl PostgresStore {
    /// Claims the next messages of the line; see [`claim_messages`](iam_model::store::MailStore::claim_messages).
    pub(super) async fn claim_messages_one_by_one(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Row>, StoreError> {
        let mut transaction = self.begin_transaction().await?;
        self.answer(line_up(&mut transaction, now)).await?;
        let claimed = self.answer(claim(&mut transaction, until, limit)).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(claimed)
    }
}

/// Lets the messages that are due enter the line.
async fn line_up(transaction: &mut Transaction<Postgres>, now: Timestamp) -> sqlx::Result<()> {
    lock_line(transaction).await?;
    let due = sqlx::query_as!(
        DueRow,
        r#"
        SELECT tenant_id, id, kind, email, email_key
        FROM iam.messages
        WHERE turn IS NULL AND next_attempt_at <= $1
        ORDER BY next_attempt_at, id
        LIMIT $2
        "#,
        now,
        i64::from(ENTERING_AT_ONCE)
    );
    let due = due.fetch_all(&mut *transaction).await?;
    if due.is_empty() {
        return Ok(());
    }
    let Entering { tenants, ids, lanes, turns } = enter(&due, line_for(transaction, &due, now).await?);
    for (((tenant, id), lane), turn) in tenants.iter().zip(&ids).zip(&lanes).zip(&turns) {
        let update = sqlx::query!(
            "UPDATE iam.messages SET lane = $3, turn = $4, claimed_until = NULL WHERE tenant_id = $1 AND id = $2",
            tenant,
            id,
            lane,
            turn
        );
        update.execute(&mut *transaction).await?;
    }
    Ok(())
}

async fn claim(transaction: &mut Transaction<Postgres>, until: Timestamp, limit: u32) -> sqlx::Result<Vec<Row>> {
    let first = sqlx::query!(
        r#"
        SELECT lane AS "lane!", turn AS "turn!"
        FROM iam.messages
        WHERE turn IS NOT NULL AND lane >= 0
        ORDER BY lane, turn
        LIMIT 1
        "#
    );
    let Some(first) = first.fetch_optional(&mut *transaction).await? else { return Ok(Vec::new()) };
    let next = sqlx::query!(
        r#"
        SELECT tenant_id, id
        FROM iam.messages
        WHERE turn IS NOT NULL AND lane = $1 AND turn < $2
        ORDER BY turn, id
        LIMIT $3
        "#,
        first.lane,
        first.turn + TURNS_AT_ONCE,
        i64::from(limit)
    );
    let mut claimed = Vec::new();
    for next in next.fetch_all(&mut *transaction).await? {
        let claim = sqlx::query_as!(
            Row,
            r#"
            UPDATE iam.messages
            SET attempts = attempts + 1, next_attempt_at = $3, turn = NULL, claimed_until = $3
            WHERE tenant_id = $1 AND id = $2
            RETURNING
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
            "#,
            next.tenant_id,
            next.id,
            until
        );
        claimed.extend(claim.fetch_optional(&mut *transaction).await?);
    }
    Ok(claimed)
}
