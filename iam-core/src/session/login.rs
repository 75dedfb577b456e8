use super::{LoggedIn, RefreshState, Session, SessionChange, Sessions};
use crate::caller::{Caller, RequestContext};
use crate::credential::{Attempt, GuardedAccount, Outcome};
use crate::error::{Conflict, Error, Forbidden, Result, Unauthenticated};
use crate::iam::Inner;
use crate::id::{SessionId, TenantId};
use crate::secret::Password;
use crate::tenant::{TenantSummary, Tenants};
use crate::user::User;
use crate::validate::{Email, Fields};
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

/// A tenant that may be meant, and the account in it.
struct Candidate {
    scope: Scope,
    guarded: GuardedAccount,
}

/// Where the failures of a login are counted.
enum Scope {
    Tenant(TenantSummary),
    /// In a place of no tenant's.
    Nowhere(TenantId),
}

impl Scope {
    fn id(&self) -> TenantId {
        match self {
            Self::Tenant(tenant) => tenant.id,
            Self::Nowhere(id) => *id,
        }
    }
}

/// A password that was tried in a tenant.
struct Tried<'a> {
    scope: Scope,
    attempt: Attempt<'a>,
}

impl Sessions<'_> {
    /// Logs in: proves a password and begins a session.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::Credentials`] for every failure of identity, [`Error::AccountLocked`] after five of them
    /// in fifteen minutes, [`Forbidden::Suspended`], [`Conflict::SeveralTenants`] when the credentials are right in
    /// several tenants and none is named, [`Error::Validation`] when the e-mail is none or the password empty,
    /// [`Error::Overloaded`], whatever the account.
    pub async fn login(&self, context: &RequestContext, login: Login) -> Result<LoggedIn> {
        let mut fields = Fields::default();
        let email = fields.check("email", login.email.parse::<Email>());
        fields.require("password", login.password.expose());
        let Some(email) = email.filter(|_| fields.is_empty()) else {
            return Err(fields.into_error());
        };
        // Now, before the store is asked for anything: in a storm those who are refused are the most.
        self.0.passwords.admit()?;
        let mut tried = Vec::new();
        for Candidate { scope, guarded } in self.candidates(&email, login.tenant.as_deref()).await? {
            let attempt = Attempt::make(self.0, scope.id(), &email, guarded, &login.password).await?;
            tried.push(Tried { scope, attempt });
        }
        // Locked accounts are passed over, unless there are no others.
        if tried.iter().any(|tried| !tried.attempt.was_locked()) {
            tried.retain(|tried| !tried.attempt.was_locked());
        }
        self.0.refresh_keys().await?;
        self.settle(context, tried, &login.password).await
    }

    /// Where the e-mail may belong: the named tenant, or those that have it, or nowhere.
    async fn candidates(&self, email: &Email, named: Option<&str>) -> Result<Vec<Candidate>> {
        let (store, key) = (&self.0.store, email.key());
        let (found, nowhere) = match named {
            None => (store.accounts_with_email(&key, MAX_CANDIDATES).await?, TenantId::NONE),
            Some(named) => match Tenants(self.0).find(named).await? {
                Some(tenant) => {
                    let guarded = store.guarded_account(tenant.id, &key).await?;
                    (vec![(tenant.summary(), guarded)], TenantId::NONE)
                }
                None => (Vec::new(), TenantId::of_unknown(named)),
            },
        };
        let candidate = |(tenant, guarded)| Candidate { scope: Scope::Tenant(tenant), guarded };
        let mut candidates: Vec<Candidate> = found.into_iter().map(candidate).collect();
        if candidates.is_empty() {
            let guarded = store.guarded_account(nowhere, &key).await?;
            candidates.push(Candidate { scope: Scope::Nowhere(nowhere), guarded });
        }
        Ok(candidates)
    }

    /// Settles each attempt in its own tenant. The one that is proven becomes a session.
    ///
    /// A wrong password counts where it was tried, also when it is right elsewhere: otherwise somebody could guess
    /// a password beside an account of its own with the same e-mail, and never be counted.
    async fn settle(
        &self,
        context: &RequestContext,
        mut tried: Vec<Tried<'_>>,
        password: &Password,
    ) -> Result<LoggedIn> {
        let iam = self.0;
        // The session last: should the store fail before, there must be none that nobody knows of.
        tried.sort_by_key(|tried| tried.attempt.is_right());
        let is_ambiguous = tried.iter().filter(|tried| tried.attempt.is_right()).count() > 1;
        let (mut logged_in, mut refusal, mut proven) = (None, None, Vec::new());
        for Tried { scope, attempt } in tried {
            let caller = Caller::anonymous(scope.id(), context.clone());
            let (outcome, mut work) = attempt.settle(iam, &caller, password).await?;
            match (outcome, scope) {
                // Nobody logs in yet, so the success leaves no trace.
                (Outcome::Proven(_), Scope::Tenant(tenant)) if is_ambiguous => {
                    proven.push(tenant);
                    continue;
                }
                (Outcome::Proven(account), _) => {
                    logged_in = Some(open_session(iam, &mut work, account.user, iam.next_id()).await?);
                }
                (outcome, _) => refusal = milder(refusal, outcome),
            }
            work.commit().await?;
        }
        match (logged_in, refusal) {
            (Some(logged_in), _) => Ok(logged_in),
            (None, _) if !proven.is_empty() => Err(Conflict::SeveralTenants(proven).into()),
            (None, Some(Outcome::Locked(retry_after))) => Err(Error::AccountLocked { retry_after }),
            (None, Some(Outcome::Suspended)) => Err(Forbidden::Suspended.into()),
            (None, _) => Err(Unauthenticated::Credentials.into()),
        }
    }
}

/// Of several refusals, the one to answer with. A suspension is told to whoever proved the password; a lock only
/// where all accounts are locked, and then the one that ends first.
fn milder(refusal: Option<Outcome>, next: Outcome) -> Option<Outcome> {
    Some(match (refusal, next) {
        (None, next) => next,
        (Some(Outcome::Locked(a)), Outcome::Locked(b)) => Outcome::Locked(a.min(b)),
        (Some(Outcome::Locked(_)), next) | (Some(_), next @ Outcome::Suspended) => next,
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
    work.apply(SessionChange::Start(session)).await?;
    Ok(LoggedIn { user: User { last_login_at: Some(now), ..user }, tokens })
}
