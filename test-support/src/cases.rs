//! Tests for both stores on a real database, in addition to the conformance suite.

use iam_model::attribute::Attributes;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use iam_conformance::World;
use iam_core::AuditBatch;
use iam_core::access::{Until, VisibleScope};
use iam_core::assignment::{Assignment, AssignmentChange, AssignmentFilter, Grant};
use iam_core::audit::{AuditFilter, Cursor, Tampering};
use iam_core::clock::Timestamp;
use iam_core::organization::{
    Organization, OrganizationChange, OrganizationFilter, OrganizationSort, OrganizationStatus, ParentFilter,
};
use iam_core::page::PageRequest;
use iam_core::permission::{PermissionChange, RegisteredPermission};
use iam_core::role::{Role, RoleChange, TENANT_ADMIN};
use iam_core::secret::PasswordHash;
use iam_core::session::SessionChange;
use iam_core::tenant::{Tenant, TenantChange};
use iam_core::token::{KeyPurpose, PrivateKey, SigningKey};
use iam_core::user::{User, UserChange, UserFilter, UserSort};
use iam_core::{Caller, Change, Constraint, Store, StoreError, TenantId};

/// The store maps the violation of every constraint to the right [`Constraint`]. Without this test, a wrong name in the
/// mapping would be noticed only when two requests race.
pub async fn every_constraint_is_recognized(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let roles = world.roles(&tenant).await;
    let branch = world.organization(&tenant, "branch").await;
    let admin = roles.iter().find(|role| role.name.as_str() == TENANT_ADMIN).expect("the role is built in");
    world.give(&user, admin, None).await;
    world.give(&user, admin, Some(&branch)).await;
    let buyer = world.role(&tenant, "BUYER", &["orders:read"]).await;
    world.permission(&tenant, "orders:read").await;
    let office = world.organization(&tenant, "office").await;
    let gone = world.set_status(&world.organization(&tenant, "gone").await, OrganizationStatus::Inactive).await;
    world.organization(&tenant, "gone").await;

    let stranger = world.new_user(&tenant, "stranger@example.com");
    let same_email = User { email: user.email.clone(), ..world.user(&tenant, "grace@example.com").await };
    let known = world.new_user(&tenant, "known@example.com");
    let known = world.add(User { external_id: "00u1".parse().ok(), ..known }).await;
    let same_id = |user: User| User { external_id: known.external_id.clone(), ..user };
    let same_roles = roles.iter().map(|role| Role { id: world.id(), ..role.clone() }).collect();
    let same_name = Role { name: admin.name.clone(), ..buyer.clone() };
    let same_permission = world.new_permission(&tenant, "orders:read");
    let built_in = PermissionChange::CreateBuiltIn(vec![same_permission.clone()]);
    let same_slug = Organization { slug: branch.slug.clone(), ..office.clone() };
    let back = Organization { status: OrganizationStatus::Active, ..gone };
    let orphan = Organization { parent_id: Some(world.id()), ..world.new_organization(tenant.id, "orphan") };
    let moved = Organization { parent_id: Some(world.id()), ..office };
    let to = |role: &Role, organization| world.new_assignment(&user, role, organization);
    let twice = vec![to(&buyer, None), to(&buyer, None)];
    let to_stranger = world.new_assignment(&stranger, admin, None);
    let unknown = world.new_role(&tenant, "UNKNOWN", &[]);
    let cases: Vec<(Constraint, Change)> = vec![
        (Constraint::UserEmail, create(&world.new_user(&tenant, "ADA@example.com"))),
        (Constraint::UserEmail, update_user(same_email)),
        (Constraint::UserExternalId, create(&same_id(world.new_user(&tenant, "other@example.com")))),
        (Constraint::UserExternalId, update_user(same_id(user.clone()))),
        (Constraint::TenantSlug, TenantChange::Create(world.new_tenant("acme")).into()),
        (Constraint::PermissionName, register(same_permission)),
        (Constraint::PermissionName, built_in.into()),
        (Constraint::RoleName, RoleChange::CreateBuiltIn(same_roles).into()),
        (Constraint::RoleName, create_role(world.new_role(&tenant, TENANT_ADMIN, &[]))),
        (Constraint::RoleName, update_role(same_name)),
        (Constraint::RoleAssignment, assign(vec![to(admin, None)], admin)),
        (Constraint::RoleAssignment, assign(vec![to(admin, Some(branch.id))], admin)),
        (Constraint::RoleAssignment, assign(twice, &buyer)),
        (Constraint::OrganizationSlug, organize(Organization { id: world.id(), ..branch.clone() })),
        (Constraint::OrganizationSlug, reorganize(same_slug)),
        (Constraint::OrganizationSlug, reorganize(back)),
        (Constraint::Reference, organize(orphan)),
        (Constraint::Reference, reorganize(moved)),
        (Constraint::Reference, assign(vec![to(admin, Some(world.id()))], admin)),
        (Constraint::Reference, assign(vec![to(&unknown, None)], &unknown)),
        (Constraint::Reference, assign(vec![to_stranger], admin)),
        (Constraint::Reference, RoleChange::Delete(admin.clone()).into()),
        (Constraint::Reference, SessionChange::Start(world.new_session(&stranger)).into()),
        (
            Constraint::Reference,
            SessionChange::Impersonate { session: world.new_session(&stranger), grants: Vec::new() }.into(),
        ),
    ];
    for (expected, change) in cases {
        // A transaction that creates a tenant begins under the identifier of the new tenant.
        let scope = if expected == Constraint::TenantSlug { world.id() } else { tenant.id };
        let mut transaction = world.store.begin(scope).await.expect("a transaction begins");
        let refused = transaction.write(&change, AuditBatch::of_entries(Vec::new())).await;
        assert_conflict(&refused, expected);
    }
    let key = signing_key(&world, 1);
    world.store.insert_signing_key(&key).await.expect("the first key is new");
    let again = world.store.insert_signing_key(&signing_key(&world, 1)).await;
    assert_conflict(&again, Constraint::SigningKeyGeneration);
}

