//! Tenants.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::tenant::{NewTenant, Registration, TenantWithUser};
use iam_core::{Caller, Iam};
use iam_model::audit::{AuditEntry, AuditFilter};
use iam_model::change::{Change, CredentialChange, LoginFailure, OrganizationChange, RoleChange, TenantChange};
use iam_model::context::RequestContext;
use iam_model::credential::{Account, LoginAttempts, LoginCandidate, LoginCandidates};
use iam_model::error::{Conflict, Error, Forbidden};
use iam_model::factor::SecondFactorPolicy;
use iam_model::id::TenantId;
use iam_model::organization::OrganizationStatus;
use iam_model::role::TENANT_ADMIN;
use iam_model::secret::PasswordHash;
use iam_model::store::Store;
use iam_model::store_error::Constraint;
use iam_model::tenant::{AuthzenIdentifiers, EmailLogin, PasswordLogin, PasswordPolicy, Tenant, TenantStatus, Usage};
use iam_model::user::{User, UserStatus};
use iam_model::validate::Email;
use iam_model::version::Version;

use crate::race::{PASSWORD, login, new_user, settings};
use crate::world::{World, assert_conflict, create, register, requiring};

/// A created tenant is read back by identifier and by slug. A store is empty before the first tenant and not after
/// it.
pub async fn a_created_row_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    assert!(world.store.is_empty().await.unwrap());
    let tenant = world.tenant("acme").await;
    assert!(!world.store.is_empty().await.unwrap());
    assert_eq!(world.store.tenant(tenant.id).await.unwrap(), Some(tenant.clone()));
    assert_eq!(world.store.tenant_by_slug(&tenant.slug).await.unwrap(), Some(tenant));
    let strict = requiring(&world, &world.new_tenant("strict"), 0);
    world.commit(strict.id, TenantChange::Create(strict.clone())).await;
    assert_eq!(world.store.tenant(strict.id).await.unwrap(), Some(strict));
    assert_eq!(world.store.tenant(world.id()).await.unwrap(), None);
    assert_eq!(world.store.tenant_by_slug(&"acm".parse().unwrap()).await.unwrap(), None);
}

/// A slug is unique across all tenants, for a creation and for a change.
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

/// Nothing is created in a tenant that does not exist.
pub async fn nothing_is_created_in_a_missing_tenant(store: Arc<dyn Store>) {
    let world = World::new(store);
    let nowhere = world.new_tenant("nowhere");
    let changes: [Change; 4] = [
        create(&world.new_user(&nowhere, "ada@example.com")),
        register(&world.new_permission(&nowhere, "orders:read")).into(),
        RoleChange::CreateBuiltIn(vec![world.new_role(&nowhere, "BUYER", &[])]).into(),
        OrganizationChange::create(world.new_organization(nowhere.id, "branch")).into(),
    ];
    for change in changes {
        assert_conflict(&world.try_commit(nowhere.id, [change]).await, Constraint::Reference);
    }
}

/// Changed fields are read back.
pub async fn update_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let before = world.tenant("acme").await;
    world.tick();
    let (name, slug) = ("Acme & Söhne".parse().unwrap(), "acme-2".parse().unwrap());
    let after = Tenant { name, slug, password_policy: PasswordPolicy::Nist, ..before.clone() }.changed(world.now());
    world.commit(before.id, TenantChange::Update { before: before.clone(), after: after.clone() }).await;
    assert_eq!(world.store.tenant(before.id).await.unwrap(), Some(after.clone()));
    assert_eq!(world.store.tenant_by_slug(&before.slug).await.unwrap(), None);
    let optional = Tenant {
        password_login: PasswordLogin::Federated,
        email_login: EmailLogin::On,
        authzen_identifiers: AuthzenIdentifiers::Name,
        second_factor: SecondFactorPolicy::Off,
        second_factor_required_at: None,
        ..requiring(&world, &after, 0)
    };
    let mut before = after;
    for after in [requiring(&world, &before, 90), optional] {
        let after = after.changed(world.now());
        let after = Tenant { version: before.version.next(), ..after };
        world.commit(before.id, TenantChange::Update { before, after: after.clone() }).await;
        assert_eq!(world.store.tenant(after.id).await.unwrap(), Some(after.clone()));
        let locked = world.locked(after.id, async |locks| locks.lock_tenant().await.unwrap()).await;
        assert_eq!(locked.as_ref(), Some(&after));
        before = after;
    }
}

