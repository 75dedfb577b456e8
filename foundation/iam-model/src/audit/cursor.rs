use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use uuid::Uuid;

use crate::audit::{AuditEntry, Digest};
use crate::clock::Timestamp;
use crate::id::AuditEntryId;
use crate::validate::Invalid;

/// The position right after an entry in a list with the newest entry first.
///
/// Its text is opaque: the entry's time and identifier, with a checksum. Because of the checksum, a damaged cursor is
/// rejected and does not lead to a wrong position. A cursor is not secret and grants nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// When the entry was created.
    pub created_at: Timestamp,
    /// The entry.
    pub id: AuditEntryId,
}

const CHECKSUM: usize = 6;

impl Cursor {
    /// Returns the position after an entry.
    #[must_use]
    pub fn after(entry: &AuditEntry) -> Self {
        Self { created_at: entry.created_at, id: entry.id }
    }

    /// Returns whether an entry comes after this position, that is, whether it is older.
    #[must_use]
    pub fn precedes(&self, entry: &AuditEntry) -> bool {
        (entry.created_at, entry.id) < (self.created_at, self.id)
    }

    fn bytes(self) -> Vec<u8> {
        let mut bytes = self.created_at.timestamp_millis().to_be_bytes().to_vec();
        bytes.extend_from_slice(self.id.as_uuid().as_bytes());
        bytes
    }
}

fn checksum(bytes: &[u8]) -> Vec<u8> {
    Digest::of(&[b"audit cursor", bytes]).0.into_iter().take(CHECKSUM).collect()
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes();
        f.write_str(&URL_SAFE_NO_PAD.encode([checksum(&bytes), bytes].concat()))
    }
}

impl FromStr for Cursor {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        parse(text).ok_or_else(|| Invalid::new("must be a cursor from an earlier page"))
    }
}

fn parse(text: &str) -> Option<Cursor> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (sum, body) = bytes.split_at_checked(CHECKSUM)?;
    if sum != checksum(body) {
        return None;
    }
    let (millis, id) = body.split_at_checked(8)?;
    let created_at = Timestamp::from_timestamp_millis(i64::from_be_bytes(millis.try_into().ok()?))?;
    Some(Cursor { created_at, id: AuditEntryId::from_uuid(Uuid::from_slice(id).ok()?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_round_trips_as_text_and_a_damaged_one_is_rejected() {
        let cursor = Cursor {
            created_at: "2026-01-31T09:15:00.123Z".parse().unwrap(),
            id: AuditEntryId::from_uuid(Uuid::from_u128(7)),
        };
        let text = cursor.to_string();
        assert_eq!(text.parse(), Ok(cursor));
        for at in 0..text.len() {
            let mut mangled = text.clone().into_bytes();
            mangled[at] = if mangled[at] == b'x' { b'y' } else { b'x' };
            assert!(String::from_utf8(mangled).unwrap().parse::<Cursor>().is_err());
            assert!(text[..at].parse::<Cursor>().is_err());
        }
    }
}
