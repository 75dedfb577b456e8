use std::cmp::Reverse;
use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::assignment::{Assignment, GrantContext};
use iam_model::change::DirectoryGroupChange;
use iam_model::directory::DirectoryGroup;
use iam_model::id::{AssignmentId, DirectoryGroupId, DirectoryId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::role::PlacedRole;
use iam_model::store::{GrantQuery, Store};

use super::{
    add_group, delete, delete_group, directory, join, leave, map, new_group, provision, read_group, update_group,
};
use crate::world::{World, sorted};

fn placed(role_id: RoleId, organization_id: Option<OrganizationId>) -> PlacedRole {
    PlacedRole { role_id, organization_id }
}

fn context(user: UserId, role: PlacedRole) -> GrantContext {
    GrantContext { user, role: role.role_id, organization: role.organization_id }
}

/// The groups that give one of these roles, or any role in one of these organizations.
async fn mapped(
    world: &World,
    tenant: TenantId,
    roles: &[RoleId],
    organizations: &[OrganizationId],
) -> Vec<DirectoryGroup> {
    let found = world.locked(tenant, async |locks| {
        locks.lock_tenant().await.unwrap();
        locks.mapped_groups(roles, organizations).await.unwrap()
    });
    found.await
}

/// The group that gives the role in each of these contexts.
async fn giving(
    world: &World,
    tenant: TenantId,
    contexts: &[GrantContext],
    except: Option<DirectoryGroupId>,
) -> Vec<Option<DirectoryGroup>> {
    let found = world.locked(tenant, async |locks| {
        locks.lock_tenant().await.unwrap();
        locks.giving_groups(contexts, except).await.unwrap()
    });
    let found = found.await;
    let of = |context: &GrantContext| found.iter().find(|(of, _)| of == context).map(|(_, group)| group.clone());
    let giving: Vec<Option<DirectoryGroup>> = contexts.iter().map(of).collect();
    assert_eq!(giving.iter().flatten().count(), found.len(), "{found:?}");
    giving
}

/// Withholds roles from the members of groups in the store.
async fn withhold(world: &World, tenant: TenantId, contexts: &[GrantContext]) {
    world.commit(tenant, DirectoryGroupChange::Withhold(contexts.to_vec())).await;
}

/// Fails unless exactly these roles are withheld from the members of a group.
async fn assert_withheld(world: &World, tenant: TenantId, group: DirectoryGroupId, expected: &[GrantContext]) {
    let found = world.locked(tenant, async |locks| {
        locks.lock_tenant().await.unwrap();
        locks.withheld_in_group(group).await.unwrap()
    });
    let key = |context: GrantContext| (context.user, context.role, context.organization);
    assert_eq!(sorted(found.await, key), sorted(expected.to_vec(), key));
}

/// The groups of all directories that give a role in any place, or any role in an organization, are found by
/// identifier, each once.
pub async fn mapped_groups_are_found_by_role_and_organization(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, elsewhere) = (world.tenant("acme").await, world.tenant("other").await);
    let (here, there) = (directory(&world, &tenant, "here").await, directory(&world, &tenant, "there").await);
    let foreign = directory(&world, &elsewhere, "foreign").await;
    let (reader, writer, unknown): (RoleId, RoleId, RoleId) = (world.id(), world.id(), world.id());
    let (root, branch): (OrganizationId, OrganizationId) = (world.id(), world.id());
    let mut groups = Vec::new();
    for (directory, name, grants) in [
        (&here, "wide", vec![placed(reader, None)]),
        (&here, "both", vec![placed(reader, Some(root)), placed(writer, None), placed(reader, None)]),
        (&here, "local", vec![placed(writer, Some(branch))]),
        (&here, "none", vec![]),
        (&there, "other", vec![placed(reader, Some(branch))]),
    ] {
        groups.push((new_group(&world, directory, name), grants));
    }
    // They are made in the opposite order of their identifiers.
    let mut mapped_now = Vec::new();
    for (group, grants) in groups.into_iter().rev() {
        let group = add_group(&world, group, &[]).await;
        mapped_now.insert(0, map(&world, &group, &grants).await);
    }
    let abroad = add_group(&world, new_group(&world, &foreign, "wide"), &[]).await;
    let abroad = map(&world, &abroad, &[placed(reader, Some(branch))]).await;
    let nowhere: &[OrganizationId] = &[];
    for (roles, organizations, expected) in [
        (&[reader][..], nowhere, &[0, 1, 4][..]),
        (&[writer], nowhere, &[1, 2]),
        (&[writer, unknown, reader], nowhere, &[0, 1, 2, 4]),
        (&[], &[root], &[1]),
        (&[], &[branch, root, world.id()], &[1, 2, 4]),
        (&[writer], &[branch], &[1, 2, 4]),
        (&[reader, writer], &[root, branch], &[0, 1, 2, 4]),
        (&[unknown], &[world.id()], &[]),
        (&[], nowhere, &[]),
    ] {
        let expected: Vec<DirectoryGroup> = expected.iter().map(|index: &usize| mapped_now[*index].clone()).collect();
        assert_eq!(mapped(&world, tenant.id, roles, organizations).await, expected, "{roles:?} {organizations:?}");
    }
    assert_eq!(mapped(&world, elsewhere.id, &[reader], &[branch]).await, [abroad]);

    let without = map(&world, &mapped_now[1], &[placed(writer, Some(root))]).await;
    assert_eq!(mapped(&world, tenant.id, &[reader], &[]).await, [mapped_now[0].clone(), mapped_now[4].clone()]);
    assert_eq!(mapped(&world, tenant.id, &[], &[root]).await, [without]);
    world.commit(tenant.id, delete_group(&mapped_now[2])).await;
    world.commit(tenant.id, delete(&there)).await;
    assert_eq!(mapped(&world, tenant.id, &[], &[branch]).await, []);
}