fn assert_conflict(refused: &Result<(), StoreError>, expected: Constraint) {
    assert!(matches!(refused, Err(StoreError::Conflict(found)) if *found == expected), "{expected:?}: {refused:?}");
}

fn slug(text: &str) -> iam_core::Slug {
    text.parse().expect("the text is a slug")
}

fn create(user: &User) -> Change {
    UserChange::Create {
        user: user.clone(),
        password: Some(PasswordHash::from("hash")),
        invitation: None,
        attributes: Attributes::default(),
    }
    .into()
}

fn update_user(after: User) -> Change {
    UserChange::Update { before: after.clone(), after, grants: None, attributes: None }.into()
}

fn register(permission: RegisteredPermission) -> Change {
    PermissionChange::Create { permission, wildcard_roles: None, held_until: Until::Forever }.into()
}

fn create_role(role: Role) -> Change {
    RoleChange::Create(role).into()
}

fn update_role(after: Role) -> Change {
    RoleChange::Update { before: after.clone(), after, held_until: Until::Forever }.into()
}

fn assign(assignments: Vec<Assignment>, role: &Role) -> Change {
    let grant = |assignment| Grant { assignment, role: Arc::new(role.clone()), organization: None };
    AssignmentChange::Create(assignments.into_iter().map(grant).collect()).into()
}

fn reorganize(after: Organization) -> Change {
    OrganizationChange::Update { before: after.clone(), after, activated: None, attributes: None }.into()
}

fn organize(organization: Organization) -> Change {
    OrganizationChange::create(organization).into()
}

fn signing_key(world: &World, generation: i64) -> SigningKey {
    SigningKey {
        purpose: KeyPurpose::Checkpoints,
        id: world.id(),
        generation,
        public: vec![9; 32],
        private: PrivateKey::Plain(vec![1; 32]),
        created_at: world.now(),
        signs_from: world.now(),
        revoked_at: None,
    }
}

