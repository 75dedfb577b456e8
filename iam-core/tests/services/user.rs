//! Verified e-mails, and which callers may change an e-mail.

use std::sync::Arc;

use iam_conformance::World;
use iam_core::audit::AuditFilter;
use iam_core::session::Login;
use iam_core::tenant::Tenant;
use iam_core::user::{NewUser, User, UserPatch};
use iam_core::{Caller, Conflict, Error, Forbidden, Iam, RequestContext};
use iam_store_memory::MemoryStore;

const PASSWORD: &str = "Passw0rd!";

/// A service with one tenant, and a trusted caller in it.
struct Office {
    world: World,
    iam: Iam,
    tenant: Tenant,
    system: Caller,
}

impl Office {
    async fn new() -> Self {
        let world = World::new(Arc::new(MemoryStore::new()));
        let iam = world.iam().await;
        let tenant = world.tenant("acme").await;
        let system = Caller::system(tenant.id, "test");
        Self { world, iam, tenant, system }
    }

    async fn user(&self, name: &str, permissions: &[&str]) -> User {
        let new = NewUser {
            email: format!("{name}@example.com"),
            password: PASSWORD.into(),
            first_name: name.to_owned(),
            last_name: "Example".to_owned(),
        };
        let user = self.iam.users().create(&self.system, new).await.unwrap();
        if !permissions.is_empty() {
            let role = self.world.role(&self.tenant, &name.to_uppercase(), permissions).await;
            self.world.give(&user, &role, None).await;
        }
        user
    }

    async fn log_in(&self, user: &User) -> Caller {
        let login = Login { email: user.email.to_string(), password: PASSWORD.into(), tenant: None };
        let login = self.iam.sessions().login(&RequestContext::default(), login).await.unwrap();
        self.iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.unwrap()
    }

    async fn stored(&self, user: &User) -> User {
        self.world.store.user(user.tenant_id, user.id).await.unwrap().unwrap()
    }

    async fn verifications(&self) -> usize {
        let filter = AuditFilter { action: Some("EMAIL_VERIFIED".to_owned()), ..AuditFilter::default() };
        self.iam.audit().list(&self.system, filter, None, 100).await.unwrap().entries.len()
    }
}

fn to_email(email: &str) -> UserPatch {
    UserPatch { email: Some(email.to_owned()), ..UserPatch::default() }
}

#[tokio::test]
async fn trusted_code_verifies_an_email_once() {
    let office = Office::new().await;
    let ada = office.user("ada", &["*"]).await;
    assert_eq!(ada.email_verified_at, None);
    let caller = office.log_in(&ada).await;
    let refused = office.iam.users().verify_email(&caller, "ada@example.com").await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::NotTrusted))), "{refused:?}");
    assert_eq!((office.stored(&ada).await.email_verified_at, office.verifications().await), (None, 0));

    office.world.tick();
    let (verified, now) =
        (office.iam.users().verify_email(&office.system, "ADA@example.com").await.unwrap(), office.world.now());
    assert_eq!((verified.email_verified_at, verified.updated_at), (Some(now), now));
    assert_eq!((office.stored(&ada).await.email_verified_at, office.verifications().await), (Some(now), 1));
    office.world.tick();
    assert_eq!(office.iam.users().verify_email(&office.system, "ada@example.com").await.unwrap(), verified);
    assert_eq!(office.verifications().await, 1);
}

#[tokio::test]
async fn the_email_of_a_deleted_or_unknown_user_is_not_verified() {
    let office = Office::new().await;
    let (ada, grace) = (office.user("ada", &[]).await, office.user("grace", &[]).await);
    office.iam.users().delete(&office.system, ada.id).await.unwrap();
    let deleted = office.iam.users().verify_email(&office.system, "ada@example.com").await;
    assert!(matches!(deleted, Err(Error::Conflict(Conflict::UserInactive))), "{deleted:?}");
    for unknown in ["nobody@example.com", "grace@example.org"] {
        let unknown = office.iam.users().verify_email(&office.system, unknown).await;
        assert!(matches!(unknown, Err(Error::NotFound(_))), "{unknown:?}");
    }
    assert_eq!((office.stored(&grace).await.email_verified_at, office.verifications().await), (None, 0));
}

#[tokio::test]
async fn a_changed_email_is_unverified() {
    let office = Office::new().await;
    let ada = office.user("ada", &[]).await;
    office.iam.users().verify_email(&office.system, "ada@example.com").await.unwrap();
    let name = UserPatch { first_name: Some("Augusta".to_owned()), ..to_email("ada@example.com") };
    assert!(office.iam.users().update(&office.system, ada.id, name).await.unwrap().email_verified_at.is_some());
    let moved = office.iam.users().update(&office.system, ada.id, to_email("lovelace@example.com")).await.unwrap();
    assert_eq!((moved.email.as_str(), moved.email_verified_at), ("lovelace@example.com", None));
}

/// A new password is sent to the address, so a caller that may change it can take over the account.
#[tokio::test]
async fn a_caller_cannot_change_the_email_of_a_user_with_more_rights() {
    let office = Office::new().await;
    let (support, admin) = (office.user("support", &["users:update"]).await, office.user("admin", &["*"]).await);
    let member = office.user("member", &[]).await;
    let caller = office.log_in(&support).await;
    let refused = office.iam.users().update(&caller, admin.id, to_email("mallory@example.com")).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    assert_eq!(office.stored(&admin).await.email, admin.email);
    // The same e-mail is no change, also together with another name.
    for patch in [
        to_email("admin@example.com"),
        UserPatch { first_name: Some("Augusta".to_owned()), ..to_email("admin@example.com") },
    ] {
        office.iam.users().update(&caller, admin.id, patch).await.unwrap();
    }
    office.iam.users().update(&caller, member.id, to_email("moved@example.com")).await.unwrap();
    // A user may change its own e-mail, with any rights.
    let caller = office.log_in(&admin).await;
    let moved = office.iam.users().update(&caller, admin.id, to_email("root@example.com")).await.unwrap();
    assert_eq!(moved.email.as_str(), "root@example.com");
}
