use serde_json::{Value, json};
use uuid::Uuid;

use crate::access::GrantedRights;
use crate::assignment::Grant;
use crate::attribute::{self, Attributes, ChangedAttributes};
use crate::audit::{Attribution, Record, ResourceType, action};
use crate::clock::Timestamp;
use crate::context::Author;
use crate::id::{InvitationId, OrganizationId};
use crate::secret::PasswordHash;
use crate::user::{User, UserStatus};

/// A change of users.
#[derive(Clone, Debug)]
pub enum UserChange {
    /// A new user.
    Create {
        /// The user.
        user: User,
        /// The hash of its password; `None` for a service account, which has none.
        password: Option<PasswordHash>,
        /// The invitation that the user accepted, if it was invited.
        invitation: Option<InvitationId>,
        /// The attributes of the user.
        attributes: Attributes,
    },
    /// Fields of a user change.
    Update {
        /// The user before the change.
        before: User,
        /// The user after the change.
        after: User,
        /// The user's role assignments, on which the granted rights depend if the status, the e-mail or the external
        /// identifier changes; `None` if they were not read.
        grants: Option<Vec<Grant>>,
        /// The attributes, if they change.
        attributes: Option<Box<ChangedAttributes>>,
    },
    /// The attributes of a deleted user are removed, because the person is erased in the audit log.
    ForgetAttributes {
        /// The user after the change.
        after: User,
    },
    /// A user is suspended or reactivated, and no other field changes.
    ChangeStatus {
        /// The user before the change.
        before: User,
        /// The user after the change.
        after: User,
        /// The user's role assignments, on which the granted rights depend; `None` if they were not read.
        grants: Option<Vec<Grant>>,
    },
    /// The user's e-mail is verified: it is proven that the user receives mail at this address.
    VerifyEmail {
        /// The user before the change.
        before: User,
        /// The user after the change.
        after: User,
    },
    /// The user has used a link that was sent to an address, and so proved that it receives mail there. The address may
    /// be a new one, which replaces the former address.
    ConfirmEmail {
        /// The user before the change.
        before: User,
        /// The user after the change.
        after: User,
    },
    /// A user becomes INACTIVE, and its record is kept.
    Delete {
        /// The user before the change.
        before: User,
        /// The user after the change.
        after: User,
    },
    /// Users get another home, because the organization that was their home becomes INACTIVE.
    MoveHomes {
        /// The users before the change.
        before: Vec<User>,
        /// Their new home; `None` for the tenant.
        home: Option<OrganizationId>,
        /// When they change.
        at: Timestamp,
    },
}

