use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use iam_model::id::{ApiKeyId, KeyId, TenantId, UserId};
use quick_cache::sync::Cache;

use crate::token::{Claims, ParsedApiKey};

/// The maximum number of cached tokens. One takes about 400 bytes.
const CAPACITY: usize = 10_000;

/// A bearer token that this installation has issued to a user: an access token with a right signature that has not
/// expired, or an API key with a right secret. Its session may have ended, and its key may have been revoked since, so
/// it is not a caller and gives no rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedToken(Arc<Verified>);

#[derive(Debug, PartialEq, Eq)]
enum Verified {
    Access(SignedToken),
    ApiKey(VerifiedApiKey),
}

/// The kind of a verified token.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TokenKind<'a> {
    Access(&'a SignedToken),
    ApiKey(&'a VerifiedApiKey),
}

/// An access token with a right signature.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SignedToken {
    /// The key with which it was signed.
    pub(crate) key: KeyId,
    pub(crate) claims: Claims,
}

/// An API key whose secret was right.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct VerifiedApiKey {
    pub(crate) tenant: TenantId,
    pub(crate) user: UserId,
    pub(crate) id: ApiKeyId,
    pub(crate) secret_hash: [u8; 32],
    /// The digest of its text, by which it is cached.
    digest: [u8; 32],
}

impl VerifiedToken {
    /// Returns the user to whom the token was issued.
    #[must_use]
    pub fn user(&self) -> UserId {
        match self.kind() {
            TokenKind::Access(token) => token.claims.sub,
            TokenKind::ApiKey(key) => key.user,
        }
    }

    /// Returns the user who acts as the [user](Self::user) of the token, if [another
    /// one](crate::session::Sessions::impersonate) does.
    #[must_use]
    pub fn impersonator(&self) -> Option<UserId> {
        match self.kind() {
            TokenKind::Access(token) => token.claims.act.map(|acting| acting.sub),
            TokenKind::ApiKey(_) => None,
        }
    }

    /// Returns the [API key](crate::api_key) that the token is. `None` for an access token.
    #[must_use]
    pub fn api_key(&self) -> Option<ApiKeyId> {
        match self.kind() {
            TokenKind::Access(_) => None,
            TokenKind::ApiKey(key) => Some(key.id),
        }
    }

    pub(crate) fn access(key: KeyId, claims: Claims) -> Self {
        Self(Arc::new(Verified::Access(SignedToken { key, claims })))
    }

    pub(crate) fn of_api_key(text: &str, parsed: &ParsedApiKey, user: UserId) -> Self {
        let ParsedApiKey { tenant, id, secret_hash } = *parsed;
        let digest = sha256(text);
        Self(Arc::new(Verified::ApiKey(VerifiedApiKey { tenant, user, id, secret_hash, digest })))
    }

    pub(crate) fn kind(&self) -> TokenKind<'_> {
        match &*self.0 {
            Verified::Access(token) => TokenKind::Access(token),
            Verified::ApiKey(key) => TokenKind::ApiKey(key),
        }
    }
}

/// The cache of verified tokens, so that the signature of an access token is not verified again for each request, and
/// the sender of an API key is known without a query. It holds only digests and claims. Strangers cannot fill it,
/// because they cannot make tokens.
pub(crate) struct VerifiedTokens(Cache<[u8; 32], VerifiedToken>);

impl Default for VerifiedTokens {
    fn default() -> Self {
        Self(Cache::new(CAPACITY))
    }
}

impl VerifiedTokens {
    /// Returns the cached token with this exact text. The caller must check it again: an access token may have expired
    /// and its key may be retired, an API key may have been revoked.
    pub(crate) fn get(&self, token: &str) -> Option<VerifiedToken> {
        self.0.get(&sha256(token))
    }

    pub(crate) fn keep(&self, token: &str, verified: VerifiedToken) {
        self.0.insert(sha256(token), verified);
    }

    /// Forgets an API key that was refused. Requests by it then count as those of a stranger.
    pub(crate) fn forget(&self, key: &VerifiedApiKey) {
        self.0.remove(&key.digest);
    }
}

fn sha256(token: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.iter_mut().zip(digest(&SHA256, token.as_bytes()).as_ref()).for_each(|(to, from)| *to = *from);
    bytes
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use uuid::Uuid;

    use crate::iam::Iam;
    use crate::tenant::Registration;
    use crate::user::NewUser;
    use iam_model::clock::testing::FixedClock;
    use iam_model::context::RequestContext;
    use iam_model::error::{Error, Unauthenticated};
    use iam_store_memory::MemoryStore;

    use super::*;

    #[tokio::test]
    async fn a_cached_token_expires_and_matches_no_other_token() {
        let clock = FixedClock::at("2026-01-31T09:15:00Z");
        let iam = Iam::builder(Arc::new(MemoryStore::new())).clock(clock.clone()).build().await.unwrap();
        let user = NewUser {
            email: "ada@example.com".into(),
            password: "Passw0rd!".into(),
            first_name: "Ada".into(),
            last_name: "Lovelace".into(),
        };
        let registration = Registration { user, tenant_name: None };
        let login = iam.tenants().register(&RequestContext::default(), registration).await.unwrap().login;
        let token = login.tokens.access.expose();
        for _ in 0..2 {
            assert_eq!(iam.verify(token).await.unwrap().user(), login.user.id);
        }
        let (content, signature) = token.rsplit_once('.').unwrap();
        let forged = format!("{content}.{}", signature.chars().rev().collect::<String>());
        let refused = |refused: Error| match refused {
            Error::Unauthenticated(why) => why,
            other => panic!("{other:?}"),
        };
        assert!(matches!(refused(iam.verify(&forged).await.unwrap_err()), Unauthenticated::InvalidToken));
        clock.advance(TimeDelta::minutes(15));
        assert!(matches!(refused(iam.verify(token).await.unwrap_err()), Unauthenticated::ExpiredToken));
    }

    #[test]
    fn the_number_of_cached_tokens_is_bounded() {
        let claims = |number: u128| Claims {
            iss: String::new(),
            aud: String::new(),
            sub: Uuid::from_u128(number).into(),
            sid: Uuid::from_u128(1).into(),
            jti: Uuid::from_u128(2).into(),
            tenant_id: Uuid::from_u128(3).into(),
            amr: vec!["pwd".into()],
            auth_time: 0,
            act: None,
            read_only: false,
            iat: 0,
            nbf: 0,
            exp: 0,
        };
        let tokens = VerifiedTokens::default();
        let made = 2 * CAPACITY;
        for number in 0..made {
            let verified = VerifiedToken::access(Uuid::from_u128(4).into(), claims(number as u128));
            tokens.keep(&number.to_string(), verified);
        }
        let kept = (0..made).filter_map(|number| Some((number, tokens.get(&number.to_string())?)));
        let kept: Vec<_> = kept.collect();
        assert!((1..=CAPACITY + CAPACITY / 10).contains(&kept.len()), "{}", kept.len());
        for (number, token) in kept {
            let is_same = matches!(token.kind(), TokenKind::Access(token) if token.claims == claims(number as u128));
            assert!(is_same, "{number} {token:?}");
        }
    }
}
