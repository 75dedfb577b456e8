//! Invitations.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::access::{Until, VisibleScope};
use iam_model::change::{Change, InvitationChange};
use iam_model::clock::Timestamp;
use iam_model::id::{InvitationId, OrganizationId, RoleId, TenantId};
use iam_model::invitation::{Invitation, InvitationFilter, InvitationStatus, InvitedRole};
use iam_model::organization::{Organization, OrganizationStatus};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{Store, TransactionReads};
use iam_model::store_error::Constraint;
use iam_model::tenant::Tenant;
use tokio::task::JoinSet;

use crate::world::{World, assert_conflict, assert_missing, assert_pages, everything, within};

fn new_invitation(world: &World, tenant: &Tenant, email: &str) -> Invitation {
    Invitation {
        id: world.id(),
        tenant_id: tenant.id,
        email: email.parse().unwrap(),
        first_name: None,
        last_name: None,
        roles: Vec::new(),
        status: InvitationStatus::Pending,
        invited_by: None,
        expires_at: world.now() + TimeDelta::days(7),
        created_at: world.now(),
    }
}

fn create(invitation: &Invitation) -> Change {
    InvitationChange::Create { invitation: invitation.clone(), offered: Vec::new() }.into()
}

async fn invite(world: &World, invitation: Invitation) -> Invitation {
    world.commit(invitation.tenant_id, create(&invitation)).await;
    invitation
}

async fn read(world: &World, tenant: TenantId, id: InvitationId) -> Option<Invitation> {
    let read = world.store.invitation(tenant, id).await.unwrap();
    let locked = world.locked(tenant, async |locks| locks.lock_invitation(id).await.unwrap()).await;
    assert_eq!(read, locked);
    read
}

async fn list(
    world: &World,
    tenant: &Tenant,
    filter: &InvitationFilter,
    scope: &VisibleScope,
    page: PageRequest,
) -> Page<Invitation> {
    world.store.invitations(tenant.id, filter, scope, page, world.now()).await.unwrap()
}

fn role_in(world: &World, organization: Option<&Organization>) -> InvitedRole {
    InvitedRole { role_id: world.id(), organization_id: organization.map(|it| it.id), expires_at: None }
}

/// An invitation is read back with its roles in their order, only in its tenant.
pub async fn an_invitation_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let root = world.organization(&acme, "root").await;
    let until: Timestamp = world.now() + TimeDelta::milliseconds(123_456);
    let roles = vec![
        InvitedRole { expires_at: Some(until), ..role_in(&world, Some(&root)) },
        role_in(&world, None),
        role_in(&world, Some(&root)),
    ];
    let full = Invitation {
        first_name: Some("Grøce \"x\" 🦀".parse().unwrap()),
        last_name: Some("O'Hopper".parse().unwrap()),
        roles,
        invited_by: Some(world.id()),
        ..new_invitation(&world, &acme, "Grace@Example.com")
    };
    let full = invite(&world, full).await;
    let empty = invite(&world, new_invitation(&world, &acme, "ada@example.com")).await;
    for invitation in [full, empty] {
        assert_eq!(read(&world, acme.id, invitation.id).await.as_ref(), Some(&invitation));
        assert_eq!(read(&world, other.id, invitation.id).await, None);
    }
    assert_eq!(read(&world, acme.id, world.id()).await, None);
}

/// An invitation needs a tenant that exists.
pub async fn an_invitation_of_a_missing_tenant_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let invitation = new_invitation(&world, &world.new_tenant("acme"), "ada@example.com");
    assert_conflict(&world.try_commit(invitation.tenant_id, [create(&invitation)]).await, Constraint::Reference);
}

