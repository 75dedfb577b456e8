use iam_model::directory::Directory;
use iam_model::error::Result;
use iam_model::id::{IdentityProviderId, UserId};
use iam_model::validate::{Fields, Name};

use crate::patch::{patch, text, value};

/// The input for a new directory, as typed; see [`Directories::create`](crate::directory::Directories::create).
#[derive(Clone, Debug)]
pub struct NewDirectory {
    /// 1–120 characters.
    pub name: String,
    /// The service account whose API keys the directory uses. It is ACTIVE and has no other directory.
    pub service_account: UserId,
    /// The provider by which the users of the directory log in; `None` if they log in by other means.
    pub identity_provider: Option<IdentityProviderId>,
    /// Whether the directory takes over users of the tenant who have the address of one of its own.
    pub adopt: bool,
}

impl NewDirectory {
    /// Checks the name.
    pub(super) fn validate(&self) -> Result<Name> {
        let mut fields = Fields::default();
        let name = fields.check("name", self.name.parse());
        name.ok_or_else(|| fields.into_error().into())
    }
}

patch! {
    /// Changes of a directory. A field that is `None` stays unchanged.
    DirectoryPatch of Directory {
        /// 1–120 characters.
        name: String => name: Name = text("name"),
        /// The provider by which the users of the directory log in; `Some(None)` if they log in by other means.
        identity_provider: Option<IdentityProviderId> => identity_provider_id: Option<IdentityProviderId> =
            value("identityProviderId"),
        /// Whether the directory takes over users of the tenant who have the address of one of its own.
        adopt: bool => adopt: bool = value("adopt"),
    }
}

/// What happens to the users of a directory that is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletedUsers {
    /// Nothing: they stay, and belong to no directory.
    Keep,
    /// Those who are ACTIVE are suspended. They all stay, and belong to no directory.
    Suspend,
}
