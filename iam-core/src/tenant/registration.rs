use serde::{Deserialize, Serialize};

use super::{Tenant, TenantChange, TenantStatus, Tenants};
use crate::access::Covered;
use crate::assignment::{Assignment, AssignmentChange, NewGrant};
use crate::caller::{Caller, RequestContext};
use crate::error::{Constraint, Error, Forbidden, Result, StoreError};
use crate::iam::Inner;
use crate::id::{SessionId, TenantId, UserId};
use crate::idempotency::{Idempotency, Once};
use crate::permission::{PermissionChange, built_in_permissions};
use crate::random::suffix as random_suffix;
use crate::role::{Role, RoleChange, TENANT_ADMIN, built_in_roles};
use crate::secret::PasswordHash;
use crate::session::{LoggedIn, Login, Sessions, open_session};
use crate::user::{NewProfile, NewUser, User, UserChange};
use crate::validate::{Fields, Name, Slug};
use crate::work::UnitOfWork;

/// A new tenant and its first user, as somebody typed it; see [`Tenants::register`].
#[derive(Clone, Debug)]
pub struct Registration {
    /// The first user, who becomes the tenant's administrator.
    pub user: NewUser,
    /// 1–120 characters; made from the user's name where it is `None`.
    pub tenant_name: Option<String>,
}

/// A new tenant whose first user is logged in.
#[derive(Clone, Debug)]
pub struct Registered {
    /// The tenant.
    pub tenant: Tenant,
    /// Its first user with its first tokens.
    pub login: LoggedIn,
}

/// What is asked for once.
const REGISTRATION: &str = "REGISTRATION";

/// How often another slug is tried when one made from the name is taken.
const SLUG_ATTEMPTS: usize = 4;

impl Tenants<'_> {
    /// Makes a tenant with its built-in roles and a first user who holds [`TENANT_ADMIN`], and logs that user in.
    ///
    /// # Errors
    ///
    /// [`Forbidden::RegistrationClosed`], [`Error::Validation`] naming every invalid field.
    pub async fn register(&self, context: &RequestContext, registration: Registration) -> Result<Registered> {
        self.found(context, registration, None).await
    }

    /// As [`register`](Self::register), once: the same registration under the same key makes no second tenant within a day
    /// but logs in to the first one.
    ///
    /// # Errors
    ///
    /// As of [`register`](Self::register), and for a repeat those of [`Sessions::login`].
    pub async fn register_once(
        &self,
        context: &RequestContext,
        registration: Registration,
        idempotency: &Idempotency,
    ) -> Result<Registered> {
        self.found(context, registration, Some(idempotency)).await
    }

    async fn found(
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
        let profile = registration.user.validate(fields)?;
        let name = name.map_or_else(|| default_name(&profile), Ok)?;
        let password = iam.passwords.hash(&profile.password).await?;
        iam.refresh_keys().await?;
        let mut suffix = None;
        for _ in 0..SLUG_ATTEMPTS {
            let slug = Slug::from_name(name.as_str(), "tenant", suffix.as_deref());
            let once = Once::for_nobody(&iam.idempotency, idempotency, REGISTRATION);
            let founding = Founding { iam, context, profile: &profile, password: &password, once };
            match founding.found(name.clone(), slug).await {
                Err(Error::Conflict(crate::Conflict::SlugTaken)) => suffix = Some(random_suffix(&*iam.random)),
                result => return result,
            }
        }
        Err(StoreError::Conflict(Constraint::TenantSlug).into())
    }
}

fn default_name(profile: &NewProfile) -> Result<Name> {
    let full = format!("{} {}", profile.first_name, profile.last_name);
    let short: String = full.chars().take(120).collect();
    short.parse().map_err(|cause| Error::internal("tenant name", cause))
}

/// Everything that one attempt to found a tenant needs.
struct Founding<'a> {
    iam: &'a Inner,
    context: &'a RequestContext,
    profile: &'a NewProfile,
    password: &'a PasswordHash,
    once: Once<'a>,
}

/// What is kept of a registration.
#[derive(Serialize, Deserialize)]
struct Founded {
    tenant: Tenant,
    user: User,
}

impl Founding<'_> {
    async fn found(&self, name: Name, slug: Slug) -> Result<Registered> {
        let iam = self.iam;
        let (tenant_id, user_id, session_id): (TenantId, UserId, SessionId) =
            (iam.next_id(), iam.next_id(), iam.next_id());
        let caller = Caller::founder(tenant_id, user_id, session_id, self.context.clone());
        let mut work = iam.begin(&caller).await?;
        if let Some(founded) = self.once.find(&mut work).await? {
            drop(work);
            return self.log_in_again(founded).await;
        }
        let now = work.now();
        let status = TenantStatus::Active;
        let tenant = Tenant { id: tenant_id, name, slug, status, created_at: now, updated_at: now };
        let user = self.profile.user(user_id, tenant_id, now);
        work.apply(TenantChange::Create(tenant.clone())).await?;
        work.apply(UserChange::Create { user: user.clone(), password: self.password.clone() }).await?;
        self.make_administrator(&mut work, tenant_id, user_id).await?;
        let login = open_session(iam, &mut work, user, session_id).await?;
        let founded = Founded { tenant, user: login.user.clone() };
        self.once.keep(&mut work, &founded).await?;
        work.commit().await?;
        Ok(Registered { tenant: founded.tenant, login })
    }

    /// Tokens are not kept, so a repeat logs in.
    async fn log_in_again(&self, Founded { tenant, user }: Founded) -> Result<Registered> {
        let email = self.profile.email.to_string();
        let login =
            Login { email, password: self.profile.password.password().clone(), tenant: Some(tenant.id.to_string()) };
        let LoggedIn { tokens, .. } = Sessions(self.iam).login(self.context, login).await?;
        Ok(Registered { tenant, login: LoggedIn { user, tokens } })
    }

    async fn make_administrator(&self, work: &mut UnitOfWork<'_>, tenant: TenantId, user: UserId) -> Result<()> {
        let now = work.now();
        let roles = built_in_roles(tenant, now, || self.iam.next_id())
            .map_err(|cause| Error::internal("built-in roles", cause))?;
        let is_admin = |role: &&Role| role.name.as_str() == TENANT_ADMIN;
        let missing = || Error::internal("built-in roles", "TENANT_ADMIN is missing");
        let admin = roles.iter().find(is_admin).ok_or_else(missing)?.summary();
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
            created_by: Some(user),
        };
        // The tenant is new: there are no rights yet that anybody could hold less of.
        let covered = Covered::no_gain();
        work.apply(AssignmentChange::Create(vec![NewGrant { assignment, role_name: admin.name, covered }])).await
    }
}
