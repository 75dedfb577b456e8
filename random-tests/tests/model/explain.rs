//! Compares every decision and its reason with the naive evaluator, in thousands of small worlds without a store.

#![cfg(test)]

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::TimeDelta;
use fastrand::Rng;
use iam_core::access::{Authority, DecidingGrant, Decision, Snapshot, VisibleScope};
use iam_core::assignment::{Assignment, Grant, GrantOrganization};
use iam_core::clock::Timestamp;
use iam_core::organization::{Hierarchy, Organization};
use iam_core::permission::Permission;
use iam_core::role::{Role, RoleScope};
use iam_core::version::Version;
use iam_core::{AssignmentId, OrganizationId, RoleId, TenantId, UserId};
use uuid::Uuid;

use crate::operation::ASKED;
use crate::state::{self, Moment, NEVER, Scope, Spot, Status, Tenant};
use crate::world::{organization_status, user_status, variant};

const WORLDS: u64 = 3_000;

/// The permission patterns for roles. There are few, so that many questions match one.
const PATTERNS: &[&str] = &[
    "*",
    "users:*",
    "users:read",
    "role-assignments:create",
    "role-assignments:*",
    "organizations:read",
    "organizations:*",
    "orders:refund",
    "orders:*",
    "stock:*",
    "roles:create",
];

const NOW: Moment = 0;

fn id<T: From<Uuid>>(number: usize) -> T {
    Uuid::from_u128(number as u128 + 1).into()
}

fn number(id: Uuid) -> usize {
    usize::try_from(id.as_u128() - 1).unwrap()
}

fn time(moment: Moment) -> Timestamp {
    Timestamp::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::milliseconds(moment)
}

/// A tenant in a state that operations can produce: below a deleted organization every organization is deleted, and a
/// deleted organization has no assignments.
fn tenant(random: &mut Rng) -> Tenant {
    let mut tenant = Tenant::default();
    for _ in 0..random.usize(1..4) {
        let status =
            [Status::Active, Status::Active, Status::Active, Status::Suspended, Status::Inactive][random.usize(..5)];
        tenant.users.push(state::User { has_password: true, status, ..state::User::default() });
    }
    for _ in 0..random.usize(1..5) {
        let count = random.usize(..4);
        let permissions = (0..count).map(|_| PATTERNS[random.usize(..PATTERNS.len())]).collect();
        let name = format!("ROLE_{}", tenant.roles.len());
        tenant.roles.push(state::Role { name, scope: Scope::Any, permissions, system: false, gone: false });
    }
    for number in 0..random.usize(..9) {
        let parent = if number == 0 || random.u8(..4) == 0 { None } else { Some(random.usize(..number)) };
        let mut status = match random.u8(..10) {
            0 => Status::Inactive,
            1 => Status::Suspended,
            _ => Status::Active,
        };
        if parent.is_some_and(|parent| tenant.is_inactive(parent)) {
            status = Status::Inactive;
        }
        tenant.organizations.push(state::Organization { name: String::new(), slug: None, parent, status });
    }
    for _ in 0..random.usize(..9) {
        let spot = match tenant.organizations.len() {
            0 => None,
            count => (random.u8(..4) > 0).then(|| random.usize(..count)),
        };
        if spot.is_some_and(|organization| tenant.is_inactive(organization)) {
            continue;
        }
        let until = [NEVER, NEVER, NOW - 1, NOW, NOW + 1, NOW + 1_000][random.usize(..6)];
        let (user, role) = (random.usize(..tenant.users.len()), random.usize(..tenant.roles.len()));
        tenant.assignments.push(state::Assignment { user, role, spot, until, group: None, gone: false });
    }
    tenant
}

/// The organization with this number, as a value of the service.
fn organization(tenant: &Tenant, number: usize) -> Organization {
    let kept = &tenant.organizations[number];
    Organization {
        id: id(number),
        tenant_id: TenantId::NONE,
        name: "Branch".parse().unwrap(),
        slug: format!("branch-{number}").parse().unwrap(),
        status: organization_status(kept.status),
        parent_id: kept.parent.map(id),
        created_at: time(NOW),
        updated_at: time(NOW),
        version: Version::FIRST,
    }
}

