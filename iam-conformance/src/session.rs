//! Sessions.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::Caller;
use iam_model::assignment::Assignment;
use iam_model::change::{FactorChange, SessionChange, TenantChange, UserChange};
use iam_model::factor::{AuthenticationMethod, Factor};
use iam_model::organization::OrganizationStatus;
use iam_model::session::{EndReason, ProviderSession, RefreshState, Session, SpentToken};
use iam_model::store::{SessionDetails, Store};
use iam_model::tenant::{AuthzenIdentifiers, Tenant, TenantStatus};
use iam_model::user::{User, UserStatus};

use crate::world::{World, assert_missing, named, new_passkey, new_totp, requiring};

/// Started sessions are read back, newest first and only those of the user.
pub async fn started_sessions_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (user, other) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "b@example.com").await);
    let first = world.new_session(&user);
    world.commit(tenant.id, SessionChange::Start(first.clone())).await;
    world.tick();
    let plain = Session { ip_address: None, user_agent: None, ..world.new_session(&user) };
    world.commit(tenant.id, SessionChange::Start(plain.clone())).await;
    world.commit(tenant.id, SessionChange::Start(world.new_session(&other))).await;
    assert_eq!(world.store.sessions_of(tenant.id, user.id).await.unwrap(), [plain.clone(), first.clone()]);
    assert_eq!(world.store.session(tenant.id, first.id).await.unwrap(), Some(first.clone()));
    let elsewhere = world.tenant("other").await;
    assert_eq!(world.store.session(elsewhere.id, first.id).await.unwrap(), None);
    // The start of a session sets the user's last login.
    let user = world.store.user(tenant.id, user.id).await.unwrap().unwrap();
    let details = SessionDetails { session: first.clone(), user: user.clone(), tenant: tenant.clone() };
    assert_eq!(world.store.session_details(tenant.id, first.id).await.unwrap(), Some(details));
    assert_eq!(world.store.session_details(elsewhere.id, first.id).await.unwrap(), None);
    assert_eq!(world.store.session_details(tenant.id, world.id()).await.unwrap(), None);

    let caller = Caller::system(tenant.id, "conformance");
    let mut work = world.begin(caller.author()).await;
    assert_eq!(work.reads().lock_session(first.id).await.unwrap(), Some(first.clone()));
    assert_eq!(work.reads().lock_session(world.id()).await.unwrap(), None);
    assert_eq!(work.reads().lock_sessions_of(user.id).await.unwrap(), [plain, first]);
}

/// The session at an identity provider is read back, and leads to the sessions that began by it.
pub async fn sessions_are_found_by_their_provider(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (ada, bob) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await);
    let (provider_id, another) = (world.id(), world.id());
    let began_by = |user: &User, provider_id, session: Option<&str>| {
        let provider = Some(ProviderSession { provider_id, session: session.map(str::to_owned) });
        Session { provider, ..world.new_session(user) }
    };
    let found = [began_by(&ada, provider_id, Some("s-1")), began_by(&bob, provider_id, Some("s-1"))];
    let others = [
        began_by(&ada, provider_id, Some("S-1")),
        began_by(&ada, another, Some("s-1")),
        began_by(&ada, provider_id, None),
        world.new_session(&ada),
    ];
    for session in found.iter().chain(&others) {
        world.commit(tenant.id, SessionChange::Start(session.clone())).await;
        assert_eq!(world.store.session(tenant.id, session.id).await.unwrap().as_ref(), Some(session));
    }
    assert_eq!(world.store.sessions_of_provider(tenant.id, provider_id, "s-1").await.unwrap(), found);
    assert_eq!(world.store.sessions_of_provider(tenant.id, provider_id, "s-2").await.unwrap(), []);
    assert_eq!(world.store.sessions_of_provider(other.id, provider_id, "s-1").await.unwrap(), []);
}

