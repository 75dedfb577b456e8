use std::borrow::Cow;
use std::iter;
use std::sync::Arc;

use iam_model::assignment::{Assignment, Grant};
use iam_model::attribute::{AttributeDefinitions, Attributes, UnregisteredAttributes};
use iam_model::change::{AssignmentChange, PermissionChange, RoleChange, TenantChange, UserChange};
use iam_model::context::RequestContext;
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::factor::{AuthenticationMethods, GraceDays, SecondFactorPolicy};
use iam_model::id::{SessionId, TenantId, UserId};
use iam_model::permission::built_in_permissions;
use iam_model::random::suffix as random_suffix;
use iam_model::role::{Role, TENANT_ADMIN, built_in_roles};
use iam_model::secret::{Password, PasswordHash};
use iam_model::tenant::{AuthzenIdentifiers, EmailLogin, PasswordLogin, PasswordPolicy, Tenant, TenantStatus};
use iam_model::user::User;
use iam_model::validate::{Fields, Name, Slug};
use iam_model::version::Version;
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::engine::{Engine, Once, UnitOfWork};
use crate::hashing::Share;
use crate::idempotency::Idempotency;
use crate::link::LinkFor;
use crate::session::{LoggedIn, Login, Sessions, open_session};
use crate::tenant::Tenants;
use crate::tenant::input::{is_identifier, slug};
use crate::user::{NewProfile, NewUser};

/// The input for a new tenant and its first user, as typed; see [`Tenants::register`].
#[derive(Clone, Debug)]
pub struct Registration {
    /// The first user, who becomes the tenant's administrator.
    pub user: NewUser,
    /// 1–120 characters; made from the user's name if it is `None`.
    pub tenant_name: Option<String>,
}

/// A new tenant whose first user is logged in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Registered {
    /// The tenant.
    pub tenant: Tenant,
    /// Its first user with its first tokens.
    pub login: LoggedIn,
}

/// The input for a tenant that trusted code creates; see [`Tenants::create`].
#[derive(Clone, Debug)]
pub struct NewTenant {
    /// 1–120 characters.
    pub name: String,
    /// `[a-z0-9]+(-[a-z0-9]+)*`, at most 63 characters; made from the name if it is `None`.
    pub slug: Option<String>,
    /// The first user.
    pub administrator: NewUser,
}

/// A tenant and its new user. The first user of a tenant is its administrator.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TenantWithUser {
    /// The tenant.
    pub tenant: Tenant,
    /// Its new user.
    pub user: User,
}

/// The kind of request that an idempotency key is used for.
const REGISTRATION: &str = "REGISTRATION";

/// How many slugs that are made from a name are tried, until one is free.
const SLUG_ATTEMPTS: usize = 4;

