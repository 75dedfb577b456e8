//! Sessions in which a user acts as another one.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::session::NewImpersonation;
use iam_core::user::UserPatch;
use iam_core::{Caller, Iam};
use iam_model::audit::AuditFilter;
use iam_model::change::SessionChange;
use iam_model::context::{Impersonator, RequestContext};
use iam_model::error::{Error, Result};
use iam_model::id::UserId;
use iam_model::role::Role;
use iam_model::session::{EndReason, Impersonation, Session};
use iam_model::store::{SessionDetails, Store};
use iam_model::user::User;

use crate::race::{Fixture, both};
use crate::world::World;

/// A session of `user` in which the user of `own` acts.
fn acting(world: &World, user: &User, own: &Session, is_read_only: bool) -> Session {
    let by = Impersonator { user: own.user_id, session: own.id, is_read_only };
    let reason = "ticket 7".parse().unwrap();
    Session { impersonation: Some(Impersonation { by, reason }), ..world.new_session(user) }
}

/// Who acts in a session, and why, is read back. Its user has not logged in.
pub async fn who_acts_in_a_session_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (ada, bob) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await);
    let own = world.new_session(&ada);
    world.commit(tenant.id, SessionChange::Start(own.clone())).await;
    for is_read_only in [true, false] {
        let session = acting(&world, &bob, &own, is_read_only);
        let start = SessionChange::Impersonate { session: session.clone(), grants: Vec::new() };
        world.commit(tenant.id, start).await;
        let by = session.impersonator();
        assert_eq!(world.store.session(tenant.id, session.id).await.unwrap(), Some(session.clone()));
        let snapshot = world.store.session_snapshot(tenant.id, session.id).await.unwrap().unwrap();
        assert_eq!((snapshot.user_id, snapshot.impersonator), (bob.id, by));
        let details = world.store.session_details(tenant.id, session.id).await.unwrap();
        assert_eq!(details, Some(SessionDetails { session, user: bob.clone(), tenant: tenant.clone() }));
    }
    let snapshot = world.store.session_snapshot(tenant.id, own.id).await.unwrap().unwrap();
    assert_eq!(snapshot.impersonator, None);
    assert_eq!(world.store.user(tenant.id, bob.id).await.unwrap(), Some(bob));
}

/// The sessions in which a user acts as others are locked with its own sessions, and with that of its own to which they
/// belong.
pub async fn sessions_are_locked_with_those_in_which_their_user_acts(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (ada, bob) = (world.user(&tenant, "ada@example.com").await, world.user(&tenant, "bob@example.com").await);
    let (first, second) = (world.new_session(&ada), world.new_session(&ada));
    let of_bob = world.new_session(&bob);
    for session in [&first, &second, &of_bob] {
        world.commit(tenant.id, SessionChange::Start(session.clone())).await;
    }
    let by_first = [acting(&world, &bob, &first, true), acting(&world, &bob, &first, false)];
    let by_second = acting(&world, &bob, &second, true);
    let by_bob = acting(&world, &ada, &of_bob, true);
    for session in by_first.iter().chain([&by_second, &by_bob]) {
        let start = SessionChange::Impersonate { session: session.clone(), grants: Vec::new() };
        world.commit(tenant.id, start).await;
    }
    let ids = |sessions: Vec<Session>| {
        let mut ids: Vec<_> = sessions.into_iter().map(|session| session.id).collect();
        ids.sort_unstable();
        ids
    };
    let expected = |sessions: &[&Session]| ids(sessions.iter().map(|session| (*session).clone()).collect());
    let [one, two] = &by_first;
    let of =
        async |user: UserId| world.locked(tenant.id, async |locks| locks.lock_sessions_of(user).await.unwrap()).await;
    assert_eq!(ids(of(ada.id).await), expected(&[&first, &second, one, two, &by_second, &by_bob]));
    assert_eq!(ids(of(bob.id).await), expected(&[&of_bob, one, two, &by_second, &by_bob]));
    let with = async |session: &Session| {
        world.locked(tenant.id, async |locks| locks.lock_session_with_impersonations(session.id).await.unwrap()).await
    };
    assert_eq!(ids(with(&first).await), expected(&[&first, one, two]));
    assert_eq!(with(one).await, std::slice::from_ref(one));
    assert_eq!(ids(with(&of_bob).await), expected(&[&of_bob, &by_bob]));
    assert_eq!(with(&world.new_session(&ada)).await, []);
    // The list of a user has what is done in its name, and not what it does as others.
    assert_eq!(
        ids(world.store.sessions_of(tenant.id, bob.id).await.unwrap()),
        expected(&[&of_bob, one, two, &by_second])
    );
    let elsewhere = world.locked(other.id, async |locks| locks.lock_sessions_of(ada.id).await.unwrap()).await;
    assert_eq!(elsewhere, []);
    let elsewhere =
        world.locked(other.id, async |locks| locks.lock_session_with_impersonations(first.id).await.unwrap()).await;
    assert_eq!(elsewhere, []);
    let ended = vec![one.clone()];
    world.commit(tenant.id, SessionChange::End { sessions: ended, reason: EndReason::ActorSession }).await;
    assert_eq!(ids(with(&first).await), expected(&[&first, two]));
}

fn wanted() -> NewImpersonation {
    NewImpersonation { reason: "ticket 7".to_owned(), duration: TimeDelta::minutes(10), read_only: false }
}

