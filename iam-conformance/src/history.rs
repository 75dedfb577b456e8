//! Past versions: a replaced or removed row is kept with the moment of its end.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::access::VisibleScope;
use iam_model::assignment::{Assignment, AssignmentFilter, Grant};
use iam_model::change::{AssignmentChange, RoleChange, UserChange};
use iam_model::clock::Timestamp;
use iam_model::history::{Past, PastStatus};
use iam_model::id::{OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::OrganizationStatus;
use iam_model::page::PageRequest;
use iam_model::role::Role;
use iam_model::store::{HolderQuery, Store};
use iam_model::user::{User, UserStatus};

use crate::world::{World, everything, expiring, updating};

/// The versions of an assignment are kept when its expiry or its group changes and when it is revoked.
pub async fn past_assignments_are_kept(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "READER", &["users:read"]).await;
    let organization = world.organization(&tenant, "root").await;
    let (ada, bob) = (world.user(&tenant, "a@example.com").await, world.user(&tenant, "b@example.com").await);
    let first = world.new_assignment(&ada, &role, Some(organization.id));
    let (created_by, directory_group_id) = (Some(bob.id), Some(world.id()));
    let (access_request_id, expires_at) = (Some(world.id()), Some(world.now() + TimeDelta::hours(1)));
    let first = Assignment { created_by, directory_group_id, access_request_id, expires_at, ..first };
    let first = world.assign(first, &role).await;
    let others = world.give(&bob, &role, None).await;
    world.tick();
    let (changed_at, expires_at) = (world.now(), Some(world.now() + TimeDelta::days(1)));
    let second = Assignment { expires_at, directory_group_id: Some(world.id()), ..first.clone() };
    world.commit(tenant.id, updating(&first, &role, &second)).await;
    world.tick();
    let revoked_at = world.now();
    revoke(&world, &role, [&second, &others]).await;

    let kept = [
        Past { version: first.clone(), until: changed_at },
        Past { version: second.clone(), until: revoked_at },
        Past { version: others.clone(), until: revoked_at },
    ];
    let of = async |users: &[UserId], after| {
        let mut found = world.store.past_assignments_of(tenant.id, users, after).await.unwrap();
        found.sort_by_key(|past| (past.until, past.version.id));
        found
    };
    let before = changed_at - TimeDelta::milliseconds(1);
    let mut all = kept.clone();
    all.sort_by_key(|past| (past.until, past.version.id));
    assert_eq!(of(&[bob.id, ada.id, world.id()], before).await, all);
    assert_eq!(of(&[ada.id], before).await, kept[..2]);
    assert_eq!(of(&[ada.id], changed_at).await, kept[1..2]);
    assert_eq!(of(&[ada.id, bob.id], revoked_at).await, []);
    assert_eq!(of(&[], before).await, []);
}

