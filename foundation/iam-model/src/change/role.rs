use std::borrow::Cow;

use uuid::Uuid;

use crate::access::{GrantedRights, Until};
use crate::audit::{Record, ResourceType, action};
use crate::clock::Timestamp;
use crate::role::Role;

/// A change of the roles of a tenant.
#[derive(Clone, Debug)]
pub enum RoleChange {
    /// A new tenant gets its built-in roles.
    CreateBuiltIn(Vec<Role>),
    /// A new role.
    Create(Role),
    /// Fields of a role change.
    Update {
        /// The role before the change.
        before: Role,
        /// The role after the change.
        after: Role,
        /// The latest time until which any user holds the role, or can get it, for instance by an invitation or by an
        /// eligibility. If no permission is added, it has no effect and is [`Until::Forever`].
        held_until: Until,
    },
    /// A role that no user holds is deleted.
    Delete(Role),
}

impl RoleChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        let of = |role: &Role, action| Record::new(action, ResourceType::ROLE, role.id);
        let record = match self {
            // They are part of a new tenant, which has an entry of its own (`docs/http-api.md#registration`).
            Self::CreateBuiltIn(_) => return Vec::new(),
            Self::Create(role) => of(role, action::CREATE).creating(&role.audited()),
            Self::Update { before, after, .. } => {
                of(after, action::UPDATE).changing(&before.audited(), &after.audited()).listing_changed_fields()
            }
            Self::Delete(role) => of(role, action::DELETE).deleting(&role.audited()),
        };
        vec![record]
    }

    pub(crate) fn ended_version(&self) -> Option<&Role> {
        match self {
            Self::CreateBuiltIn(_) | Self::Create(_) => None,
            Self::Update { before, .. } | Self::Delete(before) => Some(before),
        }
    }

    pub(crate) fn granted_rights<'a>(&'a self, now: Timestamp) -> Vec<GrantedRights<'a>> {
        // No user holds the role yet, so it gives nothing for any time. Each assignment of it has its own check.
        let new = |role: &'a Role| {
            GrantedRights::tenant_wide(Cow::Borrowed(&role.permissions), Until::Moment(now)).for_no_time_by_all(now)
        };
        match self {
            Self::CreateBuiltIn(roles) => roles.iter().map(new).collect(),
            Self::Create(role) => vec![new(role)],
            Self::Update { before, after, held_until } => {
                let added = after.permissions.beyond(&before.permissions);
                if added.is_empty() {
                    Vec::new()
                } else {
                    vec![GrantedRights::tenant_wide(Cow::Owned(added), *held_until).for_no_time_by_all(now)]
                }
            }
            Self::Delete(_) => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            // No user holds the role yet.
            Self::CreateBuiltIn(_) | Self::Create(_) => Vec::new(),
            Self::Update { after, .. } => vec![after.id.into()],
            Self::Delete(role) => vec![role.id.into()],
        }
    }
}
