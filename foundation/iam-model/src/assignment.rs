//! Role assignments: which user holds which role, in which resource scope, until when
//! (`docs/http-api.md#role-assignments`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::{AccessRequestId, AssignmentId, DirectoryGroupId, OrganizationId, RoleId, TenantId, UserId};
use crate::organization::{Node, OrganizationSummary};
use crate::permission::{PermissionPattern, PermissionSet};
use crate::role::{PlacedRole, Role, RoleSummary, TENANT_ADMIN};
use crate::user::UserSummary;

/// The maximum number of assignments that one call makes (`docs/http-api.md#role-assignments`).
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
    /// The group of a directory that gives the role to its members; `None` if it was assigned by other means. No caller
    /// changes or revokes such an assignment by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory_group_id: Option<DirectoryGroupId>,
    /// The access request by which the role is held, or was given: the assignment ends with the elevation of the
    /// request, and always has an expiry. No caller changes such an assignment by hand. `None` for a standing
    /// assignment (`docs/access-requests.md#what-an-elevation-does-not-count-for`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_request_id: Option<AccessRequestId>,
}

impl Assignment {
    /// Whether the assignment stands by itself, and does not end with the elevation of an access request.
    #[must_use]
    pub fn is_standing(&self) -> bool {
        self.access_request_id.is_none()
    }

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
    pub is_lineage_active: bool,
}

impl From<Node<'_>> for GrantOrganization {
    fn from(node: Node<'_>) -> Self {
        Self {
            id: node.organization.id,
            name: node.organization.name.to_string(),
            lineage: node.lineage().collect(),
            is_lineage_active: node.is_lineage_active(),
        }
    }
}

impl Grant {
    /// Whether the grant has an effect at this moment.
    #[must_use]
    pub fn is_effective(&self, now: Timestamp) -> bool {
        self.assignment.is_live(now) && self.is_lineage_active()
    }

    /// Whether the grant is tenant-wide, or its organization and all ancestors of it are ACTIVE.
    pub fn is_lineage_active(&self) -> bool {
        match (self.assignment.organization_id, &self.organization) {
            (None, _) => true,
            (Some(_), Some(organization)) => organization.is_lineage_active,
            // The organization is unknown.
            (Some(_), None) => false,
        }
    }

    /// The approximate size in bytes, without the role, which other grants share.
    pub fn size(&self) -> usize {
        let scope = self.organization.as_ref().map(|scope| scope.name.len() + size_of_val(&*scope.lineage));
        size_of::<Self>() + scope.unwrap_or_default()
    }

    /// Whether the grant is in one of these organizations, which are in ascending order, or below.
    #[must_use]
    pub fn is_within(&self, organizations: &[OrganizationId]) -> bool {
        let lineage = self.organization.as_ref().map(|organization| organization.lineage.as_slice());
        lineage.is_some_and(|lineage| lineage.iter().any(|id| organizations.binary_search(id).is_ok()))
    }

    /// Whether the grant makes its user an administrator of the tenant, without expiry.
    #[must_use]
    pub fn is_lasting_administration(&self) -> bool {
        self.is_administration() && self.assignment.expires_at.is_none()
    }

    /// Whether the grant makes its user an administrator of the tenant.
    #[must_use]
    pub fn is_administration(&self) -> bool {
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

impl OfferedRole {
    /// Returns the grant that a new user gets. `by` is who has offered the role.
    #[must_use]
    pub fn granted(self, id: AssignmentId, (user, by): (UserId, Option<UserId>), now: Timestamp) -> Grant {
        let assignment = Assignment {
            id,
            tenant_id: self.role.tenant_id,
            user_id: user,
            role_id: self.role.id,
            organization_id: self.organization.as_ref().map(|organization| organization.id),
            expires_at: self.expires_at,
            created_at: now,
            created_by: by,
            directory_group_id: None,
            access_request_id: None,
        };
        Grant { assignment, role: self.role, organization: self.organization }
    }

    /// Returns the role in its place, without its end.
    #[must_use]
    pub fn placed(&self) -> PlacedRole {
        let organization_id = self.organization.as_ref().map(|organization| organization.id);
        PlacedRole { role_id: self.role.id, organization_id }
    }
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
    /// Only assignments that expire before this moment.
    pub ends_before: Option<Timestamp>,
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
            && self.ends_before.is_none_or(|moment| assignment.expires_at.is_some_and(|end| end < moment))
            && (self.include_expired || assignment.is_live(now))
    }
}

/// The maximum number of permissions that [`EffectivePermissions`] lists: a user may hold 500 permissions in each of
/// 1,000 organizations.
pub const MAX_EFFECTIVE: usize = 20_000;

/// The permissions of a user: tenant-wide, and in addition in single organizations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectivePermissions {
    /// The permissions that are held tenant-wide.
    pub tenant: PermissionSet,
    /// The permissions in each organization of an assignment, including permissions that are inherited from above. They
    /// also apply below the organization.
    pub organizations: BTreeMap<OrganizationId, PermissionSet>,
    /// Whether organizations are left out, the lowest first, because there are more than [`MAX_EFFECTIVE`] permissions
    /// in all of them.
    pub truncated: bool,
}

