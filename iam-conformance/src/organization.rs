//! Organizations.

use std::cmp::Reverse;
use std::slice;
use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::Caller;
use iam_model::access::VisibleScope;
use iam_model::change::OrganizationChange;
use iam_model::id::{OrganizationId, TenantId};
use iam_model::organization::{
    Hierarchy, MemberCounts, Organization, OrganizationCounts, OrganizationFilter, OrganizationSort,
    OrganizationSortKey, OrganizationStatus, ParentFilter,
};
use iam_model::page::{Page, SortOrder};
use iam_model::store::Store;
use iam_model::store_error::Constraint;
use iam_model::tenant::Tenant;
use iam_model::validate::Slug;
use iam_model::version::Version;

use crate::world::{World, assert_conflict, assert_missing, assert_pages, everything, named, sorted, update, within};

/// A created organization is read back to the millisecond, in any status and with its parent.
pub async fn a_created_row_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let root = world.organization(&tenant, "root").await;
    for (number, status) in STATES.into_iter().enumerate() {
        let mut organization = world.new_organization(tenant.id, &format!("child-{number}"));
        organization.name = "Größe \"x\" \\ 'y' %_".parse().unwrap();
        organization.status = status;
        organization.parent_id = Some(root.id);
        let organization = world.add_organization(organization).await;
        assert_eq!(one(&world, tenant.id, organization.id).await, Some(organization));
    }
    assert_eq!(one(&world, tenant.id, world.id()).await, None);
}

/// Lineages hold the requested organizations and all their ancestors, each once and in any status. They hold no
/// organizations beside or below them.
pub async fn lineages_hold_every_ancestor_once(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let [root, left, right, leaf, sibling, elsewhere] = family(&world, &tenant).await;
    let deleted = world.below(&left, "deleted").await;
    let deleted = world.set_status(&deleted, OrganizationStatus::Inactive).await;
    let left = world.set_status(&left, OrganizationStatus::Suspended).await;
    for (asked, expected) in [
        (vec![&leaf], vec![&root, &left, &leaf]),
        (vec![&root], vec![&root]),
        (vec![&deleted], vec![&root, &left, &deleted]),
        (vec![&leaf, &sibling, &leaf, &root], vec![&root, &left, &leaf, &sibling]),
        (vec![&leaf, &right, &elsewhere], vec![&root, &left, &right, &leaf, &elsewhere]),
        (vec![], vec![]),
    ] {
        let mut ids: Vec<OrganizationId> = asked.iter().map(|organization| organization.id).collect();
        ids.push(world.id());
        let mut expected: Vec<Organization> = expected.into_iter().cloned().collect();
        expected.sort_by_key(|organization| organization.id);
        assert_eq!(lineages(&world, tenant.id, &ids).await, expected, "{asked:?}");
    }
}

/// A chain of a hundred levels is read completely, upwards and downwards.
pub async fn deep_lineages_are_complete(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let chain = world.chain(&tenant, "level", 100).await;
    let (root, leaf) = (&chain[0], &chain[99]);
    let hierarchy: Hierarchy = lineages(&world, tenant.id, &[leaf.id]).await.into_iter().collect();
    let upwards: Vec<OrganizationId> = hierarchy.node(leaf.id).unwrap().lineage().collect();
    assert!(upwards.iter().eq(chain.iter().rev().map(|organization| &organization.id)));
    assert_eq!(subtree(&world, tenant.id, root.id).await, chain);
    let found = list(&world, &tenant, OrganizationFilter::default(), &within(&[root])).await;
    assert_eq!(found.len(), 100);
    assert_eq!(list(&world, &tenant, OrganizationFilter::default(), &within(&[leaf])).await, chain[99..]);
}

