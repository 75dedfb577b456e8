use serde_json::json;
use uuid::Uuid;

use crate::access::GrantedRights;
use crate::assignment::Grant;
use crate::audit::{Attribution, Record, ResourceType, action};
use crate::clock::Timestamp;
use crate::context::Author;
use crate::factor::Factor;
use crate::id::UserId;

/// A change of second factors. The account of the user is locked before.
#[derive(Clone, Debug)]
pub enum FactorChange {
    /// A TOTP generator is set up. It replaces the one that the user has not confirmed, and proves nothing until it is
    /// confirmed.
    Prepare(Factor),
    /// A TOTP generator is confirmed.
    Confirm(Factor),
    /// A passkey is registered.
    Register(Factor),
    /// A factor gets another name.
    Rename {
        /// The factor before the change.
        before: Factor,
        /// The factor after the change.
        after: Factor,
    },
    /// A factor has proved the identity of its user.
    Use {
        /// The factor with its new counter.
        after: Factor,
        /// The counter that a passkey sent, if it fell back: a sign of a copy. The greater one is kept.
        fell_back_to: Option<u64>,
    },
    /// Factors of one user are removed. The recovery codes end with the last confirmed factor.
    Remove {
        /// The user.
        user: UserId,
        /// The factors.
        factors: Vec<Factor>,
        /// Whether the user has no confirmed factor any more.
        is_last: bool,
        /// The role assignments of the user, on which the granted rights depend if another user removes its factors;
        /// `None` if they were not read.
        grants: Option<Vec<Grant>>,
    },
    /// A user gets a new set of recovery codes, which ends the former set.
    IssueRecoveryCodes {
        /// The user.
        user: UserId,
        /// The SHA-256 digests of the codes.
        hashes: Vec<[u8; 32]>,
    },
    /// A recovery code is used, and ends.
    UseRecoveryCode {
        /// The user.
        user: UserId,
        /// The SHA-256 digest of the code.
        hash: [u8; 32],
        /// How many codes are left.
        left: usize,
    },
}

impl FactorChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            // The confirmation is recorded.
            Self::Prepare(_) => Vec::new(),
            Self::Confirm(factor) | Self::Register(factor) => {
                vec![of(factor, action::CREATE).creating(&factor.audited())]
            }
            Self::Rename { before, after } => {
                vec![of(after, action::UPDATE).changing(&before.audited(), &after.audited()).listing_changed_fields()]
            }
            // What the proof was for has an entry of its own.
            Self::Use { fell_back_to: None, .. } => Vec::new(),
            Self::Use { after, fell_back_to: Some(sent) } => {
                let record = of(after, action::PASSKEY_COUNTER).with("before", after.counter).with("after", *sent);
                vec![record.attributed(Attribution::User(after.user_id))]
            }
            // An unconfirmed factor was never recorded.
            Self::Remove { factors, .. } => factors
                .iter()
                .filter(|factor| factor.is_confirmed())
                .map(|factor| of(factor, action::DELETE).deleting(&factor.audited()))
                .collect(),
            Self::IssueRecoveryCodes { user, hashes } => {
                vec![Record::new(action::RECOVERY_CODES_ISSUED, ResourceType::USER, user).with("count", hashes.len())]
            }
            Self::UseRecoveryCode { user, left, .. } => {
                // The caller is anonymous. Only the proof identifies the user.
                let record = Record::new(action::RECOVERY_CODE_USED, ResourceType::USER, user).with("left", *left);
                vec![record.attributed(Attribution::User(*user))]
            }
        }
    }

    pub(crate) fn granted_rights(&self, author: &Author, now: Timestamp) -> Vec<GrantedRights<'_>> {
        let (user, grants) = match self {
            Self::Remove { user, grants, .. } => (user, grants),
            Self::Prepare(_)
            | Self::Confirm(_)
            | Self::Register(_)
            | Self::Rename { .. }
            | Self::Use { .. }
            | Self::IssueRecoveryCodes { .. }
            | Self::UseRecoveryCode { .. } => return Vec::new(),
        };
        // A user that knows the password of another one could use that account without its factors.
        if author.user().is_none_or(|author| author == *user) {
            return Vec::new();
        }
        GrantedRights::of_account(grants.as_deref(), now)
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            // A session of a user without a factor may be restricted.
            Self::Confirm(factor) | Self::Register(factor) => vec![factor.user_id.into()],
            Self::Remove { user, .. } => vec![(*user).into()],
            Self::Prepare(_)
            | Self::Rename { .. }
            | Self::Use { .. }
            | Self::IssueRecoveryCodes { .. }
            | Self::UseRecoveryCode { .. } => Vec::new(),
        }
    }
}

fn of(factor: &Factor, action: &'static str) -> Record {
    Record::new(action, ResourceType::FACTOR, factor.id).with("targetUserId", json!(factor.user_id))
}