/// A group gives its roles to its members, in exactly their places. Of several groups, the one with the lowest
/// identifier is found, without the one that does not count.
pub async fn groups_give_roles_to_their_members(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, elsewhere) = (world.tenant("acme").await, world.tenant("other").await);
    let (here, there) = (directory(&world, &tenant, "here").await, directory(&world, &tenant, "there").await);
    let [ada, bob, zoe] = [
        provision(&world, &tenant, &here, "ada").await.user.id,
        provision(&world, &tenant, &here, "bob").await.user.id,
        provision(&world, &tenant, &there, "zoe").await.user.id,
    ];
    let stranger = world.user(&tenant, "stranger@example.com").await.id;
    let (reader, writer): (RoleId, RoleId) = (world.id(), world.id());
    let (root, branch): (OrganizationId, OrganizationId) = (world.id(), world.id());
    let (wide, in_root, writing) = (placed(reader, None), placed(reader, Some(root)), placed(writer, Some(root)));
    let new =
        [new_group(&world, &here, "first"), new_group(&world, &here, "second"), new_group(&world, &there, "third")];
    let [first, second, third] = new;
    let third = map(&world, &add_group(&world, third, &[zoe]).await, &[wide, in_root]).await;
    let second = map(&world, &add_group(&world, second, &[bob, ada]).await, &[in_root, writing, wide]).await;
    let first = map(&world, &add_group(&world, first, &[ada]).await, &[writing, in_root]).await;

    let contexts = [
        context(ada, wide),
        context(ada, in_root),
        context(ada, writing),
        context(bob, in_root),
        context(zoe, wide),
        context(zoe, writing),
        context(ada, placed(reader, Some(branch))),
        context(ada, placed(writer, None)),
        context(bob, placed(writer, Some(branch))),
        context(stranger, wide),
        context(world.id(), wide),
        context(ada, placed(world.id(), None)),
    ];
    let given = |ids: [Option<&DirectoryGroup>; 6]| {
        let none = std::iter::repeat_n(None, contexts.len() - ids.len());
        ids.into_iter().map(|group| group.cloned()).chain(none).collect::<Vec<Option<DirectoryGroup>>>()
    };
    let (one, two, three) = (Some(&first), Some(&second), Some(&third));
    for (except, expected) in [
        (None, [two, one, one, two, three, None]),
        (Some(first.id), [two, two, two, two, three, None]),
        (Some(second.id), [None, one, one, None, three, None]),
        (Some(third.id), [two, one, one, two, None, None]),
        (Some(world.id()), [two, one, one, two, three, None]),
    ] {
        assert_eq!(giving(&world, tenant.id, &contexts, except).await, given(expected), "{except:?}");
    }
    assert_eq!(giving(&world, tenant.id, &contexts[..1], None).await, [Some(second.clone())]);
    assert_eq!(giving(&world, tenant.id, &[], None).await, []);
    assert_eq!(giving(&world, elsewhere.id, &contexts, None).await, vec![None; contexts.len()]);

    // Members, grants and groups that end give nothing any more.
    let both = [context(ada, writing), context(bob, writing)];
    let left = leave(&world, &first, &[ada]).await;
    assert_eq!(giving(&world, tenant.id, &both, None).await, [Some(second.clone()), Some(second.clone())]);
    let second = map(&world, &second, &[wide]).await;
    assert_eq!(giving(&world, tenant.id, &both, None).await, [None, None]);
    let first = join(&world, &left, &[bob]).await;
    assert_eq!(giving(&world, tenant.id, &both, None).await, [None, Some(first.clone())]);
    world.commit(tenant.id, delete_group(&first)).await;
    assert_eq!(giving(&world, tenant.id, &both, None).await, [None, None]);
    assert_eq!(giving(&world, tenant.id, &[context(bob, wide)], None).await, [Some(second)]);
}

