//! Role assignments.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::Caller;
use iam_model::access::{Until, VisibleScope};
use iam_model::assignment::{
    Assignment, AssignmentFilter, Grant, GrantContext, GrantOrganization, ListedAssignment, MAX_BULK,
};
use iam_model::change::{AssignmentChange, RoleChange, UserChange};
use iam_model::clock::Timestamp;
use iam_model::history::Past;
use iam_model::id::{AccessRequestId, AssignmentId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::{Organization, OrganizationStatus, OrganizationSummary};
use iam_model::page::{Page, PageRequest};
use iam_model::role::Role;
use iam_model::store::{GrantQuery, HolderQuery, Store};
use iam_model::store_error::Constraint;
use iam_model::tenant::Tenant;
use iam_model::user::{User, UserKind, UserStatus};

use crate::world::{
    World, assert_conflict, assert_missing, assert_pages, assigning, everything, expiring, named, sorted, updating,
    updating_all, within,
};

/// A grant is an assignment with its role, the role's permissions and its organization. Grants are read newest first,
/// expired ones included.
pub async fn grants_show_role_and_organization(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let roles = world.roles(&tenant).await;
    let (user, other) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "b@example.com").await);
    let (auditor, member) = (named(&roles, "AUDITOR"), named(&roles, "MEMBER"));
    let odd = "Größe \"x\" \\ 'y' {%_} 🦀";
    let bare = Role { description: odd.parse().unwrap(), ..world.new_role(&tenant, "NOTHING_YET", &[]) };
    world.commit(tenant.id, RoleChange::Create(bare.clone())).await;
    let root = world.organization(&tenant, "root").await;
    let branch = world.new_organization(tenant.id, "branch");
    let branch = Organization { name: odd.parse().unwrap(), parent_id: Some(root.id), ..branch };
    let branch = world.add_organization(branch).await;
    let expired = Assignment {
        expires_at: Some(world.now() - TimeDelta::seconds(1)),
        created_by: Some(other.id),
        directory_group_id: Some(world.id()),
        access_request_id: Some(world.id()),
        ..world.new_assignment(&user, auditor, None)
    };
    let expired = world.assign(expired, auditor).await;
    world.tick();
    let scoped = world.give(&user, member, Some(&branch)).await;
    let empty = world.give(&user, &bare, None).await;
    let others = world.give(&other, member, None).await;

    let organization = GrantOrganization {
        id: branch.id,
        name: branch.name.as_str().to_owned(),
        lineage: vec![branch.id, root.id],
        is_lineage_active: true,
    };
    let grant = |assignment: &Assignment, role: &Role, organization| Grant {
        assignment: assignment.clone(),
        role: Arc::new(role.clone()),
        organization,
    };
    let expected =
        [grant(&scoped, member, Some(organization)), grant(&empty, &bare, None), grant(&expired, auditor, None)];
    assert_eq!(world.store.grants_of(tenant.id, &[user.id]).await.unwrap(), expected);
    assert_eq!(world.grants(tenant.id, GrantQuery::OfUser(user.id)).await, expected);

    let both = world.store.grants_of(tenant.id, &[other.id, user.id, world.id(), other.id]).await.unwrap();
    assert_eq!(ids(&both), [scoped.id, empty.id, others.id, expired.id]);
    assert_eq!(world.store.grants_of(tenant.id, &[]).await.unwrap(), []);
    assert_eq!(world.store.grants_of(tenant.id, &[world.id()]).await.unwrap(), []);
}

/// The deciding grants of users are those of the roles and the places of a query, each with all that a grant has.
pub async fn deciding_grants_are_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (reader, other) = (world.role(&tenant, "READER", &["x:read"]).await, world.role(&tenant, "OTHER", &[]).await);
    let (root, aside) = (world.organization(&tenant, "root").await, world.organization(&tenant, "aside").await);
    let [ada, bob] = [world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await];
    let expiry = Some(world.now() + TimeDelta::seconds(1));
    for user in [&ada, &bob] {
        for (role, place) in [(&reader, None), (&other, None), (&reader, Some(&aside)), (&other, Some(&root))] {
            world.give(user, role, place).await;
            world.tick();
        }
        let given = world.new_assignment(user, &reader, Some(root.id));
        let given = Assignment { expires_at: expiry, directory_group_id: Some(world.id()), ..given };
        world.assign(given, &reader).await;
        world.tick();
    }
    let decides = |grant: &Grant, roles: Option<&[RoleId]>, places: &[OrganizationId]| {
        let Assignment { role_id, organization_id, .. } = &grant.assignment;
        roles.is_none_or(|roles| roles.contains(role_id)) && organization_id.is_none_or(|id| places.contains(&id))
    };
    let both = [ada.id, bob.id];
    for (users, roles, organizations) in [
        (&both[..], Some(vec![reader.id]), vec![root.id]),
        (&both[..1], Some(vec![reader.id, other.id]), vec![root.id, aside.id]),
        (&both[..], Some(vec![other.id]), vec![]),
        (&both[..], Some(vec![]), vec![root.id]),
        (&both[..], None, vec![root.id]),
        (&both[..], None, vec![]),
        (&both[..0], Some(vec![reader.id]), vec![root.id]),
    ] {
        let mut expected = world.store.grants_of(tenant.id, users).await.unwrap();
        expected.retain(|grant| decides(grant, roles.as_deref(), &organizations));
        let query = HolderQuery { roles, organizations, at: world.now() };
        assert_eq!(world.store.deciding_grants(tenant.id, users, &query).await.unwrap(), expected, "{query:?}");
    }
    let elsewhere = world.tenant("other").await;
    let query = HolderQuery { roles: Some(vec![reader.id]), organizations: vec![root.id], at: world.now() };
    assert_eq!(world.store.deciding_grants(elsewhere.id, &both, &query).await.unwrap(), []);
}

/// A lineage starts with the organization itself and goes up to the root, at any depth, also after a move of an
/// ancestor.
pub async fn a_lineage_goes_up_to_the_root(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let user = world.user(&tenant, "ada@example.com").await;
    let chain = world.chain(&tenant, "level", 100).await;
    for organization in [&chain[0], &chain[2], &chain[99]] {
        world.give(&user, &role, Some(organization)).await;
        world.tick();
    }
    let upwards = |length: usize| -> Vec<OrganizationId> { chain[..length].iter().rev().map(|it| it.id).collect() };
    let expected = [upwards(100), upwards(3), upwards(1)];
    for grants in [
        world.store.grants_of(tenant.id, &[user.id]).await.unwrap(),
        world.grants(tenant.id, GrantQuery::OfRole(role.id)).await,
    ] {
        let lineages = grants.into_iter().map(|grant| grant.organization.unwrap().lineage);
        assert!(lineages.eq(expected.clone()));
    }

    let (before, top) = (&chain[2], world.organization(&tenant, "top").await);
    world.reorganize(before, Organization { parent_id: Some(top.id), ..before.clone() }).await;
    let grants = world.store.grants_of(tenant.id, &[user.id]).await.unwrap();
    assert_eq!(grants[1].organization.as_ref().unwrap().lineage, [chain[2].id, top.id]);
    assert_eq!(grants[0].organization.as_ref().unwrap().lineage.len(), 99);
}

