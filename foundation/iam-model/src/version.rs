//! Versions of resources and preconditions of changes. They prevent a caller from overwriting a change that it has
//! not seen (RFC 9110 §13.1).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::validate::Invalid;

/// The version of a resource: the number of its row, which is the same in every release and on every replica. A new row
/// has the number 1. Every change of the row adds 1, also a login, which changes the row of its user.
///
/// An organization also shows its depth, which changes when another organization above it moves. So the version of an
/// [`OrganizationWithDepth`](crate::organization::OrganizationWithDepth) contains the depth. That of an
/// [`AccessRequest`](crate::access_request::AccessRequest) contains the version of its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "i64", into = "i64")]
pub struct Version {
    number: i64,
    /// What the resource shows beside its row: a depth, or the version of another row.
    part: Option<u32>,
}

impl Version {
    /// The version of a new row.
    pub const FIRST: Self = Self { number: 1, part: None };

    /// Returns the version of the row after one more change.
    #[must_use]
    pub fn next(self) -> Self {
        Self { number: self.number.saturating_add(1), ..self }
    }

    /// Returns the version of a resource that also shows another row, which has this version.
    #[must_use]
    pub(crate) fn with_part(self, other: Self) -> Self {
        Self { part: Some(u32::try_from(other.number).unwrap_or(u32::MAX)), ..self }
    }

    /// Returns the version of an organization at this depth.
    #[must_use]
    pub(crate) fn at_depth(self, depth: u32) -> Self {
        Self { part: Some(depth), ..self }
    }
}

/// The version of a row that was stored before rows had versions.
impl Default for Version {
    fn default() -> Self {
        Self::FIRST
    }
}

/// The version of a row with this number.
impl From<i64> for Version {
    fn from(number: i64) -> Self {
        Self { number, part: None }
    }
}

/// The number of the row.
impl From<Version> for i64 {
    fn from(version: Version) -> Self {
        version.number
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            None => write!(f, "{}", self.number),
            Some(depth) => write!(f, "{}-{depth}", self.number),
        }
    }
}

impl FromStr for Version {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let parse = || match text.split_once('-') {
            None => Some(Self::from(text.parse::<i64>().ok()?)),
            Some((number, depth)) => Some(Self::from(number.parse::<i64>().ok()?).at_depth(depth.parse().ok()?)),
        };
        // No other text of the same numbers: entity tags are compared as texts.
        parse().filter(|version| version.to_string() == text).ok_or_else(|| Invalid::new("must be a version"))
    }
}

/// The condition under which a change is made: the `If-Match` of RFC 9110, section 13.1.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// The resource must exist, in any version.
    Exists,
    /// The resource must have one of these versions. One of a row alone allows the resource
    /// with every other part: an organization at any depth.
    OneOf(Vec<Version>),
}

impl Precondition {
    /// Whether the condition holds for a resource of this version.
    #[must_use]
    pub fn allows(&self, version: Version) -> bool {
        let is_version =
            |seen: &Version| seen.number == version.number && (seen.part.is_none() || seen.part == version.part);
        match self {
            Self::Exists => true,
            Self::OneOf(versions) => versions.iter().any(is_version),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_parsed_back_and_other_text_is_refused() {
        for (text, version) in [
            ("1", Version::FIRST),
            ("2", Version::FIRST.next()),
            ("7-0", Version::from(7).at_depth(0)),
            ("9223372036854775807-12", Version::from(i64::MAX).next().at_depth(12)),
        ] {
            assert_eq!(version.to_string(), text);
            assert_eq!(text.parse::<Version>().unwrap(), version);
        }
        for other in ["", "+1", "01", "1-", "-1-0", "1--1", "1-2-3", "1-02", " 1", "9223372036854775808", "0f", "x"] {
            assert!(other.parse::<Version>().is_err(), "{other}");
        }
    }

    #[test]
    fn a_version_without_a_depth_allows_every_depth() {
        let seen = |versions: &[&str]| Precondition::OneOf(versions.iter().map(|text| text.parse().unwrap()).collect());
        let current = Version::from(7).at_depth(2);
        for versions in [&["7-2"][..], &["7"], &["6", "7-2"]] {
            assert!(seen(versions).allows(current), "{versions:?}");
        }
        for versions in [&["7-1"][..], &["6"], &["6-2", "8-2"], &[]] {
            assert!(!seen(versions).allows(current), "{versions:?}");
        }
        assert!(Precondition::Exists.allows(current));
        assert!(!seen(&["7-2"]).allows(Version::from(7)));
    }
}
