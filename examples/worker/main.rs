//! A background worker: closes overdue invoices, records that in the audit log, and forwards the log to another system.
//!
//! `cargo run -p iam-examples --example worker` does this with two sample invoices, until it is interrupted.

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
use iam_core::audit::{AuditEntry, OcsfEvent};
use iam_core::tenant::NewTenant;
use iam_core::user::NewUser;
use iam_core::{Iam, TenantId};
use iam_store_sqlite::SqliteStore;
use tokio::time::interval;

use billing::{Billing, Invoice};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let directory = tempfile::tempdir()?;
    let worker = Worker::open(directory.path()).await?;
    create_invoices(&worker).await?;
    worker.run(Duration::from_secs(2), interrupted(), &mut print).await;
    worker.iam.close().await;
    Ok(())
}

struct Worker {
    iam: Iam,
    billing: Billing,
}

impl Worker {
    async fn open(directory: &Path) -> Result<Self> {
        let store = SqliteStore::open(&format!("sqlite://{}", directory.join("iam.db").display())).await?;
        store.migrate().await?;
        let iam = Iam::builder(Arc::new(store)).build().await?;
        Ok(Self { iam, billing: Billing::open(&directory.join("billing.db")).await? })
    }

    /// Runs rounds at this interval until `stop` completes. It finishes the current round before it stops.
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
            // Not within `select!`, which would cancel the round in the middle.
            if let Err(error) = self.round(deliver).await {
                tracing::error!(error, "the round failed, the next one tries again");
            }
        }
    }

    async fn round(&self, deliver: &mut impl AsyncFnMut(&AuditEntry) -> Result<()>) -> Result<()> {
        job::close_overdue(&self.iam, &self.billing, self.today()).await?;
        // Several processes may sequence the entries. If a server runs on this database, it already does so.
        while self.iam.sequence_audit_logs().await?.more {}
        forward::forward(&self.iam, &self.billing, deliver).await
    }

    fn today(&self) -> NaiveDate {
        self.iam.now().date_naive()
    }
}

/// Prints an entry as a line for a SIEM. The standard output stands for the collector.
async fn print(entry: &AuditEntry) -> Result<()> {
    writeln!(io::stdout(), "{}", line(entry)?)?;
    Ok(())
}

/// Returns an entry as an event of the Open Cybersecurity Schema Framework.
fn line(entry: &AuditEntry) -> Result<String> {
    Ok(serde_json::to_string(&OcsfEvent::of(entry))?)
}

async fn interrupted() {
    if let Err(error) = tokio::signal::ctrl_c().await {
        tracing::error!(%error, "cannot wait for interrupts");
    }
}

/// Creates a tenant with an overdue invoice, and one that is due in the future.
async fn create_invoices(worker: &Worker) -> Result<TenantId> {
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
