use serde_json::{Value, json};
use uuid::Uuid;

use super::{User, UserStatus};
use crate::access::Covered;
use crate::audit::{Record, ResourceType, action};
use crate::secret::PasswordHash;

/// A change of users.
#[derive(Clone, Debug)]
pub enum UserChange {
    /// A new user with its password.
    Create {
        /// The user.
        user: User,
        /// Its password's hash.
        password: PasswordHash,
    },
    /// Fields of a user change.
    Update {
        /// As it was.
        before: User,
        /// As it becomes.
        after: User,
        /// That whoever lets it log in again holds what it gets back.
        covered: Covered,
    },
    /// A user is suspended or reactivated, and nothing else.
    ChangeStatus {
        /// As it was.
        before: User,
        /// As it becomes.
        after: User,
        /// That whoever reactivates it holds what it gets back.
        covered: Covered,
    },
    /// It is proven that the user receives mail at its address.
    VerifyEmail {
        /// As it was.
        before: User,
        /// As it becomes.
        after: User,
    },
    /// A user becomes INACTIVE and stays on record.
    Delete {
        /// As it was.
        before: User,
        /// As it becomes.
        after: User,
    },
}

impl UserChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Create { user, .. } => vec![of(user, action::CREATE).creating(&with_password(user.audited()))],
            Self::Update { before, after, .. } => {
                let update =
                    of(after, action::UPDATE).changing(&before.audited(), &after.audited()).listing_changed_fields();
                [update].into_iter().chain(status_record(before, after)).collect()
            }
            Self::ChangeStatus { before, after, .. } => status_record(before, after).into_iter().collect(),
            Self::VerifyEmail { before, after } => {
                vec![of(after, action::EMAIL_VERIFIED).changing(&before.audited(), &after.audited())]
            }
            Self::Delete { before, after } => vec![of(after, action::DELETE).deleting(&before.audited())],
        }
    }

    pub(crate) fn touched(&self) -> Vec<Uuid> {
        match self {
            // It has no session yet.
            Self::Create { .. } => Vec::new(),
            // No right depends on it.
            Self::VerifyEmail { .. } => Vec::new(),
            Self::Update { after, .. } | Self::ChangeStatus { after, .. } | Self::Delete { after, .. } => {
                vec![after.id.into()]
            }
        }
    }
}

fn of(user: &User, action: &'static str) -> Record {
    Record::new(action, ResourceType::USER, user.id)
}

/// The password stands among the created fields; redaction replaces it.
fn with_password(mut fields: Value) -> Value {
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("password".to_owned(), Value::Null);
    }
    fields
}

/// A suspension or a reactivation has an entry of its own (`decisions.md` §3).
fn status_record(before: &User, after: &User) -> Option<Record> {
    let action = match (before.status, after.status) {
        (UserStatus::Active, UserStatus::Suspended) => action::USER_SUSPENDED,
        (UserStatus::Suspended, UserStatus::Active) => action::USER_REACTIVATED,
        _ => return None,
    };
    let status = |user: &User| json!({ "status": user.status.as_str() });
    Some(of(after, action).changing(&status(before), &status(after)))
}