/// A subtree is ordered newest first, then by id. It leaves out deleted organizations below its root, but neither a
/// deleted root nor suspended organizations.
pub async fn a_subtree_leaves_out_deleted_organizations(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let [root, left, right, leaf, sibling, _] = family(&world, &tenant).await;
    let gone = world.below(&right, "gone").await;
    world.set_status(&gone, OrganizationStatus::Inactive).await;
    let left = world.set_status(&left, OrganizationStatus::Suspended).await;
    let right = world.set_status(&right, OrganizationStatus::Inactive).await;
    let mut expected = vec![root.clone(), left.clone(), leaf.clone(), sibling.clone()];
    expected.sort_by_key(|organization| (Reverse(organization.created_at), organization.id));
    assert_eq!(subtree(&world, tenant.id, root.id).await, expected);
    assert_eq!(subtree(&world, tenant.id, leaf.id).await, [leaf]);
    assert_eq!(subtree(&world, tenant.id, right.id).await, [right]);
    assert_eq!(subtree(&world, tenant.id, world.id()).await, []);
}

/// Children are the organizations directly below, newest first, then by id. Deleted ones are left out, suspended ones
/// are not.
pub async fn children_are_directly_below_their_parent(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let root = world.organization(&tenant, "root").await;
    let mut expected = Vec::new();
    for number in 0..7 {
        if number % 3 == 0 {
            world.tick();
        }
        let child = world.below(&root, &format!("child-{number}")).await;
        world.below(&child, &format!("grandchild-{number}")).await;
        match number {
            2 => drop(world.set_status(&child, OrganizationStatus::Inactive).await),
            4 => expected.push(world.set_status(&child, OrganizationStatus::Suspended).await),
            _ => expected.push(child),
        }
    }
    expected.sort_by_key(|organization| (Reverse(organization.created_at), organization.id));
    assert_eq!(world.store.children(tenant.id, root.id, 100).await.unwrap(), expected);
    for limit in [1, 5, 6] {
        let mut some = world.store.children(tenant.id, root.id, limit).await.unwrap();
        assert_eq!(some.len() as u32, limit);
        some.retain(|child| !expected.contains(child));
        assert_eq!(some, []);
    }
    assert_eq!(world.store.children(tenant.id, world.id(), 100).await.unwrap(), []);
}

/// The children of several organizations are ordered by name, in any letter case. They are limited for each parent and
/// as a whole. Deleted ones are left out, suspended ones are not.
pub async fn children_of_several_organizations_are_found_by_name(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let [root, left, right, leaf, sibling, elsewhere] = family(&world, &tenant).await;
    let gone = world.below(&root, "gone").await;
    world.set_status(&gone, OrganizationStatus::Inactive).await;
    let left = world.set_status(&left, OrganizationStatus::Suspended).await;
    let middle = Organization { parent_id: Some(left.id), ..world.new_organization(tenant.id, "middle") };
    let middle = world.add_organization(Organization { name: "ORGANIZATION middle".parse().unwrap(), ..middle }).await;
    let parents = [root.id, left.id, root.id, elsewhere.id, gone.id, world.id()];
    for (each, limit, expected) in [
        (10, 10, vec![&leaf, &left, &middle, &right, &sibling]),
        (2, 10, vec![&leaf, &left, &middle, &right]),
        (1, 10, vec![&leaf, &left]),
        (10, 3, vec![&leaf, &left, &middle]),
        (0, 10, vec![]),
        (10, 0, vec![]),
    ] {
        let found = world.store.children_of(tenant.id, &parents, each, limit).await.unwrap();
        assert_eq!(Vec::from_iter(&found), expected, "{each} of each, {limit} of all");
    }
    assert_eq!(world.store.children_of(tenant.id, &[leaf.id], 10, 10).await.unwrap(), []);
    assert_eq!(world.store.children_of(tenant.id, &[], 10, 10).await.unwrap(), []);
    assert_eq!(world.store.children_of(other.id, &parents, 10, 10).await.unwrap(), []);
}

