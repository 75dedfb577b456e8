use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::audit::{ResourceType, Salts};
use crate::clock::Timestamp;
use crate::context::RequestContext;
use crate::id::{AuditEntryId, OrganizationId, TenantId, UserId};

/// One recorded event. Only an erasure of personal fields changes an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// The identifier of the entry; newer entries have greater identifiers.
    pub id: AuditEntryId,
    /// The tenant that the entry belongs to.
    pub tenant_id: TenantId,
    /// What happened, for instance `USER_SUSPENDED`.
    pub action: Cow<'static, str>,
    /// The type of the resource that it happened to.
    pub resource_type: ResourceType,
    /// The resource; `None` for a failed login, and for an event of the application that names none.
    pub resource_id: Option<String>,
    /// The organization that the entry is about, or in which the event happened.
    pub organization_id: Option<OrganizationId>,
    /// The acting user; `None` for trusted code and for a failed login.
    pub user_id: Option<UserId>,
    /// The values before, of the changed fields only.
    pub old_value: Option<Map<String, Value>>,
    /// The values after, of the changed fields only.
    pub new_value: Option<Map<String, Value>>,
    /// Further data about the event.
    pub metadata: Map<String, Value>,
    /// The request in which it happened.
    pub context: RequestContext,
    /// When it happened.
    pub created_at: Timestamp,
    /// The salts that keep its personal fields from being guessed from its hash.
    pub salts: Salts,
}

impl AuditEntry {
    /// Returns the type of the event: its resource type and its action, such as `USER.CREATE`.
    #[must_use]
    pub fn event_type(&self) -> String {
        format!("{}.{}", self.resource_type.as_str(), self.action)
    }
}
