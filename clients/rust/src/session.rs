//! The tokens of a client, and how they are refreshed.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::error::{Error, Result};
use crate::models::Tokens;
use crate::value::Secret;

/// How long before its expiry a token is refreshed: a request must not expire on its way.
const MARGIN: Duration = Duration::from_secs(10);

/// What a program does with each new pair of tokens.
pub(crate) type TokensCallback = Arc<dyn Fn(&Tokens) + Send + Sync>;

/// As whom a client acts.
#[derive(Clone, Debug)]
pub(crate) enum Credentials {
    None,
    /// An API key, or an access token without a refresh token.
    Bearer(Secret),
    Session {
        tokens: Tokens,
        /// When the access token needs a refresh, by the clock of this process.
        refresh_at: Instant,
        expires_at: Instant,
    },
}

impl Credentials {
    pub(crate) fn session(tokens: Tokens) -> Self {
        let valid = Duration::from_secs(tokens.expires_in.min(24 * 60 * 60));
        let now = Instant::now();
        let refresh_at = now + valid.saturating_sub(MARGIN.min(valid / 2));
        Self::Session { refresh_at, expires_at: now + valid, tokens }
    }
}

pub(crate) struct Session {
    credentials: Mutex<Credentials>,
    on_tokens: Option<TokensCallback>,
    /// How many refreshes have ended, and how the last one failed.
    refreshes: tokio::sync::Mutex<(u64, Option<Error>)>,
    /// The same number, for those who do not hold the lock.
    ended: AtomicU64,
}

impl Session {
    pub(crate) fn new(credentials: Credentials, on_tokens: Option<TokensCallback>) -> Self {
        Self {
            credentials: Mutex::new(credentials),
            on_tokens,
            refreshes: tokio::sync::Mutex::default(),
            ended: 0.into(),
        }
    }

    /// A panic of another thread cannot leave the value half changed.
    fn credentials(&self) -> MutexGuard<'_, Credentials> {
        self.credentials.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tokens(&self) -> Option<Tokens> {
        match &*self.credentials() {
            Credentials::Session { tokens, .. } => Some(tokens.clone()),
            _ => None,
        }
    }

    pub(crate) fn can_refresh(&self) -> bool {
        matches!(&*self.credentials(), Credentials::Session { .. })
    }

    /// Uses other tokens. They stay, too, if the callback panics: the former ones may be spent.
    pub(crate) fn keep(&self, tokens: Tokens) {
        *self.credentials() = Credentials::session(tokens.clone());
        if let Some(on_tokens) = &self.on_tokens {
            on_tokens(&tokens);
        }
    }

    pub(crate) fn forget(&self) {
        *self.credentials() = Credentials::None;
    }

    /// Returns the token, and whether it needs a refresh first.
    fn token(&self) -> (Option<Secret>, bool) {
        match &*self.credentials() {
            Credentials::None => (None, false),
            Credentials::Bearer(token) => (Some(token.clone()), false),
            Credentials::Session { tokens, refresh_at, .. } => {
                (Some(tokens.access_token.clone()), *refresh_at <= Instant::now())
            }
        }
    }

    /// Whether there is an access token that has not expired.
    fn is_valid(&self) -> bool {
        matches!(&*self.credentials(), Credentials::Session { expires_at, .. } if *expires_at > Instant::now())
    }

    /// How many refreshes have ended.
    pub(crate) fn ended(&self) -> u64 {
        self.ended.load(Ordering::Acquire)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Client {
    /// Exchanges the refresh token for a new pair of tokens now. The client does this by itself when it is needed.
    ///
    /// # Errors
    ///
    /// [`Error::NoSession`] without a refresh token, and a problem with the status 401 if the session has ended: log in
    /// again. After any other error, the client still has its tokens.
    pub async fn refresh(&self) -> Result<()> {
        let (seen, (token, _)) = (self.session.ended(), self.session.token());
        self.renew(token, seen).await
    }

    /// The token for the next request.
    pub(crate) async fn current_token(&self) -> Result<Option<Secret>> {
        let (seen, (token, is_old)) = (self.session.ended(), self.session.token());
        if !is_old {
            return Ok(token);
        }
        match self.renew(token, seen).await {
            // The service may answer again before the token expires.
            Err(error) if !self.session.is_valid() => Err(error),
            _ => Ok(self.session.token().0),
        }
    }

    /// Replaces a token: once for all callers that have used the same one. `seen` is the number of refreshes that had
    /// ended before the token was used; a later one counts for this caller, too, if it has failed.
    pub(crate) async fn renew(&self, used: Option<Secret>, seen: u64) -> Result<()> {
        let client = self.clone();
        // In a task of its own, so that a caller that gives up does not lose the new refresh token: the former one works
        // no longer.
        let task = tokio::spawn(async move { client.renew_once(used, seen).await });
        task.await.unwrap_or_else(|_| Err(Error::Request("the refresh was interrupted".to_owned())))
    }

    async fn renew_once(&self, used: Option<Secret>, seen: u64) -> Result<()> {
        let mut refreshes = self.session.refreshes.lock().await;
        let Some(tokens) = self.session.tokens() else {
            return Err(refreshes.1.clone().filter(|_| refreshes.0 != seen).unwrap_or(Error::NoSession));
        };
        if used.as_ref() != Some(&tokens.access_token) {
            return Ok(());
        }
        if refreshes.0 != seen
            && let Some(error) = &refreshes.1
        {
            return Err(error.clone());
        }
        let result = self.exchange(tokens.refresh_token).await;
        // A login or a logout may have happened meanwhile.
        let is_current = self.session.token().0 == used;
        let outcome = match result {
            Ok(tokens) if is_current => {
                self.session.keep(tokens);
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(error) => {
                if is_current && error.problem().is_some_and(|problem| problem.status == 401) {
                    self.session.forget();
                }
                Err(error)
            }
        };
        *refreshes = (refreshes.0 + 1, outcome.clone().err());
        self.session.ended.store(refreshes.0, Ordering::Release);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_token_that_has_not_expired_is_used_while_a_refresh_fails() {
        let tokens = r#"{"accessToken":"a","refreshToken":"r","tokenType":"Bearer","expiresIn":900}"#;
        let tokens: Tokens = serde_json::from_str(tokens).unwrap();
        // Nothing answers there.
        let client = Client::builder("http://127.0.0.1:1").retries(1, Duration::ZERO).tokens(tokens.clone());
        let client = client.build().unwrap();
        let now = Instant::now();
        for (expires_at, passes) in [(now + Duration::from_secs(600), true), (now, false)] {
            *client.session.credentials() =
                Credentials::Session { tokens: tokens.clone(), refresh_at: now, expires_at };
            assert_eq!(client.current_token().await.is_ok(), passes);
        }
        client.session.forget();
        assert!(client.current_token().await.unwrap().is_none());
    }
}
