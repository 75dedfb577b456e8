//! Eligibilities.

use std::cmp::Reverse;
use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::access::VisibleScope;
use iam_model::assignment::{OfferedRole, RevokeReason};
use iam_model::audit::{AuditEntry, AuditFilter};
use iam_model::change::{Change, EligibilityChange, RoleChange};
use iam_model::eligibility::{Eligibility, Eligible};
use iam_model::id::{EligibilityId, RoleId, TenantId};
use iam_model::organization::{Organization, OrganizationStatus};
use iam_model::page::{Page, PageRequest};
use iam_model::role::Role;
use iam_model::store::Store;
use iam_model::store_error::Constraint;
use iam_model::tenant::Tenant;
use iam_model::version::Version;

use crate::world::{World, assert_conflict, assert_missing, assert_pages, everything, within};

/// An eligibility for a role that is not in the store yet.
pub(super) fn new_eligibility(
    world: &World,
    role: &Role,
    organization: Option<&Organization>,
    eligible: Eligible,
) -> Eligibility {
    Eligibility {
        id: world.id(),
        tenant_id: role.tenant_id,
        role_id: role.id,
        organization_id: organization.map(|organization| organization.id),
        eligible,
        max_seconds: Eligibility::DEFAULT_SECONDS,
        approvals: Eligibility::DEFAULT_APPROVALS,
        approver_role_id: None,
        expires_at: None,
        created_at: world.now(),
        created_by: None,
        updated_at: world.now(),
        version: Version::FIRST,
    }
}

/// Puts an eligibility into the store.
pub(super) async fn add_eligibility(world: &World, eligibility: Eligibility) -> Eligibility {
    world.commit(eligibility.tenant_id, create(world, &eligibility)).await;
    eligibility
}

/// The change that creates an eligibility.
pub(super) fn create(world: &World, eligibility: &Eligibility) -> Change {
    let role = Role { id: eligibility.role_id, ..world.new_role(&world.new_tenant("any"), "ANY", &[]) };
    let offered = Box::new(OfferedRole { role: Arc::new(role), organization: None, expires_at: None });
    EligibilityChange::Create { eligibility: eligibility.clone(), offered }.into()
}

fn update(before: &Eligibility, after: &Eligibility) -> Change {
    EligibilityChange::Update { before: before.clone().into(), after: after.clone(), offered: None }.into()
}

fn delete(eligibilities: &[&Eligibility]) -> Change {
    let eligibilities = eligibilities.iter().copied().cloned().collect();
    EligibilityChange::Delete { eligibilities, reason: None }.into()
}

async fn read(world: &World, tenant: TenantId, id: EligibilityId) -> Option<Eligibility> {
    let read = world.store.eligibility(tenant, id).await.unwrap();
    let locked = world.locked(tenant, async |locks| locks.eligibility(id).await.unwrap()).await;
    assert_eq!(read, locked);
    read
}

async fn list(world: &World, tenant: TenantId, scope: &VisibleScope, page: PageRequest) -> Page<Eligibility> {
    world.store.eligibilities(tenant, scope, page).await.unwrap()
}

fn newest_first(mut eligibilities: Vec<Eligibility>) -> Vec<Eligibility> {
    eligibilities.sort_by_key(|eligibility| (Reverse(eligibility.created_at), eligibility.id));
    eligibilities
}

/// An eligibility is read back with every field, only in its tenant.
pub async fn an_eligibility_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let root = world.organization(&acme, "root").await;
    let [role, held, approver] = roles(&world, &acme).await;
    let user = world.user(&acme, "ada@example.com").await;
    let full = Eligibility {
        max_seconds: Eligibility::MAX_SECONDS,
        approvals: Eligibility::MAX_APPROVALS,
        approver_role_id: Some(approver.id),
        expires_at: Some(world.now() + TimeDelta::milliseconds(123_456)),
        created_by: Some(world.id()),
        updated_at: world.now() + TimeDelta::milliseconds(7),
        ..new_eligibility(&world, &role, Some(&root), Eligible::HoldersOf(held.id))
    };
    let bare = Eligibility {
        max_seconds: Eligibility::MIN_SECONDS,
        approvals: 0,
        ..new_eligibility(&world, &role, None, Eligible::User(user.id))
    };
    for eligibility in [full, bare] {
        let eligibility = add_eligibility(&world, eligibility).await;
        assert_eq!(read(&world, acme.id, eligibility.id).await.as_ref(), Some(&eligibility));
        assert_eq!(read(&world, other.id, eligibility.id).await, None);
    }
    assert_eq!(read(&world, acme.id, world.id()).await, None);
    let whole = &VisibleScope::Tenant;
    assert_eq!(list(&world, other.id, whole, everything()).await.total, 0);
    assert_eq!(world.store.eligibilities_of(other.id, user.id, &[held.id]).await.unwrap(), []);
    let all = world.locked(other.id, async |locks| locks.all_eligibilities().await.unwrap()).await;
    assert_eq!(all, []);
}

