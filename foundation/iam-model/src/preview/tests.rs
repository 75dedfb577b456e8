//! Random changes of random worlds, compared with a comparison of everything; and the work that a comparison takes.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::access::testing::{at, id, organization};
use crate::access::{Authority, ResourceScope, VisibleScope};
use crate::assignment::{Assignment, GrantOrganization};
use crate::id::TenantId;
use crate::organization::{Hierarchy, OrganizationStatus};
use crate::role::RoleScope;
use crate::version::Version;

const NAMES: [&str; 6] = ["a:b", "a:c", "a-b:c", "b:a", "b:b", "c:d"];
const PATTERNS: [&str; 9] = ["*", "a:*", "b:*", "a:b", "a:c", "a-b:c", "b:a", "b:b", "c:d"];

fn catalogue() -> Vec<Permission> {
    NAMES.iter().map(|name| name.parse().unwrap()).collect()
}

fn role(name: &str, patterns: &[String]) -> Role {
    Role {
        id: id(name),
        tenant_id: TenantId::NONE,
        name: "TESTER".parse().unwrap(),
        description: "".parse().unwrap(),
        scope: RoleScope::Any,
        permissions: patterns.iter().map(|pattern| pattern.parse().unwrap()).collect(),
        system: false,
        created_at: at(0),
        updated_at: at(0),
        version: Version::FIRST,
    }
}

fn grant(name: &str, role: &Arc<Role>, place: Option<OrganizationId>, expires: Option<i64>, tree: &Hierarchy) -> Grant {
    let assignment = Assignment {
        id: id(name),
        tenant_id: TenantId::NONE,
        user_id: id("user"),
        role_id: role.id,
        organization_id: place,
        expires_at: expires.map(at),
        created_at: at(0),
        created_by: None,
        directory_group_id: None,
        access_request_id: None,
    };
    let organization = place.and_then(|id| tree.node(id)).map(GrantOrganization::from);
    Grant { assignment, role: Arc::clone(role), organization }
}

/// Decisions from random bytes.
struct Choices(std::vec::IntoIter<u8>);

impl Choices {
    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.0.next().unwrap_or_default()) % limit
    }

    fn one<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.below(values.len())]
    }

    fn maybe<T: Clone>(&mut self, values: &[T]) -> Option<T> {
        let number = self.below(values.len() + 1);
        values.get(number).cloned()
    }

    fn patterns(&mut self) -> Vec<String> {
        (0..self.below(4)).map(|_| (*self.one(&PATTERNS)).to_owned()).collect()
    }
}

#[derive(Debug)]
struct Fixture {
    tree: Vec<Organization>,
    subject: SubjectBefore,
    effects: Effects,
}

