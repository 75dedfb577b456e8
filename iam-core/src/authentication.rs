//! Authentication: from an access token to its caller.

use std::sync::Arc;

use iam_model::clock::{Timestamp, monotonic_now};
use iam_model::context::RequestContext;
use iam_model::error::{Forbidden, Result, Unauthenticated};
use iam_model::store_error::StoreError;

use crate::caller::Caller;
use crate::iam::Iam;
use crate::token;
use crate::token::{SignedToken, TokenKind, VerifiedApiKey, VerifiedToken, is_api_key, parse_api_key};

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
    /// [`Forbidden::SecondFactorRequired`](iam_model::error::Forbidden) when the tenant requires a second factor, and
    /// the session has authenticated by none or the user of the API key has none;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn authenticate(&self, token: &str, context: RequestContext) -> Result<Caller> {
        self.authenticate_verified(&self.verify(token).await?, context).await
    }

    /// Does the first half of [`authenticate`](Self::authenticate): it verifies the token. For code that must decide
    /// before the store is queried, such as a rate limit. An access token is verified by its signature, and only the
    /// signing keys are read from the store, from time to time. An API key is read from the store, unless this process
    /// [knows](Self::knows_token) it.
    ///
    /// # Errors
    ///
    /// The same as [`authenticate`](Self::authenticate). But a session that has ended and a key that was revoked are
    /// errors only if this process already knows that.
    pub async fn verify(&self, token: &str) -> Result<VerifiedToken> {
        let (iam, now) = (&*self.0, self.0.now());
        let cached = iam.verified_tokens.get(token);
        let is_new = cached.is_none();
        let verified = match cached {
            Some(cached) => cached,
            None if is_api_key(token) => self.verify_api_key(token, now).await?,
            None => self.verify_signature(token, now).await?,
        };
        if let TokenKind::Access(SignedToken { key, claims }) = verified.kind() {
            claims.check_times(now)?;
            let is_accepted = is_new || iam.keys.tokens.accepts(&*iam.store, iam.snapshots(), *key, now).await?;
            if !is_accepted || iam.ended_sessions.contains(claims.sid, now) {
                return Err(Unauthenticated::InvalidToken.into());
            }
        }
        if is_new {
            iam.verified_tokens.keep(token, verified.clone());
        }
        Ok(verified)
    }

    /// Whether this process can [verify](Self::verify) a token without a query for it: it is an access token, or an API
    /// key that was verified before and not refused since.
    ///
    /// Strangers can invent any number of API keys. So a rate limit counts an unknown key for the client's address
    /// before it is verified.
    #[must_use]
    pub fn knows_token(&self, token: &str) -> bool {
        !is_api_key(token) || self.0.verified_tokens.get(token).is_some()
    }

    async fn verify_signature(&self, token: &str, now: Timestamp) -> Result<VerifiedToken> {
        let iam = &*self.0;
        let kid = token::key_of(token)?;
        let key = iam.keys.tokens.verifying_key(&*iam.store, iam.snapshots(), kid, now).await?;
        let key = key.ok_or(Unauthenticated::InvalidToken)?;
        let claims = token::verify(token, &key, &iam.settings.issuer, &iam.settings.audience)?;
        Ok(VerifiedToken::access(kid, claims))
    }

    async fn verify_api_key(&self, token: &str, now: Timestamp) -> Result<VerifiedToken> {
        let parsed = parse_api_key(token).ok_or(Unauthenticated::ApiKey)?;
        let snapshot = self.0.api_key_snapshot(parsed.tenant, parsed.id).await?;
        let snapshot = snapshot.filter(|snapshot| snapshot.admits(&parsed.secret_hash, now));
        let user = snapshot.ok_or(Unauthenticated::ApiKey)?.key.user_id;
        Ok(VerifiedToken::of_api_key(token, &parsed, user))
    }

    /// Does the second half of [`authenticate`](Self::authenticate): it checks the session. Call it again to check
    /// later that the token and the session are still valid.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::InvalidToken`] when the session has ended or the signing key was revoked,
    /// [`Unauthenticated::ExpiredToken`], [`Unauthenticated::ApiKey`];
    /// [`Forbidden::SecondFactorRequired`](iam_model::error::Forbidden) as for [`authenticate`](Self::authenticate);
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn authenticate_verified(&self, token: &VerifiedToken, context: RequestContext) -> Result<Caller> {
        let (caller, factor) = self.caller_of(token, context).await?;
        factor?;
        Ok(caller)
    }

    /// Does the same as [`authenticate_verified`](Self::authenticate_verified), also for a session that is restricted
    /// because it has authenticated by no second factor. Only for the calls with which a user sets one up,
    /// authenticates by one, sees itself, or logs out. An API key can do none of that but see its user, so there is no
    /// exception for keys.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::InvalidToken`] when the session has ended or the signing key was revoked,
    /// [`Unauthenticated::ExpiredToken`], [`Unauthenticated::ApiKey`];
    /// [`Forbidden::SecondFactorRequired`](iam_model::error::Forbidden) for an API key whose user must set up a second
    /// factor; [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn authenticate_without_factor(&self, token: &VerifiedToken, context: RequestContext) -> Result<Caller> {
        Ok(self.caller_of(token, context).await?.0)
    }

    /// Returns the caller, and whether its session is restricted.
    async fn caller_of(
        &self,
        token: &VerifiedToken,
        context: RequestContext,
    ) -> Result<(Caller, Result<(), Forbidden>)> {
        match token.kind() {
            TokenKind::Access(token) => self.caller_of_session(token, context).await,
            TokenKind::ApiKey(key) => Ok((self.caller_of_api_key(key, context).await?, Ok(()))),
        }
    }

    async fn caller_of_session(
        &self,
        SignedToken { key, claims }: &SignedToken,
        context: RequestContext,
    ) -> Result<(Caller, Result<(), Forbidden>)> {
        let (iam, now) = (&*self.0, self.0.now());
        // Time may have passed since the first half.
        claims.check_times(now)?;
        if !iam.keys.tokens.accepts(&*iam.store, iam.snapshots(), *key, now).await? {
            return Err(Unauthenticated::InvalidToken.into());
        }
        let Some(snapshot) = iam.session_snapshot(claims.tenant_id, claims.sid, now).await? else {
            iam.ended_sessions.remember(claims.sid, claims.exp, now);
            return Err(Unauthenticated::InvalidToken.into());
        };
        let admitted = iam.admit((claims.tenant_id, claims.sid, claims.sub), snapshot, &context).await?;
        let authority = Arc::clone(&admitted.session.authority);
        let caller = Caller::user_session(claims.tenant_id, claims.sub, claims.sid, authority, context);
        let caller = caller.with_authzen_identifiers(admitted.session.authzen_identifiers);
        Ok((caller.acted_by(admitted.session.impersonator), admitted.restriction))
    }

    /// Returns the caller that an API key stands for. The key must be neither revoked nor expired, and its user ACTIVE
    /// and with a second factor, if it must have one. A key is refused as soon as it is revoked, as a session is.
    async fn caller_of_api_key(&self, key: &VerifiedApiKey, context: RequestContext) -> Result<Caller> {
        let (iam, now) = (&*self.0, self.0.now());
        let snapshot = iam.api_key_snapshot(key.tenant, key.id).await?;
        let Some(snapshot) = snapshot.filter(|snapshot| snapshot.admits(&key.secret_hash, now)) else {
            iam.verified_tokens.forget(key);
            return Err(Unauthenticated::ApiKey.into());
        };
        snapshot.require_factor(now)?;
        if snapshot.take_use(now)
            && let Err(error) = iam.store.record_api_key_use(key.tenant, key.id, now).await
        {
            // Only the shown time of the last use is too early.
            tracing::debug!(%error, "the use of an API key was not written");
        }
        let caller = Caller::api_key(key.tenant, (key.user, key.id), Arc::clone(&snapshot.authority), context);
        Ok(caller.with_authzen_identifiers(snapshot.authzen_identifiers))
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
    pub fn receives_changes(&self) -> bool {
        self.0.snapshots().are_trusted(monotonic_now())
    }
}
