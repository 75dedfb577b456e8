//! A tenant with directories: what the tests of directories share.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::api_key::NewApiKey;
use iam_core::assignment::NewAssignment;
use iam_core::audit::{AuditEntry, AuditFilter};
use iam_core::credential::HashingCost;
use iam_core::directory::{
    Created, Directory, NewDirectory, ProvisionedUser, ProvisioningError, ScimError, ScimType, UserResource,
};
use iam_core::identity_provider::{IdentityProvider, NewIdentityProvider, Provisioning};
use iam_core::page::PageRequest;
use iam_core::role::{NewRole, RoleScope};
use iam_core::session::Login;
use iam_core::tenant::Registration;
use iam_core::user::{NewServiceAccount, NewUser, User};
use iam_core::{Caller, Error, Iam, IdentityProviderId, RequestContext, Settings, Store, UserId};
use iam_model::clock::testing::FixedClock;
use iam_store_memory::MemoryStore;
use serde_json::{Map, Value, json};
use test_support::identity_provider::{ISSUER, Providers};

pub(crate) const PASSWORD: &str = "Passw0rd!";

/// The address of the client to which logins by a provider end.
pub(crate) const REDIRECT: &str = "https://app.example.com/done";

/// A service with the administrator of a tenant, who has just logged in.
pub(crate) struct Company {
    pub(crate) iam: Iam,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: FixedClock,
    pub(crate) providers: Providers,
    pub(crate) ada: Caller,
    pub(crate) system: Caller,
}

/// A directory, with its account and the caller by a key of that.
pub(crate) struct Staff {
    pub(crate) directory: Directory,
    pub(crate) account: UserId,
    pub(crate) entra: Caller,
}

pub(crate) fn person(email: &str) -> NewUser {
    let (first_name, last_name) = ("Some".to_owned(), "Body".to_owned());
    NewUser { email: email.to_owned(), password: PASSWORD.into(), first_name, last_name }
}

/// The resource of a person with this name, at example.com, with other members in place of the usual ones.
pub(crate) fn resource(name: &str, members: Value) -> UserResource {
    let email = format!("{name}@example.com");
    let mut body = json!({
        "userName": name,
        "externalId": format!("id-{name}"),
        "name": { "givenName": name, "familyName": "Hopper" },
        "emails": [{ "value": email, "type": "work", "primary": true }],
    });
    body.as_object_mut().unwrap().extend(members_of(members));
    UserResource::parse(&body).unwrap()
}

/// The message of PATCH that replaces these attributes.
pub(crate) fn replacing(attributes: Value) -> Value {
    json!({ "Operations": [{ "op": "replace", "value": attributes }] })
}

/// Fails unless a request was refused because the value of an attribute is taken.
pub(crate) fn assert_taken<T: std::fmt::Debug>(attribute: &str, result: Result<T, ProvisioningError>) {
    match result {
        Err(ProvisioningError::Scim(ScimError { status: 409, scim_type: Some(ScimType::Uniqueness), detail })) => {
            assert!(detail.starts_with(&format!("{attribute}: ")), "{attribute}: {detail}");
        }
        other => panic!("{attribute}: {other:?}"),
    }
}

/// The error of a service with which a request was refused.
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, ProvisioningError>) -> Error {
    match result {
        Err(ProvisioningError::Service(error)) => error,
        other => panic!("{other:?}"),
    }
}

