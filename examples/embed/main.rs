//! Users, logins, roles, organizations and the audit log as plain library calls, without HTTP.
//!
//! `cargo run -p iam-examples --example embed` runs the same flow on the store in memory and on a SQLite file.

use std::error::Error;
use std::sync::Arc;

use iam_core::assignment::NewAssignment;
use iam_core::audit::AuditFilter;
use iam_core::organization::NewOrganization;
use iam_core::page::PageRequest;
use iam_core::permission::NewPermission;
use iam_core::role::NewRole;
use iam_core::session::Login;
use iam_core::tenant::{Registration, TenantPatch};
use iam_core::user::{NewUser, UserFilter, UserPatch, UserSort};
use iam_core::{Caller, Conflict, Error as IamError, Iam, RequestContext, Store};
use iam_store_memory::MemoryStore;
use iam_store_sqlite::SqliteStore;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    on_memory().await?;
    on_sqlite().await
}

async fn on_memory() -> Result<()> {
    run(Arc::new(MemoryStore::new())).await
}

async fn on_sqlite() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("iam.db");
    let store = SqliteStore::open(&format!("sqlite://{}", path.display())).await?;
    store.migrate().await?;
    run(Arc::new(store)).await
}

async fn run(store: Arc<dyn Store>) -> Result<()> {
    let iam = Iam::builder(store).build().await?;
    let context = RequestContext::default();

    // Registers a tenant with its first administrator, who is logged in at once.
    let registration = Registration { user: person("ada@example.com", "Ada", "Lovelace"), tenant_name: None };
    let registered = iam.tenants().register(&context, registration).await?;
    let ada = iam.authenticate(registered.login.tokens.access.expose(), context.clone()).await?;

    // Users: one e-mail, one user.
    let grace = iam.users().create(&ada, person("grace@example.com", "Grace", "Hopper")).await?;
    let again = iam.users().create(&ada, person("GRACE@example.com", "Grace", "Hopper")).await;
    assert!(matches!(again, Err(IamError::Conflict(Conflict::EmailTaken))));
    let patch = UserPatch { last_name: Some("Murray".to_owned()), ..UserPatch::default() };
    assert_eq!(iam.users().update(&ada, grace.id, patch).await?.last_name.as_str(), "Murray");

    let search = UserFilter { search: Some("gra".to_owned()), ..UserFilter::default() };
    let found = iam.users().list(&ada, &search, UserSort::default(), PageRequest::default()).await?;
    assert_eq!((found.total, found.items.len()), (1, 1));

    // Logins: a session is refreshed once, and a suspension ends it.
    let credentials = || Login { email: grace.email.to_string(), password: "Passw0rd!".into(), tenant: None };
    let login = iam.sessions().login(&context, credentials()).await?;
    let tokens = iam.sessions().refresh(&context, &login.tokens.refresh).await?;
    let caller = iam.authenticate(tokens.access.expose(), context.clone()).await?;
    assert_eq!(iam.sessions().me(&caller).await?.user.id, grace.id);
    assert!(iam.users().get(&caller, grace.id).await.is_err(), "she holds no role, so she may read no user");
    iam.users().suspend(&ada, grace.id).await?;
    assert!(iam.authenticate(tokens.access.expose(), context.clone()).await.is_err());
    assert!(iam.sessions().login(&context, credentials()).await.is_err());

    // Organizations, and a role in an organization with a permission of the application.
    let new = |name: &str, parent| NewOrganization { name: name.to_owned(), slug: None, parent };
    let north = iam.organizations().create(&ada, new("North", None)).await?.organization.id;
    let harbour = iam.organizations().create(&ada, new("Harbour", Some(north))).await?.organization.id;
    let refund = NewPermission { name: "orders:refund".to_owned(), description: None };
    iam.permissions().create(&ada, refund).await?;
    let cashier =
        NewRole { name: "CASHIER".to_owned(), permissions: vec!["orders:refund".to_owned()], ..NewRole::default() };
    let cashier = iam.roles().create(&ada, cashier).await?;
    let hedy = iam.users().create(&ada, person("hedy@example.com", "Hedy", "Lamarr")).await?;
    let assignment = NewAssignment { user: hedy.id, role: cashier.id, organization: Some(north), expires_at: None };
    iam.assignments().create(&ada, assignment).await?;

    // A role in an organization is in force there and below, and nowhere else.
    let login = Login { email: hedy.email.to_string(), password: "Passw0rd!".into(), tenant: None };
    let login = iam.sessions().login(&context, login).await?;
    let hedy = iam.authenticate(login.tokens.access.expose(), context.clone()).await?;
    iam.access().require(&hedy, "orders:refund", harbour).await?;
    assert!(iam.access().require(&hedy, "orders:refund", None).await.is_err(), "not tenant-wide");

    // Trusted code acts without a user, and gives a reason.
    let job = Caller::system(registered.tenant.id, "nightly clean-up");
    iam.users().delete(&job, grace.id).await?;
    let patch = TenantPatch { name: Some("Analytical Engines".to_owned()), ..TenantPatch::default() };
    iam.tenants().update(&job, registered.tenant.id, patch).await?;

    // The audit log contains every event. The list is newest first.
    let log = iam.audit().list(&ada, AuditFilter::default(), None, 100).await?;
    let actions: Vec<&str> = log.entries.iter().rev().map(|entry| entry.action.as_ref()).collect();
    assert_eq!(
        actions,
        [
            "CREATE",
            "CREATE",
            "ROLE_ASSIGNED",
            "LOGIN",
            "CREATE",
            "UPDATE",
            "LOGIN",
            "TOKEN_REFRESH",
            "USER_SUSPENDED",
            "LOGOUT",
            "LOGIN_FAILURE",
            "CREATE",
            "CREATE",
            "CREATE",
            "CREATE",
            "CREATE",
            "ROLE_ASSIGNED",
            "LOGIN",
            "DELETE",
            "UPDATE",
        ]
    );
    Ok(())
}

fn person(email: &str, first_name: &str, last_name: &str) -> NewUser {
    NewUser {
        email: email.to_owned(),
        password: "Passw0rd!".into(),
        first_name: first_name.to_owned(),
        last_name: last_name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_flow_runs_on_the_store_in_memory() -> Result<()> {
        on_memory().await
    }

    #[tokio::test]
    async fn the_flow_runs_on_sqlite() -> Result<()> {
        on_sqlite().await
    }
}