/// The versions of roles, organizations and statuses are kept when they change and when they are deleted.
pub async fn past_versions_are_kept(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let start = world.now();
    let role = world.role(&tenant, "READER", &["users:read", "roles:*"]).await;
    let organization = world.organization(&tenant, "root").await;
    let user = world.user(&tenant, "a@example.com").await;
    world.tick();
    let first_change = world.now();
    let permissions = ["users:update".parse().unwrap()].into_iter().collect();
    let second_role = Role { permissions, version: role.version.next(), ..role.clone() };
    world.commit(tenant.id, change_role(&role, &second_role)).await;
    let second_organization = world.set_status(&organization, OrganizationStatus::Suspended).await;
    let suspended = User { status: UserStatus::Suspended, version: user.version.next(), ..user.clone() };
    world.commit(tenant.id, change_user(&user, &suspended)).await;
    world.tick();
    let second_change = world.now();
    world.commit(tenant.id, RoleChange::Delete(second_role.clone())).await;
    world.set_status(&second_organization, OrganizationStatus::Inactive).await;
    let renamed = User { last_name: "King".parse().unwrap(), version: suspended.version.next(), ..suspended.clone() };
    world.commit(tenant.id, change_user(&suspended, &renamed)).await;
    let inactive = User { status: UserStatus::Inactive, version: renamed.version.next(), ..renamed.clone() };
    world.commit(tenant.id, UserChange::Delete { before: renamed.clone(), after: inactive }).await;

    let past = |version, until| Past { version, until };
    for (after, skipped) in [(start, 0), (first_change, 1), (second_change, 2)] {
        let mut roles = world.store.past_roles(tenant.id, Some(&[role.id, world.id()]), after).await.unwrap();
        roles.sort_by_key(|past| past.until);
        assert_eq!(roles, [past(role.clone(), first_change), past(second_role.clone(), second_change)][skipped..]);
        let mut all = world.store.past_roles(tenant.id, None, after).await.unwrap();
        all.sort_by_key(|past| past.until);
        assert_eq!(all, roles);
        let ids = [organization.id, world.id()];
        let mut organizations = world.store.past_organizations(tenant.id, &ids, after).await.unwrap();
        organizations.sort_by_key(|past| past.until);
        let expected = [organization.clone(), second_organization.clone()];
        let [first, second] = expected;
        assert_eq!(
            organizations,
            [Past { version: first, until: first_change }, Past { version: second, until: second_change }][skipped..]
        );
        let mut statuses = world.store.past_statuses(tenant.id, &[user.id], after).await.unwrap();
        statuses.sort_by_key(|past| past.until);
        let status = |user: &User, until| Past { version: PastStatus::from(user), until };
        assert_eq!(statuses, [status(&user, first_change), status(&suspended, second_change)][skipped..]);
    }
    assert_eq!(world.store.past_roles(tenant.id, Some(&[]), start).await.unwrap(), []);
    assert_eq!(world.store.past_organizations(tenant.id, &[], start).await.unwrap(), []);
    assert_eq!(world.store.past_statuses(tenant.id, &[], start).await.unwrap(), []);
    let other = world.tenant("other").await;
    assert_eq!(world.store.past_roles(other.id, None, start).await.unwrap(), []);
    assert_eq!(world.store.past_organizations(other.id, &[organization.id], start).await.unwrap(), []);
    assert_eq!(world.store.past_statuses(other.id, &[user.id], start).await.unwrap(), []);
    assert_eq!(world.store.past_assignments_of(other.id, &[user.id], start).await.unwrap(), []);
}

/// Of versions that end at the same instant, only the first was ever visible, and only that one is kept.
pub async fn a_version_of_no_duration_is_not_kept(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "READER", &["users:read"]).await;
    let user = world.user(&tenant, "a@example.com").await;
    let start = world.now();
    world.tick();
    let first = world.give(&user, &role, None).await;
    let second = Assignment { expires_at: Some(world.now() + TimeDelta::days(1)), ..first.clone() };
    let changed = Role { name: "OTHER".parse().unwrap(), version: role.version.next(), ..role.clone() };
    world.tick();
    world.commit(tenant.id, expiring(&first, &role, second.expires_at)).await;
    revoke(&world, &role, [&second]).await;
    world.commit(tenant.id, change_role(&role, &changed)).await;
    world.commit(tenant.id, RoleChange::Delete(changed)).await;
    let until = world.now();
    let kept = world.store.past_assignments_of(tenant.id, &[user.id], start).await.unwrap();
    assert_eq!(kept, [Past { version: first, until }]);
    assert_eq!(world.store.past_roles(tenant.id, None, start).await.unwrap(), [Past { version: role, until }]);
}

/// A dropped unit of work keeps no past version.
pub async fn a_dropped_unit_of_work_keeps_nothing(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "READER", &["users:read"]).await;
    let user = world.user(&tenant, "a@example.com").await;
    let assignment = world.give(&user, &role, None).await;
    let start = world.now();
    world.tick();
    let mut work = world.begin(&World::system(tenant.id)).await;
    work.apply(revocation(&role, [&assignment])).await.unwrap();
    work.apply(RoleChange::Delete(role.clone())).await.unwrap();
    drop(work);
    assert_eq!(world.store.past_assignments_of(tenant.id, &[user.id], start).await.unwrap(), []);
    assert_eq!(world.store.past_roles(tenant.id, None, start).await.unwrap(), []);
}

