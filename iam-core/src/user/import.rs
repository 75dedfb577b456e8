use std::collections::HashSet;

use iam_model::attribute::{AttributeDefinitions, Attributes};
use iam_model::change::UserChange;
use iam_model::context::Actor;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::{OrganizationId, RoleId, UserId};
use iam_model::permission;
use iam_model::secret::{HashSecret, PasswordHash};
use iam_model::tenant::QuotaKind;
use iam_model::user::{User, UserStatus};
use iam_model::validate::{Email, EmailKey, ExternalId, Fields};
use serde_json::{Map, Value};

use crate::assignment::{Assignments, NewAssignment};
use crate::attribute::new_attributes;
use crate::caller::Caller;
use crate::engine::{Engine, hold_quota};
use crate::hashing::HashKey;
use crate::user::rules::check_home;
use crate::user::service::check_home_under_lock;
use crate::user::{NewProfile, Users};

/// The maximum number of roles of an imported user.
const MAX_ROLES: usize = 100;

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
    /// - scrypt in PHC string form (`$scrypt$ln=17,r=8,p=1$…`) or Django's (`scrypt$16384$…`), and Firebase's
    ///   (`$firebase-scrypt$ln=14,r=8$…`, with its [secret](Import::hash_secret)), at most 256 MiB times lanes, and 16
    ///   lanes;
    /// - bcrypt (`$2a$…`, `$2b$…`, `$2y$…`), at most cost 14, with the feature `bcrypt`. With a
    ///   [secret](Import::hash_secret), that is a pepper at the end of each password;
    /// - Django's texts of Argon2 and bcrypt (`argon2$argon2id$…`, `bcrypt$$2b$…`, `bcrypt_sha256$$2b$…`).
    ///
    /// These limits are for trusted code. A hash that a user imports may cost at most twice as much to verify as a hash
    /// of this installation, and need at most 64 MiB.
    ///
    /// `None` for a user without a password, who logs in by an identity provider, or sets a password by a link.
    pub password_hash: Option<PasswordHash>,
    /// ACTIVE or SUSPENDED.
    pub status: UserStatus,
    /// The identifier of the user in another system, by which that system may log it in: 1–255 characters, unique in the
    /// tenant.
    pub external_id: Option<String>,
    /// Whether the user receives mail at the address. Only trusted code can say so: the address also counts in logins
    /// that name no tenant.
    pub is_email_verified: bool,
    /// The organization to which the user belongs; `None` for the tenant.
    pub home: Option<OrganizationId>,
    /// At most 100 roles, each once. Needs `role-assignments:create` and the permissions of the roles, as
    /// [`Assignments::create`] does.
    pub roles: Vec<ImportedRole>,
    /// The attributes. Under a key that the tenant has defined with another type, a text is read as JSON of that type,
    /// and a list with one text as that text: files have few types.
    pub attributes: Map<String, Value>,
}

impl ImportedUser {
    /// Returns an ACTIVE user without a password and without anything else that is optional.
    pub fn new(email: impl Into<String>, first_name: impl Into<String>, last_name: impl Into<String>) -> Self {
        Self {
            email: email.into(),
            first_name: first_name.into(),
            last_name: last_name.into(),
            password_hash: None,
            status: UserStatus::Active,
            external_id: None,
            is_email_verified: false,
            home: None,
            roles: Vec::new(),
            attributes: Map::new(),
        }
    }
}

/// A role of an imported user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImportedRole {
    /// The role.
    pub role: RoleId,
    /// The organization; `None` for tenant-wide.
    pub organization: Option<OrganizationId>,
}

/// The result for an imported user that is not refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Imported {
    /// The user is created.
    Created(Box<User>),
    /// A dry run has found no reason to refuse the user.
    Valid,
    /// The tenant has the user already, with this e-mail, and nothing of it is changed. The value is its identifier here.
    AlreadyThere(UserId),
    /// The tenant has a user with this external identifier and another e-mail, and nothing of it is changed. The e-mail of
    /// the user was changed in one of the two systems, or the file is of another system, which has given the identifier to
    /// another person. The value is the identifier of the user here.
    OtherEmail(UserId),
}

/// Imports users of another system, one after the other; see [`Users::import`].
pub struct Import<'a> {
    iam: &'a Engine,
    caller: &'a Caller,
    is_dry_run: bool,
    /// The secret with which the other system made its hashes.
    key: Option<HashKey>,
    /// The e-mails of the users that are created.
    emails: HashSet<EmailKey>,
    /// Their external identifiers.
    external_ids: HashSet<ExternalId>,
}

