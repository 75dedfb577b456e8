use async_trait::async_trait;
use chrono::{DateTime, Utc};
use iam_model::audit::{
    AuditEntry, Digest, Leaf, LogHead, Pending, PendingEntry, SequencedBatch, SequencedEntry, TreeHash, TreeSpan,
    log_id,
};
use iam_model::clock::Timestamp;
use iam_model::id::{AuditEntryId, TenantId};
use iam_model::store::{AuditTransaction, SequenceStore};
use iam_model::store_error::StoreError;
use iam_store_sql::audit::Fields;
use iam_store_sql::column::{bytes_32, counted, integer};
use iam_store_sql::sequence::{LogHeadRow, PendingRow};
use iam_store_sql::source::Transaction;
use sqlx::{PgExecutor, Postgres};
use uuid::Uuid;

use crate::PostgresStore;
use crate::audit::AuditEntryRow;
use crate::column::{Moment, in_range};
use crate::error::{has_no_partition, is_unique_violation, store_error};
use crate::feed::CHANGES;
use crate::transaction::PostgresTransaction;

type QueuedRow = PendingRow<Timestamp>;
type HeadRow = LogHeadRow<Timestamp>;

/// The position of an entry, in the sequence or in the queue, and the entry itself, which may be missing.
struct PositionRow {
    sequence: i64,
    placed_at: Moment,
    entry_id: Uuid,
    /// The leaf's hash, or the entry's digest.
    hash: Vec<u8>,
    is_sequenced: bool,
    tenant_id: Option<Uuid>,
    id: Option<Uuid>,
    action: Option<String>,
    resource_type: Option<String>,
    resource_id: Option<String>,
    organization_id: Option<Uuid>,
    user_id: Option<Uuid>,
    old_value: Option<Fields>,
    new_value: Option<Fields>,
    metadata: Option<Fields>,
    correlation_id: Option<String>,
    ip_address: Option<String>,
    user_agent: Option<String>,
    created_at: Option<Moment>,
    details_salt: Option<Vec<u8>>,
    origin_salt: Option<Vec<u8>>,
}

impl PositionRow {
    fn leaf(&self) -> Result<Leaf, StoreError> {
        Ok(Leaf {
            sequence: self.sequence.unsigned_abs(),
            created_at: self.placed_at.0,
            entry_id: self.entry_id.into(),
            hash: TreeHash(bytes_32("audit_leaves.hash", &self.hash)?),
        })
    }

    fn pending(&self, tenant_id: TenantId) -> Result<Pending, StoreError> {
        Ok(Pending {
            tenant_id,
            created_at: self.placed_at.0,
            entry_id: self.entry_id.into(),
            digest: Digest(bytes_32("audit_unsealed.digest", &self.hash)?),
        })
    }

    fn entry(self) -> Result<Option<AuditEntry>, StoreError> {
        self.entry_row().map(AuditEntry::try_from).transpose()
    }

    /// Returns `None` if a column that every entry has is NULL: then there is no entry.
    fn entry_row(self) -> Option<AuditEntryRow> {
        Some(AuditEntryRow {
            tenant_id: self.tenant_id?,
            id: self.id?,
            action: self.action?,
            resource_type: self.resource_type?,
            resource_id: self.resource_id,
            organization_id: self.organization_id,
            user_id: self.user_id,
            old_value: self.old_value,
            new_value: self.new_value,
            metadata: self.metadata?,
            correlation_id: self.correlation_id,
            ip_address: self.ip_address,
            user_agent: self.user_agent,
            created_at: self.created_at?,
            details_salt: self.details_salt?,
            origin_salt: self.origin_salt?,
        })
    }
}

#[async_trait]
impl SequenceStore for PostgresStore {
    /// Leaves out malformed rows: the service did not write them, and they must not delay other entries. Verification
    /// reports them.
    async fn pending(&self, except: &[TenantId], limit: u32) -> Result<Vec<Pending>, StoreError> {
        let except: Vec<Uuid> = except.iter().map(|tenant| tenant.as_uuid()).collect();
        let rows = sqlx::query_as!(
            QueuedRow,
            r#"
            SELECT
                tenant_id AS queued_tenant_id,
                created_at AS queued_at,
                id AS queued_id,
                digest
            FROM iam.audit_unsealed
            WHERE tenant_id <> ALL ($1)
                AND octet_length(digest) = 32
                AND octet_length(details_salt) IN (16, 32)
                AND octet_length(origin_salt) IN (16, 32)
                AND created_at BETWEEN '1970-01-01' AND '9999-12-31'
            ORDER BY created_at, id
            LIMIT $2
            "#,
            &except,
            i64::from(limit)
        );
        self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(Pending::try_from).collect()
    }

