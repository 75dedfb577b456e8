//! The second half of a login: the proof by a second factor (`docs/http-api.md#a-login-with-a-factor`).

use iam_model::challenge::{Challenge, ChallengePurpose};
use iam_model::change::ChallengeChange;
use iam_model::context::RequestContext;
use iam_model::error::{Error, PendingLogin, Result, Unauthenticated};
use iam_model::factor::{AuthenticationMethod, AuthenticationMethods, Factor};
use iam_model::secret::ChallengeToken;
use iam_model::session::ProviderSession;
use iam_model::tenant::{EmailLogin, TenantStatus};
use iam_model::user::User;
use iam_model::validate::Fields;

use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork};
use crate::guard::{AccountUnderLock, FactorProof, Refusal, tell_of_recovery_code};
use crate::session::open::{Proof, open_session};
use crate::session::{LoggedIn, Sessions};
use crate::token::{new_challenge_token, parse_challenge_token};

impl Sessions<'_> {
    /// Finishes a login that [`login`](Self::login) has begun, or one by an identity provider or by e-mail, by a second
    /// factor.
    ///
    /// A wrong proof counts like a wrong password. A challenge can be answered once, and ends with the fifth wrong
    /// proof.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::Challenge`] when the challenge is unknown, used or expired, [`Unauthenticated::SecondFactor`]
    /// for a wrong proof, [`Error::Validation`] for an empty challenge and for a code that is not six digits,
    /// [`Error::AccountLocked`],
    /// [`Forbidden::Suspended`](iam_model::error::Forbidden::Suspended).
    pub async fn login_with_factor(
        &self,
        context: &RequestContext,
        challenge: &ChallengeToken,
        proof: &FactorProof,
    ) -> Result<LoggedIn> {
        let iam = self.0;
        let mut fields = Fields::default();
        fields.require("challenge", challenge.expose());
        fields.finish()?;
        let (tenant, token_hash) = parse_challenge_token(challenge).ok_or(Unauthenticated::Challenge)?;
        // Refused without a lock: a client with invented challenges must not block other writers.
        let challenge = is_open_login(iam.store.challenge(tenant, &token_hash).await?, iam)?;
        let by_email = challenge.purpose == ChallengePurpose::EmailLogin;
        let user_id = challenge.user_id.ok_or(Unauthenticated::Challenge)?;
        let tenant = iam.store.tenant(tenant).await?.filter(|tenant| tenant.status == TenantStatus::Active);
        // Logins by e-mail may have been turned off since the first half.
        let tenant = tenant.filter(|tenant| !by_email || tenant.email_login == EmailLogin::On);
        let tenant = tenant.ok_or(Unauthenticated::Challenge)?;
        let user = iam.store.user(tenant.id, user_id).await?.ok_or(Unauthenticated::Challenge)?;
        // The tenant may want logins by its provider alone since the first half.
        if challenge.provider.is_none()
            && !iam.federated_logins((tenant.id, tenant.password_login), &user).await?.is_empty()
        {
            return Err(Unauthenticated::Challenge.into());
        }
        // The provider may have been removed since the first half.
        if let Some(provider) = &challenge.provider
            && !iam.logs_in_at(&user, provider.provider_id).await?
        {
            return Err(Unauthenticated::Challenge.into());
        }
        iam.refresh_keys().await?;
        let caller = Caller::anonymous(tenant.id, context.clone());
        let mut work = iam.begin(&caller).await?;
        let account = AccountUnderLock::lock(&mut work, &user).await?.ok_or(Unauthenticated::Challenge)?;
        let challenge = is_open_login(work.reads().lock_challenge(&token_hash).await?, iam)?;
        let method = match account.verify_factor(iam, &mut work, proof, challenge.ceremony.as_ref()).await? {
            Ok(method) => method,
            Err(refusal @ Refusal::WrongFactor) => {
                // A ceremony can be answered once.
                let ceremony = challenge.ceremony.clone().filter(|_| !proof.is_passkey());
                let after = Challenge { tries: challenge.tries + 1, ceremony, ..challenge };
                work.apply(ChallengeChange::Update(after)).await?;
                return refuse(work, refusal).await;
            }
            Err(refusal) => return refuse(work, refusal).await,
        };
        account.clear_failures(&mut work).await?;
        work.apply(ChallengeChange::End(challenge.clone())).await?;
        let first = match challenge.purpose {
            ChallengePurpose::FederatedLogin => AuthenticationMethod::Federation,
            ChallengePurpose::EmailLogin => AuthenticationMethod::Email,
            _ => AuthenticationMethod::Password,
        };
        let methods = AuthenticationMethods::only(first).and(method);
        let proof = Proof { provider: challenge.provider, ..Proof::from(methods) };
        let logged_in = open_session(iam, &mut work, account.user, iam.next_id(), proof).await?;
        tell_of_recovery_code(iam, &mut work, &logged_in.user, method).await?;
        work.commit().await?;
        Ok(logged_in)
    }
}

/// Begins the second half of a login whose first half has succeeded, which the purpose names: by a password, by e-mail,
/// or in a session at an identity provider.
pub(crate) async fn begin_second_factor(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    (purpose, provider): (ChallengePurpose, Option<ProviderSession>),
    user: &User,
    factors: &[Factor],
) -> Result<PendingLogin> {
    let now = work.now();
    let (token, token_hash) = new_challenge_token(user.tenant_id, &*iam.random);
    let mut methods: Vec<AuthenticationMethod> = factors.iter().map(|factor| factor.kind.method()).collect();
    if !work.reads().recovery_codes(user.id).await?.is_empty() {
        methods.push(AuthenticationMethod::RecoveryCode);
    }
    methods.sort_unstable();
    methods.dedup();
    let challenge = Challenge::begin(purpose, user.tenant_id, Some(user.id), token_hash, now);
    work.apply(ChallengeChange::Issue(Challenge { provider, ..challenge })).await?;
    let expires_in = Challenge::LIFETIME.to_std().map_err(|cause| Error::internal("lifetime of a challenge", cause))?;
    Ok(PendingLogin::new(token, methods, expires_in))
}

/// Returns the challenge of a login, if it can be answered now.
pub(super) fn is_open_login(challenge: Option<Challenge>, iam: &Engine) -> Result<Challenge> {
    let is_open = |challenge: &Challenge| {
        [ChallengePurpose::Login, ChallengePurpose::FederatedLogin, ChallengePurpose::EmailLogin]
            .into_iter()
            .any(|purpose| challenge.is_open_for(purpose, iam.now()))
    };
    Ok(challenge.filter(is_open).ok_or(Unauthenticated::Challenge)?)
}

/// Commits the records of a refusal.
pub(crate) async fn refuse<T>(work: UnitOfWork<'_>, refusal: Refusal) -> Result<T> {
    work.commit().await?;
    Err(refusal.into())
}
