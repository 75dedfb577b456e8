//! Passwords and login attempts.

use std::sync::Arc;

use chrono::TimeDelta;

use super::World;
use crate::caller::Caller;
use crate::credential::{Account, CredentialChange, LoginAttempts, LoginFailure};
use crate::id::TenantId;
use crate::secret::PasswordHash;
use crate::store::Store;
use crate::validate::Email;

/// An account is found by its e-mail in any case, in its tenant alone.
pub async fn account_is_found_by_email(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let user = world.user(&acme, "Ada@example.com").await;
    let key = "aDA@EXAMPLE.com".parse::<Email>().unwrap().key();
    let expected = Account { user: user.clone(), password: PasswordHash::from("hash of Ada@example.com") };
    assert_eq!(world.store.account(acme.id, &key).await.unwrap(), Some(expected.clone()));
    assert_eq!(world.store.account(other.id, &key).await.unwrap(), None);
    let caller = Caller::system(acme.id, "conformance");
    let mut work = world.begin(&caller).await;
    assert_eq!(work.locks().lock_account(user.id).await.unwrap(), Some(expected));
    assert_eq!(work.locks().lock_account(world.id()).await.unwrap(), None);
}

/// Attempts are kept by tenant and e-mail, also for an e-mail that nobody has in no tenant, until they are cleared.
pub async fn attempts_are_read_back_and_cleared(store: Arc<dyn Store>) {
    let world = World::new(store);
    let acme = world.tenant("acme").await;
    let email: Email = "Nobody@example.com".parse().unwrap();
    let attempts = LoginAttempts {
        failed_at: vec![world.now(), world.now() + TimeDelta::milliseconds(1)],
        locked_until: Some(world.now() + TimeDelta::minutes(15)),
    };
    for tenant in [acme.id, TenantId::NONE] {
        let reason = LoginFailure::UnknownUser;
        for stored in [LoginAttempts { locked_until: None, ..attempts.clone() }, attempts.clone()] {
            let attempts = stored.clone();
            world.commit(tenant, CredentialChange::CountFailure { email: email.clone(), reason, attempts }).await;
            assert_eq!(world.store.login_attempts(tenant, &email.key()).await.unwrap(), stored);
        }
    }
    world.commit(acme.id, CredentialChange::ClearFailures(email.key())).await;
    let none = LoginAttempts::default();
    assert_eq!(world.store.login_attempts(acme.id, &email.key()).await.unwrap(), none);
    assert_eq!(world.store.login_attempts(TenantId::NONE, &email.key()).await.unwrap(), attempts);

    let caller = Caller::system(acme.id, "conformance");
    let mut work = world.begin(&caller).await;
    assert_eq!(work.locks().lock_login_attempts(&email.key()).await.unwrap(), none);
}

/// A new hash takes the place of the old one, whether the password changed or only its cost.
pub async fn password_is_replaced(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let (changed, rehashed) = (PasswordHash::from("changed"), PasswordHash::from("rehashed"));
    let changes = [
        (CredentialChange::ChangePassword { user: user.id, password: changed.clone() }, changed),
        (CredentialChange::Rehash { user: user.id, password: rehashed.clone() }, rehashed),
    ];
    for (change, expected) in changes {
        world.commit(tenant.id, change).await;
        let account = world.store.account(tenant.id, &user.email.key()).await.unwrap().unwrap();
        assert_eq!(account.password, expected);
    }
}
