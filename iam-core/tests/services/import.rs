//! The import of users with the password hashes of other systems.

use std::sync::Arc;

use iam_conformance::World;
use iam_core::assignment::NewAssignment;
use iam_core::audit::AuditFilter;
use iam_core::session::Login;
use iam_core::tenant::{ExportedPassword, Tenant, TenantPatch};
use iam_core::user::{Imported, ImportedRole, ImportedUser, User, UserStatus};
use iam_core::{Caller, Conflict, Error, Forbidden, Iam, RequestContext, permission};
use iam_store_memory::MemoryStore;
use serde_json::{Map, Value, json};

/// Hashes with their passwords. Python's hashlib and argon2-cffi made the hashes of "Passw0rd!", and Python's bcrypt
/// made the hash of "U*U".
const FOREIGN: [(&str, &str); 4] = [
    ("$pbkdf2-sha256$i=10000,l=32$AAECAwQFBgcICQoLDA0ODw$Gt0SUk92S9Hllj+2Ruap8Zp7vtcbAoZrqx4OD9gt0/I", "Passw0rd!"),
    ("pbkdf2_sha256$10000$aBcD_12+/.salt$/15Hl7S8g1j67N4bdQjIolQQxRC6pM7wxuk4/ygBETw=", "Passw0rd!"),
    ("$argon2i$v=19$m=4096,t=3,p=1$c2FsdHNhbHRzYWx0$7la2pMHemBM+Mwlg2XLmkpqRiQHE9As5dsmlmAdcSdo", "Passw0rd!"),
    ("$2a$10$CCCCCCCCCCCCCCCCCCCCC.KgQljzbljH4iwhlg3oTf8buusOTZRX6", "U*U"),
];

struct Fixture {
    world: World,
    iam: Iam,
    tenant: Tenant,
    caller: Caller,
}

impl Fixture {
    async fn new() -> Self {
        let world = World::new(Arc::new(MemoryStore::new()));
        let (tenant, iam) = (world.tenant("acme").await, world.iam().await);
        let caller = Caller::system(tenant.id, "import");
        Self { world, iam, tenant, caller }
    }

    async fn import(&self, user: ImportedUser) -> Result<User, Error> {
        match self.iam.users().import(&self.caller).unwrap().add(user).await? {
            Imported::Created(user) => Ok(*user),
            other => panic!("{other:?}"),
        }
    }

    async fn log_in(&self, email: &str, password: &str) -> Result<User, Error> {
        let login = Login { email: email.to_owned(), password: password.into(), tenant: None };
        self.iam.sessions().login(&RequestContext::default(), login).await.map(|login| login.user)
    }

    /// Returns the number of entries in the audit log.
    async fn entries(&self) -> usize {
        let log = self.iam.audit().list(&self.caller, AuditFilter::default(), None, 100).await.unwrap();
        log.entries.len()
    }

    /// Returns what an export of the tenant has of the password of a user.
    async fn exported(&self, user: &User, with_credentials: bool) -> ExportedPassword {
        let export = self.iam.tenants().export(&self.caller, with_credentials).await.unwrap();
        export.password(&self.iam, user).await.unwrap()
    }

    async fn hash_of(&self, user: &User) -> String {
        let guarded = self.world.store.guarded_account(self.tenant.id, &user.email.key()).await.unwrap();
        guarded.account.unwrap().password.expose().to_owned()
    }
}

fn person(email: &str, hash: &str) -> ImportedUser {
    ImportedUser { password_hash: Some(hash.into()), ..ImportedUser::new(email, "Grace", "Hopper") }
}

