//! The import of users with the password hashes of other systems.

use std::sync::Arc;

use iam_conformance::World;
use iam_core::assignment::NewAssignment;
use iam_core::audit::AuditFilter;
use iam_core::session::Login;
use iam_core::tenant::{Tenant, TenantPatch};
use iam_core::user::{ImportedUser, User, UserStatus};
use iam_core::{Caller, Conflict, Error, Iam, RequestContext, permission};
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
        self.iam.users().import(&self.caller).unwrap().add(user).await.map(Option::unwrap)
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

    async fn hash_of(&self, user: &User) -> String {
        let guarded = self.world.store.guarded_account(self.tenant.id, &user.email.key()).await.unwrap();
        guarded.account.unwrap().password.expose().to_owned()
    }
}

fn person(email: &str, hash: &str) -> ImportedUser {
    ImportedUser {
        email: email.to_owned(),
        first_name: "Grace".to_owned(),
        last_name: "Hopper".to_owned(),
        password_hash: hash.into(),
        status: UserStatus::Active,
        attributes: serde_json::Map::new(),
    }
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
                Ok(user) => {
                    assert_eq!(user.is_none(), is_dry);
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
    assert_eq!(runs[0], ["made", "taken", "taken", "invalid", "made", "taken"]);
    assert_eq!(runs[0], runs[1]);
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
    let texts = json!({ "floor": "3", "remote": "true", "tags": "[\"a\"]", "centre": "4711", "other": "7" });
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
