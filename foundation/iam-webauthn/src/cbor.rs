//! CBOR (RFC 8949), as far as authenticators use it.

use ciborium::Value;
use ciborium::de::from_reader_with_recursion_limit;

/// How deep values may be nested. The deepest known, the certificates of a compound attestation, are on level 5.
const MAX_DEPTH: usize = 8;

/// Reads the value at the start of the bytes. Returns it with the bytes that follow.
pub(crate) fn read(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let mut rest = bytes;
    let value = from_reader_with_recursion_limit(&mut rest, MAX_DEPTH).ok()?;
    Some((value, rest))
}

/// Reads a map at the start of the bytes. Returns it with the bytes that follow.
pub(crate) fn read_map(bytes: &[u8]) -> Option<(Map, &[u8])> {
    let (value, rest) = read(bytes)?;
    Some((Map(value.into_map().ok()?), rest))
}

/// A map, whose keys may be repeated or in any order.
pub(crate) struct Map(Vec<(Value, Value)>);

impl Map {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the value of a key. `None` if the key is missing or repeated: otherwise two readers of the same map
    /// could see different values (RFC 8949 §5.6).
    pub(crate) fn get(&self, key: impl Into<Value>) -> Option<&Value> {
        let key = key.into();
        let mut values = self.0.iter().filter(|(other, _)| *other == key).map(|(_, value)| value);
        values.next().filter(|_| values.next().is_none())
    }

    pub(crate) fn integer(&self, key: impl Into<Value>) -> Option<i64> {
        self.get(key)?.as_integer()?.try_into().ok()
    }

    pub(crate) fn bytes(&self, key: impl Into<Value>) -> Option<&[u8]> {
        self.get(key)?.as_bytes().map(Vec::as_slice)
    }
}
