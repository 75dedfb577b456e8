//! Compares all data in the store with the expected state.

use std::collections::BTreeSet;

use iam_core::assignment::AssignmentFilter;
use iam_core::organization::{OrganizationFilter, OrganizationSort, OrganizationStatus};
use iam_core::user::{UserFilter, UserKind, UserSort, UserStatus};
use serde_json::{Map, Value};

use super::kept::given;
use super::{World, all, organization_status, position, role_scope};
use crate::state::{Assignment, Organization, Status, User};

impl World<'_> {
    /// Compares all data in the store with the expected state, and every answer with that of the naive evaluator.
    pub(super) async fn compare_all(&self) {
        for tenant in 0..2 {
            self.compare_lists(tenant).await;
            self.compare_assignments(tenant).await;
            self.compare_identities(tenant).await;
            self.compare_directories(tenant).await;
            self.compare_kept(tenant).await;
            let state = &self.states[tenant];
            let users: Vec<_> = (0..state.users.len()).collect();
            let organizations: Vec<_> = (0..state.organizations.len()).collect();
            let snapshot = self.snapshot(tenant, &users, organizations.clone()).await;
            let names = &self.names[tenant];
            for user in users {
                for spot in std::iter::once(None).chain(organizations.iter().copied().map(Some)) {
                    for permission in ["users:read", "role-assignments:create", "orders:refund"] {
                        let asked = permission.parse().unwrap();
                        let organization = spot.map(|number| names.organizations[number]);
                        let found = snapshot.allows(names.users[user], &asked, organization, self.time(self.now));
                        let expected = state.may(user, permission, spot, self.now);
                        assert_eq!(found, expected, "{}{user} {permission} {spot:?}\n{state}", self.story());
                    }
                }
            }
        }
    }

    async fn compare_lists(&self, tenant: usize) {
        let (iam, state, names) = (self.iam(), &self.states[tenant], &self.names[tenant]);
        let system = self.system(tenant);
        let story = || self.story();
        let users = iam.users().list(&system, &UserFilter::default(), UserSort::default(), all()).await.unwrap();
        assert_eq!(users.total, state.users.len() as u64);
        for user in users.items {
            let kept = &state.users[position(&names.users, &user.id)];
            let is_service = user.kind == UserKind::Service;
            let attributes = self.installation.store.attributes(self.ids[tenant], user.id.into()).await.unwrap();
            assert_eq!(Map::<String, Value>::from(attributes), given(&kept.attributes), "{}", story());
            let found = User {
                // That of a service account contains its identifier.
                email: if is_service { kept.email.clone() } else { user.email.to_string() },
                is_service,
                is_verified: user.email_verified_at.is_some(),
                has_password: kept.has_password,
                first_name: user.first_name.to_string(),
                external_id: user.external_id.map(|external_id| external_id.as_str().to_owned()),
                status: status_of(user.status),
                home: user.home_organization_id.map(|home| position(&names.organizations, &home)),
                attributes: kept.attributes.clone(),
                ended: kept.ended,
            };
            assert_eq!(found, *kept, "{}", story());
        }
        let roles = iam.roles().list(&system, all()).await.unwrap();
        assert_eq!(roles.total, state.roles.iter().filter(|role| !role.gone).count() as u64, "{}", story());
        for role in roles.items {
            let kept = &state.roles[position(&names.roles, &role.id)];
            let permissions: Vec<_> = role.permissions.iter().map(ToString::to_string).collect();
            assert_eq!(permissions, kept.permissions.iter().copied().collect::<Vec<_>>(), "{}", story());
            assert_eq!((role.name.as_str(), role.scope), (&*kept.name, role_scope(kept.scope)), "{}", story());
        }
        let permissions = iam.permissions().list(&system, all()).await.unwrap();
        let registered: BTreeSet<_> =
            state.permissions.iter().filter(|found| !found.gone).map(|found| found.name.to_owned()).collect();
        let found: BTreeSet<_> = permissions.items.iter().map(|found| found.name.to_string()).collect();
        assert_eq!(found, registered, "{}", story());
        let mut count = 0;
        for status in [OrganizationStatus::Active, OrganizationStatus::Suspended, OrganizationStatus::Inactive] {
            let filter = OrganizationFilter { status: Some(status), ..OrganizationFilter::default() };
            let list = iam.organizations().list(&system, &filter, OrganizationSort::default(), all()).await.unwrap();
            for placed in list.items {
                let number = position(&names.organizations, &placed.organization.id);
                let kept = &state.organizations[number];
                let slug = kept.slug.as_ref().map(|_| placed.organization.slug.to_string());
                let parent = placed.organization.parent_id.map(|parent| position(&names.organizations, &parent));
                let name = placed.organization.name.to_string();
                let found = Organization { name, slug, parent, status: kept.status };
                assert_eq!((found, status), (kept.clone(), organization_status(kept.status)), "{}", story());
                assert_eq!(placed.depth as usize, state.depth(number), "{}", story());
                count += 1;
            }
        }
        assert_eq!(count, state.organizations.len(), "{}", story());
    }

    /// Compares all assignments, also expired ones, with the groups that give them.
    pub(super) async fn compare_assignments(&self, tenant: usize) {
        let (state, names) = (&self.states[tenant], &self.names[tenant]);
        let filter = AssignmentFilter { include_expired: true, ..AssignmentFilter::default() };
        let mut kept: BTreeSet<_> = (0..state.assignments.len()).filter(|it| !state.assignments[*it].gone).collect();
        for listed in self.listed(&self.system(tenant), &filter).await.unwrap() {
            let number = position(&names.assignments, &listed.assignment.id);
            let known = &state.assignments[number];
            let found = Assignment {
                user: position(&names.users, &listed.assignment.user_id),
                role: position(&names.roles, &listed.assignment.role_id),
                spot: listed.assignment.organization_id.map(|id| position(&names.organizations, &id)),
                until: self.moment(listed.assignment.expires_at),
                group: listed.assignment.directory_group_id.map(|id| position(&names.groups, &id)),
                gone: false,
            };
            assert_eq!(found, *known, "{}{state}", self.story());
            assert!(kept.remove(&number), "{}{state}", self.story());
        }
        assert_eq!(kept, BTreeSet::new(), "{}{state}", self.story());
    }
}

fn status_of(status: UserStatus) -> Status {
    match status {
        UserStatus::Active => Status::Active,
        UserStatus::Suspended => Status::Suspended,
        UserStatus::Inactive => Status::Inactive,
    }
}