/// An address, in any letter case, has at most one PENDING invitation in a tenant.
pub async fn an_address_is_invited_once_in_a_tenant(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let first = invite(&world, new_invitation(&world, &acme, "ada@example.com")).await;
    let again = new_invitation(&world, &acme, "ADA@example.com");
    assert_conflict(&world.try_commit(acme.id, [create(&again)]).await, Constraint::Invitation);
    invite(&world, new_invitation(&world, &other, "ada@example.com")).await;
    for status in [InvitationStatus::Revoked, InvitationStatus::Accepted] {
        let before = list(&world, &acme, &InvitationFilter::default(), &VisibleScope::Tenant, everything()).await;
        let before = before.items[0].clone();
        let after = Invitation { status, ..before.clone() };
        world.commit(acme.id, InvitationChange::Accept { before, after }).await;
        world.tick();
        invite(&world, new_invitation(&world, &acme, "ada@example.com")).await;
    }
    let of_first = read(&world, acme.id, first.id).await.unwrap().status;
    assert_eq!(of_first, InvitationStatus::Revoked);
}

/// The time until which roles are offered is the latest one of the invitations that can be accepted.
pub async fn roles_are_offered_until_their_latest_end(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let now = world.now();
    let (soon, later) = (now + TimeDelta::milliseconds(1), now + TimeDelta::days(30));
    let [ending, lasting, revoked, unknown]: [RoleId; 4] = std::array::from_fn(|_| world.id());
    let offered = |role_id, expires_at| InvitedRole { role_id, expires_at, ..role_in(&world, None) };
    for (email, status, roles) in [
        ("none@example.com", InvitationStatus::Pending, vec![]),
        ("ada@example.com", InvitationStatus::Pending, vec![offered(ending, Some(soon)), offered(lasting, None)]),
        ("bob@example.com", InvitationStatus::Pending, vec![offered(ending, Some(later)), offered(ending, Some(now))]),
        ("eve@example.com", InvitationStatus::Revoked, vec![offered(revoked, None), offered(ending, None)]),
    ] {
        let invitation = Invitation { roles, ..new_invitation(&world, &acme, email) };
        let before = invite(&world, invitation).await;
        let after = Invitation { status, ..before.clone() };
        if status != InvitationStatus::Pending {
            world.commit(acme.id, InvitationChange::Revoke { before, after }).await;
        }
    }
    let expired = now + TimeDelta::days(7);
    for (roles, at, expected) in [
        (vec![], now, None),
        (vec![unknown], now, None),
        (vec![revoked], now, None),
        (vec![ending], now, Some(Until::Moment(later))),
        (vec![unknown, ending], now, Some(Until::Moment(later))),
        (vec![ending, lasting], now, Some(Until::Forever)),
        (vec![lasting], expired - TimeDelta::milliseconds(1), Some(Until::Forever)),
        (vec![lasting], expired, None),
    ] {
        let offered = async |locks: &mut dyn TransactionReads| locks.roles_offered_until(&roles, at).await.unwrap();
        assert_eq!(world.locked(acme.id, offered).await, expected, "{roles:?} {at}");
    }
    let of_other =
        async |locks: &mut dyn TransactionReads| locks.roles_offered_until(&[ending, lasting], now).await.unwrap();
    assert_eq!(world.locked(other.id, of_other).await, None);
}

/// The roles that pending invitations offer in some organizations, until the exact millisecond of their expiry.
pub async fn offered_roles_are_found_by_organization(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (now, until) = (world.now(), world.now() + TimeDelta::milliseconds(1));
    let [first, second, unknown]: [OrganizationId; 3] = std::array::from_fn(|_| world.id());
    let role_at = |organization: Option<OrganizationId>, expires_at| InvitedRole {
        role_id: world.id(),
        organization_id: organization,
        expires_at,
    };
    let (lasting, ending) = (role_at(Some(first), None), role_at(Some(second), Some(until)));
    let pending = vec![lasting, role_at(None, None), ending];
    let revoked = vec![role_at(Some(first), None)];
    for (email, roles, status) in [
        ("ada@example.com", pending, InvitationStatus::Pending),
        ("eve@example.com", revoked, InvitationStatus::Revoked),
    ] {
        let before = invite(&world, Invitation { roles, ..new_invitation(&world, &acme, email) }).await;
        if status != InvitationStatus::Pending {
            let after = Invitation { status, ..before.clone() };
            world.commit(acme.id, InvitationChange::Revoke { before, after }).await;
        }
    }
    let expired = now + TimeDelta::days(7);
    let offered = async |tenant, organizations: &[OrganizationId], at| {
        let read = async |locks: &mut dyn TransactionReads| locks.roles_offered_in(organizations, at).await.unwrap();
        let mut roles = world.locked(tenant, read).await;
        roles.sort_by_key(|role| role.role_id);
        roles
    };
    assert_eq!(offered(acme.id, &[first], now).await, [lasting]);
    assert_eq!(offered(acme.id, &[first, second, unknown], now).await, [lasting, ending]);
    assert_eq!(offered(acme.id, &[first, second], expired - TimeDelta::milliseconds(1)).await, [lasting, ending]);
    for (tenant, organizations, at) in [
        (acme.id, vec![], now),
        (acme.id, vec![unknown], now),
        (acme.id, vec![first], expired),
        (other.id, vec![first], now),
    ] {
        assert_eq!(offered(tenant, &organizations, at).await, []);
    }
}