impl<'a> Users<'a> {
    /// Imports users with the password hashes that another system stored. Needs `users:create`. The crate `iam-import`
    /// reads the files of other systems.
    ///
    /// A user that the tenant has already is not changed. So an import that was interrupted can begin again.
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
    /// use iam_core::user::ImportedUser;
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
    ///     password_hash: Some("$pbkdf2-sha256$i=10000,l=32$AAECAwQFBgcICQoLDA0ODw$Gt0SUk92S9Hllj+2Ruap8Zp7vtcbAoZrqx4OD9gt0/I".into()),
    ///     ..ImportedUser::new("grace@example.com", "Grace", "Hopper")
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
    /// [`Error::Forbidden`].
    pub fn import(&self, caller: &'a Caller) -> Result<Import<'a>> {
        self.0.rights(caller).require(&permission::USERS_CREATE)?;
        Ok(Import {
            iam: self.0,
            caller,
            is_dry_run: false,
            key: None,
            emails: HashSet::new(),
            external_ids: HashSet::new(),
        })
    }
}

impl Import<'_> {
    /// Creates no users, and only reports which users would be refused.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.is_dry_run = true;
        self
    }

    /// Sets the secret with which the other system made all hashes: the signer key of a Firebase project in base64, or
    /// the pepper that Devise appends to each password before bcrypt. It is stored encrypted beside each hash, until the
    /// first login of the user replaces the hash.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names `hashSecret`.
    pub fn hash_secret(mut self, secret: HashSecret) -> Result<Self> {
        self.key = Some(self.iam.passwords.hash_key(secret)?);
        Ok(self)
    }

    /// Creates a user with its roles and its audit entries, or nothing. After an error, the next user can be added,
    /// unless the store has failed. Needs `users:create` for each user, as [`Users::create`] does.
    ///
    /// The e-mails and external identifiers of the users that are created are remembered, and a second user with one of
    /// them is refused. That needs memory until the import is dropped: usually some 200 bytes for a user, 1 KiB at most.
    /// In the next import of the same users, the second one is there as the first one is, unless it has another external
    /// identifier.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`],
    /// [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation) for a role that the caller could not give,
    /// [`Error::Unauthenticated`] when the session has ended,
    /// [`Error::Validation`] which names every invalid field,
    /// [`Conflict::EmailTaken`] when another user has the e-mail, [`Conflict::EmailOfDeletedUser`],
    /// [`Conflict::ExternalIdTaken`], [`Conflict::ExternalIdIsEmail`];
    /// [`Error::About`] with the errors of [`Assignments::create_all`], or
    /// `homeOrganizationId` with [`Error::NotFound`] or
    /// [`Conflict::OrganizationInactive`].
    pub async fn add(&mut self, user: ImportedUser) -> Result<Imported> {
        // An import takes long, and its caller can lose the permission in between.
        let caller = &self.iam.renewed(self.caller).await?;
        self.iam.rights(caller).require(&permission::USERS_CREATE)?;
        let valid = self.validate(caller, user).await?;
        let (email, external_id) = (valid.profile.email.key(), valid.external_id.clone());
        if self.emails.contains(&email) {
            return Err(Conflict::EmailTaken.into());
        }
        if external_id.as_ref().is_some_and(|id| self.external_ids.contains(id)) {
            return Err(Conflict::ExternalIdTaken.into());
        }
        let imported = match self.holder_of(caller, &email, external_id.as_ref()).await? {
            Some(found) => found,
            // In a dry run, the user with this e-mail is not in the store.
            None if external_id.as_ref().is_some_and(|id| self.is_email_of_another(id)) => {
                return Err(Conflict::ExternalIdIsEmail.into());
            }
            None => match self.create(caller, valid).await {
                // Another import may have created this very user meanwhile.
                Err(error @ Error::Conflict(Conflict::EmailTaken | Conflict::ExternalIdTaken)) => {
                    self.holder_of(caller, &email, external_id.as_ref()).await?.ok_or(error)?
                }
                created => created?,
            },
        };
        if matches!(imported, Imported::Created(_) | Imported::Valid) {
            self.emails.insert(email);
            self.external_ids.extend(external_id);
        }
        Ok(imported)
    }

    /// Whether an external identifier is the e-mail of a user that is created.
    fn is_email_of_another(&self, external_id: &ExternalId) -> bool {
        Email::for_lookup(external_id.as_str()).is_ok_and(|email| self.emails.contains(&email.key()))
    }

    async fn validate(&self, caller: &Caller, user: ImportedUser) -> Result<ValidUser> {
        let ImportedUser { email, first_name, last_name, password_hash, status, .. } = user;
        let is_trusted = matches!(self.caller.actor(), Actor::System { .. });
        let mut fields = Fields::default();
        if !matches!(status, UserStatus::Active | UserStatus::Suspended) {
            fields.reject("status", "must be ACTIVE or SUSPENDED");
        }
        if user.is_email_verified && !is_trusted {
            fields.reject("emailVerified", "can be true only in an import by the operator");
        }
        if user.roles.len() > MAX_ROLES {
            fields.reject("roles", format!("must have at most {MAX_ROLES} items"));
        }
        let external_id = fields.check_optional("externalId", user.external_id.as_deref());
        let attributes = match user.attributes.is_empty() {
            true => Attributes::default(),
            false => {
                let rules = self.iam.attribute_rules(caller.tenant()).await?;
                new_attributes(&mut fields, &typed(user.attributes, &rules.users), rules.of_users())
            }
        };
        let password = match password_hash {
            Some(hash) => self.iam.passwords.accept(hash, self.key.as_ref(), is_trusted),
            None => Ok(PasswordHash::unset()),
        };
        let profile = NewProfile::validate(&email, ("passwordHash", password), &first_name, &last_name, fields)?;
        let (is_email_verified, home, roles) = (user.is_email_verified, user.home, user.roles);
        Ok(ValidUser { profile, status, external_id, is_email_verified, home, roles, attributes })
    }

    /// Returns that the user is there, if the tenant has a user with the e-mail or with the external identifier.
    async fn holder_of(
        &self,
        caller: &Caller,
        email: &EmailKey,
        external_id: Option<&ExternalId>,
    ) -> Result<Option<Imported>> {
        let tenant = caller.tenant();
        // Either system may have changed the e-mail, and another user may have it since.
        let identified = match external_id {
            Some(external_id) => self.iam.store.user_by_external_id(tenant, external_id).await?,
            None => None,
        };
        if let Some(user) = identified.as_ref().filter(|user| user.status != UserStatus::Inactive) {
            let is_same = user.email.key() == *email;
            return Ok(Some(if is_same { Imported::AlreadyThere(user.id) } else { Imported::OtherEmail(user.id) }));
        }
        let found = self.iam.store.guarded_account(tenant, email).await?;
        let Some(holder) = found.account.map(|account| account.user) else {
            if identified.is_some() {
                return Err(Conflict::ExternalIdTaken.into());
            }
            return match self.iam.addressee_of(tenant, external_id).await? {
                Some(_) => Err(Conflict::ExternalIdIsEmail.into()),
                None => Ok(None),
            };
        };
        let is_same = match (&holder.external_id, external_id) {
            (Some(theirs), Some(ours)) => theirs == ours,
            _ => true,
        };
        if is_same && holder.status != UserStatus::Inactive {
            return Ok(Some(Imported::AlreadyThere(holder.id)));
        }
        Err(self.iam.email_taken(caller, &holder).await)
    }

    async fn create(&self, caller: &Caller, valid: ValidUser) -> Result<Imported> {
        let ValidUser { profile, status, external_id, is_email_verified, home, roles, attributes } = valid;
        if self.is_dry_run && roles.is_empty() {
            let lineage = self.iam.lineages(caller.tenant(), home).await?;
            check_home(home, |home| lineage.position(home))?;
            return Ok(Imported::Valid);
        }
        let mut work = self.iam.begin(caller).await?;
        let grantor = if roles.is_empty() { None } else { Some(work.lock_rights().await?) };
        check_home_under_lock(&mut work, home).await?;
        hold_quota(&self.iam.settings.quota, &mut work, QuotaKind::Users, 1).await?;
        let now = work.now();
        let user = User {
            status,
            external_id,
            email_verified_at: is_email_verified.then_some(now),
            home_organization_id: home,
            ..profile.user(self.iam.next_id(), caller.tenant(), now)
        };
        let create =
            UserChange::Create { user: user.clone(), password: Some(profile.password), invitation: None, attributes };
        work.apply(create).await?;
        if let Some(grantor) = &grantor {
            let given = |role: &ImportedRole| NewAssignment {
                user: user.id,
                role: role.role,
                organization: role.organization,
                expires_at: None,
            };
            let given: Vec<NewAssignment> = roles.iter().map(given).collect();
            Assignments(self.iam).create_all_in(&mut work, grantor, &given).await?;
        }
        if self.is_dry_run {
            // Without a commit, nothing of it stays.
            return Ok(Imported::Valid);
        }
        work.commit().await?;
        Ok(Imported::Created(Box::new(user)))
    }
}

