//! Refresh tokens: opaque, stored only as hashes, valid for one exchange (`docs/http-api.md#tokens`, RFC 9700 §4.14.2).
//!
//! A token consists of the tenant, the session, 32 secret bytes and a tag.
//!
//! The **tag** is a MAC of the secret under a key of the session. It distinguishes a token that was once genuine from
//! a forged one. The reuse of a genuine token ends the session. A forged token must not end it, because a reader of
//! the audit log, which shows the identifiers of sessions, could then end any session.
//!
//! The **successor** of a secret is a MAC of it and of a random nonce that is chosen at the exchange, under a key of the
//! installation. Presenting the spent token again gives the same successor, on every replica. The store and the spent
//! token together are not enough to compute it: the key is encrypted under the master key, if there is one.

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use iam_model::clock::Timestamp;
use iam_model::id::{SessionId, TenantId};
use iam_model::random::Random;
use iam_model::secret::RefreshToken;
use iam_model::session::{RefreshState, SpentToken};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::token::RefreshKey;

type Secret = Zeroizing<[u8; 32]>;

const PREFIX: &str = "iamr_";

const TAG: usize = 16;

/// A parsed refresh token.
pub(crate) struct ParsedRefreshToken {
    pub(crate) tenant: TenantId,
    pub(crate) session: SessionId,
    secret: Secret,
    tag: [u8; TAG],
}

impl ParsedRefreshToken {
    /// Parses a token. `None` when it does not have the format of a refresh token.
    pub(crate) fn parse(token: &RefreshToken) -> Option<Self> {
        let encoded = token.expose().strip_prefix(PREFIX)?;
        let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(encoded).ok()?);
        let (tenant, rest) = bytes.split_first_chunk::<16>()?;
        let (session, rest) = rest.split_first_chunk::<16>()?;
        let (secret, tag) = rest.split_first_chunk::<32>()?;
        Some(Self {
            tenant: Uuid::from_bytes(*tenant).into(),
            session: Uuid::from_bytes(*session).into(),
            secret: Zeroizing::new(*secret),
            tag: tag.try_into().ok()?,
        })
    }
}

/// The result of presenting a genuine token.
#[derive(Debug)]
pub(crate) enum RefreshOutcome {
    /// The token is valid. Holds the state after the exchange and the next secret.
    Exchange(RefreshState, NextSecret),
    /// The token was exchanged within the grace period. Holds the same next secret again.
    Repeat(NextSecret),
    /// The token was exchanged within the grace period by a server with another key, so its successor is not known.
    Unknown,
    /// The token was exchanged earlier, so a second client has a copy of it.
    Reused,
}

/// The secret of a token that is not issued yet.
pub(crate) struct NextSecret(Secret);

impl fmt::Debug for NextSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NextSecret([REDACTED])")
    }
}

/// Returns the state of a new session, and its first secret.
pub(crate) fn start(random: &dyn Random) -> (RefreshState, NextSecret) {
    let secret = Zeroizing::new(random.bytes());
    let state = RefreshState { tag_key: random.bytes(), current: sha256(&secret), spent: None };
    (state, NextSecret(secret))
}

/// Whether a presented token is or was a token of this session.
pub(crate) fn is_genuine(state: &RefreshState, presented: &ParsedRefreshToken) -> bool {
    is_same(&tag(state, &presented.secret), &presented.tag)
}

/// Exchanges a genuine token. A spent token is repeated within `grace` of its exchange.
pub(crate) fn exchange(
    state: &RefreshState,
    presented: &ParsedRefreshToken,
    (now, grace): (Timestamp, TimeDelta),
    key: &RefreshKey,
    random: &dyn Random,
) -> RefreshOutcome {
    let hash = sha256(&presented.secret);
    if is_same(&hash, &state.current) {
        let nonce = random.bytes();
        let next = key.successor(&presented.secret, &nonce);
        let spent = Some(SpentToken { hash, nonce, at: now });
        let next_state = RefreshState { tag_key: state.tag_key, current: sha256(&next), spent };
        return RefreshOutcome::Exchange(next_state, NextSecret(next));
    }
    match &state.spent {
        Some(spent) if is_same(&hash, &spent.hash) && now - spent.at <= grace => {
            let next = key.successor(&presented.secret, &spent.nonce);
            let is_known = is_same(&sha256(&next), &state.current);
            if is_known { RefreshOutcome::Repeat(NextSecret(next)) } else { RefreshOutcome::Unknown }
        }
        _ => RefreshOutcome::Reused,
    }
}

/// Returns the token that carries a secret of this session.
pub(crate) fn refresh_token(
    state: &RefreshState,
    tenant: TenantId,
    session: SessionId,
    secret: &NextSecret,
) -> RefreshToken {
    let NextSecret(secret) = secret;
    let bytes = Zeroizing::new(
        [
            tenant.as_uuid().as_bytes().as_slice(),
            session.as_uuid().as_bytes().as_slice(),
            secret.as_slice(),
            &tag(state, secret),
        ]
        .concat(),
    );
    RefreshToken::from(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(&*bytes)))
}

