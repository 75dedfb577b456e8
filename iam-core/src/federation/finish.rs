use iam_model::assignment::{Assignment, Grant, OfferedRole};
use iam_model::challenge::ChallengePurpose;
use iam_model::change::{AssignmentChange, IdentityChange, UserChange};
use iam_model::clock::Timestamp;
use iam_model::context::RequestContext;
use iam_model::error::{Error, Result, Unauthenticated};
use iam_model::factor::{AuthenticationMethod, AuthenticationMethods};
use iam_model::id::{SessionId, UserId};
use iam_model::identity::Identity;
use iam_model::identity_provider::{IdentityProvider, Provisioning};
use iam_model::mail::MailKind;
use iam_model::permission::PermissionPattern;
use iam_model::secret::{ChallengeToken, PasswordHash};
use iam_model::store::GrantQuery;
use iam_model::tenant::{QuotaKind, Tenant, TenantStatus};
use iam_model::user::User;
use iam_model::validate::{Email, Fields, PersonName};
use iam_openid::code_challenge;
use subtle::ConstantTimeEq as _;

use crate::assignment::References;
use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork, hold_quota, hold_user_quota};
use crate::federation::Federation;
use crate::federation::account::{Account, holds_everything};
use crate::federation::callback::NOT_LINKED;
use crate::federation::state::{Person, Purpose, Returned, read};
use crate::guard::AccountUnderLock;
use crate::session::{LoggedIn, begin_second_factor, open_session_since, refuse};
use crate::user::NewProfile;

/// What a client gets at the end.
#[derive(Debug)]
#[non_exhaustive]
pub enum Finished {
    /// The tokens of a new session.
    LoggedIn(Box<LoggedIn>),
    /// The account at the provider is linked to the caller's own user.
    Linked(Identity),
}

