//! Second factors: proofs of the identity of a user beside the password, and how a session was authenticated
//! (`docs/http-api.md#second-factors`).

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::id::{FactorId, TenantId, UserId};
use crate::user::UserKind;
use crate::validate::{Invalid, Name};

/// A second factor of a user: a TOTP generator or a passkey.
///
/// As JSON, it has neither a key nor the identifier of a credential. So a stored answer to a request gives nothing away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Factor {
    /// Identifies the factor.
    pub id: FactorId,
    /// The tenant of the user.
    pub tenant_id: TenantId,
    /// The user.
    pub user_id: UserId,
    /// The kind of factor.
    pub kind: FactorKind,
    /// A name for human readers.
    pub name: Name,
    /// The key that verifies a proof.
    #[serde(skip)]
    pub key: FactorKey,
    /// The identifier that the authenticator gave the passkey; unique in the installation. `None` for TOTP.
    #[serde(skip)]
    pub credential_id: Option<Vec<u8>>,
    /// TOTP: the last step that was used. A passkey: the last signature counter.
    pub counter: u64,
    /// When the factor was set up.
    pub created_at: Timestamp,
    /// When its first code was confirmed. An unconfirmed factor proves nothing. A passkey is confirmed from the start.
    pub confirmed_at: Option<Timestamp>,
    /// When it last proved the identity of the user.
    pub last_used_at: Option<Timestamp>,
}

impl Factor {
    /// The maximum number of confirmed factors of a user.
    pub const MAX: usize = 20;

    /// Whether the factor proves the identity of the user.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.confirmed_at.is_some()
    }

    /// Whether both are one passkey. Only a passkey has a [`credential_id`](Self::credential_id).
    #[must_use]
    pub fn is_same_passkey(&self, other: &Self) -> bool {
        self.credential_id.is_some() && self.credential_id == other.credential_id
    }

    /// Returns the fields that the audit log records. An erasure removes the name, which may be that of a person.
    pub(crate) fn audited(&self) -> Value {
        json!({ "type": self.kind.as_str(), "name": self.name.as_str() })
    }
}

/// The kind of a second factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactorKind {
    /// An authenticator app that shows a code every 30 seconds (RFC 6238).
    Totp,
    /// A passkey (WebAuthn Level 3).
    Passkey,
}

text_enum! { FactorKind { Totp = "totp", Passkey = "passkey" } }

impl FactorKind {
    /// Returns the method of a proof by such a factor.
    #[must_use]
    pub fn method(self) -> AuthenticationMethod {
        match self {
            Self::Totp => AuthenticationMethod::Totp,
            Self::Passkey => AuthenticationMethod::Passkey,
        }
    }
}

/// The key that verifies a proof by a factor. TOTP: the encrypted secret. A passkey: its public key and its properties.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FactorKey(pub Vec<u8>);

impl fmt::Debug for FactorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FactorKey([REDACTED])")
    }
}

/// A method by which a user proves its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AuthenticationMethod {
    /// The password.
    Password,
    /// A link or a code in a message to the address of the user.
    Email,
    /// A code of an authenticator app.
    Totp,
    /// A passkey.
    Passkey,
    /// A recovery code.
    RecoveryCode,
    /// An account at an identity provider.
    Federation,
    /// A second factor at an identity provider that is trusted with it.
    ProviderFactor,
}

text_enum! {
    AuthenticationMethod {
        Password = "password",
        Email = "email",
        Totp = "totp",
        Passkey = "passkey",
        RecoveryCode = "recovery-code",
        Federation = "federation",
        ProviderFactor = "provider-factor",
    }
}

/// The methods by which a session was authenticated. Written as text with `+` between them, for instance
/// `password+totp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticationMethods(BTreeSet<AuthenticationMethod>);

impl AuthenticationMethods {
    /// Returns the methods of a login by this method alone.
    #[must_use]
    pub fn only(method: AuthenticationMethod) -> Self {
        Self([method].into())
    }

    /// Returns these methods and one more.
    #[must_use]
    pub fn and(mut self, method: AuthenticationMethod) -> Self {
        self.0.insert(method);
        self
    }

    /// Whether a second factor is among them.
    #[must_use]
    pub fn include_factor(&self) -> bool {
        let first = [AuthenticationMethod::Password, AuthenticationMethod::Email, AuthenticationMethod::Federation];
        self.0.iter().any(|method| !first.contains(method))
    }

    /// Whether a message to the address of the user is among them.
    #[must_use]
    pub fn include_email(&self) -> bool {
        self.0.contains(&AuthenticationMethod::Email)
    }

