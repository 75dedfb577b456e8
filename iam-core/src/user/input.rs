use iam_model::attribute::AttributesPatch;
use iam_model::clock::Timestamp;
use iam_model::error::{Error, Result};
use iam_model::id::{OrganizationId, TenantId, UserId};
use iam_model::secret::Password;
use iam_model::user::{User, UserKind, UserStatus};
use iam_model::validate::{Email, ExternalId, Fields, Invalid, PersonName};
use iam_model::version::Version;
use serde_json::{Map, Value};

use crate::password::{CheckedPassword, Owner, TenantRules};
use crate::patch::{attributes, patch, text, text_or_none, value};

/// The input for a new user, as typed; see [`Users::create`](crate::user::Users::create).
#[derive(Clone, Debug)]
pub struct NewUser {
    /// At most 254 characters, unique in the tenant.
    pub email: String,
    /// By the [policy](iam_model::tenant::PasswordPolicy) of the tenant: by default 8–128 characters with an upper-case
    /// and a lower-case letter, a digit and one of `!@#$%^&*`.
    pub password: Password,
    /// 1–100 characters.
    pub first_name: String,
    /// 1–100 characters.
    pub last_name: String,
}

/// The valid fields of a new user, with its password or the hash of it.
pub(crate) struct NewProfile<P = CheckedPassword> {
    pub(crate) email: Email,
    pub(crate) password: P,
    pub(crate) first_name: PersonName,
    pub(crate) last_name: PersonName,
}

impl NewUser {
    /// Checks every field, and adds the errors to those that `fields` contains already.
    pub(crate) fn validate(self, fields: Fields, rules: TenantRules<'_>) -> Result<NewProfile> {
        let Self { email, password, first_name, last_name } = self;
        let owner = Owner { email: &email, first_name: &first_name, last_name: &last_name, ..Owner::default() };
        let password = ("password", rules.check(password, owner));
        NewProfile::validate(&email, password, &first_name, &last_name, fields)
    }
}

impl<P> NewProfile<P> {
    /// Checks every field, and adds the errors to those that `fields` contains already.
    pub(super) fn validate(
        email: &str,
        (field, password): (&str, Result<P, Invalid>),
        first_name: &str,
        last_name: &str,
        mut fields: Fields,
    ) -> Result<Self> {
        let email = fields.check("email", email.parse());
        let password = fields.check(field, password);
        let first_name = fields.check("firstName", first_name.parse());
        let last_name = fields.check("lastName", last_name.parse());
        match (email, password, first_name, last_name) {
            (Some(email), Some(password), Some(first_name), Some(last_name)) => {
                fields.finish()?;
                Ok(Self { email, password, first_name, last_name })
            }
            _ => Err(fields.into_error().into()),
        }
    }

    /// Returns the user, ACTIVE and without a login.
    pub(crate) fn user(&self, id: UserId, tenant_id: TenantId, now: Timestamp) -> User {
        User {
            id,
            tenant_id,
            kind: UserKind::Human,
            email: self.email.clone(),
            email_verified_at: None,
            first_name: self.first_name.clone(),
            last_name: self.last_name.clone(),
            external_id: None,
            home_organization_id: None,
            status: UserStatus::Active,
            last_login_at: None,
            created_at: now,
            updated_at: now,
            version: Version::FIRST,
        }
    }
}

/// The input for a new service account, as typed; see
/// [`Users::create_service_account`](crate::user::Users::create_service_account).
#[derive(Clone, Debug)]
pub struct NewServiceAccount {
    /// 1–100 characters.
    pub name: String,
}

impl NewServiceAccount {
    /// Checks the name.
    pub(super) fn validate(&self) -> Result<PersonName> {
        let mut fields = Fields::default();
        let name = fields.check("name", self.name.parse());
        name.ok_or_else(|| fields.into_error().into())
    }
}

/// Returns a service account, ACTIVE and without keys.
///
/// # Errors
///
/// [`Error::Internal`] if a placeholder were invalid.
pub(super) fn service_account(id: UserId, tenant_id: TenantId, name: PersonName, now: Timestamp) -> Result<User> {
    Ok(User {
        id,
        tenant_id,
        kind: UserKind::Service,
        // The domain receives no mail (RFC 6761 §6.4).
        email: placeholder(format!("{id}@service.invalid").parse())?,
        email_verified_at: None,
        first_name: name,
        last_name: placeholder("Service account".parse())?,
        external_id: None,
        home_organization_id: None,
        status: UserStatus::Active,
        last_login_at: None,
        created_at: now,
        updated_at: now,
        version: Version::FIRST,
    })
}

fn placeholder<T>(parsed: Result<T, Invalid>) -> Result<T> {
    parsed.map_err(|cause| Error::internal("placeholder of a service account", cause))
}

patch! {
    /// Changes of a user. A field that is `None` stays unchanged.
    UserPatch of User with {
        /// Attributes by key: a value replaces that of its key, `null` removes the key, and other keys stay.
        attributes: Map<String, Value> => AttributesPatch = attributes("attributes"),
    } {
        /// At most 254 characters, unique in the tenant. A new address is not verified. Only for a person, as both
        /// names.
        email: String => email: Email = text("email"),
        /// 1–100 characters.
        first_name: String => first_name: PersonName = text("firstName"),
        /// 1–100 characters.
        last_name: String => last_name: PersonName = text("lastName"),
        /// 1–255 characters, unique in the tenant; `Some(None)` removes it. Only for a person.
        external_id: Option<String> => external_id: Option<ExternalId> = text_or_none("externalId"),
        /// 1–100 characters. Only for a service account.
        name: String => first_name: PersonName = text("name"),
        /// The new home; `Some(None)` for the tenant. Needs `users:update` tenant-wide.
        home: Option<OrganizationId> => home_organization_id: Option<OrganizationId> = value("homeOrganizationId"),
        /// Any of the three statuses; see [`Users::update`](crate::user::Users::update).
        status: UserStatus => status: UserStatus = value("status"),
    }
}

impl ValidPatch {
    /// Checks that the patch has only fields that a user of this kind has.
    pub(super) fn check_kind(&self, kind: UserKind) -> Result<()> {
        let mut fields = Fields::default();
        for (field, is_given, of_kind) in [
            ("email", self.email.is_some(), UserKind::Human),
            ("firstName", self.first_name.is_some(), UserKind::Human),
            ("lastName", self.last_name.is_some(), UserKind::Human),
            ("externalId", self.external_id.is_some(), UserKind::Human),
            ("name", self.name.is_some(), UserKind::Service),
        ] {
            if is_given && kind != of_kind {
                fields.reject(field, format!("a user of kind {kind} has no such field"));
            }
        }
        Ok(fields.finish()?)
    }

    /// Whether the patch sets the e-mail or the external identifier, by which a person may come into the account.
    pub(super) fn renames(&self) -> bool {
        self.email.is_some() || self.external_id.is_some()
    }

    /// Whether the patch [renames](Self::renames) the user, or sets the home, which decides who may do that.
    pub(super) fn takes_over(&self) -> bool {
        self.renames() || self.home.is_some()
    }

    /// Whether the patch names anything beside the status.
    pub(super) fn names_more_than_status(&self) -> bool {
        self.takes_over()
            || self.first_name.is_some()
            || self.last_name.is_some()
            || self.name.is_some()
            || self.attributes.as_ref().is_some_and(|attributes| !attributes.is_empty())
    }
}
