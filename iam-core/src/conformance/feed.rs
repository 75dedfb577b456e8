//! Feeds of changes. A store that gives none passes.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use tokio::task::JoinSet;
use tokio::time::timeout;
use uuid::Uuid;

use super::World;
use super::world::{assigning, create, update};
use crate::access::Covered;
use crate::assignment::{Assignment, AssignmentChange, GrantQuery};
use crate::caller::Caller;
use crate::change::Change;
use crate::feed::{ChangeFeed, News};
use crate::organization::{Organization, OrganizationStatus};
use crate::role::{Role, RoleChange};
use crate::session::{EndReason, Session, SessionChange};
use crate::store::Store;
use crate::tenant::{Tenant, TenantChange, TenantStatus};
use crate::token::{KeyPurpose, PrivateKey, SigningKey};
use crate::user::{User, UserChange, UserStatus};

/// A user is told when its status changes, and when it gets a role, keeps one for another time or loses it.
pub async fn users_whose_state_or_roles_change(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let expect_told = async |feed: &mut dyn ChangeFeed, change: Change| {
        world.commit(tenant.id, change).await;
        assert!(told(feed).await.contains(&user.id.as_uuid()));
    };
    expect_told(&mut *feed, set_status(&user, UserStatus::Suspended)).await;
    let assignment = world.new_assignment(&user, &role, None);
    expect_told(&mut *feed, assigning([assignment.clone()], &role).into()).await;
    let after = Assignment { expires_at: Some(world.now() + TimeDelta::days(1)), ..assignment };
    let change = AssignmentChange::ChangeExpiry { before: None, after, covered: Covered::assumed() };
    expect_told(&mut *feed, change.into()).await;
    let grants = world.grants(tenant.id, GrantQuery::OfUser(user.id)).await;
    expect_told(&mut *feed, AssignmentChange::Revoke { grants, reason: None }.into()).await;
    let after = User { status: UserStatus::Inactive, ..user.clone() };
    expect_told(&mut *feed, UserChange::Delete { before: user.clone(), after }.into()).await;
}

/// A session is told when it ends, and when it is removed after its expiry.
pub async fn sessions_that_end(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let sessions: Vec<Session> = (0..4).map(|_| world.new_session(&user)).collect();
    for session in &sessions {
        world.commit(tenant.id, SessionChange::Start(session.clone())).await;
    }
    let id = |session: &Session| session.id.as_uuid();
    let ended = sessions[..2].to_vec();
    world.commit(tenant.id, SessionChange::End { sessions: ended, reason: EndReason::LogoutAll }).await;
    let heard = told(&mut *feed).await;
    assert!(heard.is_superset(&sessions[..2].iter().map(id).collect()), "{heard:?}");
    world.commit(tenant.id, SessionChange::Forget(sessions[2..3].to_vec())).await;
    assert!(told(&mut *feed).await.contains(&id(&sessions[2])));
    assert_eq!(world.store.remove_expired_sessions(sessions[3].expires_at, 10).await.unwrap(), 1);
    assert!(told(&mut *feed).await.contains(&id(&sessions[3])));
}

/// A tenant is told when it is suspended and when it is reactivated.
pub async fn tenants_that_are_suspended(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let mut before = world.tenant("acme").await;
    for status in [TenantStatus::Suspended, TenantStatus::Active] {
        let after = Tenant { status, ..before.clone() };
        world.commit(before.id, TenantChange::ChangeStatus { before: before.clone(), after: after.clone() }).await;
        assert!(told(&mut *feed).await.contains(&before.id.as_uuid()), "{status:?}");
        before = after;
    }
    let after = Tenant { name: "Another".parse().unwrap(), ..before.clone() };
    world.commit(before.id, TenantChange::Update { before, after }).await;
    assert_eq!(told(&mut *feed).await, BTreeSet::new());
}