fn fixture(bytes: Vec<u8>) -> Fixture {
    use OrganizationStatus::{Active, Inactive, Suspended};
    let mut choices = Choices(bytes.into_iter());
    let names = ["o0", "o1", "o2", "o3", "o4", "o5", "o6"];
    let count = choices.below(names.len() + 1);
    let mut tree: Vec<Organization> = Vec::new();
    for number in 0..count {
        let status = *choices.one(&[Active, Active, Active, Suspended, Inactive]);
        let new = organization(names[number], choices.maybe(&names[..number]), status);
        // Everything below an INACTIVE organization is INACTIVE.
        let parent = tree.iter().find(|above| new.parent_id == Some(above.id));
        let status = if parent.is_some_and(|parent| parent.status == Inactive) { Inactive } else { status };
        tree.push(Organization { status, ..new });
    }
    let hierarchy: Hierarchy = tree.iter().cloned().collect();
    let places: Vec<OrganizationId> = tree.iter().map(|organization| organization.id).collect();
    let roles: Vec<Arc<Role>> =
        ["r0", "r1", "r2", "r3"].iter().map(|name| Arc::new(role(name, &choices.patterns()))).collect();
    let some_grant = |name: &str, choices: &mut Choices| {
        let expires = choices.maybe(&[-5, 10, 10, 20]);
        let place = choices.maybe(&places);
        grant(name, choices.one(&roles), place, expires, &hierarchy)
    };
    let grants: Vec<Grant> =
        (0..choices.below(8)).map(|number| some_grant(&format!("g{number}"), &mut choices)).collect();
    let statuses = [UserStatus::Active, UserStatus::Active, UserStatus::Active, UserStatus::Suspended];
    let subject = SubjectBefore { user: id("user"), status: *choices.one(&statuses), grants };

    let mut effects = Effects::default();
    for _ in 0..=choices.below(2) {
        match choices.below(6) {
            0 => {
                let new = (0..choices.below(3)).map(|number| some_grant(&format!("n{number}"), &mut choices)).collect();
                effects.given.insert(subject.user, new);
            }
            1 => {
                if let Some(grant) = choices.maybe(&subject.grants) {
                    effects.expiries.insert(grant.assignment.id, choices.maybe(&[10, 15, 20]).map(at));
                }
            }
            2 => effects.revoked.extend(choices.maybe(&subject.grants).map(|grant| grant.assignment.id)),
            3 => {
                let before = choices.one(&roles);
                let after = Role { permissions: role("", &choices.patterns()).permissions, ..(**before).clone() };
                effects.roles.insert(before.id, Arc::new(after));
            }
            4 => {
                // Of the tree after the changes so far.
                let tree: Vec<Organization> = tree.iter().map(|found| after(&effects, found)).collect();
                let hierarchy: Hierarchy = tree.iter().cloned().collect();
                let Some(before) = choices.maybe(&tree) else { continue };
                let outside = |id: &OrganizationId| !hierarchy.node(*id).unwrap().is_within(before.id);
                let outside: Vec<OrganizationId> = places.iter().copied().filter(outside).collect();
                let parent_id = if choices.below(3) == 0 { before.parent_id } else { choices.maybe(&outside) };
                let status = *choices.one(&[before.status, Active, Suspended, Inactive]);
                let is_inactive = |found: &Organization| found.status == Inactive;
                let parent = tree.iter().find(|above| parent_id == Some(above.id));
                let mut children = tree.iter().filter(|below| below.parent_id == Some(before.id));
                let is_refused = match status {
                    Inactive => !children.all(is_inactive),
                    _ => parent.is_some_and(is_inactive),
                };
                if is_refused {
                    continue;
                }
                let after = Organization { parent_id, status, ..before.clone() };
                effects.change_organization(&before, &after);
            }
            _ => {
                let status = *choices.one(&[UserStatus::Active, UserStatus::Suspended, UserStatus::Inactive]);
                effects.statuses.insert(subject.user, status);
            }
        }
    }
    Fixture { tree, subject, effects }
}

/// An organization after the changes.
fn after(effects: &Effects, organization: &Organization) -> Organization {
    effects.organizations.get(&organization.id).map_or(organization, |(_, after)| after).clone()
}

/// The same comparison in the plainest way: every permission in every place.
fn everything(fixture: &Fixture) -> Vec<RightChange> {
    let Fixture { tree, subject, effects } = fixture;
    let now = Until::Moment(at(0));
    let before: Hierarchy = tree.iter().cloned().collect();
    let after: Hierarchy = tree.iter().map(|organization| after(effects, organization)).collect();
    let kept = subject.grants.iter().filter(|grant| !effects.revoked.contains(&grant.assignment.id));
    let new: Vec<Grant> = effects.given.get(&subject.user).cloned().unwrap_or_default();
    let is_new = |id: AssignmentId| new.iter().any(|grant| grant.assignment.id == id);
    let grants_after: Vec<Grant> = kept
        .chain(&new)
        .map(|grant| {
            let mut grant = grant.clone();
            if let Some(expires_at) = effects.expiries.get(&grant.assignment.id) {
                grant.assignment.expires_at = *expires_at;
            }
            if let Some(role) = effects.roles.get(&grant.assignment.role_id) {
                grant.role = Arc::clone(role);
            }
            let place = grant.assignment.organization_id;
            grant.organization = place.and_then(|id| after.node(id)).map(GrantOrganization::from);
            grant
        })
        .collect();
    let of =
        |status: UserStatus, grants: &[Grant]| Authority::of(grants.iter().filter(|_| status == UserStatus::Active));
    let was = of(subject.status, &subject.grants);
    let is = of(effects.status_after(subject.user, subject.status), &grants_after);

    let mut places: Vec<Option<OrganizationId>> = vec![None];
    let mut nodes: Vec<_> = after.nodes().collect();
    nodes.sort_by_key(|node| node.depth());
    places.extend(nodes.iter().map(|node| Some(node.organization.id)));
    let mut rows: Vec<RightChange> = Vec::new();
    let mut reported: Vec<(Option<OrganizationId>, Permission, Direction, Until, Until)> = Vec::new();
    for place in places {
        let scope = |tree: &'_ Hierarchy| place.map(|id| tree.node(id).unwrap().id());
        let counting = |tree: &Hierarchy, authority: &Authority, permission: &Permission| {
            let scope = match scope(tree) {
                None => ResourceScope::Tenant,
                Some(id) => tree.ancestry().position(id).unwrap().scope(),
            };
            let counting = authority.counting(scope, at(0)).filter(|held| held.role.permissions.allows(permission));
            counting.map(|held| (held.assignment, held.until)).collect::<Vec<_>>()
        };
        for permission in catalogue() {
            let (gave, gives) = (counting(&before, &was, &permission), counting(&after, &is, &permission));
            let end = |giving: &[(AssignmentId, Until)]| giving.iter().map(|(_, until)| *until).max().unwrap_or(now);
            let (was_until, is_until) = (end(&gave), end(&gives));
            if was_until == is_until {
                continue;
            }
            let (from, until) = (was_until.min(is_until), was_until.max(is_until));
            let (direction, giving) =
                if is_until > was_until { (Direction::Gained, gives) } else { (Direction::Lost, gave) };
            let lineage: Vec<Option<OrganizationId>> = place
                .map(|id| after.node(id).unwrap().lineage().skip(1).map(Some).chain([None]).collect())
                .unwrap_or_default();
            let is_reported =
                reported.iter().any(|(above, name, reported_direction, reported_from, reported_until)| {
                    lineage.contains(above)
                        && *name == permission
                        && *reported_direction == direction
                        && *reported_from <= from
                        && *reported_until >= until
                });
            if is_reported {
                continue;
            }
            reported.push((place, permission.clone(), direction, from, until));
            let via =
                giving.into_iter().filter(|(id, until)| *until > from && !is_new(*id)).map(|(id, _)| id).collect();
            let Until::Moment(from) = from else { unreachable!() };
            rows.push(RightChange { user: subject.user, organization: place, permission, direction, via, from, until });
        }
    }
    rows
}