impl EffectivePermissions {
    /// The permissions that the assignments of one user give at a moment.
    #[must_use]
    pub fn at(now: Timestamp, grants: &[Grant]) -> Self {
        let effective = grants.iter().filter(|grant| grant.is_effective(now));
        let mut own: HashMap<Option<OrganizationId>, BTreeSet<&PermissionPattern>> = HashMap::new();
        let mut lineages: BTreeMap<(usize, OrganizationId), &[OrganizationId]> = BTreeMap::new();
        for grant in effective {
            own.entry(grant.assignment.organization_id).or_default().extend(grant.role.permissions.iter());
            if let (Some(id), Some(organization)) = (grant.assignment.organization_id, &grant.organization) {
                lineages.insert((organization.lineage.len(), id), &organization.lineage);
            }
        }
        let set = |patterns: &BTreeSet<&PermissionPattern>| patterns.iter().copied().cloned().collect();
        let tenant: PermissionSet = own.get(&None).map(set).unwrap_or_default();
        let mut held = Self { tenant, ..Self::default() };
        let mut left = MAX_EFFECTIVE;
        // Higher organizations come first, so that each one has everything from above when a lower one inherits it.
        for ((_, id), lineage) in lineages {
            let above = lineage.iter().skip(1).find_map(|above| held.organizations.get(above));
            let Some(patterns) = own.get(&Some(id)) else { continue };
            let inherited = above.into_iter().flat_map(PermissionSet::iter);
            let patterns: PermissionSet = inherited.chain(patterns.iter().copied()).cloned().collect();
            let count = patterns.iter().count();
            if count > left {
                held.truncated = true;
                break;
            }
            left -= count;
            held.organizations.insert(id, patterns);
        }
        held
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
    /// No group of the directory gives the role any more.
    DirectoryGroup,
    /// The elevation of an access request has ended before its time.
    Ended,
}

text_enum! {
    RevokeReason {
        UserDeleted = "USER_DELETED",
        OrganizationDeleted = "ORGANIZATION_DELETED",
        Expired = "EXPIRED",
        AccessReview = "ACCESS_REVIEW",
        DirectoryGroup = "DIRECTORY_GROUP",
        Ended = "ENDED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::testing::{TestTree, at, id};

    fn names(set: &PermissionSet) -> Vec<&str> {
        set.iter().map(PermissionPattern::as_str).collect()
    }

    #[test]
    fn an_organization_inherits_effective_permissions_from_above() {
        let test_tree = TestTree::new();
        let grants = [
            test_tree.grant("tenants:read", None, None),
            test_tree.grant("users:read", Some("team"), None),
            test_tree.grant("roles:read", Some("root"), None),
            test_tree.grant("users:read", Some("root"), None),
            test_tree.grant("users:update", Some("branch"), Some(at(5))),
            test_tree.grant("users:delete", Some("asleep"), None),
        ];
        let held = EffectivePermissions::at(at(5), &grants);
        assert_eq!(names(&held.tenant), ["tenants:read"]);
        let in_places: Vec<_> = held.organizations.iter().map(|(id, set)| (*id, names(set))).collect();
        let both = vec!["roles:read", "users:read"];
        assert_eq!(in_places, [(id("root"), both.clone()), (id("team"), both)]);
        assert!(!held.truncated);
        let earlier = EffectivePermissions::at(at(4), &grants);
        assert_eq!(names(&earlier.organizations[&id("team")]), ["roles:read", "users:read", "users:update"]);
    }

    #[test]
    fn effective_permissions_leave_out_the_lowest_organizations() {
        let test_tree = TestTree::new();
        let wide = |place: &str, first: usize| {
            let mut grant = test_tree.grant("users:read", Some(place), None);
            let role = Role {
                permissions: (first..first + 8_000).map(|n| format!("orders:do-{n}").parse().unwrap()).collect(),
                ..Role::clone(&grant.role)
            };
            grant.role = Arc::new(role);
            grant
        };
        let held = EffectivePermissions::at(at(0), &[wide("team", 0), wide("branch", 0), wide("root", 0)]);
        assert_eq!(held.organizations.into_keys().collect::<Vec<_>>(), [id("branch"), id("root")]);
        assert!(held.truncated);
    }
}