/// A key is told when it is withdrawn.
pub async fn keys_that_are_revoked(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let key = SigningKey {
        purpose: KeyPurpose::AccessTokens,
        id: world.id(),
        generation: 1,
        public: vec![9; 32],
        private: PrivateKey::Plain(vec![1; 32]),
        created_at: world.now(),
        signs_from: world.now(),
        revoked_at: None,
    };
    world.store.insert_signing_key(&key).await.unwrap();
    assert_eq!(told(&mut *feed).await, BTreeSet::new());
    assert!(world.store.revoke_signing_key(key.id, world.now()).await.unwrap());
    assert!(told(&mut *feed).await.contains(&key.id.as_uuid()));
}

/// A role is told when it permits something else, and when it goes.
pub async fn roles_that_change(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let before = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let after = Role { permissions: ["orders:create".parse().unwrap()].into_iter().collect(), ..before.clone() };
    let gone = RoleChange::Delete(after.clone());
    for change in [RoleChange::Update { before: before.clone(), after, covered: Covered::assumed() }, gone] {
        // What making it has told is another matter.
        told(&mut *feed).await;
        world.commit(tenant.id, change).await;
        assert!(told(&mut *feed).await.contains(&before.id.as_uuid()));
    }
}

/// An organization is told when it is suspended, wakes, moves or is deleted.
pub async fn organizations_that_change(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let parent = world.organization(&tenant, "parent").await;
    let root = world.organization(&tenant, "root").await;
    let asleep = Organization { status: OrganizationStatus::Suspended, ..root.clone() };
    let moved = Organization { parent_id: Some(parent.id), ..root.clone() };
    for (before, after) in [(&root, &asleep), (&asleep, &root), (&root, &moved), (&moved, &root)] {
        world.commit(tenant.id, update(before, after)).await;
        assert!(told(&mut *feed).await.contains(&root.id.as_uuid()), "{after:?}");
    }
    world.set_status(&root, OrganizationStatus::Inactive).await;
    assert!(told(&mut *feed).await.contains(&root.id.as_uuid()));
}

/// Of hundreds that change at once, none is left out.
pub async fn many_at_once(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let users: Vec<User> = (0..500).map(|n| world.new_user(&tenant, &format!("user{n}@example.com"))).collect();
    world.try_commit(tenant.id, users.iter().map(create)).await.unwrap();
    let assignments: Vec<Assignment> = users.iter().map(|user| world.new_assignment(user, &role, None)).collect();
    told(&mut *feed).await;
    world.commit(tenant.id, assigning(assignments, &role)).await;
    let heard = told(&mut *feed).await;
    assert!(users.iter().all(|user| heard.contains(&user.id.as_uuid())), "{} of 500", heard.len());
}

/// However many follow, each is told what changes in every tenant.
pub async fn everybody_is_told_of_every_tenant(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut first) = follow(&world).await else { return };
    let mut second = follow(&world).await.unwrap();
    for slug in ["acme", "other"] {
        let tenant = world.tenant(slug).await;
        let user = world.user(&tenant, "ada@example.com").await;
        world.commit(tenant.id, set_status(&user, UserStatus::Suspended)).await;
        for feed in [&mut first, &mut second] {
            assert!(told(&mut **feed).await.contains(&user.id.as_uuid()), "{slug}");
        }
    }
}

/// What happens at every login and every refresh, or gives and takes nobody anything, is not told.
pub async fn what_changes_no_rights_is_not_told(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let session = world.new_session(&user);
    world.commit(tenant.id, SessionChange::Start(session.clone())).await;
    world.tick();
    let expires_at = session.expires_at + TimeDelta::seconds(1);
    world.commit(tenant.id, SessionChange::Refresh(Session { last_used_at: world.now(), expires_at, ..session })).await;
    let renamed = User { first_name: "Augusta".parse().unwrap(), ..user.clone() };
    let rename = UserChange::Update { before: user, after: renamed, covered: Covered::assumed() };
    world.commit(tenant.id, rename).await;
    world.permission(&tenant, "orders:read").await;
    let organization = world.organization(&tenant, "root").await;
    let renamed = Organization { name: "Another".parse().unwrap(), ..organization.clone() };
    world.reorganize(&organization, renamed).await;
    world.record(world.new_entries(tenant.id, 3)).await;
    assert_eq!(told(&mut *feed).await, BTreeSet::new());
}