fn fields(error: &Error) -> Vec<&str> {
    match error {
        Error::Validation(errors) => errors.iter().map(|error| &*error.field).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_foreign_hash_is_replaced_at_the_first_login() {
    let fixture = Fixture::new().await;
    for (number, (hash, password)) in FOREIGN.into_iter().enumerate() {
        let user = fixture.import(person(&format!("user{number}@example.com"), hash)).await.unwrap();
        assert_eq!(fixture.hash_of(&user).await, hash);
        assert!(fixture.log_in(user.email.as_str(), "wrong").await.is_err(), "{hash}");
        assert_eq!(fixture.hash_of(&user).await, hash);
        assert_eq!(fixture.log_in(user.email.as_str(), password).await.unwrap().id, user.id, "{hash}");
        assert!(fixture.hash_of(&user).await.starts_with("$argon2id$v=19$m=64,t=1,p=1$"), "{hash}");
        fixture.log_in(user.email.as_str(), password).await.unwrap();
        assert!(fixture.log_in(user.email.as_str(), "wrong").await.is_err(), "{hash}");
    }
}

#[tokio::test]
async fn a_suspended_user_is_imported_as_suspended() {
    let fixture = Fixture::new().await;
    let (hash, password) = FOREIGN[0];
    let user =
        fixture.import(ImportedUser { status: UserStatus::Suspended, ..person("grace@example.com", hash) }).await;
    assert_eq!(user.unwrap().status, UserStatus::Suspended);
    assert!(fixture.log_in("grace@example.com", password).await.is_err());
}

#[tokio::test]
async fn an_error_names_every_invalid_field_and_hides_the_hash() {
    let fixture = Fixture::new().await;
    let bad = ImportedUser { status: UserStatus::Inactive, first_name: String::new(), ..person("grace", "hunter2") };
    let error = fixture.import(bad).await.unwrap_err();
    assert_eq!(fields(&error), ["status", "email", "passwordHash", "firstName"]);
    assert!(!format!("{error} {error:?}").contains("hunter2"));
    let expensive =
        fixture.import(person("grace@example.com", "$2b$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"));
    assert_eq!(fields(&expensive.await.unwrap_err()), ["passwordHash"]);
}

/// The import accepts the users that a dry run accepts, and refuses the users that a dry run refuses.
#[tokio::test]
async fn a_dry_run_reports_the_results_of_an_import_and_changes_nothing() {
    let fixture = Fixture::new().await;
    let (hash, _) = FOREIGN[0];
    fixture.import(person("taken@example.com", hash)).await.unwrap();
    let gone = fixture.import(person("gone@example.com", hash)).await.unwrap();
    fixture.iam.users().delete(&fixture.caller, gone.id).await.unwrap();
    let emails =
        ["new@example.com", "TAKEN@example.com", "gone@example.com", "nobody", "other@example.com", "NEW@example.com"];
    let before = fixture.entries().await;
    let mut runs = Vec::new();
    for is_dry in [true, false] {
        let import = fixture.iam.users().import(&fixture.caller).unwrap();
        let mut import = if is_dry { import.dry_run() } else { import };
        let mut results = Vec::new();
        for email in emails {
            let result = import.add(person(email, hash)).await;
            results.push(match result {
                Ok(Imported::AlreadyThere(_)) => "there",
                Ok(imported) => {
                    assert_eq!(imported == Imported::Valid, is_dry);
                    "made"
                }
                Err(Error::Conflict(Conflict::EmailTaken | Conflict::EmailOfDeletedUser)) => "taken",
                Err(Error::Validation(_)) => "invalid",
                Err(other) => panic!("{other:?}"),
            });
        }
        let made = if is_dry { 0 } else { 2 };
        assert_eq!(fixture.entries().await, before + made);
        runs.push(results);
    }
    assert_eq!(runs[0], ["made", "there", "taken", "invalid", "made", "taken"]);
    assert_eq!(runs[0], runs[1]);
}

/// A dry run finds what only the records before it show.
#[tokio::test]
async fn an_external_identifier_is_in_a_file_once() {
    let fixture = Fixture::new().await;
    let (hash, _) = FOREIGN[0];
    let with_id = |email: &str, id: &str| ImportedUser { external_id: Some(id.to_owned()), ..person(email, hash) };
    for is_dry in [true, false] {
        let import = fixture.iam.users().import(&fixture.caller).unwrap();
        let mut import = if is_dry { import.dry_run() } else { import };
        import.add(with_id("one@example.com", "1")).await.unwrap();
        let second = import.add(with_id("two@example.com", "1")).await;
        assert!(matches!(second, Err(Error::Conflict(Conflict::ExternalIdTaken))), "{second:?}");
        let address = import.add(with_id("two@example.com", "ONE@example.com")).await;
        assert!(matches!(address, Err(Error::Conflict(Conflict::ExternalIdIsEmail))), "{address:?}");
        // What is refused is not remembered.
        import.add(with_id("two@example.com", "2")).await.unwrap();
        import.add(with_id("three@example.com", "three@example.com")).await.unwrap();
    }
}

#[tokio::test]
async fn an_import_needs_the_permission_to_create_users() {
    let fixture = Fixture::new().await;
    let (hash, password) = FOREIGN[0];
    fixture.import(person("grace@example.com", hash)).await.unwrap();
    let login = Login { email: "grace@example.com".to_owned(), password: password.into(), tenant: None };
    let login = fixture.iam.sessions().login(&RequestContext::default(), login).await.unwrap();
    let grace = fixture.iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.unwrap();
    assert!(fixture.iam.access().require(&grace, permission::USERS_CREATE, None).await.is_err());
    assert!(matches!(fixture.iam.users().import(&grace), Err(Error::Forbidden(_))));
}

/// An import takes long. What it may do is asked for each user, as for each request that creates one.
#[tokio::test]
async fn each_user_of_an_import_needs_the_permission_at_that_moment() {
    let fixture = Fixture::new().await;
    let (hash, password) = FOREIGN[0];
    let grace = fixture.import(person("grace@example.com", hash)).await.unwrap();
    let role = fixture.world.role(&fixture.tenant, "DESK", &["users:create"]).await;
    let given = NewAssignment { user: grace.id, role: role.id, organization: None, expires_at: None };
    let given = fixture.iam.assignments().create(&fixture.caller, given).await.unwrap();
    let login = Login { email: "grace@example.com".to_owned(), password: password.into(), tenant: None };
    let login = fixture.iam.sessions().login(&RequestContext::default(), login).await.unwrap();
    let caller = fixture.iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.unwrap();

    let mut import = fixture.iam.users().import(&caller).unwrap();
    import.add(person("one@example.com", hash)).await.unwrap();
    fixture.iam.assignments().delete(&fixture.caller, given.id).await.unwrap();
    let refused = import.add(person("two@example.com", hash)).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    fixture.iam.sessions().logout(&caller).await.unwrap();
    let refused = import.add(person("two@example.com", hash)).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(_))), "{refused:?}");
}