/// What is withheld from a user is withheld in every group that gives it to the user at that time, and in no other.
pub async fn roles_are_withheld_in_every_group_that_gives_them(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, elsewhere) = (world.tenant("acme").await, world.tenant("other").await);
    let here = directory(&world, &tenant, "here").await;
    let ada = provision(&world, &tenant, &here, "ada").await.user.id;
    let bob = provision(&world, &tenant, &here, "bob").await.user.id;
    let role: RoleId = world.id();
    let (wide, local) = (placed(role, None), placed(role, Some(world.id())));
    let mut groups = Vec::new();
    for (name, members, grants) in [
        ("first", vec![ada, bob], vec![wide, local]),
        ("second", vec![ada], vec![wide]),
        ("without the role", vec![ada, bob], vec![local]),
        ("without the member", vec![bob], vec![wide]),
    ] {
        groups.push(map(&world, &add_group(&world, new_group(&world, &here, name), &members).await, &grants).await);
    }
    let [first, second, third, fourth] = groups.try_into().unwrap();
    let all = [context(ada, wide), context(ada, local), context(bob, wide), context(bob, local)];
    let some = |group: &DirectoryGroup| Some(group.clone());
    let before = [some(&first), some(&first), some(&first), some(&first)];
    assert_eq!(giving(&world, tenant.id, &all, None).await, before);
    withhold(&world, elsewhere.id, &all).await;
    withhold(&world, tenant.id, &[context(ada, placed(world.id(), None)), context(world.id(), wide)]).await;
    withhold(&world, tenant.id, &[]).await;
    assert_eq!(giving(&world, tenant.id, &all, None).await, before);

    withhold(&world, tenant.id, &[context(ada, wide)]).await;
    // It is withheld already, and more is.
    withhold(&world, tenant.id, &[context(bob, local), context(ada, wide), context(bob, local)]).await;
    for (group, expected) in [
        (&first, &[context(ada, wide), context(bob, local)][..]),
        (&second, &[context(ada, wide)]),
        (&third, &[context(bob, local)]),
        (&fourth, &[]),
    ] {
        assert_withheld(&world, tenant.id, group.id, expected).await;
        assert_withheld(&world, elsewhere.id, group.id, &[]).await;
        assert_eq!(read_group(&world, &here, group).await.map(|(found, _)| found).as_ref(), Some(group));
    }
    assert_eq!(giving(&world, tenant.id, &all, None).await, [None, some(&first), some(&first), None]);
    assert_eq!(giving(&world, tenant.id, &all, Some(first.id)).await, [None, some(&third), some(&fourth), None]);
    // Nothing is withheld in a group that begins to give the role later.
    let third = map(&world, &third, &[wide]).await;
    let fourth = join(&world, &fourth, &[ada]).await;
    assert_eq!(giving(&world, tenant.id, &all[..1], None).await, [some(&third)]);
    assert_eq!(giving(&world, tenant.id, &all[..1], Some(third.id)).await, [some(&fourth)]);
}

