use std::collections::HashSet;

use iam_model::attribute::{AttributeDefinitions, Attributes};
use iam_model::change::UserChange;
use iam_model::context::Actor;
use iam_model::credential::Account;
use iam_model::error::{Conflict, Result};
use iam_model::permission;
use iam_model::secret::PasswordHash;
use iam_model::tenant::QuotaKind;
use iam_model::user::{User, UserStatus};
use iam_model::validate::{EmailKey, Fields};
use serde_json::{Map, Value};

use crate::attribute::new_attributes;
use crate::caller::Caller;
use crate::engine::{Engine, hold_quota};
use crate::user::{NewProfile, Users};

/// A user of another system; see [`Users::import`].
#[derive(Clone, Debug)]
pub struct ImportedUser {
    /// At most 254 characters, unique in the tenant.
    pub email: String,
    /// 1–100 characters.
    pub first_name: String,
    /// 1–100 characters.
    pub last_name: String,
    /// The hash of the password, as the other system stored it:
    ///
    /// - Argon2 (`$argon2id$…`, `$argon2i$…`, `$argon2d$…`), at most 256 MiB, 16 passes, 16 lanes, and 1 GiB times
    ///   passes;
    /// - PBKDF2 with SHA-1, SHA-256 or SHA-512, in PHC string form (`$pbkdf2-sha256$i=600000$…`), passlib's
    ///   (`$pbkdf2-sha256$29000$…`) or Django's (`pbkdf2_sha256$600000$…`), at most 2,000,000 rounds times blocks of
    ///   output;
    /// - bcrypt (`$2a$…`, `$2b$…`, `$2y$…`), at most cost 14, with the feature `bcrypt`.
    ///
    /// These limits are for trusted code. A hash that a user imports may cost at most twice as much to verify as a hash
    /// of this installation, and need at most 64 MiB.
    pub password_hash: PasswordHash,
    /// ACTIVE or SUSPENDED.
    pub status: UserStatus,
    /// The attributes. A text under a key that the tenant has defined with another type is read as JSON of that type,
    /// because a CSV file has nothing but texts.
    pub attributes: Map<String, Value>,
}

/// Imports users of another system, one after the other; see [`Users::import`].
pub struct Import<'a> {
    iam: &'a Engine,
    caller: &'a Caller,
    is_dry_run: bool,
    /// The e-mails that a dry run has checked.
    seen: HashSet<EmailKey>,
}

impl<'a> Users<'a> {
    /// Imports users with the password hashes that another system stored. Needs `users:create`.
    ///
    /// When its user logs in for the first time, a hash is verified unchanged, and then replaced by a hash that is
    /// made here. A refused login takes as long as the most expensive hash that a user can import, and in a tenant
    /// with more expensive hashes as long as these. So the time of the answer does not distinguish such an account from
    /// an account that does not exist, except for the more expensive hashes: at the first login with one after a start,
    /// and in a login that names no tenant.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use iam_store_memory::MemoryStore;
    /// # use iam_core::tenant::Registration;
    /// # use iam_core::user::NewUser;
    /// # use iam_core::{Iam, RequestContext};
    /// use iam_core::session::Login;
    /// use iam_core::user::{ImportedUser, UserStatus};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> iam_core::Result<()> {
    /// # let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await?;
    /// # let user = NewUser {
    /// #     email: "ada@example.com".into(),
    /// #     password: "Passw0rd!".into(),
    /// #     first_name: "Ada".into(),
    /// #     last_name: "Lovelace".into(),
    /// # };
    /// # let ada = iam.tenants().register(&RequestContext::default(), Registration { user, tenant_name: None }).await?.login;
    /// # let caller = iam.authenticate(ada.tokens.access.expose(), RequestContext::default()).await?;
    /// let users = vec![ImportedUser {
    ///     email: "grace@example.com".into(),
    ///     first_name: "Grace".into(),
    ///     last_name: "Hopper".into(),
    ///     password_hash: "$pbkdf2-sha256$i=10000,l=32$AAECAwQFBgcICQoLDA0ODw$Gt0SUk92S9Hllj+2Ruap8Zp7vtcbAoZrqx4OD9gt0/I".into(),
    ///     status: UserStatus::Active,
    ///     attributes: serde_json::Map::new(),
    /// }];
    /// let mut import = iam.users().import(&caller)?.dry_run();
    /// for user in users {
    ///     if let Err(error) = import.add(user).await {
    ///         println!("{error}"); // and continues with the next user
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](iam_model::error::Error::Forbidden).
    pub fn import(&self, caller: &'a Caller) -> Result<Import<'a>> {
        self.0.rights(caller).require(&permission::USERS_CREATE)?;
        Ok(Import { iam: self.0, caller, is_dry_run: false, seen: HashSet::new() })
    }
}