async fn roles(world: &World, tenant: &Tenant) -> [Role; 3] {
    [
        world.role(tenant, "CLERK", &["users:read"]).await,
        world.role(tenant, "HELD", &[]).await,
        world.role(tenant, "APPROVER", &[]).await,
    ]
}

/// The roles, the organization and the user of an eligibility exist, in its tenant.
pub async fn references_to_another_tenant_are_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let [role, held, approver] = roles(&world, &acme).await;
    let [foreign_role, ..] = roles(&world, &other).await;
    let foreign_user = world.user(&other, "eve@example.com").await;
    let foreign_place = world.organization(&other, "foreign").await;
    let right = new_eligibility(&world, &role, None, Eligible::HoldersOf(held.id));
    for wrong in [
        Eligibility { role_id: foreign_role.id, ..right.clone() },
        Eligibility { role_id: world.id(), ..right.clone() },
        Eligibility { organization_id: Some(foreign_place.id), ..right.clone() },
        Eligibility { eligible: Eligible::User(foreign_user.id), ..right.clone() },
        Eligibility { eligible: Eligible::HoldersOf(foreign_role.id), ..right.clone() },
        Eligibility { approver_role_id: Some(foreign_role.id), ..right.clone() },
    ] {
        assert_conflict(&world.try_commit(acme.id, [create(&world, &wrong)]).await, Constraint::Reference);
    }
    let before = add_eligibility(&world, right).await;
    let after = Eligibility { approver_role_id: Some(foreign_role.id), ..before.clone() }.changed(world.now());
    assert_conflict(&world.try_commit(acme.id, [update(&before, &after)]).await, Constraint::Reference);
    let after = Eligibility { approver_role_id: Some(approver.id), ..before.clone() }.changed(world.now());
    world.commit(acme.id, update(&before, &after)).await;
    assert_eq!(read(&world, acme.id, before.id).await, Some(after));
}

/// A change sets the fields that can change, raises the version, and concerns one eligibility alone.
pub async fn changes_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let [role, held, approver] = roles(&world, &acme).await;
    let mut before = add_eligibility(&world, new_eligibility(&world, &role, None, Eligible::HoldersOf(held.id))).await;
    let beside = add_eligibility(&world, new_eligibility(&world, &role, None, Eligible::HoldersOf(held.id))).await;
    let expiry = Some(world.now() + TimeDelta::milliseconds(1));
    for (max_seconds, approvals, approver_role_id, expires_at) in
        [(300, 2, Some(approver.id), expiry), (2_592_000, 0, None, None), (301, 1, Some(role.id), None)]
    {
        world.tick();
        let after = Eligibility { max_seconds, approvals, approver_role_id, expires_at, ..before.clone() };
        let after = after.changed(world.now());
        world.commit(acme.id, update(&before, &after)).await;
        assert_eq!(read(&world, acme.id, before.id).await.as_ref(), Some(&after));
        before = after;
    }
    assert_eq!(read(&world, acme.id, beside.id).await.as_ref(), Some(&beside));
    let missing = Eligibility { id: world.id(), ..before.clone() };
    assert_missing(&world.try_commit(acme.id, [update(&missing, &missing)]).await);
    let foreign = Eligibility { approver_role_id: None, ..before.clone() };
    assert_missing(&world.try_commit(other.id, [update(&before, &foreign)]).await);
    assert_eq!(read(&world, acme.id, before.id).await, Some(before));
}

/// One change removes several eligibilities, in its tenant alone.
pub async fn deleted_eligibilities_are_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let [role, held, _] = roles(&world, &acme).await;
    let mut added = Vec::new();
    for _ in 0..4 {
        let new = new_eligibility(&world, &role, None, Eligible::HoldersOf(held.id));
        added.push(add_eligibility(&world, new).await);
    }
    world.commit(other.id, delete(&[&added[0]])).await;
    world.commit(acme.id, delete(&[&added[1], &added[3]])).await;
    world.commit(acme.id, delete(&[])).await;
    let found = list(&world, acme.id, &VisibleScope::Tenant, everything()).await;
    let expected = newest_first(vec![added[0].clone(), added[2].clone()]);
    assert_eq!((found.total, found.items), (2, expected));
    assert_eq!(read(&world, acme.id, added[1].id).await, None);
}