/// A new invitation ends one of the same address that has expired, from the exact millisecond of its expiry on.
pub async fn an_expired_invitation_is_replaced(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let expires_at = world.now() + TimeDelta::milliseconds(1);
    let first = invite(&world, Invitation { expires_at, ..new_invitation(&world, &tenant, "ada@example.com") }).await;
    let beside =
        invite(&world, Invitation { expires_at, ..new_invitation(&world, &tenant, "grace@example.com") }).await;
    let again = new_invitation(&world, &tenant, "ada@example.com");
    assert_conflict(&world.try_commit(tenant.id, [create(&again)]).await, Constraint::Invitation);
    world.clock.advance(TimeDelta::milliseconds(1));
    let again = invite(&world, new_invitation(&world, &tenant, "Ada@example.com")).await;
    let status = async |invitation: &Invitation| read(&world, tenant.id, invitation.id).await.unwrap().status;
    assert_eq!(status(&first).await, InvitationStatus::Expired);
    assert_eq!(status(&beside).await, InvitationStatus::Pending);
    assert_eq!(status(&again).await, InvitationStatus::Pending);
}

/// A change sets the status and the expiry, and leaves everything else.
pub async fn changes_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let before = invite(&world, new_invitation(&world, &tenant, "ada@example.com")).await;
    let renewed = Invitation { expires_at: before.expires_at + TimeDelta::days(1), ..before.clone() };
    let renew = InvitationChange::Renew { before: before.clone(), after: renewed.clone() };
    world.commit(tenant.id, renew).await;
    assert_eq!(read(&world, tenant.id, before.id).await.as_ref(), Some(&renewed));
    let revoked = Invitation { status: InvitationStatus::Revoked, ..renewed.clone() };
    world.commit(tenant.id, InvitationChange::Revoke { before: renewed, after: revoked.clone() }).await;
    assert_eq!(read(&world, tenant.id, before.id).await, Some(revoked.clone()));

    let missing = Invitation { id: world.id(), ..revoked };
    let change = InvitationChange::Renew { before: missing.clone(), after: missing };
    assert_missing(&world.try_commit(tenant.id, [change.into()]).await);
}

/// A list shows every status, and filters by the status at a moment and by the address.
pub async fn list_filters_by_every_field(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let new =
        |email: &str, status, expires_at| Invitation { status, expires_at, ..new_invitation(&world, &tenant, email) };
    let (now, later) = (world.now(), world.now() + TimeDelta::milliseconds(1));
    let pending = new("pending@example.com", InvitationStatus::Pending, later);
    let stale = new("stale@example.com", InvitationStatus::Pending, now);
    let expired = new("expired@example.com", InvitationStatus::Expired, now);
    let accepted = new("accepted@example.com", InvitationStatus::Accepted, now);
    let revoked = new("Revoked@example.com", InvitationStatus::Revoked, later);
    for invitation in [&pending, &stale, &expired, &accepted, &revoked] {
        invite(&world, invitation.clone()).await;
    }
    invite(&world, new_invitation(&world, &other, "pending@example.com")).await;
    let by_status = |status| InvitationFilter { status: Some(status), ..InvitationFilter::default() };
    let email = |email: &str| Some(email.parse::<iam_model::validate::Email>().unwrap().key());
    let by_email = InvitationFilter { email: email("rEVOKED@example.com"), ..InvitationFilter::default() };
    for (filter, expected) in [
        (InvitationFilter::default(), vec![&pending, &stale, &expired, &accepted, &revoked]),
        (by_status(InvitationStatus::Pending), vec![&pending]),
        (by_status(InvitationStatus::Expired), vec![&stale, &expired]),
        (by_status(InvitationStatus::Accepted), vec![&accepted]),
        (by_status(InvitationStatus::Revoked), vec![&revoked]),
        (by_email.clone(), vec![&revoked]),
        (InvitationFilter { status: Some(InvitationStatus::Pending), ..by_email }, vec![]),
        (InvitationFilter { email: email("nobody@example.com"), ..InvitationFilter::default() }, vec![]),
    ] {
        let mut found = list(&world, &tenant, &filter, &VisibleScope::Tenant, everything()).await;
        assert_eq!(found.total, expected.len() as u64, "{filter:?}");
        found.items.sort_by_key(|invitation| invitation.id);
        assert!(found.items.iter().eq(expected), "{filter:?}: {:?}", found.items);
    }
}

