use iam_model::clock::Timestamp;
use iam_model::error::Result;
use iam_model::id::{TenantId, UserId};
use iam_model::secret::Password;
use iam_model::user::{User, UserStatus};
use iam_model::validate::{Email, Fields, Invalid, PersonName};
use iam_model::version::Version;

use crate::hashing::{AcceptedPassword, accept_password};

/// The input for a new user, as typed; see [`Users::create`](crate::user::Users::create).
#[derive(Clone, Debug)]
pub struct NewUser {
    /// At most 254 characters, unique in the tenant.
    pub email: String,
    /// 8–128 characters with an upper-case and a lower-case letter, a digit and one of `!@#$%^&*`.
    pub password: Password,
    /// 1–100 characters.
    pub first_name: String,
    /// 1–100 characters.
    pub last_name: String,
}

/// The valid fields of a new user, with its password or the hash of it.
pub(crate) struct NewProfile<P = AcceptedPassword> {
    pub(crate) email: Email,
    pub(crate) password: P,
    pub(crate) first_name: PersonName,
    pub(crate) last_name: PersonName,
}

impl NewUser {
    /// Checks every field, and adds the errors to those that `fields` contains already.
    pub(crate) fn validate(self, fields: Fields) -> Result<NewProfile> {
        let password = ("password", accept_password(self.password));
        NewProfile::validate(&self.email, password, &self.first_name, &self.last_name, fields)
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
            email: self.email.clone(),
            email_verified_at: None,
            first_name: self.first_name.clone(),
            last_name: self.last_name.clone(),
            status: UserStatus::Active,
            last_login_at: None,
            created_at: now,
            updated_at: now,
            version: Version::FIRST,
        }
    }
}

/// Changes of a user. A field that is `None` stays unchanged.
#[derive(Clone, Debug, Default)]
pub struct UserPatch {
    /// At most 254 characters, unique in the tenant.
    pub email: Option<String>,
    /// 1–100 characters.
    pub first_name: Option<String>,
    /// 1–100 characters.
    pub last_name: Option<String>,
    /// Any of the three statuses; see [`Users::update`](crate::user::Users::update).
    pub status: Option<UserStatus>,
}

/// A [`UserPatch`] with valid fields.
pub(super) struct ValidPatch {
    pub(super) email: Option<Email>,
    first_name: Option<PersonName>,
    last_name: Option<PersonName>,
    pub(super) status: Option<UserStatus>,
}

impl UserPatch {
    pub(super) fn validate(&self) -> Result<ValidPatch> {
        let mut fields = Fields::default();
        let patch = ValidPatch {
            email: fields.check_optional("email", self.email.as_deref()),
            first_name: fields.check_optional("firstName", self.first_name.as_deref()),
            last_name: fields.check_optional("lastName", self.last_name.as_deref()),
            status: self.status,
        };
        fields.finish()?;
        Ok(patch)
    }
}

impl ValidPatch {
    /// Whether the patch sets the status or the e-mail, which may raise the rights of a user.
    pub(super) fn may_raise_rights(&self) -> bool {
        self.status.is_some() || self.email.is_some()
    }

    /// Returns the user with the patch applied.
    pub(super) fn apply(self, before: &User, now: Timestamp) -> User {
        let mut after = before.clone();
        if let Some(email) = self.email.filter(|email| *email != before.email) {
            after.email = email;
            after.email_verified_at = None;
        }
        after.first_name = self.first_name.unwrap_or(after.first_name);
        after.last_name = self.last_name.unwrap_or(after.last_name);
        after.status = self.status.unwrap_or(after.status);
        if after == *before { after } else { after.changed(now) }
    }
}
