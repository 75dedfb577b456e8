//! The commands of `session`.

use clap::Subcommand;
use iam_core::{Caller, Iam};

use crate::command::output::{print, refused};
use crate::command::tenant;
use crate::failure::Failure;
use crate::services::open;
use crate::settings::Settings;

#[derive(Clone, Subcommand)]
pub(crate) enum Session {
    /// End all sessions of a user, of a tenant or of all tenants, for example after a backup of the database has leaked
    EndAll {
        /// Only the sessions of this tenant, by its id or slug [default: all tenants]
        #[arg(long, value_name = "TENANT")]
        tenant: Option<String>,
        /// Only the sessions of the tenant's user with this e-mail [default: all users]
        #[arg(long, value_name = "ADDRESS", requires = "tenant")]
        email: Option<String>,
    },
}

const REASON: &str = "session end-all command";

pub(crate) async fn session(command: Session, settings: &Settings) -> Result<(), Failure> {
    let iam = open(settings).await?;
    let result = match command {
        Session::EndAll { tenant: Some(tenant), email: Some(email) } => end_of_user(&iam, &tenant, &email).await,
        Session::EndAll { tenant: Some(tenant), email: None } => end_of_tenant(&iam, &tenant).await,
        Session::EndAll { tenant: None, .. } => end_of_all(&iam).await,
    };
    iam.close().await;
    result
}

async fn end_of_user(iam: &Iam, tenant: &str, email: &str) -> Result<(), Failure> {
    let caller = tenant::find(iam, tenant, REASON).await?;
    let ended = iam.sessions().end_all_with_email(&caller, email).await;
    report(ended.map_err(|error| refused(format!("ending the sessions of {email}"), &error))?)
}

async fn end_of_tenant(iam: &Iam, tenant: &str) -> Result<(), Failure> {
    let caller = tenant::find(iam, tenant, REASON).await?;
    report(end(iam, &caller).await?)
}

async fn end_of_all(iam: &Iam) -> Result<(), Failure> {
    let tenants = iam.audited_tenants().await.map_err(|error| Failure::new("listing the tenants", &error))?;
    let mut ended = 0;
    for tenant in tenants {
        ended += end(iam, &Caller::system(tenant, REASON)).await?;
    }
    report(ended)
}

async fn end(iam: &Iam, caller: &Caller) -> Result<u64, Failure> {
    let ended = iam.sessions().end_all(caller).await;
    ended.map_err(|error| Failure::new(format!("ending the sessions of the tenant {}", caller.tenant()), &error))
}

fn report(ended: u64) -> Result<(), Failure> {
    print(&format!("Sessions ended: {ended}"))
}