/// A role stays while an eligibility names it: as what users may ask for, as what makes them eligible, or as that of
/// those who decide.
pub async fn a_named_role_is_not_deleted(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let [role, held, approver] = roles(&world, &tenant).await;
    let new = new_eligibility(&world, &role, None, Eligible::HoldersOf(held.id));
    let eligibility = Eligibility { approver_role_id: Some(approver.id), expires_at: Some(world.now()), ..new };
    let eligibility = add_eligibility(&world, eligibility).await;
    for named in [&role, &held, &approver] {
        let refused = world.try_commit(tenant.id, [RoleChange::Delete(named.clone()).into()]).await;
        assert_conflict(&refused, Constraint::Reference);
    }
    world.commit(tenant.id, delete(&[&eligibility])).await;
    for named in [role, held, approver] {
        world.commit(tenant.id, RoleChange::Delete(named)).await;
    }
}

/// Lists are sorted newest first, then by identifier.
pub async fn list_pages_and_counts(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let [role, held, _] = roles(&world, &tenant).await;
    let [foreign, ..] = roles(&world, &other).await;
    add_eligibility(&world, new_eligibility(&world, &foreign, None, Eligible::HoldersOf(foreign.id))).await;
    let mut expected = Vec::new();
    for number in 0..8 {
        if number % 2 == 0 {
            world.tick();
        }
        let expires_at = (number == 3).then(|| world.now());
        let new = new_eligibility(&world, &role, None, Eligible::HoldersOf(held.id));
        expected.push(add_eligibility(&world, Eligibility { expires_at, ..new }).await);
    }
    let expected = newest_first(expected);
    assert_pages(&expected, async |page| list(&world, tenant.id, &VisibleScope::Tenant, page).await).await;
    let all = world.locked(tenant.id, async |locks| locks.all_eligibilities().await.unwrap()).await;
    assert_eq!(all, expected);
}

/// Within organizations, a list shows the eligibilities of these organizations and of those below, and none of the
/// tenant.
pub async fn list_stays_within_the_visible_scope(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let [role, held, _] = roles(&world, &tenant).await;
    let root = world.organization(&tenant, "root").await;
    let (left, right) = (world.below(&root, "left").await, world.below(&root, "right").await);
    let leaf = world.below(&left, "leaf").await;
    let mut added = Vec::new();
    for place in [None, Some(&root), Some(&left), Some(&right), Some(&leaf)] {
        let new = new_eligibility(&world, &role, place, Eligible::HoldersOf(held.id));
        added.push(add_eligibility(&world, new).await);
    }
    world.set_status(&left, OrganizationStatus::Suspended).await;
    for (scope, expected) in [
        (VisibleScope::Tenant, vec![0, 1, 2, 3, 4]),
        (within(&[&root]), vec![1, 2, 3, 4]),
        (within(&[&left]), vec![2, 4]),
        (within(&[&leaf, &right]), vec![3, 4]),
        (VisibleScope::Organizations(vec![world.id()]), vec![]),
    ] {
        let found = list(&world, tenant.id, &scope, everything()).await;
        let expected = newest_first(expected.into_iter().map(|number: usize| added[number].clone()).collect());
        assert_eq!((found.total, found.items), (expected.len() as u64, expected), "{scope:?}");
    }
}

