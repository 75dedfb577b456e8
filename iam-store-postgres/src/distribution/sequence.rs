//! The sequence of the audit log on Citus: each log is on the node of its tenant.

use iam_model::audit::{Leaf, LogHead, SequencedBatch};
use iam_model::id::TenantId;
use iam_model::store_error::StoreError;
use iam_store_sql::column::integer;
use iam_store_sql::source::Transaction;
use sqlx::Postgres;

use crate::PostgresStore;
use crate::sequence::{LeafColumns, bytes_of, lock_sequencing, move_entries, notify, read_log_head};
use crate::values::{Row, insert_values};

impl PostgresStore {
    /// Reads the head of each log by a statement of its own.
    pub(super) async fn log_heads_one_by_one(&self, tenants: &[TenantId]) -> Result<Vec<LogHead>, StoreError> {
        let mut heads = Vec::new();
        for tenant in tenants {
            let head = self.answer(read_log_head(tenant.as_uuid(), &self.reads())).await?;
            heads.extend(head.map(LogHead::try_from).transpose()?);
        }
        Ok(heads)
    }

    /// Writes the leaves of all batches, and returns whether it has; see
    /// [`sequence`](iam_model::store::SequenceStore::sequence).
    pub(super) async fn sequence_on_nodes(&self, batches: &[SequencedBatch]) -> Result<bool, StoreError> {
        let mut transaction = self.begin_transaction().await?;
        let sequenced = try_to_sequence(&mut transaction, batches).await;
        self.end_sequencing(transaction, sequenced).await
    }
}

async fn try_to_sequence(
    transaction: &mut Transaction<Postgres>,
    batches: &[SequencedBatch],
) -> Result<bool, sqlx::Error> {
    if !lock_sequencing(transaction).await? || !continue_logs(transaction, batches).await? {
        return Ok(false);
    }
    insert_leaves(transaction, batches).await?;
    if !move_entries(transaction, &LeafColumns::of(batches)).await? {
        return Ok(false);
    }
    insert_nodes(transaction, batches).await?;
    notify(transaction, batches).await?;
    Ok(true)
}

/// Advances the heads of the logs, with one statement for each, so that it goes to the node of its log. Returns whether
/// every log still had the size from which it is continued.
async fn continue_logs(
    transaction: &mut Transaction<Postgres>,
    batches: &[SequencedBatch],
) -> Result<bool, sqlx::Error> {
    for batch in batches {
        let (tenant, from, size) = (batch.tenant_id.as_uuid(), integer(batch.from), integer(batch.frontier.size()));
        let (peaks, note) = (bytes_of(batch.frontier.peaks()), batch.note.as_str());
        let update = sqlx::query!(
            "UPDATE iam.audit_logs SET size = $3, peaks = $4, note = $5 WHERE tenant_id = $1 AND size = $2",
            tenant,
            from,
            size,
            peaks,
            note
        );
        let mut written = update.execute(&mut *transaction).await?.rows_affected();
        if written == 0 && batch.from == 0 {
            let insert = sqlx::query!(
                r#"
                INSERT INTO iam.audit_logs (tenant_id, size, peaks, note)
                VALUES ($1, $2, $3, $4)
                ON CONFLICT DO NOTHING
                "#,
                tenant,
                size,
                peaks,
                note
            );
            written = insert.execute(&mut *transaction).await?.rows_affected();
        }
        if written == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn insert_leaves(transaction: &mut Transaction<Postgres>, batches: &[SequencedBatch]) -> Result<(), sqlx::Error> {
    let insert = "INSERT INTO iam.audit_leaves (tenant_id, sequence, created_at, entry_id, hash) ";
    let leaves = batches.iter().flat_map(|batch| batch.leaves.iter().map(move |leaf| (batch.tenant_id, leaf.clone())));
    let push = |row: &mut Row<'_>, (tenant, leaf): (TenantId, Leaf)| {
        row.push_bind(tenant.as_uuid()).push_bind(integer(leaf.sequence)).push_bind(leaf.created_at);
        row.push_bind(leaf.entry_id.as_uuid()).push_bind(leaf.hash.0.to_vec());
    };
    insert_values(transaction, insert, leaves.collect(), push).await
}

async fn insert_nodes(transaction: &mut Transaction<Postgres>, batches: &[SequencedBatch]) -> Result<(), sqlx::Error> {
    let insert = "INSERT INTO iam.audit_nodes (tenant_id, level, position, hash) ";
    let nodes = batches.iter().flat_map(|batch| {
        batch
            .nodes
            .iter()
            .map(move |node| (batch.tenant_id, i16::from(node.level), integer(node.position), node.hash.0.to_vec()))
    });
    let push = |row: &mut Row<'_>, (tenant, level, position, hash): (TenantId, i16, i64, Vec<u8>)| {
        row.push_bind(tenant.as_uuid()).push_bind(level).push_bind(position).push_bind(hash);
    };
    insert_values(transaction, insert, nodes.collect(), push).await
}
