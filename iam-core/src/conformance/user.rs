//! Users.

use std::sync::Arc;

use chrono::TimeDelta;

use super::World;
use super::world::{create, named};
use crate::assignment::Assignment;
use crate::error::{Conflict, Error, StoreError};
use crate::page::{PageRequest, SortOrder};
use crate::store::Store;
use crate::tenant::Tenant;
use crate::user::{User, UserChange, UserFilter, UserSort, UserSortKey, UserStatus};

/// What was created is read back to the millisecond.
pub async fn created_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "Ada@Example.com").await;
    assert_eq!(world.store.user(tenant.id, user.id).await.unwrap(), Some(user));
    assert_eq!(world.store.user(tenant.id, world.id()).await.unwrap(), None);
}

/// Two users of a tenant cannot have one e-mail, by creating or by changing, even when one is deleted.
pub async fn email_is_unique_whatever_its_case(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let first = world.user(&tenant, "ada@example.com").await;
    let deleted = User { status: UserStatus::Inactive, ..first.clone() };
    world.commit(tenant.id, UserChange::Delete { before: first, after: deleted }).await;

    let second = world.new_user(&tenant, "ADA@example.com");
    let refused = world.try_commit(tenant.id, [create(&second)]).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::EmailTaken))), "{refused:?}");

    let third = world.user(&tenant, "grace@example.com").await;
    let after = User { email: "Ada@example.com".parse().unwrap(), ..third.clone() };
    let refused = world.try_commit(tenant.id, [UserChange::Update { before: third, after }.into()]).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::EmailTaken))), "{refused:?}");
}

/// A tenant does not notice another tenant's e-mails.
pub async fn email_is_free_in_another_tenant(store: Arc<dyn Store>) {
    let world = World::new(store);
    for slug in ["acme", "other"] {
        let tenant = world.tenant(slug).await;
        world.user(&tenant, "ada@example.com").await;
    }
}

/// A change and a login that cross each other both survive.
pub async fn update_keeps_the_last_login(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let before = world.user(&tenant, "ada@example.com").await;
    world.tick();
    let login = world.now();
    world.commit(tenant.id, UserChange::LoggedIn { user: before.id, at: login }).await;
    world.tick();
    let after = User {
        email: "Ada.King@example.com".parse().unwrap(),
        last_name: "King".parse().unwrap(),
        status: UserStatus::Suspended,
        updated_at: world.now(),
        ..before.clone()
    };
    world.commit(tenant.id, UserChange::Update { before: before.clone(), after: after.clone() }).await;
    let expected = User { last_login_at: Some(login), ..after };
    assert_eq!(world.store.user(tenant.id, before.id).await.unwrap(), Some(expected));
}

/// Who is not there cannot be changed.
pub async fn update_of_nobody_is_missing(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let nobody = world.new_user(&tenant, "ada@example.com");
    let changes = [
        UserChange::Update { before: nobody.clone(), after: nobody.clone() },
        UserChange::LoggedIn { user: nobody.id, at: world.now() },
    ];
    for change in changes {
        let refused = world.try_commit(tenant.id, [change.into()]).await;
        assert!(matches!(refused, Err(Error::Store(StoreError::Missing(_)))), "{refused:?}");
    }
}

/// A tenant's user is nobody in another tenant, whether reading or writing.
pub async fn of_another_tenant_is_not_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let user = world.user(&acme, "ada@example.com").await;
    assert_eq!(world.store.user(other.id, user.id).await.unwrap(), None);
    assert_eq!(list(&world, &other, UserFilter::default()).await, Vec::<User>::new());
    let caller = crate::Caller::system(other.id, "conformance");
    let mut work = world.begin(&caller).await;
    assert_eq!(work.locks().lock_user(user.id).await.unwrap(), None);
    let after = User { status: UserStatus::Inactive, ..user.clone() };
    let refused = work.apply(UserChange::Update { before: user.clone(), after }).await;
    assert!(matches!(refused, Err(Error::Store(StoreError::Missing(_)))), "{refused:?}");
    drop(work);
    assert_eq!(world.store.user(acme.id, user.id).await.unwrap(), Some(user));
}

/// Every key sorts in both directions as [`UserSort::compare`] says.
pub async fn list_sorts_by_every_key(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let users = mixed_users(&world, &tenant).await;
    let keys = [
        UserSortKey::CreatedAt,
        UserSortKey::UpdatedAt,
        UserSortKey::Email,
        UserSortKey::FirstName,
        UserSortKey::LastName,
        UserSortKey::LastLoginAt,
        UserSortKey::Status,
    ];
    for by in keys {
        for order in [SortOrder::Ascending, SortOrder::Descending] {
            let sort = UserSort { by, order };
            let mut expected = users.clone();
            expected.sort_by(|a, b| sort.compare(a, b));
            let page = PageRequest::new(1, 100).unwrap();
            let found = world.store.users(tenant.id, &UserFilter::default(), sort, page, world.now()).await.unwrap();
            assert_eq!(found.items, expected, "{sort:?}");
        }
    }
}