    /// The same statement counts the leaves. Otherwise a sequencing round between two statements could make the count
    /// differ from the size. A log that has leaves but no row in `audit_logs` has lost that row.
    async fn log_heads(&self, tenants: &[TenantId]) -> Result<Vec<LogHead>, StoreError> {
        if let Some(heads) = self.distributed_log_heads(tenants).await? {
            return Ok(heads);
        }
        let tenants: Vec<Uuid> = tenants.iter().map(|tenant| tenant.as_uuid()).collect();
        let rows = sqlx::query_as!(
            HeadRow,
            r#"
            SELECT
                t.id AS "tenant_id!",
                coalesce(g.size, 0) AS "size!",
                coalesce(g.peaks, '') AS "peaks!",
                coalesce(g.note, '') AS "note!",
                leaf.count AS "leaves!",
                coalesce(g.removed, 0) AS "removed!",
                g.retention_days::bigint AS "retention_days?",
                g.pending_retention_days::bigint AS "pending_retention_days?",
                g.pending_retention_from AS "pending_retention_from?"
            FROM unnest($1::uuid[]) t (id)
            -- The limit makes the planner use the key, even if it expects a large share of all logs.
            LEFT JOIN LATERAL (SELECT * FROM iam.audit_logs WHERE tenant_id = t.id LIMIT 1) g ON true
            CROSS JOIN LATERAL (
                SELECT coalesce(max(l.sequence) + 1, 0) AS count
                FROM iam.audit_leaves l
                WHERE l.tenant_id = t.id
            ) leaf
            WHERE g.tenant_id IS NOT NULL OR leaf.count > 0
            "#,
            &tenants
        );
        self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(LogHead::try_from).collect()
    }

    async fn sequence(&self, batches: &[SequencedBatch]) -> Result<bool, StoreError> {
        let leaves = batches.iter().flat_map(|batch| &batch.leaves);
        self.make_months_of(leaves.map(|leaf| leaf.created_at)).await?;
        if let Some(is_sequenced) = self.sequence_distributed(batches).await? {
            return Ok(is_sequenced);
        }
        let mut transaction = self.begin_transaction().await?;
        let sequenced = try_to_sequence(&mut transaction, batches).await;
        self.end_sequencing(transaction, sequenced).await
    }

    async fn sequence_of(&self, tenant: TenantId, id: AuditEntryId) -> Result<Option<u64>, StoreError> {
        let sequence = sqlx::query_scalar!(
            "SELECT sequence FROM iam.audit_leaves WHERE tenant_id = $1 AND entry_id = $2",
            tenant.as_uuid(),
            id.as_uuid()
        );
        Ok(self.answer(sequence.fetch_optional(&self.reads_of(tenant))).await?.map(i64::unsigned_abs))
    }

    async fn tree_hashes(&self, tenant: TenantId, spans: &[TreeSpan]) -> Result<Vec<TreeHash>, StoreError> {
        let levels: Vec<i16> = spans.iter().map(|span| span.level.into()).collect();
        let starts: Vec<i64> = spans.iter().map(|span| integer(span.positions.start)).collect();
        let ends: Vec<i64> = spans.iter().map(|span| integer(span.positions.end)).collect();
        let (levels, starts, ends) = (&levels, &starts, &ends);
        let select = || {
            sqlx::query_scalar!(
                r#"
                SELECT kept.hash AS "hash!"
                FROM unnest($2::smallint[], $3::bigint[], $4::bigint[])
                    WITH ORDINALITY span (level, first, past, number)
                CROSS JOIN LATERAL (
                    SELECT l.sequence AS position, l.hash
                    FROM iam.audit_leaves l
                    WHERE span.level = 0
                        AND l.tenant_id = $1
                        AND l.sequence >= span.first
                        AND l.sequence < span.past
                    UNION ALL
                    SELECT n.position, n.hash
                    FROM iam.audit_nodes n
                    WHERE n.tenant_id = $1
                        AND n.level = span.level
                        AND n.position >= span.first
                        AND n.position < span.past
                ) kept
                ORDER BY span.number, kept.position
                "#,
                tenant.as_uuid(),
                levels,
                starts,
                ends
            )
        };
        let hashes = self.list(tenant, |source| async move { select().fetch_all(&source).await }).await?;
        hashes.iter().map(|hash| bytes_32("audit_nodes.hash", hash).map(TreeHash)).collect()
    }