fn role(tenant: &Tenant, number: usize) -> Arc<Role> {
    let kept = &tenant.roles[number];
    Arc::new(Role {
        id: id(number),
        tenant_id: TenantId::NONE,
        name: kept.name.parse().unwrap(),
        description: "".parse().unwrap(),
        scope: RoleScope::Any,
        permissions: kept.permissions.iter().map(|pattern| pattern.parse().unwrap()).collect(),
        system: false,
        created_at: time(NOW),
        updated_at: time(NOW),
        version: Version::FIRST,
    })
}

fn grant(tenant: &Tenant, number: usize) -> Grant {
    let kept = &tenant.assignments[number];
    Grant {
        assignment: Assignment {
            id: id(number),
            tenant_id: TenantId::NONE,
            user_id: id(kept.user),
            role_id: id(kept.role),
            organization_id: kept.spot.map(id),
            expires_at: (kept.until != NEVER).then(|| time(kept.until)),
            created_at: time(NOW),
            created_by: None,
            directory_group_id: None,
            access_request_id: None,
        },
        role: role(tenant, kept.role),
        organization: kept.spot.map(|spot| GrantOrganization {
            id: id(spot),
            name: "Branch".to_owned(),
            lineage: tenant.lineage(spot).into_iter().map(id).collect(),
            is_lineage_active: tenant.is_lineage_active(spot),
        }),
    }
}

/// A question, and the world in which it is asked.
struct Asked<'a> {
    tenant: &'a Tenant,
    grants: &'a [Grant],
    hierarchy: &'a Hierarchy,
    user: usize,
    permission: &'a str,
    spot: Spot,
}

impl Asked<'_> {
    /// The decision if the user holds only those of its assignments that `holds` accepts.
    fn decide(&self, holds: impl Fn(AssignmentId) -> bool) -> Decision {
        let user: UserId = id(self.user);
        let held = self.grants.iter().filter(|it| it.assignment.user_id == user && holds(it.assignment.id));
        let mut snapshot = Snapshot::new(self.hierarchy.clone());
        snapshot.insert(user, user_status(self.tenant.users[self.user].status), Authority::of(held));
        let permission: Permission = self.permission.parse().unwrap();
        let organization: Option<OrganizationId> = self.spot.map(id);
        let decision = snapshot.explain(user, &permission, organization, time(NOW)).unwrap();
        let allows = snapshot.allows(user, &permission, organization, time(NOW));
        assert_eq!(decision.is_allowed(), allows, "{decision:?}");
        decision
    }

    fn check(&self) -> Option<String> {
        let context = || format!("{} {} {:?}\n{}", self.user, self.permission, self.spot, self.tenant);
        let decision = self.decide(|_| true);
        let expected = self.tenant.may(self.user, self.permission, self.spot, NOW);
        assert_eq!(decision.is_allowed(), expected, "{}", context());
        let named: BTreeSet<_> = decision.grants.iter().map(|grant| grant.assignment).collect();
        assert_eq!(named.len(), decision.grants.len(), "each grant is named once: {}", context());
        let Some(denial) = decision.denial else {
            assert!(!named.is_empty(), "{}", context());
            let without = self.decide(|assignment| !named.contains(&assignment));
            assert!(!without.is_allowed(), "without the named grants: {}", context());
            for grant in &decision.grants {
                let alone = self.decide(|assignment| assignment == grant.assignment);
                assert_eq!(alone.grants, std::slice::from_ref(grant), "with this grant only: {}", context());
                self.check_origin(grant);
            }
            return None;
        };
        assert!(named.is_empty(), "{}", context());
        let reasons = self.tenant.denials(self.user, self.permission, self.spot, NOW);
        assert!(reasons.contains(&&*variant(&denial)), "{denial:?} is none of {reasons:?}: {}", context());
        Some(variant(&denial))
    }

    fn check_origin(&self, grant: &DecidingGrant) {
        let kept = &self.tenant.assignments[number(grant.assignment.into())];
        let organization: Option<OrganizationId> = kept.spot.map(id);
        assert_eq!(grant.organization, organization);
        assert_eq!(grant.directory_group, None);
        assert_eq!(grant.inherited_from, organization.filter(|_| kept.spot != self.spot));
        assert_eq!(grant.role, id::<RoleId>(kept.role));
        assert_eq!(grant.role_name.as_str(), self.tenant.roles[kept.role].name);
    }
}