fn sorted(mut rows: Vec<RightChange>) -> Vec<RightChange> {
    rows.sort_by(|one, other| (one.organization, &one.permission).cmp(&(other.organization, &other.permission)));
    rows
}

fn compared(fixture: Fixture, visible: Option<&VisibleScope>) -> RightChanges {
    let mut comparison = Comparison::new(Arc::new(fixture.effects), catalogue(), visible, at(0));
    comparison.set_tree(&fixture.tree);
    comparison.add(&fixture.subject);
    // The next user is compared from the same beginning.
    let other = SubjectBefore { user: id("other"), status: UserStatus::Active, grants: Vec::new() };
    comparison.add(&other);
    comparison.into_changes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_comparison_finds_what_a_comparison_of_everything_finds(bytes in proptest::collection::vec(any::<u8>(), 150)) {
        let expected = sorted(everything(&fixture(bytes.clone())));
        let found = compared(fixture(bytes.clone()), Some(&VisibleScope::Tenant));
        prop_assert_eq!(found.users, u64::from(!expected.is_empty()));
        prop_assert!(!found.truncated);
        prop_assert_eq!(sorted(found.rows), expected.clone());

        let unseen = compared(fixture(bytes.clone()), None);
        prop_assert_eq!((unseen.users, unseen.rows.len(), unseen.truncated), (found.users, 0, false));
        let Some(root) = fixture(bytes.clone()).tree.first().map(|first| first.id) else { return Ok(()) };
        let part = compared(fixture(bytes.clone()), Some(&VisibleScope::Organizations(vec![root])));
        let tree: Ancestry = fixture(bytes).tree.iter().collect();
        let is_seen = |place: Option<OrganizationId>| place.is_some_and(|id| tree.position(id).unwrap().is_within(root));
        let seen: Vec<RightChange> = expected.into_iter().filter(|row| is_seen(row.organization)).collect();
        prop_assert_eq!((part.users, sorted(part.rows)), (found.users, seen));
    }
}

#[test]
fn a_role_in_a_new_organization_gives_what_the_user_does_not_hold_above_it() {
    let tree = [organization("root", None, OrganizationStatus::Active)];
    let new = organization("new", Some("root"), OrganizationStatus::Active);
    let all: Hierarchy = tree.iter().cloned().chain([new.clone()]).collect();
    let (one, both) = ("a:b".to_owned(), ["a:b".to_owned(), "c:d".to_owned()]);
    let held = grant("held", &Arc::new(role("one", &[one])), Some(id("root")), None, &all);
    let given = grant("given", &Arc::new(role("both", &both)), Some(new.id), None, &all);
    let mut effects = Effects::default();
    effects.new_organizations.insert(new.id, new.clone());
    effects.given.insert(id("user"), vec![given]);
    let subject = SubjectBefore { user: id("user"), status: UserStatus::Active, grants: vec![held] };
    let visible = VisibleScope::Organizations(vec![id("root")]);
    let mut comparison = Comparison::new(Arc::new(effects), catalogue(), Some(&visible), at(0));
    comparison.set_tree(&tree);
    comparison.add(&subject);
    let rows = comparison.into_changes().rows;
    let rows: Vec<_> = rows.iter().map(|row| (row.organization, row.permission.as_str(), row.direction)).collect();
    assert_eq!(rows, [(Some(new.id), "c:d", Direction::Gained)]);
}

