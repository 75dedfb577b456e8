use aws_lc_rs::digest::{SHA256, digest};
use iam_model::challenge::ChallengePurpose;
use iam_model::context::RequestContext;
use iam_model::credential::{GuardedAccount, LoginCandidate, LoginCandidates};
use iam_model::error::{Conflict, Error, FederatedLogin, PendingLogin, Result};
use iam_model::factor::AuthenticationMethods;
use iam_model::id::TenantId;
use iam_model::secret::Password;
use iam_model::tenant::TenantSummary;
use iam_model::user::UserStatus;
use iam_model::validate::{Email, Fields};

use crate::caller::Caller;
use crate::engine::Engine;
use crate::guard::{
    DuringLockout, LoginTenant, PasswordAttempt, PasswordCredentials, Refusal, VerifiedPassword, delay_refusal, rehash,
};
use crate::hashing::Share;
use crate::session::open::open_session;
use crate::session::second_factor::begin_second_factor;
use crate::session::{LoggedIn, Sessions};

/// The input of a login, as typed; see [`Sessions::login`].
#[derive(Clone, Debug)]
pub struct Login {
    /// The user's e-mail, in upper or lower case.
    pub email: String,
    /// The user's password.
    pub password: Password,
    /// The identifier or slug of the tenant. Without it, the tenant is found by the e-mail.
    pub tenant: Option<String>,
}

/// The step after a right password.
enum Step {
    LoggedIn(Box<LoggedIn>),
    SecondFactor(PendingLogin),
    Federated(Vec<FederatedLogin>),
}

/// The maximum number of tenants in which a password is tried when no tenant is named.
pub(crate) const MAX_CANDIDATES: u32 = 5;

/// The name of the tenant under which a failure is counted when no account has the e-mail. So such a login counts as
/// many failures as one with an account.
pub(crate) const NO_TENANT: &str = "";

/// An attempt to log in to one of the tenants that a login without a tenant may mean.
struct TenantAttempt<'a> {
    attempt: PasswordAttempt<'a>,
    /// The tenant. `None` where no account has the e-mail.
    tenant: Option<TenantSummary>,
    /// Whether the e-mail of the account is verified, so that it belongs to a person in the tenant.
    is_verified: bool,
}

