//! Sessions that trusted code ends: all sessions of a tenant or of a user, and the sessions of a suspended tenant.

use std::sync::Arc;

use iam_conformance::World;
use iam_core::session::{Login, SessionChange};
use iam_core::tenant::TenantStatus;
use iam_core::user::NewUser;
use iam_core::{Caller, Error, Forbidden, Iam, RequestContext};
use iam_store_memory::MemoryStore;

const PASSWORD: &str = "Passw0rd!";

async fn tenant(world: &World, iam: &Iam, slug: &str) -> Caller {
    let tenant = world.tenant(slug).await;
    let system = Caller::system(tenant.id, "test");
    for name in ["ada", "grace"] {
        let user = NewUser {
            email: format!("{name}@{slug}.example"),
            password: PASSWORD.into(),
            first_name: name.to_owned(),
            last_name: "Example".to_owned(),
        };
        iam.users().create(&system, user).await.unwrap();
    }
    system
}

async fn log_in(iam: &Iam, email: &str) -> Caller {
    let login = Login { email: email.to_owned(), password: PASSWORD.into(), tenant: None };
    let login = iam.sessions().login(&RequestContext::default(), login).await.unwrap();
    iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.unwrap()
}

async fn live(iam: &Iam, callers: &[&Caller]) -> Vec<bool> {
    let mut live = Vec::new();
    for caller in callers {
        live.push(iam.sessions().me(caller).await.is_ok());
    }
    live
}

#[tokio::test]
async fn trusted_code_ends_and_counts_the_sessions_of_a_tenant_or_a_user() {
    let world = World::new(Arc::new(MemoryStore::new()));
    let iam = world.iam().await;
    let acme = tenant(&world, &iam, "acme").await;
    tenant(&world, &iam, "globex").await;
    let (ada, also_ada) = (log_in(&iam, "ada@acme.example").await, log_in(&iam, "ada@acme.example").await);
    let (grace, elsewhere) = (log_in(&iam, "grace@acme.example").await, log_in(&iam, "ada@globex.example").await);
    let all = [&ada, &also_ada, &grace, &elsewhere];

    assert_eq!(iam.sessions().end_all_with_email(&acme, "ADA@acme.example").await.unwrap(), 2);
    assert_eq!(live(&iam, &all).await, [false, false, true, true]);
    assert_eq!(iam.sessions().end_all_with_email(&acme, "ada@acme.example").await.unwrap(), 0);
    let unknown = iam.sessions().end_all_with_email(&acme, "ada@globex.example").await;
    assert!(matches!(unknown, Err(Error::NotFound(_))), "{unknown:?}");

    let again = log_in(&iam, "ada@acme.example").await;
    assert_eq!(iam.sessions().end_all(&acme).await.unwrap(), 2);
    assert_eq!(live(&iam, &[&again, &grace, &elsewhere]).await, [false, false, true]);
    assert_eq!(iam.sessions().end_all(&acme).await.unwrap(), 0);
}

#[tokio::test]
async fn a_user_cannot_end_all_sessions_of_a_tenant_or_a_user() {
    let world = World::new(Arc::new(MemoryStore::new()));
    let iam = world.iam().await;
    tenant(&world, &iam, "acme").await;
    let ada = log_in(&iam, "ada@acme.example").await;
    for refused in
        [iam.sessions().end_all(&ada).await, iam.sessions().end_all_with_email(&ada, "ada@acme.example").await]
    {
        assert!(matches!(refused, Err(Error::Forbidden(Forbidden::NotTrusted))), "{refused:?}");
    }
    assert_eq!(live(&iam, &[&ada]).await, [true]);
}

#[tokio::test]
async fn a_suspended_tenant_has_no_sessions() {
    let world = World::new(Arc::new(MemoryStore::new()));
    let iam = world.iam().await;
    let acme = tenant(&world, &iam, "acme").await;
    let ada = log_in(&iam, "ada@acme.example").await;
    let refused = [iam.tenants().suspend(&ada).await, iam.tenants().reactivate(&ada).await];
    assert!(refused.iter().all(|refused| matches!(refused, Err(Error::Forbidden(Forbidden::NotTrusted)))));
    let sessions = async || world.store.sessions_of(acme.tenant(), ada.user().unwrap()).await.unwrap();
    world.tick();
    let suspended = iam.tenants().suspend(&acme).await.unwrap();
    assert_eq!((suspended.status, sessions().await), (TenantStatus::Suspended, vec![]));
    assert_eq!(suspended.updated_at, world.now());
    let stored_status = async || world.store.tenant(acme.tenant()).await.unwrap().unwrap().status;
    assert_eq!(stored_status().await, TenantStatus::Suspended);

    // A concurrent login began a session. Suspending the tenant again ends it, and so does reactivating.
    let user = world.store.user(acme.tenant(), ada.user().unwrap()).await.unwrap().unwrap();
    for status in [TenantStatus::Suspended, TenantStatus::Active] {
        world.commit(acme.tenant(), SessionChange::Start(world.new_session(&user))).await;
        let tenant = if status == TenantStatus::Suspended {
            iam.tenants().suspend(&acme).await
        } else {
            iam.tenants().reactivate(&acme).await
        };
        assert_eq!((tenant.unwrap().status, stored_status().await, sessions().await), (status, status, vec![]));
    }

    let again = log_in(&iam, "ada@acme.example").await;
    iam.tenants().reactivate(&acme).await.unwrap();
    assert_eq!(live(&iam, &[&again]).await, [true], "reactivating an active tenant does nothing");
}
