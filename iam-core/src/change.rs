//! Everything that can be written, noun by noun, and what each of it records.

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
        /// Something to be written, by noun.
        ///
        /// This is all that a [`Transaction`](crate::Transaction) can write. Each change says itself what the audit
        /// log keeps of it, so a new kind of change does not compile before it answers that question. The changes are
        /// exhaustive on purpose: a store that matches them does not compile either before it writes the new one.
        #[derive(Clone, Debug)]
        pub enum Change {
            $($(#[$doc])* $variant($change),)+
        }

        impl Change {
            /// What the audit log keeps of this change.
            pub(crate) fn records(&self) -> Vec<Record> {
                match self {
                    $(Self::$variant(change) => change.records(),)+
                }
            }

            /// What was read of a session counts no more if it hangs on one of these: the session itself, its user, the
            /// user's role assignments, the roles that it holds, the organizations where, and everything above them.
            pub(crate) fn touched(&self) -> Vec<Uuid> {
                match self {
                    $(Self::$variant(change) => change.touched(),)+
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
    /// Of tenants.
    Tenant(TenantChange),
    /// Of users.
    User(UserChange),
    /// Of passwords and login attempts.
    Credential(CredentialChange),
    /// Of sessions.
    Session(SessionChange),
    /// Of the catalogue of permissions.
    Permission(PermissionChange),
    /// Of roles.
    Role(RoleChange),
    /// Of role assignments.
    Assignment(AssignmentChange),
    /// Of organizations.
    Organization(OrganizationChange),
    /// Of the audit log itself.
    Audit(AuditChange),
    /// Of the answers to requests.
    Idempotency(IdempotencyChange),
}
