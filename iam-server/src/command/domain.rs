//! The commands of `domain`.

use clap::Subcommand;
use iam_core::Iam;
use iam_core::domain::DomainName;

use crate::command::output::{print, refused};
use crate::command::tenant::find;
use crate::failure::Failure;
use crate::services::open;
use crate::settings::Settings;

#[derive(Clone, Subcommand)]
pub(crate) enum Domain {
    /// Verify a domain of a tenant without a record in the DNS; the tenant gets the domain if it does not have it
    Verify {
        /// The tenant, by its id or slug
        #[arg(long, value_name = "TENANT")]
        tenant: String,
        /// The domain
        #[arg(long, value_name = "DOMAIN")]
        domain: String,
    },
}

pub(crate) async fn domain(command: Domain, settings: &Settings) -> Result<(), Failure> {
    let iam = open(settings).await?;
    let Domain::Verify { tenant, domain } = command;
    let result = verify(&iam, &tenant, &domain).await;
    iam.close().await;
    result
}

async fn verify(iam: &Iam, tenant: &str, typed: &str) -> Result<(), Failure> {
    let caller = find(iam, tenant, "domain verify command").await?;
    let failed = |error| refused(format!("verifying the domain {typed}"), &error);
    let name: DomainName = typed.parse().map_err(|error| Failure(format!("the domain {error}")))?;
    let known = iam.domains().list(&caller).await.map_err(failed)?;
    let domain = match known.into_iter().find(|domain| domain.name == name) {
        Some(domain) => domain,
        None => iam.domains().create(&caller, typed).await.map_err(failed)?,
    };
    let verified = iam.domains().trust(&caller, domain.id).await.map_err(failed)?;
    print(&format!("Domain {} ({}) is verified in {tenant}.", verified.name, verified.id))
}