/// The snapshot shows the user's and the tenant's status, and every assignment with its grants.
pub async fn snapshot_shows_status_and_grants(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let user = world.user(&tenant, "ada@example.com").await;
    let session = world.new_session(&user);
    world.commit(tenant.id, SessionChange::Start(session.clone())).await;
    let bare = world.store.session_snapshot(tenant.id, session.id).await.unwrap().unwrap();
    assert_eq!((bare.user_id, bare.user_status, bare.expires_at), (user.id, UserStatus::Active, session.expires_at));
    assert_eq!(bare.tenant_status, TenantStatus::Active);
    assert_eq!((bare.grants, bare.authzen_identifiers), (Vec::new(), AuthzenIdentifiers::Id));

    let named_by = Tenant { authzen_identifiers: AuthzenIdentifiers::Name, ..tenant.clone() }.changed(world.now());
    world.commit(tenant.id, TenantChange::Update { before: tenant, after: named_by.clone() }).await;
    let tenant = named_by;
    let roles = world.roles(&tenant).await;
    let bare_role = world.role(&tenant, "NOTHING_YET", &[]).await;
    let root = world.organization(&tenant, "root").await;
    let branch = world.below(&root, "branch").await;
    let auditor = named(&roles, "AUDITOR");
    let given = world.new_assignment(&user, auditor, None);
    let (directory_group_id, access_request_id) = (Some(world.id()), Some(world.id()));
    let expires_at = Some(world.now() + TimeDelta::days(1));
    world.assign(Assignment { expires_at, directory_group_id, access_request_id, ..given }, auditor).await;
    world.tick();
    world.give(&user, named(&roles, "MEMBER"), Some(&branch)).await;
    world.give_until(&user, &bare_role, Some(&root), Some(world.now())).await;
    let after = User { status: UserStatus::Suspended, ..user.clone() };
    let suspend = UserChange::ChangeStatus { before: user.clone(), after, grants: None };
    world.commit(tenant.id, suspend).await;
    let full = world.store.session_snapshot(tenant.id, session.id).await.unwrap().unwrap();
    assert_eq!((full.user_status, full.authzen_identifiers), (UserStatus::Suspended, AuthzenIdentifiers::Name));
    let suspended = Tenant { status: TenantStatus::Suspended, ..tenant.clone() }.changed(world.now());
    world.commit(tenant.id, TenantChange::ChangeStatus { before: tenant.clone(), after: suspended.clone() }).await;
    let in_suspended = world.store.session_snapshot(tenant.id, session.id).await.unwrap().unwrap();
    assert_eq!(in_suspended.tenant_status, TenantStatus::Suspended);
    assert_eq!(world.store.tenant(tenant.id).await.unwrap(), Some(suspended));
    assert_eq!(full.grants, world.store.grants_of(tenant.id, &[user.id]).await.unwrap());
    assert_eq!(full.grants.len(), 3);
    assert_eq!(world.store.session_snapshot(other.id, session.id).await.unwrap(), None);
}

/// The snapshot shows the lineage of each organization, at any depth, and whether all of the lineage is ACTIVE.
pub async fn snapshot_shows_whether_lineages_are_active(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let session = world.new_session(&user);
    world.commit(tenant.id, SessionChange::Start(session.clone())).await;
    let role = world.role(&tenant, "BUYER", &["orders:read", "orders:create"]).await;
    let chain = world.chain(&tenant, "level", 100).await;
    let beside = world.below(&chain[0], "beside").await;
    for organization in [&chain[99], &chain[1], &beside] {
        world.give(&user, &role, Some(organization)).await;
    }
    world.give(&user, &role, None).await;
    let snapshot = async || world.store.session_snapshot(tenant.id, session.id).await.unwrap().unwrap().grants;
    let lineage = snapshot().await[0].organization.as_ref().unwrap().lineage.clone();
    assert!(lineage.iter().eq(chain.iter().rev().map(|organization| &organization.id)));
    for status in [OrganizationStatus::Suspended, OrganizationStatus::Inactive] {
        for (suspended, expected) in [
            (&chain[99], [false, true, true]),
            (&chain[50], [false, true, true]),
            (&chain[1], [false, false, true]),
            (&chain[0], [false, false, false]),
            (&beside, [true, true, false]),
        ] {
            world.set_status(suspended, status).await;
            let grants = snapshot().await;
            let is_lineage_active =
                grants.iter().filter_map(|grant| Some(grant.organization.as_ref()?.is_lineage_active));
            assert!(is_lineage_active.eq(expected), "{status} {}", suspended.slug);
            let effective = grants.iter().filter(|grant| grant.is_effective(world.now())).count();
            assert_eq!(effective, 1 + expected.into_iter().filter(|is_lineage_active| *is_lineage_active).count());
            assert_eq!(grants, world.store.grants_of(tenant.id, &[user.id]).await.unwrap());
            world.set_status(suspended, OrganizationStatus::Active).await;
        }
    }
}

