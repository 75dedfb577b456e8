use async_trait::async_trait;
use iam_model::audit::{
    AuditEntry, Leaf, LogHead, Pending, PendingEntry, SequencedBatch, SequencedEntry, TreeHash, TreeNode, TreeSpan,
    log_id,
};
use iam_model::clock::Timestamp;
use iam_model::id::{AuditEntryId, TenantId};
use iam_model::store::{AuditTransaction, SequenceStore};
use iam_model::store_error::StoreError;
use iam_store_sql::audit::ENTRY_COLUMNS;
use iam_store_sql::column::{bytes_32, counted, integer, moment};
use iam_store_sql::sequence::{LogHeadRow, PendingRow};
use sqlx::sqlite::SqliteRow;
use sqlx::types::Json;
use sqlx::{FromRow, QueryBuilder, Row as _, Sqlite, SqliteConnection};
use uuid::Uuid;

use crate::SqliteStore;
use crate::audit::{AuditEntryRow, insert_log};
use crate::bulk::{CHUNK, execute};
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type HeadRow = LogHeadRow<i64>;

/// A row of the queue, and whether its entry already has a leaf.
#[derive(FromRow)]
struct QueuedRow {
    #[sqlx(flatten)]
    pending: PendingRow<i64>,
    is_sequenced: bool,
}

#[derive(FromRow)]
struct LeafRow {
    sequence: i64,
    sequenced_at: i64,
    sequenced_id: Uuid,
    hash: Vec<u8>,
}

impl TryFrom<LeafRow> for Leaf {
    type Error = StoreError;

    fn try_from(row: LeafRow) -> Result<Self, StoreError> {
        Ok(Self {
            sequence: counted("audit_leaves.sequence", row.sequence)?,
            created_at: moment("audit_leaves.created_at", row.sequenced_at)?,
            entry_id: row.sequenced_id.into(),
            hash: TreeHash(bytes_32("audit_leaves.hash", &row.hash)?),
        })
    }
}

/// A leaf or a row of the queue, and its entry, which may be missing.
struct RowWithEntry<T> {
    row: T,
    entry: Option<AuditEntryRow>,
}

impl<'r, T: FromRow<'r, SqliteRow>> FromRow<'r, SqliteRow> for RowWithEntry<T> {
    fn from_row(row: &'r SqliteRow) -> sqlx::Result<Self> {
        let id: Option<Uuid> = row.try_get("id")?;
        let entry = id.map(|_| AuditEntryRow::from_row(row)).transpose()?;
        Ok(Self { row: T::from_row(row)?, entry })
    }
}

impl<T> RowWithEntry<T> {
    fn into_parts<U: TryFrom<T, Error = StoreError>>(self) -> Result<(U, Option<AuditEntry>), StoreError> {
        Ok((self.row.try_into()?, self.entry.map(AuditEntry::try_from).transpose()?))
    }
}

#[async_trait]
impl SequenceStore for SqliteStore {
    /// Leaves out malformed rows: the service did not write them, and they must not delay other entries. Verification
    /// reports them.
    async fn pending(&self, except: &[TenantId], limit: u32) -> Result<Vec<Pending>, StoreError> {
        let rows = sqlx::query_as!(
            PendingRow::<i64>,
            r#"
            SELECT
                u.tenant_id AS queued_tenant_id,
                u.created_at AS queued_at,
                u.id AS queued_id,
                u.digest
            FROM audit_unsealed u
            WHERE u.tenant_id NOT IN (SELECT unhex(value, '-') FROM json_each(?1))
                AND length(u.tenant_id) = 16
                AND length(u.id) = 16
                AND length(u.digest) = 32
                -- The years 1970 to 9999.
                AND u.created_at BETWEEN 0 AND 253402300799999
            ORDER BY u.created_at, u.id
            LIMIT ?2
            "#,
            Json(except),
            i64::from(limit)
        );
        self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(Pending::try_from).collect()
    }