/// What is withheld stays so while the user is a member, also when the grant of the group ends and begins again. It
/// ends when the user is removed from the group, and when the group or its directory is deleted.
pub async fn withheld_roles_end_with_the_member(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let here = directory(&world, &tenant, "here").await;
    let ada = provision(&world, &tenant, &here, "ada").await.user.id;
    let bob = provision(&world, &tenant, &here, "bob").await.user.id;
    let role = placed(world.id(), Some(world.id()));
    let (of_ada, of_bob) = (context(ada, role), context(bob, role));
    let group = add_group(&world, new_group(&world, &here, "first"), &[ada, bob]).await;
    let group = map(&world, &group, &[role]).await;
    withhold(&world, tenant.id, &[of_ada, of_bob]).await;

    let renamed = DirectoryGroup { display_name: "other".parse().unwrap(), ..group.clone() }.changed(world.now());
    world.commit(tenant.id, update_group(&group, &renamed)).await;
    let group = map(&world, &renamed, &[]).await;
    assert_withheld(&world, tenant.id, group.id, &[of_ada, of_bob]).await;
    let group = map(&world, &group, &[placed(world.id(), None), role]).await;
    assert_withheld(&world, tenant.id, group.id, &[of_ada, of_bob]).await;
    assert_eq!(giving(&world, tenant.id, &[of_ada, of_bob], None).await, [None, None]);

    let group = leave(&world, &group, &[ada]).await;
    assert_withheld(&world, tenant.id, group.id, &[of_bob]).await;
    assert_eq!(giving(&world, tenant.id, &[of_ada, of_bob], None).await, [None, None]);
    let group = join(&world, &group, &[ada]).await;
    assert_withheld(&world, tenant.id, group.id, &[of_bob]).await;
    assert_eq!(giving(&world, tenant.id, &[of_ada, of_bob], None).await, [Some(group.clone()), None]);

    // Nothing is left for a group with the same identifier.
    world.commit(tenant.id, delete_group(&group)).await;
    assert_withheld(&world, tenant.id, group.id, &[]).await;
    let again = DirectoryGroup { id: group.id, ..new_group(&world, &here, "again") };
    let again = map(&world, &add_group(&world, again, &[bob]).await, &[role]).await;
    assert_eq!(giving(&world, tenant.id, &[of_bob], None).await, [Some(again.clone())]);
    withhold(&world, tenant.id, &[of_bob]).await;
    world.commit(tenant.id, delete(&here)).await;
    assert_withheld(&world, tenant.id, again.id, &[]).await;
    assert_eq!(giving(&world, tenant.id, &[of_ada, of_bob], None).await, [None, None]);
}

/// A unit of work reads what groups give, and what is withheld, as it has changed it.
pub async fn a_unit_of_work_reads_what_its_groups_give(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let here = directory(&world, &tenant, "here").await;
    let ada = provision(&world, &tenant, &here, "ada").await.user.id;
    let group = add_group(&world, new_group(&world, &here, "first"), &[ada]).await;
    let role = placed(world.id(), None);
    let of_ada = context(ada, role);
    let after = DirectoryGroup { grants: vec![role], ..group.clone() }.changed(world.now());
    let mut work = world.begin(&World::system(tenant.id)).await;
    work.reads().lock_tenant().await.unwrap();
    work.apply(update_group(&group, &after)).await.unwrap();
    assert_eq!(work.reads().mapped_groups(&[role.role_id], &[]).await.unwrap(), std::slice::from_ref(&after));
    assert_eq!(work.reads().giving_groups(&[of_ada], None).await.unwrap(), [(of_ada, after)]);
    work.apply(DirectoryGroupChange::Withhold(vec![of_ada])).await.unwrap();
    assert_eq!(work.reads().giving_groups(&[of_ada], None).await.unwrap(), []);
    assert_eq!(work.reads().withheld_in_group(group.id).await.unwrap(), [of_ada]);
    drop(work);
    assert_eq!(mapped(&world, tenant.id, &[role.role_id], &[]).await, []);
    assert_withheld(&world, tenant.id, group.id, &[]).await;
}

