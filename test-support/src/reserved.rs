//! Databases in which an application has registered permissions whose names are reserved now.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use iam_conformance::World;
use iam_core::audit::AuditFilter;
use iam_core::page::PageRequest;
use iam_core::permission::{
    BUILT_IN, PermissionChange, PermissionPattern, PermissionSet, built_in_permissions, is_reserved_resource,
};
use iam_core::role::Role;
use iam_core::{ApiKeyId, TenantId};
use serde_json::{Value, json};
use uuid::Uuid;

/// A store whose database a test changes behind its back.
pub struct Former<'a, E, M> {
    /// A world over the store.
    pub world: &'a World,
    /// The text before the names of tables.
    pub schema: &'a str,
    /// Executes a statement. An error is a text.
    pub execute: E,
    /// Migrates the store.
    pub migrate: M,
}

impl<E, M> Former<'_, E, M>
where
    E: AsyncFn(String) -> Result<(), String>,
    M: AsyncFn(),
{
    /// In a database of a release before all resources whose names are reserved, the permissions of applications get
    /// other names in all roles and keys, and no role gets a right of the service. The log says so.
    ///
    /// # Panics
    ///
    /// When a rule does not hold.
    pub async fn permissions_of_applications_are_renamed(&self) {
        let [acme, other] = [uuid(1), uuid(2)].map(TenantId::from);
        self.tenant(acme, "acme").await;
        let names = ["domains:read", "domains:transfer", "eligibilities:check", "iam-x:go", "orders:refund"];
        for (number, name) in (10..).zip(names) {
            self.permission(acme, number, name).await;
        }
        self.role(acme, 20, "CLERK", &["domains:read", "orders:refund"]).await;
        self.role(acme, 21, "OWNER", &["domains:*", "eligibilities:*"]).await;
        self.role(acme, 22, "READER", &["users:read"]).await;
        self.past_role(acme, 20, "CLERK", &["domains:read"]).await;
        let key = self.key(acme, 30, "domains:read orders:refund").await;
        // The application has deleted the only permission of the resource. The wildcard is still there.
        self.tenant(other, "other").await;
        self.permission(other, 40, "app-impersonations:x").await;
        self.role(other, 41, "WAITING", &["app-impersonations:x", "impersonations:*"]).await;

        (self.migrate)().await;
        let catalogue = self.catalogue(acme).await;
        let of_service = BUILT_IN.iter().filter(|(permission, _)| is_reserved_resource(permission.resource()));
        let of_service = of_service.map(|(permission, _)| (permission.to_string(), true));
        let of_application =
            ["app-domains:read", "app-domains:transfer", "app-eligibilities:check", "app-iam-x:go", "orders:refund"];
        let of_application = of_application.map(|name| (name.to_owned(), false));
        assert_eq!(catalogue, of_service.chain(of_application).collect::<BTreeSet<_>>());

        let roles = self.roles(acme).await;
        let held: BTreeSet<_> = roles.iter().map(|role| (role.name.to_string(), shown(&role.permissions))).collect();
        let expected = [
            ("CLERK", "app-domains:read orders:refund"),
            ("OWNER", "app-domains:* app-eligibilities:*"),
            ("READER", "users:read"),
        ];
        assert_eq!(held, BTreeSet::from(expected.map(|(name, held)| (name.to_owned(), held.to_owned()))));
        for role in &roles {
            let is_changed = role.name.as_str() != "READER";
            assert_eq!((json!(role.version) == json!(2), role.updated_at > moment(0)), (is_changed, is_changed));
        }
        let waiting: Vec<_> = self.roles(other).await.iter().map(|role| shown(&role.permissions)).collect();
        assert_eq!(waiting, ["app-impersonations:x app2-impersonations:*"]);
        let store = &self.world.store;
        let key = store.api_key(acme, key).await.expect("it reads").expect("the key is there");
        assert_eq!(shown(&key.permissions.expect("it names some")), "app-domains:read orders:refund");
        assert_eq!(json!(key.version), json!(2));
        let past = store.past_roles(acme, None, DateTime::UNIX_EPOCH).await.expect("it reads");
        let past: Vec<_> = past.into_iter().map(|past| shown(&past.version.permissions)).collect();
        assert_eq!(past.len(), 3, "one of before, and two that the renaming has ended: {past:?}");
        assert!(past.contains(&"app-domains:read".to_owned()), "{past:?}");
        assert!(past.iter().all(|held| held.starts_with("app-")), "{past:?}");

        let recorded = self.recorded(acme).await;
        let count = |kind: (&str, &str)| recorded.iter().filter(|(action, of, _)| (&**action, &**of) == kind).count();
        let counts = [("DELETE", "PERMISSION"), ("CREATE", "PERMISSION"), ("UPDATE", "ROLE"), ("UPDATE", "API_KEY")];
        assert_eq!(counts.map(count), [4, 4, 2, 1]);
        assert_eq!(recorded.len(), 11);
        assert!(recorded.iter().all(|(.., system)| system == "renaming of reserved permissions"));
        self.world.clock.advance(Utc::now() - self.world.now());
        self.world.sequence().await;
        self.world.assert_clean(acme, &[]).await;

        (self.migrate)().await;
        assert_eq!((self.catalogue(acme).await, self.roles(acme).await), (catalogue, roles), "it is done once");
        let refused = (self.execute)(self.registration(acme, 50, "iam-y:go")).await;
        assert!(refused.is_err(), "a server of an earlier release registers no such name");
    }

    /// In a database whose servers have served with the built-in permissions, what was given of them stays. A renaming
    /// that was interrupted goes on with the next start.
    ///
    /// # Panics
    ///
    /// When a rule does not hold.
    pub async fn rights_of_the_service_stay(&self, without_guard: &[&str]) {
        let world = self.world;
        let tenant = world.tenant("acme").await;
        let built_in = built_in_permissions(tenant.id, world.now(), || world.id()).expect("they are valid");
        world.commit(tenant.id, PermissionChange::CreateBuiltIn(built_in)).await;
        world.tick();
        let role = world.role(&tenant, "DOMAIN_ADMIN", &["domains:read", "directories:*"]).await;
        let before = self.catalogue(tenant.id).await;

        self.without_guard(without_guard).await;
        let migrations = if self.schema.is_empty() { "_iam_migrations" } else { "iam._migrations" };
        for statement in [
            "DROP TABLE $unchecked_permissions".replace('$', self.schema),
            format!("UPDATE {migrations} SET installed_on = '2026-01-01 00:00:00' WHERE version < 29"),
            format!("DELETE FROM {migrations} WHERE version = 29"),
        ] {
            (self.execute)(statement).await.expect("it is executed");
        }
        (self.migrate)().await;
        assert_eq!(self.roles(tenant.id).await, std::slice::from_ref(&role));
        assert_eq!(self.catalogue(tenant.id).await, before);

        self.without_guard(without_guard).await;
        self.permission(tenant.id, 50, "iam-late:go").await;
        let list = format!("INSERT INTO $unchecked_permissions VALUES ({})", self.id(tenant.id.as_uuid()));
        (self.execute)(list.replace('$', self.schema)).await.expect("it is executed");
        (self.migrate)().await;
        let mut after = before;
        after.insert(("app-iam-late:go".to_owned(), false));
        assert_eq!(self.catalogue(tenant.id).await, after);
        assert_eq!(self.roles(tenant.id).await, [role]);
    }

    /// Removes what keeps reserved names out.
    async fn without_guard(&self, statements: &[&str]) {
        for statement in statements {
            (self.execute)((*statement).to_owned()).await.expect("it is executed");
        }
    }

    async fn catalogue(&self, tenant: TenantId) -> BTreeSet<(String, bool)> {
        let page = PageRequest::new(1, 100).expect("a page");
        let found = self.world.store.permissions(tenant, page).await.expect("it reads");
        found.items.into_iter().map(|permission| (permission.name.to_string(), permission.system)).collect()
    }

    async fn roles(&self, tenant: TenantId) -> Vec<Role> {
        self.world.store.roles(tenant, PageRequest::default()).await.expect("it reads").items
    }

    /// The entries of a tenant: action, resource type, and why trusted code has acted.
    async fn recorded(&self, tenant: TenantId) -> Vec<(String, String, Value)> {
        let entries = self.world.store.audit_entries(tenant, &AuditFilter::default(), None, 100).await;
        let entry = |entry: iam_core::audit::AuditEntry| {
            let system = entry.metadata.get("system").cloned().unwrap_or_default();
            (entry.action.to_string(), entry.resource_type.as_str().to_owned(), system)
        };
        entries.expect("it reads").into_iter().map(entry).collect()
    }

    async fn insert(&self, table: &str, columns: &str, values: String) {
        let insert = format!("INSERT INTO {}{table} ({columns}) VALUES ({values})", self.schema);
        (self.execute)(insert).await.expect("it is executed");
    }

    async fn tenant(&self, id: TenantId, slug: &str) {
        let (id, now) = (self.id(id.as_uuid()), self.at(0));
        let values = format!("{id}, 'Acme', '{slug}', 'ACTIVE', {now}, {now}");
        self.insert("tenants", "id, name, slug, status, created_at, updated_at", values).await;
    }

    fn registration(&self, tenant: TenantId, id: u128, name: &str) -> String {
        let (tenant, id, at) = (self.id(tenant.as_uuid()), self.id(uuid(id)), self.at(1));
        format!(
            "INSERT INTO {}permissions (tenant_id, id, name, description, system, created_at) \
             VALUES ({tenant}, {id}, '{name}', '', FALSE, {at})",
            self.schema
        )
    }

    async fn permission(&self, tenant: TenantId, id: u128, name: &str) {
        (self.execute)(self.registration(tenant, id, name)).await.expect("it is executed");
    }

    async fn role(&self, tenant: TenantId, id: u128, name: &str, permissions: &[&str]) {
        let (tenant, id, now) = (self.id(tenant.as_uuid()), self.id(uuid(id)), self.at(0));
        let columns = "tenant_id, id, name, description, scope, system, created_at, updated_at";
        let values = format!("{tenant}, {id}, '{name}', '', 'ANY', FALSE, {now}, {now}");
        self.insert("roles", columns, values).await;
        for permission in permissions {
            let values = format!("{tenant}, {id}, '{permission}'");
            self.insert("role_permissions", "tenant_id, role_id, permission", values).await;
        }
    }

    async fn past_role(&self, tenant: TenantId, id: u128, name: &str, permissions: &[&str]) {
        let value = json!({
            "id": uuid(id), "tenantId": tenant, "name": name, "description": "", "scope": "ANY",
            "permissions": permissions, "system": false, "createdAt": moment(0), "updatedAt": moment(0),
        });
        let values = format!("{}, 'ROLE', {}, {}, '{value}'", self.id(tenant.as_uuid()), self.id(uuid(id)), self.at(2));
        self.insert("past_versions", "tenant_id, kind, id, until, value", values).await;
    }

    /// Writes an API key and its user.
    async fn key(&self, tenant: TenantId, id: u128, permissions: &str) -> ApiKeyId {
        let (tenant, literal, now) = (self.id(tenant.as_uuid()), self.id(uuid(id)), self.at(0));
        let columns = "tenant_id, id, email, email_key, first_name, first_name_key, last_name, last_name_key, status, \
                       created_at, updated_at";
        let names = "'ada@example.com', 'ada@example.com', 'Ada', 'ada', 'Lovelace', 'lovelace', 'ACTIVE'";
        self.insert("users", columns, format!("{tenant}, {literal}, {names}, {now}, {now}")).await;
        let columns = "tenant_id, id, user_id, name, secret_hash, permissions, expires_at, created_at";
        let hash = if self.schema.is_empty() { "zeroblob(32)" } else { "decode(repeat('00', 32), 'hex')" };
        let values = format!("{tenant}, {literal}, {literal}, 'nightly', {hash}, '{permissions}', {now}, {now}");
        self.insert("api_keys", columns, values).await;
        uuid(id).into()
    }

    /// An identifier in SQL.
    fn id(&self, id: Uuid) -> String {
        if self.schema.is_empty() { format!("x'{}'", id.simple()) } else { format!("'{id}'") }
    }

    /// A moment in SQL, in hours after a fixed one.
    fn at(&self, hours: i64) -> String {
        let moment = moment(hours);
        if self.schema.is_empty() {
            moment.timestamp_millis().to_string()
        } else {
            format!("'{}'", moment.to_rfc3339())
        }
    }
}

fn moment(hours: i64) -> DateTime<Utc> {
    "2020-01-01T00:00:00Z".parse::<DateTime<Utc>>().expect("a moment") + TimeDelta::hours(hours)
}

fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + number)
}

fn shown(permissions: &PermissionSet) -> String {
    permissions.iter().map(PermissionPattern::as_str).collect::<Vec<_>>().join(" ")
}