/// Returns the caller that acts as a user.
async fn act_as(iam: &Iam, by: &Caller, user: UserId) -> Result<Caller> {
    let (_, token) = iam.sessions().impersonate(by, user, wanted()).await?;
    iam.authenticate(token.expose(), RequestContext::default()).await
}

async fn recorded(fixture: &Fixture, action: &str) -> usize {
    let filter = AuditFilter { action: Some(action.to_owned()), ..AuditFilter::default() };
    fixture.iam.audit().list(&fixture.system, filter, None, 100).await.unwrap().entries.len()
}

async fn supporter(fixture: &Fixture) -> Role {
    fixture.role("SUPPORTER", &["impersonations:create", "users:*"]).await
}

/// A user logs out while it begins to act as another one. It does so before, and then the session ends with its own; or
/// it is refused. Nothing is left.
pub async fn no_user_acts_without_an_own_session(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let role = supporter(&fixture).await;
    let bob = fixture.user("bob@example.com").await;
    for round in 0..8 {
        let (_, caller) = fixture.member(&format!("support{round}@example.com"), &role, None).await;
        let (logging_out, starting) = ((fixture.iam.clone(), caller.clone()), (fixture.iam.clone(), caller));
        let log_out = async move { logging_out.0.sessions().logout(&logging_out.1).await };
        let start = async move { starting.0.sessions().impersonate(&starting.1, bob.id, wanted()).await };
        let (logged_out, started) = both(round, log_out, start).await;
        logged_out.unwrap();
        if let Err(error) = &started {
            assert!(matches!(error, Error::Unauthenticated(_)), "{error:?}");
        }
        if let Ok((_, token)) = started {
            let refused = fixture.iam.authenticate(token.expose(), RequestContext::default()).await;
            assert!(matches!(refused, Err(Error::Unauthenticated(_))), "{refused:?}");
        }
        assert_eq!(fixture.iam.sessions().list(&fixture.system, bob.id).await.unwrap(), []);
    }
    let [started, ended] = [recorded(&fixture, "IMPERSONATION_STARTED"), recorded(&fixture, "IMPERSONATION_ENDED")];
    assert_eq!(started.await, ended.await);
}

/// A user is suspended while it changes something as another one. The change is whole or nothing of it happens, and
/// afterwards no further one does.
pub async fn what_a_user_does_as_another_one_ends_with_its_suspension(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let role = supporter(&fixture).await;
    let (bob, _) = fixture.member("bob@example.com", &fixture.role("CLERK", &["users:update"]).await, None).await;
    let carol = fixture.user("carol@example.com").await;
    for round in 0..8 {
        let (ada, caller) = fixture.member(&format!("support{round}@example.com"), &role, None).await;
        let (_, token) = fixture.iam.sessions().impersonate(&caller, bob.id, wanted()).await.unwrap();
        let acting = fixture.iam.authenticate(token.expose(), RequestContext::default()).await.unwrap();
        let patch = |name: &str| UserPatch { first_name: Some(name.to_owned()), ..UserPatch::default() };
        let (ending, changing) = ((fixture.iam.clone(), fixture.system.clone()), (fixture.iam.clone(), acting));
        let suspend = async move { ending.0.users().suspend(&ending.1, ada.id).await };
        let renamed = patch(&format!("Name{round}"));
        let change = async move { changing.0.users().update(&changing.1, carol.id, renamed).await };
        let (suspended, changed) = both(round, suspend, change).await;
        suspended.unwrap();
        let found = fixture.world.store.user(fixture.tenant.id, carol.id).await.unwrap().unwrap();
        assert_eq!(changed.is_ok(), found.first_name.as_str() == format!("Name{round}"), "{changed:?}");
        let refused = fixture.iam.authenticate(token.expose(), RequestContext::default()).await;
        assert!(matches!(refused, Err(Error::Unauthenticated(_))), "{refused:?}");
        let sessions = fixture.iam.sessions().list(&fixture.system, bob.id).await.unwrap();
        assert!(sessions.iter().all(|session| session.impersonation.is_none()), "{sessions:?}");
    }
}

/// Two users who act as each other are logged out at the same time. No requests wait for each other in a circle, and no
/// session is left.
pub async fn ends_of_users_who_act_as_each_other_do_not_deadlock(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let role = supporter(&fixture).await;
    for round in 0..8 {
        let (ada, of_ada) = fixture.member(&format!("ada{round}@example.net"), &role, None).await;
        let (bob, of_bob) = fixture.member(&format!("bob{round}@example.net"), &role, None).await;
        for _ in 0..3 {
            act_as(&fixture.iam, &of_ada, bob.id).await.unwrap();
            act_as(&fixture.iam, &of_bob, ada.id).await.unwrap();
        }
        let log_out = |user: UserId| {
            let (iam, system) = (fixture.iam.clone(), fixture.system.clone());
            async move { iam.sessions().logout_user(&system, user).await }
        };
        let (one, other) = both(round, log_out(ada.id), log_out(bob.id)).await;
        assert!(one.is_ok() && other.is_ok(), "{one:?} {other:?}");
        for user in [ada.id, bob.id] {
            assert_eq!(fixture.iam.sessions().list(&fixture.system, user).await.unwrap(), []);
        }
    }
}
