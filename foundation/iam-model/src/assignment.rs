//! Role assignments: which user holds which role, in which resource scope, until when (`interface.md` §2.2).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::{AssignmentId, OrganizationId, RoleId, TenantId, UserId};
use crate::organization::{Node, OrganizationSummary};
use crate::permission::PermissionSet;
use crate::role::{Role, RoleSummary, TENANT_ADMIN};
use crate::user::UserSummary;

/// The maximum number of assignments that one call makes (`decisions.md` §4).
pub const MAX_BULK: usize = 500;

/// A user holds a role, tenant-wide or in one organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assignment {
    /// The identifier of the assignment.
    pub id: AssignmentId,
    /// The tenant it belongs to.
    pub tenant_id: TenantId,
    /// The user who holds the role.
    pub user_id: UserId,
    /// The role.
    pub role_id: RoleId,
    /// The organization; `None` for tenant-wide.
    pub organization_id: Option<OrganizationId>,
    /// The instant from which on the assignment grants nothing; `None` for no expiry.
    pub expires_at: Option<Timestamp>,
    /// When the assignment was made.
    pub created_at: Timestamp,
    /// The user who made it; `None` for trusted code.
    pub created_by: Option<UserId>,
}

impl Assignment {
    /// Whether the assignment has not expired at this moment.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|expiry| now < expiry)
    }

    /// The user, the role and the organization. At most one assignment has all three.
    #[must_use]
    pub fn context(&self) -> GrantContext {
        GrantContext { user: self.user_id, role: self.role_id, organization: self.organization_id }
    }
}

/// The user, the role and the organization of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GrantContext {
    /// The user.
    pub user: UserId,
    /// The role.
    pub role: RoleId,
    /// The organization; `None` for tenant-wide.
    pub organization: Option<OrganizationId>,
}

/// An assignment together with its role and its organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The assignment.
    pub assignment: Assignment,
    /// Its role.
    pub role: Arc<Role>,
    /// Its organization, when it is not tenant-wide.
    pub organization: Option<GrantOrganization>,
}

/// The organization of a [`Grant`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantOrganization {
    /// The identifier of the organization.
    pub id: OrganizationId,
    /// The name of the organization.
    pub name: String,
    /// Its own id and the ids of its ancestors, upwards.
    pub lineage: Vec<OrganizationId>,
    /// Whether the organization and all its ancestors are ACTIVE. Otherwise the assignment grants nothing.
    pub is_awake: bool,
}

impl From<Node<'_>> for GrantOrganization {
    fn from(node: Node<'_>) -> Self {
        Self {
            id: node.organization.id,
            name: node.organization.name.to_string(),
            lineage: node.lineage().collect(),
            is_awake: node.is_awake(),
        }
    }
}

impl Grant {
    /// Whether the grant has an effect at this moment.
    #[must_use]
    pub fn is_effective(&self, now: Timestamp) -> bool {
        self.assignment.is_live(now) && self.is_awake()
    }

    /// Whether the grant is tenant-wide, or its organization and all ancestors of it are ACTIVE.
    pub fn is_awake(&self) -> bool {
        match (self.assignment.organization_id, &self.organization) {
            (None, _) => true,
            (Some(_), Some(organization)) => organization.is_awake,
            // The organization is unknown.
            (Some(_), None) => false,
        }
    }

    /// The approximate size in bytes, without the role, which other grants share.
    pub fn size(&self) -> usize {
        let scope = self.organization.as_ref().map(|scope| scope.name.len() + size_of_val(&*scope.lineage));
        size_of::<Self>() + scope.unwrap_or_default()
    }

    /// Whether the grant is in one of these organizations or below.
    #[must_use]
    pub fn is_within(&self, organizations: &[OrganizationId]) -> bool {
        let lineage = self.organization.as_ref().map(|organization| organization.lineage.as_slice());
        lineage.is_some_and(|lineage| lineage.iter().any(|id| organizations.contains(id)))
    }

    /// Whether the grant makes its user an administrator of the tenant, without expiry.
    #[must_use]
    pub fn is_lasting_administration(&self) -> bool {
        self.is_administration() && self.assignment.expires_at.is_none()
    }