    /// The last leaf gives the number of leaves. It is read by the same statement, because the log may grow between two
    /// statements. A log that has leaves but no row in `audit_logs` has lost that row.
    async fn log_heads(&self, tenants: &[TenantId]) -> Result<Vec<LogHead>, StoreError> {
        let rows = sqlx::query_as!(
            HeadRow,
            r#"
            SELECT
                unhex(t.value, '-') AS "tenant_id!: Uuid",
                coalesce(g.size, 0) AS "size!: i64",
                coalesce(g.peaks, x'') AS "peaks!: Vec<u8>",
                coalesce(g.note, '') AS "note!: String",
                (
                    SELECT coalesce(max(l.sequence) + 1, 0)
                    FROM audit_leaves l
                    WHERE l.tenant_id = unhex(t.value, '-')
                ) AS "leaves!: i64",
                coalesce(g.removed, 0) AS "removed!: i64",
                g.retention_days AS "retention_days?",
                g.pending_retention_days AS "pending_retention_days?",
                g.pending_retention_from AS "pending_retention_from?"
            FROM json_each(?1) t
            LEFT JOIN audit_logs g ON g.tenant_id = unhex(t.value, '-')
            WHERE g.tenant_id IS NOT NULL
                OR EXISTS (SELECT 1 FROM audit_leaves l WHERE l.tenant_id = unhex(t.value, '-'))
            "#,
            Json(tenants)
        );
        self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(LogHead::try_from).collect()
    }

    async fn sequence(&self, batches: &[SequencedBatch]) -> Result<bool, StoreError> {
        // From here on, other writers wait. For a round of the sequencer, the following statements take some
        // milliseconds.
        let mut transaction = self.writer.begin().await.map_err(store_error)?;
        for batch in batches {
            if !write_batch(batch, transaction.connection()).await? {
                return Ok(false);
            }
        }
        transaction.commit().await.map_err(store_error)?;
        Ok(true)
    }

