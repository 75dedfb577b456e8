//! All changes that can be written, by noun, with the audit records and the granted rights of each.

mod access_request;
mod access_review;
mod api_key;
mod assignment;
mod audit;
mod batch;
mod challenge;
mod credential;
mod directory;
mod directory_group;
mod directory_user;
mod domain;
mod eligibility;
mod factor;
mod idempotency;
mod identity;
mod identity_provider;
mod impersonation;
mod invitation;
mod legal_hold;
mod link;
mod mail;
mod manifest;
mod organization;
mod permission;
mod role;
mod session;
mod tenant;
mod tenant_deletion;
mod user;
mod webhook;

#[cfg(test)]
mod tests;

pub use access_request::{AccessRequestChange, AccessRequestEvent};
pub use access_review::AccessReviewChange;
pub use api_key::ApiKeyChange;
pub use assignment::{AssignmentChange, ChangedAssignment};
pub use audit::{AuditChange, ERASED_DETAILS, ERASED_ORIGINS, ErasedDetails, ErasedOrigin, GIVEN_UP_UNTIL, SIGNATURE};
pub use batch::AuditBatch;
pub use challenge::ChallengeChange;
pub use credential::{CredentialChange, LoginFailure};
pub use directory::DirectoryChange;
pub use directory_group::DirectoryGroupChange;
pub use directory_user::DirectoryUserChange;
pub use domain::DomainChange;
pub use eligibility::EligibilityChange;
pub use factor::FactorChange;
pub use idempotency::IdempotencyChange;
pub use identity::IdentityChange;
pub use identity_provider::IdentityProviderChange;
pub use invitation::InvitationChange;
pub use legal_hold::LegalHoldChange;
pub use link::LinkChange;
pub use mail::MailChange;
pub use manifest::ManifestChange;
pub use organization::{ActivatedRoles, OrganizationChange};
pub use permission::PermissionChange;
pub use role::RoleChange;
pub use session::SessionChange;
pub use tenant::TenantChange;
pub use tenant_deletion::TenantDeletionChange;
pub use user::UserChange;
pub use webhook::WebhookChange;

use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::Record;
use crate::clock::Timestamp;
use crate::context::Author;
use crate::history::{EndedVersion, PastStatus};
use crate::legal_hold::Destroyed;
use crate::user::UserStatus;

/// What becomes of a change with audit entries in a tenant whose deletion has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InDeletedTenant {
    /// It is written with its entries: it is part of the deletion.
    Recorded,
    /// It is written without entries.
    Unrecorded,
    /// It is refused.
    Refused,
}

