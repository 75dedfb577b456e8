//! Passwords and login attempts.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::Caller;
use iam_model::audit::{AuditEntry, AuditFilter};
use iam_model::change::{CredentialChange, LoginFailure};
use iam_model::context::RequestContext;
use iam_model::credential::{Account, GuardedAccount, LoginAttempts};
use iam_model::error::{Conflict, Error, Forbidden, Unauthenticated};
use iam_model::id::TenantId;
use iam_model::secret::PasswordHash;
use iam_model::store::Store;
use iam_model::user::UserStatus;
use iam_model::validate::Email;

use crate::race::{Fixture, PASSWORD, login};
use crate::world::World;

/// An account is found by its e-mail in any letter case, only in its own tenant. A lock that names the user by
/// its id finds it with any e-mail.
pub async fn account_is_found_by_email(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let user = world.user(&acme, "Ada@example.com").await;
    let key = "aDA@EXAMPLE.com".parse::<Email>().unwrap().key();
    let account = Account { user: user.clone(), password: PasswordHash::from("hash of Ada@example.com") };
    let (none, expected) = (GuardedAccount::default(), GuardedAccount { account: Some(account), ..Default::default() });
    assert_eq!(world.store.guarded_account(acme.id, &key).await.unwrap(), expected);
    assert_eq!(world.store.guarded_account(other.id, &key).await.unwrap(), none);
    let caller = Caller::system(acme.id, "conformance");
    let mut work = world.begin(caller.author()).await;
    let former = "former@example.com".parse::<Email>().unwrap().key();
    for email in [&key, &former] {
        assert_eq!(work.reads().lock_guarded_account(email, Some(user.id)).await.unwrap(), expected);
        assert_eq!(work.reads().lock_guarded_account(email, Some(world.id())).await.unwrap(), none);
        assert_eq!(work.reads().lock_guarded_account(email, None).await.unwrap(), none);
    }
}

/// Failed attempts are stored by tenant and e-mail until they are cleared, also for an e-mail that no user has, and
/// under [`TenantId::NONE`].
pub async fn failed_attempts_are_read_back_and_cleared(store: Arc<dyn Store>) {
    let world = World::new(store);
    let acme = world.tenant("acme").await;
    let email: Email = "Unknown@example.com".parse().unwrap();
    let attempts = LoginAttempts {
        failed_at: vec![world.now(), world.now() + TimeDelta::milliseconds(1)],
        locked_until: Some(world.now() + TimeDelta::minutes(15)),
    };
    let failed = |attempts, has_unnamed_failures| GuardedAccount { account: None, attempts, has_unnamed_failures };
    for tenant in [acme.id, TenantId::NONE] {
        let reason = LoginFailure::UnknownUser;
        for stored in [LoginAttempts { locked_until: None, ..attempts.clone() }, attempts.clone()] {
            let (email, attempts) = (email.clone(), stored.clone());
            let change = CredentialChange::CountFailure { email: email.clone(), reason, attempts, is_recorded: true };
            world.commit(tenant, change).await;
            let expected = failed(stored, tenant == TenantId::NONE);
            assert_eq!(world.store.guarded_account(tenant, &email.key()).await.unwrap(), expected);
        }
    }
    let caller = Caller::system(acme.id, "conformance");
    let mut work = world.begin(caller.author()).await;
    let expected = failed(attempts, true);
    assert_eq!(work.reads().lock_guarded_account(&email.key(), None).await.unwrap(), expected);
    drop(work);
    world.commit(acme.id, CredentialChange::ClearFailures(email.key())).await;
    let none = GuardedAccount::default();
    assert_eq!(world.store.guarded_account(acme.id, &email.key()).await.unwrap(), none);
    let mut work = world.begin(caller.author()).await;
    assert_eq!(work.reads().lock_guarded_account(&email.key(), None).await.unwrap(), none);
}

/// A success clears the failures of its tenant and the failures that named no tenant. It clears no failures of
/// another tenant or of another e-mail. A row that was created only for a lock is not a failure.
pub async fn a_success_also_clears_failures_without_a_tenant(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (ada, grace): (Email, Email) = ("ada@example.com".parse().unwrap(), "grace@example.com".parse().unwrap());
    let attempts = LoginAttempts { failed_at: vec![world.now()], locked_until: None };
    for tenant in [acme.id, other.id, TenantId::NONE] {
        for email in [&ada, &grace] {
            let (email, attempts, reason) = (email.clone(), attempts.clone(), LoginFailure::UnknownUser);
            world.commit(tenant, CredentialChange::CountFailure { email, reason, attempts, is_recorded: true }).await;
        }
    }
    world.commit(acme.id, CredentialChange::ClearFailures(ada.key())).await;
    for (tenant, email, count, has_unnamed_failures) in [
        (acme.id, &ada, 0, false),
        (other.id, &ada, 1, false),
        (TenantId::NONE, &ada, 0, false),
        (acme.id, &grace, 1, true),
        (TenantId::NONE, &grace, 1, true),
    ] {
        let found = world.store.guarded_account(tenant, &email.key()).await.unwrap();
        assert_eq!((found.attempts.count(), found.has_unnamed_failures), (count, has_unnamed_failures), "{email}");
    }
    let nowhere = World::anonymous(TenantId::NONE, RequestContext::default());
    let mut work = world.begin(&nowhere).await;
    work.reads().lock_guarded_account(&ada.key(), None).await.unwrap();
    work.commit().await.unwrap();
    assert!(!world.store.guarded_account(acme.id, &ada.key()).await.unwrap().has_unnamed_failures);
}

