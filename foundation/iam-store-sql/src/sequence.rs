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