impl Federation<'_> {
    /// Finishes a login, or a link to the user of the caller's session, by the code that the browser brought to the
    /// client and by the secret of the client. The code works once: a wrong secret spends it.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names `code` for one that is unknown, used or expired, for a wrong secret, and for
    /// another session than the one that began a link; [`Unauthenticated::NotLinked`] if the person has no account any
    /// more; [`Unauthenticated::Credentials`] for a deleted user;
    /// [`Forbidden::Suspended`](iam_model::error::Forbidden::Suspended),
    /// [`Forbidden::TenantSuspended`](iam_model::error::Forbidden::TenantSuspended),
    /// [`Error::SecondFactorRequired`] for a user with a second factor;
    /// [`Conflict::IdentityLinked`](iam_model::error::Conflict::IdentityLinked).
    pub async fn finish(
        &self,
        context: &RequestContext,
        caller: Option<&Caller>,
        code: &ChallengeToken,
        code_verifier: &str,
    ) -> Result<Finished> {
        let iam = self.0;
        let mut fields = Fields::default();
        fields.require("code", code.expose());
        fields.require("codeVerifier", code_verifier);
        fields.finish()?;
        let taken = iam.take_federation(context, code, ChallengePurpose::FederationFinish).await?;
        let taken = taken.ok_or_else(refused_code)?;
        let Returned { started, person } = read(taken.ceremony.as_ref())?;
        let challenge = code_challenge(code_verifier);
        if !bool::from(challenge.as_bytes().ct_eq(started.code_challenge.as_bytes())) {
            return Err(refused_code());
        }
        let provider = iam.store.identity_provider(taken.tenant_id, started.provider).await?;
        let provider = provider.filter(|provider| provider.enabled).ok_or_else(refused_code)?;
        match started.purpose {
            Purpose::Login => Ok(Finished::LoggedIn(Box::new(self.log_in(context, &provider, &person).await?))),
            Purpose::Link(session) => match caller {
                Some(caller) if caller.is_session(session) => {
                    self.link(caller, &provider, &person).await.map(Finished::Linked)
                }
                _ => Err(refused_code()),
            },
        }
    }

    async fn log_in(&self, context: &RequestContext, provider: &IdentityProvider, person: &Person) -> Result<LoggedIn> {
        let iam = self.0;
        let tenant = iam.store.tenant(provider.tenant_id).await?.ok_or_else(refused_code)?;
        let entered = match iam.account_of(provider, person).await? {
            Account::Linked(Identity { user_id, .. }) => match iam.store.user(tenant.id, user_id).await? {
                Some(user) => self.enter(context, (&tenant, provider), person, (&user, true)).await?,
                None => None,
            },
            Account::ByAddress(user) => self.enter(context, (&tenant, provider), person, (&user, false)).await?,
            Account::New(email) => self.make(context, (&tenant, provider), person, email).await?,
            Account::None => None,
        };
        match entered {
            Some(logged_in) => Ok(logged_in),
            None => {
                iam.record_refusal(context, provider, NOT_LINKED).await?;
                Err(Unauthenticated::NotLinked.into())
            }
        }
    }

    /// Logs a user in who is linked to a person, or is linked now. `None` if it may not be linked any more.
    async fn enter(
        &self,
        context: &RequestContext,
        (tenant, provider): (&Tenant, &IdentityProvider),
        person: &Person,
        (user, is_linked): (&User, bool),
    ) -> Result<Option<LoggedIn>> {
        let iam = self.0;
        iam.refresh_keys().await?;
        let caller = Caller::anonymous(tenant.id, context.clone());
        let mut work = iam.begin(&caller).await?;
        if !is_linked {
            // Who holds what changes only under the lock of the tenant, which is taken before that of the account.
            work.reads().lock_tenant().await?;
        }
        let Some(account) = AccountUnderLock::lock(&mut work, user).await? else { return Ok(None) };
        let now = work.now();
        let identities = work.reads().identities(user.id).await?;
        let known = identities.into_iter().find(|identity| identity.provider_id == provider.id);
        let change = match known {
            Some(identity) if identity.issuer == provider.issuer && identity.subject == person.subject => {
                IdentityChange::Use(Identity { email: person.address(), last_login_at: Some(now), ..identity })
            }
            Some(_) => return Ok(None),
            None if !is_linked && may_be_linked_now(&mut work, &account.user).await? => {
                IdentityChange::Create(new_identity(iam, provider, person, (account.user.id, now, Some(now))))
            }
            None => return Ok(None),
        };
        if let Err(refusal) = account.admit(&mut work, tenant.status).await? {
            return refuse(work, refusal).await;
        }
        let is_new = matches!(change, IdentityChange::Create(_));
        work.apply(change).await?;
        let methods = methods(provider, person);
        if !account.factors().is_empty() && !methods.include_factor() {
            let purpose = ChallengePurpose::FederatedLogin;
            let pending = begin_second_factor(iam, &mut work, purpose, &account.user, account.factors()).await?;
            tell_of_link(iam, &mut work, is_new, &account.user).await?;
            work.commit().await?;
            return Err(Error::SecondFactorRequired(pending));
        }
        let enrol_by = tenant.factor_demand().enrol_by(account.user.created_at).filter(|_| !methods.include_factor());
        let since = authenticated_at(person, now);
        let session = iam.next_id();
        let logged_in = open_session_since(iam, &mut work, account.user, session, (methods, since)).await?;
        tell_of_link(iam, &mut work, is_new, &logged_in.user).await?;
        work.commit().await?;
        Ok(Some(LoggedIn { enrol_by, ..logged_in }))
    }

    /// Makes a user for a person, and logs it in. `None` if somebody has the address now, or no user is to be made any
    /// more.
    async fn make(
        &self,
        context: &RequestContext,
        (tenant, provider): (&Tenant, &IdentityProvider),
        person: &Person,
        email: Email,
    ) -> Result<Option<LoggedIn>> {
        let iam = self.0;
        iam.refresh_keys().await?;
        let (user_id, session_id): (UserId, SessionId) = (iam.next_id(), iam.next_id());
        let caller = Caller::founder(tenant.id, user_id, session_id, context.clone());
        let mut work = iam.begin(&caller).await?;
        // Who made or changed the provider held all permissions.
        work.lock_rights_of_inviter(None).await?;
        let current = work.reads().identity_providers().await?;
        let current = current.into_iter().find(|current| current.id == provider.id);
        let Some(provider) = current.filter(|current| current.enabled && current.provisioning == Provisioning::Create)
        else {
            return Ok(None);
        };
        if work.reads().lock_tenant().await?.is_none_or(|tenant| tenant.status != TenantStatus::Active) {
            return Ok(None);
        }
        let now = work.now();
        let grants = grants(iam, &mut work, &provider, user_id).await?;
        hold_quota(&iam.settings.quota, &mut work, QuotaKind::Users, 1).await?;
        hold_quota(&iam.settings.quota, &mut work, QuotaKind::Assignments, grants.len()).await?;
        hold_user_quota(&iam.settings.quota, &mut work, &grants, |_, error| error).await?;
        let (first_name, last_name) = person.names(&email);
        let profile = NewProfile { email, password: PasswordHash::unset(), first_name, last_name };
        let user = User { email_verified_at: Some(now), ..profile.user(user_id, tenant.id, now) };
        let create = UserChange::Create { user: user.clone(), password: Some(profile.password), invitation: None };
        match work.apply(create).await {
            Err(Error::Conflict(iam_model::error::Conflict::EmailTaken)) => return Ok(None),
            applied => applied?,
        }
        if !grants.is_empty() {
            work.apply(AssignmentChange::Create(grants)).await?;
        }
        let identity = new_identity(iam, &provider, person, (user_id, now, Some(now)));
        work.apply(IdentityChange::Create(identity)).await?;
        let methods = methods(&provider, person);
        let enrol_by = tenant.factor_demand().enrol_by(now).filter(|_| !methods.include_factor());
        let proof = (methods, authenticated_at(person, now));
        let logged_in = open_session_since(iam, &mut work, user, session_id, proof).await?;
        work.commit().await?;
        Ok(Some(LoggedIn { enrol_by, ..logged_in }))
    }

    /// Links a person to the caller's own user.
    async fn link(&self, caller: &Caller, provider: &IdentityProvider, person: &Person) -> Result<Identity> {
        let iam = self.0;
        let (user, _) = caller.require_user()?;
        let mut work = iam.begin(caller).await?;
        let user = work.reads().lock_user(user).await?.ok_or(Unauthenticated::InvalidToken)?;
        let identity = new_identity(iam, provider, person, (user.id, work.now(), None));
        work.apply(IdentityChange::Create(identity.clone())).await?;
        iam.queue_notice(&mut work, MailKind::IdentityLinked, &user).await?;
        work.commit().await?;
        Ok(identity)
    }
}