/// What is below an organization is counted without deleted organizations. Its members are the users who hold a role,
/// each once, by assignments that have not expired. If there are more assignments than are to be read, none are counted.
pub async fn members_and_organizations_below_are_counted(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let roles = world.roles(&tenant).await;
    let (auditor, member) = (named(&roles, "AUDITOR"), named(&roles, "MEMBER"));
    let [root, left, right, leaf, _, elsewhere] = family(&world, &tenant).await;
    let [ada, bob] = [world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await];
    let end = world.now() + TimeDelta::hours(1);
    for (role, place) in [(auditor, &root), (member, &root), (member, &leaf), (member, &elsewhere)] {
        world.give(&ada, role, Some(place)).await;
    }
    world.give(&ada, auditor, None).await;
    world.give_until(&bob, member, Some(&left), Some(end)).await;
    let gone = world.below(&root, "gone").await;
    world.give(&bob, member, Some(&gone)).await;
    let gone = world.set_status(&gone, OrganizationStatus::Inactive).await;
    let counted = |found: &Organization, below, own, members_below| OrganizationCounts {
        id: found.id,
        below,
        members: Some(MemberCounts { own, below: members_below }),
    };
    let asked = [root.id, left.id, right.id, leaf.id, elsewhere.id, root.id, world.id()];
    let before = [
        counted(&root, 4, 1, 2),
        counted(&left, 2, 1, 1),
        counted(&right, 0, 0, 0),
        counted(&leaf, 0, 1, 0),
        counted(&elsewhere, 0, 1, 0),
    ];
    let mut after = before;
    after[0] = counted(&root, 4, 1, 1);
    after[1] = counted(&left, 2, 0, 1);
    let uncounted = before.map(|counts| OrganizationCounts { members: None, ..counts });
    for (at, most, expected) in [
        (end - TimeDelta::milliseconds(1), 5, before),
        (end - TimeDelta::milliseconds(1), 4, uncounted),
        (end, 4, after),
        (end, 3, uncounted),
    ] {
        let found = world.store.organization_counts(tenant.id, &asked, at, most).await.unwrap();
        assert_eq!(sorted(found, |counts| counts), sorted(expected.into(), |counts| counts), "at most {most}");
    }
    let found = world.store.organization_counts(tenant.id, &[gone.id], end, 1).await.unwrap();
    assert_eq!(found, [counted(&gone, 0, 1, 0)]);
    assert_eq!(world.store.organization_counts(tenant.id, &[], end, 5).await.unwrap(), []);
    assert_eq!(world.store.organization_counts(other.id, &asked, end, 5).await.unwrap(), []);
}

/// Every changed field is read back, for a change to any status.
pub async fn update_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let parent = world.organization(&tenant, "parent").await;
    let mut before = world.organization(&tenant, "before").await;
    let bystander = world.organization(&tenant, "bystander").await;
    for (parent_id, status) in [
        (Some(parent.id), OrganizationStatus::Suspended),
        (None, OrganizationStatus::Active),
        (Some(parent.id), OrganizationStatus::Inactive),
        (Some(parent.id), OrganizationStatus::Active),
    ] {
        world.tick();
        let after = Organization {
            name: format!("Renamed to {status}").parse().unwrap(),
            slug: format!("renamed-{}", status.as_str().to_lowercase()).parse().unwrap(),
            status,
            parent_id,
            updated_at: world.now(),
            ..before.clone()
        };
        before = world.reorganize(&before, after).await;
        assert_eq!(one(&world, tenant.id, before.id).await, Some(before.clone()));
    }
    let after = Organization { status: OrganizationStatus::Inactive, ..before.clone() }.changed(world.now());
    world.commit(tenant.id, OrganizationChange::Delete { before: before.clone(), after: after.clone() }).await;
    assert_eq!(one(&world, tenant.id, before.id).await, Some(after));
    assert_eq!(one(&world, tenant.id, bystander.id).await, Some(bystander));
}

/// Every change of an organization raises its version by one. A move raises the version of no organization below.
pub async fn every_change_raises_the_version(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let [root, left, right, leaf, ..] = family(&world, &tenant).await;
    let moved = Organization { parent_id: Some(right.id), ..left.clone() };
    let after = Organization { status: OrganizationStatus::Inactive, ..moved.clone() };
    let changes = [update(&left, &moved), OrganizationChange::Delete { before: moved, after }];
    let version = async |id| one(&world, tenant.id, id).await.unwrap().version;
    let mut expected = Version::FIRST;
    assert_eq!(version(left.id).await, expected);
    for change in changes {
        let shown = format!("{change:?}");
        world.commit(tenant.id, change).await;
        expected = expected.next();
        assert_eq!(version(left.id).await, expected, "{shown}");
    }
    for other in [root, right, leaf] {
        assert_eq!(version(other.id).await, Version::FIRST);
    }
}