/// A user who logs in with the caller's rights: the permissions of a role.
async fn clerk(fixture: &Fixture, permissions: &[&str]) -> Caller {
    let (hash, password) = FOREIGN[0];
    let clerk = fixture.import(person("clerk@example.com", hash)).await.unwrap();
    let role = fixture.world.role(&fixture.tenant, "DESK", permissions).await;
    let given = NewAssignment { user: clerk.id, role: role.id, organization: None, expires_at: None };
    fixture.iam.assignments().create(&fixture.caller, given).await.unwrap();
    let login = Login { email: "clerk@example.com".to_owned(), password: password.into(), tenant: None };
    let login = fixture.iam.sessions().login(&RequestContext::default(), login).await.unwrap();
    fixture.iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.unwrap()
}

#[tokio::test]
async fn a_user_is_imported_with_its_roles_or_not_at_all() {
    let fixture = Fixture::new().await;
    let caller = clerk(&fixture, &["users:create", "role-assignments:create", "orders:read"]).await;
    let (same, more) = (
        fixture.world.role(&fixture.tenant, "READER", &["orders:read"]).await,
        fixture.world.role(&fixture.tenant, "WRITER", &["orders:*"]).await,
    );
    let user = |email: &str, role| ImportedUser {
        roles: vec![ImportedRole { role, organization: None }],
        ..person(email, FOREIGN[0].0)
    };
    for is_dry in [true, false] {
        let import = fixture.iam.users().import(&caller).unwrap();
        let mut import = if is_dry { import.dry_run() } else { import };
        let before = fixture.entries().await;
        let refused = import.add(user("two@example.com", more.id)).await.unwrap_err();
        let Error::About { error, .. } = &refused else { panic!("{refused:?}") };
        assert!(matches!(**error, Error::Forbidden(Forbidden::Escalation { .. })), "{refused:?}");
        assert_eq!(fixture.entries().await, before);
        let imported = import.add(user("one@example.com", same.id)).await.unwrap();
        match imported {
            Imported::Created(made) if !is_dry => {
                let held = fixture.iam.assignments().of_user(&fixture.caller, made.id).await.unwrap();
                assert_eq!(held.len(), 1);
            }
            Imported::Valid if is_dry => assert_eq!(fixture.entries().await, before),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_user_that_is_there_is_not_changed() {
    let fixture = Fixture::new().await;
    let (hash, password) = FOREIGN[0];
    let role = fixture.world.role(&fixture.tenant, "READER", &["orders:read"]).await;
    let with_id = |email: &str, id: &str| ImportedUser { external_id: Some(id.to_owned()), ..person(email, hash) };
    let grace = fixture.import(with_id("grace@example.com", "g")).await.unwrap();
    let plain = fixture.import(person("plain@example.com", hash)).await.unwrap();
    let before = (fixture.entries().await, fixture.hash_of(&grace).await);
    let mut import = fixture.iam.users().import(&fixture.caller).unwrap();
    for (user, expected) in [
        (with_id("GRACE@example.com", "g"), Some(Imported::AlreadyThere(grace.id))),
        (with_id("other@example.com", "g"), Some(Imported::OtherEmail(grace.id))),
        (with_id("plain@example.com", "p"), Some(Imported::AlreadyThere(plain.id))),
        // The identifier says who it is, also if another user has the e-mail.
        (with_id("plain@example.com", "g"), Some(Imported::OtherEmail(grace.id))),
        (with_id("Grace@example.com", "another"), None),
        (with_id("new@example.com", "plain@example.com"), None),
    ] {
        let user = ImportedUser {
            password_hash: Some(FOREIGN[1].0.into()),
            status: UserStatus::Suspended,
            is_email_verified: true,
            roles: vec![ImportedRole { role: role.id, organization: None }],
            ..user
        };
        let found = match import.add(user.clone()).await {
            Ok(found @ (Imported::AlreadyThere(_) | Imported::OtherEmail(_))) => Some(found),
            Err(Error::Conflict(Conflict::EmailTaken | Conflict::ExternalIdIsEmail)) => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{user:?}");
    }
    assert_eq!((fixture.entries().await, fixture.hash_of(&grace).await), before);
    assert_eq!(fixture.log_in("grace@example.com", password).await.unwrap().email_verified_at, None);
}

/// A person can be in several realms of an export.
#[tokio::test]
async fn a_second_record_of_a_user_is_refused_and_in_the_next_run_the_user_is_there() {
    let fixture = Fixture::new().await;
    let (hash, _) = FOREIGN[0];
    let with_id = |email: &str, id: &str| ImportedUser { external_id: Some(id.to_owned()), ..person(email, hash) };
    let users = [
        person("grace@example.com", hash),
        person("GRACE@example.com", hash),
        with_id("jean@example.com", "1"),
        with_id("jean@example.com", "2"),
    ];
    let mut runs = Vec::new();
    for _ in 0..2 {
        let mut import = fixture.iam.users().import(&fixture.caller).unwrap();
        let mut results = Vec::new();
        for user in &users {
            results.push(match import.add(user.clone()).await {
                Ok(Imported::Created(_)) => "made",
                Ok(Imported::AlreadyThere(_)) => "there",
                Err(Error::Conflict(Conflict::EmailTaken)) => "taken",
                other => panic!("{other:?}"),
            });
        }
        runs.push(results);
    }
    assert_eq!(runs, [["made", "taken", "made", "taken"], ["there", "there", "there", "taken"]]);
}

/// Both imports have looked for the user before one of them creates it.
#[tokio::test]
async fn a_user_whom_another_import_creates_meanwhile_is_there() {
    let fixture = Fixture::new().await;
    for (email, second_id, is_same) in
        [("grace@example.com", "grace@example.com", true), ("mary@example.com", "another", false)]
    {
        let user = |id: &str| ImportedUser { external_id: Some(id.to_owned()), ..person(email, FOREIGN[0].0) };
        let (mut one, mut two) = (
            fixture.iam.users().import(&fixture.caller).unwrap(),
            fixture.iam.users().import(&fixture.caller).unwrap(),
        );
        let blocker = fixture.world.begin(&World::system(fixture.tenant.id)).await;
        let release = async move {
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            drop(blocker);
        };
        let (first, second, ()) = tokio::join!(one.add(user(email)), two.add(user(second_id)), release);
        let (created, other) = match (first, second) {
            (Ok(Imported::Created(user)), other) | (other, Ok(Imported::Created(user))) => (user, other),
            neither => panic!("{neither:?}"),
        };
        match other {
            Ok(Imported::AlreadyThere(id)) if is_same => assert_eq!(id, created.id),
            Err(Error::Conflict(Conflict::EmailTaken)) if !is_same => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn only_trusted_code_imports_verified_emails() {
    let fixture = Fixture::new().await;
    let verified = |email| ImportedUser { is_email_verified: true, ..person(email, FOREIGN[0].0) };
    assert!(fixture.import(verified("grace@example.com")).await.unwrap().email_verified_at.is_some());
    let caller = clerk(&fixture, &["users:*"]).await;
    let error = fixture.iam.users().import(&caller).unwrap().add(verified("ada@example.org")).await.unwrap_err();
    assert_eq!(fields(&error), ["emailVerified"]);
}

#[tokio::test]
async fn a_user_without_a_password_is_imported_and_cannot_log_in_by_one() {
    let fixture = Fixture::new().await;
    fixture.import(ImportedUser::new("grace@example.com", "Grace", "Hopper")).await.unwrap();
    for password in ["", "!", "Passw0rd!"] {
        assert!(fixture.log_in("grace@example.com", password).await.is_err());
    }
}

/// The hash and its key are the example that Firebase publishes.
#[tokio::test]
async fn a_hash_of_firebase_is_stored_with_its_encrypted_key_and_replaced_at_the_first_login() {
    let fixture = Fixture::new().await;
    let key = "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==";
    let hash = "$firebase-scrypt$ln=14,r=8$42xEC+ixf3L2lwc$\
                lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ";
    let mut import = fixture.iam.users().import(&fixture.caller).unwrap().hash_secret(key.into()).unwrap();
    let Imported::Created(user) = import.add(person("grace@example.com", hash)).await.unwrap() else { panic!() };
    let stored = fixture.hash_of(&user).await;
    assert!(stored.ends_with(hash) && !stored.contains("jxspr8"), "{stored}");
    assert!(matches!(fixture.exported(&user, true).await, ExportedPassword::Bound));
    assert!(fixture.log_in("grace@example.com", "wrong").await.is_err());
    fixture.log_in("grace@example.com", "user1password").await.unwrap();
    assert!(fixture.hash_of(&user).await.starts_with("$argon2id$"));
}

/// What an export has of a password, the import of another installation takes.
#[tokio::test]
async fn exported_hashes_can_be_imported() {
    let (here, there) = (Fixture::new().await, Fixture::new().await);
    for (number, (hash, password)) in FOREIGN.into_iter().enumerate() {
        let email = format!("grace{number}@example.com");
        let user = here.import(person(&email, hash)).await.unwrap();
        assert!(matches!(here.exported(&user, false).await, ExportedPassword::None));
        let ExportedPassword::Hash(exported) = here.exported(&user, true).await else { panic!("{hash}") };
        there.import(person(&email, exported.expose())).await.unwrap();
        there.log_in(&email, password).await.unwrap();
        assert!(matches!(there.exported(&user, true).await, ExportedPassword::None), "a user of another tenant");
    }
    let user = here.import(ImportedUser::new("none@example.com", "Grace", "Hopper")).await.unwrap();
    assert!(matches!(here.exported(&user, true).await, ExportedPassword::None));
}

/// A text of a CSV file becomes what the tenant has defined for its key.
#[tokio::test]
async fn attributes_are_read_by_their_definitions() {
    let fixture = Fixture::new().await;
    let object = |value: Value| serde_json::from_value::<Map<String, Value>>(value).unwrap();
    let definitions = json!([
        { "key": "floor", "type": "NUMBER" },
        { "key": "remote", "type": "BOOLEAN" },
        { "key": "tags", "type": "STRINGS" },
        { "key": "centre", "type": "STRING" },
    ]);
    let patch =
        TenantPatch { user_attributes: Some(serde_json::from_value(definitions).unwrap()), ..TenantPatch::default() };
    fixture.iam.tenants().update(&fixture.caller, fixture.tenant.id, patch).await.unwrap();
    let texts = json!({ "floor": "3", "remote": "true", "tags": "[\"a\"]", "centre": ["4711"], "other": "7" });
    let grace = ImportedUser { attributes: object(texts), ..person("grace@example.com", FOREIGN[0].0) };
    let grace = fixture.import(grace).await.unwrap();
    let found = fixture.iam.users().get_with_attributes(&fixture.caller, grace.id).await.unwrap();
    let expected = json!({ "floor": 3, "remote": true, "tags": ["a"], "centre": "4711", "other": "7" });
    assert_eq!(Value::Object(found.attributes.into()), expected);
    let wrong = json!({ "floor": "third", "remote": "yes", "not a key": "x" });
    let alan = ImportedUser { attributes: object(wrong), ..person("alan@example.com", FOREIGN[0].0) };
    let refused = fixture.import(alan).await.unwrap_err();
    assert!(fields(&refused).iter().all(|field| field.starts_with("attributes")), "{refused:?}");
}
