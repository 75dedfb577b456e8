//! Counts and removals that no request makes.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::change::{CredentialChange, LoginFailure, SessionChange};
use iam_model::credential::LoginAttempts;
use iam_model::session::Session;
use iam_model::store::{Store, Totals};

use crate::world::World;

/// The totals count the unexpired sessions and the pending entries of all tenants.
pub async fn totals_count_all_tenants(store: Arc<dyn Store>) {
    let world = World::new(store);
    let total = async |world: &World| world.store.totals(world.now()).await.unwrap();
    assert_eq!(total(&world).await, Totals::default());
    for slug in ["acme", "other"] {
        let tenant = world.tenant(slug).await;
        let user = world.user(&tenant, "ada@example.com").await;
        for minutes in [1, 2] {
            let expires_at = world.now() + TimeDelta::minutes(minutes);
            let session = Session { expires_at, ..world.new_session(&user) };
            world.commit(tenant.id, SessionChange::Start(session)).await;
        }
    }
    let pending = world.store.pending(&[], 1_000).await.unwrap().len() as u64;
    assert!(pending >= 4);
    assert_eq!(total(&world).await, Totals { active_sessions: 4, pending_entries: pending });
    world.sequence().await;
    world.clock.advance(TimeDelta::minutes(1));
    assert_eq!(total(&world).await, Totals { active_sessions: 2, pending_entries: 0 });
}

/// Sessions are removed from the exact millisecond of their expiry on, at most as many as the limit. No others are
/// removed.
pub async fn expired_sessions_are_removed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    for millis in [0, 1, 2, 3] {
        let expires_at = world.now() + TimeDelta::milliseconds(millis);
        let session = Session { expires_at, ..world.new_session(&user) };
        world.commit(tenant.id, SessionChange::Start(session)).await;
    }
    world.clock.advance(TimeDelta::milliseconds(2));
    let removed = world.store.remove_expired_sessions(world.now(), 1_000).await.unwrap();
    let left = world.store.sessions_of(tenant.id, user.id).await.unwrap();
    assert_eq!((removed, left.len()), (3, 1));
    assert!(world.now() < left[0].expires_at);
    assert_eq!(world.store.remove_expired_sessions(world.now(), 1_000).await.unwrap(), 0);
}

/// Failed attempts are removed when their lockout is over, or when none of them counts any more.
pub async fn stale_login_attempts_are_removed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let ago = |seconds| world.now() - TimeDelta::seconds(seconds);
    let counting = |failed_at: &[i64]| failed_at.iter().map(|seconds| ago(*seconds)).collect();
    for (email, failed_at, locked_until) in [
        ("old@example.com", counting(&[30, 20]), None),
        ("none@example.com", counting(&[]), None),
        ("unlocked@example.com", counting(&[3, 2]), Some(ago(0))),
        ("mixed@example.com", counting(&[30, 10]), None),
        ("locked@example.com", counting(&[30]), Some(ago(-1))),
    ] {
        let attempts = LoginAttempts { failed_at, locked_until };
        let (email, reason) = (email.parse().unwrap(), LoginFailure::InvalidPassword);
        world.commit(tenant.id, CredentialChange::CountFailure { email, reason, attempts, is_recorded: true }).await;
    }
    let removed = world.store.remove_stale_login_attempts(world.now(), ago(10), 1_000).await.unwrap();
    assert_eq!(removed, 3);
    for (email, is_kept) in [
        ("old@example.com", false),
        ("unlocked@example.com", false),
        ("mixed@example.com", true),
        ("locked@example.com", true),
    ] {
        let key = email.parse::<iam_model::validate::Email>().unwrap().key();
        let attempts = world.store.guarded_account(tenant.id, &key).await.unwrap().attempts;
        assert_eq!(attempts != LoginAttempts::default(), is_kept, "{email}");
    }
}

/// The service removes all expired sessions and stale attempts, in any number, and decides by its own settings which
/// attempts are stale.
pub async fn the_service_removes_sessions_and_attempts(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let iam = world.iam().await;
    for _ in 0..3 {
        world.commit(tenant.id, SessionChange::Start(world.new_session(&user))).await;
    }
    assert_eq!(iam.totals().await.unwrap().active_sessions, 3);
    assert_eq!(iam.remove_expired_sessions().await.unwrap(), 0);
    world.clock.advance(TimeDelta::days(400));
    assert_eq!(iam.remove_expired_sessions().await.unwrap(), 3);
    let attempts = LoginAttempts { failed_at: vec![world.now()], locked_until: None };
    let (email, reason) = (user.email.clone(), LoginFailure::InvalidPassword);
    world.commit(tenant.id, CredentialChange::CountFailure { email, reason, attempts, is_recorded: true }).await;
    world.clock.advance(TimeDelta::minutes(15));
    assert_eq!(iam.remove_stale_login_attempts().await.unwrap(), 0);
    world.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(iam.remove_stale_login_attempts().await.unwrap(), 1);
}

/// One task has the turn for a job until it ends it. A turn for another job can be taken at the same time.
pub async fn one_task_has_a_job_until_its_turn_ends(store: Arc<dyn Store>) {
    let mut turn = store.take_turn("sweep").await.unwrap().unwrap();
    assert!(turn.is_held().await);
    assert!(store.take_turn("sweep").await.unwrap().is_none());
    turn.end().await;
    let (again, other) = (store.take_turn("sweep").await.unwrap(), store.take_turn("other").await.unwrap());
    again.unwrap().end().await;
    other.unwrap().end().await;
}
