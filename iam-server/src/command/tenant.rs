//! The commands of `tenant`.

use clap::Subcommand;
use iam_core::tenant::{NewTenant, TenantWithUser};
use iam_core::{Caller, Iam};

use crate::command::output::{print, refused};
use crate::command::person::Person;
use crate::command::tenant_delete::Delete;
use crate::command::tenant_export::Export;
use crate::failure::Failure;
use crate::services::open;
use crate::settings::Settings;

#[derive(Clone, Subcommand)]
pub(crate) enum Tenant {
    /// Create a tenant with its built-in roles and its first administrator, even if registration is closed
    Create {
        /// The tenant's name
        #[arg(long, value_name = "NAME")]
        name: String,
        /// The tenant's name in URLs and logins [default: derived from the name]
        #[arg(long, value_name = "SLUG")]
        slug: Option<String>,
        #[command(flatten)]
        administrator: Person,
    },
    /// End all sessions of a tenant and refuse logins of its users until it is reactivated; nothing else changes
    Suspend {
        /// The tenant, by its id or slug
        #[arg(long, value_name = "TENANT")]
        tenant: String,
    },
    /// Delete a tenant with everything in it after a waiting time, in which the deletion can be called off; a running
    /// server does it
    Delete(Delete),
    /// Write what a tenant has into files of a new directory
    Export(Export),
    /// Let the users of a suspended tenant log in again
    Reactivate {
        /// The tenant, by its id or slug
        #[arg(long, value_name = "TENANT")]
        tenant: String,
    },
}

pub(crate) async fn tenant(command: Tenant, settings: &Settings) -> Result<(), Failure> {
    let iam = open(settings).await?;
    let result = match command {
        Tenant::Create { name, slug, administrator } => create(&iam, name, slug, &administrator).await,
        Tenant::Suspend { tenant } => suspend(&iam, &tenant).await,
        Tenant::Reactivate { tenant } => reactivate(&iam, &tenant).await,
        Tenant::Delete(arguments) => delete(&iam, arguments).await,
        Tenant::Export(arguments) => export(&iam, arguments).await,
    };
    iam.close().await;
    result
}

async fn suspend(iam: &Iam, named: &str) -> Result<(), Failure> {
    let caller = find(iam, named, "tenant suspend command").await?;
    let tenant = iam.tenants().suspend(&caller).await;
    let tenant = tenant.map_err(|error| refused(format!("suspending the tenant {named}"), &error))?;
    print(&format!("Tenant {} ({}) is suspended and has no sessions.", tenant.slug, tenant.id))
}

async fn delete(iam: &Iam, arguments: Delete) -> Result<(), Failure> {
    let caller = find(iam, &arguments.tenant, "tenant delete command").await?;
    arguments.run(iam, &caller).await
}

async fn export(iam: &Iam, arguments: Export) -> Result<(), Failure> {
    let caller = find(iam, &arguments.tenant, "tenant export command").await?;
    arguments.run(iam, &caller).await
}

async fn reactivate(iam: &Iam, named: &str) -> Result<(), Failure> {
    let caller = find(iam, named, "tenant reactivate command").await?;
    let tenant = iam.tenants().reactivate(&caller).await;
    let tenant = tenant.map_err(|error| refused(format!("reactivating the tenant {named}"), &error))?;
    print(&format!("Tenant {} ({}) is active.", tenant.slug, tenant.id))
}

async fn create(iam: &Iam, name: String, slug: Option<String>, person: &Person) -> Result<(), Failure> {
    let password = person.password.password(iam)?;
    let doing = format!("creating the tenant {name}");
    let administrator = person.with_password(password.clone());
    let created = iam.tenants().create("tenant create command", NewTenant { name, slug, administrator }).await;
    let TenantWithUser { tenant, user, .. } = created.map_err(|error| refused(doing, &error))?;
    print(&format!("Tenant {} ({}) is created.", tenant.slug, tenant.id))?;
    print(&format!("{} ({}) is its administrator.", user.email, user.id))?;
    person.password.tell(&password)
}

/// Finds the tenant that an argument names by its id or slug. Returns the system as a caller in this tenant.
pub(crate) async fn find(iam: &Iam, named: &str, reason: &'static str) -> Result<Caller, Failure> {
    let found = iam.tenants().find(named).await.map_err(|error| Failure::new("looking for the tenant", &error))?;
    let tenant = found.ok_or_else(|| Failure(format!("there is no tenant {named}")))?;
    Ok(Caller::system(tenant.id, reason))
}