/// The eligibilities of a user are those that name it and those of the holders of some roles, also expired ones, in
/// every place. Those to which roles lead are those of their holders, and those about which their holders decide.
pub async fn eligibilities_of_users_and_roles_are_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let [role, held, other] = roles(&world, &tenant).await;
    let root = world.organization(&tenant, "root").await;
    let (ada, bob) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await);
    let mut added = Vec::new();
    for (place, eligible, approver_role_id, is_expired) in [
        (None, Eligible::User(ada.id), None, false),
        (Some(&root), Eligible::User(ada.id), Some(held.id), true),
        (None, Eligible::User(bob.id), Some(role.id), false),
        (Some(&root), Eligible::HoldersOf(held.id), Some(held.id), false),
        (None, Eligible::HoldersOf(other.id), Some(held.id), true),
    ] {
        world.tick();
        let new = new_eligibility(&world, &role, place, eligible);
        let expires_at = is_expired.then(|| world.now());
        added.push(add_eligibility(&world, Eligibility { approver_role_id, expires_at, ..new }).await);
    }
    let unknown: RoleId = world.id();
    for (user, roles, expected) in [
        (ada.id, vec![], vec![1, 0]),
        (bob.id, vec![unknown], vec![2]),
        (bob.id, vec![held.id, unknown], vec![3, 2]),
        (ada.id, vec![other.id, held.id, held.id], vec![4, 3, 1, 0]),
        (world.id(), vec![role.id], vec![]),
        (world.id(), vec![other.id], vec![4]),
    ] {
        let found = world.store.eligibilities_of(tenant.id, user, &roles).await.unwrap();
        let expected: Vec<Eligibility> = expected.into_iter().map(|number: usize| added[number].clone()).collect();
        assert_eq!(found, expected, "{user} {roles:?}");
    }
    for (roles, expected) in [
        (vec![], vec![]),
        (vec![unknown], vec![]),
        (vec![role.id, unknown], vec![2]),
        (vec![other.id], vec![4]),
        (vec![held.id, unknown], vec![4, 3, 1]),
        (vec![role.id, held.id, other.id, held.id], vec![4, 3, 2, 1]),
    ] {
        let found = world.locked(tenant.id, async |locks| locks.eligibilities_led_to_by(&roles).await.unwrap()).await;
        let expected: Vec<Eligibility> = expected.into_iter().map(|number: usize| added[number].clone()).collect();
        assert_eq!(found, expected, "{roles:?}");
    }
    let foreign = world.tenant("other").await;
    let found = world.locked(foreign.id, async |locks| locks.eligibilities_led_to_by(&[held.id]).await.unwrap()).await;
    assert_eq!(found, []);
}

/// A unit of work reads its own eligibilities before its commit, and no other reader does.
pub async fn a_unit_of_work_reads_its_own_changes(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let [role, held, _] = roles(&world, &tenant).await;
    let before = new_eligibility(&world, &role, None, Eligible::HoldersOf(held.id));
    let after = Eligibility { max_seconds: 300, ..before.clone() }.changed(world.now());
    let mut work = world.begin(&World::system(tenant.id)).await;
    work.apply(create(&world, &before)).await.unwrap();
    assert_eq!(work.reads().eligibility(before.id).await.unwrap().as_ref(), Some(&before));
    work.apply(update(&before, &after)).await.unwrap();
    assert_eq!(work.reads().all_eligibilities().await.unwrap(), std::slice::from_ref(&after));
    assert_eq!(world.store.eligibility(tenant.id, before.id).await.unwrap(), None);
    work.apply(delete(&[&after])).await.unwrap();
    assert_eq!(work.reads().all_eligibilities().await.unwrap(), []);
}

/// Each change is recorded, one entry for each eligibility.
pub async fn changes_are_recorded(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let [role, held, _] = roles(&world, &tenant).await;
    let first = add_eligibility(&world, new_eligibility(&world, &role, None, Eligible::HoldersOf(held.id))).await;
    world.tick();
    let second = add_eligibility(&world, new_eligibility(&world, &role, None, Eligible::HoldersOf(held.id))).await;
    world.tick();
    let after = Eligibility { approvals: 2, ..first.clone() }.changed(world.now());
    world.commit(tenant.id, update(&first, &after)).await;
    world.tick();
    let (eligibilities, reason) = (vec![after, second.clone()], Some(RevokeReason::AccessReview));
    world.commit(tenant.id, EligibilityChange::Delete { eligibilities, reason }).await;
    let filter = AuditFilter { resource_type: Some("ELIGIBILITY".to_owned()), ..AuditFilter::default() };
    let entries: Vec<AuditEntry> = world.store.audit_entries(tenant.id, &filter, None, 10).await.unwrap();
    let mut recorded: Vec<(String, String)> =
        entries.iter().map(|entry| (entry.action.to_string(), entry.resource_id.clone().unwrap_or_default())).collect();
    recorded.sort();
    let entry = |action: &str, of: &Eligibility| (action.to_owned(), of.id.to_string());
    let mut expected = vec![
        entry("CREATE", &first),
        entry("CREATE", &second),
        entry("DELETE", &first),
        entry("DELETE", &second),
        entry("UPDATE", &first),
    ];
    expected.sort();
    assert_eq!(recorded, expected);
}