/// A move takes the whole subtree along. Organizations that are not above it after the move do not contain it.
pub async fn a_move_takes_the_subtree_along(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let [root, left, right, leaf, ..] = family(&world, &tenant).await;
    let moved = Organization { parent_id: Some(right.id), ..left.clone() };
    let moved = world.reorganize(&left, moved).await;
    assert_eq!(
        ids(&lineages(&world, tenant.id, &[leaf.id]).await),
        ids(&[&root, &left, &right, &leaf].map(Clone::clone))
    );
    let below_right = subtree(&world, tenant.id, right.id).await;
    assert!(below_right.contains(&leaf) && below_right.contains(&moved));
    assert_eq!(world.store.children(tenant.id, root.id, 100).await.unwrap(), slice::from_ref(&right));

    let moved = world.reorganize(&moved, Organization { parent_id: None, ..moved.clone() }).await;
    assert_eq!(ids(&lineages(&world, tenant.id, &[leaf.id]).await), ids(&[moved, leaf.clone()]));
    assert_eq!(subtree(&world, tenant.id, right.id).await, [right]);
    assert!(!subtree(&world, tenant.id, root.id).await.contains(&leaf));
}

/// A missing organization can be neither changed nor deleted.
pub async fn a_change_to_a_missing_row_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let nothing = world.new_organization(tenant.id, "nothing");
    let after = Organization { status: OrganizationStatus::Inactive, ..nothing.clone() };
    let delete = OrganizationChange::Delete { before: nothing.clone(), after: after.clone() };
    for change in [update(&nothing, &after), delete] {
        assert_missing(&world.try_commit(tenant.id, [change.into()]).await);
    }
}

/// A parent must exist in the same tenant, for a creation and for a move.
pub async fn a_parent_must_be_in_the_same_tenant(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let foreign = world.organization(&other, "foreign").await;
    let own = world.organization(&tenant, "own").await;
    for parent in [world.id(), foreign.id] {
        let orphan = Organization { parent_id: Some(parent), ..world.new_organization(tenant.id, "orphan") };
        let moved = Organization { parent_id: Some(parent), ..own.clone() };
        for change in [OrganizationChange::create(orphan), update(&own, &moved)] {
            assert_conflict(&world.try_commit(tenant.id, [change.into()]).await, Constraint::Reference);
        }
    }
    assert_eq!(one(&world, tenant.id, own.id).await, Some(own));
}

/// A slug is unique among the organizations of a tenant that are not deleted, at any level. It is free in another
/// tenant.
pub async fn slug_is_unique_in_a_tenant(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let parent = world.organization(&tenant, "parent").await;
    let holder = world.below(&parent, "taken").await;
    let renamed = world.organization(&tenant, "free").await;
    world.organization(&other, "taken").await;
    for holder_is in [OrganizationStatus::Active, OrganizationStatus::Suspended] {
        world.set_status(&holder, holder_is).await;
        assert!(is_taken(&world, tenant.id, "taken").await);
        let create = OrganizationChange::create(world.new_organization(tenant.id, "taken"));
        let rename = update(&renamed, &Organization { slug: holder.slug.clone(), ..renamed.clone() });
        for change in [create, rename] {
            assert_conflict(&world.try_commit(tenant.id, [change.into()]).await, Constraint::OrganizationSlug);
        }
    }
    for (slug, tenant, expected) in
        [("free", &tenant, true), ("free", &other, false), ("take", &tenant, false), ("taken", &other, true)]
    {
        assert_eq!(is_taken(&world, tenant.id, slug).await, expected, "{slug}");
    }
    let same_slug = Organization { name: "Another name".parse().unwrap(), ..renamed.clone() };
    world.reorganize(&renamed, same_slug).await;
}