/// The lineage of an organization is active if it and all its ancestors are ACTIVE. The status of organizations beside
/// it or below it does not matter.
pub async fn a_lineage_is_active_with_all_ancestors(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let user = world.user(&tenant, "ada@example.com").await;
    let chain = world.chain(&tenant, "level", 4).await;
    let beside = world.below(&chain[0], "beside").await;
    for organization in [&chain[3], &chain[1], &beside] {
        world.give(&user, &role, Some(organization)).await;
    }
    for status in [OrganizationStatus::Suspended, OrganizationStatus::Inactive] {
        for (suspended, expected) in [
            (&chain[3], [false, true, true]),
            (&chain[2], [false, true, true]),
            (&chain[1], [false, false, true]),
            (&chain[0], [false, false, false]),
            (&beside, [true, true, false]),
        ] {
            world.set_status(suspended, status).await;
            let is_lineage_active =
                |grants: Vec<Grant>| grants.into_iter().map(|grant| grant.organization.unwrap().is_lineage_active);
            let grants = world.store.grants_of(tenant.id, &[user.id]).await.unwrap();
            assert!(is_lineage_active(grants).eq(expected), "{status} {}", suspended.slug);
            let locked = world.grants(tenant.id, GrantQuery::OfUser(user.id)).await;
            assert!(is_lineage_active(locked).eq(expected), "{status} {}, locked", suspended.slug);
            world.set_status(suspended, OrganizationStatus::Active).await;
        }
    }
}

/// A user holds a role at most once tenant-wide and at most once in each organization. An expired assignment counts,
/// too.
pub async fn a_user_holds_a_role_once_in_a_context(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let roles = world.roles(&tenant).await;
    let (member, other) = (named(&roles, "MEMBER"), named(&roles, "AUDITOR"));
    let (user, second) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "b@example.com").await);
    let (branch, team) = (world.organization(&tenant, "branch").await, world.organization(&tenant, "team").await);
    for (organization, expires_at) in [(None, None), (Some(&branch), None), (Some(&team), Some(world.now()))] {
        world.give_until(&user, member, organization, expires_at).await;
        let again = world.new_assignment(&user, member, organization.map(|it| it.id));
        let refused = world.try_commit(tenant.id, [assigning([again], member).into()]).await;
        assert_conflict(&refused, Constraint::RoleAssignment);
        world.give(&user, other, organization).await;
        world.give(&second, member, organization).await;
    }
}

/// One change creates the maximum number of assignments. Each is read back with its own values.
pub async fn one_change_creates_many_assignments(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let branch = world.organization(&tenant, "branch").await;
    let users = crowd(&world, &tenant, MAX_BULK / 2).await;
    let assignments: Vec<Assignment> =
        [(None, Some(world.now() + TimeDelta::milliseconds(1))), (Some(branch.id), None)]
            .into_iter()
            .flat_map(|(organization, expires_at)| {
                let (world, role) = (&world, &role);
                let assign = move |user| Assignment {
                    expires_at,
                    directory_group_id: expires_at.map(|_| world.id()),
                    access_request_id: expires_at.map(|_| world.id()),
                    ..world.new_assignment(user, role, organization)
                };
                users.iter().map(assign)
            })
            .collect();
    assert_eq!(assignments.len(), MAX_BULK);
    world.commit(tenant.id, assigning(assignments.clone(), &role)).await;
    let found = world.grants(tenant.id, GrantQuery::OfRole(role.id)).await;
    let found: Vec<Assignment> = found.into_iter().map(|grant| grant.assignment).collect();
    assert!(found == assignments);
}

/// If one assignment of a change is refused, even the last one, the change creates none of them.
pub async fn one_refused_assignment_refuses_all_of_a_change(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let users = crowd(&world, &tenant, MAX_BULK).await;
    let kept = world.give(&users[MAX_BULK - 1], &role, None).await;
    let all: Vec<Assignment> = users.iter().map(|user| world.new_assignment(user, &role, None)).collect();
    let mut twice = all[..MAX_BULK - 1].to_vec();
    twice.push(Assignment { id: world.id(), ..all[3].clone() });
    let mut nowhere = all[..MAX_BULK - 1].to_vec();
    nowhere[MAX_BULK / 2].organization_id = Some(world.id());
    for (assignments, constraint) in
        [(all, Constraint::RoleAssignment), (twice, Constraint::RoleAssignment), (nowhere, Constraint::Reference)]
    {
        let refused = world.try_commit(tenant.id, [assigning(assignments, &role).into()]).await;
        assert_conflict(&refused, constraint);
        let found = world.grants(tenant.id, GrantQuery::OfRole(role.id)).await;
        assert_eq!(ids(&found), [kept.id]);
    }
    world.commit(tenant.id, AssignmentChange::Create(Vec::new())).await;
}

/// The assignments of users that have not expired at a moment are counted, in the tenant alone.
pub async fn live_assignments_are_counted_by_user(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let roles = world.roles(&tenant).await;
    let emails = ["ada@example.com", "b@example.com", "c@example.com"];
    let [ada, b, c] = [
        world.user(&tenant, emails[0]).await,
        world.user(&tenant, emails[1]).await,
        world.user(&tenant, emails[2]).await,
    ];
    let end = world.now() + TimeDelta::hours(1);
    let (auditor, member) = (named(&roles, "AUDITOR"), named(&roles, "MEMBER"));
    let branch = world.organization(&tenant, "branch").await;
    world.give(&ada, auditor, None).await;
    world.give(&ada, member, Some(&branch)).await;
    world.give_until(&ada, member, None, Some(end)).await;
    world.give_until(&b, member, None, Some(end)).await;
    world.give(&c, member, None).await;
    let asked = [ada.id, b.id, world.id()];
    for (at, expected) in [
        (end - TimeDelta::milliseconds(1), vec![(ada.id, 3), (b.id, 1)]),
        (end, vec![(ada.id, 2)]),
        (Timestamp::UNIX_EPOCH, vec![(ada.id, 3), (b.id, 1)]),
    ] {
        let mut found = world.store.live_assignments(tenant.id, &asked, at).await.unwrap();
        found.sort_unstable();
        assert_eq!(found, expected);
        let locked = world.locked(tenant.id, async |locks| locks.live_assignments(&asked, at).await.unwrap());
        let mut found = locked.await;
        found.sort_unstable();
        assert_eq!(found, expected);
    }
    assert_eq!(world.store.live_assignments(other.id, &asked, end).await.unwrap(), []);
    assert_eq!(world.store.live_assignments(tenant.id, &[], end).await.unwrap(), []);
}

/// An expiry is set, moved and removed. Nothing else changes.
pub async fn an_expiry_is_set_moved_and_removed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let user = world.user(&tenant, "ada@example.com").await;
    let branch = world.organization(&tenant, "branch").await;
    let mut before = world.give(&user, &role, Some(&branch)).await;
    let bystander = world.give(&user, &role, None).await;
    let moment = world.now() + TimeDelta::milliseconds(1);
    for expires_at in [Some(moment), Some(moment + TimeDelta::days(36_500)), None, Some(moment)] {
        world.tick();
        let after = Assignment { expires_at, ..before.clone() };
        world.commit(tenant.id, expiring(&before, &role, expires_at)).await;
        let found = world.store.grants_of(tenant.id, &[user.id]).await.unwrap();
        let found: Vec<Assignment> = found.into_iter().map(|grant| grant.assignment).collect();
        assert_eq!(found, [after.clone(), bystander.clone()]);
        before = after;
    }
    let nothing = world.new_assignment(&user, &role, None);
    assert_missing(&world.try_commit(tenant.id, [expiring(&nothing, &role, None).into()]).await);
    assert_missing(&world.try_commit(other.id, [expiring(&before, &role, before.expires_at).into()]).await);
}

