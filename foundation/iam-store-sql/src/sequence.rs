//! The sequence of the audit log.

use iam_model::audit::{Digest, Frontier, LogHead, Pending, PendingRetention, Retention, TreeHash};
use iam_model::store_error::StoreError;
use sqlx::FromRow;
use uuid::Uuid;

use crate::column::{StoredMoment, bytes_32, moment, moment_optional};

/// A pending entry as the stores read it.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct PendingRow<T> {
    pub queued_tenant_id: Uuid,
    pub queued_at: T,
    pub queued_id: Uuid,
    pub digest: Vec<u8>,
}

impl<T: StoredMoment> TryFrom<PendingRow<T>> for Pending {
    type Error = StoreError;

    fn try_from(row: PendingRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            tenant_id: row.queued_tenant_id.into(),
            created_at: moment("audit_unsealed.created_at", row.queued_at)?,
            entry_id: row.queued_id.into(),
            digest: Digest(bytes_32("audit_unsealed.digest", &row.digest)?),
        })
    }
}

/// The head of a log as the stores read it.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct LogHeadRow<T> {
    pub tenant_id: Uuid,
    pub size: i64,
    pub peaks: Vec<u8>,
    pub note: String,
    pub leaves: i64,
    pub removed: i64,
    pub retention_days: Option<i64>,
    pub pending_retention_days: Option<i64>,
    pub pending_retention_from: Option<T>,
}

impl<T: StoredMoment> TryFrom<LogHeadRow<T>> for LogHead {
    type Error = StoreError;

    fn try_from(row: LogHeadRow<T>) -> Result<Self, StoreError> {
        // A malformed retention removes nothing. It is not an error here, because the other logs must continue.
        let days = |days: Option<i64>| days.and_then(|days| u32::try_from(days).ok());
        let from = moment_optional("audit_logs.pending_retention_from", row.pending_retention_from)?;
        let pending = days(row.pending_retention_days).zip(from);
        Ok(Self {
            tenant_id: row.tenant_id.into(),
            frontier: frontier(row.size.unsigned_abs(), &row.peaks),
            note: row.note,
            leaves: row.leaves.unsigned_abs(),
            removed: row.removed.unsigned_abs(),
            retention: Retention {
                days: days(row.retention_days),
                pending: pending.map(|(days, from)| PendingRetention { days, from }),
            },
        })
    }
}

/// Returns the right edge of a tree. Returns that of an empty tree if no tree of this size has these peaks: another
/// program has changed them. This is not an error here, because the other logs must continue. The note shows that this
/// log is not empty.
fn frontier(size: u64, peaks: &[u8]) -> Frontier {
    let peaks: Option<_> = peaks.chunks(32).map(|peak| Some(TreeHash(peak.try_into().ok()?))).collect();
    peaks.and_then(|peaks| Frontier::new(size, peaks)).unwrap_or_default()
}