/// A list is sorted newest first, then by identifier.
pub async fn list_pages_and_counts(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let mut expected = Vec::new();
    for number in 0..8 {
        if number % 2 == 0 {
            world.tick();
        }
        expected.push(invite(&world, new_invitation(&world, &tenant, &format!("user{number}@example.com"))).await);
    }
    expected.sort_by_key(|invitation| (std::cmp::Reverse(invitation.created_at), invitation.id));
    assert_pages(&expected, async |page| {
        list(&world, &tenant, &InvitationFilter::default(), &VisibleScope::Tenant, page).await
    })
    .await;
}

/// Within organizations, a list shows the invitations that have a role, and whose roles are all in them or below.
pub async fn list_stays_within_the_visible_scope(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let root = world.organization(&tenant, "root").await;
    let (left, right) = (world.below(&root, "left").await, world.below(&root, "right").await);
    let leaf = world.below(&left, "leaf").await;
    let mut invited = Vec::new();
    for (number, roles) in [
        vec![],
        vec![None],
        vec![Some(&root)],
        vec![Some(&left)],
        vec![Some(&left), Some(&leaf), Some(&leaf)],
        vec![Some(&left), Some(&right)],
        vec![Some(&leaf), None],
    ]
    .into_iter()
    .enumerate()
    {
        let roles = roles.into_iter().map(|organization| role_in(&world, organization)).collect();
        let email = format!("user{number}@example.com");
        invited.push(invite(&world, Invitation { roles, ..new_invitation(&world, &tenant, &email) }).await.id);
    }
    world.set_status(&left, OrganizationStatus::Suspended).await;
    for (scope, expected) in [
        (VisibleScope::Tenant, vec![0, 1, 2, 3, 4, 5, 6]),
        (within(&[&root]), vec![2, 3, 4, 5]),
        (within(&[&left]), vec![3, 4]),
        (within(&[&leaf]), vec![]),
        (within(&[&leaf, &left, &right]), vec![3, 4, 5]),
        (within(&[&right]), vec![]),
        (VisibleScope::Organizations(vec![world.id()]), vec![]),
    ] {
        let found = list(&world, &tenant, &InvitationFilter::default(), &scope, everything()).await;
        let mut found: Vec<_> = found.items.into_iter().map(|invitation| invitation.id).collect();
        found.sort_unstable();
        assert!(found.iter().eq(expected.iter().map(|number| &invited[*number])), "{scope:?}: {found:?}");
    }
}

/// Of many concurrent units of work that invite one address, one succeeds.
pub async fn an_address_is_invited_once_by_concurrent_tasks(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    for round in 0..4 {
        let mut tasks = JoinSet::new();
        for _ in 0..8 {
            let world = Arc::clone(&world);
            let invitation = new_invitation(&world, &tenant, &format!("user{round}@example.com"));
            tasks.spawn(async move { world.try_commit(invitation.tenant_id, [create(&invitation)]).await });
        }
        let results = tasks.join_all().await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        for refused in results.iter().filter(|result| result.is_err()) {
            assert_conflict(refused, Constraint::Invitation);
        }
    }
}