/// A user whose fields are all valid.
struct ValidUser {
    profile: NewProfile<PasswordHash>,
    status: UserStatus,
    external_id: Option<ExternalId>,
    is_email_verified: bool,
    home: Option<OrganizationId>,
    roles: Vec<ImportedRole>,
    attributes: Attributes,
}

/// Returns attributes of a file with the types that the tenant has defined. A value that cannot be read as the type of
/// its key stays, and is refused.
fn typed(attributes: Map<String, Value>, definitions: &AttributeDefinitions) -> Map<String, Value> {
    let read = |key: &str, value: Value| {
        let Some(definition) = definitions.get(key).filter(|definition| !definition.kind.admits(&value)) else {
            return value;
        };
        // Keycloak has a list for each name.
        let single = match &value {
            Value::Array(items) => items.first().filter(|_| items.len() == 1).cloned(),
            _ => None,
        };
        let text = single.as_ref().unwrap_or(&value).as_str();
        let read: Option<Value> = text.and_then(|text| iam_json::from_slice(text.as_bytes()).ok());
        [single, read].into_iter().flatten().find(|read| definition.kind.admits(read)).unwrap_or(value)
    };
    let typed = |(key, value): (String, Value)| {
        let value = read(&key, value);
        (key, value)
    };
    attributes.into_iter().map(typed).collect()
}
