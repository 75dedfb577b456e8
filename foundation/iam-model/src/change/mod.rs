//! All changes that can be written, by noun, with the audit records and the granted rights of each.

mod api_key;
mod assignment;
mod audit;
mod batch;
mod challenge;
mod credential;
mod factor;
mod idempotency;
mod invitation;
mod link;
mod mail;
mod organization;
mod permission;
mod role;
mod session;
mod tenant;
mod user;
mod webhook;

#[cfg(test)]
mod tests;

pub use api_key::ApiKeyChange;
pub use assignment::AssignmentChange;
pub use audit::{AuditChange, ERASED_DETAILS, ERASED_ORIGINS, ErasedDetails, ErasedOrigin, GIVEN_UP_UNTIL, SIGNATURE};
pub use batch::AuditBatch;
pub use challenge::ChallengeChange;
pub use credential::{CredentialChange, LoginFailure};
pub use factor::FactorChange;
pub use idempotency::IdempotencyChange;
pub use invitation::InvitationChange;
pub use link::LinkChange;
pub use mail::MailChange;
pub use organization::{ActivatedRoles, OrganizationChange};
pub use permission::PermissionChange;
pub use role::RoleChange;
pub use session::SessionChange;
pub use tenant::TenantChange;
pub use user::UserChange;
pub use webhook::WebhookChange;

use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::Record;
use crate::clock::Timestamp;
use crate::context::Author;
use crate::history::{EndedVersion, PastStatus};

macro_rules! changes {
    ($($(#[$doc:meta])* $variant:ident($change:ident),)+) => {
        /// A change to write, by noun.
        ///
        /// A [`Transaction`](crate::store::Transaction) can write nothing else. Each change defines its own audit
        /// records and granted rights, so a new kind of change does not compile until it defines them. The enum is
        /// exhaustive on purpose: a store that matches on it does not compile until it writes the new kind, too.
        #[derive(Clone, Debug)]
        pub enum Change {
            $($(#[$doc])* $variant($change),)+
        }

        impl Change {
            /// Returns the audit records of this change.
            pub(crate) fn records(&self) -> Vec<Record> {
                match self {
                    $(Self::$variant(change) => change.records(),)+
                }
            }

            /// Returns the ids whose dependent cache entries this change invalidates. A cached session depends on the
            /// session itself, its user, the user's role assignments, their roles, their organizations, and all
            /// ancestors of these organizations.
            pub fn invalidates(&self) -> Vec<Uuid> {
                match self {
                    $(Self::$variant(change) => change.invalidates(),)+
                }
            }
        }

        $(impl From<$change> for Change {
            fn from(change: $change) -> Self {
                Self::$variant(change)
            }
        })+
    };
}

changes! {
    /// A change of tenants.
    Tenant(TenantChange),
    /// A change of users.
    User(UserChange),
    /// A change of passwords and failed logins.
    Credential(CredentialChange),
    /// A change of sessions.
    Session(SessionChange),
    /// A change of the catalogue of permissions.
    Permission(PermissionChange),
    /// A change of roles.
    Role(RoleChange),
    /// A change of role assignments.
    Assignment(AssignmentChange),
    /// A change of organizations.
    Organization(OrganizationChange),
    /// A change of the audit log itself.
    Audit(AuditChange),
    /// A change of the stored answers to requests with an idempotency key.
    Idempotency(IdempotencyChange),
    /// A change of invitations.
    Invitation(InvitationChange),
    /// A change of links.
    Link(LinkChange),
    /// A change of the outbox.
    Mail(MailChange),
    /// A change of second factors.
    Factor(FactorChange),
    /// A change of challenges.
    Challenge(ChallengeChange),
    /// A change of API keys.
    ApiKey(ApiKeyChange),
    /// A change of webhooks.
    Webhook(WebhookChange),
}

impl Change {
    /// Returns the versions that this change ends.
    pub(crate) fn ended_versions(&self) -> Vec<EndedVersion> {
        match self {
            Self::Role(change) => change.ended_version().cloned().map(EndedVersion::Role).into_iter().collect(),
            Self::Assignment(change) => {
                change.ended_versions().map(|grant| EndedVersion::Assignment(grant.assignment.clone())).collect()
            }
            Self::Organization(change) => {
                change.ended_version().cloned().map(EndedVersion::Organization).into_iter().collect()
            }
            Self::User(change) => {
                let before = change.status_change().map(|(before, _)| PastStatus::from(before));
                before.map(EndedVersion::Status).into_iter().collect()
            }
            // They concern neither assignments nor what decides about them.
            Self::Tenant(_)
            | Self::Credential(_)
            | Self::Session(_)
            | Self::Permission(_)
            | Self::Audit(_)
            | Self::Idempotency(_)
            | Self::Invitation(_)
            | Self::Link(_)
            | Self::Mail(_)
            | Self::Factor(_)
            | Self::Challenge(_)
            | Self::ApiKey(_)
            | Self::Webhook(_) => Vec::new(),
        }
    }

    /// Returns the rights that this change of an author gives at a moment. If a fact was not read, the result is the
    /// most that the change could give.
    #[must_use]
    pub fn granted_rights(&self, author: &Author, now: Timestamp) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Tenant(change) => change.granted_rights(),
            Self::User(change) => change.granted_rights(author, now),
            Self::Credential(change) => change.granted_rights(),
            Self::Session(change) => change.granted_rights(),
            Self::Permission(change) => change.granted_rights(),
            Self::Role(change) => change.granted_rights(now),
            Self::Assignment(change) => change.granted_rights(),
            Self::Organization(change) => change.granted_rights(),
            Self::Audit(change) => change.granted_rights(),
            Self::Idempotency(change) => change.granted_rights(),
            Self::Invitation(change) => change.granted_rights(),
            Self::Link(change) => change.granted_rights(author, now),
            Self::Mail(change) => change.granted_rights(),
            Self::Factor(change) => change.granted_rights(author, now),
            Self::Challenge(change) => change.granted_rights(),
            Self::ApiKey(change) => change.granted_rights(author, now),
            Self::Webhook(change) => change.granted_rights(),
        }
    }
}