/// The group that gives an assignment is set, changed and removed, alone and with the expiry. Nothing else changes.
pub async fn the_group_of_an_assignment_is_set_changed_and_removed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let user = world.user(&tenant, "ada@example.com").await;
    let branch = world.organization(&tenant, "branch").await;
    let mut before = world.give(&user, &role, Some(&branch)).await;
    let given = Assignment { directory_group_id: Some(world.id()), ..world.new_assignment(&user, &role, None) };
    let bystander = world.assign(given, &role).await;
    let moment = Some(world.now() + TimeDelta::days(1));
    let (first, second) = (Some(world.id()), Some(world.id()));
    for (directory_group_id, expires_at) in
        [(first, None), (second, None), (first, moment), (None, None), (second, moment), (None, moment)]
    {
        world.tick();
        let after = Assignment { directory_group_id, expires_at, ..before.clone() };
        world.commit(tenant.id, updating(&before, &role, &after)).await;
        let found = world.store.grants_of(tenant.id, &[user.id]).await.unwrap();
        let found: Vec<Assignment> = found.into_iter().map(|grant| grant.assignment).collect();
        assert_eq!(found, [after.clone(), bystander.clone()]);
        before = after;
    }
    let expired = expiring(&bystander, &role, moment);
    world.commit(tenant.id, expired).await;
    let found = world.grants(tenant.id, GrantQuery::One(bystander.id)).await.remove(0).assignment;
    assert_eq!(found, Assignment { expires_at: moment, ..bystander });
}

/// The mark of an access request stays when the expiry of its assignment changes. It is shown by every read, also by
/// lists, and finds the assignment.
pub async fn assignments_of_access_requests_are_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let (ada, bob) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await);
    let branch = world.organization(&tenant, "branch").await;
    let [first, second, unknown]: [AccessRequestId; 3] = std::array::from_fn(|_| world.id());
    let expires_at = Some(world.now() + TimeDelta::days(1));
    let mut assignments = Vec::new();
    for (user, organization, request) in [
        (&ada, None, Some(first)),
        (&bob, None, Some(first)),
        (&ada, Some(branch.id), Some(second)),
        (&bob, Some(branch.id), None),
    ] {
        world.tick();
        let access_request_id = request;
        let assignment = world.new_assignment(user, &role, organization);
        let assignment = Assignment { expires_at, access_request_id, ..assignment };
        assignments.push(world.assign(assignment, &role).await);
    }
    let before = assignments[2].clone();
    let expires_at = Some(world.now() + TimeDelta::hours(1));
    world.commit(tenant.id, expiring(&before, &role, expires_at)).await;
    assignments[2] = Assignment { expires_at, ..before };
    assignments.reverse();
    for (requests, expected) in [
        (vec![first], vec![2, 3]),
        (vec![second, unknown], vec![1]),
        (vec![unknown, first, second, first], vec![1, 2, 3]),
    ] {
        let found = world.grants(tenant.id, GrantQuery::OfAccessRequests(&requests)).await;
        let found: Vec<Assignment> = found.into_iter().map(|grant| grant.assignment).collect();
        let expected: Vec<Assignment> = expected.into_iter().map(|number: usize| assignments[number].clone()).collect();
        assert_eq!(found, expected);
        assert_eq!(world.grants(other.id, GrantQuery::OfAccessRequests(&requests)).await, []);
    }
    let listed = list(&world, &tenant, &AssignmentFilter::default(), &VisibleScope::Tenant).await;
    let listed: Vec<Assignment> = listed.into_iter().map(|listed| listed.assignment).collect();
    assert_eq!(listed, assignments);
    let (now, until) = (world.now(), world.now() + TimeDelta::hours(2));
    let soon = world.store.expiring_assignments(tenant.id, &VisibleScope::Tenant, now, until, 10).await.unwrap();
    let soon: Vec<Assignment> = soon.into_iter().map(|listed| listed.assignment).collect();
    assert_eq!(soon, assignments[1..2]);
}

/// The assignment of an elevation is written like another one: once in its context, with a role that exists.
pub async fn an_elevation_begins_with_its_assignment(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let user = world.user(&tenant, "ada@example.com").await;
    let branch = world.organization(&tenant, "branch").await;
    let activating = |assignment: &Assignment| AssignmentChange::Activate {
        grant: Box::new(Grant { assignment: assignment.clone(), role: Arc::new(role.clone()), organization: None }),
        approved_by: vec![user.id],
    };
    let elevation = Assignment {
        expires_at: Some(world.now() + TimeDelta::milliseconds(1)),
        access_request_id: Some(world.id()),
        ..world.new_assignment(&user, &role, Some(branch.id))
    };
    world.commit(tenant.id, activating(&elevation)).await;
    let found = world.store.grants_of(tenant.id, &[user.id]).await.unwrap();
    assert_eq!(found.into_iter().map(|grant| grant.assignment).collect::<Vec<_>>(), std::slice::from_ref(&elevation));
    let again = Assignment { id: world.id(), ..elevation.clone() };
    let refused = world.try_commit(tenant.id, [activating(&again).into()]).await;
    assert_conflict(&refused, Constraint::RoleAssignment);
    let nowhere = Assignment { id: world.id(), organization_id: Some(world.id()), ..elevation };
    let refused = world.try_commit(tenant.id, [activating(&nowhere).into()]).await;
    assert_conflict(&refused, Constraint::Reference);
}

/// One change updates many assignments, each to an expiry and a group of its own, and ends a version of each of them. If
/// one does not exist, the change updates none.
pub async fn one_change_updates_many_assignments(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let users = crowd(&world, &tenant, MAX_BULK).await;
    let moment = world.now() + TimeDelta::days(1);
    let before: Vec<Assignment> = (0..)
        .zip(&users)
        .map(|(number, user)| Assignment {
            expires_at: (number % 2 == 0).then_some(moment),
            directory_group_id: (number % 3 == 0).then(|| world.id()),
            ..world.new_assignment(user, &role, None)
        })
        .collect();
    world.commit(tenant.id, assigning(before.clone(), &role)).await;
    world.tick();
    let changed_at = world.now();
    let mut after: Vec<Assignment> = (0..)
        .zip(&before)
        .map(|(number, before)| Assignment {
            expires_at: (number % 3 == 0).then(|| moment + TimeDelta::milliseconds(number)),
            directory_group_id: (number % 4 > 0).then(|| world.id()),
            ..before.clone()
        })
        .collect();
    // The last one does not change.
    let changed = MAX_BULK - 1;
    after[changed] = before[changed].clone();
    world.commit(tenant.id, updating_all(before.iter().zip(&after).take(changed), &role)).await;

    let found = async || -> Vec<Assignment> {
        let found = world.grants(tenant.id, GrantQuery::OfRole(role.id)).await;
        found.into_iter().map(|grant| grant.assignment).collect()
    };
    assert!(found().await == after);
    let then = changed_at - TimeDelta::milliseconds(1);
    let ids: Vec<UserId> = users.iter().map(|user| user.id).collect();
    let mut past = world.store.past_assignments_of(tenant.id, &ids, then).await.unwrap();
    past.sort_by_key(|past| past.version.id);
    let ended = before[..changed].iter().map(|version| Past { version: version.clone(), until: changed_at });
    assert!(past.into_iter().eq(ended));
    for (at, expected) in [(then, &before), (changed_at, &after)] {
        let (filter, scope) = (AssignmentFilter::default(), VisibleScope::Tenant);
        let page = world.store.assignments_at(tenant.id, &filter, &scope, everything(), at).await.unwrap();
        assert_eq!(page.total, MAX_BULK as u64);
        assert!(page.items == expected[..100]);
    }

    let missing = world.new_assignment(&users[0], &role, None);
    let again = [(&after[0], &before[0]), (&missing, &missing)];
    assert_missing(&world.try_commit(tenant.id, [updating_all(again, &role).into()]).await);
    assert_missing(&world.try_commit(other.id, [updating_all([again[0]], &role).into()]).await);
    assert!(found().await == after);
    world.commit(tenant.id, AssignmentChange::Update(Vec::new())).await;
}

