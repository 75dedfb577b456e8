//! Change feeds. A store without a change feed passes.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use iam_core::Caller;
use iam_model::access::Until;
use iam_model::assignment::Assignment;
use iam_model::attribute::UnregisteredAttributes;
use iam_model::audit::log_id;
use iam_model::challenge::{Challenge, ChallengePurpose};
use iam_model::change::{
    AccessRequestChange, ApiKeyChange, AssignmentChange, ChallengeChange, Change, FactorChange, RoleChange,
    SessionChange, TenantChange, UserChange,
};
use iam_model::factor::{AuthenticationMethod, Factor};
use iam_model::organization::{Organization, OrganizationStatus};
use iam_model::role::Role;
use iam_model::session::{EndReason, Session};
use iam_model::signing_key::{KeyPurpose, PrivateKey, SigningKey};
use iam_model::store::{ChangeFeed, FeedNotification, GrantQuery, Store};
use iam_model::tenant::{Tenant, TenantStatus};
use iam_model::user::{User, UserStatus};
use tokio::task::JoinSet;
use tokio::time::timeout;
use uuid::Uuid;

use crate::access_request::new_request;
use crate::world::{World, assigning, create, expiring, new_api_key, new_passkey, new_totp, requiring, update};

/// The feed reports a user when its status changes, when it gets or loses a role, and when the expiry of an
/// assignment changes.
pub async fn changed_users_are_reported(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let expect_reported = async |feed: &mut dyn ChangeFeed, change: Change| {
        world.commit(tenant.id, change).await;
        assert!(told(feed).await.contains(&user.id.as_uuid()));
    };
    expect_reported(&mut *feed, set_status(&user, UserStatus::Suspended)).await;
    let assignment = world.new_assignment(&user, &role, None);
    expect_reported(&mut *feed, assigning([assignment.clone()], &role).into()).await;
    let tomorrow = Some(world.now() + TimeDelta::days(1));
    expect_reported(&mut *feed, expiring(&assignment, &role, tomorrow).into()).await;
    let grants = world.grants(tenant.id, GrantQuery::OfUser(user.id)).await;
    expect_reported(&mut *feed, AssignmentChange::Revoke { grants: grants.clone(), reason: None }.into()).await;
    let grant = grants.into_iter().next().unwrap();
    expect_reported(&mut *feed, AssignmentChange::Activate { grant: Box::new(grant), approved_by: Vec::new() }.into())
        .await;
    let after = User { status: UserStatus::Inactive, ..user.clone() };
    expect_reported(&mut *feed, UserChange::Delete { before: user.clone(), after }.into()).await;
}

/// The feed reports a session when it ends, and when it is removed after its expiry.
pub async fn ended_sessions_are_reported(store: Arc<dyn Store>) {
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
    let received = told(&mut *feed).await;
    assert!(received.is_superset(&sessions[..2].iter().map(id).collect()), "{received:?}");
    world.commit(tenant.id, SessionChange::Forget(sessions[2..3].to_vec())).await;
    assert!(told(&mut *feed).await.contains(&id(&sessions[2])));
    assert_eq!(world.store.remove_expired_sessions(sessions[3].expires_at, 10).await.unwrap(), 1);
    assert!(told(&mut *feed).await.contains(&id(&sessions[3])));
}