/// The slug of a deleted organization is free, more than once. The organization can be restored only if no other one
/// has taken the slug.
pub async fn the_slug_of_a_deleted_organization_is_free(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let mut deleted = Vec::new();
    for _ in 0..2 {
        let organization = world.organization(&tenant, "branch").await;
        deleted.push(world.set_status(&organization, OrganizationStatus::Inactive).await);
        assert!(!is_taken(&world, tenant.id, "branch").await);
    }
    let holder = world.organization(&tenant, "branch").await;
    let renamed = Organization { name: "Still deleted".parse().unwrap(), ..deleted[1].clone() };
    let renamed = world.reorganize(&deleted[1], renamed).await;
    for status in [OrganizationStatus::Active, OrganizationStatus::Suspended] {
        let back = Organization { status, ..deleted[0].clone() };
        let refused = world.try_commit(tenant.id, [update(&deleted[0], &back).into()]).await;
        assert_conflict(&refused, Constraint::OrganizationSlug);
    }
    world.set_status(&holder, OrganizationStatus::Inactive).await;
    world.set_status(&deleted[0], OrganizationStatus::Active).await;
    assert!(is_taken(&world, tenant.id, "branch").await);
    let back = Organization { status: OrganizationStatus::Active, ..renamed.clone() };
    let refused = world.try_commit(tenant.id, [update(&renamed, &back).into()]).await;
    assert_conflict(&refused, Constraint::OrganizationSlug);
}

/// Organizations that are not deleted are found by their slugs, in the tenant alone.
pub async fn organizations_are_found_by_their_slugs(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let parent = world.organization(&tenant, "parent").await;
    let child = world.below(&parent, "child").await;
    let child = world.set_status(&child, OrganizationStatus::Suspended).await;
    let deleted = world.organization(&tenant, "deleted").await;
    world.set_status(&deleted, OrganizationStatus::Inactive).await;
    let foreign = world.organization(&other, "foreign").await;
    let found = async |tenant: TenantId, slugs: &[&str]| {
        let slugs: Vec<Slug> = slugs.iter().map(|slug| slug.parse().unwrap()).collect();
        let mut found = world.store.organizations_by_slug(tenant, &slugs).await.unwrap();
        found.sort_by_key(|organization| organization.id);
        found
    };
    let mut both = vec![parent.clone(), child];
    both.sort_by_key(|organization| organization.id);
    assert_eq!(found(tenant.id, &[]).await, []);
    assert_eq!(found(tenant.id, &["parent"]).await, [parent]);
    assert_eq!(found(tenant.id, &["child", "parent", "deleted", "foreign", "paren", "child"]).await, both);
    assert_eq!(found(other.id, &["parent", "foreign"]).await, [foreign]);
}

/// Each filter alone, and several together, select the organizations for which [`OrganizationFilter::matches`] is
/// true.
pub async fn list_filters_by_every_field(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let organizations = mixed(&world, &tenant).await;
    mixed(&world, &other).await;
    let root = organizations[0].id;
    let plain = OrganizationFilter::default;
    let parent = |parent| OrganizationFilter { parent: Some(parent), ..plain() };
    let status = |status| OrganizationFilter { status: Some(status), ..plain() };
    let filters = [
        (plain(), 7),
        (parent(ParentFilter::Root), 3),
        (parent(ParentFilter::Of(root)), 3),
        (parent(ParentFilter::Of(world.id())), 0),
        (status(OrganizationStatus::Active), 5),
        (status(OrganizationStatus::Suspended), 2),
        (status(OrganizationStatus::Inactive), 2),
        (OrganizationFilter { status: Some(OrganizationStatus::Inactive), ..parent(ParentFilter::Root) }, 1),
        (OrganizationFilter { status: Some(OrganizationStatus::Suspended), ..parent(ParentFilter::Of(root)) }, 1),
        (OrganizationFilter { search: Some("B".into()), ..parent(ParentFilter::Of(root)) }, 3),
        (OrganizationFilter { search: Some("z".into()), ..status(OrganizationStatus::Inactive) }, 1),
    ];
    for (filter, count) in filters {
        let found = list(&world, &tenant, filter.clone(), &VisibleScope::Tenant).await;
        let mut expected: Vec<Organization> =
            organizations.iter().filter(|organization| filter.matches(organization)).cloned().collect();
        expected.sort_by(|a, b| OrganizationSort::default().compare(a, b));
        assert_eq!((found.len(), found), (count, expected), "{filter:?}");
    }
}