/// Revoked assignments are gone, and no others are.
pub async fn revoked_assignments_are_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let roles = world.roles(&tenant).await;
    let user = world.user(&tenant, "ada@example.com").await;
    for role in &roles {
        world.give(&user, role, None).await;
        world.tick();
    }
    let caller = Caller::system(tenant.id, "conformance");
    let mut work = world.begin(caller.author()).await;
    let mut grants = work.reads().grants(GrantQuery::OfUser(user.id)).await.unwrap();
    let kept = grants.remove(1);
    work.apply(AssignmentChange::Revoke { grants, reason: None }).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(world.store.grants_of(tenant.id, &[user.id]).await.unwrap(), [kept]);
    let freed = world.new_assignment(&user, &roles[0], None);
    world.assign(freed, &roles[0]).await;
}

/// Each query finds the assignments that it names, expired ones included, newest first. It finds none that match only
/// in part.
pub async fn every_grant_query_finds_its_assignments(store: Arc<dyn Store>) {
    let world = World::new(store);
    let fixture = Fixture::new(&world).await;
    let tenant = fixture.tenant.id;
    let [ada, bob] = &fixture.users;
    let [buyer, seller] = &fixture.roles;
    let [root, leaf] = &fixture.organizations;
    let found = async |which: GrantQuery<'_>| ids(&world.grants(tenant, which).await);
    let expected = |wanted: &dyn Fn(&Assignment) -> bool| fixture.newest_first(wanted);
    for assignment in &fixture.assignments {
        assert_eq!(found(GrantQuery::One(assignment.id)).await, [assignment.id]);
    }
    let some: Vec<_> = fixture.assignments.iter().step_by(2).map(|it| it.id).chain([world.id()]).collect();
    assert_eq!(found(GrantQuery::Each(&some)).await, expected(&|it| some.contains(&it.id)));
    for user in [ada, bob] {
        assert_eq!(found(GrantQuery::OfUser(user.id)).await, expected(&|it| it.user_id == user.id));
    }
    for role in [buyer, seller] {
        assert_eq!(found(GrantQuery::OfRole(role.id)).await, expected(&|it| it.role_id == role.id));
    }
    for organization in [root, leaf] {
        let here = expected(&|it| it.organization_id == Some(organization.id));
        assert_eq!(found(GrantQuery::In(organization.id)).await, here);
    }
    let unknown_user: UserId = world.id();
    let unknown_role: RoleId = world.id();
    for which in [
        GrantQuery::One(world.id()),
        GrantQuery::OfUser(unknown_user),
        GrantQuery::OfRole(unknown_role),
        GrantQuery::In(world.id()),
        GrantQuery::OfDirectory(world.id()),
        GrantQuery::OfAccessRequests(&[]),
        GrantQuery::OfAccessRequests(&[world.id()]),
        GrantQuery::Each(&[]),
        GrantQuery::At(&[]),
        GrantQuery::At(&[GrantContext { user: unknown_user, role: buyer.id, organization: None }]),
        GrantQuery::Expired { at: world.now() - TimeDelta::days(365), limit: 10 },
    ] {
        assert_eq!(found(which).await, [], "{which:?}");
    }
}

/// A context matches as a whole, with and without an organization. A context that matches only in part finds nothing.
pub async fn grants_are_found_by_their_whole_context(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (ada, bob) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "b@example.com").await);
    let (buyer, seller) = (world.role(&tenant, "BUYER", &[]).await, world.role(&tenant, "SELLER", &[]).await);
    let root = world.organization(&tenant, "root").await;
    let leaf = world.below(&root, "leaf").await;
    let context = |user: &User, role: &Role, organization: Option<&Organization>| GrantContext {
        user: user.id,
        role: role.id,
        organization: organization.map(|organization| organization.id),
    };
    let wide = world.give(&ada, &buyer, None).await;
    world.tick();
    let scoped = world.give_until(&ada, &buyer, Some(&leaf), Some(world.now())).await;
    world.tick();
    let other = world.give(&bob, &seller, Some(&root)).await;
    let at = async |contexts: &[GrantContext]| ids(&world.grants(tenant.id, GrantQuery::At(contexts)).await);
    assert_eq!(at(&[context(&ada, &buyer, None)]).await, [wide.id]);
    assert_eq!(at(&[context(&ada, &buyer, Some(&leaf))]).await, [scoped.id]);
    let all = [context(&ada, &buyer, None), context(&bob, &seller, Some(&root)), context(&ada, &buyer, Some(&leaf))];
    assert_eq!(at(&all).await, [other.id, scoped.id, wide.id]);
    assert_eq!(at(&[all[0], all[0], all[1]]).await, [other.id, wide.id]);
    let crossed = [
        context(&ada, &seller, Some(&root)),
        context(&bob, &buyer, Some(&leaf)),
        context(&ada, &buyer, Some(&root)),
        context(&bob, &seller, None),
        context(&bob, &seller, Some(&leaf)),
        context(&bob, &buyer, None),
    ];
    assert_eq!(at(&crossed).await, []);

    let users = crowd(&world, &tenant, MAX_BULK).await;
    let mut many: Vec<GrantContext> = users.iter().map(|user| context(user, &buyer, Some(&leaf))).collect();
    assert_eq!(at(&many).await, []);
    many[MAX_BULK - 1] = all[2];
    assert_eq!(at(&many).await, [scoped.id]);
}

/// An assignment is expired from the exact millisecond of its expiry on. The earliest expiry comes first, and at most
/// as many assignments are returned as the limit.
pub async fn assignments_expire_to_the_millisecond(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let role = world.role(&tenant, "BUYER", &[]).await;
    let at = world.now();
    let mut given = Vec::new();
    for (number, millis) in [Some(-2), Some(0), None, Some(-1_000), Some(1)].into_iter().enumerate() {
        let user = world.user(&tenant, &format!("u{number}@example.com")).await;
        let expires_at = millis.map(|millis| at + TimeDelta::milliseconds(millis));
        given.push(world.give_until(&user, &role, None, expires_at).await.id);
        world.tick();
    }
    let expired = async |tenant: TenantId, millis, limit| {
        let at = at + TimeDelta::milliseconds(millis);
        ids(&world.grants(tenant, GrantQuery::Expired { at, limit }).await)
    };
    assert_eq!(expired(tenant.id, -1, 100).await, [given[3], given[0]]);
    assert_eq!(expired(tenant.id, 0, 100).await, [given[3], given[0], given[1]]);
    assert_eq!(expired(tenant.id, 0, 2).await, [given[3], given[0]]);
    assert_eq!(expired(tenant.id, 1, 100).await, [given[3], given[0], given[1], given[4]]);
    assert_eq!(expired(tenant.id, -1_001, 100).await, []);
    assert_eq!(expired(other.id, 1, 100).await, []);
}