impl UserChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Create { user, password, invitation, attributes } => {
                let mut fields = user.audited();
                if !attributes.is_empty() {
                    attribute::insert(&mut fields, attributes);
                }
                let fields = if password.is_some() { with_password(fields) } else { fields };
                let record = of(user, action::CREATE).creating(&fields);
                vec![match invitation {
                    Some(id) => record.with("invitationId", json!(id)),
                    None => record,
                }]
            }
            Self::Update { before, after, attributes, .. } => {
                let (mut old, mut new) = (before.audited(), after.audited());
                if let Some(attributes) = attributes {
                    attributes.record_in(&mut old, &mut new);
                }
                let update = of(after, action::UPDATE).changing(&old, &new).listing_changed_fields();
                [update].into_iter().chain(status_record(before, after)).collect()
            }
            // The erasure is recorded, and must not name what it erases.
            Self::ForgetAttributes { .. } => Vec::new(),
            Self::ChangeStatus { before, after, .. } => status_record(before, after).into_iter().collect(),
            Self::VerifyEmail { before, after } => {
                vec![of(after, action::EMAIL_VERIFIED).changing(&before.audited(), &after.audited())]
            }
            Self::ConfirmEmail { before, after } => {
                let is_new = before.email != after.email;
                // The caller is anonymous. Only the token identifies the user.
                let by_user = |record: Record| record.attributed(Attribution::User(after.id));
                let changing = |action| of(after, action).changing(&before.audited(), &after.audited());
                let update = is_new.then(|| by_user(changing(action::UPDATE).listing_changed_fields()));
                update.into_iter().chain([by_user(changing(action::EMAIL_VERIFIED))]).collect()
            }
            Self::Delete { before, after } => vec![of(after, action::DELETE).deleting(&before.audited())],
            Self::MoveHomes { before, home, .. } => {
                let moved = |before: &User| {
                    let after = User { home_organization_id: *home, ..before.clone() };
                    of(&after, action::UPDATE).changing(&before.audited(), &after.audited()).listing_changed_fields()
                };
                before.iter().map(moved).collect()
            }
        }
    }

    /// Returns the user before and after the change, if its status changes.
    pub fn status_change(&self) -> Option<(&User, &User)> {
        let (before, after) = match self {
            Self::Create { .. } | Self::MoveHomes { .. } | Self::ForgetAttributes { .. } => return None,
            Self::Update { before, after, .. }
            | Self::ChangeStatus { before, after, .. }
            | Self::VerifyEmail { before, after }
            | Self::ConfirmEmail { before, after }
            | Self::Delete { before, after } => (before, after),
        };
        (before.status != after.status).then_some((before, after))
    }

    pub(crate) fn granted_rights(&self, author: &Author, now: Timestamp) -> Vec<GrantedRights<'_>> {
        let (before, after, grants) = match self {
            // The user has no roles yet.
            Self::Create { .. } => return Vec::new(),
            // The administrators of the organization above could change these users before, too.
            Self::MoveHomes { .. } => return Vec::new(),
            // No right depends on attributes.
            Self::ForgetAttributes { .. } => return Vec::new(),
            // Only the token identifies the user, who asked for the link itself, with its password if the address is
            // new.
            Self::ConfirmEmail { .. } if author.user().is_none() => return Vec::new(),
            Self::Update { before, after, grants, .. } | Self::ChangeStatus { before, after, grants } => {
                (before, after, grants.as_deref())
            }
            Self::VerifyEmail { before, after }
            | Self::ConfirmEmail { before, after }
            | Self::Delete { before, after } => (before, after, None),
        };
        // A new password is sent to the address, and another system may let a person log in by the external identifier.
        // So an author that changes one of them for another user could use that account.
        let is_renamed = before.email != after.email || before.external_id != after.external_id;
        let takes_over = is_renamed && author.user() != Some(after.id);
        let is_activated = before.status != UserStatus::Active && after.status == UserStatus::Active;
        if takes_over {
            return GrantedRights::of_account(grants, now);
        }
        if !is_activated {
            return Vec::new();
        }
        let Some(grants) = grants else { return vec![GrantedRights::everything()] };
        grants.iter().filter(|grant| grant.is_effective(now)).map(GrantedRights::of).collect()
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            // The user has no session yet.
            Self::Create { .. } => Vec::new(),
            // No right depends on the verification.
            Self::VerifyEmail { .. } | Self::ConfirmEmail { .. } => Vec::new(),
            // No right of the user depends on its home.
            Self::MoveHomes { .. } => Vec::new(),
            Self::ForgetAttributes { .. } => Vec::new(),
            Self::Update { after, .. } | Self::ChangeStatus { after, .. } | Self::Delete { after, .. } => {
                vec![after.id.into()]
            }
        }
    }
}

fn of(user: &User, action: &'static str) -> Record {
    Record::new(action, ResourceType::USER, user.id)
}

/// Adds a password to the fields of the created user, so that redaction shows `[REDACTED]` for it.
fn with_password(mut fields: Value) -> Value {
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("password".to_owned(), Value::Null);
    }
    fields
}

/// Returns the separate record of a suspension or a reactivation (`docs/audit.md#what-is-recorded`).
fn status_record(before: &User, after: &User) -> Option<Record> {
    let action = match (before.status, after.status) {
        (UserStatus::Active, UserStatus::Suspended) => action::USER_SUSPENDED,
        (UserStatus::Suspended, UserStatus::Active) => action::USER_REACTIVATED,
        _ => return None,
    };
    let status = |user: &User| json!({ "status": user.status.as_str() });
    Some(of(after, action).changing(&status(before), &status(after)))
}