impl Tenants<'_> {
    /// Creates a tenant with its built-in roles and a first user who holds [`TENANT_ADMIN`], and logs that user in.
    ///
    /// # Errors
    ///
    /// [`Forbidden::RegistrationClosed`], [`Error::Validation`] which names every invalid field.
    pub async fn register(&self, context: &RequestContext, registration: Registration) -> Result<Registered> {
        self.register_once(context, registration, None).await
    }

    /// Registers a tenant as [`register`](Self::register) does, at most once for an idempotency key. Within a day,
    /// the same registration under the same key creates no second tenant, but logs in to the first one. `None` is for
    /// clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// The errors of [`register`](Self::register), and for a repeat those of [`Sessions::login`].
    pub async fn register_once(
        &self,
        context: &RequestContext,
        registration: Registration,
        idempotency: Option<&Idempotency>,
    ) -> Result<Registered> {
        let iam = self.0;
        if !iam.settings.registration {
            return Err(Forbidden::RegistrationClosed.into());
        }
        let mut fields = Fields::default();
        let name = fields.check_optional("tenantName", registration.tenant_name.as_deref());
        let rules = &iam.password_rules;
        let typed = registration.tenant_name.as_deref().unwrap_or_default();
        let profile = registration.user.validate(fields, rules.of_new(typed))?;
        let name = name.map_or_else(|| default_name(&profile), Ok)?;
        let once = Once::for_registration(&iam.keys.idempotency, idempotency, REGISTRATION);
        if once.has_key() {
            // A repeat needs no new hash. Hashing takes by far the longest.
            let caller = Caller::anonymous(iam.next_id(), context.clone());
            let mut work = iam.begin(&caller).await?;
            if let Some(created) = once.find(&mut work).await? {
                drop(work);
                return log_in_again(iam, context, profile.password.password(), created).await;
            }
        }
        let password = rules.accept("password", &profile.password).await?;
        let password = iam.passwords.hash(Share::of_client(context), &password).await?;
        iam.refresh_keys().await?;
        let creation = Creation { iam, profile: &profile, password: &password };
        for slug in free_slugs(iam, &name) {
            match creation.create_and_log_in(context, &once, name.clone(), slug).await {
                Err(Error::Conflict(Conflict::SlugTaken)) => {}
                result => return result,
            }
        }
        Err(Conflict::SlugTaken.into())
    }

    /// Creates a tenant with its built-in roles and a first user who holds [`TENANT_ADMIN`], even if registration is
    /// closed. Begins no session.
    ///
    /// For trusted code only. A tenant that does not exist yet has no callers. So this takes only the reason, as
    /// [`Caller::system`] takes it beside the tenant. The reason is part of the metadata of every audit entry.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names every invalid field, [`Conflict::SlugTaken`] for a given slug,
    /// [`Error::Overloaded`].
    pub async fn create(&self, reason: impl Into<Cow<'static, str>> + Send, new: NewTenant) -> Result<TenantWithUser> {
        let (iam, reason) = (self.0, reason.into());
        let mut fields = Fields::default();
        let name = fields.check("name", new.name.parse::<Name>());
        let slug = new.slug.as_deref().and_then(|given| slug(&mut fields, "slug", given));
        let rules = &iam.password_rules;
        let profile = new.administrator.validate(fields, rules.of_new(&new.name))?;
        // The profile is valid, so no field was rejected.
        let name = name.ok_or_else(|| Error::internal("tenant name", "it is missing"))?;
        let password = rules.accept("password", &profile.password).await?;
        let password = iam.passwords.hash(Share::SYSTEM, &password).await?;
        let creation = Creation { iam, profile: &profile, password: &password };
        if let Some(slug) = slug {
            return creation.create_as_system(reason, name, slug).await;
        }
        for slug in free_slugs(iam, &name) {
            match creation.create_as_system(reason.clone(), name.clone(), slug).await {
                Err(Error::Conflict(Conflict::SlugTaken)) => {}
                result => return result,
            }
        }
        Err(Conflict::SlugTaken.into())
    }
}

fn default_name(profile: &NewProfile) -> Result<Name> {
    let full = format!("{} {}", profile.first_name, profile.last_name);
    let short: String = full.chars().take(120).collect();
    short.parse().map_err(|cause| Error::internal("tenant name", cause))
}

/// Returns slugs that are made from a name, to try until one is free.
fn free_slugs(iam: &Engine, name: &Name) -> impl Iterator<Item = Slug> {
    let slug = |suffix: Option<String>| Slug::from_name(name.as_str(), "tenant", suffix.as_deref());
    let suffixes = iter::repeat_with(|| Some(random_suffix(&*iam.random)));
    let slugs = iter::once(None).chain(suffixes).take(SLUG_ATTEMPTS).map(slug);
    slugs.filter(|slug| !is_identifier(slug.as_str()))
}

/// Logs in as the user of an earlier registration or acceptance. Tokens are not stored, so a repeat needs a login.
pub(crate) async fn log_in_again(
    iam: &Engine,
    context: &RequestContext,
    password: &Password,
    TenantWithUser { tenant, user }: TenantWithUser,
) -> Result<Registered> {
    let email = user.email.to_string();
    let login = Login { email, password: password.clone(), tenant: Some(tenant.id.to_string()) };
    let login = Sessions(iam).login(context, login).await?;
    Ok(Registered { tenant, login: LoggedIn { user, ..login } })
}

/// The values that every attempt to create a tenant needs.
struct Creation<'a> {
    iam: &'a Engine,
    profile: &'a NewProfile,
    password: &'a PasswordHash,
}