/// Each tenant with expired assignments is listed once, to the millisecond, and at most as many tenants as the limit.
pub async fn tenants_with_expired_assignments_are_listed_once(store: Arc<dyn Store>) {
    let world = World::new(store);
    let mut tenants = Vec::new();
    let expiry = world.now();
    for (number, expiries) in [[Some(expiry), Some(expiry)], [None, None], [None, Some(expiry)]].into_iter().enumerate()
    {
        let tenant = world.tenant(&format!("tenant-{number}")).await;
        let role = world.role(&tenant, "BUYER", &[]).await;
        for (number, expires_at) in expiries.into_iter().enumerate() {
            let user = world.user(&tenant, &format!("u{number}@example.com")).await;
            world.give_until(&user, &role, None, expires_at).await;
        }
        tenants.push(tenant.id);
    }
    world.tenant("empty").await;
    let found = async |now: Timestamp, limit| {
        sorted(world.store.tenants_with_expired_assignments(now, limit).await.unwrap(), |tenant| tenant)
    };
    assert_eq!(found(expiry - TimeDelta::milliseconds(1), 10).await, []);
    assert_eq!(found(expiry, 10).await, [tenants[0], tenants[2]]);
    assert_eq!(found(expiry, 2).await, [tenants[0], tenants[2]]);
    let one = found(expiry, 1).await;
    assert!(matches!(one[..], [tenant] if tenant == tenants[0] || tenant == tenants[2]));

    let grants = world.grants(tenants[0], GrantQuery::Expired { at: expiry, limit: 10 }).await;
    world.commit(tenants[0], AssignmentChange::Revoke { grants, reason: None }).await;
    assert_eq!(found(expiry, 10).await, [tenants[2]]);
}

/// A list shows each assignment with its user's e-mail, its role and its organization.
pub async fn list_shows_email_role_and_organization(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "Ada@Example.com").await;
    let role = world.role(&tenant, "BUYER", &["orders:read", "orders:create"]).await;
    let bare = world.role(&tenant, "SELLER", &[]).await;
    let branch = world.organization(&tenant, "branch").await;
    let branch = world.set_status(&branch, OrganizationStatus::Suspended).await;
    let wide = Assignment {
        created_by: Some(user.id),
        expires_at: Some(world.now() + TimeDelta::milliseconds(1)),
        directory_group_id: Some(world.id()),
        ..world.new_assignment(&user, &role, None)
    };
    let wide = world.assign(wide, &role).await;
    world.tick();
    let scoped = world.give(&user, &bare, Some(&branch)).await;
    let organization = Some(OrganizationSummary { id: branch.id, name: branch.name.as_str().to_owned() });
    let mut expected = vec![
        ListedAssignment { assignment: scoped, user: user.summary(), role: bare.summary(), organization },
        ListedAssignment { assignment: wide, user: user.summary(), role: role.summary(), organization: None },
    ];
    let robot = User { kind: UserKind::Service, ..world.new_user(&tenant, "robot@service.invalid") };
    let robot = world.add(robot).await;
    assert_eq!(robot.summary().service_name, Some(robot.first_name.clone()));
    let assignment = world.give(&robot, &bare, None).await;
    let of_robot = ListedAssignment { assignment, user: robot.summary(), role: bare.summary(), organization: None };
    expected.insert(1, of_robot);
    let filter = AssignmentFilter { include_expired: true, ..AssignmentFilter::default() };
    assert_eq!(list(&world, &tenant, &filter, &VisibleScope::Tenant).await, expected);
}

/// Each filter alone, and several together, select the assignments for which [`AssignmentFilter::matches`] is true.
pub async fn list_filters_by_every_field(store: Arc<dyn Store>) {
    let world = World::new(store);
    let fixture = Fixture::new(&world).await;
    let now = world.now();
    let plain = AssignmentFilter::default;
    let mut filters = vec![plain()];
    for user in &fixture.users {
        filters.push(AssignmentFilter { user: Some(user.id), ..plain() });
    }
    for role in &fixture.roles {
        filters.push(AssignmentFilter { role: Some(role.id), ..plain() });
        filters.push(AssignmentFilter { role: Some(role.id), user: Some(fixture.users[0].id), ..plain() });
    }
    for organization in &fixture.organizations {
        let organization = Some(organization.id);
        filters.push(AssignmentFilter { organization, ..plain() });
        filters.push(AssignmentFilter { organization, user: Some(fixture.users[1].id), ..plain() });
        filters.push(AssignmentFilter { organization, role: Some(fixture.roles[0].id), ..plain() });
    }
    // An end is before the moment, and not at it.
    let ends: BTreeSet<Timestamp> = fixture.assignments.iter().filter_map(|it| it.expires_at).collect();
    for end in ends {
        for moment in [end, end + TimeDelta::milliseconds(1)] {
            let ends_before = Some(moment);
            filters.push(AssignmentFilter { ends_before, ..plain() });
            filters.push(AssignmentFilter { ends_before, user: Some(fixture.users[0].id), ..plain() });
        }
    }
    filters.push(AssignmentFilter { user: Some(world.id()), ..plain() });
    filters.push(AssignmentFilter { role: Some(world.id()), ..plain() });
    filters.push(AssignmentFilter { organization: Some(world.id()), ..plain() });
    let mut seen = BTreeSet::new();
    for filter in filters {
        for include_expired in [false, true] {
            let filter = AssignmentFilter { include_expired, ..filter.clone() };
            let found = list(&world, &fixture.tenant, &filter, &VisibleScope::Tenant).await;
            let expected = fixture.newest_first(&|it| filter.matches(it, now));
            assert_eq!(listed_ids(&found), expected, "{filter:?}");
            seen.insert(expected.len());
        }
    }
    assert!(seen.len() > 4, "the filters select different numbers of assignments: {seen:?}");
}

/// An assignment leaves the list at the exact millisecond of its expiry, unless the filter includes expired ones.
pub async fn list_shows_expired_assignments_on_demand(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let role = world.role(&tenant, "BUYER", &[]).await;
    let branch = world.organization(&tenant, "branch").await;
    let expiry = world.now() + TimeDelta::milliseconds(1);
    world.give_until(&user, &role, Some(&branch), Some(expiry)).await;
    for visible_scope in [VisibleScope::Tenant, within(&[&branch])] {
        for (millis, include_expired, count) in
            [(-1, false, 1), (0, false, 0), (1, false, 0), (-1, true, 1), (0, true, 1), (1, true, 1)]
        {
            let filter = AssignmentFilter { include_expired, ..AssignmentFilter::default() };
            let now = expiry + TimeDelta::milliseconds(millis);
            let found = world.store.assignments(tenant.id, &filter, &visible_scope, everything(), now).await.unwrap();
            assert_eq!((found.total, found.items.len()), (count, usize::try_from(count).unwrap()), "{millis}");
        }
    }
}

