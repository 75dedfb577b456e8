use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use crate::access::{CoveredBy, GrantedRights, HeldRole, ResourceScope};
use crate::attribute::{self, Attributes, ChangedAttributes};
use crate::audit::{Record, ResourceType, action};
use crate::id::OrganizationId;
use crate::organization::{AffectedTree, Organization, Position};

/// A change of organizations.
#[derive(Clone, Debug)]
pub enum OrganizationChange {
    /// A new organization.
    Create {
        /// The organization.
        organization: Organization,
        /// The attributes of the organization.
        attributes: Attributes,
    },
    /// Fields of an organization change. A new `parent_id` moves it, with everything below it.
    Update {
        /// The organization before the change.
        before: Organization,
        /// The organization after the change.
        after: Organization,
        /// The roles that may begin to count, on which the granted rights depend if the parent or the status changes;
        /// `None` if they were not read.
        activated: Option<ActivatedRoles>,
        /// The attributes, if they change.
        attributes: Option<Box<ChangedAttributes>>,
    },
    /// An organization becomes INACTIVE. Its record stays, and its slug becomes free.
    Delete {
        /// The organization before the change.
        before: Organization,
        /// The organization after the change.
        after: Organization,
    },
}

/// The roles that begin to count by a change of an organization, with the tree, as read under the tenant's lock.
#[derive(Clone, Debug)]
pub struct ActivatedRoles {
    tree: AffectedTree,
    organizations: HashSet<OrganizationId>,
    held: Vec<HeldRole>,
}

impl ActivatedRoles {
    /// Returns the roles that users hold in the organizations of the [activations](AffectedTree::activations) of a
    /// change. `held` contains the roles that users hold in `organizations`.
    #[must_use]
    pub fn new(
        tree: AffectedTree,
        organizations: impl IntoIterator<Item = OrganizationId>,
        held: Vec<HeldRole>,
    ) -> Self {
        Self { tree, organizations: organizations.into_iter().collect(), held }
    }

    /// The part of the tree that the change affects.
    #[must_use]
    pub fn tree(&self) -> &AffectedTree {
        &self.tree
    }

    /// Returns the rights that a change gives; `None` if the facts are those of another change.
    fn granted_rights(&self, after: &Organization) -> Option<Vec<GrantedRights<'_>>> {
        let mut counts_in: HashMap<OrganizationId, Vec<OrganizationId>> = HashMap::new();
        for activation in self.tree.activations(after)? {
            if !self.organizations.contains(&activation.held_in) {
                return None;
            }
            counts_in.entry(activation.held_in).or_default().push(activation.counts_in);
        }
        let scope =
            |id: &OrganizationId| self.tree.before().position(*id).map_or(ResourceScope::Tenant, Position::scope);
        let granted = self.held.iter().flat_map(|held| {
            let scopes = counts_in.get(&held.organization).into_iter().flatten().map(scope);
            scopes.map(|scope| GrantedRights {
                permissions: Cow::Borrowed(&held.role.permissions),
                scope,
                until: held.until,
                // They go on after an elevation, so none can cover them.
                covered_by: CoveredBy::Standing,
                // Whether a user holds it by an access request is not known here.
                role: Some(held.role.id),
            })
        });
        Some(granted.collect())
    }
}

impl OrganizationChange {
    /// Returns the change that makes an organization without attributes.
    #[must_use]
    pub fn create(organization: Organization) -> Self {
        Self::Create { organization, attributes: Attributes::default() }
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        let of = |organization: &Organization, action| {
            Record::new(action, ResourceType::ORGANIZATION, organization.id).in_organization(Some(organization.id))
        };
        vec![match self {
            Self::Create { organization, attributes } => {
                let mut fields = organization.audited();
                if !attributes.is_empty() {
                    attribute::insert(&mut fields, attributes);
                }
                of(organization, action::CREATE).creating(&fields)
            }
            Self::Update { before, after, attributes, .. } => {
                let (mut old, mut new) = (before.audited(), after.audited());
                if let Some(attributes) = attributes {
                    attributes.record_in(&mut old, &mut new);
                }
                of(after, action::UPDATE).changing(&old, &new).listing_changed_fields()
            }
            Self::Delete { before, after } => of(after, action::DELETE).deleting(&before.audited()),
        }]
    }

    pub(crate) fn ended_version(&self) -> Option<&Organization> {
        match self {
            Self::Create { .. } => None,
            Self::Update { before, .. } | Self::Delete { before, .. } => Some(before),
        }
    }

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        let (before, after, activated) = match self {
            // No user holds a role in it yet, and no organization is below it.
            Self::Create { .. } => return Vec::new(),
            Self::Update { before, after, activated, .. } => (before, after, activated.as_ref()),
            Self::Delete { before, after } => (before, after, None),
        };
        // In a deleted organization, no roles count.
        let keeps_rights = (before.parent_id, before.status) == (after.parent_id, after.status);
        if keeps_rights || after.status.is_inactive() {
            return Vec::new();
        }
        let granted = activated.and_then(|activated| activated.granted_rights(after));
        granted.unwrap_or_else(|| vec![GrantedRights::everything()])
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            // No user holds a role in it yet, and no organization is below it.
            Self::Create { .. } => Vec::new(),
            Self::Update { after, .. } | Self::Delete { after, .. } => vec![after.id.into()],
        }
    }
}
