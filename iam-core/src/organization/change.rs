use uuid::Uuid;

use super::Organization;
use crate::access::Covered;
use crate::audit::{Record, ResourceType, action};

/// A change of organizations.
#[derive(Clone, Debug)]
pub enum OrganizationChange {
    /// A new organization.
    Create(Organization),
    /// Fields of an organization change; with `parent_id` it moves, with everything below it.
    Update {
        /// As it was.
        before: Organization,
        /// As it becomes.
        after: Organization,
        /// That whoever moves or reactivates it holds what others get by it.
        covered: Covered,
    },
    /// An organization becomes INACTIVE and stays on record; its slug is free.
    Delete {
        /// As it was.
        before: Organization,
        /// As it becomes.
        after: Organization,
    },
}

impl OrganizationChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        let of = |organization: &Organization, action| {
            Record::new(action, ResourceType::ORGANIZATION, organization.id).in_organization(Some(organization.id))
        };
        vec![match self {
            Self::Create(organization) => of(organization, action::CREATE).creating(&organization.audited()),
            Self::Update { before, after, .. } => {
                of(after, action::UPDATE).changing(&before.audited(), &after.audited()).listing_changed_fields()
            }
            Self::Delete { before, after } => of(after, action::DELETE).deleting(&before.audited()),
        }]
    }

    pub(crate) fn touched(&self) -> Vec<Uuid> {
        match self {
            // Nobody holds a role in it yet, and nothing stands below it.
            Self::Create(_) => Vec::new(),
            Self::Update { after, .. } | Self::Delete { after, .. } => vec![after.id.into()],
        }
    }
}