/// The assignments of a past moment are those that existed then, each in the version of that moment.
pub async fn assignments_are_listed_as_they_were(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (reader, writer) = (world.role(&tenant, "READER", &[]).await, world.role(&tenant, "WRITER", &[]).await);
    let root = world.organization(&tenant, "root").await;
    let branch = world.below(&root, "branch").await;
    let (ada, bob) = (world.user(&tenant, "a@example.com").await, world.user(&tenant, "b@example.com").await);
    let before_all = world.now() - TimeDelta::seconds(1);
    let everywhere = world.give(&ada, &reader, None).await;
    world.tick();
    let in_branch = Assignment {
        expires_at: Some(world.now() + TimeDelta::seconds(2)),
        directory_group_id: Some(world.id()),
        access_request_id: Some(world.id()),
        ..world.new_assignment(&bob, &writer, Some(branch.id))
    };
    let in_branch = world.assign(in_branch, &writer).await;
    let then = world.now();
    world.tick();
    let later = world.give(&bob, &reader, None).await;
    let expires_at = Some(world.now() + TimeDelta::days(1));
    let longer = Assignment { expires_at, directory_group_id: Some(world.id()), ..in_branch.clone() };
    world.commit(tenant.id, updating(&in_branch, &writer, &longer)).await;
    world.tick();
    let expired_at = world.now();
    revoke(&world, &reader, [&everywhere]).await;
    world.tick();
    revoke(&world, &writer, [&longer]).await;
    world.commit(tenant.id, RoleChange::Delete(writer.clone())).await;

    let list = async |filter: &AssignmentFilter, scope: &VisibleScope, at| {
        let page = world.store.assignments_at(tenant.id, filter, scope, everything(), at).await.unwrap();
        assert_eq!(page.total, page.items.len() as u64);
        page.items
    };
    let (all, whole) = (AssignmentFilter::default(), VisibleScope::Tenant);
    assert_eq!(list(&all, &whole, before_all).await, []);
    assert_eq!(list(&all, &whole, then).await, [in_branch.clone(), everywhere.clone()]);
    let now = world.now() - TimeDelta::milliseconds(1);
    assert_eq!(
        list(&all, &whole, expired_at - TimeDelta::milliseconds(1)).await,
        [later.clone(), longer.clone(), everywhere.clone()]
    );
    assert_eq!(list(&all, &whole, now).await, [later.clone(), longer.clone()]);
    assert_eq!(list(&all, &whole, world.now()).await, std::slice::from_ref(&later));

    for (filter, expected) in [
        (AssignmentFilter { user: Some(ada.id), ..all.clone() }, vec![everywhere.clone()]),
        (AssignmentFilter { role: Some(writer.id), ..all.clone() }, vec![in_branch.clone()]),
        (AssignmentFilter { organization: Some(branch.id), ..all.clone() }, vec![in_branch.clone()]),
        (AssignmentFilter { organization: Some(root.id), ..all.clone() }, vec![]),
        (AssignmentFilter { user: Some(ada.id), role: Some(writer.id), ..all.clone() }, vec![]),
        // Before the end that it had then, and not the later one.
        (AssignmentFilter { ends_before: Some(then + TimeDelta::hours(1)), ..all.clone() }, vec![in_branch.clone()]),
        (AssignmentFilter { ends_before: Some(then), ..all.clone() }, vec![]),
    ] {
        assert_eq!(list(&filter, &whole, then).await, expected, "{filter:?}");
    }
    assert_eq!(list(&all, &VisibleScope::Organizations(vec![root.id]), then).await, std::slice::from_ref(&in_branch));
    assert_eq!(list(&all, &VisibleScope::Organizations(vec![world.id()]), then).await, []);
    let second = PageRequest::new(2, 1).unwrap();
    let page = world.store.assignments_at(tenant.id, &all, &whole, second, then).await.unwrap();
    assert_eq!((page.items, page.total), (vec![everywhere.clone()], 2));
    let other = world.tenant("other").await;
    assert_eq!(world.store.assignments_at(other.id, &all, &whole, everything(), then).await.unwrap().total, 0);
}

/// An assignment that had expired at a past moment is listed only if expired ones are included.
pub async fn assignments_that_had_expired_are_listed_on_demand(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "READER", &[]).await;
    let user = world.user(&tenant, "a@example.com").await;
    let expiry = world.now() + TimeDelta::seconds(1);
    let assignment = world.give_until(&user, &role, None, Some(expiry)).await;
    world.clock.advance(TimeDelta::seconds(5));
    revoke(&world, &role, [&assignment]).await;
    for (at, include_expired, is_listed) in [
        (expiry - TimeDelta::milliseconds(1), false, true),
        (expiry, false, false),
        (expiry, true, true),
        (world.now(), true, false),
    ] {
        let filter = AssignmentFilter { include_expired, ..AssignmentFilter::default() };
        let found = world.store.assignments_at(tenant.id, &filter, &VisibleScope::Tenant, everything(), at);
        assert_eq!(found.await.unwrap().total == 1, is_listed, "{at} {include_expired}");
    }
}

