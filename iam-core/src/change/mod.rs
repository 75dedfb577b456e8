//! All changes that can be written, by noun, with the audit records of each.

mod batch;

pub use batch::AuditBatch;
use uuid::Uuid;

use crate::assignment::AssignmentChange;
use crate::audit::{AuditChange, Record};
use crate::credential::CredentialChange;
use crate::idempotency::IdempotencyChange;
use crate::organization::OrganizationChange;
use crate::permission::PermissionChange;
use crate::role::RoleChange;
use crate::session::SessionChange;
use crate::tenant::TenantChange;
use crate::user::UserChange;

macro_rules! changes {
    ($($(#[$doc:meta])* $variant:ident($change:ident),)+) => {
        /// A change to write, by noun.
        ///
        /// A [`Transaction`](crate::Transaction) can write nothing else. Each change defines its own audit records, so
        /// a new kind of change does not compile until it defines them. The enum is exhaustive on purpose: a store that
        /// matches on it does not compile until it writes the new kind, too.
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
            pub(crate) fn invalidates(&self) -> Vec<Uuid> {
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
}