/// Checks that the visible scope of a permission has exactly the organizations in which the user holds the permission.
fn check_visible_scope(tenant: &Tenant, grants: &[Grant], user: usize, permission: &str) {
    let held = grants.iter().filter(|grant| grant.assignment.user_id == id::<UserId>(user));
    let visible = Authority::of(held).visible_scope(&permission.parse().unwrap(), time(NOW));
    let mut asked = tenant.clone();
    // An `Authority` does not depend on the status of its user.
    asked.users[user].status = Status::Active;
    let is_tenant_wide = asked.may(user, permission, None, NOW);
    for spot in (0..tenant.organizations.len()).filter(|spot| !tenant.is_inactive(*spot)) {
        let is_within = match &visible {
            Some(VisibleScope::Tenant) => true,
            Some(VisibleScope::Organizations(roots)) => {
                tenant.lineage(spot).iter().any(|above| roots.contains(&id(*above)))
            }
            None => false,
        };
        let expected = asked.may(user, permission, Some(spot), NOW);
        assert_eq!(is_within, expected, "{user} {permission} {spot}\n{tenant}");
    }
    assert_eq!(matches!(visible, Some(VisibleScope::Tenant)), is_tenant_wide, "{user} {permission}\n{tenant}");
}

#[test]
fn every_decision_has_a_correct_reason() {
    let first = crate::variable("IAM_MODEL_SEED").unwrap_or_else(|| fastrand::u64(..1 << 40));
    println!("seeds from {first}");
    let (mut allowed, mut denied) = (0, BTreeSet::new());
    for seed in (first..).take(WORLDS as usize) {
        let mut random = Rng::with_seed(seed);
        let tenant = tenant(&mut random);
        println!("IAM_MODEL_SEED={seed}");
        let grants: Vec<_> = (0..tenant.assignments.len()).map(|number| grant(&tenant, number)).collect();
        let hierarchy: Hierarchy =
            (0..tenant.organizations.len()).map(|number| organization(&tenant, number)).collect();
        for user in 0..tenant.users.len() {
            for permission in ASKED {
                check_visible_scope(&tenant, &grants, user, permission);
                let spots = std::iter::once(None).chain((0..tenant.organizations.len()).map(Some));
                for spot in spots {
                    // Only a part of the questions, so that there is time for many worlds.
                    if random.u8(..4) > 0 {
                        continue;
                    }
                    let asked =
                        Asked { tenant: &tenant, grants: &grants, hierarchy: &hierarchy, user, permission, spot };
                    match asked.check() {
                        Some(reason) => drop(denied.insert(reason)),
                        None => allowed += 1,
                    }
                }
            }
        }
    }
    assert!(allowed > 1_000, "only {allowed} questions were allowed");
    let every = ["Expired", "HeldElsewhere", "NotHeld", "OrganizationNotActive", "UserNotActive"];
    assert_eq!(denied.iter().map(String::as_str).collect::<Vec<_>>(), every);
}

#[test]
fn an_unknown_user_and_an_unknown_organization_are_denied() {
    let mut random = Rng::with_seed(7);
    let mut tenant = tenant(&mut random);
    let permissions = ["*"].into();
    tenant.roles.push(state::Role {
        name: "ALL".to_owned(),
        scope: Scope::Any,
        permissions,
        system: false,
        gone: false,
    });
    let role = tenant.roles.len() - 1;
    tenant.users[0].status = Status::Active;
    tenant.assignments.push(state::Assignment { user: 0, role, spot: None, until: NEVER, group: None, gone: false });
    let all = [grant(&tenant, tenant.assignments.len() - 1)];
    let mut snapshot = Snapshot::new(Hierarchy::default());
    snapshot.insert(id(0), user_status(Status::Active), Authority::of(&all));
    let asked: Permission = "users:read".parse().unwrap();
    assert!(snapshot.allows(id(0), &asked, None, time(NOW)));
    for (user, organization) in [(77, None), (0, Some(77)), (77, Some(77))] {
        let organization: Option<OrganizationId> = organization.map(id);
        assert!(!snapshot.allows(id(user), &asked, organization, time(NOW)));
        assert_eq!(snapshot.explain(id(user), &asked, organization, time(NOW)), None);
    }
}