/// Every change of a tenant raises its version by one. The rows of the tenant do not raise it.
pub async fn every_change_raises_the_version(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    world.user(&tenant, "ada@example.com").await;
    let (before, same_slug) = (tenant.clone(), Tenant { name: "Acme & Söhne".parse().unwrap(), ..tenant.clone() });
    let after = Tenant { slug: "acme-2".parse().unwrap(), ..same_slug.clone() };
    let changes = [
        TenantChange::Update { before, after: same_slug.clone() },
        TenantChange::Update { before: same_slug, after: after.clone() },
        TenantChange::ChangeStatus { before: after.clone(), after },
    ];
    let version = async |id| world.store.tenant(id).await.unwrap().unwrap().version;
    let mut expected = Version::FIRST;
    assert_eq!(version(tenant.id).await, expected);
    for change in changes {
        let shown = format!("{change:?}");
        world.commit(tenant.id, change).await;
        expected = expected.next();
        assert_eq!(version(tenant.id).await, expected, "{shown}");
    }
    assert_eq!(version(other.id).await, Version::FIRST);
}

/// The login candidates of an e-mail are the accounts with this e-mail in all tenants, each with the failed attempts
/// in its tenant, and the failed attempts that named no tenant. The accounts come in the order of
/// [`LoginCandidate::order`], and at most as many as the limit.
pub async fn login_candidates_are_read_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    let email: Email = "Ada@example.com".parse().unwrap();
    let candidates = async |limit| world.store.login_candidates(&email.key(), limit).await.unwrap();
    assert_eq!(candidates(9).await, LoginCandidates::default());
    let start = world.now();
    let at = |seconds: i64| Some(start + TimeDelta::seconds(seconds));
    let mut found = Vec::new();
    // Each row comes before the next ones by the first criterion in which they differ, even where later criteria
    // would order them the other way round.
    for (slug, status, verified_at, login_at, made_at, failures) in [
        ("h", UserStatus::Active, at(0), at(1), 9, 0),
        ("g", UserStatus::Suspended, at(1), None, 9, 2),
        ("f", UserStatus::Active, None, at(2), 9, 0),
        ("e", UserStatus::Active, None, at(1), 1, 1),
        ("d", UserStatus::Active, None, None, 2, 0),
        ("c", UserStatus::Suspended, None, None, 3, 0),
        ("b", UserStatus::Inactive, at(2), at(9), 0, 0),
        ("a", UserStatus::Inactive, None, None, 0, 1),
    ] {
        let tenant = world.tenant(slug).await;
        let user = User {
            status,
            email_verified_at: verified_at,
            last_login_at: login_at,
            created_at: start + TimeDelta::seconds(made_at),
            ..world.new_user(&tenant, email.as_str())
        };
        let user = world.add(user).await;
        let attempts = LoginAttempts { failed_at: vec![start; failures], locked_until: None };
        if failures > 0 {
            world.commit(tenant.id, failing(&email, attempts.clone())).await;
        }
        let account = Account { user, password: PasswordHash::from("hash of Ada@example.com") };
        found.push(LoginCandidate { tenant, account, attempts });
    }
    let elsewhere = world.tenant("other").await;
    world.user(&elsewhere, "grace@example.com").await;
    let expected = |accounts: &[LoginCandidate], attempts: &LoginAttempts| LoginCandidates {
        attempts: attempts.clone(),
        accounts: accounts.to_vec(),
    };
    assert_eq!(candidates(9).await, expected(&found, &LoginAttempts::default()));
    assert!(found.is_sorted_by_key(LoginCandidate::order));
    let attempts = LoginAttempts { failed_at: vec![start], locked_until: at(3) };
    world.commit(TenantId::NONE, failing(&email, attempts.clone())).await;
    assert_eq!(candidates(9).await, expected(&found, &attempts));
    assert_eq!(candidates(2).await, expected(&found[..2], &attempts));
    let unknown = "unknown@example.com".parse::<Email>().unwrap().key();
    let nothing = world.store.login_candidates(&unknown, 9).await.unwrap();
    assert_eq!(nothing, expected(&[], &LoginAttempts::default()));
}