impl Sessions<'_> {
    /// Verifies a password and begins a session.
    ///
    /// A login that names no tenant is tried in the accounts that have the e-mail (`docs/http-api.md#login`): in the
    /// accounts with a verified e-mail if there are any, in at most five tenants. Its answer does not depend on what
    /// tenants do with other accounts of the same e-mail.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::Credentials`](iam_model::error::Unauthenticated::Credentials) for every failure of identity,
    /// [`Error::AccountLocked`](iam_model::error::Error::AccountLocked) after too many failures ([`Settings::lockout`](crate::Settings::lockout)),
    /// [`Forbidden::Suspended`](iam_model::error::Forbidden::Suspended),
    /// [`Forbidden::TenantSuspended`](iam_model::error::Forbidden::TenantSuspended), [`Conflict::SeveralTenants`] when
    /// the credentials are right in several tenants and none is named,
    /// [`Error::Validation`](iam_model::error::Error::Validation) when the e-mail is invalid or the password is empty,
    /// [`Error::Overloaded`](iam_model::error::Error::Overloaded) for any account,
    /// [`Error::SecondFactorRequired`] when the password is right and the user has a second factor: then
    /// [`login_with_factor`](Self::login_with_factor) finishes the login; [`Error::FederationRequired`] when the password
    /// is right and the user logs in by an identity provider alone
    /// ([`PasswordLogin::Federated`](iam_model::tenant::PasswordLogin)).
    pub async fn login(&self, context: &RequestContext, login: Login) -> Result<LoggedIn> {
        let mut fields = Fields::default();
        let email = fields.check("email", Email::for_lookup(&login.email));
        fields.require("password", login.password.expose());
        let Some(email) = email.filter(|_| fields.is_empty()) else {
            return Err(fields.into_error().into());
        };
        let share = Share::of_client(context);
        // Before any query to the store: under overload, most logins are refused here.
        self.0.passwords.admit(share)?;
        let credentials = PasswordCredentials { email: &email, password: &login.password, share };
        let step = match login.tenant.as_deref() {
            Some(named) => self.login_to(named, context, credentials).await?,
            None => self.login_anywhere(context, credentials).await?,
        };
        match step {
            Step::LoggedIn(logged_in) => Ok(*logged_in),
            Step::SecondFactor(pending) => Err(Error::SecondFactorRequired(pending)),
            Step::Federated(logins) => Err(Error::FederationRequired(logins)),
        }
    }

    /// Logs in to the named tenant.
    async fn login_to(
        &self,
        named: &str,
        context: &RequestContext,
        credentials: PasswordCredentials<'_>,
    ) -> Result<Step> {
        let iam = self.0;
        let (tenant, share) = match iam.find_tenant(named).await? {
            Some(tenant) => (LoginTenant::of(&tenant), credentials.share.in_tenant(tenant.id)),
            None => (LoginTenant::active(unknown_tenant(named)), credentials.share),
        };
        let credentials = PasswordCredentials { share, ..credentials };
        let guarded = iam.store.guarded_account(tenant.id, &credentials.email.key()).await?;
        let attempt = PasswordAttempt::verify(iam, tenant, credentials, guarded, DuringLockout::Refuse).await?;
        iam.refresh_keys().await?;
        let delay = attempt.refusal_delay();
        let answer = self.finish(attempt, context).await?;
        delay_refusal(answer.map_err(Error::from), delay).await
    }

    /// Logs in to the one tenant in which the password is right.
    async fn login_anywhere(&self, context: &RequestContext, credentials: PasswordCredentials<'_>) -> Result<Step> {
        let iam = self.0;
        // One query reads the failures and the accounts, so that an e-mail without an account takes as long.
        let LoginCandidates { attempts, accounts } =
            iam.store.login_candidates(&credentials.email.key(), MAX_CANDIDATES).await?;
        let accounts = accounts_to_try(accounts);
        let reveals_lock = matches!(accounts.as_slice(), [only] if is_verified(only));
        let locked_for = attempts.locked_for(iam.now());
        let when_locked = if reveals_lock { DuringLockout::Refuse } else { DuringLockout::Conceal };
        let mut tried = Vec::with_capacity(accounts.len().max(1));
        for candidate in accounts {
            let (is_verified, tenant) = (is_verified(&candidate), Some(candidate.tenant.summary()));
            let login_tenant = LoginTenant::of(&candidate.tenant);
            match try_in(iam, login_tenant, credentials, candidate.into(), when_locked, locked_for.is_some()).await {
                Ok(attempt) => tried.push(TenantAttempt { attempt, tenant, is_verified }),
                Err(error) => {
                    // The failures are counted. Otherwise, an attacker that keeps the queue full could guess without
                    // being counted.
                    if !tried.is_empty() && !tried.iter().any(|tried: &TenantAttempt<'_>| tried.attempt.is_right()) {
                        self.refuse_everywhere(context, credentials, tried).await?;
                    }
                    return Err(error);
                }
            }
        }
        if tried.is_empty() {
            let (login_tenant, account) = (LoginTenant::active(unknown_tenant(NO_TENANT)), GuardedAccount::default());
            let attempt = try_in(iam, login_tenant, credentials, account, when_locked, locked_for.is_some()).await?;
            tried.push(TenantAttempt { attempt, tenant: None, is_verified: false });
        }
        if let Some(retry_after) = locked_for {
            return Err(self.refuse_in_each(context, tried, Refusal::Locked(retry_after)).await?.into());
        }
        iam.refresh_keys().await?;
        let delay = tried.iter().map(|tried| tried.attempt.refusal_delay()).sum();
        delay_refusal(self.finish_all(context, credentials, tried).await, delay).await
    }

    /// Handles the attempts of all tenants that were tried.
    async fn finish_all(
        &self,
        context: &RequestContext,
        credentials: PasswordCredentials<'_>,
        tried: Vec<TenantAttempt<'_>>,
    ) -> Result<Step> {
        let (mut right, mut wrong) = (Vec::new(), Vec::new());
        // A single attempt is checked when it is finished.
        let is_only = tried.len() == 1;
        for TenantAttempt { attempt, tenant, is_verified } in tried {
            let attempt = if attempt.is_right() && !is_only { attempt.confirmed(self.0).await? } else { attempt };
            let side = if attempt.is_right() { &mut right } else { &mut wrong };
            side.push(TenantAttempt { attempt, tenant, is_verified });
        }
        if right.is_empty() {
            Err(self.refuse_everywhere(context, credentials, wrong).await?.into())
        } else {
            self.finish_right(context, credentials, right, wrong).await
        }
    }

    /// Handles a password that is right in no tenant. The failure is counted by the e-mail, and in each tenant that
    /// was tried.
    async fn refuse_everywhere(
        &self,
        context: &RequestContext,
        credentials: PasswordCredentials<'_>,
        tried: Vec<TenantAttempt<'_>>,
    ) -> Result<Refusal> {
        if let [only] = tried.as_slice()
            && only.attempt.reveals_lock()
        {
            return self.refuse_in_each(context, tried, Refusal::Wrong).await;
        }
        match self.count_by_email(credentials).await? {
            // Enough concurrent guesses have failed meanwhile.
            refusal @ Refusal::Locked(_) => {
                let refused = tried.into_iter();
                let refused =
                    refused.map(|tried| TenantAttempt { attempt: tried.attempt.into_refused(), ..tried }).collect();
                self.refuse_in_each(context, refused, refusal).await
            }
            _ => self.refuse_in_each(context, tried, Refusal::Wrong).await,
        }
    }

    /// Counts a failure by the e-mail alone.
    async fn count_by_email(&self, credentials: PasswordCredentials<'_>) -> Result<Refusal> {
        let caller = Caller::anonymous(TenantId::NONE, RequestContext::default());
        let by_email = PasswordAttempt::wrong(LoginTenant::active(TenantId::NONE), credentials).unrecorded();
        let (counted, work) = by_email.apply_under_lock(self.0, &caller).await?;
        work.commit().await?;
        Ok(counted.err().unwrap_or(Refusal::Wrong))
    }

    /// Counts and records the failure in each tenant. If an account reveals its lock, that is the answer.
    async fn refuse_in_each(
        &self,
        context: &RequestContext,
        tried: Vec<TenantAttempt<'_>>,
        mut refusal: Refusal,
    ) -> Result<Refusal> {
        // Where registration is open, a stranger may have created an account with this e-mail, to watch the logins of
        // the person who owns it.
        let is_open = self.0.settings.registration && self.0.has_several_tenants().await?;
        for TenantAttempt { attempt, tenant, is_verified } in tried {
            let is_watched = is_open && tenant.is_some() && !is_verified;
            let recorded = if is_watched { self.0.unrelated_context() } else { context.clone() };
            if let Err(locked @ Refusal::Locked(_)) = self.finish(attempt, &recorded).await?
                && refusal == Refusal::Wrong
            {
                refusal = locked;
            }
        }
        Ok(refusal)
    }

    /// Handles a password that is right in at least one tenant.
    ///
    /// Where it is wrong, the failure is still counted. Otherwise, an attacker could create an account with the same
    /// e-mail and guess the passwords of other accounts uncounted. These failures get no audit entry, so that no
    /// tenant learns of another. Only the one that locks an account gets one, which does not tell where it came from.
    async fn finish_right(
        &self,
        context: &RequestContext,
        credentials: PasswordCredentials<'_>,
        right: Vec<TenantAttempt<'_>>,
        wrong: Vec<TenantAttempt<'_>>,
    ) -> Result<Step> {
        for TenantAttempt { attempt, .. } in wrong {
            let _refusal = self.finish(attempt.unrecorded(), &self.0.unrelated_context()).await?;
        }
        let (mut opening, suspended): (Vec<_>, Vec<_>) =
            right.into_iter().partition(|tried| tried.attempt.may_log_in());
        if opening.len() > 1 {
            // No session begins, so the success is not recorded.
            let tenants = opening.into_iter().filter_map(|tried| tried.tenant).collect();
            return Err(Conflict::SeveralTenants(tenants).into());
        }
        if let Some(TenantAttempt { attempt, .. }) = opening.pop() {
            return Ok(self.finish_or_count(attempt, credentials, context).await??);
        }
        let mut refusal = Refusal::Wrong;
        for TenantAttempt { attempt, .. } in suspended {
            refusal = self.finish_or_count(attempt, credentials, context).await?.err().unwrap_or(refusal);
        }
        Err(refusal.into())
    }

    /// Finishes a right attempt. If concurrent guesses have locked the account meanwhile, the attempt is counted and
    /// answered like a wrong one.
    async fn finish_or_count(
        &self,
        attempt: PasswordAttempt<'_>,
        credentials: PasswordCredentials<'_>,
        context: &RequestContext,
    ) -> Result<Result<Step, Refusal>> {
        match self.finish(attempt, context).await? {
            Err(Refusal::Wrong) => Ok(Err(self.count_by_email(credentials).await?)),
            answer => Ok(answer),
        }
    }

    /// Finishes an attempt in its own tenant. A right attempt begins a session, or a challenge if the user has a second
    /// factor.
    async fn finish(&self, attempt: PasswordAttempt<'_>, context: &RequestContext) -> Result<Result<Step, Refusal>> {
        let (iam, credentials, demand) = (self.0, attempt.credentials(), attempt.demand());
        let caller = Caller::anonymous(attempt.tenant(), context.clone());
        let federated = attempt.federated_logins(iam).await?;
        let (verified, mut work) = attempt.apply_under_lock(iam, &caller).await?;
        let verified = match verified {
            Ok(verified) => verified,
            Err(refusal) => {
                work.commit().await?;
                return Ok(Err(refusal));
            }
        };
        if !federated.is_empty() {
            verified.refuse_as_federated(&mut work).await?;
            work.commit().await?;
            return Ok(Ok(Step::Federated(federated)));
        }
        let VerifiedPassword { account, is_outdated, factors, .. } = verified;
        let step = if factors.is_empty() {
            let user = account.user.clone();
            let enrol_by = demand.enrol_by(user.created_at);
            let logged_in = open_session(iam, &mut work, user, iam.next_id(), AuthenticationMethods::default()).await?;
            Step::LoggedIn(Box::new(LoggedIn { enrol_by, ..logged_in }))
        } else {
            let first_half = (ChallengePurpose::Login, None);
            Step::SecondFactor(begin_second_factor(iam, &mut work, first_half, &account.user, &factors).await?)
        };
        work.commit().await?;
        if is_outdated {
            rehash(iam, &caller, credentials, account).await;
        }
        Ok(Ok(step))
    }
}