    /// Returns the values of the claim `amr` (RFC 8176 §2; `fed` and `email` are not in the RFC). A passkey counts as
    /// two factors, because its user is verified.
    #[must_use]
    pub fn amr(&self) -> Vec<&'static str> {
        let has = |method| self.0.contains(&method);
        let is_multi_factor = self.0.len() > 1 || has(AuthenticationMethod::Passkey);
        let values = [
            ("fed", has(AuthenticationMethod::Federation)),
            ("pwd", has(AuthenticationMethod::Password)),
            ("email", has(AuthenticationMethod::Email)),
            ("otp", has(AuthenticationMethod::Totp) || has(AuthenticationMethod::RecoveryCode)),
            ("pop", has(AuthenticationMethod::Passkey)),
            ("mfa", is_multi_factor),
        ];
        values.into_iter().filter_map(|(value, holds)| holds.then_some(value)).collect()
    }
}

/// The methods of a session that began before methods were stored.
impl Default for AuthenticationMethods {
    fn default() -> Self {
        Self::only(AuthenticationMethod::Password)
    }
}

impl fmt::Display for AuthenticationMethods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, method) in self.0.iter().enumerate() {
            let separator = if number == 0 { "" } else { "+" };
            write!(f, "{separator}{method}")?;
        }
        Ok(())
    }
}

impl FromStr for AuthenticationMethods {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        text.split('+').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

/// Whether the users of a tenant have second factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SecondFactorPolicy {
    /// No factor can be set up. Factors that exist are still asked for.
    Off,
    /// Each user decides for itself.
    #[default]
    Optional,
    /// A user without a factor must set one up within the grace.
    Required,
}

text_enum! { SecondFactorPolicy { Off = "OFF", Optional = "OPTIONAL", Required = "REQUIRED" } }

/// How many days a user may log in without a factor that the tenant requires: 0 to 90, by default 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct GraceDays(u8);

impl GraceDays {
    const MAX: u8 = 90;

    /// The number of days.
    #[must_use]
    pub fn days(self) -> u8 {
        self.0
    }
}

impl Default for GraceDays {
    fn default() -> Self {
        Self(7)
    }
}

impl TryFrom<i64> for GraceDays {
    type Error = Invalid;

    fn try_from(days: i64) -> Result<Self, Invalid> {
        let valid = u8::try_from(days).ok().filter(|days| *days <= Self::MAX);
        valid.map(Self).ok_or_else(|| Invalid::new(format!("must be 0 to {} days", Self::MAX)))
    }
}

impl From<GraceDays> for i64 {
    fn from(grace: GraceDays) -> Self {
        grace.0.into()
    }
}

/// The demand of a tenant on users without a second factor, and of sessions that have authenticated by none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FactorDemand {
    /// When the tenant began to require second factors. `None` if it does not.
    pub required_at: Option<Timestamp>,
    /// How long a user may log in without one.
    pub grace: GraceDays,
}

impl FactorDemand {
    /// Returns until when a user without a factor must set one up; `None` if the tenant does not require one. The grace
    /// begins with the creation of the user or with the demand, whichever is later.
    #[must_use]
    pub fn enrol_by(self, user_created_at: Timestamp) -> Option<Timestamp> {
        Some(self.required_at?.max(user_created_at) + TimeDelta::days(self.grace.into()))
    }

    /// Returns from when on a session of a user is restricted; `None` if nothing more is demanded of it.
    ///
    /// A session meets the demand by a factor that it has authenticated by itself: one that the user still has, or one at
    /// a provider that is trusted with it. A factor that the user has set up in another session does not count: the
    /// person in this session may know the password alone.
    #[must_use]
    pub fn restricts_session_from(
        self,
        user_created_at: Timestamp,
        methods: &AuthenticationMethods,
        user_has_factor: bool,
    ) -> Option<Timestamp> {
        let is_met =
            methods.0.contains(&AuthenticationMethod::ProviderFactor) || (user_has_factor && methods.include_factor());
        self.enrol_by(user_created_at).filter(|_| !is_met)
    }