/// A new hash replaces the old one, both when the password changes and when only the hashing cost changes.
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
        let guarded = world.store.guarded_account(tenant.id, &user.email.key()).await.unwrap();
        assert_eq!(guarded.account.unwrap().password, expected);
    }
}

/// A password reset by trusted code ends every session and lifts the lockout. Afterwards only the new password logs
/// in. The audit log names the trusted code and does not contain the password.
pub async fn a_password_reset_ends_every_session(store: Arc<dyn Store>) {
    const NEW: &str = "An0ther pass!";
    let fixture = Fixture::new(store).await;
    let (iam, email) = (&fixture.iam, fixture.founder.email.as_str());
    let token = login(iam, email, PASSWORD).await.unwrap().tokens.access;
    for _ in 0..5 {
        assert!(login(iam, email, "Wr0ng pass!").await.is_err());
    }
    assert!(matches!(login(iam, email, PASSWORD).await, Err(Error::AccountLocked { .. })));

    let reset = iam.credentials().reset_password(&fixture.system, &email.to_uppercase(), NEW.into()).await.unwrap();
    assert_eq!((reset.id, reset.status), (fixture.founder.id, UserStatus::Active));
    assert!(iam.authenticate(token.expose(), RequestContext::default()).await.is_err());
    let old = login(iam, email, PASSWORD).await;
    assert!(matches!(old, Err(Error::Unauthenticated(Unauthenticated::Credentials))), "{old:?}");
    login(iam, email, NEW).await.unwrap();

    let log = iam.audit().list(&fixture.system, AuditFilter::default(), None, 100).await.unwrap().entries;
    assert!(!format!("{log:?}").contains(NEW));
    let by_trusted_code: Vec<&AuditEntry> =
        log.iter().rev().filter(|entry| entry.metadata.get("system").is_some_and(|it| it == "conformance")).collect();
    let actions: Vec<&str> = by_trusted_code.iter().map(|entry| &*entry.action).collect();
    assert_eq!(actions, ["PASSWORD_CHANGE", "LOGOUT", "LOGOUT"], "{by_trusted_code:?}");
    assert_eq!(by_trusted_code[0].resource_id, Some(fixture.founder.id.to_string()));
    assert_eq!(by_trusted_code[0].user_id, None);
    assert!(by_trusted_code[1..].iter().all(|entry| entry.metadata["reason"] == "PASSWORD_CHANGE"));
}

/// An administrator cannot reset the password of a user. Trusted code can, but only for an existing user that is not
/// INACTIVE, and not to a password that is too weak.
pub async fn only_trusted_code_resets_a_password(store: Arc<dyn Store>) {
    const NEW: &str = "An0ther pass!";
    let fixture = Fixture::new(store).await;
    let (iam, email) = (&fixture.iam, fixture.founder.email.as_str());
    let reset = async |caller: &Caller, email: &str, new: &str| {
        iam.credentials().reset_password(caller, email, new.into()).await.unwrap_err()
    };
    let token = login(iam, email, PASSWORD).await.unwrap().tokens.access;
    let administrator = iam.authenticate(token.expose(), RequestContext::default()).await.unwrap();
    assert!(matches!(reset(&administrator, email, NEW).await, Error::Forbidden(Forbidden::NotTrusted)));

    let refused = reset(&fixture.system, "unknown", "short").await;
    assert_eq!(refused.to_string(), "Invalid input: email, newPassword.");
    assert!(matches!(reset(&fixture.system, "unknown@example.com", NEW).await, Error::NotFound(_)));
    let elsewhere = Caller::system(fixture.world.tenant("other").await.id, "conformance");
    assert!(matches!(reset(&elsewhere, email, NEW).await, Error::NotFound(_)));
    let gone = fixture.user("gone@example.com").await;
    iam.users().delete(&fixture.system, gone.id).await.unwrap();
    let refused = reset(&fixture.system, "gone@example.com", NEW).await;
    assert!(matches!(refused, Error::Conflict(Conflict::UserInactive)), "{refused:?}");
    login(iam, email, PASSWORD).await.unwrap();
}
