//! Domains of a tenant, which it proves by a record of the DNS (`docs/federation.md#domains`).

use std::fmt;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::id::{DomainId, TenantId};
use crate::text::controls_text;
use crate::validate::DomainName;

/// A domain of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Domain {
    /// Identifies the domain.
    pub id: DomainId,
    /// The tenant.
    pub tenant_id: TenantId,
    /// The domain. A subdomain is a domain of its own.
    pub name: DomainName,
    /// The part of the record's value that is random: 43 characters of base64url (RFC 4648 §5). It is no secret: anyone
    /// can read the record.
    pub challenge: String,
    /// When the domain became VERIFIED; `None` while it is PENDING.
    pub verified_at: Option<Timestamp>,
    /// Whether trusted code has verified the domain. No record proves it, so none is looked for each day.
    pub is_trusted: bool,
    /// When the record was looked for the last time; `None` before the first time.
    pub checked_at: Option<Timestamp>,
    /// Since when a VERIFIED domain has no record; `None` if it had one when it was looked for the last time.
    pub absent_since: Option<Timestamp>,
    /// When the domain was added.
    pub created_at: Timestamp,
}

/// Whether a domain is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DomainStatus {
    /// The tenant has not proven the domain. It has no effect.
    Pending,
    /// The tenant has proven the domain. No other tenant of the installation has it VERIFIED.
    Verified,
}

text_enum! { DomainStatus { Pending = "PENDING", Verified = "VERIFIED" } }

impl Domain {
    /// The maximum number of domains of a tenant.
    pub const MAX: usize = 50;

    /// How long a VERIFIED domain can be without its record. Afterwards it is PENDING.
    pub const ABSENT: TimeDelta = TimeDelta::days(7);

    /// How long after a check a VERIFIED domain is checked again.
    pub const CHECKED_EVERY: TimeDelta = TimeDelta::days(1);

    /// Returns a new domain, with a challenge of random bytes.
    #[must_use]
    pub fn new(id: DomainId, tenant: TenantId, name: DomainName, random: [u8; 32], now: Timestamp) -> Self {
        Self {
            id,
            tenant_id: tenant,
            name,
            challenge: URL_SAFE_NO_PAD.encode(random),
            verified_at: None,
            is_trusted: false,
            checked_at: None,
            absent_since: None,
            created_at: now,
        }
    }

    /// Whether the domain is proven.
    #[must_use]
    pub fn status(&self) -> DomainStatus {
        if self.verified_at.is_some() { DomainStatus::Verified } else { DomainStatus::Pending }
    }

    /// Returns the name of the record that proves the domain.
    #[must_use]
    pub fn record_name(&self) -> String {
        format!("_iam-challenge.{}", self.name)
    }

    /// Returns the value of the record that proves the domain.
    #[must_use]
    pub fn record_value(&self) -> String {
        format!("iam-domain={}", self.challenge)
    }

    /// Returns the domain after its record was looked for.
    #[must_use]
    pub fn checked(&self, finding: &DomainFinding, now: Timestamp) -> Self {
        let checked = Self { checked_at: Some(now), ..self.clone() };
        match finding {
            DomainFinding::Proven => {
                Self { verified_at: self.verified_at.or(Some(now)), absent_since: None, ..checked }
            }
            DomainFinding::Unknown(_) => checked,
            DomainFinding::NoRecord | DomainFinding::Other(_) if self.verified_at.is_none() || self.is_trusted => {
                checked
            }
            DomainFinding::NoRecord | DomainFinding::Other(_) => {
                let since = self.absent_since.unwrap_or(now);
                if now - since >= Self::ABSENT {
                    Self { verified_at: None, absent_since: None, ..checked }
                } else {
                    Self { absent_since: Some(since), ..checked }
                }
            }
        }
    }

    /// Returns the domain after trusted code has verified it.
    #[must_use]
    pub fn trusted(&self, now: Timestamp) -> Self {
        let verified_at = self.verified_at.or(Some(now));
        Self { verified_at, is_trusted: true, absent_since: None, ..self.clone() }
    }

    /// Returns the fields that the audit log records.
    pub(crate) fn audited(&self) -> Value {
        json!({ "domain": self.name.as_str(), "status": self.status().as_str() })
    }
}

/// What was found in place of the record that proves a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DomainFinding {
    /// The record.
    Proven,
    /// The name has no record of type TXT.
    NoRecord,
    /// The name has other values only: the first ones, shortened.
    Other(Vec<String>),
    /// The DNS gave no answer: the reason.
    Unknown(String),
}

impl DomainFinding {
    /// The maximum number of values that are shown.
    const MAX_SHOWN: usize = 5;

    /// The maximum length of a value that is shown, in characters.
    const MAX_LENGTH: usize = 100;

    /// Returns what the DNS answered when it was asked for the record of a domain.
    #[must_use]
    pub fn of(domain: &Domain, answer: &Result<Vec<String>, LookupError>) -> Self {
        match answer {
            Err(error) => Self::Unknown(error.0.clone()),
            Ok(values) if values.iter().any(|value| value.trim() == domain.record_value()) => Self::Proven,
            Ok(values) if values.is_empty() => Self::NoRecord,
            Ok(values) => Self::Other(values.iter().take(Self::MAX_SHOWN).map(|value| shown(value)).collect()),
        }
    }
}

/// Returns a text of a stranger, as it can stand in a message.
fn shown(value: &str) -> String {
    let shown = |character: char| if controls_text(character) { char::REPLACEMENT_CHARACTER } else { character };
    value.chars().take(DomainFinding::MAX_LENGTH).map(shown).collect()
}

