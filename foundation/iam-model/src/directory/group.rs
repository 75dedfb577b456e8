use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::directory::DirectoryName;
use crate::id::{DirectoryGroupId, DirectoryId, TenantId};
use crate::role::PlacedRole;
use crate::validate::ExternalId;
use crate::version::Version;

/// A group of a directory. Its name and its members grant nothing: its members hold the roles to which people map it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryGroup {
    /// Identifies the group.
    pub id: DirectoryGroupId,
    /// The tenant.
    pub tenant_id: TenantId,
    /// The directory.
    pub directory_id: DirectoryId,
    /// The name of the group, unique in the directory without regard to case.
    pub display_name: DirectoryName,
    /// How the directory names the group itself.
    pub external_id: Option<ExternalId>,
    /// The number of its members, who are users of the directory.
    pub members: u32,
    /// The roles that its members hold, each once, at most [`MAX_GRANTS`](Self::MAX_GRANTS).
    pub grants: Vec<PlacedRole>,
    /// When the directory made it.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// The version of the row with the members and the grants.
    pub version: Version,
}

impl DirectoryGroup {
    /// The maximum number of groups of a directory.
    pub const MAX: u64 = 10_000;

    /// The maximum number of members of a group.
    pub const MAX_MEMBERS: u32 = 5_000;

    /// The maximum number of roles of a group.
    pub const MAX_GRANTS: usize = 20;

    /// Returns the group after a change of other fields at a moment. The store raises the version by the same step.
    #[must_use]
    pub fn changed(self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.next(), ..self }
    }

    /// Returns the fields that the audit log records: of the members, the number.
    pub(crate) fn audited(&self) -> Value {
        json!({
            "displayName": self.display_name.as_str(),
            "externalId": self.external_id,
            "members": self.members,
            "grants": self.grants,
        })
    }
}