/// A search finds parts of the name and the slug in any letter case, and has no wildcards.
pub async fn search_ignores_case_and_has_no_wildcards(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    for (number, name) in
        ["per%cent", "under_score", "back\\slash", "Émilie's ÅNGSTRÖM", "Ὀδυσσεύς"].into_iter().enumerate()
    {
        let organization = world.new_organization(tenant.id, &format!("slug-{number}"));
        world.add_organization(Organization { name: name.parse().unwrap(), ..organization }).await;
    }
    let cases = [
        ("%", 1),
        ("_", 1),
        ("\\", 1),
        ("'", 1),
        ("r%c", 1),
        ("émi", 1),
        ("ångström", 1),
        ("SLUG-2", 1),
        ("slug", 5),
        ("ὈΔΥΣ", 1),
        ("ΣΣΕΎΣ", 1),
        ("'; drop table organizations", 0),
        ("cent slug", 1),
        ("cent slug zzz", 0),
        ("E\u{301}MI", 1),
        ("r_score", 1),
        ("r%score", 0),
    ];
    for (search, expected) in cases {
        let filter = OrganizationFilter { search: Some(search.to_owned()), ..OrganizationFilter::default() };
        assert_eq!(list(&world, &tenant, filter, &VisibleScope::Tenant).await.len(), expected, "{search}");
    }
}

/// Every key sorts in both directions, in the order of [`OrganizationSort::compare`].
pub async fn list_sorts_by_every_key(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let mut expected = mixed(&world, &tenant).await;
    expected.retain(|organization| organization.status != OrganizationStatus::Inactive);
    let root = expected[0].clone();
    for by in [OrganizationSortKey::Name, OrganizationSortKey::CreatedAt, OrganizationSortKey::UpdatedAt] {
        for order in [SortOrder::Ascending, SortOrder::Descending] {
            let sort = OrganizationSort { by, order };
            expected.sort_by(|a, b| sort.compare(a, b));
            let filter = OrganizationFilter::default();
            let list = async |visible_scope| {
                world.store.organizations(tenant.id, &filter, &visible_scope, sort, everything()).await.unwrap().items
            };
            assert_eq!(list(VisibleScope::Tenant).await, expected, "{sort:?}");
            let mut visible = expected.clone();
            visible.retain(|it| it.id == root.id || it.parent_id.is_some());
            assert_eq!(list(within(&[&root])).await, visible, "{sort:?}");
        }
    }
}

/// Pages follow each other without gaps or repetitions, and have the total, with and without a limited visible scope.
pub async fn list_pages_and_counts(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let root = world.organization(&tenant, "root").await;
    let mut expected = vec![root.clone()];
    for number in 0..8 {
        if number % 3 == 0 {
            world.tick();
        }
        let parent = expected[number / 2].clone();
        expected.push(world.below(&parent, &format!("child-{number}")).await);
        world.organization(&tenant, &format!("other-{number}")).await;
    }
    let sort = OrganizationSort::default();
    expected.sort_by(|a, b| sort.compare(a, b));
    let filter = OrganizationFilter::default();
    let visible_scope = within(&[&root]);
    assert_pages(&expected, async |page| {
        world.store.organizations(tenant.id, &filter, &visible_scope, sort, page).await.unwrap()
    })
    .await;
    let all = list(&world, &tenant, OrganizationFilter::default(), &VisibleScope::Tenant).await;
    assert_eq!(all.len(), 17);
    assert_pages(&all, async |page| {
        world.store.organizations(tenant.id, &filter, &VisibleScope::Tenant, sort, page).await.unwrap()
    })
    .await;
}

