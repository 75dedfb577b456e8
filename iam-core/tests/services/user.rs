//! Verified e-mails, which callers may change an e-mail, and homes.

use std::sync::Arc;

use iam_conformance::World;
use iam_core::api_key::NewApiKey;
use iam_core::attribute::Attributes;
use iam_core::audit::AuditFilter;
use iam_core::session::Login;
use iam_core::tenant::Tenant;
use iam_core::user::{NewUser, User, UserChange, UserPatch, UserStatus};
use iam_core::{Caller, Conflict, Error, Forbidden, Iam, RequestContext};
use iam_store_memory::MemoryStore;
use serde_json::{Map, Value, json};

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

#[tokio::test]
async fn an_organization_that_is_the_home_of_too_many_users_is_not_deleted() {
    const MOST: usize = 2_000;
    let office = Office::new().await;
    let north = office.world.organization(&office.tenant, "north").await;
    let at_home = |number| {
        let user = office.world.new_user(&office.tenant, &format!("user{number}@example.com"));
        User { home_organization_id: Some(north.id), ..user }
    };
    let users: Vec<User> = (0..=MOST).map(at_home).collect();
    let create = |user: &User| {
        UserChange::Create { user: user.clone(), password: None, invitation: None, attributes: Attributes::default() }
            .into()
    };
    office.world.try_commit(office.tenant.id, users.iter().map(create)).await.unwrap();
    let delete = async || office.iam.organizations().delete(&office.system, north.id).await;
    let refused = delete().await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::TooManyHomes(2_000)))), "{refused:?}");
    assert_eq!(office.stored(&users[MOST]).await.home_organization_id, Some(north.id));
    let elsewhere = UserPatch { home: Some(None), ..UserPatch::default() };
    office.iam.users().update(&office.system, users[0].id, elsewhere).await.unwrap();
    delete().await.unwrap();
    for user in users.iter().step_by(100) {
        assert_eq!(office.stored(user).await.home_organization_id, None);
    }
}

/// A deleted user has no roles that a change of its e-mail could be compared with, and gets some when it is restored.
#[tokio::test]
async fn the_email_of_a_deleted_user_changes_only_when_it_is_restored() {
    let office = Office::new().await;
    let grace = office.user("grace", &[]).await;
    let helper = office.user("helper", &["users:update"]).await;
    let keeper = office.user("keeper", &["users:update", "users:create"]).await;
    office.iam.users().delete(&office.system, grace.id).await.unwrap();
    let (helper, keeper) = (office.log_in(&helper).await, office.log_in(&keeper).await);
    let refused = office.iam.users().update(&keeper, grace.id, to_email("thief@example.com")).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::UserInactive))), "{refused:?}");
    let restored = || UserPatch { status: Some(UserStatus::Active), ..to_email("new@example.com") };
    let refused = office.iam.users().update(&helper, grace.id, restored()).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Permission(_)))), "{refused:?}");
    office.iam.users().update(&keeper, grace.id, restored()).await.unwrap();
}

#[tokio::test]
async fn another_spelling_of_a_verified_address_stays_verified() {
    let office = Office::new().await;
    let grace = office.user("grace", &[]).await;
    let verified = office.iam.users().verify_email(&office.system, "grace@example.com").await.unwrap();
    let updated = office.iam.users().update(&office.system, grace.id, to_email("Grace@Example.com")).await.unwrap();
    assert_eq!(updated.email_verified_at, verified.email_verified_at);
    let updated = office.iam.users().update(&office.system, grace.id, to_email("hopper@example.com")).await.unwrap();
    assert_eq!(updated.email_verified_at, None);
}

/// A deleted user has no roles whose permissions a caller would need. Otherwise a caller could prepare the account for
/// itself, and wait until it is restored.
#[tokio::test]
async fn a_deleted_user_can_only_be_restored_or_erased() {
    let office = Office::new().await;
    let (admin, support) =
        (office.user("admin", &["*"]).await, office.user("support", &["users:*", "sessions:*", "api-keys:*"]).await);
    let iam = &office.iam;
    let caller = office.log_in(&support).await;
    let attributes = Some(Map::from_iter([("costCentre".to_owned(), json!("4711"))]));
    let kept = UserPatch { attributes, ..UserPatch::default() };
    iam.users().update(&office.system, admin.id, kept).await.unwrap();
    iam.users().delete(&office.system, admin.id).await.unwrap();
    let refused = |result: Result<(), Error>| matches!(result, Err(Error::Conflict(Conflict::UserInactive)));
    let update = async |patch| iam.users().update(&caller, admin.id, patch).await.map(drop);
    let name = || UserPatch { first_name: Some("Augusta".to_owned()), ..UserPatch::default() };
    let inactive = || UserPatch { status: Some(UserStatus::Inactive), ..UserPatch::default() };
    assert!(refused(update(to_email("mallory@example.com")).await));
    assert!(refused(update(name()).await));
    assert!(refused(update(UserPatch { first_name: Some("Augusta".to_owned()), ..inactive() }).await));
    // Also with what is kept: otherwise a caller that may not read it could guess it.
    let kept = UserPatch { first_name: Some(admin.first_name.as_str().to_owned()), ..UserPatch::default() };
    assert!(refused(update(kept).await));
    assert!(refused(update(to_email(admin.email.as_str())).await));
    for value in [json!("4711"), json!("4712"), Value::Null] {
        let attributes = Some(Map::from_iter([("costCentre".to_owned(), value)]));
        assert!(refused(update(UserPatch { attributes, ..UserPatch::default() }).await));
    }
    assert!(refused(iam.users().suspend(&caller, admin.id).await.map(drop)));
    assert!(refused(iam.factors().reset(&caller, admin.id).await));
    let key = NewApiKey { name: "key".to_owned(), permissions: Some(vec![]), ..NewApiKey::default() };
    assert!(refused(iam.api_keys().create(&caller, admin.id, key).await.map(drop)));
    update(inactive()).await.unwrap();
    iam.users().delete(&caller, admin.id).await.unwrap();
    iam.sessions().logout_user(&caller, admin.id).await.unwrap();
    assert_eq!(office.stored(&admin).await.email, admin.email);
    let active = UserPatch { status: Some(UserStatus::Active), ..name() };
    update(active).await.unwrap();
    update(to_email("augusta@example.com")).await.unwrap();
}
