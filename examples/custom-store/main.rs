//! A custom store on a database of keys and values, which passes the conformance suite.
//!
//! `cargo run -p iam-examples --example custom-store` shows it in use. `cargo test` runs the suite on it.

#[cfg(test)]
mod conformance;
mod store;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use iam_core::Iam;
use iam_core::session::Login;
use iam_core::tenant::Registration;
use iam_core::user::NewUser;
use iam_model::audit::AuditFilter;
use iam_model::context::RequestContext;
use iam_model::store::Store as _;

use store::RedbStore;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("iam.redb");
    register(&file).await?;
    log_in(&file).await
}

/// Registers a tenant with its administrator, and creates another user.
async fn register(file: &Path) -> Result<()> {
    let store = Arc::new(RedbStore::open(file).await?);
    let iam = Iam::builder(store.clone()).build().await?;
    let context = RequestContext::default();
    let registration = Registration { user: person("ada@example.com", "Ada", "Lovelace"), tenant_name: None };
    let registered = iam.tenants().register(&context, registration).await?;
    let ada = iam.authenticate(registered.login.tokens.access.expose(), context).await?;
    iam.users().create(&ada, person("grace@example.com", "Grace", "Hopper")).await?;
    // The file cannot be opened again before this.
    store.close().await;
    Ok(())
}

/// Opens the file again, and checks that the users and the audit log are still there.
async fn log_in(file: &Path) -> Result<()> {
    let iam = Iam::builder(Arc::new(RedbStore::open(file).await?)).build().await?;
    let context = RequestContext::default();
    let credentials = Login { email: "ada@example.com".to_owned(), password: "Passw0rd!".into(), tenant: None };
    let login = iam.sessions().login(&context, credentials).await?;
    let ada = iam.authenticate(login.tokens.access.expose(), context).await?;
    let log = iam.audit().list(&ada, AuditFilter::default(), None, 100).await?;
    let actions: Vec<&str> = log.entries.iter().rev().map(|entry| entry.action.as_ref()).collect();
    assert_eq!(actions, ["CREATE", "CREATE", "ROLE_ASSIGNED", "LOGIN", "CREATE", "LOGIN"]);
    // Sequences the entries. After that, a proof can show to a third party that an entry is in the log.
    assert_eq!(iam.sequence_audit_logs().await?.entries, 6);
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
    async fn a_reopened_file_contains_the_registered_users() -> Result<()> {
        let directory = tempfile::tempdir()?;
        let file = directory.path().join("iam.redb");
        register(&file).await?;
        log_in(&file).await
    }
}