/// A change is written to the tenant of the transaction, even if the change names another tenant.
pub async fn the_tenant_inside_a_change_is_ignored(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let user = world.new_user(&other, "ada@example.com");
    world.try_commit(acme.id, [create(&user)]).await.expect("the user is written to the transaction's tenant");
    assert_eq!(world.store.user(other.id, user.id).await.expect("it reads"), None);
    let expected = User { tenant_id: acme.id, ..user };
    assert_eq!(world.store.user(acme.id, expected.id).await.expect("it reads"), Some(expected.clone()));

    let (role, branch) = (world.new_role(&other, "BUYER", &["*"]), world.new_organization(other.id, "branch"));
    let permission = world.new_permission(&other, "orders:read");
    let assignment = world.new_assignment(&expected, &role, Some(branch.id));
    let changes = [
        create_role(role.clone()),
        organize(branch.clone()),
        register(permission.clone()),
        assign(vec![Assignment { tenant_id: other.id, ..assignment.clone() }], &role),
    ];
    world.try_commit(acme.id, changes).await.expect("the changes are written to the transaction's tenant");
    let page = PageRequest::default();
    assert_eq!(world.store.role(other.id, role.id).await.expect("it reads"), None);
    assert_eq!(world.store.lineages(other.id, &[branch.id]).await.expect("it reads"), []);
    assert_eq!(world.store.permissions(other.id, page).await.expect("it reads").items, []);
    assert_eq!(world.store.grants_of(other.id, &[expected.id]).await.expect("it reads"), []);
    let role = Role { tenant_id: acme.id, ..role };
    assert_eq!(world.store.role(acme.id, role.id).await.expect("it reads").as_ref(), Some(&role));
    let branch = Organization { tenant_id: acme.id, ..branch };
    assert_eq!(world.store.lineages(acme.id, &[branch.id]).await.expect("it reads"), [branch]);
    let permission = RegisteredPermission { tenant_id: acme.id, ..permission };
    assert_eq!(world.store.permissions(acme.id, page).await.expect("it reads").items, [permission]);
    let grants = world.store.grants_of(acme.id, &[expected.id]).await.expect("it reads");
    assert!(matches!(&grants[..], [grant] if grant.assignment == assignment && *grant.role == role), "{grants:?}");

    let after = Tenant { name: "Taken over".parse().expect("a name"), ..other.clone() };
    let rename = TenantChange::Update { before: other.clone(), after: Tenant { slug: slug("acme-2"), ..after } };
    world.try_commit(acme.id, [rename.into()]).await.expect("the transaction's tenant is renamed");
    assert_eq!(world.store.tenant(other.id).await.expect("it reads"), Some(other));
}

/// After a change has failed, its unit of work cannot be committed, also not by a caller that ignores the failure.
pub async fn nothing_is_committed_after_a_failure(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    world.user(&tenant, "ada@example.com").await;
    let fresh = world.new_user(&tenant, "grace@example.com");
    let caller = iam_core::Caller::system(tenant.id, "test");
    let mut work = world.begin(caller.author()).await;
    work.apply(create(&fresh)).await.expect("the e-mail is free");
    work.apply(create(&world.new_user(&tenant, "ada@example.com"))).await.expect_err("the e-mail is taken");
    work.commit().await.expect_err("a change has failed before");
    assert_eq!(world.store.user(tenant.id, fresh.id).await.expect("it reads"), None);
}

/// A task that is aborted in the middle of a unit of work leaves no row, and no lock on which other tasks wait.
pub async fn an_aborted_task_leaves_no_row_and_no_lock(store: Arc<dyn Store>) {
    let world = World::new(Arc::clone(&store));
    let tenant = world.tenant("acme").await;
    let user = world.new_user(&tenant, "ada@example.com");
    for round in 0..50 {
        let (store, change, tenant) = (Arc::clone(&store), create(&user), tenant.id);
        let task = tokio::spawn(async move {
            let mut transaction = store.begin(tenant).await.expect("a transaction begins");
            transaction.lock_tenant().await.expect("the tenant is locked");
            transaction.write(&change, AuditBatch::of_entries(Vec::new())).await.expect("the e-mail is free");
            std::future::pending::<()>().await;
        });
        // A different moment in each round: the task waits for the lock, reads, writes, or has written.
        tokio::time::sleep(Duration::from_micros(200 * round)).await;
        task.abort();
    }
    world.add(user).await;
}