macro_rules! changes {
    ($($(#[$doc:meta])* $variant:ident($change:ident),)+) => {
        /// A change to write, by noun.
        ///
        /// A [`Transaction`](crate::store::Transaction) can write nothing else. Each change defines its own audit
        /// records and granted rights by an exhaustive `match`, so a new kind of change does not compile until it
        /// defines them. The enum is exhaustive on purpose: a store that matches on it does not compile until it writes
        /// the new kind, too.
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
            /// session itself, its tenant, its user, the user's role assignments, their roles, their organizations, and
            /// all ancestors of these organizations. A cached API key depends on the same of its owner, and on the key.
            /// A cached position of an organization depends on the organization and its ancestors.
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
    /// A change of access reviews.
    AccessReview(AccessReviewChange),
    /// A change of domains.
    Domain(DomainChange),
    /// A change of identity providers.
    IdentityProvider(IdentityProviderChange),
    /// A change of identities.
    Identity(IdentityChange),
    /// A change of directories.
    Directory(DirectoryChange),
    /// A change of what directories say of their users.
    DirectoryUser(DirectoryUserChange),
    /// A change of the groups of directories.
    DirectoryGroup(DirectoryGroupChange),
    /// A change of eligibilities.
    Eligibility(EligibilityChange),
    /// A change of access requests.
    AccessRequest(AccessRequestChange),
    /// A change of the record of what manifests have made.
    Manifest(ManifestChange),
    /// A change of legal holds.
    LegalHold(LegalHoldChange),
    /// A change of the deletion of a tenant.
    TenantDeletion(TenantDeletionChange),
}

impl Change {
    /// Returns the versions that this change ends.
    pub(crate) fn ended_versions(&self) -> Vec<EndedVersion> {
        match self {
            Self::Role(change) => change.ended_version().cloned().map(EndedVersion::Role).into_iter().collect(),
            Self::Assignment(change) => {
                let ended = change.ended_versions().into_iter();
                ended.map(|grant| EndedVersion::Assignment(grant.assignment.clone())).collect()
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
            | Self::Webhook(_)
            | Self::AccessReview(_)
            | Self::Domain(_)
            | Self::IdentityProvider(_)
            | Self::Identity(_)
            | Self::Directory(_)
            | Self::DirectoryUser(_)
            | Self::DirectoryGroup(_)
            | Self::Eligibility(_)
            | Self::AccessRequest(_)
            | Self::Manifest(_)
            | Self::LegalHold(_)
            | Self::TenantDeletion(_) => Vec::new(),
        }
    }

    /// Returns what this change destroys, or takes the first step to destroy. A legal hold on it refuses the change.
    ///
    /// The deletion of a user is such a step: afterwards its entries can be erased. What a directory says of a user, and
    /// all of its closed access requests, go only with that erasure.
    #[must_use]
    pub fn destroys(&self) -> Option<Destroyed> {
        match self {
            Self::User(change) => {
                let (_, after) = change.status_change()?;
                (after.status == UserStatus::Inactive).then_some(Destroyed::OfUser(after.id))
            }
            Self::Audit(AuditChange::GiveUp { .. }) => Some(Destroyed::Log),
            Self::Audit(AuditChange::Erase { user, .. }) => Some(Destroyed::OfUser(*user)),
            Self::Audit(
                AuditChange::Log(_)
                | AuditChange::Export(..)
                | AuditChange::ExportUser { .. }
                | AuditChange::ExportTenant { .. }
                | AuditChange::SetRetention { .. },
            ) => None,
            Self::DirectoryUser(DirectoryUserChange::Forget(entry)) => Some(Destroyed::OfUser(entry.user_id)),
            Self::DirectoryUser(_) => None,
            // With what it says of its users.
            Self::Directory(DirectoryChange::Delete(directory)) => Some(Destroyed::OfDirectory(directory.id)),
            Self::AccessRequest(AccessRequestChange::RemoveOldest { user, kept: 0 }) => Some(Destroyed::OfUser(*user)),
            // A hold of any user is one of its tenant, as for the log.
            Self::TenantDeletion(TenantDeletionChange::Schedule(_) | TenantDeletionChange::Begin { .. }) => {
                Some(Destroyed::Log)
            }
            Self::TenantDeletion(TenantDeletionChange::Cancel { .. }) => None,
            // The audit log keeps what these remove.
            Self::AccessRequest(_)
            | Self::Tenant(_)
            | Self::Credential(_)
            | Self::Session(_)
            | Self::Permission(_)
            | Self::Role(_)
            | Self::Assignment(_)
            | Self::Organization(_)
            | Self::Idempotency(_)
            | Self::Invitation(_)
            | Self::Link(_)
            | Self::Mail(_)
            | Self::Factor(_)
            | Self::Challenge(_)
            | Self::ApiKey(_)
            | Self::Webhook(_)
            | Self::AccessReview(_)
            | Self::Domain(_)
            | Self::IdentityProvider(_)
            | Self::Identity(_)
            | Self::Directory(_)
            | Self::DirectoryGroup(_)
            | Self::Eligibility(_)
            | Self::Manifest(_)
            | Self::LegalHold(_) => None,
        }
    }

    /// Returns what becomes of this change, if it has audit entries, in a tenant whose deletion has begun. The log has no
    /// entries after those of the deletion, because they could stay when the log is erased.
    #[must_use]
    pub fn in_deleted_tenant(&self) -> InDeletedTenant {
        match self {
            Self::TenantDeletion(_) | Self::Audit(AuditChange::GiveUp { .. }) => InDeletedTenant::Recorded,
            // It is refused anyway, and its answer must not tell a stranger why.
            Self::Credential(
                CredentialChange::CountFailure { .. }
                | CredentialChange::Refuse { .. }
                | CredentialChange::RefuseFederated { .. },
            ) => InDeletedTenant::Unrecorded,
            _ => InDeletedTenant::Refused,
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
            Self::Session(change) => change.granted_rights(now),
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
            Self::ApiKey(change) => change.granted_rights(author),
            Self::Webhook(change) => change.granted_rights(),
            Self::AccessReview(change) => change.granted_rights(),
            Self::Domain(change) => change.granted_rights(),
            Self::IdentityProvider(change) => change.granted_rights(),
            Self::Identity(change) => change.granted_rights(author, now),
            Self::Directory(change) => change.granted_rights(),
            Self::DirectoryUser(change) => change.granted_rights(),
            Self::DirectoryGroup(change) => change.granted_rights(),
            Self::Eligibility(change) => change.granted_rights(),
            Self::AccessRequest(change) => change.granted_rights(),
            Self::Manifest(change) => change.granted_rights(),
            Self::LegalHold(change) => change.granted_rights(),
            Self::TenantDeletion(change) => change.granted_rights(),
        }
    }

    /// Whether this change of an author gives a user the rights to change what protects the tenant
    /// ([`GrantedRights::change_protections`]), so that its author must have authenticated recently.
    #[must_use]
    pub fn gives_protections(&self, author: &Author, now: Timestamp) -> bool {
        let gives_rights = match self {
            Self::User(_)
            | Self::Role(_)
            | Self::Assignment(_)
            | Self::Invitation(_)
            | Self::IdentityProvider(_)
            | Self::Directory(_)
            | Self::DirectoryGroup(_)
            | Self::Eligibility(_) => true,
            // Their services require a recent authentication of every caller who is not the owner.
            Self::Tenant(_) | Self::Credential(_) | Self::Factor(_) | Self::ApiKey(_) => false,
            // The rights of organizations are not tenant-wide.
            Self::Organization(_) => false,
            // The holder of the address gets the account, not the author. The holder is told.
            Self::Link(_) | Self::Identity(_) => false,
            // They give no rights, or those of roles that gave them before.
            Self::Session(_)
            | Self::Permission(_)
            | Self::Audit(_)
            | Self::Idempotency(_)
            | Self::Mail(_)
            | Self::Challenge(_)
            | Self::Webhook(_)
            | Self::AccessReview(_)
            | Self::Domain(_)
            | Self::DirectoryUser(_)
            | Self::AccessRequest(_)
            | Self::Manifest(_)
            | Self::LegalHold(_)
            | Self::TenantDeletion(_) => false,
        };
        gives_rights && self.granted_rights(author, now).iter().any(|granted| granted.change_protections(now))
    }
}
