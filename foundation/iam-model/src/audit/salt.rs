use std::fmt;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::audit::canonical;
use crate::random::Random;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Computes SHA-256 over the parts, one after the other.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// The salts that keep the personal fields of an entry from being guessed, one for each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Salts {
    /// For the personal fields in the old and new values and the metadata. They belong to the person whom the entry is
    /// about.
    pub details: Salt,
    /// For the client's address and user agent. They belong to the person who acted.
    pub origin: Salt,
}

/// The salt that keeps one part of an entry from being guessed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Salt {
    /// The salt itself.
    Known([u8; 16]),
    /// The part and its salt were erased. Their commitment remains.
    Destroyed(Digest),
}

/// Hides the salt, which needs the same protection as the values that it hides.
impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(_) => f.write_str("Known([REDACTED])"),
            Self::Destroyed(commitment) => write!(f, "Destroyed({commitment})"),
        }
    }
}

impl Salt {
    /// Draws a new salt.
    #[must_use]
    pub fn draw(random: &dyn Random) -> Self {
        Self::Known(random.bytes())
    }

    /// Returns whether the part was erased.
    #[must_use]
    pub fn is_destroyed(&self) -> bool {
        matches!(self, Self::Destroyed(_))
    }

    /// Returns the bytes that a store holds: 16 bytes of salt, or 32 bytes of the commitment.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Known(salt) => salt,
            Self::Destroyed(Digest(commitment)) => commitment,
        }
    }

    /// Reads the bytes that [`as_bytes`](Self::as_bytes) returned; `None` for any other length.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if let Ok(commitment) = bytes.try_into() {
            return Some(Self::Destroyed(Digest(commitment)));
        }
        bytes.try_into().ok().map(Self::Known)
    }

    /// Returns the commitment to these values. After the salt is destroyed, the commitment stands for the erased
    /// values. It holds only while every value is `blank`: other values in their place give a digest that does not
    /// match.
    pub(super) fn commit<'v>(&self, values: impl IntoIterator<Item = &'v Value>, blank: &Value) -> Digest {
        match self {
            Self::Known(salt) => {
                let mut json = Vec::with_capacity(128);
                canonical::write_items(values, &mut json, &mut |_, _| false);
                Digest::of(&[salt, &json])
            }
            Self::Destroyed(commitment) if values.into_iter().all(|value| value == blank) => *commitment,
            Self::Destroyed(_) => Digest::of(&[]),
        }
    }
}