    async fn audited_tenants(&self) -> Result<Vec<TenantId>, StoreError> {
        // Every tenant is created with an audit entry. The other tables also have tenants whose own row was removed.
        let tenants = sqlx::query_scalar!(
            r#"
            SELECT id AS "tenant_id!"
            FROM iam.tenants
            UNION
            SELECT tenant_id
            FROM iam.audit_logs
            UNION
            SELECT tenant_id
            FROM iam.audit_unsealed
            ORDER BY 1
            "#
        );
        let tenants = self.answer(tenants.fetch_all(&self.reads())).await?;
        Ok(tenants.into_iter().map(TenantId::from).collect())
    }

    /// With the inner limit, the planner looks up the entries one by one, each in its one partition. Otherwise it would
    /// hash all entries of the tenant.
    async fn sequenced_entries(
        &self,
        tenant: TenantId,
        from: u64,
        limit: u32,
    ) -> Result<Vec<SequencedEntry>, StoreError> {
        let select = || {
            sqlx::query_as!(
                PositionRow,
                r#"
                SELECT
                    p.sequence AS "sequence!",
                    p.created_at AS "placed_at!: Moment",
                    p.entry_id AS "entry_id!",
                    p.hash AS "hash!",
                    p.is_sequenced AS "is_sequenced!",
                    e.tenant_id AS "tenant_id?",
                    e.id AS "id?",
                    e.action AS "action?",
                    e.resource_type AS "resource_type?",
                    e.resource_id,
                    e.organization_id,
                    e.user_id,
                    e.old_value AS "old_value: Fields",
                    e.new_value AS "new_value: Fields",
                    e.metadata AS "metadata?: Fields",
                    e.correlation_id,
                    e.ip_address,
                    e.user_agent,
                    e.created_at AS "created_at?: Moment",
                    e.details_salt AS "details_salt?",
                    e.origin_salt AS "origin_salt?"
                FROM (
                    SELECT l.sequence, l.created_at, l.entry_id, l.hash, true AS is_sequenced
                    FROM iam.audit_leaves l
                    WHERE l.tenant_id = $1 AND l.sequence >= $2
                    ORDER BY l.sequence
                    LIMIT $3
                ) p
                LEFT JOIN LATERAL (
                    SELECT *
                    FROM iam.audit_entries e
                    WHERE e.tenant_id = $1 AND e.created_at = p.created_at AND e.id = p.entry_id
                    LIMIT 1
                ) e ON true
                ORDER BY p.sequence
                "#,
                tenant.as_uuid(),
                integer(from),
                i64::from(limit)
            )
        };
        let rows = self.list(tenant, |source| async move { select().fetch_all(&source).await }).await?;
        rows.into_iter().map(|row| Ok(SequencedEntry { leaf: row.leaf()?, entry: row.entry()? })).collect()
    }