/// The holders of roles are the ACTIVE users who hold one of them in one of the places, each once, by id.
pub async fn holders_are_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (reader, writer) = (world.role(&tenant, "READER", &[]).await, world.role(&tenant, "WRITER", &[]).await);
    let other_role = world.role(&tenant, "OTHER", &[]).await;
    let (root, other) = (world.organization(&tenant, "root").await, world.organization(&tenant, "other").await);
    let mut users = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        users.push(world.user(&tenant, &format!("{name}@example.com")).await);
    }
    users.sort_by_key(|user| user.id);
    let [ada, bob, cyd, dan, eve] = users.try_into().unwrap();
    world.give(&ada, &reader, None).await;
    world.give(&ada, &writer, Some(&root)).await;
    world.give(&bob, &writer, Some(&root)).await;
    world.give(&cyd, &reader, Some(&other)).await;
    let expiry = world.now() + TimeDelta::seconds(10);
    world.give_until(&dan, &reader, None, Some(expiry)).await;
    world.give(&eve, &reader, None).await;
    world.give(&cyd, &other_role, None).await;
    let suspended = User { status: UserStatus::Suspended, version: eve.version.next(), ..eve.clone() };
    world.commit(tenant.id, change_user(&eve, &suspended)).await;

    let now = world.now();
    let holders = async |roles: &[RoleId], organizations: &[OrganizationId], at| {
        holding(&world, tenant.id, roles, organizations, at).await
    };
    let both = [reader.id, writer.id];
    assert_eq!(holders(&both, &[root.id], now).await, [ada.id, bob.id, dan.id]);
    assert_eq!(holders(&both, &[], now).await, [ada.id, dan.id]);
    assert_eq!(holders(&both, &[root.id, other.id], now).await, [ada.id, bob.id, cyd.id, dan.id]);
    assert_eq!(holders(&[writer.id], &[], now).await, []);
    assert_eq!(holders(&[], &[root.id], now).await, []);
    assert_eq!(holders(&[reader.id], &[], expiry - TimeDelta::milliseconds(1)).await, [ada.id, dan.id]);
    assert_eq!(holders(&[reader.id], &[], expiry).await, [ada.id]);
    let query = HolderQuery { roles: Some(both.to_vec()), organizations: vec![root.id], at: now };
    let page = world.store.holders(tenant.id, &query, PageRequest::new(2, 2).unwrap(), now).await.unwrap();
    assert_eq!((page.items, page.total), (vec![dan.id], 3));
    let of_any_role = async |organizations: &[OrganizationId]| {
        let query = HolderQuery { roles: None, organizations: organizations.to_vec(), at: now };
        found_by(&world, tenant.id, query).await
    };
    assert_eq!(of_any_role(&[]).await, [ada.id, cyd.id, dan.id]);
    assert_eq!(of_any_role(&[root.id]).await, [ada.id, bob.id, cyd.id, dan.id]);
    let other_tenant = world.tenant("other").await;
    assert_eq!(holding(&world, other_tenant.id, &both, &[root.id], now).await, []);
}

/// The holders at a past moment are those of the assignments and statuses of that moment.
pub async fn past_holders_are_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "READER", &[]).await;
    let mut users = Vec::new();
    for name in ["a", "b", "c"] {
        users.push(world.user(&tenant, &format!("{name}@example.com")).await);
    }
    users.sort_by_key(|user| user.id);
    let [ada, bob, cyd] = users.try_into().unwrap();
    let start = world.now();
    world.tick();
    let of_ada = world.give(&ada, &role, None).await;
    world.give(&bob, &role, None).await;
    let given = world.now();
    world.tick();
    let suspended = User { status: UserStatus::Suspended, version: bob.version.next(), ..bob.clone() };
    world.commit(tenant.id, change_user(&bob, &suspended)).await;
    let suspended_at = world.now();
    world.tick();
    revoke(&world, &role, [&of_ada]).await;
    let active = User { status: UserStatus::Active, version: suspended.version.next(), ..suspended.clone() };
    world.commit(tenant.id, change_user(&suspended, &active)).await;
    world.give(&cyd, &role, None).await;
    let last = world.now();
    world.tick();
    let at = async |at| holding(&world, tenant.id, &[role.id], &[], at).await;
    assert_eq!(at(start).await, []);
    assert_eq!(at(given).await, [ada.id, bob.id]);
    assert_eq!(at(suspended_at).await, [ada.id]);
    assert_eq!(at(last).await, [bob.id, cyd.id]);
    let of_any_role = HolderQuery { roles: None, organizations: Vec::new(), at: given };
    assert_eq!(found_by(&world, tenant.id, of_any_role).await, [ada.id, bob.id]);
    assert_eq!(at(world.now()).await, [bob.id, cyd.id]);
}

