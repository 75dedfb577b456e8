//! Legal holds: what is not destroyed while a court or an authority may ask for it (`docs/operating.md#legal-holds`).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::id::{DirectoryId, LegalHoldId, TenantId, UserId};
use crate::validate::Reason;

/// An order that the data of a tenant, or of one of its users, is kept. It ends when it is released.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LegalHold {
    /// Identifies the hold.
    pub id: LegalHoldId,
    /// The tenant.
    pub tenant_id: TenantId,
    /// The user whose data is kept; `None` for the data of the whole tenant.
    pub user_id: Option<UserId>,
    /// Why, in the words of the person who placed it: 1–500 characters.
    pub reason: Reason,
    /// The user who placed it; `None` for trusted code.
    pub placed_by: Option<UserId>,
    /// When it was placed.
    pub created_at: Timestamp,
}

impl LegalHold {
    /// The maximum number of holds of a tenant.
    pub const MAX: u64 = 1_000;

    /// Whether the hold keeps what would be destroyed. `directory` is the one that says something of the held user.
    ///
    /// The entries of the audit log cannot be kept apart by person: an entry can concern several. So the hold of one
    /// user keeps the whole log.
    #[must_use]
    pub fn keeps(&self, destroyed: Destroyed, directory: Option<DirectoryId>) -> bool {
        match (self.user_id, destroyed) {
            (None, _) | (Some(_), Destroyed::Log) => true,
            (Some(held), Destroyed::OfUser(user)) => held == user,
            (Some(_), Destroyed::OfDirectory(removed)) => directory == Some(removed),
        }
    }

    /// Returns the fields that the audit log records.
    pub(crate) fn audited(&self) -> Value {
        json!({ "userId": self.user_id, "reason": self.reason.as_str() })
    }
}

/// What a change destroys for good, or takes the first step to destroy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destroyed {
    /// Entries of the audit log, or other data that concerns several users together.
    Log,
    /// The data of this user.
    OfUser(UserId),
    /// What this directory says of its users, also of those that it has deleted.
    OfDirectory(DirectoryId),
}

#[cfg(test)]
pub(crate) mod tests {
    use uuid::Uuid;

    use super::*;

    /// A hold of this user, or of the tenant.
    pub(crate) fn hold(user: Option<UserId>) -> LegalHold {
        LegalHold {
            id: Uuid::from_u128(5).into(),
            tenant_id: "00000001-0000-7000-8000-000000000000".parse().unwrap(),
            user_id: user,
            reason: "Case 2026-17".parse().unwrap(),
            placed_by: None,
            created_at: crate::access::testing::at(1),
        }
    }

    #[test]
    fn a_hold_keeps_the_log_and_the_data_of_its_user_or_of_all() {
        let [ada, grace] = [1, 2].map(|id| UserId::from(Uuid::from_u128(id)));
        let [staff, guests] = [3, 4].map(|id| DirectoryId::from(Uuid::from_u128(id)));
        for (destroyed, is_kept) in [
            (Destroyed::Log, true),
            (Destroyed::OfUser(ada), true),
            (Destroyed::OfUser(grace), false),
            (Destroyed::OfDirectory(staff), true),
            (Destroyed::OfDirectory(guests), false),
        ] {
            assert!(hold(None).keeps(destroyed, None), "{destroyed:?}");
            assert_eq!(hold(Some(ada)).keeps(destroyed, Some(staff)), is_kept, "{destroyed:?}");
        }
    }
}