/// Tries a password in a tenant, unless the e-mail is locked.
async fn try_in<'a>(
    iam: &Engine,
    tenant: LoginTenant,
    credentials: PasswordCredentials<'a>,
    account: GuardedAccount,
    when_locked: DuringLockout,
    is_locked: bool,
) -> Result<PasswordAttempt<'a>> {
    if is_locked {
        Ok(PasswordAttempt::refused(tenant, credentials, account))
    } else {
        PasswordAttempt::verify(iam, tenant, credentials, account, when_locked).await
    }
}

/// Returns the accounts in which a login without a tenant is tried (`docs/http-api.md#login`). If any account is
/// verified, these are only the verified ones. Deleted users are used only where no other user has the e-mail.
fn accounts_to_try(mut candidates: Vec<LoginCandidate>) -> Vec<LoginCandidate> {
    let is_inactive = |candidate: &LoginCandidate| candidate.account.user.status == UserStatus::Inactive;
    if !candidates.iter().all(is_inactive) {
        candidates.retain(|candidate| !is_inactive(candidate));
    }
    if candidates.iter().any(is_verified) {
        candidates.retain(is_verified);
    }
    candidates
}

fn is_verified(candidate: &LoginCandidate) -> bool {
    candidate.account.user.email_verified_at.is_some()
}

/// Returns the identifier of a tenant that does not exist, for the name that a client gave: failed logins are counted
/// under it.
///
/// Each name has an identifier of its own (UUID version 8). If these failures were counted under
/// [`TenantId::NONE`], the count would reveal whether an account has the e-mail.
pub(crate) fn unknown_tenant(name: &str) -> TenantId {
    let hash = digest(&SHA256, &[b"unknown tenant", name.as_bytes()].concat());
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(hash.as_ref()).for_each(|(to, from)| *to = *from);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_unknown_tenants_differ_from_real_tenants_and_each_other() {
        let (a, b) = (unknown_tenant("acme"), unknown_tenant("other"));
        assert!(a.can_be_no_tenant() && b.can_be_no_tenant());
        assert!(a != b && a != TenantId::NONE && a == unknown_tenant("acme"));
    }
}