/// The assignments that expire within a time are found to the millisecond, earliest expiry first, then by id, in the
/// visible scope.
pub async fn expiring_assignments_are_found_by_their_expiry(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (user, stranger) = (world.user(&tenant, "ada@example.com").await, world.user(&other, "ada@example.com").await);
    let (root, branch) = (world.organization(&tenant, "root").await, world.organization(&tenant, "branch").await);
    let (now, until) = (world.now(), world.now() + TimeDelta::days(7));
    let millisecond = TimeDelta::milliseconds(1);
    let role = world.role(&other, "BUYER", &[]).await;
    world.give_until(&stranger, &role, None, Some(until)).await;
    let mut given = Vec::new();
    for (number, (organization, end)) in [
        (None, None),
        (None, Some(until + millisecond)),
        (Some(&root), Some(until)),
        (Some(&branch), Some(until)),
        (None, Some(now + millisecond)),
        (Some(&root), Some(now)),
    ]
    .into_iter()
    .enumerate()
    {
        let role = world.role(&tenant, &format!("ROLE_{number}"), &[]).await;
        let assignment = world.new_assignment(&user, &role, organization.map(|organization| organization.id));
        let directory_group_id = (number % 2 == 0).then(|| world.id());
        given.push(world.assign(Assignment { expires_at: end, directory_group_id, ..assignment }, &role).await);
    }
    let mut both = [given[2].id, given[3].id];
    both.sort();
    let find = async |scope: &VisibleScope, limit| {
        listed_ids(&world.store.expiring_assignments(tenant.id, scope, now, until, limit).await.unwrap())
    };
    assert_eq!(find(&VisibleScope::Tenant, 10).await, [given[4].id, both[0], both[1]]);
    assert_eq!(find(&VisibleScope::Tenant, 2).await, [given[4].id, both[0]]);
    assert_eq!(find(&within(&[&branch]), 10).await, [given[3].id]);
    let before = async |moment, include_expired, scope: &VisibleScope| {
        let filter = AssignmentFilter { ends_before: Some(moment), include_expired, ..AssignmentFilter::default() };
        sorted(listed_ids(&list(&world, &tenant, &filter, scope).await), |id| id)
    };
    let of = |numbers: &[usize]| sorted(numbers.iter().map(|number| given[*number].id).collect(), |id| id);
    let scope = VisibleScope::Tenant;
    assert_eq!(before(until, false, &scope).await, of(&[4]));
    assert_eq!(before(until + millisecond, false, &scope).await, of(&[2, 3, 4]));
    assert_eq!(before(until + millisecond, true, &scope).await, of(&[2, 3, 4, 5]));
    assert_eq!(before(until + millisecond, false, &within(&[&root])).await, of(&[2]));
    let found = world.store.expiring_assignments(tenant.id, &within(&[&root]), now, until, 10).await.unwrap();
    let listed = list(&world, &tenant, &AssignmentFilter::default(), &within(&[&root])).await;
    assert_eq!(found, listed.into_iter().filter(|it| it.assignment.id == given[2].id).collect::<Vec<_>>());
}

/// Pages follow each other without gaps or repetitions, newest first, then by id, and have the total, with and
/// without a limited visible scope.
pub async fn list_pages_and_counts(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "BUYER", &["orders:read", "orders:create"]).await;
    let root = world.organization(&tenant, "root").await;
    let leaf = world.below(&root, "leaf").await;
    for number in 0..8 {
        if number % 3 == 0 {
            world.tick();
        }
        let user = world.user(&tenant, &format!("u{number}@example.com")).await;
        world.give(&user, &role, Some(if number % 2 == 0 { &root } else { &leaf })).await;
        world.give(&user, &role, None).await;
        let other = world.role(&tenant, &format!("OTHER_{number}"), &["orders:read"]).await;
        world.give_until(&user, &other, Some(&leaf), Some(world.now())).await;
    }
    let filter = AssignmentFilter::default();
    for (visible_scope, count) in [(VisibleScope::Tenant, 16), (within(&[&root]), 8), (within(&[&root, &leaf]), 8)] {
        let mut all = list(&world, &tenant, &filter, &visible_scope).await;
        assert_eq!(all.len(), count);
        let pages = all.clone();
        all.sort_by_key(|it| (Reverse(it.assignment.created_at), it.assignment.id));
        assert_eq!(pages, all);
        assert_pages(&all, async |page| {
            world.store.assignments(tenant.id, &filter, &visible_scope, page, world.now()).await.unwrap()
        })
        .await;
    }
}

/// The totals are right after every change, and to the millisecond of an expiry.
pub async fn counts_follow_every_change(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (user, stranger) = (world.user(&tenant, "ada@example.com").await, world.user(&other, "ada@example.com").await);
    world.give(&stranger, &world.role(&other, "BUYER", &[]).await, None).await;
    let roles = [
        world.role(&tenant, "BUYER", &[]).await,
        world.role(&tenant, "SELLER", &[]).await,
        world.role(&tenant, "CLERK", &[]).await,
    ];
    let counts = async || {
        let mut counts = [0; 2];
        for (count, include_expired) in counts.iter_mut().zip([false, true]) {
            let filter = AssignmentFilter { include_expired, ..AssignmentFilter::default() };
            let page = PageRequest::new(1, 1).unwrap();
            let found = world.store.assignments(tenant.id, &filter, &VisibleScope::Tenant, page, world.now()).await;
            *count = found.unwrap().total;
        }
        counts
    };
    assert_eq!(counts().await, [0, 0]);
    let until = world.now() + TimeDelta::milliseconds(1);
    for role in &roles {
        world.give_until(&user, role, None, Some(until)).await;
    }
    assert_eq!(counts().await, [3, 3]);
    let assignment = world.grants(tenant.id, GrantQuery::OfRole(roles[0].id)).await.remove(0).assignment;
    world.commit(tenant.id, expiring(&assignment, &roles[0], None)).await;
    world.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(counts().await, [1, 3]);
    let grants = world.grants(tenant.id, GrantQuery::Expired { at: world.now(), limit: 10 }).await;
    world.commit(tenant.id, AssignmentChange::Revoke { grants, reason: None }).await;
    assert_eq!(counts().await, [1, 1]);
}

/// The visible scope of organizations has the assignments in them and below them. It has no assignments beside or
/// above them, no tenant-wide ones, and none of another tenant.
pub async fn list_stays_within_the_visible_scope(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let role = world.role(&tenant, "BUYER", &[]).await;
    let user = world.user(&tenant, "ada@example.com").await;
    let root = world.organization(&tenant, "root").await;
    let (left, right) = (world.below(&root, "left").await, world.below(&root, "right").await);
    let leaf = world.below(&left, "leaf").await;
    let foreign = world.organization(&other, "foreign").await;
    world.give(&user, &role, None).await;
    let [of_root, of_left, of_right, of_leaf] = [
        world.give(&user, &role, Some(&root)).await.id,
        world.give(&user, &role, Some(&left)).await.id,
        world.give(&user, &role, Some(&right)).await.id,
        world.give(&user, &role, Some(&leaf)).await.id,
    ];
    world.set_status(&left, OrganizationStatus::Suspended).await;
    let plain = AssignmentFilter::default;
    for (visible_scope, filter, expected) in [
        (within(&[&root]), plain(), vec![of_root, of_left, of_right, of_leaf]),
        (within(&[&left]), plain(), vec![of_left, of_leaf]),
        (within(&[&leaf]), plain(), vec![of_leaf]),
        (within(&[&leaf, &left, &left]), plain(), vec![of_left, of_leaf]),
        (within(&[&right, &leaf]), plain(), vec![of_right, of_leaf]),
        (within(&[&left]), AssignmentFilter { organization: Some(leaf.id), ..plain() }, vec![of_leaf]),
        (within(&[&left]), AssignmentFilter { organization: Some(right.id), ..plain() }, vec![]),
        (within(&[&left]), AssignmentFilter { user: Some(user.id), ..plain() }, vec![of_left, of_leaf]),
        (within(&[&foreign]), plain(), vec![]),
        (VisibleScope::Organizations(vec![world.id()]), plain(), vec![]),
    ] {
        assert_eq!(
            listed_ids(&list(&world, &tenant, &filter, &visible_scope).await),
            expected,
            "{visible_scope:?} {filter:?}"
        );
    }
}