/// What is dropped before its commit is not told, and what comes after it is.
pub async fn what_is_not_committed_is_not_told(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let other = world.user(&tenant, "other@example.com").await;
    let caller = Caller::system(tenant.id, "conformance");
    let mut work = world.begin(&caller).await;
    work.apply(set_status(&user, UserStatus::Suspended)).await.unwrap();
    drop(work);
    world.commit(tenant.id, set_status(&other, UserStatus::Suspended)).await;
    assert_eq!(told(&mut *feed).await, BTreeSet::from([other.id.as_uuid()]));
}

/// Whoever is told of a change and reads then, reads it.
pub async fn what_is_told_can_be_read(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let users = some_users(&world, &tenant, 20).await;
    let writing = tokio::spawn({
        let (world, users) = (Arc::clone(&world), users.clone());
        async move {
            for user in &users {
                world.commit(user.tenant_id, set_status(user, UserStatus::Suspended)).await;
            }
        }
    });
    let mut heard = HashSet::new();
    while heard.len() < users.len() {
        for id in next(&mut *feed).await.changed {
            let read = world.store.user(tenant.id, id.into()).await.unwrap().unwrap();
            assert_eq!(read.status, UserStatus::Suspended);
            heard.insert(id);
        }
    }
    writing.await.unwrap();
}

/// While others write, everything is told that was committed before a moment at which the feed says that it is complete.
#[expect(clippy::disallowed_methods, reason = "feeds go by the clock of the process, and not by that of the service")]
pub async fn nothing_is_missed_beside_writers(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let committed = Arc::new(Mutex::new(Vec::new()));
    let mut writers = JoinSet::new();
    for users in some_users(&world, &tenant, 80).await.chunks(20) {
        let (world, users, committed) = (Arc::clone(&world), users.to_vec(), Arc::clone(&committed));
        writers.spawn(async move {
            for user in users {
                world.commit(user.tenant_id, set_status(&user, UserStatus::Suspended)).await;
                committed.lock().unwrap().push((Instant::now(), user.id.as_uuid()));
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
    }
    let mut heard = HashSet::new();
    while heard.len() < 80 {
        let News { changed, complete_at } = next(&mut *feed).await;
        heard.extend(changed);
        let committed = committed.lock().unwrap();
        let before =
            committed.iter().filter(|(moment, _)| complete_at.is_some_and(|complete_at| *moment < complete_at));
        assert_eq!(before.filter(|(_, id)| !heard.contains(id)).count(), 0);
    }
    writers.join_all().await;
}

/// How long news may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(30);

async fn follow(world: &World) -> Option<Box<dyn ChangeFeed>> {
    world.store.change_feed().await.unwrap()
}

async fn next(feed: &mut dyn ChangeFeed) -> News {
    timeout(PATIENCE, feed.next()).await.unwrap().unwrap()
}

/// What a feed tells until it has told everything that is committed by now. A store's own tests may use it too.
#[expect(clippy::disallowed_methods, reason = "feeds go by the clock of the process, and not by that of the service")]
pub async fn told(feed: &mut dyn ChangeFeed) -> BTreeSet<Uuid> {
    let (now, mut told) = (Instant::now(), BTreeSet::new());
    loop {
        let news = next(feed).await;
        told.extend(news.changed);
        if news.complete_at.is_some_and(|complete_at| complete_at >= now) {
            return told;
        }
    }
}

async fn some_users(world: &World, tenant: &Tenant, number: usize) -> Vec<User> {
    let mut users = Vec::with_capacity(number);
    for number in 0..number {
        users.push(world.user(tenant, &format!("user{number}@example.com")).await);
    }
    users
}

fn set_status(before: &User, status: UserStatus) -> Change {
    let after = User { status, ..before.clone() };
    UserChange::ChangeStatus { before: before.clone(), after, covered: Covered::assumed() }.into()
}
