//! Versions of resources and preconditions of changes. They prevent a caller from overwriting a change that it has
//! not seen (RFC 9110 §13.1).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use crate::audit::Digest;
use crate::organization::OrganizationWithDepth;
use crate::role::Role;
use crate::tenant::Tenant;
use crate::user::User;
use crate::validate::Invalid;

/// The version of a resource: a digest of its whole state. Its text form is 32 hexadecimal digits. Another release, or
/// the same release on another kind of machine, may compute another version for the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(u128);

impl Version {
    fn of(state: &impl Hash) -> Self {
        let mut hashed = Hashed(Vec::with_capacity(512));
        state.hash(&mut hashed);
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(Digest::of(&[&hashed.0]).0).for_each(|(to, from)| *to = from);
        Self(u128::from_be_bytes(bytes))
    }
}

/// Collects the bytes to hash with SHA-256, so that no attacker can find two states with the same version.
struct Hashed(Vec<u8>);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Version {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_version = text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let number = u128::from_str_radix(text, 16).ok().filter(|_| is_version);
        number.map(Self).ok_or_else(|| Invalid::new("must be 32 hexadecimal digits"))
    }
}

macro_rules! versioned {
    ($($type:ty),+) => {$(
        impl $type {
            /// Returns the version of this state. It changes whenever any part of the state changes.
            #[must_use]
            pub fn version(&self) -> Version {
                Version::of(self)
            }
        }
    )+};
}

versioned! { User, Role, OrganizationWithDepth, Tenant }

/// The condition under which a change is made: the `If-Match` of RFC 9110, section 13.1.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// The resource must exist, in any version.
    Exists,
    /// The resource must have one of these versions.
    OneOf(Vec<Version>),
}

impl Precondition {
    /// Whether the condition holds for a resource of this version.
    #[must_use]
    pub fn allows(&self, version: Version) -> bool {
        match self {
            Self::Exists => true,
            Self::OneOf(versions) => versions.contains(&version),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_parsed_back_and_other_text_is_refused() {
        let version = Version::of(&"something");
        assert_eq!(version.to_string().len(), 32);
        assert_eq!(version.to_string().parse::<Version>().unwrap(), version);
        assert_ne!(version, Version::of(&"something else"));
        for other in ["", "0", &"0".repeat(33), &"G".repeat(32), &"A".repeat(32), &format!("+{}", "0".repeat(31))] {
            assert!(other.parse::<Version>().is_err(), "{other}");
        }
    }
}