/// Pages follow each other without gap or repetition, and count the whole.
pub async fn list_pages_and_counts(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let mut expected = mixed_users(&world, &tenant).await;
    expected.sort_by(|a, b| UserSort::default().compare(a, b));
    let mut seen = Vec::new();
    for page in 1..=4 {
        let request = PageRequest::new(page, 3).unwrap();
        let found = world
            .store
            .users(tenant.id, &UserFilter::default(), UserSort::default(), request, world.now())
            .await
            .unwrap();
        assert_eq!((found.total, found.request), (8, request));
        seen.extend(found.items);
    }
    assert_eq!(seen, expected);
}

/// One status, and nobody of another.
pub async fn list_filters_by_status(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let users = mixed_users(&world, &tenant).await;
    for status in [UserStatus::Active, UserStatus::Suspended, UserStatus::Inactive] {
        let found = list(&world, &tenant, UserFilter { status: Some(status), ..UserFilter::default() }).await;
        assert_eq!(found.len(), users.iter().filter(|user| user.status == status).count());
        assert!(found.iter().all(|user| user.status == status));
    }
}

/// A search finds parts of e-mail, first and last name whatever the case, and has no wildcards.
pub async fn search_takes_every_character_as_it_is(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let names = [("per%cent", "Plain"), ("under_score", "Plain"), ("back\\slash", "Plain"), ("Émilie", "ÅNGSTRÖM")];
    for (number, (first, last)) in names.into_iter().enumerate() {
        let mut user = world.new_user(&tenant, &format!("User{number}@Example.com"));
        user.first_name = first.parse().unwrap();
        user.last_name = last.parse().unwrap();
        world.add(user).await;
    }
    let cases = [
        ("%", 1),
        ("_", 1),
        ("\\", 1),
        ("r%c", 1),
        ("PLAIN", 3),
        ("émi", 1),
        ("ångström", 1),
        ("user2@example.COM", 1),
        ("user", 4),
        ("'; drop table users", 0),
        ("cent plain", 0),
    ];
    for (search, expected) in cases {
        let filter = UserFilter { search: Some(search.to_owned()), ..UserFilter::default() };
        assert_eq!(list(&world, &tenant, filter).await.len(), expected, "{search}");
    }
}

/// Members of an organization are those with an unexpired assignment in that very organization.
pub async fn list_filters_by_unexpired_membership(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let roles = world.roles(&tenant).await;
    let role = named(&roles, "MEMBER");
    let (here, there) = (world.organization(&tenant, "here").await, world.organization(&tenant, "there").await);
    let expiry = world.now() + TimeDelta::seconds(1);
    let mut users = Vec::new();
    for (name, organization, expires_at) in [
        ("forever", Some(here.id), None),
        ("expiring", Some(here.id), Some(expiry)),
        ("elsewhere", Some(there.id), None),
        ("tenant-wide", None, None),
    ] {
        let user = world.user(&tenant, &format!("{name}@example.com")).await;
        let assignment = Assignment { expires_at, ..world.new_assignment(&user, role, organization) };
        world.assign(assignment, role).await;
        users.push(user);
    }
    let filter = UserFilter { organization: Some(here.id), ..UserFilter::default() };
    assert_eq!(list(&world, &tenant, filter.clone()).await.len(), 2);
    world.tick();
    assert_eq!(list(&world, &tenant, filter).await, [users[0].clone()]);
}

async fn list(world: &World, tenant: &Tenant, filter: UserFilter) -> Vec<User> {
    let page = PageRequest::new(1, 100).unwrap();
    let found = world.store.users(tenant.id, &filter, UserSort::default(), page, world.now()).await.unwrap();
    assert_eq!(found.total, found.items.len() as u64);
    found.items
}

/// Eight users that no key sorts alike, some of them equal in some.
async fn mixed_users(world: &World, tenant: &Tenant) -> Vec<User> {
    let rows = [
        ("b@example.com", "Zoe", "adams", UserStatus::Active, None),
        ("A@example.com", "ada", "Young", UserStatus::Suspended, Some(3)),
        ("c@example.com", "Émile", "Øst", UserStatus::Inactive, Some(1)),
        ("D@example.com", "emile", "Zeta", UserStatus::Active, None),
        ("a_b@example.com", "Ada", "_under", UserStatus::Active, Some(2)),
        ("a-b@example.com", "ada", "-dash", UserStatus::Suspended, Some(2)),
        ("z@example.com", "Ωmega", "Beta", UserStatus::Active, Some(9)),
        ("y@example.com", "omega", "beta", UserStatus::Inactive, None),
    ];
    let mut users = Vec::new();
    for (number, (email, first, last, status, login)) in rows.into_iter().enumerate() {
        if number % 2 == 0 {
            world.tick();
        }
        let mut user = world.new_user(tenant, email);
        user.first_name = first.parse().unwrap();
        user.last_name = last.parse().unwrap();
        let user = world.add(user).await;
        let updated_at = world.now() + TimeDelta::seconds(20 - i64::try_from(number).unwrap());
        let mut after = User { status, updated_at, ..user.clone() };
        world.commit(tenant.id, UserChange::Update { before: user, after: after.clone() }).await;
        if let Some(seconds) = login {
            let at = world.now() + TimeDelta::seconds(seconds);
            world.commit(tenant.id, UserChange::LoggedIn { user: after.id, at }).await;
            after.last_login_at = Some(at);
        }
        users.push(after);
    }
    users
}