/// The roles that allow a permission contain it, the wildcard of its resource, or everything.
pub async fn roles_that_allow_a_permission_are_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let other = world.tenant("other").await;
    world.role(&other, "ALL", &["*"]).await;
    let exact = world.role(&tenant, "EXACT", &["roles:read", "users:read"]).await;
    let whole = world.role(&tenant, "WHOLE", &["users:*"]).await;
    let all = world.role(&tenant, "ALL", &["*"]).await;
    let roles = world.role(&tenant, "ROLES", &["roles:*", "users:update"]).await;
    world.role(&tenant, "NONE", &[]).await;
    for (permission, expected) in [
        ("users:read", vec![&exact, &whole, &all]),
        ("users:update", vec![&whole, &all, &roles]),
        ("roles:read", vec![&exact, &all, &roles]),
        ("tenants:read", vec![&all]),
    ] {
        let mut expected: Vec<Role> = expected.into_iter().cloned().collect();
        let mut found = world.store.roles_allowing(tenant.id, &permission.parse().unwrap()).await.unwrap();
        expected.sort_by_key(|role| role.id);
        found.sort_by_key(|role| role.id);
        assert_eq!(found, expected, "{permission}");
    }
    assert_eq!(
        world.store.roles_by_id(tenant.id, &[whole.id, world.id()]).await.unwrap(),
        std::slice::from_ref(&whole)
    );
    assert_eq!(world.store.roles_by_id(tenant.id, &[]).await.unwrap(), []);
    assert_eq!(world.store.roles_by_id(other.id, &[whole.id]).await.unwrap(), []);
}

/// Retention removes the versions that ended at or before the moment up to which entries are removed. The history
/// begins there then.
pub async fn retention_removes_past_versions(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "READER", &["users:read"]).await;
    let user = world.user(&tenant, "a@example.com").await;
    let start = world.now() - TimeDelta::seconds(1);
    let assignment = world.give(&user, &role, None).await;
    let changed = Role { name: "OTHER".parse().unwrap(), version: role.version.next(), ..role.clone() };
    world.tick();
    revoke(&world, &role, [&assignment]).await;
    world.commit(tenant.id, change_role(&role, &changed)).await;
    world.tick();
    let later = world.now();
    world.commit(tenant.id, RoleChange::Delete(changed.clone())).await;
    world.sequence().await;
    assert_eq!(world.store.history_start(tenant.id).await.unwrap(), None);

    for (before, versions) in [(start, 2), (later - TimeDelta::milliseconds(1), 1), (start, 1), (later, 0)] {
        world.commit(tenant.id, world.give_up_before(tenant.id, before).await).await;
        let roles = world.store.past_roles(tenant.id, None, start).await.unwrap();
        assert_eq!(roles.len(), versions, "{before}");
        let assignments = world.store.past_assignments_of(tenant.id, &[user.id], start).await.unwrap();
        assert_eq!(assignments.len(), usize::from(versions == 2), "{before}");
    }
    assert_eq!(world.store.history_start(tenant.id).await.unwrap(), Some(later));
    assert_eq!(world.store.history_start(world.id()).await.unwrap(), None);
}

async fn holding(
    world: &World,
    tenant: TenantId,
    roles: &[RoleId],
    organizations: &[OrganizationId],
    at: Timestamp,
) -> Vec<UserId> {
    let query = HolderQuery { roles: Some(roles.to_vec()), organizations: organizations.to_vec(), at };
    found_by(world, tenant, query).await
}

async fn found_by(world: &World, tenant: TenantId, query: HolderQuery) -> Vec<UserId> {
    let page = world.store.holders(tenant, &query, everything(), world.now()).await.unwrap();
    assert_eq!(page.total, page.items.len() as u64);
    page.items
}

async fn revoke<'a>(world: &World, role: &Role, assignments: impl IntoIterator<Item = &'a Assignment>) {
    world.commit(role.tenant_id, revocation(role, assignments)).await;
}

fn revocation<'a>(role: &Role, assignments: impl IntoIterator<Item = &'a Assignment>) -> AssignmentChange {
    let grant = |assignment: &Assignment| Grant {
        assignment: assignment.clone(),
        role: Arc::new(role.clone()),
        organization: None,
    };
    AssignmentChange::Revoke { grants: assignments.into_iter().map(grant).collect(), reason: None }
}

fn change_role(before: &Role, after: &Role) -> RoleChange {
    RoleChange::Update { before: before.clone(), after: after.clone(), held_until: iam_model::access::Until::Forever }
}

fn change_user(before: &User, after: &User) -> UserChange {
    UserChange::Update { before: before.clone(), after: after.clone(), grants: None, attributes: None }
}