/// An unusual filter finds nothing instead of failing. A client may send texts that a database cannot store or uses as
/// patterns, very long texts, and times outside of every calendar.
pub async fn odd_filters_find_nothing(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let page = PageRequest::default();
    let branch = world.organization(&tenant, "branch").await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    world.give(&user, &role, Some(&branch)).await;
    let in_branch = VisibleScope::Organizations(vec![branch.id]);
    let (user_sort, organization_sort) = (UserSort::default(), OrganizationSort::default());
    for search in ["\0", "ada\0", "branch\0", "%", "_da", "_ranch", "\\", "'", "\u{10ffff}", &"a".repeat(100_000)] {
        for scope in [&VisibleScope::Tenant, &in_branch] {
            let filter = UserFilter { search: Some(search.to_owned()), ..UserFilter::default() };
            let found = world.store.users(tenant.id, &filter, scope, user_sort, page, world.now()).await;
            assert_eq!(found.expect("it reads").total, 0, "{search:?}");
            let filter = OrganizationFilter { search: Some(search.to_owned()), ..OrganizationFilter::default() };
            let found = world.store.organizations(tenant.id, &filter, scope, organization_sort, page).await;
            assert_eq!(found.expect("it reads").total, 0, "{search:?}");
        }
    }
    let last = PageRequest::new(u64::MAX, 100).expect("a page");
    let filter = UserFilter::default();
    let found = world.store.users(tenant.id, &filter, &VisibleScope::Tenant, user_sort, last, world.now()).await;
    assert_eq!(found.map(|page| (page.items, page.total)).expect("it reads"), (vec![], 1));
    let filter = OrganizationFilter::default();
    let found = world.store.organizations(tenant.id, &filter, &in_branch, organization_sort, last).await;
    assert_eq!(found.map(|page| (page.items, page.total)).expect("it reads"), (vec![], 1));
    let filter = OrganizationFilter { parent: Some(ParentFilter::Of(branch.id)), ..filter };
    let found = world.store.organizations(tenant.id, &filter, &VisibleScope::Tenant, organization_sort, last).await;
    assert_eq!(found.expect("it reads").total, 0);

    // Times that a service can get from a clock or from a client.
    for (now, count) in [(Timestamp::MIN_UTC, 1), (Timestamp::MAX_UTC, 1)] {
        let filter = AssignmentFilter::default();
        let found = world.store.assignments(tenant.id, &filter, &in_branch, last, now).await;
        assert_eq!(found.map(|page| (page.items, page.total)).expect("it reads"), (vec![], count));
    }
    // More roots than a statement can have parameters. A store that binds each root as a parameter would fail.
    let many = VisibleScope::Organizations((0..40_000).map(|_| world.id()).chain([branch.id]).collect());
    let filter = UserFilter::default();
    let found = world.store.users(tenant.id, &filter, &many, user_sort, page, world.now()).await;
    assert_eq!(found.expect("it reads").total, 1);

    let plain = AuditFilter::default;
    let nul = || Some("USER\0".to_owned());
    let (first, last) = (Timestamp::MIN_UTC, Timestamp::MAX_UTC);
    for filter in [
        AuditFilter { action: nul(), ..plain() },
        AuditFilter { resource_type: nul(), ..plain() },
        AuditFilter { resource_id: nul(), ..plain() },
        AuditFilter { from: Some(last), ..plain() },
        AuditFilter { until: Some(first), ..plain() },
    ] {
        let found = world.store.audit_entries(tenant.id, &filter, None, 10).await;
        assert_eq!(found.expect("it reads"), [], "{filter:?}");
    }
    let all = AuditFilter { from: Some(first), until: Some(last), ..plain() };
    assert_eq!(world.store.audit_entries(tenant.id, &all, None, 10).await.expect("it reads").len(), 5);
    for (created_at, count) in [(first, 0), (last, 5)] {
        let after = Some(Cursor { created_at, id: world.id() });
        let found = world.store.audit_entries(tenant.id, &plain(), after, 10).await;
        assert_eq!(found.expect("it reads").len(), count);
    }
    assert_eq!(world.store.role_by_name(tenant.id, "TENANT_ADMIN\0").await.expect("it reads"), None);
    assert!(world.store.user(tenant.id, user.id).await.expect("it reads").is_some());
}