fn tag(state: &RefreshState, secret: &Secret) -> [u8; TAG] {
    let mut bytes = [0; TAG];
    bytes.iter_mut().zip(mac(&state.tag_key, b"tag", secret)).for_each(|(to, from)| *to = from);
    bytes
}

fn mac(key: &[u8; 32], purpose: &[u8], secret: &Secret) -> [u8; 32] {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    context.update(purpose);
    context.update(secret.as_slice());
    array(context.sign().as_ref())
}

fn sha256(secret: &Secret) -> [u8; 32] {
    array(digest(&SHA256, secret.as_slice()).as_ref())
}

fn array(bytes: &[u8]) -> [u8; 32] {
    let mut array = [0; 32];
    array.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    array
}

fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iam_model::random::SystemRandom;

    const GRACE: TimeDelta = TimeDelta::seconds(10);

    struct Chain {
        state: RefreshState,
        now: Timestamp,
        key: RefreshKey,
    }

    impl Chain {
        fn start() -> (Self, RefreshToken) {
            let (state, secret) = start(&SystemRandom);
            let now = "2026-01-31T09:15:00Z".parse().unwrap();
            let chain = Self { state, now, key: RefreshKey::new([7; 32]) };
            let token = chain.token(&secret);
            (chain, token)
        }

        fn token(&self, secret: &NextSecret) -> RefreshToken {
            refresh_token(&self.state, TenantId::NONE, SessionId::from_uuid(Uuid::from_u128(7)), secret)
        }

        /// Presents a token. Returns its successor, or the reason for its refusal.
        fn present(&mut self, token: &RefreshToken) -> Result<String, &'static str> {
            let presented = ParsedRefreshToken::parse(token).ok_or("unreadable")?;
            if !is_genuine(&self.state, &presented) {
                return Err("forged");
            }
            match exchange(&self.state, &presented, (self.now, GRACE), &self.key, &SystemRandom) {
                RefreshOutcome::Exchange(state, next) => {
                    self.state = state;
                    Ok(self.token(&next).expose().to_owned())
                }
                RefreshOutcome::Repeat(next) => Ok(self.token(&next).expose().to_owned()),
                RefreshOutcome::Unknown => Err("unknown"),
                RefreshOutcome::Reused => Err("reused"),
            }
        }

        fn wait(&mut self, seconds: i64) {
            self.now += TimeDelta::seconds(seconds);
        }
    }

    #[test]
    fn a_spent_token_gets_the_same_successor_for_ten_seconds() {
        let (mut chain, first) = Chain::start();
        let second = chain.present(&first).unwrap();
        chain.wait(10);
        assert_eq!(chain.present(&first), Ok(second.clone()));
        chain.wait(1);
        assert_eq!(chain.present(&first), Err("reused"));
        assert!(chain.present(&second.as_str().into()).is_ok());
    }

    #[test]
    fn the_state_and_a_spent_token_do_not_tell_the_successor_without_the_key() {
        let (mut chain, first) = Chain::start();
        let second = chain.present(&first).unwrap();
        let own = std::mem::replace(&mut chain.key, RefreshKey::new([8; 32]));
        assert_eq!(chain.present(&first), Err("unknown"), "and the session does not end");
        chain.key = own;
        assert_eq!(chain.present(&first), Ok(second));
        // All that a reader of the store and of a spent token can compute without the key.
        let (state, spent) = (&chain.state, ParsedRefreshToken::parse(&first).unwrap().secret);
        let nonce = state.spent.as_ref().unwrap().nonce;
        for key in [&nonce, &state.tag_key, &state.current, &*spent] {
            for purpose in [&b"successor"[..], b"tag", b"", &nonce] {
                assert_ne!(sha256(&Zeroizing::new(mac(key, purpose, &spent))), state.current);
            }
        }
    }

    #[test]
    fn only_the_newest_spent_token_can_be_repeated() {
        let (mut chain, first) = Chain::start();
        let second = chain.present(&first).unwrap();
        let third = chain.present(&second.as_str().into()).unwrap();
        assert_eq!(chain.present(&first), Err("reused"));
        assert_eq!(chain.present(&second.as_str().into()), Ok(third));
    }

    #[test]
    fn an_invented_token_is_forged_and_not_reused() {
        let (mut chain, first) = Chain::start();
        let mut bytes = URL_SAFE_NO_PAD.decode(first.expose().strip_prefix(PREFIX).unwrap()).unwrap();
        for at in 32..bytes.len() {
            bytes[at] ^= 1;
            let token = RefreshToken::from(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(&bytes)));
            assert_eq!(chain.present(&token), Err("forged"));
            bytes[at] ^= 1;
        }
        for text in ["", "iamr_", "iamr_AAAA", first.expose().trim_end_matches(char::is_alphanumeric)] {
            assert_eq!(chain.present(&text.into()), Err("unreadable"), "{text}");
        }
    }
}
