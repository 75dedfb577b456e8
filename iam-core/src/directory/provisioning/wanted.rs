use std::str::FromStr;

use iam_model::clock::Timestamp;
use iam_model::directory::{DirectoryName, DirectoryUser, ProvisionedUser};
use iam_model::id::DirectoryId;
use iam_model::user::{User, UserStatus};
use iam_model::validate::{Email, ExternalId, Invalid, PersonName};
use iam_model::version::Version;
use iam_scim::user::UserResource;
use iam_scim::{ScimError, ScimType};
use serde_json::{Map, Value};

/// What a directory wants a user to be: a resource with valid values, and the profile that follows from it.
pub(super) struct Wanted {
    pub(super) user_name: DirectoryName,
    pub(super) external_id: Option<ExternalId>,
    /// `None` if it says nothing of it.
    pub(super) active: Option<bool>,
    pub(super) attributes: Map<String, Value>,
    pub(super) email: Email,
    pub(super) first_name: PersonName,
    pub(super) last_name: PersonName,
    /// The attributes that the tenant has defined; `None` if it says nothing of them.
    pub(super) custom: Option<Map<String, Value>>,
}

/// Returns the resource of a user: what the directory has said of it, the attributes that the directory sees, and whether
/// it is ACTIVE.
#[must_use]
pub fn resource_of(found: &ProvisionedUser) -> UserResource {
    UserResource {
        user_name: found.entry.user_name.as_str().to_owned(),
        external_id: found.user.external_id.as_ref().map(|id| id.as_str().to_owned()),
        active: Some(found.user.status == UserStatus::Active),
        attributes: found.entry.attributes.clone(),
        custom: (!found.attributes.is_empty()).then(|| found.attributes.clone().into()),
    }
}

impl Wanted {
    pub(super) fn of(resource: UserResource) -> Result<Self, ScimError> {
        let profile = resource.profile()?;
        let UserResource { user_name, external_id, active, attributes, custom } = resource;
        Ok(Self {
            user_name: valid("userName", &user_name)?,
            external_id: external_id.map(|text| valid("externalId", &text)).transpose()?,
            active,
            attributes,
            email: valid("emails", &profile.email)?,
            first_name: valid("name", &profile.first_name)?,
            last_name: valid("name", &profile.last_name)?,
            custom,
        })
    }

    /// Whether it says something else of a user than before, apart from what is kept with the user itself.
    pub(super) fn differs_from(&self, entry: &DirectoryUser) -> bool {
        self.user_name != entry.user_name || self.attributes != entry.attributes
    }

    /// Returns the status of a user with this one. A directory that says nothing changes nothing, and one that says
    /// `false` of a deleted user says nothing new.
    pub(super) fn status(&self, before: UserStatus) -> UserStatus {
        match (self.active, before) {
            (Some(true), _) => UserStatus::Active,
            (Some(false), UserStatus::Active) => UserStatus::Suspended,
            (Some(false) | None, before) => before,
        }
    }

    /// Returns a user with the names of the profile.
    pub(super) fn named(&self, before: &User) -> User {
        User { first_name: self.first_name.clone(), last_name: self.last_name.clone(), ..before.clone() }
    }

    /// Returns a user with the names and the e-mail of the profile. Another address is verified if its domain is. Another
    /// spelling of the same address is not another one.
    pub(super) fn profiled(&self, before: &User, is_domain_verified: bool, now: Timestamp) -> User {
        let named = self.named(before);
        if self.email.is_same_mailbox(&before.email) {
            return named;
        }
        User { email: self.email.clone(), email_verified_at: is_domain_verified.then_some(now), ..named }
    }

    /// Returns a new entry of a user.
    pub(super) fn entry(self, directory: DirectoryId, user: &User, now: Timestamp) -> DirectoryUser {
        DirectoryUser {
            tenant_id: user.tenant_id,
            directory_id: directory,
            user_id: user.id,
            user_name: self.user_name,
            attributes: self.attributes,
            deleted_at: None,
            created_at: now,
            updated_at: now,
            version: Version::FIRST,
        }
    }

    /// Returns an entry after the change. A user whom the directory had deleted is there again.
    pub(super) fn applied_to(self, entry: &DirectoryUser) -> DirectoryUser {
        let Self { user_name, attributes, .. } = self;
        DirectoryUser { user_name, attributes, deleted_at: None, ..entry.clone() }
    }
}

/// Returns the value of an attribute.
pub(super) fn valid<T: FromStr<Err = Invalid>>(attribute: &str, text: &str) -> Result<T, ScimError> {
    let refused = |invalid: Invalid| ScimError::bad_request(ScimType::InvalidValue, format!("{attribute} {invalid}"));
    text.parse().map_err(refused)
}