/// The feed reports a tenant when it is suspended and when it is reactivated.
pub async fn suspended_tenants_are_reported(store: Arc<dyn Store>) {
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

/// The feed reports a user when it gets a second factor, and when it loses one.
pub async fn changed_factors_are_reported(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let totp = new_totp(&world, &user);
    world.commit(tenant.id, FactorChange::Prepare(totp.clone())).await;
    let totp = Factor { confirmed_at: Some(world.now()), ..totp };
    let passkey = new_passkey(&world, &user, b"passkey");
    let removed = FactorChange::Remove {
        user: user.id,
        factors: vec![totp.clone(), passkey.clone()],
        is_last: true,
        grants: None,
    };
    told(&mut *feed).await;
    for change in [FactorChange::Confirm(totp), FactorChange::Register(passkey), removed] {
        let shown = format!("{change:?}");
        world.commit(tenant.id, change).await;
        assert!(told(&mut *feed).await.contains(&user.id.as_uuid()), "{shown}");
    }
}

/// The feed reports a session when it has authenticated by another method, which may end its restriction.
pub async fn methods_of_sessions_are_reported(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let session = world.new_session(&user);
    world.commit(tenant.id, SessionChange::Start(session.clone())).await;
    told(&mut *feed).await;
    let (methods, method) = ("password+totp".parse().unwrap(), AuthenticationMethod::Totp);
    let after = Session { methods, ..session };
    world.commit(tenant.id, SessionChange::StepUp { session: after.clone(), method }).await;
    assert!(told(&mut *feed).await.contains(&after.id.as_uuid()));
}

/// The feed reports a tenant when it begins or ceases to require second factors, when the grace changes, and when the
/// rules for attributes do.
pub async fn changed_demands_of_factors_are_reported(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let optional = world.tenant("acme").await;
    let (required, stricter) = (requiring(&world, &optional, 7), requiring(&world, &optional, 0));
    let changes = [(&optional, &required), (&required, &stricter), (&stricter, &required), (&required, &optional)];
    for (before, after) in changes {
        let (before, after) = (before.clone(), after.clone());
        let shown = format!("{after:?}");
        world.commit(before.id, TenantChange::Update { before, after }).await;
        assert!(told(&mut *feed).await.contains(&optional.id.as_uuid()), "{shown}");
    }
    let after = Tenant { unregistered_attributes: UnregisteredAttributes::Refused, ..optional.clone() };
    let change = TenantChange::Update { before: optional.clone(), after };
    world.commit(optional.id, change).await;
    assert!(told(&mut *feed).await.contains(&optional.id.as_uuid()), "the rules for attributes");
}

/// The feed reports an API key when it changes and when it is revoked, and not when it is used.
pub async fn changed_api_keys_are_reported(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let key = new_api_key(&world, &user);
    world.commit(tenant.id, ApiKeyChange::Create { key: key.clone(), organization: None }).await;
    told(&mut *feed).await;
    world.store.record_api_key_use(tenant.id, key.id, world.now()).await.unwrap();
    assert_eq!(told(&mut *feed).await, BTreeSet::new());
    let update = ApiKeyChange::Update { before: key.clone().into(), after: key.clone(), organization: None };
    let rotate = ApiKeyChange::Rotate { after: key.clone(), organization: None };
    for change in [update, rotate, ApiKeyChange::Delete(vec![key.clone()])] {
        let shown = format!("{change:?}");
        world.commit(tenant.id, change).await;
        assert_eq!(told(&mut *feed).await, [key.id.as_uuid()].into(), "{shown}");
    }
}

/// The feed reports a signing key when it is revoked.
pub async fn revoked_keys_are_reported(store: Arc<dyn Store>) {
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

/// The feed reports a role when its permissions change, and when it is deleted.
pub async fn changed_roles_are_reported(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let before = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let after = Role { permissions: ["orders:create".parse().unwrap()].into_iter().collect(), ..before.clone() };
    let gone = RoleChange::Delete(after.clone());
    for change in [RoleChange::Update { before: before.clone(), after, held_until: Until::Forever }, gone] {
        // What the feed reports about the creation does not matter here.
        told(&mut *feed).await;
        world.commit(tenant.id, change).await;
        assert!(told(&mut *feed).await.contains(&before.id.as_uuid()));
    }
}

/// The feed reports an organization when it is suspended, reactivated, moved or deleted.
pub async fn changed_organizations_are_reported(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let parent = world.organization(&tenant, "parent").await;
    let root = world.organization(&tenant, "root").await;
    let suspended = Organization { status: OrganizationStatus::Suspended, ..root.clone() };
    let moved = Organization { parent_id: Some(parent.id), ..root.clone() };
    for (before, after) in [(&root, &suspended), (&suspended, &root), (&root, &moved), (&moved, &root)] {
        world.commit(tenant.id, update(before, after)).await;
        assert!(told(&mut *feed).await.contains(&root.id.as_uuid()), "{after:?}");
    }
    world.set_status(&root, OrganizationStatus::Inactive).await;
    assert!(told(&mut *feed).await.contains(&root.id.as_uuid()));
}

/// If hundreds of users change in one commit, the feed reports all of them.
pub async fn many_changes_at_once_are_all_reported(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let users: Vec<User> = (0..500).map(|n| world.new_user(&tenant, &format!("user{n}@example.com"))).collect();
    world.try_commit(tenant.id, users.iter().map(create)).await.unwrap();
    let assignments: Vec<Assignment> = users.iter().map(|user| world.new_assignment(user, &role, None)).collect();
    told(&mut *feed).await;
    world.commit(tenant.id, assigning(assignments, &role)).await;
    let received = told(&mut *feed).await;
    assert!(users.iter().all(|user| received.contains(&user.id.as_uuid())), "{} of 500", received.len());
}

/// Every subscriber receives the changes of every tenant.
pub async fn every_subscriber_receives_changes_of_every_tenant(store: Arc<dyn Store>) {
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

/// A log that gets new sequence numbers is reported by an id of its own, and its tenant is not: sequencing changes no
/// rights.
pub async fn continued_logs_are_reported(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let [acme, other] = [world.tenant("acme").await, world.tenant("other").await];
    for tenant in [&acme, &other] {
        world.record(world.new_entries(tenant.id, 3)).await;
    }
    world.sequence().await;
    let logs = [&acme, &other].map(|tenant| log_id(tenant.id));
    assert!(told(&mut *feed).await.is_superset(&logs.into()));
    world.record(world.new_entries(acme.id, 3)).await;
    assert_eq!(told(&mut *feed).await, BTreeSet::new());
    world.sequence().await;
    assert_eq!(told(&mut *feed).await, BTreeSet::from([log_id(acme.id)]));
    let ids = [acme.id.as_uuid(), other.id.as_uuid(), logs[0], logs[1]];
    assert_eq!(BTreeSet::from(ids).len(), 4, "a log has an id of its own");
}

/// The feed does not report the changes of every login and every refresh, nor changes that neither give nor take
/// rights.
pub async fn changes_without_effect_on_rights_are_not_reported(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let session = world.new_session(&user);
    world.commit(tenant.id, SessionChange::Start(session.clone())).await;
    world.tick();
    let expires_at = session.expires_at + TimeDelta::seconds(1);
    let session = Session { last_used_at: world.now(), expires_at, ..session };
    world.commit(tenant.id, SessionChange::Refresh(session.clone())).await;
    let session = Session { authenticated_at: world.now(), ..session };
    world.commit(tenant.id, SessionChange::StepUp { session, method: AuthenticationMethod::Password }).await;
    let renamed = User { first_name: "Augusta".parse().unwrap(), ..user.clone() };
    let rename = UserChange::Update { before: user, after: renamed.clone(), grants: None, attributes: None };
    world.commit(tenant.id, rename).await;
    let request = new_request(&world, &renamed, None);
    world.commit(tenant.id, AccessRequestChange::Create(Box::new(request))).await;
    world.permission(&tenant, "orders:read").await;
    let organization = world.organization(&tenant, "root").await;
    let renamed = Organization { name: "Another".parse().unwrap(), ..organization.clone() };
    world.reorganize(&organization, renamed).await;
    world.record(world.new_entries(tenant.id, 3)).await;
    assert_eq!(told(&mut *feed).await, BTreeSet::new());
}

/// The feed does not report the changes of every login with a second factor, nor a factor that proves nothing.
pub async fn the_use_of_factors_is_not_reported(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let (passkey, totp) = (new_passkey(&world, &user, b"passkey"), new_totp(&world, &user));
    world.commit(tenant.id, FactorChange::Register(passkey.clone())).await;
    told(&mut *feed).await;
    let challenge = Challenge {
        tenant_id: tenant.id,
        token_hash: [7; 32],
        purpose: ChallengePurpose::Login,
        user_id: Some(user.id),
        tries: 0,
        ceremony: None,
        provider: None,
        created_at: world.now(),
        expires_at: world.now(),
    };
    let used = Factor { counter: 7, last_used_at: Some(world.now()), ..passkey.clone() };
    let changes: [Change; 12] = [
        ChallengeChange::Issue(challenge.clone()).into(),
        ChallengeChange::Update(challenge.clone()).into(),
        ChallengeChange::End(challenge.clone()).into(),
        ChallengeChange::EndAll(user.id).into(),
        ChallengeChange::EndAllFor(challenge.purpose).into(),
        ChallengeChange::EndAllOfTenant.into(),
        FactorChange::Use { after: used.clone(), fell_back_to: None }.into(),
        FactorChange::Rename { before: passkey, after: used }.into(),
        FactorChange::IssueRecoveryCodes { user: user.id, hashes: vec![[1; 32]] }.into(),
        FactorChange::UseRecoveryCode { user: user.id, hash: [1; 32], left: 0 }.into(),
        FactorChange::Prepare(totp.clone()).into(),
        FactorChange::Prepare(Factor { id: world.id(), ..totp }).into(),
    ];
    world.try_commit(tenant.id, changes).await.unwrap();
    assert_eq!(told(&mut *feed).await, BTreeSet::new());
}

/// The feed does not report changes that are dropped before the commit. It reports a later commit.
pub async fn uncommitted_changes_are_not_reported(store: Arc<dyn Store>) {
    let world = World::new(store);
    let Some(mut feed) = follow(&world).await else { return };
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let other = world.user(&tenant, "other@example.com").await;
    let caller = Caller::system(tenant.id, "conformance");
    let mut work = world.begin(caller.author()).await;
    work.apply(set_status(&user, UserStatus::Suspended)).await.unwrap();
    drop(work);
    world.commit(tenant.id, set_status(&other, UserStatus::Suspended)).await;
    assert_eq!(told(&mut *feed).await, BTreeSet::from([other.id.as_uuid()]));
}

/// A reader that receives a change and reads afterwards sees the change.
pub async fn a_reported_change_can_be_read(store: Arc<dyn Store>) {
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
    let mut received = HashSet::new();
    while received.len() < users.len() {
        for id in next(&mut *feed).await.changed {
            let read = world.store.user(tenant.id, id.into()).await.unwrap().unwrap();
            assert_eq!(read.status, UserStatus::Suspended);
            received.insert(id);
        }
    }
    writing.await.unwrap();
}

/// While other tasks write, the feed has reported every change that was committed before the moment for which it says
/// that it is complete.
#[expect(clippy::disallowed_methods, reason = "feeds use the clock of the process, not the clock of the service")]
pub async fn no_change_is_missed_during_writes(store: Arc<dyn Store>) {
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
    let mut received = HashSet::new();
    while received.len() < 80 {
        let FeedNotification { changed, complete_at } = next(&mut *feed).await;
        received.extend(changed);
        let committed = committed.lock().unwrap();
        let before =
            committed.iter().filter(|(moment, _)| complete_at.is_some_and(|complete_at| *moment < complete_at));
        assert_eq!(before.filter(|(_, id)| !received.contains(id)).count(), 0);
    }
    writers.join_all().await;
}

/// How long a test waits for a notification before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

async fn follow(world: &World) -> Option<Box<dyn ChangeFeed>> {
    world.store.change_feed().await.unwrap()
}

async fn next(feed: &mut dyn ChangeFeed) -> FeedNotification {
    timeout(PATIENCE, feed.next()).await.unwrap().unwrap()
}

/// Returns the reports of a feed until it has reported everything that is committed at the time of the call. The tests
/// of a store may use it, too.
#[expect(clippy::disallowed_methods, reason = "feeds use the clock of the process, not the clock of the service")]
pub async fn told(feed: &mut dyn ChangeFeed) -> BTreeSet<Uuid> {
    let (now, mut told) = (Instant::now(), BTreeSet::new());
    loop {
        let notification = next(feed).await;
        told.extend(notification.changed);
        if notification.complete_at.is_some_and(|complete_at| complete_at >= now) {
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
    UserChange::ChangeStatus { before: before.clone(), after, grants: None }.into()
}
