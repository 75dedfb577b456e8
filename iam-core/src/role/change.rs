use uuid::Uuid;

use super::Role;
use crate::access::Covered;
use crate::audit::{Record, ResourceType, action};

/// A change of the roles of a tenant.
#[derive(Clone, Debug)]
pub enum RoleChange {
    /// A new tenant gets its built-in roles.
    CreateBuiltIn(Vec<Role>),
    /// A new role.
    Create {
        /// The role.
        role: Role,
        /// That whoever makes it holds what it permits.
        covered: Covered,
    },
    /// Fields of a role change.
    Update {
        /// As it was.
        before: Role,
        /// As it becomes.
        after: Role,
        /// That whoever changes it holds what it permits beyond before.
        covered: Covered,
    },
    /// A role that nobody holds goes.
    Delete(Role),
}

impl RoleChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        let of = |role: &Role, action| Record::new(action, ResourceType::ROLE, role.id);
        let record = match self {
            // They come with the tenant, whose own entry says so (decisions.md §2).
            Self::CreateBuiltIn(_) => return Vec::new(),
            Self::Create { role, .. } => of(role, action::CREATE).creating(&role.audited()),
            Self::Update { before, after, .. } => {
                of(after, action::UPDATE).changing(&before.audited(), &after.audited()).listing_changed_fields()
            }
            Self::Delete(role) => of(role, action::DELETE).deleting(&role.audited()),
        };
        vec![record]
    }

    pub(crate) fn touched(&self) -> Vec<Uuid> {
        match self {
            // Nobody holds it yet.
            Self::CreateBuiltIn(_) | Self::Create { .. } => Vec::new(),
            Self::Update { after, .. } => vec![after.id.into()],
            Self::Delete(role) => vec![role.id.into()],
        }
    }
}
