use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use iam_model::id::{KeyId, UserId};
use quick_cache::sync::Cache;

use crate::token::Claims;

/// The maximum number of cached tokens. One takes about 400 bytes.
const CAPACITY: usize = 10_000;

/// An access token that this installation has signed for a user, and that has not expired. Its session may have ended,
/// so it is not a caller and gives no rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedToken(Arc<Verified>);

#[derive(Debug, PartialEq, Eq)]
struct Verified {
    key: KeyId,
    claims: Claims,
}

impl VerifiedToken {
    /// Returns the user for whom the token was signed.
    #[must_use]
    pub fn user(&self) -> UserId {
        self.0.claims.sub
    }

    pub(crate) fn new(key: KeyId, claims: Claims) -> Self {
        Self(Arc::new(Verified { key, claims }))
    }

    /// Returns the key with which the token was signed.
    pub(crate) fn key(&self) -> KeyId {
        self.0.key
    }

    pub(crate) fn claims(&self) -> &Claims {
        &self.0.claims
    }
}

/// The cache of tokens with a verified signature, so that the signature is not verified again for each request. It
/// holds only the digest and the claims of a token. Strangers cannot fill it, because they cannot sign tokens.
pub(crate) struct VerifiedTokens(Cache<[u8; 32], VerifiedToken>);

impl Default for VerifiedTokens {
    fn default() -> Self {
        Self(Cache::new(CAPACITY))
    }
}

impl VerifiedTokens {
    /// Returns the cached token with this exact text. The caller must check its times and its key again: the token may
    /// have expired, and its key may be retired.
    pub(crate) fn get(&self, token: &str) -> Option<VerifiedToken> {
        self.0.get(&sha256(token))
    }

    pub(crate) fn keep(&self, token: &str, verified: VerifiedToken) {
        self.0.insert(sha256(token), verified);
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
            iat: 0,
            nbf: 0,
            exp: 0,
        };
        let tokens = VerifiedTokens::default();
        let made = 2 * CAPACITY;
        for number in 0..made {
            let verified = VerifiedToken::new(Uuid::from_u128(4).into(), claims(number as u128));
            tokens.keep(&number.to_string(), verified);
        }
        let kept = (0..made).filter_map(|number| Some((number, tokens.get(&number.to_string())?)));
        let kept: Vec<_> = kept.collect();
        assert!((1..=CAPACITY + CAPACITY / 10).contains(&kept.len()), "{}", kept.len());
        assert!(kept.iter().all(|(number, token)| *token.claims() == claims(*number as u128)));
    }
}