    async fn sequence_of(&self, tenant: TenantId, id: AuditEntryId) -> Result<Option<u64>, StoreError> {
        let sequence = sqlx::query_scalar!(
            r#"SELECT sequence AS "sequence!" FROM audit_leaves WHERE tenant_id = ?1 AND entry_id = ?2"#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        Ok(self.answer(sequence.fetch_optional(&self.reads_of(tenant))).await?.map(i64::unsigned_abs))
    }

    async fn tree_hashes(&self, tenant: TenantId, spans: &[TreeSpan]) -> Result<Vec<TreeHash>, StoreError> {
        let spans = spans.iter().map(|span| (span.level, span.positions.start, span.positions.end));
        let hashes = sqlx::query_scalar!(
            r#"
            SELECT hash AS "hash!"
            FROM (
                SELECT s.key AS span, l.sequence AS position, l.hash
                FROM json_each(?2) s
                CROSS JOIN audit_leaves l
                    ON l.tenant_id = ?1 AND l.sequence >= s.value ->> 1 AND l.sequence < s.value ->> 2
                WHERE s.value ->> 0 = 0
                UNION ALL
                SELECT s.key, n.position, n.hash
                FROM json_each(?2) s
                CROSS JOIN audit_nodes n
                    ON n.tenant_id = ?1
                    AND n.level = s.value ->> 0
                    AND n.position >= s.value ->> 1
                    AND n.position < s.value ->> 2
            )
            ORDER BY span, position
            "#,
            tenant.as_uuid(),
            Json(spans.collect::<Vec<_>>())
        );
        let hashes = self.answer(hashes.fetch_all(&self.reads_of(tenant))).await?;
        hashes.iter().map(|hash| Ok(TreeHash(bytes_32("audit_nodes.hash", hash)?))).collect()
    }

    async fn audited_tenants(&self) -> Result<Vec<TenantId>, StoreError> {
        // The last part only adds tenants whose log was removed, but not its entries.
        let tenants = sqlx::query_scalar!(
            r#"
            SELECT g.tenant_id AS "tenant_id!: Uuid" FROM audit_logs g
            UNION
            SELECT u.tenant_id FROM audit_unsealed u
            UNION
            SELECT t.id FROM tenants t WHERE EXISTS (SELECT 1 FROM audit_entries e WHERE e.tenant_id = t.id)
            ORDER BY 1
            "#
        );
        let tenants = self.answer(tenants.fetch_all(&self.reads())).await?;
        Ok(tenants.into_iter().map(TenantId::from).collect())
    }

    async fn sequenced_entries(
        &self,
        tenant: TenantId,
        from: u64,
        limit: u32,
    ) -> Result<Vec<SequencedEntry>, StoreError> {
        let mut query = sequenced_since(tenant, from, limit);
        let rows: Vec<RowWithEntry<LeafRow>> =
            self.answer(query.build_query_as().fetch_all(&self.reads_of(tenant))).await?;
        let sequenced =
            |row: RowWithEntry<LeafRow>| row.into_parts().map(|(leaf, entry)| SequencedEntry { leaf, entry });
        rows.into_iter().map(sequenced).collect()
    }

    async fn pending_entries(
        &self,
        tenant: TenantId,
        after: Option<(Timestamp, AuditEntryId)>,
        limit: u32,
    ) -> Result<Vec<PendingEntry>, StoreError> {
        let mut query = pending_after(tenant, after, limit);
        let rows: Vec<RowWithEntry<QueuedRow>> =
            self.answer(query.build_query_as().fetch_all(&self.reads_of(tenant))).await?;
        let pending = |RowWithEntry { row: QueuedRow { pending, is_sequenced }, entry }: RowWithEntry<QueuedRow>| {
            let (pending, entry) = RowWithEntry { row: pending, entry }.into_parts()?;
            Ok(PendingEntry { pending, entry, is_sequenced })
        };
        rows.into_iter().map(pending).collect()
    }

    async fn stray_entry(&self, tenant: TenantId) -> Result<Option<AuditEntryId>, StoreError> {
        // The time is compared, too: another entry may have the identifier of a sequenced entry.
        let stray = sqlx::query_scalar!(
            r#"
            SELECT e.id AS "id: Uuid"
            FROM audit_entries e
            WHERE e.tenant_id = ?1
                AND NOT EXISTS (
                    SELECT 1
                    FROM audit_leaves l
                    WHERE l.tenant_id = e.tenant_id AND l.entry_id = e.id AND l.created_at = e.created_at
                )
                AND NOT EXISTS (
                    SELECT 1
                    FROM audit_unsealed u
                    WHERE u.tenant_id = e.tenant_id AND u.created_at = e.created_at AND u.id = e.id
                )
            ORDER BY e.created_at, e.id
            LIMIT 1
            "#,
            tenant.as_uuid()
        );
        Ok(self.answer(stray.fetch_optional(&self.reads_of(tenant))).await?.map(AuditEntryId::from))
    }
}

#[async_trait]
impl AuditTransaction for SqliteTransaction {
    async fn log_head(&mut self) -> Result<Option<LogHead>, StoreError> {
        let row = sqlx::query_as!(
            HeadRow,
            r#"
            SELECT
                unhex(t.value, '-') AS "tenant_id!: Uuid",
                coalesce(g.size, 0) AS "size!: i64",
                coalesce(g.peaks, x'') AS "peaks!: Vec<u8>",
                coalesce(g.note, '') AS "note!: String",
                (
                    SELECT coalesce(max(l.sequence) + 1, 0)
                    FROM audit_leaves l
                    WHERE l.tenant_id = unhex(t.value, '-')
                ) AS "leaves!: i64",
                coalesce(g.removed, 0) AS "removed!: i64",
                g.retention_days AS "retention_days?",
                g.pending_retention_days AS "pending_retention_days?",
                g.pending_retention_from AS "pending_retention_from?"
            FROM json_each(?1) t
            LEFT JOIN audit_logs g ON g.tenant_id = unhex(t.value, '-')
            WHERE g.tenant_id IS NOT NULL
                OR EXISTS (SELECT 1 FROM audit_leaves l WHERE l.tenant_id = unhex(t.value, '-'))
            "#,
            Json([self.tenant()])
        );
        let row = row.fetch_optional(self.connection()).await.map_err(store_error)?;
        row.map(LogHead::try_from).transpose()
    }