/// The assignments of a directory are those that its groups give, also if they are expired, newest first. An assignment
/// outlives its group, and belongs to no directory then.
pub async fn assignments_of_a_directory_are_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, elsewhere) = (world.tenant("acme").await, world.tenant("other").await);
    let (here, there) = (directory(&world, &tenant, "here").await, directory(&world, &tenant, "there").await);
    let ada = provision(&world, &tenant, &here, "ada").await.user;
    let bob = provision(&world, &tenant, &here, "bob").await.user;
    let zoe = provision(&world, &tenant, &there, "zoe").await.user;
    let (reader, writer) = (world.role(&tenant, "READER", &["x:read"]).await, world.role(&tenant, "WRITER", &[]).await);
    let root = world.organization(&tenant, "root").await;
    let first = add_group(&world, new_group(&world, &here, "first"), &[ada.id]).await;
    let second = add_group(&world, new_group(&world, &here, "second"), &[ada.id, bob.id]).await;
    let other = add_group(&world, new_group(&world, &there, "other"), &[zoe.id]).await;
    let mut given = Vec::new();
    for (user, role, organization_id, group, is_expired) in [
        (&ada, &reader, None, Some(first.id), false),
        (&bob, &reader, None, None, false),
        (&bob, &writer, Some(root.id), Some(second.id), true),
        (&zoe, &reader, None, Some(other.id), false),
        (&ada, &writer, None, Some(second.id), false),
        (&ada, &writer, Some(root.id), Some(world.id()), false),
    ] {
        let assignment = world.new_assignment(user, role, organization_id);
        let expires_at = is_expired.then(|| world.now() - TimeDelta::seconds(1));
        let assignment = Assignment { expires_at, directory_group_id: group, ..assignment };
        given.push(world.assign(assignment, role).await);
        // The last two begin at the same moment.
        if given.len() < 5 {
            world.tick();
        }
    }
    let found = async |tenant: TenantId, directory: DirectoryId| {
        let grants = world.grants(tenant, GrantQuery::OfDirectory(directory)).await;
        grants.into_iter().map(|grant| grant.assignment).collect::<Vec<_>>()
    };
    let expected = |numbers: &[usize]| {
        let mut expected: Vec<Assignment> = numbers.iter().map(|number| given[*number].clone()).collect();
        expected.sort_by_key(|it| (Reverse(it.created_at), it.id));
        expected
    };
    assert_eq!(found(tenant.id, here.id).await, expected(&[0, 2, 4]));
    assert_eq!(found(tenant.id, there.id).await, expected(&[3]));
    assert_eq!(found(tenant.id, world.id()).await, []);
    assert_eq!(found(elsewhere.id, here.id).await, []);
    let grant = world.grants(tenant.id, GrantQuery::OfDirectory(there.id)).await.remove(0);
    assert_eq!(grant, world.grants(tenant.id, GrantQuery::One(given[3].id)).await.remove(0));

    world.commit(tenant.id, delete_group(&second)).await;
    assert_eq!(found(tenant.id, here.id).await, expected(&[0]));
    world.commit(tenant.id, delete(&here)).await;
    assert_eq!(found(tenant.id, here.id).await, []);
    let ids: Vec<AssignmentId> = given.iter().map(|assignment| assignment.id).collect();
    let kept = world.grants(tenant.id, GrantQuery::Each(&ids)).await;
    let kept: Vec<Assignment> = kept.into_iter().map(|grant| grant.assignment).collect();
    assert_eq!(kept, expected(&[0, 1, 2, 3, 4, 5]));
}