/// The visible scope of organizations has the organizations themselves and everything below them, each once. It has
/// nothing beside or above them, and nothing of another tenant.
pub async fn list_stays_within_the_visible_scope(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let [root, left, right, leaf, sibling, elsewhere] = family(&world, &tenant).await;
    let [foreign, ..] = family(&world, &other).await;
    let deleted = world.below(&leaf, "deleted").await;
    let deleted = world.set_status(&deleted, OrganizationStatus::Inactive).await;
    let left = world.set_status(&left, OrganizationStatus::Suspended).await;
    for (visible_scope, expected) in [
        (within(&[&root]), vec![&root, &left, &right, &leaf, &sibling]),
        (within(&[&left]), vec![&left, &leaf, &sibling]),
        (within(&[&leaf]), vec![&leaf]),
        (within(&[&left, &leaf, &left]), vec![&left, &leaf, &sibling]),
        (within(&[&right, &sibling]), vec![&right, &sibling]),
        (within(&[&elsewhere, &leaf]), vec![&elsewhere, &leaf]),
        (within(&[&foreign]), vec![]),
        (VisibleScope::Organizations(vec![world.id()]), vec![]),
    ] {
        let found = list(&world, &tenant, OrganizationFilter::default(), &visible_scope).await;
        let mut expected: Vec<Organization> = expected.into_iter().cloned().collect();
        expected.sort_by(|a, b| OrganizationSort::default().compare(a, b));
        assert_eq!(found, expected, "{visible_scope:?}");
    }
    let parent = |parent| OrganizationFilter { parent: Some(parent), ..OrganizationFilter::default() };
    let found = list(&world, &tenant, parent(ParentFilter::Of(left.id)), &within(&[&leaf, &right])).await;
    assert_eq!(found, slice::from_ref(&leaf));
    let found = list(&world, &tenant, parent(ParentFilter::Root), &within(&[&left])).await;
    assert_eq!(found, [], "the highest visible organization is not a root");
    let status = Some(OrganizationStatus::Inactive);
    for (visible_scope, expected) in [(within(&[&left]), vec![deleted]), (within(&[&sibling, &right]), vec![])] {
        let filter = OrganizationFilter { status, ..OrganizationFilter::default() };
        assert_eq!(list(&world, &tenant, filter, &visible_scope).await, expected);
    }
}

/// An organization is not found in another tenant, for reads and for writes.
pub async fn rows_of_another_tenant_are_not_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let [root, _, _, leaf, ..] = family(&world, &acme).await;
    assert_eq!(lineages(&world, other.id, &[leaf.id]).await, []);
    assert_eq!(subtree(&world, other.id, root.id).await, []);
    assert_eq!(world.store.children(other.id, root.id, 100).await.unwrap(), []);
    let children = OrganizationFilter { parent: Some(ParentFilter::Of(root.id)), ..OrganizationFilter::default() };
    for filter in [OrganizationFilter::default(), children] {
        for visible_scope in [VisibleScope::Tenant, within(&[&root])] {
            assert_eq!(list(&world, &other, filter.clone(), &visible_scope).await, []);
        }
    }
    assert!(!is_taken(&world, other.id, "root").await);
    let after = Organization { status: OrganizationStatus::Inactive, ..root.clone() };
    let delete = OrganizationChange::Delete { before: root.clone(), after: after.clone() };
    for change in [update(&root, &after), delete] {
        assert_missing(&world.try_commit(other.id, [change.into()]).await);
    }
    assert_eq!(one(&world, acme.id, root.id).await, Some(root));
}

/// A unit of work reads its own changes. No other reader sees them before the commit.
pub async fn a_unit_of_work_reads_its_own_changes(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let [root, left, right, leaf, sibling, _] = family(&world, &tenant).await;
    let caller = Caller::system(tenant.id, "conformance");
    let mut work = world.begin(caller.author()).await;
    let fresh = Organization { parent_id: Some(leaf.id), ..world.new_organization(tenant.id, "fresh") };
    work.apply(OrganizationChange::create(fresh.clone())).await.unwrap();
    let moved = Organization { parent_id: None, ..left.clone() };
    work.apply(update(&left, &moved)).await.unwrap();
    let found = work.reads().lineages(&[fresh.id]).await.unwrap();
    assert_eq!(ids(&found), ids(&[moved.clone(), leaf.clone(), fresh.clone()]));
    assert_eq!(ids(&work.reads().subtree(root.id).await.unwrap()), ids(&[root.clone(), right]));
    assert_eq!(ids(&work.reads().subtree(left.id).await.unwrap()), ids(&[moved, leaf.clone(), sibling, fresh.clone()]));
    assert!(work.reads().is_organization_slug_taken(&fresh.slug).await.unwrap());
    assert_eq!(world.store.lineages(tenant.id, &[fresh.id]).await.unwrap(), [], "other readers do not see it");
    assert_eq!(world.store.subtree(tenant.id, root.id).await.unwrap().len(), 5);
}

const STATES: [OrganizationStatus; 3] =
    [OrganizationStatus::Active, OrganizationStatus::Suspended, OrganizationStatus::Inactive];

