//! Idempotency keys: what is asked for twice under one key is done once (`interface.md` §4.7, `decisions.md` §7).
//!
//! Whoever creates something says under which key, and gives what it asked for along. The answer is kept for a day, by the
//! unit of work that made the thing: either both are there or neither.
//!
//! ```
//! use std::sync::Arc;
//!
//! use iam_core::idempotency::Idempotency;
//! use iam_core::{Caller, Iam, memory::MemoryStore, organization::NewOrganization};
//!
//! # async fn example(iam: Iam, caller: Caller) -> Result<(), Box<dyn std::error::Error>> {
//! let new = NewOrganization { name: "Branch".to_owned(), slug: None, parent: None };
//! let key = Idempotency::new("import-2026-01-31/7".parse()?, "Branch");
//! let caller = caller.with_idempotency(key.clone());
//! let branch = iam.organizations().create(&caller, new.clone()).await?;
//! assert_eq!(iam.organizations().create(&caller, new).await?, branch);
//! assert!(key.was_replayed());
//! # Ok(())
//! # }
//! ```

mod change;
mod once;
mod store;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_lc_rs::digest::{SHA256, digest};
use chrono::TimeDelta;

pub use change::IdempotencyChange;
pub(crate) use once::{IdempotencySecret, Once};
pub use store::IdempotencyTransaction;

use crate::clock::Timestamp;
use crate::id::TenantId;
use crate::validate::Invalid;

/// For how long an answer is kept.
pub(crate) const KEPT: TimeDelta = TimeDelta::hours(24);

/// What a client calls a request of its own: 1–255 visible ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(String);

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

/// A key and the request that was made under it; clones are the same request.
///
/// It belongs to one call of a service, whoever repeats that makes a new one: [`Caller::with_idempotency`] hands it over.
///
/// [`Caller::with_idempotency`]: crate::Caller::with_idempotency
#[derive(Clone)]
pub struct Idempotency {
    key: IdempotencyKey,
    request: Vec<u8>,
    replayed: Arc<AtomicBool>,
}

/// The request may hold a password.
impl fmt::Debug for Idempotency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotency").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Idempotency {
    /// A request under a key. Of what it asks for, anything will do that another request does not have; only a digest of
    /// it is kept.
    #[must_use]
    pub fn new(key: IdempotencyKey, request: impl AsRef<[u8]>) -> Self {
        let request = digest(&SHA256, request.as_ref()).as_ref().to_vec();
        Self { key, request, replayed: Arc::default() }
    }

    /// Whether the answer was that of an earlier request, and nothing was done now.
    #[must_use]
    pub fn was_replayed(&self) -> bool {
        self.replayed.load(Ordering::Relaxed)
    }

    fn replay(&self) {
        self.replayed.store(true, Ordering::Relaxed);
    }
}

/// The answer to a request, as a store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The tenant of the caller; [`TenantId::NONE`] for somebody who has none yet.
    pub tenant_id: TenantId,
    /// Stands for the key and the caller, and tells neither.
    pub id: [u8; 32],
    /// Stands for what was asked for.
    pub request: [u8; 32],
    /// What was made, as JSON.
    pub answer: String,
    /// When it was made.
    pub created_at: Timestamp,
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
    fn a_request_is_not_shown() {
        let shown = format!("{:?}", Idempotency::new("key".parse().unwrap(), "Passw0rd!"));
        assert_eq!(shown, r#"Idempotency { key: IdempotencyKey("key"), .. }"#);
    }
}