impl Creation<'_> {
    async fn create_and_log_in(
        &self,
        context: &RequestContext,
        once: &Once<'_>,
        name: Name,
        slug: Slug,
    ) -> Result<Registered> {
        let iam = self.iam;
        let (tenant_id, user_id, session_id): (TenantId, UserId, SessionId) =
            (iam.next_id(), iam.next_id(), iam.next_id());
        let caller = Caller::founder(tenant_id, user_id, session_id, context.clone());
        let mut work = iam.begin(&caller).await?;
        if let Some(created) = once.find(&mut work).await? {
            drop(work);
            return log_in_again(iam, context, self.profile.password.password(), created).await;
        }
        let TenantWithUser { tenant, user } = self.create(&mut work, user_id, name, slug).await?;
        let login = open_session(iam, &mut work, user, session_id, AuthenticationMethods::default()).await?;
        let created = TenantWithUser { tenant, user: login.user.clone() };
        once.keep(&mut work, &created).await?;
        iam.queue_link(&mut work, LinkFor::Address(&created.user), None).await?;
        work.commit().await?;
        Ok(Registered { tenant: created.tenant, login })
    }

    async fn create_as_system(&self, reason: Cow<'static, str>, name: Name, slug: Slug) -> Result<TenantWithUser> {
        let caller = Caller::system(self.iam.next_id(), reason);
        let mut work = self.iam.begin(&caller).await?;
        let created = self.create(&mut work, self.iam.next_id(), name, slug).await?;
        work.commit().await?;
        Ok(created)
    }

    /// Creates the caller's tenant with the built-in roles and permissions, and the first user as its administrator.
    async fn create(
        &self,
        work: &mut UnitOfWork<'_>,
        user_id: UserId,
        name: Name,
        slug: Slug,
    ) -> Result<TenantWithUser> {
        let (id, now) = (work.caller().tenant(), work.now());
        let tenant = Tenant {
            id,
            name,
            slug,
            status: TenantStatus::Active,
            password_policy: PasswordPolicy::default(),
            second_factor: SecondFactorPolicy::default(),
            second_factor_grace_days: GraceDays::default(),
            second_factor_required_at: None,
            password_login: PasswordLogin::default(),
            email_login: EmailLogin::default(),
            authzen_identifiers: AuthzenIdentifiers::default(),
            user_attributes: AttributeDefinitions::default(),
            organization_attributes: AttributeDefinitions::default(),
            unregistered_attributes: UnregisteredAttributes::default(),
            created_at: now,
            updated_at: now,
            version: Version::FIRST,
        };
        let user = self.profile.user(user_id, id, now);
        work.apply(TenantChange::Create(tenant.clone())).await?;
        work.apply(UserChange::Create {
            user: user.clone(),
            password: Some(self.password.clone()),
            invitation: None,
            attributes: Attributes::default(),
        })
        .await?;
        self.make_administrator(work, id, user_id).await?;
        Ok(TenantWithUser { tenant, user })
    }

    async fn make_administrator(&self, work: &mut UnitOfWork<'_>, tenant: TenantId, user: UserId) -> Result<()> {
        let now = work.now();
        let roles = built_in_roles(tenant, now, || self.iam.next_id())
            .map_err(|cause| Error::internal("built-in roles", cause))?;
        let is_admin = |role: &&Role| role.name.as_str() == TENANT_ADMIN;
        let missing = || Error::internal("built-in roles", "TENANT_ADMIN is missing");
        let admin = Arc::new(roles.iter().find(is_admin).ok_or_else(missing)?.clone());
        work.apply(RoleChange::CreateBuiltIn(roles)).await?;
        let permissions = built_in_permissions(tenant, now, || self.iam.next_id())
            .map_err(|cause| Error::internal("built-in permissions", cause))?;
        work.apply(PermissionChange::CreateBuiltIn(permissions)).await?;
        let assignment = Assignment {
            id: self.iam.next_id(),
            tenant_id: tenant,
            user_id: user,
            role_id: admin.id,
            organization_id: None,
            expires_at: None,
            created_at: now,
            created_by: work.caller().user(),
            directory_group_id: None,
            access_request_id: None,
        };
        work.apply(AssignmentChange::Create(vec![Grant { assignment, role: admin, organization: None }])).await
    }
}