/// A user with a role of some permissions in each of many organizations, and as many roles tenant-wide.
struct Wide {
    organizations: usize,
    permissions: usize,
    tenant_wide: usize,
}

impl Wide {
    fn compare(&self, users: usize, effects: impl Fn(&UserId) -> Effects) -> (RightChanges, usize) {
        let names: Vec<String> = (0..self.permissions).map(|number| format!("orders:do-{number}")).collect();
        let tree: Vec<Organization> = (0..self.organizations)
            .map(|number| organization(&format!("o{number}"), None, OrganizationStatus::Active))
            .collect();
        let hierarchy: Hierarchy = tree.iter().cloned().collect();
        let clerk = Arc::new(role("clerk", &names));
        let in_place = |(number, place): (usize, &Organization)| {
            grant(&format!("g{number}"), &clerk, Some(place.id), None, &hierarchy)
        };
        let mut grants: Vec<Grant> = tree.iter().enumerate().map(in_place).collect();
        for number in 0..self.tenant_wide {
            let role = Arc::new(role(&format!("r{number}"), &names));
            grants.push(grant(&format!("t{number}"), &role, None, None, &hierarchy));
        }
        let users: Vec<UserId> = (0..users).map(|number| id(&format!("user{number}"))).collect();
        let mut all = Effects::default();
        for user in &users {
            let Effects { statuses, roles, .. } = effects(user);
            all.statuses.extend(statuses);
            all.roles.extend(roles);
        }
        let catalogue = names.iter().map(|name| name.parse().unwrap()).collect();
        let mut comparison = Comparison::new(Arc::new(all), catalogue, Some(&VisibleScope::Tenant), at(0));
        comparison.set_tree(&tree);
        for user in users {
            comparison.add(&SubjectBefore { user, status: UserStatus::Active, grants: grants.clone() });
        }
        let steps = comparison.steps();
        (comparison.into_changes(), steps)
    }
}

fn suspended(user: &UserId) -> Effects {
    Effects { statuses: [(*user, UserStatus::Suspended)].into(), ..Effects::default() }
}

#[test]
fn the_work_of_a_comparison_ends_with_its_rows() {
    let wide = Wide { organizations: 1_000, permissions: 500, tenant_wide: 0 };
    let (changes, steps) = wide.compare(1, suspended);
    assert_eq!((changes.users, changes.rows.len(), changes.truncated), (1, MAX_ROWS, true));
    assert!(steps < 5 * MAX_ROWS, "{steps} steps");
}

#[test]
fn a_user_after_the_last_row_takes_no_more_work_than_its_first_difference() {
    let wide = Wide { organizations: 100, permissions: 500, tenant_wide: 0 };
    let (few, of_few) = wide.compare(1, suspended);
    let (many, of_many) = wide.compare(101, suspended);
    assert_eq!((few.users, many.users), (1, 101));
    assert!(many.truncated && of_many - of_few < 100 * 2 * wide.permissions, "{of_few} and {of_many} steps");
}

#[test]
fn the_work_of_a_comparison_grows_with_its_assignments() {
    let of = |count| Wide { organizations: count, permissions: 20, tenant_wide: count }.compare(1, suspended).1;
    let (once, twice) = (of(100), of(200));
    assert!(twice <= once * 21 / 10, "{once} and {twice} steps");
}

#[test]
fn a_change_of_a_role_takes_work_only_where_it_is_held() {
    let cleared =
        |_: &UserId| Effects { roles: [(id("clerk"), Arc::new(role("clerk", &[])))].into(), ..Effects::default() };
    let wide = Wide { organizations: 200, permissions: 20, tenant_wide: 1 };
    let (changes, steps) = wide.compare(10, cleared);
    assert_eq!((changes.users, changes.rows.len()), (0, 0), "the other role gives the same");
    assert!(steps <= 10 * 3 * wide.organizations * wide.permissions, "{steps} steps");
}

#[test]
fn the_assignments_of_all_rows_have_a_limit() {
    let wide = Wide { organizations: 0, permissions: 500, tenant_wide: 1_000 };
    let (changes, _) = wide.compare(1, suspended);
    let via: BTreeSet<usize> = changes.rows.iter().map(|row| row.via.len()).collect();
    assert_eq!((via, changes.rows.len()), ([1_000].into(), MAX_VIA / 1_000));
    assert!(changes.truncated && changes.users == 1);
}
