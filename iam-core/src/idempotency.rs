//! Idempotency keys: a request that is repeated under the same key is executed once
//! (`docs/http-api.md#repeating-a-request`).
//!
//! A caller that creates a resource by `create_once` passes a key and the request. The answer is kept for a day. It is
//! stored by the unit of work that creates the resource, so either both exist or neither.
//!
//! ```
//! use std::sync::Arc;
//!
//! use iam_core::idempotency::Idempotency;
//! use iam_core::{Caller, Iam};
//! use iam_core::organization::NewOrganization;
//! use iam_store_memory::MemoryStore;
//!
//! # async fn example(iam: Iam, caller: Caller) -> Result<(), Box<dyn std::error::Error>> {
//! let new = NewOrganization { name: "Branch".to_owned(), slug: None, parent: None };
//! let key = Idempotency::new("import-2026-01-31/7".parse()?, "Branch");
//! let branch = iam.organizations().create_once(&caller, new.clone(), Some(&key)).await?;
//! assert_eq!(iam.organizations().create_once(&caller, new, Some(&key)).await?, branch);
//! assert!(key.was_replayed());
//! # Ok(())
//! # }
//! ```

pub use iam_model::change::IdempotencyChange;
pub use iam_model::idempotency::IdempotencyRecord;
pub use iam_model::store::IdempotencyTransaction;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_lc_rs::digest::{SHA256, digest};
use chrono::TimeDelta;
use iam_model::validate::Invalid;

/// How long a stored answer is kept.
pub(crate) const KEPT: TimeDelta = TimeDelta::hours(24);

/// The name that a client gives to a request: 1–255 visible ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for IdempotencyKey {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("must be 1 to 255 visible ASCII characters"))
        }
    }
}

/// A key and the request under this key. Clones are the same request.
///
/// A value belongs to one call of a service; a caller that repeats the call creates a new value.
#[derive(Clone)]
pub struct Idempotency {
    pub(crate) key: IdempotencyKey,
    pub(crate) request: Vec<u8>,
    replayed: Arc<AtomicBool>,
}

/// Hides the request, which may contain a password.
impl fmt::Debug for Idempotency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotency").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Idempotency {
    /// Creates a request under a key. `request` can be any bytes that differ from those of other requests. Only a
    /// digest of them is kept.
    #[must_use]
    pub fn new(key: IdempotencyKey, request: impl AsRef<[u8]>) -> Self {
        let request = digest(&SHA256, request.as_ref()).as_ref().to_vec();
        Self { key, request, replayed: Arc::default() }
    }

    /// Whether the answer is that of an earlier request, so that the call changed nothing.
    #[must_use]
    pub fn was_replayed(&self) -> bool {
        self.replayed.load(Ordering::Relaxed)
    }

    pub(crate) fn replay(&self) {
        self.replayed.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_1_to_255_visible_characters() {
        let longest = "k".repeat(255);
        for key in ["k", "!~", "a/b=c;d\"e\"", &longest] {
            assert_eq!(key.parse::<IdempotencyKey>().unwrap().0, key);
        }
        for key in ["", " ", "a b", "a\tb", "ä", "a\0", &"k".repeat(256)] {
            assert!(key.parse::<IdempotencyKey>().is_err(), "{key:?}");
        }
    }

    #[test]
    fn debug_output_hides_the_request() {
        let shown = format!("{:?}", Idempotency::new("key".parse().unwrap(), "Passw0rd!"));
        assert_eq!(shown, r#"Idempotency { key: IdempotencyKey("key"), .. }"#);
    }
}