    async fn count_pending(&mut self) -> Result<u64, StoreError> {
        let count = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM audit_unsealed WHERE tenant_id = ?1"#,
            self.tenant()
        );
        counted("audit_unsealed", count.fetch_one(self.connection()).await.map_err(store_error)?)
    }

    async fn first_sequenced_since(&mut self, from: u64, moment: Timestamp) -> Result<Option<u64>, StoreError> {
        let first = sqlx::query_scalar!(
            r#"
            SELECT sequence AS "sequence!"
            FROM audit_leaves
            WHERE tenant_id = ?1 AND sequence >= ?2 AND created_at >= ?3
            ORDER BY sequence
            LIMIT 1
            "#,
            self.tenant(),
            integer(from),
            millis(moment)
        );
        let first = first.fetch_optional(self.connection()).await.map_err(store_error)?;
        Ok(first.map(i64::unsigned_abs))
    }
}

/// Selects leaves from a sequence number on, with their entries.
fn sequenced_since(tenant: TenantId, from: u64, limit: u32) -> QueryBuilder<Sqlite> {
    let mut query =
        QueryBuilder::new("SELECT l.sequence, l.created_at AS sequenced_at, l.entry_id AS sequenced_id, l.hash,");
    query.push(ENTRY_COLUMNS).push(
        "
        FROM audit_leaves l
        LEFT JOIN audit_entries e
            ON e.tenant_id = l.tenant_id AND e.created_at = l.created_at AND e.id = l.entry_id
        WHERE l.tenant_id = ",
    );
    query.push_bind(tenant.as_uuid()).push(" AND l.sequence >= ").push_bind(integer(from));
    query.push(" ORDER BY l.sequence LIMIT ").push_bind(limit);
    query
}

/// Selects rows of the queue after a position in the order of time, with their entries.
fn pending_after(tenant: TenantId, after: Option<(Timestamp, AuditEntryId)>, limit: u32) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "
        SELECT
            u.tenant_id AS queued_tenant_id,
            u.created_at AS queued_at,
            u.id AS queued_id,
            u.digest,
            EXISTS (SELECT 1 FROM audit_leaves l WHERE l.tenant_id = u.tenant_id AND l.entry_id = u.id) AS is_sequenced,
        ",
    );
    query.push(ENTRY_COLUMNS).push(
        "
        FROM audit_unsealed u
        LEFT JOIN audit_entries e
            ON e.tenant_id = u.tenant_id AND e.created_at = u.created_at AND e.id = u.id
        WHERE u.tenant_id = ",
    );
    query.push_bind(tenant.as_uuid());
    if let Some((created_at, id)) = after {
        query.push(" AND (u.created_at, u.id) > (").push_bind(millis(created_at));
        query.push(", ").push_bind(id.as_uuid()).push(")");
    }
    query.push(" ORDER BY u.created_at, u.id LIMIT ").push_bind(limit);
    query
}

