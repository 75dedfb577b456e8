use aws_lc_rs::digest::{SHA256, digest};
use iam_model::audit::ResourceType;
use iam_model::challenge::{Challenge, ChallengePurpose};
use iam_model::change::ChallengeChange;
use iam_model::context::RequestContext;
use iam_model::error::{Error, Result};
use iam_model::id::{IdentityProviderId, SessionId, UserId};
use iam_model::identity_provider::{IdentityProvider, SubjectClaim};
use iam_model::session::{EndReason, ProviderSession, Session};
use iam_openid::LogoutToken;

use crate::caller::Caller;
use crate::engine::Engine;
use crate::federation::Federation;
use crate::federation::exchange::Refused;
use crate::federation::state::can_be_kept;
use crate::session::end_sessions_of;

/// The sessions of one user that a logout token ends.
struct Ending {
    user: UserId,
    /// `None` for all that began by the provider.
    sessions: Option<Vec<SessionId>>,
}

impl Federation<'_> {
    /// Ends the sessions that a logout token of a provider names (Back-Channel Logout 1.0): those that began by one
    /// session at the provider, or by an account there. A token works once.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names `logout_token` for one that is not accepted or was used before;
    /// [`Error::NotFound`] for a provider that does not exist; [`Error::ProviderUnavailable`], [`Error::FederationOff`].
    pub async fn log_out(&self, context: &RequestContext, provider: IdentityProviderId, token: &str) -> Result<()> {
        let iam = self.0;
        iam.require_federation()?;
        let provider = iam.store.identity_provider_of_any_tenant(provider).await?;
        let provider = provider.ok_or(Error::NotFound(ResourceType::IDENTITY_PROVIDER))?;
        let token = match iam.verified_logout(&provider, token).await? {
            Ok(token) => token,
            Err(Refused::Unavailable) => return Err(Error::ProviderUnavailable),
            Err(Refused::Denied | Refused::Failed(_)) => return Err(refused_token()),
        };
        let ending = iam.ending(&provider, &token).await?;
        let caller = Caller::anonymous(provider.tenant_id, context.clone());
        let mut work = iam.begin(&caller).await?;
        let token_hash = hash_of(&provider, &token);
        if work.reads().lock_challenge(&token_hash).await?.is_some() {
            return Err(refused_token());
        }
        let purpose = ChallengePurpose::ProviderLogout;
        let seen = Challenge::begin(purpose, provider.tenant_id, None, token_hash, work.now());
        let seen = Challenge { expires_at: iam_model::clock::cut(token.forgotten_at), ..seen };
        work.apply(ChallengeChange::Issue(seen)).await?;
        for Ending { user, sessions } in ending {
            let is_ended = |session: &Session| match &sessions {
                Some(sessions) => sessions.contains(&session.id),
                None => session.provider.as_ref().is_some_and(|by| by.provider_id == provider.id),
            };
            work.invalidate(user);
            end_sessions_of(&mut work, user, EndReason::ProviderLogout, is_ended).await?;
        }
        work.commit().await
    }
}

impl Engine {
    /// Returns the sessions that a logout token ends, in the order of their users. A token that names a person and a
    /// session at the provider ends the sessions of this person that began by it, or those that began by a session without
    /// a name if there are none.
    async fn ending(&self, provider: &IdentityProvider, token: &LogoutToken) -> Result<Vec<Ending>> {
        let tenant = provider.tenant_id;
        // `sub` is not what names a person where `oid` does.
        let subject = token.subject.as_deref().filter(|_| provider.subject_claim == SubjectClaim::Sub);
        let user = match subject {
            Some(subject) => self.store.identity_of(tenant, provider.id, &provider.issuer, subject).await?,
            None => None,
        };
        let user = user.map(|identity| identity.user_id);
        let Some(session) = &token.session else {
            return Ok(user.map(|user| Ending { user, sessions: None }).into_iter().collect());
        };
        // No session can have begun by one whose name was not kept.
        let mut found = match can_be_kept(session) {
            true => self.store.sessions_of_provider(tenant, provider.id, session).await?,
            false => Vec::new(),
        };
        if subject.is_some() {
            found.retain(|session| Some(session.user_id) == user);
        }
        if let (Some(user), true) = (user, found.is_empty()) {
            let is_unnamed = |by: &ProviderSession| by.provider_id == provider.id && by.session.is_none();
            let all = self.store.sessions_of(tenant, user).await?;
            found.extend(all.into_iter().filter(|session| session.provider.as_ref().is_some_and(is_unnamed)));
        }
        found.sort_by_key(|session| session.user_id);
        let of_user = found.chunk_by(|one, next| one.user_id == next.user_id);
        let ending = of_user.filter_map(|sessions| {
            let user = sessions.first()?.user_id;
            Some(Ending { user, sessions: Some(sessions.iter().map(|session| session.id).collect()) })
        });
        Ok(ending.collect())
    }
}

/// Returns the digest by which a second use of a token is noticed.
fn hash_of(provider: &IdentityProvider, token: &LogoutToken) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, format!("logout {} {}", provider.id, token.id).as_bytes()).as_ref());
    hash
}

fn refused_token() -> Error {
    Error::field(
        "logout_token",
        "is not a logout token of this provider for this service, is too old, or was used before",
    )
}