impl Company {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let clock = FixedClock::at("2026-01-31T09:15:00.123Z");
        let mut settings = Settings::default();
        settings.hashing_cost = HashingCost { memory_kib: 8, passes: 1, lanes: 1 };
        settings.access_token_lifetime = TimeDelta::days(1);
        settings.federation_redirects = vec![REDIRECT.to_owned()];
        change(&mut settings);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let providers = Providers::default();
        let callbacks = "https://iam.example.com/auth/federation/callback/".parse().unwrap();
        let builder = Iam::builder(Arc::clone(&store)).settings(settings).clock(clock.clone());
        let iam = builder.federation(Arc::new(providers.clone()), callbacks).build().await.unwrap();
        let registration = Registration { user: person("ada@other.example"), tenant_name: None };
        let registered = iam.tenants().register(&RequestContext::default(), registration).await.unwrap();
        let access = registered.login.tokens.access;
        let ada = iam.authenticate(access.expose(), RequestContext::default()).await.unwrap();
        let system = Caller::system(ada.tenant(), "test");
        Self { iam, store, clock, providers, ada, system }
    }

    pub(crate) fn tick(&self) {
        self.clock.advance(TimeDelta::seconds(1));
    }

    /// A person with these permissions.
    pub(crate) async fn user(&self, email: &str, permissions: &[&str]) -> User {
        let user = self.iam.users().create(&self.system, person(email)).await.unwrap();
        self.give(user.id, permissions).await;
        user
    }

    pub(crate) async fn log_in(&self, user: &User) -> Caller {
        let login = Login { email: user.email.to_string(), password: PASSWORD.into(), tenant: None };
        let login = self.iam.sessions().login(&RequestContext::default(), login).await.unwrap();
        self.iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.unwrap()
    }

    /// Gives a user a new role with these permissions, tenant-wide, if there are any.
    pub(crate) async fn give(&self, user: UserId, permissions: &[&str]) {
        if permissions.is_empty() {
            return;
        }
        let roles = self.iam.roles().list(&self.system, PageRequest::default()).await.unwrap().total;
        let permissions = permissions.iter().map(|text| (*text).to_owned()).collect();
        let new = NewRole { name: format!("ROLE_{roles}"), description: None, scope: RoleScope::Any, permissions };
        let role = self.iam.roles().create(&self.system, new).await.unwrap().id;
        let new = NewAssignment { user, role, organization: None, expires_at: None };
        self.iam.assignments().create(&self.system, new).await.unwrap();
    }

    /// Makes a user an administrator of the tenant.
    pub(crate) async fn promote(&self, user: UserId) {
        let roles = self.iam.roles().list(&self.system, PageRequest::default()).await.unwrap();
        let role = roles.items.iter().find(|role| role.name.as_str() == "TENANT_ADMIN").unwrap().id;
        let new = NewAssignment { user, role, organization: None, expires_at: None };
        self.iam.assignments().create(&self.system, new).await.unwrap();
    }

    /// A service account with these permissions.
    pub(crate) async fn account(&self, permissions: &[&str]) -> UserId {
        let new = NewServiceAccount { name: "Entra".to_owned() };
        let account = self.iam.users().create_service_account(&self.system, new).await.unwrap().id;
        self.give(account, permissions).await;
        account
    }

    /// The caller by a new key of an account, which may do everything that the account may do.
    pub(crate) async fn key(&self, account: UserId) -> Caller {
        let new = NewApiKey { name: "key".to_owned(), ..NewApiKey::default() };
        let issued = self.iam.api_keys().create(&self.system, account, new).await.unwrap();
        self.iam.authenticate(issued.token.expose(), RequestContext::default()).await.unwrap()
    }

    /// A directory whose account has these permissions.
    pub(crate) async fn staff(&self, permissions: &[&str]) -> Staff {
        self.staff_at(permissions, None).await
    }

    pub(crate) async fn staff_at(&self, permissions: &[&str], provider: Option<IdentityProviderId>) -> Staff {
        let account = self.account(permissions).await;
        let new = new_directory(account);
        let new = NewDirectory { identity_provider: provider, ..new };
        let directory = self.iam.directories().create(&self.system, new).await.unwrap();
        Staff { directory, account, entra: self.key(account).await }
    }

    /// The directory that adopts, whose account has these permissions.
    pub(crate) async fn adopting_staff(&self, permissions: &[&str]) -> Staff {
        let account = self.account(permissions).await;
        let new = NewDirectory { adopt: true, ..new_directory(account) };
        let directory = self.iam.directories().create(&self.system, new).await.unwrap();
        Staff { directory, account, entra: self.key(account).await }
    }

    /// A user that a directory makes.
    pub(crate) async fn made(&self, staff: &Staff, name: &str) -> ProvisionedUser {
        let made = self.iam.provisioning().create(&staff.entra, resource(name, json!({}))).await.unwrap();
        assert_eq!(made.1, Created::New);
        made.0
    }

    /// A VERIFIED domain.
    pub(crate) async fn domain(&self, name: &str) {
        let domain = self.iam.domains().create(&self.system, name).await.unwrap();
        self.iam.domains().trust(&self.system, domain.id).await.unwrap();
    }

    /// A provider that links people to users with the same address, for no domain yet.
    pub(crate) async fn provider(&self, provisioning: Provisioning) -> IdentityProvider {
        let new = NewIdentityProvider {
            name: "Entra".to_owned(),
            issuer: ISSUER.to_owned(),
            client_id: "iam".to_owned(),
            provisioning,
            ..NewIdentityProvider::default()
        };
        self.iam.identity_providers().create(&self.system, new).await.unwrap()
    }

    pub(crate) async fn stored(&self, id: UserId) -> User {
        self.store.user(self.ada.tenant(), id).await.unwrap().unwrap()
    }

    /// The entries about a resource, oldest first.
    pub(crate) async fn entries(&self, resource: impl ToString) -> Vec<AuditEntry> {
        let filter = AuditFilter { resource_id: Some(resource.to_string()), ..AuditFilter::default() };
        let mut entries = self.iam.audit().list(&self.system, filter, None, 100).await.unwrap().entries;
        entries.reverse();
        entries
    }

    /// The actions and the changed fields of the entries about a resource, oldest first.
    pub(crate) async fn history(&self, resource: impl ToString) -> Vec<String> {
        let shown = |entry: AuditEntry| match entry.metadata.get("changedFields") {
            Some(Value::Array(fields)) => {
                let fields: Vec<&str> = fields.iter().filter_map(Value::as_str).collect();
                format!("{} {}", entry.action, fields.join(" "))
            }
            _ => entry.action.to_string(),
        };
        self.entries(resource).await.into_iter().map(shown).collect()
    }
}

pub(crate) fn new_directory(account: UserId) -> NewDirectory {
    NewDirectory { name: "Staff".to_owned(), service_account: account, identity_provider: None, adopt: false }
}

/// The members of an object.
pub(crate) fn members_of(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(attributes) => attributes,
        other => panic!("not an object: {other}"),
    }
}