/// A refreshed session is read back with its new token, its new expiry and its spent token.
pub async fn a_refreshed_session_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let before = world.new_session(&user);
    world.commit(tenant.id, SessionChange::Start(before.clone())).await;
    world.tick();
    let spent = SpentToken { hash: before.refresh.current, nonce: [7; 32], at: world.now() };
    let refresh = RefreshState { spent: Some(spent), ..world.new_session(&user).refresh };
    let after = Session {
        last_used_at: world.now(),
        expires_at: world.now() + TimeDelta::days(8),
        refresh: RefreshState { tag_key: before.refresh.tag_key, ..refresh },
        ..before
    };
    world.commit(tenant.id, SessionChange::Refresh(after.clone())).await;
    world.commit(tenant.id, SessionChange::RepeatRefresh(after.clone())).await;
    assert_eq!(world.store.sessions_of(tenant.id, user.id).await.unwrap(), [after]);
}

/// An ended session is gone. Other sessions are not.
pub async fn ended_sessions_are_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let sessions: Vec<Session> = (0..3).map(|_| world.new_session(&user)).collect();
    for session in &sessions {
        world.commit(tenant.id, SessionChange::Start(session.clone())).await;
    }
    let ended = sessions[..2].to_vec();
    world.commit(tenant.id, SessionChange::End { sessions: ended, reason: EndReason::LogoutAll }).await;
    assert_eq!(world.store.sessions_of(tenant.id, user.id).await.unwrap(), sessions[2..]);
    assert_eq!(world.store.session_snapshot(tenant.id, sessions[0].id).await.unwrap(), None);
    world.commit(tenant.id, SessionChange::Forget(sessions[2..].to_vec())).await;
    assert_eq!(world.store.sessions_of(tenant.id, user.id).await.unwrap(), []);
}

/// The sessions of all users of a tenant are locked in batches, and no sessions of another tenant.
pub async fn sessions_of_a_tenant_are_locked_in_batches(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let mut expected = Vec::new();
    for (tenant, email) in [(&tenant, "ada@example.com"), (&tenant, "grace@example.com"), (&other, "ada@example.com")] {
        let user = world.user(tenant, email).await;
        for _ in 0..2 {
            let session = world.new_session(&user);
            world.commit(tenant.id, SessionChange::Start(session.clone())).await;
            expected.push(session);
        }
    }
    expected.truncate(4);
    expected.sort_by_key(|session| session.id);
    let caller = Caller::system(tenant.id, "conformance");
    for (limit, count) in [(0, 0), (3, 3), (9, 4)] {
        let mut work = world.begin(caller.author()).await;
        assert_eq!(work.reads().lock_sessions(limit).await.unwrap(), expected[..count]);
    }
}

