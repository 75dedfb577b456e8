//! Authentication: from an access token to its caller.

use std::sync::Arc;

use iam_model::clock::monotonic_now;
use iam_model::context::RequestContext;
use iam_model::error::{Forbidden, Result, Unauthenticated};
use iam_model::store_error::StoreError;

use crate::caller::Caller;
use crate::iam::Iam;
use crate::token;
use crate::token::VerifiedToken;
use crate::token::{is_api_key, parse_api_key};

impl Iam {
    /// Returns the caller that an access token or an [API key](crate::api_key) stands for.
    ///
    /// The token's signature, issuer, audience and times must be right, and its session must not have ended. A token is
    /// refused as soon as its session ends. If another `Iam` ends the session and this one
    /// [follows](Self::follow_changes) the changes of others, the token is refused within a second.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::InvalidToken`], [`Unauthenticated::ExpiredToken`], [`Unauthenticated::ApiKey`];
    /// [`Forbidden::SecondFactorRequired`](iam_model::error::Forbidden) when the user must set up a second factor
    /// first; [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn authenticate(&self, token: &str, context: RequestContext) -> Result<Caller> {
        if is_api_key(token) {
            return self.authenticate_by_key(token, context).await;
        }
        self.authenticate_verified(&self.verify(token).await?, context).await
    }

    /// Returns the caller that an API key stands for. The key's secret must be right, the key must be neither revoked
    /// nor expired, and its user ACTIVE. A key is refused as soon as it is revoked, as a session is.
    async fn authenticate_by_key(&self, token: &str, context: RequestContext) -> Result<Caller> {
        let iam = &*self.0;
        let parsed = parse_api_key(token).ok_or(Unauthenticated::ApiKey)?;
        let snapshot = iam.api_key_snapshot(parsed.tenant, parsed.id).await?.ok_or(Unauthenticated::ApiKey)?;
        let now = iam.now();
        if !snapshot.admits(&parsed.secret_hash, now) {
            return Err(Unauthenticated::ApiKey.into());
        }
        if snapshot.take_use(now)
            && let Err(error) = iam.store.record_api_key_use(parsed.tenant, parsed.id, now).await
        {
            // Only the shown time of the last use is too early.
            tracing::debug!(%error, "the use of an API key was not written");
        }
        let key = (snapshot.key.user_id, parsed.id);
        Ok(Caller::api_key(parsed.tenant, key, Arc::clone(&snapshot.authority), context))
    }

    /// Does the first half of [`authenticate`](Self::authenticate): it verifies the token. For code that must decide
    /// before the store is queried for the session, such as a rate limit. Only the signing keys are read from the
    /// store, and only from time to time.
    ///
    /// # Errors
    ///
    /// The same as [`authenticate`](Self::authenticate). But a session that has ended is an error only if this process
    /// already knows that it has ended.
    pub async fn verify(&self, token: &str) -> Result<VerifiedToken> {
        let iam = &*self.0;
        let now = iam.now();
        let cached = iam.verified_tokens.get(token);
        let kid = cached.as_ref().map_or_else(|| token::key_of(token), |cached| Ok(cached.key()))?;
        let key = iam
            .keys
            .verifying_key(&*iam.store, iam.snapshots(), kid, now)
            .await?
            .ok_or(Unauthenticated::InvalidToken)?;
        let verified = match &cached {
            Some(cached) => cached.clone(),
            None => VerifiedToken::new(kid, token::verify(token, &key, &iam.settings.issuer, &iam.settings.audience)?),
        };
        verified.claims().check_times(now)?;
        if iam.ended_sessions.contains(verified.claims().sid, now) {
            return Err(Unauthenticated::InvalidToken.into());
        }
        if cached.is_none() {
            iam.verified_tokens.keep(token, verified.clone());
        }
        Ok(verified)
    }

    /// Does the second half of [`authenticate`](Self::authenticate): it checks the session. Call it again to check
    /// later that the token and the session are still valid.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::InvalidToken`] when the session has ended or the key was revoked,
    /// [`Unauthenticated::ExpiredToken`]; [`Forbidden::SecondFactorRequired`](iam_model::error::Forbidden) when the
    /// user must set up a second factor first; [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn authenticate_verified(&self, token: &VerifiedToken, context: RequestContext) -> Result<Caller> {
        let (caller, factor) = self.caller_of(token, context).await?;
        factor?;
        Ok(caller)
    }

    /// Does the same as [`authenticate_verified`](Self::authenticate_verified), also for a user that must set up a
    /// second factor first. Only for the calls with which a user sets one up, sees itself, or logs out.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::InvalidToken`] when the session has ended or the key was revoked,
    /// [`Unauthenticated::ExpiredToken`]; [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn authenticate_without_factor(&self, token: &VerifiedToken, context: RequestContext) -> Result<Caller> {
        Ok(self.caller_of(token, context).await?.0)
    }

    /// Returns the caller, and whether its user must set up a second factor first.
    async fn caller_of(
        &self,
        token: &VerifiedToken,
        context: RequestContext,
    ) -> Result<(Caller, Result<(), Forbidden>)> {
        let (iam, claims) = (&*self.0, token.claims());
        let now = iam.now();
        // Time may have passed since the first half.
        claims.check_times(now)?;
        if !iam.keys.accepts(&*iam.store, iam.snapshots(), token.key(), now).await? {
            return Err(Unauthenticated::InvalidToken.into());
        }
        let Some(snapshot) = iam.session_snapshot(claims.tenant_id, claims.sid, now).await? else {
            iam.ended_sessions.remember(claims.sid, claims.exp, now);
            return Err(Unauthenticated::InvalidToken.into());
        };
        if !snapshot.admits(claims.sub, now) {
            return Err(Unauthenticated::InvalidToken.into());
        }
        let authority = Arc::clone(&snapshot.authority);
        let caller = Caller::user_session(claims.tenant_id, claims.sub, claims.sid, authority, context);
        Ok((caller, snapshot.require_factor(now)))
    }

    /// Follows the commits of other replicas, so that [`authenticate`](Self::authenticate) can use cached sessions
    /// instead of querying the store. Keep it running, and call it again a moment after it has failed. Until then,
    /// and while no notifications arrive, every request queries the store.
    ///
    /// A commit through this `Iam` takes effect here at once in any case, and a commit of another replica within a
    /// second. This function returns when the store fails, or at once when the store has no
    /// [change feed](iam_model::store::Store::change_feed).
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn follow_changes(&self) -> Result<(), StoreError> {
        match self.0.store.change_feed().await? {
            Some(feed) => Err(self.0.snapshots().follow(feed).await),
            None => Ok(()),
        }
    }

    /// Whether this process [receives](Self::follow_changes) the changes of other replicas at this moment.
    #[must_use]
    pub fn hears_changes(&self) -> bool {
        self.0.snapshots().are_trusted(monotonic_now())
    }
}
