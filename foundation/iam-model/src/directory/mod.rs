//! Directories: where the identity provider of a company writes its people and groups (`docs/directories.md`).

mod condition;
mod group;
#[cfg(test)]
pub(crate) mod tests;
mod user;

pub use condition::{
    Condition, EmailField, EmailTest, GroupMoment, GroupSortField, GroupTest, GroupText, Order, TextOperator,
    UserMoment, UserSortField, UserTest, UserText,
};
pub use group::DirectoryGroup;
pub use user::{DirectoryName, DirectoryUser, ProvisionedUser};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::id::{DirectoryId, IdentityProviderId, TenantId, UserId};
use crate::validate::Name;
use crate::version::Version;

/// A directory. What it writes is authorized by the rights of its service account, whose API keys it uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Directory {
    /// Identifies the directory.
    pub id: DirectoryId,
    /// The tenant.
    pub tenant_id: TenantId,
    /// A name for people.
    pub name: Name,
    /// The service account whose keys the directory uses. It has no other directory.
    pub service_account_id: UserId,
    /// The provider by which the users of the directory log in; `None` if they log in by other means.
    pub identity_provider_id: Option<IdentityProviderId>,
    /// Whether the directory takes over users of the tenant who have the address of one of its own.
    pub adopt: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// The version of the row.
    pub version: Version,
}

impl Directory {
    /// The maximum number of directories of a tenant.
    pub const MAX: usize = 10;

    /// Returns the directory after a change of other fields at a moment. The store raises the version by the same step.
    #[must_use]
    pub fn changed(self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.next(), ..self }
    }

    /// Returns the fields that the audit log records.
    pub(crate) fn audited(&self) -> Value {
        json!({
            "name": self.name.as_str(),
            "serviceAccountId": self.service_account_id,
            "identityProviderId": self.identity_provider_id,
            "adopt": self.adopt,
        })
    }
}

/// What a directory has sent last. No rule depends on it, so it is neither audited nor a part of the version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryActivity {
    /// When its last request arrived; `None` if none has.
    pub last_request_at: Option<Timestamp>,
    /// The requests that were refused, newest first, at most [`MAX`](DirectoryRefusal::MAX).
    pub refusals: Vec<DirectoryRefusal>,
}

/// A request of a directory that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryRefusal {
    /// When.
    pub at: Timestamp,
    /// The method and the path, for instance `POST /Users`: at most 100 characters.
    pub request: String,
    /// The status code of the answer.
    pub status: u16,
    /// Why: at most 300 characters. It names no person.
    pub detail: String,
}

impl DirectoryRefusal {
    /// The number of refusals that are kept for each directory.
    pub const MAX: usize = 20;
}
