use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{ResourceType, Salts};
use crate::caller::RequestContext;
use crate::clock::Timestamp;
use crate::id::{AuditEntryId, OrganizationId, TenantId, UserId};

/// One thing that happened. Entries are never changed.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// Names the entry; newer entries have greater identifiers.
    pub id: AuditEntryId,
    /// The tenant it belongs to.
    pub tenant_id: TenantId,
    /// What happened, for instance `USER_SUSPENDED`.
    pub action: Cow<'static, str>,
    /// What kind of thing it happened to.
    pub resource_type: ResourceType,
    /// Which one; `None` for a failed login.
    pub resource_id: Option<String>,
    /// The organization that it is about, or in which it happened.
    pub organization_id: Option<OrganizationId>,
    /// Who did it; `None` for trusted code and for a failed login.
    pub user_id: Option<UserId>,
    /// The values before, of the changed fields only.
    pub old_value: Option<Map<String, Value>>,
    /// The values after, of the changed fields only.
    pub new_value: Option<Map<String, Value>>,
    /// Whatever else is worth keeping.
    pub metadata: Map<String, Value>,
    /// The request in which it happened.
    pub context: RequestContext,
    /// When it happened.
    pub created_at: Timestamp,
    /// What keeps its personal fields from being guessed from its hash.
    pub salts: Salts,
}

/// The entries that record a change, for a store to write with it.
///
/// Only [`UnitOfWork`](crate::UnitOfWork) makes one, from the change.
#[derive(Debug)]
pub struct AuditBatch(pub(crate) Vec<AuditEntry>);

impl AuditBatch {
    /// The entries, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[AuditEntry] {
        &self.0
    }

    /// The entries themselves, oldest first.
    #[must_use]
    pub fn into_entries(self) -> Vec<AuditEntry> {
        self.0
    }

    /// No entries, for tests of a store and for benchmarks of what entries cost.
    #[cfg(feature = "conformance")]
    #[must_use]
    pub fn empty() -> Self {
        Self(Vec::new())
    }
}
