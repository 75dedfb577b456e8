//! A background worker: closes overdue invoices, has that in the audit log, and forwards the log to another system.
//!
//! `cargo run -p iam-examples --example worker` does so for some invoices of its own, until it is interrupted.

mod billing;
mod forward;
mod job;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use chrono::{Days, NaiveDate};
use iam_core::audit::AuditEntry;
use iam_core::tenant::NewTenant;
use iam_core::user::NewUser;
use iam_core::{Iam, Store, TenantId};
use iam_store_sqlite::SqliteStore;
use tokio::time::interval;

use billing::{Billing, Invoice};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let directory = tempfile::tempdir()?;
    let worker = Worker::open(directory.path()).await?;
    invent_invoices(&worker).await?;
    worker.run(Duration::from_secs(2), interrupted(), &mut print).await;
    worker.iam.close().await;
    Ok(())
}

struct Worker {
    store: Arc<dyn Store>,
    iam: Iam,
    billing: Billing,
}

impl Worker {
    async fn open(directory: &Path) -> Result<Self> {
        let store = SqliteStore::open(&format!("sqlite://{}", directory.join("iam.db").display())).await?;
        store.migrate().await?;
        let store: Arc<dyn Store> = Arc::new(store);
        let iam = Iam::builder(Arc::clone(&store)).build().await?;
        Ok(Self { store, iam, billing: Billing::open(&directory.join("billing.db")).await? })
    }

    /// Does a round now and then until it is told to stop, and none by halves.
    async fn run(
        &self,
        every: Duration,
        stop: impl Future<Output = ()>,
        deliver: &mut impl AsyncFnMut(&AuditEntry) -> Result<()>,
    ) {
        let (mut stop, mut rounds) = (pin!(stop), interval(every));
        loop {
            tokio::select! {
                biased;
                () = &mut stop => return,
                _ = rounds.tick() => {}
            }
            // Not within `select!`, which would drop it where it stands.
            if let Err(error) = self.round(deliver).await {
                tracing::error!(error, "the next round tries again");
            }
        }
    }

    async fn round(&self, deliver: &mut impl AsyncFnMut(&AuditEntry) -> Result<()>) -> Result<()> {
        job::close_overdue(&self.iam, &self.billing, self.today()).await?;
        // Several processes may seal; where the server runs beside this one, it does so already.
        while self.iam.seal_audit_logs().await?.more {}
        forward::forward(&*self.store, &self.billing, deliver).await
    }

    fn today(&self) -> NaiveDate {
        self.iam.now().date_naive()
    }
}

/// Stands for the queue of another system.
async fn print(entry: &AuditEntry) -> Result<()> {
    let AuditEntry { action, resource_type, resource_id, metadata, .. } = entry;
    let resource_id = resource_id.as_deref().unwrap_or("-");
    writeln!(io::stdout(), "{action} {} {resource_id} {}", resource_type.as_str(), serde_json::to_string(metadata)?)?;
    Ok(())
}

async fn interrupted() {
    if let Err(error) = tokio::signal::ctrl_c().await {
        tracing::error!(%error, "interrupts are not heard");
    }
}

/// A tenant with an invoice that is overdue, and one that is not.
async fn invent_invoices(worker: &Worker) -> Result<TenantId> {
    let administrator = NewUser {
        email: "ada@example.com".to_owned(),
        password: "Passw0rd!".into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    };
    let new = NewTenant { name: "Analytical Engines".to_owned(), slug: None, administrator };
    let tenant = worker.iam.tenants().create("example", new).await?.tenant.id;
    let today = worker.today();
    worker.billing.add(&Invoice::new("2026-1", tenant, today - Days::new(30))).await?;
    worker.billing.add(&Invoice::new("2026-2", tenant, today + Days::new(30))).await?;
    Ok(tenant)
}
