//! The deletion of whole tenants (`docs/operating.md#deleted-tenants`).

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::TenantId;
use crate::store_error::BoxError;
use crate::validate::{Reason, Slug};

/// The deletion of a tenant. It waits, and can be called off, until it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantDeletion {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The instant at which it begins at the earliest.
    pub due_at: Timestamp,
    /// Whether the entries of the audit log stay. Its hashes always do.
    pub keeps_log: bool,
    /// Why, in the words of the operator: 1–500 characters.
    pub reason: Reason,
    /// When it was scheduled.
    pub scheduled_at: Timestamp,
    /// When it began; `None` while it waits.
    pub begun_at: Option<Timestamp>,
    /// What the tenant had when it began; `None` while it waits.
    pub contents: Option<TenantContents>,
}

impl TenantDeletion {
    /// The longest time that a deletion waits.
    pub const MAX_WAIT: TimeDelta = TimeDelta::days(366);

    /// Whether it can begin at a moment.
    #[must_use]
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.due_at <= now
    }
}

/// How much a tenant has, of the kinds that are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantContents {
    /// Users in any status.
    pub users: u64,
    /// Organizations in any status.
    pub organizations: u64,
    /// Roles, with the built-in ones.
    pub roles: u64,
    /// Role assignments.
    pub assignments: u64,
    /// Entries of the audit log that are not removed, also those that are pending.
    pub entries: u64,
    /// Legal holds, which stop the deletion.
    pub legal_holds: u64,
}

/// What is recorded outside of the database when a tenant is deleted. After a restore from a backup, it says which tenants
/// must be deleted again.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletedTenant {
    /// The tenant.
    pub tenant_id: TenantId,
    /// Its name in URLs; `None` if it was gone before the record was written.
    pub slug: Option<Slug>,
    /// When its deletion began.
    pub deleted_at: Timestamp,
    /// Whether the entries of the audit log stay.
    pub keeps_log: bool,
    /// Why, in the words of the operator.
    pub reason: Reason,
    /// What it had.
    pub contents: TenantContents,
    /// The number of entries in the tree of the log.
    pub log_size: u64,
    /// The root hash of that tree, in base64.
    pub log_root: String,
}

/// Keeps records of deleted tenants outside of the database.
#[async_trait]
pub trait DeletionRecord: Send + Sync {
    /// Keeps a record durably. It may be called again for the same tenant.
    async fn record(&self, deleted: &DeletedTenant) -> Result<(), BoxError>;
}
