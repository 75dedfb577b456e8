//! Challenges: a proof of identity that has begun and waits for its answer (`docs/http-api.md#a-login-with-a-factor`).

use std::fmt;

use chrono::TimeDelta;

use crate::clock::Timestamp;
use crate::id::{TenantId, UserId};
use crate::session::ProviderSession;

/// A proof of identity that has begun. It can be finished once, on every replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// The tenant of the user; [`TenantId::NONE`] for a login that names neither a user nor a tenant.
    pub tenant_id: TenantId,
    /// The SHA-256 digest of the secret in the answer. The secret itself is never stored.
    pub token_hash: [u8; 32],
    /// The purpose of the proof.
    pub purpose: ChallengePurpose,
    /// Whose identity is proven. `None` if only the answer tells.
    pub user_id: Option<UserId>,
    /// How many wrong answers were given.
    pub tries: u32,
    /// The state of a WebAuthn ceremony, if one has begun, or of a login by an identity provider or by e-mail.
    pub ceremony: Option<Ceremony>,
    /// The session at the identity provider that has proven the identity, for a login that waits for a second factor.
    pub provider: Option<ProviderSession>,
    /// When the proof began.
    pub created_at: Timestamp,
    /// When the challenge expires.
    pub expires_at: Timestamp,
}

impl Challenge {
    /// How long a challenge can be answered: five minutes.
    pub const LIFETIME: TimeDelta = TimeDelta::minutes(5);

    /// The maximum number of wrong answers.
    pub const MAX_TRIES: u32 = 5;

    /// Returns a challenge that begins now, for a proof of this user or, without one, of any user of the tenant.
    #[must_use]
    pub fn begin(
        purpose: ChallengePurpose,
        tenant_id: TenantId,
        user_id: Option<UserId>,
        token_hash: [u8; 32],
        now: Timestamp,
    ) -> Self {
        let expires_at = now + Self::LIFETIME;
        Self {
            tenant_id,
            token_hash,
            purpose,
            user_id,
            tries: 0,
            ceremony: None,
            provider: None,
            created_at: now,
            expires_at,
        }
    }

    /// Whether the challenge is for this purpose and can still be answered.
    #[must_use]
    pub fn is_open_for(&self, purpose: ChallengePurpose, now: Timestamp) -> bool {
        self.purpose == purpose && now < self.expires_at && self.tries < Self::MAX_TRIES
    }
}

/// The state of a proof of identity between its steps, such as that of a WebAuthn ceremony.
#[derive(Clone, PartialEq, Eq)]
pub struct Ceremony(pub Vec<u8>);

impl fmt::Debug for Ceremony {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ceremony([REDACTED])")
    }
}

/// The purpose of a proof of identity. A challenge of one purpose is refused for every other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChallengePurpose {
    /// A login whose password was right.
    Login,
    /// A login by a passkey alone.
    PasskeyLogin,
    /// The registration of a passkey.
    PasskeyRegistration,
    /// A session that authenticates again.
    StepUp,
    /// A login that goes to an identity provider.
    FederationStart,
    /// A login that has come back from an identity provider.
    FederationFinish,
    /// A login by an identity provider that waits for a second factor.
    FederatedLogin,
    /// A logout token of an identity provider, which is kept so that a second use is noticed.
    ProviderLogout,
    /// A login by e-mail whose code is awaited.
    EmailLoginStart,
    /// A login by e-mail that waits for a second factor.
    EmailLogin,
}

text_enum! {
    ChallengePurpose {
        Login = "LOGIN",
        PasskeyLogin = "PASSKEY_LOGIN",
        PasskeyRegistration = "PASSKEY_REGISTRATION",
        StepUp = "STEP_UP",
        FederationStart = "FEDERATION_START",
        FederationFinish = "FEDERATION_FINISH",
        FederatedLogin = "FEDERATED_LOGIN",
        ProviderLogout = "PROVIDER_LOGOUT",
        EmailLoginStart = "EMAIL_LOGIN_START",
        EmailLogin = "EMAIL_LOGIN",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock as _;
    use crate::clock::testing::FixedClock;

    #[test]
    fn a_challenge_is_open_for_its_purpose_until_its_last_try_and_its_expiry() {
        let now = FixedClock::at("2026-01-31T09:15:00Z").now();
        let (instant, end) = (TimeDelta::milliseconds(1), now + TimeDelta::minutes(5));
        let challenge = Challenge::begin(ChallengePurpose::Login, TenantId::NONE, None, [7; 32], now);
        assert_eq!((challenge.created_at, challenge.expires_at, challenge.tries), (now, end, 0));
        let after = |tries| Challenge { tries, ..challenge.clone() };
        for (challenge, purpose, moment, expected) in [
            (after(0), ChallengePurpose::Login, now, true),
            (after(4), ChallengePurpose::Login, end - instant, true),
            (after(4), ChallengePurpose::Login, end, false),
            (after(4), ChallengePurpose::Login, end + instant, false),
            (after(5), ChallengePurpose::Login, now, false),
            (after(6), ChallengePurpose::Login, now, false),
            (after(0), ChallengePurpose::StepUp, now, false),
        ] {
            assert_eq!(challenge.is_open_for(purpose, moment), expected, "{challenge:?} {purpose} {moment}");
        }
    }

    #[test]
    fn debug_does_not_show_the_state_of_a_ceremony() {
        assert_eq!(format!("{:?}", Ceremony(b"secret".to_vec())), "Ceremony([REDACTED])");
    }
}