impl Import<'_> {
    /// Creates no users, and only reports which users would be refused. Remembers the e-mails, to find duplicates.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.is_dry_run = true;
        self
    }

    /// Creates a user with its audit entry, or neither. A dry run returns `None`. After an error, the next user can
    /// be added, unless the store has failed. Needs `users:create` for each user, as [`Users::create`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](iam_model::error::Error::Forbidden),
    /// [`Error::Unauthenticated`](iam_model::error::Error::Unauthenticated) when the session has ended,
    /// [`Error::Validation`](iam_model::error::Error::Validation) which names every invalid field,
    /// [`Conflict::EmailTaken`].
    pub async fn add(&mut self, user: ImportedUser) -> Result<Option<User>> {
        // An import takes long, and its caller can lose the permission in between.
        let caller = &self.iam.renewed(self.caller).await?;
        self.iam.rights(caller).require(&permission::USERS_CREATE)?;
        let ImportedUser { email, first_name, last_name, password_hash, status, attributes } = user;
        let mut fields = Fields::default();
        if !matches!(status, UserStatus::Active | UserStatus::Suspended) {
            fields.reject("status", "must be ACTIVE or SUSPENDED");
        }
        let attributes = match attributes.is_empty() {
            true => Attributes::default(),
            false => {
                let rules = self.iam.attribute_rules(caller.tenant()).await?;
                new_attributes(&mut fields, &typed(attributes, &rules.users), rules.of_users())
            }
        };
        let is_trusted = matches!(self.caller.actor(), Actor::System { .. });
        let password = ("passwordHash", self.iam.passwords.accept(password_hash, is_trusted));
        let profile = NewProfile::validate(&email, password, &first_name, &last_name, fields)?;
        if self.is_dry_run {
            let key = profile.email.key();
            let found = self.iam.store.guarded_account(caller.tenant(), &key).await?;
            if let Some(Account { user, .. }) = found.account {
                return Err(self.iam.email_taken(caller, &user).await);
            }
            return if self.seen.insert(key) { Ok(None) } else { Err(Conflict::EmailTaken.into()) };
        }
        let mut work = self.iam.begin(caller).await?;
        hold_quota(&self.iam.settings.quota, &mut work, QuotaKind::Users, 1).await?;
        let user = User { status, ..profile.user(self.iam.next_id(), caller.tenant(), work.now()) };
        let create =
            UserChange::Create { user: user.clone(), password: Some(profile.password), invitation: None, attributes };
        if let Err(error) = work.apply(create).await {
            // A unit of work must not wait for a second connection while it holds one.
            drop(work);
            return Err(self.iam.about_taken_email(caller, &user, error).await);
        }
        work.commit().await?;
        Ok(Some(user))
    }
}

/// Returns attributes of a file with the types that the tenant has defined. A text that is not of the type of its key
/// stays, and is refused.
fn typed(attributes: Map<String, Value>, definitions: &AttributeDefinitions) -> Map<String, Value> {
    let read = |key: &str, value: Value| {
        let Some(definition) = definitions.get(key).filter(|definition| !definition.kind.admits(&value)) else {
            return value;
        };
        let read: Option<Value> = value.as_str().and_then(|text| serde_json::from_str(text).ok());
        read.filter(|read| definition.kind.admits(read)).unwrap_or(value)
    };
    let typed = |(key, value): (String, Value)| {
        let value = read(&key, value);
        (key, value)
    };
    attributes.into_iter().map(typed).collect()
}