    /// Whether the grant makes its user an administrator of the tenant.
    fn is_administration(&self) -> bool {
        self.role.system && self.role.name.as_str() == TENANT_ADMIN && self.assignment.organization_id.is_none()
    }
}

/// Sorts grants by their users. The grants of one user keep their order.
#[must_use]
pub fn by_user(grants: impl IntoIterator<Item = Grant>) -> HashMap<UserId, Vec<Grant>> {
    let mut sorted: HashMap<UserId, Vec<Grant>> = HashMap::new();
    for grant in grants {
        sorted.entry(grant.assignment.user_id).or_default().push(grant);
    }
    sorted
}

/// A role that a person is to get who is no user yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedRole {
    /// The role.
    pub role: Arc<Role>,
    /// The organization; `None` for tenant-wide.
    pub organization: Option<GrantOrganization>,
    /// The instant from which on the role grants nothing; `None` for no expiry.
    pub expires_at: Option<Timestamp>,
}

/// An assignment as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedAssignment {
    /// The assignment.
    pub assignment: Assignment,
    /// Its user.
    pub user: UserSummary,
    /// Its role.
    pub role: RoleSummary,
    /// Its organization, when it is not tenant-wide.
    pub organization: Option<OrganizationSummary>,
}

/// Which assignments a list shows; every part that is set must match.
#[derive(Clone, Debug, Default)]
pub struct AssignmentFilter {
    /// Only assignments of this user.
    pub user: Option<UserId>,
    /// Only assignments of this role.
    pub role: Option<RoleId>,
    /// Only assignments in exactly this organization, not above or below it.
    pub organization: Option<OrganizationId>,
    /// Whether expired assignments are shown too.
    pub include_expired: bool,
}

impl AssignmentFilter {
    /// Whether an assignment passes at a moment; for stores that filter in memory.
    #[must_use]
    pub fn matches(&self, assignment: &Assignment, now: Timestamp) -> bool {
        self.user.is_none_or(|user| user == assignment.user_id)
            && self.role.is_none_or(|role| role == assignment.role_id)
            && self.organization.is_none_or(|wanted| assignment.organization_id == Some(wanted))
            && (self.include_expired || assignment.is_live(now))
    }
}

/// The permissions of a user: tenant-wide, and in addition in single organizations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectivePermissions {
    /// The permissions that are held tenant-wide.
    pub tenant: PermissionSet,
    /// The permissions in each organization of an assignment, including permissions that are inherited from above. They
    /// also apply below the organization.
    pub organizations: BTreeMap<OrganizationId, PermissionSet>,
}

impl EffectivePermissions {
    /// The permissions that the assignments of one user give at a moment.
    #[must_use]
    pub fn at(now: Timestamp, grants: &[Grant]) -> Self {
        let effective: Vec<&Grant> = grants.iter().filter(|grant| grant.is_effective(now)).collect();
        let union = |applies: &dyn Fn(&Grant) -> bool| -> PermissionSet {
            let held = effective.iter().filter(|grant| applies(grant));
            held.flat_map(|grant| grant.role.permissions.iter().cloned()).collect()
        };
        let places = effective.iter().filter_map(|grant| grant.organization.as_ref());
        let in_place = |scope: &GrantOrganization| {
            let applies = |grant: &Grant| {
                grant.assignment.organization_id.is_some_and(|organization| scope.lineage.contains(&organization))
            };
            (scope.id, union(&applies))
        };
        Self {
            tenant: union(&|grant| grant.assignment.organization_id.is_none()),
            organizations: places.map(in_place).collect(),
        }
    }
}

/// The reason why an assignment ended, other than a request to revoke it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RevokeReason {
    /// Its user was deleted.
    UserDeleted,
    /// Its organization was deleted.
    OrganizationDeleted,
    /// It had expired, and granted nothing.
    Expired,
    /// An access review was completed in which this was decided.
    AccessReview,
}

text_enum! {
    RevokeReason {
        UserDeleted = "USER_DELETED",
        OrganizationDeleted = "ORGANIZATION_DELETED",
        Expired = "EXPIRED",
        AccessReview = "ACCESS_REVIEW",
    }
}
