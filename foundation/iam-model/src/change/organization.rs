use uuid::Uuid;

use crate::access::Covered;
use crate::audit::{Record, ResourceType, action};
use crate::organization::Organization;

/// A change of organizations.
#[derive(Clone, Debug)]
pub enum OrganizationChange {
    /// A new organization.
    Create(Organization),
    /// Fields of an organization change. A new `parent_id` moves it, with everything below it.
    Update {
        /// The organization before the change.
        before: Organization,
        /// The organization after the change.
        after: Organization,
        /// The proof that the author holds the rights that a move or a reactivation gives to users.
        covered: Covered,
    },
    /// An organization becomes INACTIVE. Its record stays, and its slug becomes free.
    Delete {
        /// The organization before the change.
        before: Organization,
        /// The organization after the change.
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

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            // No user holds a role in it yet, and no organization is below it.
            Self::Create(_) => Vec::new(),
            Self::Update { after, .. } | Self::Delete { after, .. } => vec![after.id.into()],
        }
    }
}