    async fn pending_entries(
        &self,
        tenant: TenantId,
        after: Option<(Timestamp, AuditEntryId)>,
        limit: u32,
    ) -> Result<Vec<PendingEntry>, StoreError> {
        let (created_at, id) = after.map(|(created_at, id)| (created_at, id.as_uuid())).unzip();
        let rows = sqlx::query_as!(
            PositionRow,
            r#"
            SELECT
                p.sequence AS "sequence!",
                p.created_at AS "placed_at!: Moment",
                p.entry_id AS "entry_id!",
                p.hash AS "hash!",
                p.is_sequenced AS "is_sequenced!",
                e.tenant_id AS "tenant_id?",
                e.id AS "id?",
                e.action AS "action?",
                e.resource_type AS "resource_type?",
                e.resource_id,
                e.organization_id,
                e.user_id,
                e.old_value AS "old_value: Fields",
                e.new_value AS "new_value: Fields",
                e.metadata AS "metadata?: Fields",
                e.correlation_id,
                e.ip_address,
                e.user_agent,
                e.created_at AS "created_at?: Moment",
                e.details_salt AS "details_salt?",
                e.origin_salt AS "origin_salt?"
            FROM iam.audit_unsealed e
            CROSS JOIN LATERAL (
                SELECT
                    0::bigint AS sequence,
                    e.created_at,
                    e.id AS entry_id,
                    e.digest AS hash,
                    EXISTS (
                        SELECT
                        FROM iam.audit_leaves l
                        WHERE l.tenant_id = $1 AND l.entry_id = e.id
                    ) AS is_sequenced
            ) p
            WHERE e.tenant_id = $1
                AND ($2::timestamptz IS NULL OR (e.created_at, e.id) > ($2, $3::uuid))
            ORDER BY e.created_at, e.id
            LIMIT $4
            "#,
            tenant.as_uuid(),
            created_at,
            id,
            i64::from(limit)
        );
        let rows = self.answer(rows.fetch_all(&self.reads_of(tenant))).await?;
        let pending = |row: PositionRow| {
            let (pending, is_sequenced) = (row.pending(tenant)?, row.is_sequenced);
            Ok(PendingEntry { pending, entry: row.entry()?, is_sequenced })
        };
        rows.into_iter().map(pending).collect()
    }

    async fn stray_entry(&self, tenant: TenantId) -> Result<Option<AuditEntryId>, StoreError> {
        let stray = sqlx::query_scalar!(
            r#"
            SELECT e.id
            FROM iam.audit_entries e
            WHERE e.tenant_id = $1
                AND NOT EXISTS (
                    SELECT
                    FROM iam.audit_leaves l
                    WHERE l.tenant_id = $1 AND l.entry_id = e.id AND l.created_at = e.created_at
                )
            ORDER BY e.created_at, e.id
            LIMIT 1
            "#,
            tenant.as_uuid()
        );
        // The statement reads all entries of the tenant.
        let mut transaction = self.begin_unbounded().await?;
        let stray = stray.fetch_optional(&mut transaction).await.map_err(store_error)?;
        transaction.rollback().await.map_err(store_error)?;
        Ok(stray.map(AuditEntryId::from))
    }
}

#[async_trait]
impl AuditTransaction for PostgresTransaction {
    async fn log_head(&mut self) -> Result<Option<LogHead>, StoreError> {
        let row = read_log_head(self.tenant(), self.connection()).await.map_err(store_error)?;
        row.map(LogHead::try_from).transpose()
    }

    async fn count_pending(&mut self) -> Result<u64, StoreError> {
        let count = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM iam.audit_unsealed WHERE tenant_id = $1"#,
            self.tenant()
        );
        counted("audit_unsealed", count.fetch_one(self.connection()).await.map_err(store_error)?)
    }

    async fn first_sequenced_since(&mut self, from: u64, moment: Timestamp) -> Result<Option<u64>, StoreError> {
        let first = sqlx::query_scalar!(
            r#"
            SELECT sequence
            FROM iam.audit_leaves
            WHERE tenant_id = $1 AND sequence >= $2 AND created_at >= $3
            ORDER BY sequence
            LIMIT 1
            "#,
            self.tenant(),
            integer(from),
            in_range(moment)
        );
        let first = first.fetch_optional(self.connection()).await.map_err(store_error)?;
        Ok(first.map(i64::unsigned_abs))
    }
}

/// Reads the head of one log. Every part of the statement names its tenant.
pub(crate) async fn read_log_head(tenant: Uuid, executor: impl PgExecutor<'_>) -> Result<Option<HeadRow>, sqlx::Error> {
    let row = sqlx::query_as!(
        HeadRow,
        r#"
        SELECT
            $1::uuid AS "tenant_id!",
            coalesce(g.size, 0) AS "size!",
            coalesce(g.peaks, '') AS "peaks!",
            coalesce(g.note, '') AS "note!",
            leaf.count AS "leaves!",
            coalesce(g.removed, 0) AS "removed!",
            g.retention_days::bigint AS "retention_days?",
            g.pending_retention_days::bigint AS "pending_retention_days?",
            g.pending_retention_from AS "pending_retention_from?"
        FROM (
            SELECT coalesce(max(l.sequence) + 1, 0) AS count
            FROM iam.audit_leaves l
            WHERE l.tenant_id = $1
        ) leaf
        LEFT JOIN (SELECT * FROM iam.audit_logs WHERE tenant_id = $1) g ON true
        WHERE g.tenant_id IS NOT NULL OR leaf.count > 0
        "#,
        tenant
    );
    row.fetch_optional(executor).await
}

