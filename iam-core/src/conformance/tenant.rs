//! Tenants.

use std::sync::Arc;

use super::World;
use super::race::{PASSWORD, login, new_user, settings};
use super::world::{assert_conflict, create, register};
use crate::audit::{AuditEntry, AuditFilter};
use crate::caller::{Caller, RequestContext};
use crate::change::Change;
use crate::credential::{Account, CredentialChange, GuardedAccount, LoginAttempts, LoginFailure};
use crate::error::{Conflict, Constraint, Error, Forbidden};
use crate::iam::{Iam, Settings};
use crate::id::TenantId;
use crate::organization::OrganizationChange;
use crate::role::{RoleChange, TENANT_ADMIN};
use crate::secret::PasswordHash;
use crate::store::Store;
use crate::tenant::{Founded, NewTenant, Registration, Tenant, TenantChange};

/// What was created is read back, by identifier and by slug.
pub async fn created_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    assert!(world.store.is_empty().await.unwrap());
    let tenant = world.tenant("acme").await;
    assert!(!world.store.is_empty().await.unwrap());
    assert_eq!(world.store.tenant(tenant.id).await.unwrap(), Some(tenant.clone()));
    assert_eq!(world.store.tenant_by_slug(&tenant.slug).await.unwrap(), Some(tenant));
    assert_eq!(world.store.tenant(world.id()).await.unwrap(), None);
    assert_eq!(world.store.tenant_by_slug(&"acm".parse().unwrap()).await.unwrap(), None);
}

/// A slug is taken once, whether by creating or by changing.
pub async fn slugs_are_unique_across_tenants(store: Arc<dyn Store>) {
    let world = World::new(store);
    world.tenant("acme").await;
    let second = world.new_tenant("acme");
    let create = TenantChange::Create(second.clone());
    let refused = world.try_commit(second.id, [create.into()]).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::SlugTaken))), "{refused:?}");
    assert_eq!(world.store.tenant(second.id).await.unwrap(), None);

    let other = world.tenant("other").await;
    let after = Tenant { slug: "acme".parse().unwrap(), ..other.clone() };
    let refused = world.try_commit(other.id, [TenantChange::Update { before: other, after }.into()]).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::SlugTaken))), "{refused:?}");
}

/// In a tenant that is not there, nothing is made.
pub async fn nothing_is_made_in_no_tenant(store: Arc<dyn Store>) {
    let world = World::new(store);
    let nowhere = world.new_tenant("nowhere");
    let changes: [Change; 4] = [
        create(&world.new_user(&nowhere, "ada@example.com")),
        register(&world.new_permission(&nowhere, "orders:read")).into(),
        RoleChange::CreateBuiltIn(vec![world.new_role(&nowhere, "BUYER", &[])]).into(),
        OrganizationChange::Create(world.new_organization(nowhere.id, "branch")).into(),
    ];
    for change in changes {
        assert_conflict(&world.try_commit(nowhere.id, [change]).await, Constraint::Reference);
    }
}

/// What was changed is read back.
pub async fn update_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let before = world.tenant("acme").await;
    world.tick();
    let after = Tenant {
        name: "Acme & Söhne".parse().unwrap(),
        slug: "acme-2".parse().unwrap(),
        updated_at: world.now(),
        ..before.clone()
    };
    world.commit(before.id, TenantChange::Update { before: before.clone(), after: after.clone() }).await;
    assert_eq!(world.store.tenant(before.id).await.unwrap(), Some(after));
    assert_eq!(world.store.tenant_by_slug(&before.slug).await.unwrap(), None);
}

/// An e-mail leads to whoever has it in any tenant, with what failed there, those of the oldest tenants first, no more
/// than asked for.
pub async fn found_by_email_oldest_first(store: Arc<dyn Store>) {
    let world = World::new(store);
    let mut expected = Vec::new();
    for (slug, failures) in [("c", 0), ("b", 2), ("a", 0)] {
        let tenant = world.tenant(slug).await;
        let user = world.user(&tenant, "Ada@example.com").await;
        let attempts = LoginAttempts { failed_at: vec![world.now(); failures], locked_until: None };
        if failures > 0 {
            let (email, reason) = (user.email.clone(), LoginFailure::InvalidPassword);
            world.commit(tenant.id, CredentialChange::CountFailure { email, reason, attempts: attempts.clone() }).await;
        }
        let account = Account { user, password: PasswordHash::from("hash of Ada@example.com") };
        expected.push((tenant.summary(), GuardedAccount { account: Some(account), attempts }));
        world.tick();
    }
    let elsewhere = world.tenant("d").await;
    world.user(&elsewhere, "grace@example.com").await;
    let email = "aDA@example.com".parse::<crate::Email>().unwrap().key();
    assert_eq!(world.store.accounts_with_email(&email, 9).await.unwrap(), expected);
    assert_eq!(world.store.accounts_with_email(&email, 2).await.unwrap(), expected[..2]);
}

