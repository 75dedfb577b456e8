use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::attribute::Attributes;
use crate::clock::Timestamp;
use crate::id::{DirectoryId, TenantId, UserId};
use crate::text::{controls_text, folded};
use crate::user::User;
use crate::validate::Invalid;
use crate::version::Version;

/// What a directory says of a user. A user belongs to one directory at most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryUser {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The directory.
    pub directory_id: DirectoryId,
    /// The user.
    pub user_id: UserId,
    /// The name of the user in the directory.
    pub user_name: DirectoryName,
    /// The other attributes as the directory has sent them, by their names in SCIM: `name`, `displayName`, `emails`, …
    /// At most 16 KiB.
    pub attributes: Map<String, Value>,
    /// When the directory deleted the user; `None` if it has not.
    pub deleted_at: Option<Timestamp>,
    /// When the directory made the user, or adopted it.
    pub created_at: Timestamp,
    /// When the directory changed it last.
    pub updated_at: Timestamp,
    /// The version of the row.
    pub version: Version,
}

impl DirectoryUser {
    /// The maximum size of the attributes, in bytes of JSON.
    pub const MAX_ATTRIBUTES: usize = 16 * 1024;

    /// Returns the entry after a change at a moment. The store raises the version by the same step.
    #[must_use]
    pub fn changed(self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.next(), ..self }
    }

    /// Returns the fields that the audit log records.
    pub(crate) fn audited(&self) -> Value {
        serde_json::json!({ "userName": self.user_name.as_str(), "attributes": self.attributes })
    }
}

/// A user of a directory, with what the directory says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvisionedUser {
    /// The user.
    pub user: User,
    /// What the directory says of it.
    pub entry: DirectoryUser,
    /// The attributes of the user that the directory sees. Stores leave them out: the service reads them if the tenant
    /// has such attributes.
    pub attributes: Attributes,
}

impl ProvisionedUser {
    /// Returns a user of a directory without attributes.
    #[must_use]
    pub fn new(user: User, entry: DirectoryUser) -> Self {
        Self { user, entry, attributes: Attributes::default() }
    }

    /// When the user was changed last, by the directory or by another caller.
    #[must_use]
    pub fn last_modified(&self) -> Timestamp {
        self.user.updated_at.max(self.entry.updated_at)
    }
}

/// The name of a user or a group in its directory (RFC 7643, sections 4.1.1 and 4.2): 1 to 255 characters without control
/// characters. It is kept as sent, and unique in the directory without regard to case.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DirectoryName(String);

impl DirectoryName {
    /// The text as sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the form by which names are compared.
    #[must_use]
    pub fn key(&self) -> String {
        folded(&self.0)
    }
}

impl FromStr for DirectoryName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_valid =
            (1..=255).contains(&text.chars().count()) && !text.chars().any(controls_text) && !text.trim().is_empty();
        if is_valid { Ok(Self(text.to_owned())) } else { Err(Invalid::new("must be 1 to 255 characters")) }
    }
}

impl fmt::Display for DirectoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

serde_by_text! { DirectoryName }