impl PostgresStore {
    /// Commits the transaction of a sequencing round if it `sequenced` all batches, and rolls it back otherwise.
    pub(crate) async fn end_sequencing(
        &self,
        transaction: Transaction<Postgres>,
        sequenced: Result<bool, sqlx::Error>,
    ) -> Result<bool, StoreError> {
        match sequenced {
            Ok(true) => return transaction.commit().await.map_err(store_error).map(|()| true),
            Ok(false) => {}
            Err(error) if is_unique_violation(&error) => {}
            // Another replica has dropped the partition of a month that this replica believed to exist.
            Err(error) if has_no_partition(&error) => self.months.forget(),
            Err(error) => return Err(store_error(error)),
        }
        // At once, and not when the connection is used again: until then, the lock would keep all replicas from
        // sequencing.
        transaction.rollback().await.map_err(store_error).map(|()| false)
    }
}

/// Writes the heads, leaves and nodes, and moves the entries. Unless it returns `true`, the transaction must be
/// rolled back.
async fn try_to_sequence(
    transaction: &mut Transaction<Postgres>,
    batches: &[SequencedBatch],
) -> Result<bool, sqlx::Error> {
    if !lock_sequencing(transaction).await? || !continue_logs(transaction, batches).await? {
        return Ok(false);
    }
    let leaves = LeafColumns::of(batches);
    insert_leaves(transaction, &leaves).await?;
    if !move_entries(transaction, &leaves).await? {
        return Ok(false);
    }
    insert_nodes(transaction, batches).await?;
    notify(transaction, batches).await?;
    Ok(true)
}

/// Tells the change feeds which logs are continued.
pub(crate) async fn notify(
    transaction: &mut Transaction<Postgres>,
    batches: &[SequencedBatch],
) -> Result<(), sqlx::Error> {
    let logs: Vec<Uuid> = batches.iter().map(|batch| log_id(batch.tenant_id)).collect();
    let notified = sqlx::query!("SELECT pg_notify($1, log::text) FROM unnest($2::uuid[]) log", CHANGES, &logs);
    notified.execute(transaction).await.map(drop)
}

/// Tries to take the sequencing lock, without waiting. Only one replica sequences at a time: two that continue
/// several logs each might otherwise lock them in different orders.
pub(crate) async fn lock_sequencing(transaction: &mut Transaction<Postgres>) -> Result<bool, sqlx::Error> {
    let locked = sqlx::query_scalar!(
        r#"SELECT pg_try_advisory_xact_lock(hashtextextended('iam.audit_leaves', 0)) AS "locked!""#
    );
    locked.fetch_one(transaction).await
}

/// Advances the heads of the logs. Returns whether every log still had the size from which it is continued.
async fn continue_logs(
    transaction: &mut Transaction<Postgres>,
    batches: &[SequencedBatch],
) -> Result<bool, sqlx::Error> {
    let tenants: Vec<Uuid> = batches.iter().map(|batch| batch.tenant_id.as_uuid()).collect();
    let from: Vec<i64> = batches.iter().map(|batch| integer(batch.from)).collect();
    let sizes: Vec<i64> = batches.iter().map(|batch| integer(batch.frontier.size())).collect();
    let peaks: Vec<Vec<u8>> = batches.iter().map(|batch| bytes_of(batch.frontier.peaks())).collect();
    let notes: Vec<String> = batches.iter().map(|batch| batch.note.clone()).collect();
    let updated = sqlx::query!(
        r#"
        UPDATE iam.audit_logs g
        SET
            size = s.size,
            peaks = s.peaks,
            note = s.note
        FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bytea[], $5::text[])
            s (tenant_id, continued, size, peaks, note)
        WHERE g.tenant_id = s.tenant_id AND g.size = s.continued
        "#,
        &tenants,
        &from,
        &sizes,
        &peaks,
        &notes
    )
    .execute(&mut *transaction)
    .await?
    .rows_affected();
    if updated == batches.len() as u64 {
        return Ok(true);
    }
    let inserted = sqlx::query!(
        r#"
        INSERT INTO iam.audit_logs (tenant_id, size, peaks, note)
        SELECT s.tenant_id, s.size, s.peaks, s.note
        FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bytea[], $5::text[])
            s (tenant_id, continued, size, peaks, note)
        WHERE s.continued = 0
        ON CONFLICT DO NOTHING
        "#,
        &tenants,
        &from,
        &sizes,
        &peaks,
        &notes
    )
    .execute(transaction)
    .await?
    .rows_affected();
    Ok(updated + inserted == batches.len() as u64)
}