/// A store has several tenants from the second one on.
pub async fn several_tenants_are_two_or_more(store: Arc<dyn Store>) {
    let world = World::new(store);
    for (slug, has_several) in [("acme", false), ("other", true), ("third", true)] {
        world.tenant(slug).await;
        assert_eq!(world.store.has_several_tenants().await.unwrap(), has_several, "{slug}");
    }
}

/// A store has logins by e-mail while they are on in at least one ACTIVE tenant.
pub async fn logins_by_email_are_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let has_some = async || world.store.has_email_logins().await.unwrap();
    assert!(!has_some().await);
    let on = |tenant: &Tenant| Tenant { email_login: EmailLogin::On, ..tenant.clone() };
    for tenant in [&acme, &other] {
        world.commit(tenant.id, TenantChange::Update { before: tenant.clone(), after: on(tenant) }).await;
        assert!(has_some().await);
    }
    let suspended = Tenant { status: TenantStatus::Suspended, ..on(&acme) };
    world.commit(acme.id, TenantChange::ChangeStatus { before: on(&acme), after: suspended }).await;
    assert!(has_some().await);
    world.commit(other.id, TenantChange::Update { before: on(&other), after: other }).await;
    assert!(!has_some().await);
}

fn failing(email: &Email, attempts: LoginAttempts) -> CredentialChange {
    let reason = LoginFailure::InvalidPassword;
    CredentialChange::CountFailure { email: email.clone(), reason, attempts, is_recorded: true }
}

/// The usage counts the rows of a tenant by kind and in any status. It includes the changes of the unit of work
/// itself.
pub async fn usage_is_counted(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    world.user(&other, "ada@example.com").await;
    let usage = async |tenant: &Tenant| world.locked(tenant.id, async |locks| locks.usage().await.unwrap()).await;
    assert_eq!(usage(&tenant).await, Usage::default());
    let ada = world.user(&tenant, "ada@example.com").await;
    world.add(User { status: UserStatus::Inactive, ..world.new_user(&tenant, "gone@example.com") }).await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    let roles = world.roles(&tenant).await.len() as u64;
    let root = world.organization(&tenant, "root").await;
    for organization in world.chain(&tenant, "level", 2).await {
        world.set_status(&organization, OrganizationStatus::Inactive).await;
    }
    for organization in [None, Some(&root)] {
        world.give(&ada, &role, organization).await;
    }
    let expected = Usage { users: 2, organizations: 3, roles: roles + 1, assignments: 2 };
    assert_eq!(usage(&tenant).await, expected);
    assert_eq!(usage(&other).await, Usage { users: 1, ..Usage::default() });
    let caller = Caller::system(tenant.id, "conformance");
    let mut work = world.begin(caller.author()).await;
    work.apply(OrganizationChange::create(world.new_organization(tenant.id, "more"))).await.unwrap();
    assert_eq!(work.reads().usage().await.unwrap(), Usage { organizations: 4, ..expected });
    drop(work);
    let unused = world.role(&tenant, "UNUSED", &[]).await;
    world.commit(tenant.id, RoleChange::Delete(unused)).await;
    assert_eq!(usage(&tenant).await, expected);
}

fn new_tenant(name: &str, slug: Option<&str>) -> NewTenant {
    let administrator = new_user(&format!("ada@{}.example", name.to_lowercase()));
    NewTenant { name: name.to_owned(), slug: slug.map(str::to_owned), administrator }
}

/// Trusted code creates tenants where registration is closed to strangers. Such a tenant has everything that every
/// tenant has. The audit log names the trusted code and records no login.
pub async fn trusted_code_creates_tenants(store: Arc<dyn Store>) {
    let settings = {
        let mut settings = settings();
        settings.registration = false;
        settings
    };
    let iam = Iam::builder(store).settings(settings).build().await.unwrap();
    let registration = Registration { user: new_user("grace@example.com"), tenant_name: None };
    let refused = iam.tenants().register(&RequestContext::default(), registration).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::RegistrationClosed))), "{refused:?}");

    let TenantWithUser { tenant, user, .. } =
        iam.tenants().create("conformance", new_tenant("Acme", None)).await.unwrap();
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

/// Trusted code finds a tenant by its identifier and by its slug.
pub async fn a_tenant_is_found_by_identifier_or_slug(store: Arc<dyn Store>) {
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
