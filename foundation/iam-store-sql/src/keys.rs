//! The keys of rows that were written with keys of an earlier form (migration 0020).
//!
//! Two accounts of a tenant, whose addresses had two keys, can have the same key now. The account that its owner uses
//! keeps it: an ACTIVE one before a SUSPENDED and an INACTIVE one, then a verified one, then the one that logged in
//! last, then the oldest. The other one gets a key that no address has: its key, a blank and its identifier. So it can
//! be found, read and changed, but no login finds it before an administrator changes its address, or that of the
//! account that keeps the key.

use std::cmp::Reverse;

use iam_model::id::{TenantId, UserId};
use iam_model::text::folded;
use iam_model::validate::{Email, StoredText as _};
use sqlx::FromRow;
use uuid::Uuid;

/// How many rows are read at a time.
pub const BATCH: i64 = 500;

/// A user whose address has the key that another account keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddressConflict {
    /// The tenant of both.
    pub tenant_id: TenantId,
    /// The user that no login finds.
    pub user_id: UserId,
    /// The user that keeps the key.
    pub holder_id: UserId,
}

/// A user with the columns from which its keys are made.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct KeyedUser<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub email: String,
    pub email_key: String,
    pub first_name: String,
    pub last_name: String,
    pub status: String,
    pub is_verified: bool,
    pub last_login_at: Option<T>,
    pub created_at: T,
    pub updated_at: T,
}

impl<T: Copy + Ord> KeyedUser<T> {
    /// Returns the key of the address.
    #[must_use]
    pub fn key(&self) -> String {
        key_of(&self.email)
    }

    /// Returns the keys of both names.
    #[must_use]
    pub fn names(&self) -> (String, String) {
        (folded(&self.first_name), folded(&self.last_name))
    }

    /// Returns the key that the user has while another account keeps its own.
    #[must_use]
    pub fn conflict_key(&self) -> String {
        conflict_key(&self.key(), self.id)
    }

    /// Whether this user keeps a key that another one has, too.
    #[must_use]
    pub fn keeps(&self, key: &str, other: &Self) -> bool {
        self.key() == key && self.rank() < other.rank()
    }

    /// The least one of several accounts with one key keeps it.
    fn rank(&self) -> impl Ord + use<T> {
        let status = match self.status.as_str() {
            "ACTIVE" => 0,
            "SUSPENDED" => 1,
            _ => 2,
        };
        (status, Reverse(self.is_verified), Reverse(self.last_login_at), self.created_at, self.id)
    }
}

/// An invitation with the columns from which its key is made.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct KeyedInvitation {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub email: String,
}

/// An organization with the columns from which its key is made.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct KeyedOrganization<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub name: String,
    pub updated_at: T,
}

/// A count of failed logins or of messages, under a key that may have an earlier form.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct KeyedCount {
    pub tenant_id: Uuid,
    pub email_key: String,
}

impl KeyedCount {
    /// Returns the key under which it belongs, if that is another one.
    #[must_use]
    pub fn moved(&self) -> Option<String> {
        Some(key_of(&self.email_key)).filter(|key| *key != self.email_key)
    }
}

/// Returns the key of a stored address.
#[must_use]
pub fn key_of(email: &str) -> String {
    Email::stored(email.to_owned()).key().as_str().to_owned()
}

/// Returns the key of a row while another row has this key. No address has a blank in its key.
#[must_use]
pub fn conflict_key(key: &str, id: Uuid) -> String {
    format!("{key} {id}")
}
