use uuid::Uuid;

use crate::access::Covered;
use crate::audit::{Record, ResourceType, action};
use crate::role::Role;

/// A change of the roles of a tenant.
#[derive(Clone, Debug)]
pub enum RoleChange {
    /// A new tenant gets its built-in roles.
    CreateBuiltIn(Vec<Role>),
    /// A new role.
    Create {
        /// The role.
        role: Role,
        /// The escalation check: the caller holds every permission of the role.
        covered: Covered,
    },
    /// Fields of a role change.
    Update {
        /// The role before the change.
        before: Role,
        /// The role after the change.
        after: Role,
        /// The escalation check: the caller holds every permission that is added.
        covered: Covered,
    },
    /// A role that no user holds is deleted.
    Delete(Role),
}

impl RoleChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        let of = |role: &Role, action| Record::new(action, ResourceType::ROLE, role.id);
        let record = match self {
            // They are part of a new tenant, which has an entry of its own (decisions.md §2).
            Self::CreateBuiltIn(_) => return Vec::new(),
            Self::Create { role, .. } => of(role, action::CREATE).creating(&role.audited()),
            Self::Update { before, after, .. } => {
                of(after, action::UPDATE).changing(&before.audited(), &after.audited()).listing_changed_fields()
            }
            Self::Delete(role) => of(role, action::DELETE).deleting(&role.audited()),
        };
        vec![record]
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            // No user holds the role yet.
            Self::CreateBuiltIn(_) | Self::Create { .. } => Vec::new(),
            Self::Update { after, .. } => vec![after.id.into()],
            Self::Delete(role) => vec![role.id.into()],
        }
    }
}