/// A time bound within a millisecond is later than an entry at the start of that millisecond.
pub async fn time_filters_of_the_audit_log_are_exact_within_a_millisecond(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let entry_at = world.now();
    for (nanoseconds, from, until) in [(-1, 1, 0), (0, 1, 1), (1, 0, 1), (1_000, 0, 1), (999_999, 0, 1)] {
        let moment = entry_at + TimeDelta::nanoseconds(nanoseconds);
        let count = async |filter: AuditFilter| {
            world.store.audit_entries(tenant.id, &filter, None, 10).await.expect("it reads").len()
        };
        assert_eq!(count(AuditFilter { from: Some(moment), ..AuditFilter::default() }).await, from, "{nanoseconds}");
        assert_eq!(count(AuditFilter { until: Some(moment), ..AuditFilter::default() }).await, until, "{nanoseconds}");
    }
}

/// A log whose sequenced entries were queued again by `queue_again` cannot be continued. It does not delay other logs,
/// even if it has very many pending entries.
pub async fn a_stuck_log_does_not_delay_other_logs(store: Arc<dyn Store>, queue_again: impl AsyncFnOnce(TenantId)) {
    let world = World::new(store);
    let (stuck, other) = (world.tenant("stuck").await.id, world.tenant("other").await.id);
    world.sequence().await;
    let sequenced = world.sequenced(stuck).await;
    queue_again(stuck).await;
    // More entries than one round sequences.
    world.record(world.new_entries(stuck, 3_000)).await;
    world.clock.advance(TimeDelta::minutes(1));
    world.record(world.new_entries(other, 3)).await;
    let iam = world.iam().await;
    let round = iam.sequence_audit_logs().await.expect("the other log can be sequenced");
    assert_eq!((round.entries, round.more), (3, false));
    assert_eq!(round.waiting_since, sequenced.first().map(|entry| entry.leaf.created_at), "it reports the stuck log");
    assert_eq!(world.pending(other).await, []);
    world.assert_clean(other, &[]).await;
    assert_eq!(world.sequenced(stuck).await, sequenced);
    let found = iam.audit().verify(&Caller::system(stuck, "test"), &[]).await.expect("the log can be read").findings;
    let entries: Vec<_> = found.iter().map(|finding| (finding.what, finding.entry)).collect();
    let again: Vec<_> = sequenced.iter().map(|entry| (Tampering::Inserted, Some(entry.leaf.entry_id))).collect();
    assert_eq!(entries, again);
}

/// Queue rows that the service would not write, and that `insert` has written, do not delay other entries, and the
/// verification reports them.
pub async fn malformed_queue_rows_do_not_delay_other_entries(
    store: Arc<dyn Store>,
    insert: impl AsyncFnOnce(TenantId),
) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await.id, world.tenant("other").await.id);
    world.sequence().await;
    insert(tenant).await;
    for tenant in [tenant, other] {
        world.record(world.new_entries(tenant, 3)).await;
    }
    world.sequence().await;
    world.assert_clean(other, &[]).await;
    let verification = world.iam().await.audit().verify(&Caller::system(tenant, "test"), &[]).await;
    let verification = verification.expect("the log can be read");
    assert_eq!(verification.sequenced, world.sequenced(other).await.len() as u64);
    let [found] = &verification.findings[..] else { panic!("{:?}", verification.findings) };
    assert!(found.sequence.is_none(), "{found:?}");
}