/// Moves the entries of leaves from the queue to the log. Returns whether every one of them was in the queue.
pub(crate) async fn move_entries(
    transaction: &mut Transaction<Postgres>,
    leaves: &LeafColumns,
) -> Result<bool, sqlx::Error> {
    let LeafColumns { tenant_id, created_at, entry_id, .. } = leaves;
    let moved = sqlx::query_scalar!(
        r#"SELECT iam.move_sealed_audit_entries($1, $2, $3) AS "moved!""#,
        tenant_id,
        created_at,
        entry_id
    );
    Ok(moved.fetch_one(transaction).await?.unsigned_abs() == entry_id.len() as u64)
}

async fn insert_leaves(transaction: &mut Transaction<Postgres>, leaves: &LeafColumns) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        INSERT INTO iam.audit_leaves (tenant_id, sequence, created_at, entry_id, hash)
        SELECT *
        FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::uuid[], $5::bytea[])
        "#,
        &leaves.tenant_id,
        &leaves.sequence,
        &leaves.created_at,
        &leaves.entry_id,
        &leaves.hash
    )
    .execute(transaction)
    .await?;
    Ok(())
}

async fn insert_nodes(transaction: &mut Transaction<Postgres>, batches: &[SequencedBatch]) -> Result<(), sqlx::Error> {
    let nodes = || batches.iter().flat_map(|batch| batch.nodes.iter().map(|node| (batch.tenant_id, node)));
    let tenants: Vec<Uuid> = nodes().map(|(tenant, _)| tenant.as_uuid()).collect();
    if tenants.is_empty() {
        return Ok(());
    }
    let levels: Vec<i16> = nodes().map(|(_, node)| node.level.into()).collect();
    let positions: Vec<i64> = nodes().map(|(_, node)| integer(node.position)).collect();
    let hashes: Vec<Vec<u8>> = nodes().map(|(_, node)| node.hash.0.to_vec()).collect();
    sqlx::query!(
        r#"
        INSERT INTO iam.audit_nodes (tenant_id, level, position, hash)
        SELECT *
        FROM unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::bytea[])
        "#,
        &tenants,
        &levels,
        &positions,
        &hashes
    )
    .execute(transaction)
    .await?;
    Ok(())
}

/// Leaves of several logs, turned from rows to columns.
#[derive(Default)]
pub(crate) struct LeafColumns {
    tenant_id: Vec<Uuid>,
    sequence: Vec<i64>,
    created_at: Vec<DateTime<Utc>>,
    entry_id: Vec<Uuid>,
    hash: Vec<Vec<u8>>,
}

impl LeafColumns {
    pub(crate) fn of(batches: &[SequencedBatch]) -> Self {
        let mut columns = Self::default();
        for (batch, leaf) in batches.iter().flat_map(|batch| batch.leaves.iter().map(move |leaf| (batch, leaf))) {
            columns.tenant_id.push(batch.tenant_id.as_uuid());
            columns.sequence.push(integer(leaf.sequence));
            columns.created_at.push(leaf.created_at);
            columns.entry_id.push(leaf.entry_id.as_uuid());
            columns.hash.push(leaf.hash.0.to_vec());
        }
        columns
    }
}

pub(crate) fn bytes_of(hashes: &[TreeHash]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.0).collect()
}