/// A role is held in an organization until the latest end of its assignments there. Assignments elsewhere and expired
/// assignments do not count.
pub async fn roles_are_held_in_organizations_until_their_latest_end(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let buyer = world.role(&tenant, "BUYER", &["orders:read", "orders:create"]).await;
    let seller = world.role(&tenant, "SELLER", &[]).await;
    let root = world.organization(&tenant, "root").await;
    let (leaf, beside) = (world.below(&root, "leaf").await, world.organization(&tenant, "beside").await);
    let now = world.now();
    let soon = now + TimeDelta::milliseconds(1);
    let later = now + TimeDelta::days(1);
    for (number, (role, organization, expires_at)) in [
        (&buyer, Some(&root), Some(later)),
        (&buyer, Some(&root), Some(soon)),
        (&buyer, Some(&root), Some(now)),
        (&seller, Some(&root), Some(later)),
        (&seller, Some(&root), None),
        (&buyer, Some(&leaf), Some(soon)),
        (&seller, Some(&leaf), Some(now)),
        (&seller, Some(&beside), None),
        (&buyer, None, None),
    ]
    .into_iter()
    .enumerate()
    {
        let user = world.user(&tenant, &format!("u{number}@example.com")).await;
        world.give_until(&user, role, organization, expires_at).await;
    }
    let held = async |tenant: TenantId, organizations: &[OrganizationId], now| {
        let read = world.locked(tenant, async |locks| locks.roles_held_in(organizations, now).await.unwrap());
        let found = read.await;
        for held in &found {
            assert!([&buyer, &seller].contains(&&*held.role));
        }
        sorted(found, |held| (held.organization, held.role.id, held.until))
    };
    let (root, leaf, beside) = (root.id, leaf.id, beside.id);
    let in_root = [(root, buyer.id, Until::Moment(later)), (root, seller.id, Until::Forever)];
    let in_leaf = [(leaf, buyer.id, Until::Moment(soon))];
    assert_eq!(held(tenant.id, &[root], now).await, in_root);
    assert_eq!(held(tenant.id, &[leaf], now).await, in_leaf);
    assert_eq!(held(tenant.id, &[leaf, root, leaf], now).await, [&in_root[..], &in_leaf[..]].concat());
    assert_eq!(held(tenant.id, &[root], soon).await, in_root);
    assert_eq!(held(tenant.id, &[leaf], soon).await, []);
    assert_eq!(held(tenant.id, &[root], later).await, in_root[1..]);
    assert_eq!(held(tenant.id, &[beside], later).await, [(beside, seller.id, Until::Forever)]);
    assert_eq!(held(tenant.id, &[], now).await, []);
    assert_eq!(held(tenant.id, &[world.id()], now).await, []);
    assert_eq!(held(other.id, &[root, leaf], now).await, []);
}

/// Roles are held until the latest end of all their assignments. An assignment without expiry ends later than any
/// other. Expired assignments do not count. Without assignments the result is `None`.
pub async fn roles_are_held_until_their_latest_end(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let branch = world.organization(&tenant, "branch").await;
    let now = world.now();
    let (soon, later) = (now + TimeDelta::milliseconds(1), now + TimeDelta::days(1));
    let mut roles = Vec::new();
    for (number, expiries) in [
        vec![],
        vec![Some(now)],
        vec![Some(soon), Some(now)],
        vec![Some(soon), Some(later)],
        vec![Some(later), None, Some(now)],
    ]
    .into_iter()
    .enumerate()
    {
        let role = world.role(&tenant, &format!("ROLE_{number}"), &["orders:read", "orders:create"]).await;
        for (holder, expires_at) in expiries.into_iter().enumerate() {
            let user = world.user(&tenant, &format!("u{number}.{holder}@example.com")).await;
            world.give_until(&user, &role, (holder == 1).then_some(&branch), expires_at).await;
        }
        roles.push(role.id);
    }
    let held = async |tenant: TenantId, roles: &[RoleId], now| {
        world.locked(tenant, async |locks| locks.roles_held_until(roles, now).await.unwrap()).await
    };
    let before = now - TimeDelta::milliseconds(1);
    for (asked, at, expected) in [
        (vec![], now, None),
        (vec![world.id()], now, None),
        (vec![roles[0]], now, None),
        (vec![roles[1]], now, None),
        (vec![roles[1]], before, Some(Until::Moment(now))),
        (vec![roles[2]], now, Some(Until::Moment(soon))),
        (vec![roles[2]], soon, None),
        (vec![roles[3]], now, Some(Until::Moment(later))),
        (vec![roles[4]], now, Some(Until::Forever)),
        (vec![roles[4]], later, Some(Until::Forever)),
        (vec![roles[2], roles[0], roles[3]], now, Some(Until::Moment(later))),
        (vec![roles[1], roles[4], roles[3]], now, Some(Until::Forever)),
    ] {
        assert_eq!(held(tenant.id, &asked, at).await, expected, "{asked:?} {at}");
    }
    assert_eq!(held(other.id, &roles, now).await, None);
}

/// Another administrator is an ACTIVE person who holds TENANT_ADMIN tenant-wide and without expiry: a service account
/// cannot log in.
pub async fn another_administrator_is_active_and_permanent(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, elsewhere) = (world.tenant("acme").await, world.tenant("other").await);
    let roles = world.roles(&tenant).await;
    let admin = named(&roles, "TENANT_ADMIN");
    let first = world.user(&tenant, "first@example.com").await;
    world.give(&first, admin, None).await;
    let expiring = world.user(&tenant, "expiring@example.com").await;
    world.give_until(&expiring, admin, None, Some(world.now() + TimeDelta::days(1))).await;
    let auditor = world.user(&tenant, "auditor@example.com").await;
    world.give(&auditor, named(&roles, "AUDITOR"), None).await;
    world.give(&auditor, &world.role(&tenant, "ALMIGHTY", &["*"]).await, None).await;
    let scoped = world.user(&tenant, "scoped@example.com").await;
    world.give(&scoped, admin, Some(&world.organization(&tenant, "branch").await)).await;
    let robot = User { kind: UserKind::Service, ..world.new_user(&tenant, "robot@service.invalid") };
    let robot = world.add(robot).await;
    world.give(&robot, admin, None).await;
    let foreign = world.user(&elsewhere, "foreign@example.com").await;
    world.give(&foreign, named(&world.roles(&elsewhere).await, "TENANT_ADMIN"), None).await;
    assert!(!has_other(&world, &first).await);
    assert!(has_other(&world, &auditor).await);

    let second = world.user(&tenant, "second@example.com").await;
    world.give(&second, admin, None).await;
    assert!(has_other(&world, &first).await);
    let after = User { status: UserStatus::Suspended, ..second.clone() };
    let suspend = UserChange::ChangeStatus { before: second, after, grants: None };
    world.commit(tenant.id, suspend).await;
    assert!(!has_other(&world, &first).await);
}

async fn has_other(world: &World, than: &User) -> bool {
    world.locked(than.tenant_id, async |locks| locks.has_other_administrator(than.id).await.unwrap()).await
}