/// A root, its children `left` and `right`, two leaves below `left`, and another root. The second leaf is older than
/// its parent.
async fn family(world: &World, tenant: &Tenant) -> [Organization; 6] {
    let root = world.organization(tenant, "root").await;
    world.tick();
    let left = world.below(&root, "left").await;
    let right = world.below(&root, "right").await;
    world.tick();
    let leaf = world.below(&left, "leaf").await;
    let mut sibling = world.new_organization(tenant.id, "sibling");
    sibling.parent_id = Some(left.id);
    sibling.created_at = root.created_at;
    let sibling = world.add_organization(sibling).await;
    let elsewhere = world.organization(tenant, "elsewhere").await;
    [root, left, right, leaf, sibling, elsewhere]
}

/// Nine organizations that no two keys sort alike. Some of them are equal in some keys. The first is a root.
async fn mixed(world: &World, tenant: &Tenant) -> Vec<Organization> {
    use OrganizationStatus::{Active, Inactive, Suspended};
    let rows = [
        ("Beta", "x-1", Active, false),
        ("beta", "x-2", Active, true),
        ("Alpha", "b-3", Suspended, true),
        ("Ωmega", "b-4", Active, true),
        ("Émile", "z-5", Inactive, true),
        ("emile", "x-6", Suspended, false),
        ("_under", "x-7", Active, false),
        ("-dash", "x-8", Inactive, false),
        ("Øst", "x-9", Active, false),
    ];
    let mut organizations: Vec<Organization> = Vec::new();
    for (number, (name, slug, status, is_below_first)) in rows.into_iter().enumerate() {
        if number % 2 == 0 {
            world.tick();
        }
        let mut organization = world.new_organization(tenant.id, slug);
        organization.name = name.parse().unwrap();
        organization.parent_id = match organizations.as_slice() {
            [first, ..] if is_below_first => Some(first.id),
            [_, second, ..] if name == "Øst" => Some(second.id),
            _ => None,
        };
        organization.updated_at = world.now() + chrono::TimeDelta::seconds(20 - 2 * (number as i64 / 2));
        let organization = world.add_organization(organization).await;
        let organization = match status {
            Active => organization,
            status => world.set_status(&organization, status).await,
        };
        organizations.push(organization);
    }
    organizations
}

fn ids(organizations: &[Organization]) -> Vec<OrganizationId> {
    sorted(organizations.iter().collect(), |organization| organization.id)
}

async fn one(world: &World, tenant: TenantId, id: OrganizationId) -> Option<Organization> {
    lineages(world, tenant, &[id]).await.into_iter().find(|organization| organization.id == id)
}

/// Reads lineages, in the order of the ids. Fails unless a unit of work reads the same.
async fn lineages(world: &World, tenant: TenantId, organizations: &[OrganizationId]) -> Vec<Organization> {
    let by_id = |mut found: Vec<Organization>| {
        found.sort_by_key(|organization| organization.id);
        found
    };
    let found = by_id(world.store.lineages(tenant, organizations).await.unwrap());
    let locked = world.locked(tenant, async |locks| locks.lineages(organizations).await.unwrap()).await;
    assert_eq!(by_id(locked), found);
    found
}

/// Reads a subtree. Fails unless a unit of work reads the same.
async fn subtree(world: &World, tenant: TenantId, root: OrganizationId) -> Vec<Organization> {
    let found = world.store.subtree(tenant, root).await.unwrap();
    let locked = world.locked(tenant, async |locks| locks.subtree(root).await.unwrap()).await;
    assert_eq!(locked, found);
    found
}

async fn is_taken(world: &World, tenant: TenantId, slug: &str) -> bool {
    let slug = slug.parse().unwrap();
    world.locked(tenant, async |locks| locks.is_organization_slug_taken(&slug).await.unwrap()).await
}

async fn list(
    world: &World,
    tenant: &Tenant,
    filter: OrganizationFilter,
    visible_scope: &VisibleScope,
) -> Vec<Organization> {
    let sort = OrganizationSort::default();
    let Page { items, total, .. } =
        world.store.organizations(tenant.id, &filter, visible_scope, sort, everything()).await.unwrap();
    assert_eq!(total, items.len() as u64);
    items
}
