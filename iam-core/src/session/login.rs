use super::{LoggedIn, RefreshState, Session, SessionChange, Sessions};
use crate::caller::{Caller, RequestContext};
use crate::credential::{Account, Attempt, Outcome};
use crate::error::{Conflict, Error, Forbidden, Result, Unauthenticated};
use crate::iam::Inner;
use crate::id::{SessionId, TenantId};
use crate::secret::Password;
use crate::tenant::Tenant;
use crate::user::{User, UserChange};
use crate::validate::{Email, Fields, Slug};
use crate::work::UnitOfWork;

/// Somebody's claim to be a user, as typed; see [`Sessions::login`].
#[derive(Clone, Debug)]
pub struct Login {
    /// The user's e-mail, in any case.
    pub email: String,
    /// The user's password.
    pub password: Password,
    /// A tenant's identifier or slug; without it, the tenant is found by the e-mail.
    pub tenant: Option<String>,
}

/// In how many tenants a password is tried when none is named.
const MAX_CANDIDATES: u32 = 5;

/// A tenant that may be meant, with the account in it; [`TenantId::NONE`] when there is none.
struct Candidate {
    tenant: Option<Tenant>,
    account: Option<Account>,
}

impl Sessions<'_> {
    /// Logs in: proves a password and begins a session.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::Credentials`] for every failure of identity, [`Error::AccountLocked`] after five of them
    /// in fifteen minutes, [`Forbidden::Suspended`], [`Conflict::SeveralTenants`] when the credentials are right in
    /// several tenants and none is named, [`Error::Validation`] when the e-mail is none or the password
    /// empty.
    pub async fn login(&self, context: &RequestContext, login: Login) -> Result<LoggedIn> {
        let mut fields = Fields::default();
        let email = fields.check("email", login.email.parse::<Email>());
        fields.require("password", login.password.expose());
        let Some(email) = email.filter(|_| fields.is_empty()) else {
            return Err(fields.into_error());
        };
        let mut attempts = Vec::new();
        let mut tenants = Vec::new();
        for Candidate { tenant, account } in self.candidates(&email, login.tenant.as_deref()).await? {
            let scope = tenant.as_ref().map_or(TenantId::NONE, |tenant| tenant.id);
            let attempt = Attempt::make(self.0, scope, &email, account, &login.password).await?;
            tenants.extend(tenant.filter(|_| attempt.is_right()));
            attempts.push(attempt);
        }
        if tenants.len() > 1 {
            return Err(Conflict::SeveralTenants(tenants.iter().map(Tenant::summary).collect()).into());
        }
        self.settle(context, relevant(attempts)).await
    }

    /// Where the e-mail may belong: the named tenant, or those that have it, or nowhere.
    async fn candidates(&self, email: &Email, named: Option<&str>) -> Result<Vec<Candidate>> {
        let store = &self.0.store;
        let tenants = match named {
            Some(named) => self.named_tenant(named).await?.into_iter().collect(),
            None => store.tenants_with_email(&email.key(), MAX_CANDIDATES).await?,
        };
        let mut candidates = Vec::new();
        for tenant in tenants {
            let account = store.account(tenant.id, &email.key()).await?;
            candidates.push(Candidate { tenant: Some(tenant), account });
        }
        if candidates.is_empty() {
            candidates.push(Candidate { tenant: None, account: None });
        }
        Ok(candidates)
    }

    async fn named_tenant(&self, named: &str) -> Result<Option<Tenant>> {
        if let Ok(id) = named.parse::<TenantId>() {
            return Ok(self.0.store.tenant(id).await?);
        }
        match named.parse::<Slug>() {
            Ok(slug) => Ok(self.0.store.tenant_by_slug(&slug).await?),
            Err(_) => Ok(None),
        }
    }

    /// Settles each attempt in its own tenant; the one that is proven becomes a session.
    async fn settle(&self, context: &RequestContext, attempts: Vec<Attempt<'_>>) -> Result<LoggedIn> {
        let iam = self.0;
        iam.refresh_keys().await?;
        let mut refusal = None;
        for attempt in attempts {
            let caller = Caller::anonymous(attempt.tenant, context.clone());
            let mut work = iam.begin(&caller).await?;
            let outcome = attempt.settle(&mut work, iam.settings.lockout).await?;
            if let Outcome::Proven(account) = outcome {
                let logged_in = open_session(iam, &mut work, account.user, iam.next_id()).await?;
                work.commit().await?;
                return Ok(logged_in);
            }
            work.commit().await?;
            refusal = milder(refusal, outcome);
        }
        Err(match refusal {
            Some(Outcome::Locked(retry_after)) => Error::AccountLocked { retry_after },
            Some(Outcome::Suspended) => Forbidden::Suspended.into(),
            _ => Unauthenticated::Credentials.into(),
        })
    }
}

/// The attempts that count: the right one alone; else those that were not locked already; else all.
fn relevant(mut attempts: Vec<Attempt<'_>>) -> Vec<Attempt<'_>> {
    if attempts.iter().any(Attempt::is_right) {
        attempts.retain(Attempt::is_right);
    } else if !attempts.iter().all(Attempt::was_locked) {
        attempts.retain(|attempt| !attempt.was_locked());
    }
    attempts
}

/// Of several refusals, the one to answer with: locked only where all are, and then the lock that ends first.
fn milder(refusal: Option<Outcome>, next: Outcome) -> Option<Outcome> {
    Some(match (refusal, next) {
        (None, next) => next,
        (Some(Outcome::Locked(a)), Outcome::Locked(b)) => Outcome::Locked(a.min(b)),
        (Some(Outcome::Locked(_)), next) => next,
        (Some(refusal), _) => refusal,
    })
}

/// Begins a session of a user who just proved itself; [`Inner::refresh_keys`] comes before.
pub(crate) async fn open_session(
    iam: &Inner,
    work: &mut UnitOfWork<'_>,
    user: User,
    id: SessionId,
) -> Result<LoggedIn> {
    let now = work.now();
    let context = work.caller().context();
    let (refresh, secret) = RefreshState::start(&*iam.random);
    let session = Session {
        id,
        tenant_id: user.tenant_id,
        user_id: user.id,
        ip_address: context.ip_address,
        user_agent: context.user_agent.clone(),
        created_at: now,
        last_used_at: now,
        expires_at: iam.settings.session_expiry(now, now),
        refresh,
    };
    let tokens = iam.tokens_for(&session, &secret, now)?;
    work.apply(UserChange::LoggedIn { user: user.id, at: now }).await?;
    work.apply(SessionChange::Start(session)).await?;
    Ok(LoggedIn { user: User { last_login_at: Some(now), ..user }, tokens })
}