    /// Returns from when on the API keys of a user are refused; `None` if they are not. A service account has no factor
    /// and needs none.
    #[must_use]
    pub fn refuses_keys_from(
        self,
        kind: UserKind,
        user_created_at: Timestamp,
        user_has_factor: bool,
    ) -> Option<Timestamp> {
        let is_met = user_has_factor || kind == UserKind::Service;
        self.enrol_by(user_created_at).filter(|_| !is_met)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock as _;
    use crate::clock::testing::FixedClock;

    #[test]
    fn methods_are_written_in_one_order_and_read_back() {
        for text in
            ["password", "password+totp", "password+passkey", "passkey", "password+totp+recovery-code", "email+totp"]
        {
            assert_eq!(text.parse::<AuthenticationMethods>().unwrap().to_string(), text);
        }
        assert_eq!("totp+password".parse::<AuthenticationMethods>().unwrap().to_string(), "password+totp");
        let both = AuthenticationMethods::only(AuthenticationMethod::Passkey).and(AuthenticationMethod::Totp);
        assert_eq!(both.to_string(), "totp+passkey");
        for bad in ["", "+", "password+", "pin"] {
            assert!(bad.parse::<AuthenticationMethods>().is_err(), "{bad}");
        }
    }

    #[test]
    fn amr_has_the_values_of_rfc_8176() {
        for (methods, expected) in [
            ("password", vec!["pwd"]),
            ("password+totp", vec!["pwd", "otp", "mfa"]),
            ("password+recovery-code", vec!["pwd", "otp", "mfa"]),
            ("password+passkey", vec!["pwd", "pop", "mfa"]),
            ("email", vec!["email"]),
            ("email+totp", vec!["email", "otp", "mfa"]),
            ("passkey", vec!["pop", "mfa"]),
            ("totp+passkey", vec!["otp", "pop", "mfa"]),
        ] {
            assert_eq!(methods.parse::<AuthenticationMethods>().unwrap().amr(), expected, "{methods}");
        }
    }

    #[test]
    fn the_grace_is_0_to_90_days_and_begins_with_the_user_or_the_demand() {
        assert!([0, 7, 90].into_iter().all(|days| GraceDays::try_from(days).is_ok()));
        assert!([-1, 91, 1000].into_iter().all(|days| GraceDays::try_from(days).is_err()));
        assert_eq!(GraceDays::try_from(90).unwrap().days(), 90);
        let now = FixedClock::at("2026-01-31T09:15:00Z").now();
        let (day, grace) = (TimeDelta::days(1), GraceDays::try_from(3).unwrap());
        let demand = FactorDemand { required_at: Some(now), grace };
        assert_eq!(demand.enrol_by(now - day), Some(now + day * 3));
        assert_eq!(demand.enrol_by(now + day), Some(now + day * 4));
        assert_eq!(FactorDemand { required_at: None, grace }.enrol_by(now), None);
    }

    #[test]
    fn a_session_meets_the_demand_by_a_factor_of_its_own_that_the_user_still_has() {
        let now = FixedClock::at("2026-01-31T09:15:00Z").now();
        let (optional, demand) =
            (FactorDemand::default(), FactorDemand { required_at: Some(now), ..FactorDemand::default() });
        let end = demand.enrol_by(now);
        for (methods, user_has_factor, expected) in [
            ("password", false, end),
            ("password", true, end),
            ("password+totp", false, end),
            ("password+totp", true, None),
            ("password+recovery-code", true, None),
            ("passkey", true, None),
            ("email", false, end),
            ("email", true, end),
            ("email+totp", true, None),
            ("federation", false, end),
            ("federation", true, end),
            ("federation+provider-factor", false, None),
            ("federation+provider-factor", true, None),
        ] {
            let methods: AuthenticationMethods = methods.parse().unwrap();
            assert_eq!(demand.restricts_session_from(now, &methods, user_has_factor), expected, "{methods}");
            assert_eq!(optional.restricts_session_from(now, &methods, user_has_factor), None, "{methods}");
        }
    }

    #[test]
    fn the_keys_of_people_without_a_factor_are_refused_and_those_of_service_accounts_are_not() {
        let now = FixedClock::at("2026-01-31T09:15:00Z").now();
        let (optional, demand) =
            (FactorDemand::default(), FactorDemand { required_at: Some(now), ..FactorDemand::default() });
        for (kind, user_has_factor, expected) in [
            (UserKind::Human, false, demand.enrol_by(now)),
            (UserKind::Human, true, None),
            (UserKind::Service, false, None),
        ] {
            assert_eq!(demand.refuses_keys_from(kind, now, user_has_factor), expected, "{kind:?}");
            assert_eq!(optional.refuses_keys_from(kind, now, user_has_factor), None, "{kind:?}");
        }
    }

    #[test]
    fn the_audit_log_has_the_type_and_the_name_of_a_factor_and_not_its_key() {
        let now = FixedClock::at("2026-01-31T09:15:00Z").now();
        let mut factor = Factor {
            id: crate::access::testing::id("factor"),
            tenant_id: TenantId::NONE,
            user_id: crate::access::testing::id("user"),
            kind: FactorKind::Totp,
            name: "Phone".parse().unwrap(),
            key: FactorKey(b"secret".to_vec()),
            credential_id: None,
            counter: 7,
            created_at: now,
            confirmed_at: None,
            last_used_at: None,
        };
        assert_eq!(factor.audited(), json!({ "type": "totp", "name": "Phone" }));
        assert!(!factor.is_confirmed());
        (factor.kind, factor.confirmed_at) = (FactorKind::Passkey, Some(now));
        assert_eq!(factor.audited(), json!({ "type": "passkey", "name": "Phone" }));
        assert!(factor.is_confirmed());
    }

    #[test]
    fn debug_does_not_show_the_key() {
        assert_eq!(format!("{:?}", FactorKey(b"secret".to_vec())), "FactorKey([REDACTED])");
    }
}