impl fmt::Display for DomainFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proven => f.write_str("The record was found."),
            Self::NoRecord => {
                f.write_str("There is no record of type TXT with this name. New records may take an hour.")
            }
            Self::Other(values) => {
                f.write_str("The record has another value: ")?;
                for (number, value) in values.iter().enumerate() {
                    write!(f, "{}{value:?}", if number == 0 { "" } else { ", " })?;
                }
                f.write_str(".")
            }
            Self::Unknown(reason) => write!(f, "The record could not be looked up: {reason}."),
        }
    }
}

/// Looks up records of type TXT in the DNS.
#[async_trait]
pub trait TxtResolver: Send + Sync + 'static {
    /// Returns the values of a name, in any order; none if the name or such a record does not exist. The strings of a
    /// record are joined (RFC 7208 §3.3). A bound on the time belongs to the resolver.
    async fn txt(&self, name: &str) -> Result<Vec<String>, LookupError>;
}

/// Why the DNS gave no answer, for the people who manage the domain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LookupError(pub String);

/// Looks up records of type TXT in a list; for tests and for hosts without access to the DNS.
#[async_trait]
impl TxtResolver for std::collections::HashMap<String, Vec<String>> {
    async fn txt(&self, name: &str) -> Result<Vec<String>, LookupError> {
        Ok(self.get(name).cloned().unwrap_or_default())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::access::testing::{at, id};

    pub(crate) fn domain() -> Domain {
        let tenant = "00000001-0000-7000-8000-000000000000".parse().unwrap();
        Domain::new(id("domain"), tenant, "example.com".parse().unwrap(), [7; 32], at(0))
    }

    fn days(days: i64) -> Timestamp {
        at(0) + TimeDelta::days(days)
    }

    fn verified() -> Domain {
        domain().checked(&DomainFinding::Proven, days(1))
    }

    #[test]
    fn the_record_has_43_random_characters() {
        let domain = domain();
        assert_eq!(domain.record_name(), "_iam-challenge.example.com");
        assert_eq!(domain.record_value(), "iam-domain=BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc");
        assert_eq!(domain.challenge.len(), 43);
    }

    #[test]
    fn a_found_record_verifies_once() {
        let first = verified();
        assert_eq!(
            (first.status(), first.verified_at, first.checked_at),
            (DomainStatus::Verified, Some(days(1)), Some(days(1)))
        );
        let second = first.checked(&DomainFinding::Proven, days(2));
        assert_eq!(second, Domain { checked_at: Some(days(2)), ..first });
    }

    #[test]
    fn a_failed_check_of_a_pending_domain_is_noted() {
        for finding in
            [DomainFinding::NoRecord, DomainFinding::Other(Vec::new()), DomainFinding::Unknown("timeout".to_owned())]
        {
            assert_eq!(domain().checked(&finding, days(1)), Domain { checked_at: Some(days(1)), ..domain() });
        }
    }

    #[test]
    fn a_domain_without_its_record_is_pending_after_seven_days() {
        let absent = verified().checked(&DomainFinding::NoRecord, days(2));
        assert_eq!((absent.status(), absent.absent_since), (DomainStatus::Verified, Some(days(2))));
        let almost = days(9) - TimeDelta::milliseconds(1);
        let absent = absent.checked(&DomainFinding::Other(Vec::new()), almost);
        assert_eq!((absent.status(), absent.absent_since), (DomainStatus::Verified, Some(days(2))));
        let gone = absent.checked(&DomainFinding::NoRecord, days(9));
        assert_eq!(gone, Domain { checked_at: Some(days(9)), ..domain() });
        let back = absent.checked(&DomainFinding::Proven, days(9));
        assert_eq!((back.status(), back.absent_since), (DomainStatus::Verified, None));
    }

    #[test]
    fn a_dns_that_does_not_answer_proves_nothing() {
        let absent = verified().checked(&DomainFinding::NoRecord, days(2));
        let unknown = absent.checked(&DomainFinding::Unknown("timeout".to_owned()), days(20));
        assert_eq!(unknown, Domain { checked_at: Some(days(20)), ..absent });
    }

    #[test]
    fn trusted_code_verifies_without_a_record() {
        let trusted = domain().trusted(days(1));
        assert_eq!((trusted.status(), trusted.verified_at), (DomainStatus::Verified, Some(days(1))));
        let checked = trusted.checked(&DomainFinding::NoRecord, days(99));
        assert_eq!(checked, Domain { checked_at: Some(days(99)), ..trusted });
        let absent = verified().checked(&DomainFinding::NoRecord, days(2)).trusted(days(3));
        assert_eq!((absent.verified_at, absent.absent_since), (Some(days(1)), None));
    }

    #[test]
    fn the_finding_says_what_the_dns_has() {
        let domain = domain();
        let of =
            |values: &[&str]| DomainFinding::of(&domain, &Ok(values.iter().map(|&value| value.to_owned()).collect()));
        assert_eq!(of(&["v=spf1 -all", &format!(" {} ", domain.record_value())]), DomainFinding::Proven);
        assert_eq!(of(&[]), DomainFinding::NoRecord);
        let near = domain.record_value().to_uppercase();
        assert_eq!(of(&[&near]), DomainFinding::Other(vec![near.clone()]));
        assert_eq!(
            of(&["a\u{202e}\n\"b", "c"]).to_string(),
            "The record has another value: \"a\u{fffd}\u{fffd}\\\"b\", \"c\"."
        );
        let many = of(&["x".repeat(300).as_str(); 9]);
        assert_eq!(many, DomainFinding::Other(vec!["x".repeat(100); 5]));
        let error = DomainFinding::of(&domain, &Err(LookupError("timeout".to_owned())));
        assert_eq!(error.to_string(), "The record could not be looked up: timeout.");
    }
}