/// An assignment cannot refer to a user, a role or an organization that is missing or of another tenant, even if the
/// calling code is wrong.
pub async fn references_to_another_tenant_are_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (own, foreign) = (world.roles(&acme).await, world.roles(&other).await);
    let (user, foreign_user) = (world.user(&acme, "a@example.com").await, world.user(&other, "b@example.com").await);
    let foreign_branch = world.organization(&other, "branch").await;
    let (member, foreign_member) = (named(&own, "MEMBER"), named(&foreign, "MEMBER"));
    let (missing_user, missing_role) = (world.new_user(&acme, "c@example.com"), world.new_role(&acme, "NOTHING", &[]));
    let attempts = [
        (world.new_assignment(&foreign_user, member, None), member),
        (world.new_assignment(&user, foreign_member, None), foreign_member),
        (world.new_assignment(&user, member, Some(foreign_branch.id)), member),
        (world.new_assignment(&missing_user, member, None), member),
        (world.new_assignment(&user, &missing_role, None), &missing_role),
        (world.new_assignment(&user, member, Some(world.id())), member),
    ];
    for (assignment, role) in attempts {
        let refused = world.try_commit(acme.id, [assigning([assignment], role).into()]).await;
        assert_conflict(&refused, Constraint::Reference);
    }
}

/// An assignment is not found in another tenant, by any query, for reads and for writes.
pub async fn rows_of_another_tenant_are_not_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let fixture = Fixture::new(&world).await;
    let other = world.tenant("other").await;
    let assignment = &fixture.assignments[0];
    let contexts: Vec<GrantContext> = fixture.assignments.iter().map(Assignment::context).collect();
    let users: Vec<UserId> = fixture.users.iter().map(|user| user.id).collect();
    for which in [
        GrantQuery::One(assignment.id),
        GrantQuery::OfUser(assignment.user_id),
        GrantQuery::OfRole(assignment.role_id),
        GrantQuery::In(fixture.organizations[0].id),
        GrantQuery::At(&contexts),
        GrantQuery::Expired { at: world.now(), limit: 100 },
    ] {
        assert_eq!(world.grants(other.id, which).await, [], "{which:?}");
        assert_ne!(world.grants(fixture.tenant.id, which).await, [], "{which:?}");
    }
    assert_eq!(world.store.grants_of(other.id, &users).await.unwrap(), []);
    let filters = [
        AssignmentFilter { include_expired: true, ..AssignmentFilter::default() },
        AssignmentFilter { user: Some(assignment.user_id), ..AssignmentFilter::default() },
    ];
    for filter in filters {
        for visible_scope in [VisibleScope::Tenant, within(&[&fixture.organizations[0]])] {
            assert_eq!(list(&world, &other, &filter, &visible_scope).await, []);
        }
    }
    let grants = world.store.grants_of(fixture.tenant.id, &users).await.unwrap();
    // The store may refuse the change or find nothing to revoke. In both cases the assignments of the first tenant
    // stay.
    drop(world.try_commit(other.id, [AssignmentChange::Revoke { grants: grants.clone(), reason: None }.into()]).await);
    assert_eq!(world.store.grants_of(fixture.tenant.id, &users).await.unwrap(), grants);
}

/// A unit of work reads its own changes. No other reader sees them before the commit.
pub async fn a_unit_of_work_reads_its_own_changes(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let role = world.role(&tenant, "BUYER", &[]).await;
    let branch = world.organization(&tenant, "branch").await;
    let assignment = world.new_assignment(&user, &role, Some(branch.id));
    let caller = Caller::system(tenant.id, "conformance");
    let mut work = world.begin(caller.author()).await;
    work.apply(assigning([assignment.clone()], &role)).await.unwrap();
    let suspended = Organization { status: OrganizationStatus::Suspended, ..branch.clone() };
    work.apply(crate::world::update(&branch, &suspended)).await.unwrap();
    let grants = work.reads().grants(GrantQuery::OfUser(user.id)).await.unwrap();
    assert_eq!(ids(&grants), [assignment.id]);
    assert!(!grants[0].organization.as_ref().unwrap().is_lineage_active);
    let until = work.reads().roles_held_until(&[role.id], world.now()).await.unwrap();
    assert_eq!(until, Some(Until::Forever));
    assert_eq!(work.reads().roles_held_in(&[branch.id], world.now()).await.unwrap().len(), 1);
    assert_eq!(world.store.grants_of(tenant.id, &[user.id]).await.unwrap(), [], "other readers do not see it");
    work.apply(AssignmentChange::Revoke { grants, reason: None }).await.unwrap();
    assert_eq!(work.reads().roles_held_until(&[role.id], world.now()).await.unwrap(), None);
}

/// Two users with two roles, tenant-wide and in two organizations, one of which is below the other. Almost every
/// combination is assigned, and every third assignment is expired.
struct Fixture {
    tenant: Tenant,
    users: [User; 2],
    roles: [Role; 2],
    organizations: [Organization; 2],
    assignments: Vec<Assignment>,
}

impl Fixture {
    async fn new(world: &World) -> Self {
        let tenant = world.tenant("acme").await;
        let users = [world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await];
        let roles = [
            world.role(&tenant, "BUYER", &["orders:read", "orders:create"]).await,
            world.role(&tenant, "SELLER", &[]).await,
        ];
        let root = world.organization(&tenant, "root").await;
        let leaf = world.below(&root, "leaf").await;
        let mut assignments = Vec::new();
        for (user, role, organization) in [
            (0, 0, Some(&root)),
            (1, 0, Some(&root)),
            (0, 1, None),
            (1, 1, Some(&leaf)),
            (0, 0, None),
            (0, 1, Some(&root)),
            (1, 0, None),
            (0, 0, Some(&leaf)),
            (1, 1, Some(&root)),
        ] {
            if assignments.len() % 2 == 0 {
                world.tick();
            }
            let expires_at = (assignments.len() % 3 == 0).then_some(world.now());
            assignments.push(world.give_until(&users[user], &roles[role], organization, expires_at).await);
        }
        Self { tenant, users, roles, organizations: [root, leaf], assignments }
    }

    /// The ids of the wanted assignments, in the order of a list.
    fn newest_first(&self, wanted: &dyn Fn(&Assignment) -> bool) -> Vec<AssignmentId> {
        let mut found: Vec<&Assignment> = self.assignments.iter().filter(|assignment| wanted(assignment)).collect();
        found.sort_by_key(|assignment| (Reverse(assignment.created_at), assignment.id));
        found.into_iter().map(|assignment| assignment.id).collect()
    }
}

/// Creates many users in one unit of work.
async fn crowd(world: &World, tenant: &Tenant, size: usize) -> Vec<User> {
    let users: Vec<User> =
        (0..size).map(|number| world.new_user(tenant, &format!("crowd{number}@example.com"))).collect();
    world.try_commit(tenant.id, users.iter().map(crate::world::create)).await.unwrap();
    users
}

fn ids(grants: &[Grant]) -> Vec<AssignmentId> {
    grants.iter().map(|grant| grant.assignment.id).collect()
}

fn listed_ids(listed: &[ListedAssignment]) -> Vec<AssignmentId> {
    listed.iter().map(|listed| listed.assignment.id).collect()
}

async fn list(
    world: &World,
    tenant: &Tenant,
    filter: &AssignmentFilter,
    visible_scope: &VisibleScope,
) -> Vec<ListedAssignment> {
    let found = world.store.assignments(tenant.id, filter, visible_scope, everything(), world.now()).await;
    let Page { items, total, .. } = found.unwrap();
    assert_eq!(total, items.len() as u64);
    items
}
