use std::path::PathBuf;
use std::time::Duration;

use chrono::TimeDelta;
use iam_model::clock::Timestamp;
use iam_model::credential::Lockout;
use iam_model::tenant::Quota;
#[cfg(feature = "passkeys")]
use iam_webauthn::RelyingParty;

use crate::hashing::HashingCost;
use crate::token::MasterKey;

/// The settings. The defaults are those of `docs/operating.md#settings`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The `iss` claim of access tokens.
    pub issuer: String,
    /// The `aud` claim of access tokens.
    pub audience: String,
    /// How long an access token is valid: 15 minutes.
    pub access_token_lifetime: TimeDelta,
    /// How long a session lasts without a refresh: 7 days.
    pub session_idle: TimeDelta,
    /// How long a session lasts at most after its login, even if it is refreshed: 30 days.
    pub session_absolute: TimeDelta,
    /// How many sessions a user has at most: 1,000. A further login ends the session that was used least recently.
    pub max_sessions_of_user: usize,
    /// How long a refresh token that was just spent is still accepted: 10 seconds.
    pub refresh_grace: TimeDelta,
    /// When failed logins lock an account.
    pub lockout: Lockout,
    /// Whether strangers may create tenants.
    pub registration: bool,
    /// The cost of a password hash. A hash of another cost, higher or lower, is replaced at the next login with its
    /// password, so all processes of an installation must have the same cost.
    pub hashing_cost: HashingCost,
    /// The maximum expected wait of a password in the hash queue: 2 seconds. A call whose expected wait is longer is
    /// refused at once with [`Error::Overloaded`](crate::Error::Overloaded).
    pub password_wait: Duration,
    /// Whether the policy `seed`, too, refuses common and breached passwords, and those that consist of words of the
    /// user. The other policies always do.
    pub refuse_common_passwords: bool,
    /// A file with SHA-1 hashes of breached passwords, in the form that Have I Been Pwned publishes: lines of 40
    /// hexadecimal digits, a colon and a count, sorted. It is searched without being loaded. To replace it, rename a
    /// new file over it.
    pub breached_passwords: Option<PathBuf>,
    /// The maximum depth of an organization: 5. Roots have depth 0.
    pub max_organization_depth: u32,
    /// Encrypts private keys in the store. Without it, they are stored unencrypted.
    pub master_key: Option<MasterKey>,
    /// The relying party of passkeys. Without it, no passkey is accepted. Its id can never change: passkeys are bound
    /// to it.
    #[cfg(feature = "passkeys")]
    pub relying_party: Option<RelyingParty>,
    /// The addresses of clients to which a login by an identity provider may end, to the letter. One of a loopback
    /// address without a port is allowed with any port.
    pub federation_redirects: Vec<String>,
    /// The maximum numbers of resources of a tenant.
    pub quota: Quota,
    /// How many access reviews of a tenant are OPEN at most: 100. Each may have 10,000 items.
    pub max_open_access_reviews: u64,
    /// How many role assignments the deletion of an organization revokes at most: 10,000. They are revoked and recorded
    /// in one transaction.
    pub max_revocations: u64,
    /// The age at which [`rotate_keys_when_due`](crate::Iam::rotate_keys_when_due) replaces a signing key for access
    /// tokens: 90 days.
    pub key_rotation: TimeDelta,
    /// The shortest retention that a tenant can choose for its audit log, in whole days: 30 days.
    pub audit_min_retention: TimeDelta,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            issuer: "iam".to_owned(),
            audience: "iam".to_owned(),
            access_token_lifetime: TimeDelta::minutes(15),
            session_idle: TimeDelta::days(7),
            session_absolute: TimeDelta::days(30),
            max_sessions_of_user: 1_000,
            refresh_grace: TimeDelta::seconds(10),
            lockout: Lockout::default(),
            registration: true,
            hashing_cost: HashingCost::default(),
            password_wait: Duration::from_secs(2),
            refuse_common_passwords: false,
            breached_passwords: None,
            max_organization_depth: 5,
            master_key: None,
            #[cfg(feature = "passkeys")]
            relying_party: None,
            federation_redirects: Vec::new(),
            quota: Quota::default(),
            max_open_access_reviews: 100,
            max_revocations: 10_000,
            key_rotation: TimeDelta::days(90),
            audit_min_retention: TimeDelta::days(30),
        }
    }
}

impl Settings {
    /// Returns the shortest retention of an audit log, in whole days.
    pub(crate) fn least_retention_days(&self) -> u32 {
        let days = self.audit_min_retention.num_seconds().max(0).unsigned_abs().div_ceil(86_400);
        days.clamp(1, 36_500).try_into().unwrap_or(36_500)
    }

    /// Returns when a session expires that began at `began` and is refreshed at `now`.
    pub(crate) fn session_expiry(&self, began: Timestamp, now: Timestamp) -> Timestamp {
        (now + self.session_idle).min(began + self.session_absolute)
    }
}