/// The methods, the moment and the session at the provider of a session that has authenticated again are read back.
/// Nothing else of it changes.
pub async fn a_session_that_has_authenticated_again_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = requiring(&world, &world.new_tenant("acme"), 3);
    world.commit(tenant.id, TenantChange::Create(tenant.clone())).await;
    let user = world.user(&tenant, "ada@example.com").await;
    let methods = "password+totp".parse().unwrap();
    let (first, other) = (Session { methods, ..world.new_session(&user) }, world.new_session(&user));
    for session in [&first, &other] {
        world.commit(tenant.id, SessionChange::Start(session.clone())).await;
    }
    world.tick();
    let methods = "password+totp+passkey+recovery-code".parse().unwrap();
    let provider = Some(ProviderSession { provider_id: world.id(), session: Some("second".to_owned()) });
    let after = Session { methods, authenticated_at: world.now(), provider, ..first };
    world.commit(tenant.id, SessionChange::StepUp { session: after.clone(), method: AuthenticationMethod::Totp }).await;
    let user = world.store.user(tenant.id, user.id).await.unwrap().unwrap();
    for session in [after.clone(), other] {
        assert_eq!(world.store.session(tenant.id, session.id).await.unwrap(), Some(session.clone()));
        let locked = world.locked(tenant.id, async |locks| locks.lock_session(session.id).await.unwrap()).await;
        assert_eq!(locked, Some(session.clone()));
        let details = SessionDetails { session: session.clone(), user: user.clone(), tenant: tenant.clone() };
        assert_eq!(world.store.session_details(tenant.id, session.id).await.unwrap(), Some(details));
    }
    let missing =
        SessionChange::StepUp { session: Session { id: world.id(), ..after }, method: AuthenticationMethod::Totp };
    assert_missing(&world.try_commit(tenant.id, [missing.into()]).await);
}

/// The snapshot shows from when on a session is restricted: where the tenant requires a second factor, and the session
/// has authenticated by none or the user has no confirmed one.
pub async fn snapshot_shows_until_when_a_factor_must_be_set_up(store: Arc<dyn Store>) {
    let world = World::new(store);
    let mut before = world.tenant("acme").await;
    let id = before.id;
    let user = world.user(&before, "ada@example.com").await;
    let session = world.new_session(&user);
    world.commit(id, SessionChange::Start(session.clone())).await;
    let enrol_by = async |world: &World, session: &Session| {
        world.store.session_snapshot(id, session.id).await.unwrap().unwrap().enrol_by
    };
    let day = TimeDelta::days(1);
    assert_eq!(enrol_by(&world, &session).await, None);
    world.clock.advance(day * 10);
    let required_at = world.now();
    for (after, expected) in [
        (requiring(&world, &before, 3), Some(required_at + day * 3)),
        (requiring(&world, &before, 0), Some(required_at)),
        (before.clone(), None),
        (requiring(&world, &before, 90), Some(required_at + day * 90)),
    ] {
        world.commit(id, TenantChange::Update { before, after: after.clone() }).await;
        assert_eq!(enrol_by(&world, &session).await, expected);
        before = after;
    }

    // The grace of a user that was created later begins with its creation.
    world.clock.advance(day);
    let later = world.user(&before, "later@example.com").await;
    let of_later = world.new_session(&later);
    world.commit(id, SessionChange::Start(of_later.clone())).await;
    assert_eq!(enrol_by(&world, &of_later).await, Some(required_at + day * 91));

    let totp = new_totp(&world, &user);
    world.commit(id, FactorChange::Prepare(totp.clone())).await;
    assert_eq!(enrol_by(&world, &session).await, Some(required_at + day * 90));
    let totp = Factor { confirmed_at: Some(world.now()), ..totp };
    world.commit(id, FactorChange::Confirm(totp.clone())).await;
    assert_eq!(enrol_by(&world, &session).await, Some(required_at + day * 90));
    let methods = "password+recovery-code".parse().unwrap();
    let stepped_up = Session { methods, ..session.clone() };
    let (before_step_up, method) = (world.new_session(&user), AuthenticationMethod::RecoveryCode);
    world.commit(id, SessionChange::Start(before_step_up.clone())).await;
    world.commit(id, SessionChange::StepUp { session: stepped_up, method }).await;
    assert_eq!(enrol_by(&world, &session).await, None);
    assert_eq!(enrol_by(&world, &before_step_up).await, Some(required_at + day * 90));
    let passkey = new_passkey(&world, &user, b"passkey");
    world.commit(id, FactorChange::Register(passkey.clone())).await;
    let remove = |factor, is_last| FactorChange::Remove { user: user.id, factors: vec![factor], is_last, grants: None };
    world.commit(id, remove(totp, false)).await;
    assert_eq!(enrol_by(&world, &session).await, None);
    world.commit(id, remove(passkey, true)).await;
    assert_eq!(enrol_by(&world, &session).await, Some(required_at + day * 90));
    assert_eq!(enrol_by(&world, &of_later).await, Some(required_at + day * 91));
}