/// Writes the new leaves and the head of one log. Returns whether the log still had the size from which it is
/// continued, and every entry was still pending.
async fn write_batch(batch: &SequencedBatch, connection: &mut SqliteConnection) -> Result<bool, StoreError> {
    if !update_head(batch, connection).await? {
        return Ok(false);
    }
    let tenant = batch.tenant_id.as_uuid();
    for chunk in batch.leaves.chunks(CHUNK) {
        let pending = execute(&mut delete_pending(tenant, chunk), chunk.len(), connection).await?;
        if pending != chunk.len() as u64 {
            return Ok(false);
        }
        execute(&mut insert_leaves(tenant, chunk), chunk.len(), connection).await?;
    }
    for chunk in batch.nodes.chunks(CHUNK) {
        execute(&mut insert_nodes(tenant, chunk), chunk.len(), connection).await?;
    }
    let notified = sqlx::query!("INSERT INTO changes (changed) VALUES (?1)", log_id(batch.tenant_id));
    notified.execute(connection).await.map_err(store_error)?;
    Ok(true)
}

async fn update_head(batch: &SequencedBatch, connection: &mut SqliteConnection) -> Result<bool, StoreError> {
    let tenant = batch.tenant_id.as_uuid();
    if batch.from == 0 {
        insert_log(tenant, connection).await?;
    }
    let peaks: Vec<u8> = batch.frontier.peaks().iter().flat_map(|peak| peak.0).collect();
    let updated = sqlx::query!(
        "UPDATE audit_logs SET size = ?3, peaks = ?4, note = ?5 WHERE tenant_id = ?1 AND size = ?2",
        tenant,
        integer(batch.from),
        integer(batch.frontier.size()),
        peaks,
        batch.note
    );
    Ok(updated.execute(connection).await.map_err(store_error)?.rows_affected() == 1)
}

fn delete_pending(tenant: Uuid, leaves: &[Leaf]) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("DELETE FROM audit_unsealed WHERE (tenant_id, created_at, id) IN (");
    query.push_values(leaves, |mut row, leaf| {
        row.push_bind(tenant).push_bind(millis(leaf.created_at)).push_bind(leaf.entry_id.as_uuid());
    });
    query.push(")");
    query
}

fn insert_leaves(tenant: Uuid, leaves: &[Leaf]) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("INSERT INTO audit_leaves (tenant_id, sequence, created_at, entry_id, hash) ");
    query.push_values(leaves, |mut row, leaf| {
        row.push_bind(tenant)
            .push_bind(integer(leaf.sequence))
            .push_bind(millis(leaf.created_at))
            .push_bind(leaf.entry_id.as_uuid())
            .push_bind(leaf.hash.0.to_vec());
    });
    query
}

fn insert_nodes(tenant: Uuid, nodes: &[TreeNode]) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("INSERT INTO audit_nodes (tenant_id, level, position, hash) ");
    query.push_values(nodes, |mut row, node| {
        row.push_bind(tenant).push_bind(node.level).push_bind(integer(node.position)).push_bind(node.hash.0.to_vec());
    });
    query
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::assert_plan;

    const ENTRY: &str =
        "SEARCH e USING INDEX sqlite_autoindex_audit_entries_1 (tenant_id=? AND created_at=? AND id=?) LEFT-JOIN";

    /// No row is sorted, and each entry is looked up by its whole key.
    #[tokio::test]
    async fn logs_are_read_in_the_order_of_their_keys() {
        let (tenant, after) = (TenantId::NONE, Some((Timestamp::UNIX_EPOCH, Uuid::nil().into())));
        let leaves = "SEARCH l USING PRIMARY KEY (tenant_id=? AND sequence>?)";
        assert_plan(sequenced_since(tenant, 0, 50), &[leaves, ENTRY]).await;
        let sequenced = "SEARCH l USING COVERING INDEX sqlite_autoindex_audit_leaves_2 (tenant_id=? AND entry_id=?)";
        let queue = "SEARCH u USING PRIMARY KEY (tenant_id=?)";
        assert_plan(pending_after(tenant, None, 50), &[queue, ENTRY, sequenced]).await;
        let queue = "SEARCH u USING PRIMARY KEY (tenant_id=? AND (created_at,id)>(?,?))";
        assert_plan(pending_after(tenant, after, 50), &[queue, ENTRY, sequenced]).await;
    }
}