fn new_tenant(name: &str, slug: Option<&str>) -> NewTenant {
    let administrator = new_user(&format!("ada@{}.example", name.to_lowercase()));
    NewTenant { name: name.to_owned(), slug: slug.map(str::to_owned), administrator }
}

/// Trusted code makes tenants where strangers may not. They have what every tenant has, and the audit log says who made
/// them and that nobody logged in.
pub async fn made_by_trusted_code(store: Arc<dyn Store>) {
    let settings = Settings { registration: false, ..settings() };
    let iam = Iam::builder(store).settings(settings).build().await.unwrap();
    let registration = Registration { user: new_user("grace@example.com"), tenant_name: None };
    let refused = iam.tenants().register(&RequestContext::default(), registration).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::RegistrationClosed))), "{refused:?}");

    let Founded { tenant, user } = iam.tenants().create("conformance", new_tenant("Acme", None)).await.unwrap();
    assert_eq!((tenant.name.as_str(), tenant.slug.as_str()), ("Acme", "acme"));
    let system = Caller::system(tenant.id, "test");
    let entries = iam.audit().list(&system, AuditFilter::default(), None, 100).await.unwrap().entries;
    let recorded =
        |entry: &AuditEntry| format!("{} {} {}", entry.resource_type.as_str(), entry.action, entry.metadata["system"]);
    assert_eq!(
        entries.iter().rev().map(recorded).collect::<Vec<_>>(),
        [
            "TENANT CREATE \"conformance\"",
            "USER CREATE \"conformance\"",
            "ROLE_ASSIGNMENT ROLE_ASSIGNED \"conformance\""
        ]
    );
    assert!(entries.iter().all(|entry| entry.user_id.is_none()));

    let token = login(&iam, user.email.as_str(), PASSWORD).await.unwrap().tokens.access;
    let administrator = iam.authenticate(token.expose(), RequestContext::default()).await.unwrap();
    iam.access().require(&administrator, "orders:refund", None).await.unwrap();
    let grants = iam.assignments().of_user(&administrator, user.id).await.unwrap();
    assert_eq!(grants.iter().map(|grant| grant.role.name.as_str()).collect::<Vec<_>>(), [TENANT_ADMIN]);
    assert_eq!(grants[0].assignment.created_by, None);

    let again = iam.tenants().create("conformance", new_tenant("Acme", None)).await.unwrap();
    assert!(again.tenant.slug.as_str().starts_with("acme-"), "{:?}", again.tenant.slug);
    let taken = iam.tenants().create("conformance", new_tenant("Other", Some("acme"))).await;
    assert!(matches!(taken, Err(Error::Conflict(Conflict::SlugTaken))), "{taken:?}");
    let named = iam.tenants().create("conformance", new_tenant("Other", Some("acme-2"))).await.unwrap();
    assert_eq!(named.tenant.slug.as_str(), "acme-2");

    let mut bad = new_tenant(" ", Some("A"));
    bad.administrator.password = "short".into();
    let refused = iam.tenants().create("conformance", bad).await.unwrap_err();
    assert_eq!(refused.to_string(), "Invalid input: name, slug, email, password.");
}

/// Trusted code finds a tenant by either of its names.
pub async fn found_by_identifier_or_slug(store: Arc<dyn Store>) {
    let world = World::new(store);
    let iam = Iam::builder(Arc::clone(&world.store)).build().await.unwrap();
    let tenant = world.tenant("acme").await;
    for named in [tenant.id.to_string(), "acme".to_owned()] {
        assert_eq!(iam.tenants().find(&named).await.unwrap(), Some(tenant.clone()));
    }
    for named in [world.id::<TenantId>().to_string(), TenantId::NONE.to_string(), "acm".to_owned(), "Ac me".to_owned()]
    {
        assert_eq!(iam.tenants().find(&named).await.unwrap(), None, "{named}");
    }
}