impl Person {
    /// Returns the address, if it is one.
    fn address(&self) -> Option<Email> {
        self.email.as_deref().and_then(|email| email.parse().ok())
    }

    /// Returns the first and the last name of a new user: those of the claims, as far as they are valid, or parts of
    /// the whole name or of the address.
    fn names(&self, email: &Email) -> (PersonName, PersonName) {
        let whole = self.name.as_deref().unwrap_or_default().trim();
        let (first, last) = whole.rsplit_once(' ').unwrap_or((whole, ""));
        let local = email.as_str().rsplit_once('@').map_or("", |(local, _)| local);
        let valid = |texts: [Option<&str>; 4]| texts.into_iter().flatten().find_map(|text| text.parse().ok());
        let first = valid([self.given_name.as_deref(), Some(first), Some(local), Some("-")]);
        let last = valid([self.family_name.as_deref(), Some(last), Some("-"), None]);
        (first.unwrap_or_else(no_name), last.unwrap_or_else(no_name))
    }
}

/// A name for a person whose name is not known.
fn no_name() -> PersonName {
    iam_model::validate::StoredText::stored("-".to_owned())
}

/// Whether a user with the address of a person may be linked, under the locks of its tenant and of its account.
async fn may_be_linked_now(work: &mut UnitOfWork<'_>, user: &User) -> Result<bool> {
    Ok(user.email_verified_at.is_some() && !holds_everything(&work.reads().grants(GrantQuery::OfUser(user.id)).await?))
}

fn new_identity(
    iam: &Engine,
    provider: &IdentityProvider,
    person: &Person,
    (user_id, linked_at, last_login_at): (UserId, Timestamp, Option<Timestamp>),
) -> Identity {
    Identity {
        id: iam.next_id(),
        tenant_id: provider.tenant_id,
        user_id,
        provider_id: provider.id,
        issuer: provider.issuer.clone(),
        subject: person.subject.clone(),
        email: person.address(),
        linked_at,
        last_login_at,
    }
}

/// Returns the grants of a new user: the roles of its provider that exist, can be held there, and do not have all
/// permissions, which they may have got since the provider was made.
async fn grants(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    provider: &IdentityProvider,
    user_id: UserId,
) -> Result<Vec<Grant>> {
    let roles = provider.roles.iter().map(|role| role.role_id);
    let organizations = provider.roles.iter().filter_map(|role| role.organization_id);
    let references = References::load(work, roles, organizations).await?;
    let now = work.now();
    let offered = provider
        .roles
        .iter()
        .filter_map(|provided| references.offer_freely(provided.role_id, provided.organization_id));
    let offered = offered.filter(|offered| !offered.role.permissions.covers(&PermissionPattern::everything()));
    let grant = |offered: OfferedRole| {
        let assignment = Assignment {
            id: iam.next_id(),
            tenant_id: provider.tenant_id,
            user_id,
            role_id: offered.role.id,
            organization_id: offered.organization.as_ref().map(|organization| organization.id),
            expires_at: None,
            created_at: now,
            created_by: None,
        };
        Grant { assignment, role: offered.role, organization: offered.organization }
    };
    Ok(offered.map(grant).collect())
}

/// Returns the methods by which a person has authenticated.
fn methods(provider: &IdentityProvider, person: &Person) -> AuthenticationMethods {
    let methods = AuthenticationMethods::only(AuthenticationMethod::Federation);
    if provider.factor_is_trusted && person.has_used_factor() {
        methods.and(AuthenticationMethod::ProviderFactor)
    } else {
        methods
    }
}

/// Returns when a person has authenticated. Without the claim, it counts as long ago, so that the session is not fresh.
fn authenticated_at(person: &Person, now: Timestamp) -> Timestamp {
    person.authenticated_at.map_or(Timestamp::UNIX_EPOCH, |at| iam_model::clock::cut(at.min(now)))
}

async fn tell_of_link(iam: &Engine, work: &mut UnitOfWork<'_>, is_new: bool, user: &User) -> Result<()> {
    if is_new { iam.queue_notice(work, MailKind::IdentityLinked, user).await } else { Ok(()) }
}

fn refused_code() -> Error {
    Error::field("code", "is unknown, used or expired, or the codeVerifier is wrong")
}