/// Implements the ports that sequence the audit log; see [`store`](crate::store).
///
/// The store also has the methods `write_sequence`, `read_tree_hashes`, `read_sequenced_entries`,
/// `read_pending_entries` and `read_stray_entry`, because each database has its own way to read entries beside their
/// leaves and to write many rows.
#[macro_export]
macro_rules! sequence_ports {
    (
        $store:ident,
        $transaction:ident,
        pending: $pending:literal,
        log_heads: $log_heads:literal,
        $(distributed_log_head: $distributed_log_head:literal,)?
        sequence_of: $sequence_of:literal,
        audited_tenants: $audited_tenants:literal,
        first_since: $first_since:literal $(,)?
    ) => {
        const _: () = {
            use iam_model::audit::{
                LogHead, Pending, PendingEntry, SequencedBatch, SequencedEntry, TreeHash, TreeSpan,
            };
            use iam_model::clock::Timestamp;
            use iam_model::id::{AuditEntryId, TenantId};
            use iam_model::store::{AuditTransaction, SequenceStore};
            use iam_model::store_error::StoreError;
            use $crate::column::integer;
            use $crate::store::SqlStore;

            type PendingRow = $crate::sequence::PendingRow<<$store as SqlStore>::Moment>;
            type HeadRow = $crate::sequence::LogHeadRow<<$store as SqlStore>::Moment>;

            #[async_trait::async_trait]
            impl SequenceStore for $store {
                async fn pending(&self, except: &[TenantId], limit: u32) -> Result<Vec<Pending>, StoreError> {
                    let except = $store::ids(except.iter().map(|tenant| tenant.as_uuid()));
                    let rows = sqlx::query_as!(PendingRow, $pending, &except, i64::from(limit));
                    self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(Pending::try_from).collect()
                }

                async fn log_heads(&self, tenants: &[TenantId]) -> Result<Vec<LogHead>, StoreError> {
                    $(
                        if self.is_distributed().await? {
                            let mut heads = Vec::new();
                            for tenant in tenants {
                                let row = sqlx::query_as!(HeadRow, $distributed_log_head, tenant.as_uuid());
                                heads.extend(self.answer(row.fetch_optional(&self.reads())).await?);
                            }
                            return heads.into_iter().map(LogHead::try_from).collect();
                        }
                    )?
                    let tenants = $store::ids(tenants.iter().map(|tenant| tenant.as_uuid()));
                    let rows = sqlx::query_as!(HeadRow, $log_heads, &tenants);
                    self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(LogHead::try_from).collect()
                }

                async fn sequence(&self, batches: &[SequencedBatch]) -> Result<bool, StoreError> {
                    self.write_sequence(batches).await
                }

                async fn sequence_of(&self, tenant: TenantId, id: AuditEntryId) -> Result<Option<u64>, StoreError> {
                    let sequence = sqlx::query_scalar!($sequence_of, tenant.as_uuid(), id.as_uuid());
                    Ok(self.answer(sequence.fetch_optional(&self.reads())).await?.map(i64::unsigned_abs))
                }

                async fn tree_hashes(&self, tenant: TenantId, spans: &[TreeSpan]) -> Result<Vec<TreeHash>, StoreError> {
                    self.read_tree_hashes(tenant, spans).await
                }

                async fn audited_tenants(&self) -> Result<Vec<TenantId>, StoreError> {
                    let tenants = self.answer(sqlx::query_scalar!($audited_tenants).fetch_all(&self.reads())).await?;
                    Ok(tenants.into_iter().map(TenantId::from).collect())
                }

                async fn sequenced_entries(
                    &self,
                    tenant: TenantId,
                    from: u64,
                    limit: u32,
                ) -> Result<Vec<SequencedEntry>, StoreError> {
                    self.read_sequenced_entries(tenant, from, limit).await
                }

                async fn pending_entries(
                    &self,
                    tenant: TenantId,
                    after: Option<(Timestamp, AuditEntryId)>,
                    limit: u32,
                ) -> Result<Vec<PendingEntry>, StoreError> {
                    self.read_pending_entries(tenant, after, limit).await
                }

                async fn stray_entry(&self, tenant: TenantId) -> Result<Option<AuditEntryId>, StoreError> {
                    self.read_stray_entry(tenant).await
                }
            }

            #[async_trait::async_trait]
            impl AuditTransaction for $transaction {
                async fn log_head(&mut self) -> Result<Option<LogHead>, StoreError> {
                    $(
                        if self.is_distributed() {
                            let row = sqlx::query_as!(HeadRow, $distributed_log_head, self.tenant());
                            let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                            return row.map(LogHead::try_from).transpose();
                        }
                    )?
                    let row = sqlx::query_as!(HeadRow, $log_heads, &$store::ids([self.tenant()]));
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    row.map(LogHead::try_from).transpose()
                }

                async fn first_sequenced_since(
                    &mut self,
                    from: u64,
                    moment: Timestamp,
                ) -> Result<Option<u64>, StoreError> {
                    let first = sqlx::query_scalar!($first_since, self.tenant(), integer(from), $store::stored(moment));
                    let first = first.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    Ok(first.map(i64::unsigned_abs))
                }
            }
        };
    };
}
