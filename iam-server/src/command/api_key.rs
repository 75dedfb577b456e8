//! The commands of `api-key`.

use chrono::TimeDelta;
use clap::{ArgGroup, Subcommand, value_parser};
use iam_core::api_key::NewApiKey;
use iam_core::assignment::NewAssignment;
use iam_core::permission::PermissionPattern;
use iam_core::user::NewServiceAccount;
use iam_core::{Caller, Iam, Name, UserId};

use crate::command::output::{print, refused};
use crate::command::tenant;
use crate::command::user::tenant_wide_roles;
use crate::failure::Failure;
use crate::services::open;
use crate::settings::Settings;

#[derive(Clone, Subcommand)]
pub(crate) enum ApiKey {
    /// Make an API key, and print it once
    ///
    /// The key acts as a new service account, or as a user that exists. For the first program of a fresh installation:
    /// `iam-server api-key create --tenant TENANT --service-account deployer --role TENANT_ADMIN`.
    #[command(group = ArgGroup::new("owner").required(true))]
    Create {
        /// The tenant, by its id or slug
        #[arg(long, value_name = "TENANT")]
        tenant: String,
        /// Create a service account with this name, and make a key of it
        #[arg(long, value_name = "NAME", group = "owner")]
        service_account: Option<String>,
        /// Make a key of the user with this id
        #[arg(long, value_name = "ID", group = "owner")]
        user: Option<UserId>,
        /// A role that the new service account gets in the whole tenant; may be repeated [default: none]
        #[arg(long = "role", value_name = "NAME", conflicts_with = "user")]
        roles: Vec<String>,
        /// The name of the key
        #[arg(long, value_name = "NAME", default_value = "created by the operator")]
        name: Name,
        /// A permission that the key may use, such as users:read or users:*; may be repeated [default: all permissions
        /// of its user]
        #[arg(long = "permission", value_name = "PERMISSION")]
        permissions: Vec<PermissionPattern>,
        /// How many days the key is valid
        #[arg(long, value_name = "DAYS", default_value_t = 90, value_parser = value_parser!(u16).range(1..=365))]
        days: u16,
    },
}

pub(crate) async fn api_key(command: ApiKey, settings: &Settings) -> Result<(), Failure> {
    let iam = open(settings).await?;
    let ApiKey::Create { tenant, service_account, user, roles, name, permissions, days } = command;
    let owner = match (service_account, user) {
        (Some(name), _) => Some(Owner::New { name, roles }),
        (None, user) => user.map(Owner::Existing),
    };
    let permissions: Vec<String> = permissions.iter().map(ToString::to_string).collect();
    let new = NewApiKey {
        name: name.into(),
        permissions: (!permissions.is_empty()).then_some(permissions),
        organization: None,
        expires_at: Some(iam.now() + TimeDelta::days(days.into())),
    };
    let result = create(&iam, &tenant, owner, new).await;
    iam.close().await;
    result
}

/// As whom a key acts.
enum Owner {
    New { name: String, roles: Vec<String> },
    Existing(UserId),
}

async fn create(iam: &Iam, tenant: &str, owner: Option<Owner>, new: NewApiKey) -> Result<(), Failure> {
    let caller = tenant::find(iam, tenant, "api-key create command").await?;
    let user = match owner {
        Some(Owner::New { name, roles }) => create_account(iam, &caller, name, roles).await?,
        Some(Owner::Existing(user)) => user,
        None => return Err(Failure("--service-account or --user is required".to_owned())),
    };
    let issued = iam.api_keys().create(&caller, user, new).await;
    let issued = issued.map_err(|error| refused(format!("making a key of the user {user}"), &error))?;
    print(&format!("API key {} of the user {user} is made.", issued.key.id))?;
    print(&format!("Key: {}", issued.token.expose()))
}

async fn create_account(iam: &Iam, caller: &Caller, name: String, roles: Vec<String>) -> Result<UserId, Failure> {
    let roles = tenant_wide_roles(iam, caller, roles).await?;
    let doing = format!("creating the service account {name}");
    let account = iam.users().create_service_account(caller, NewServiceAccount { name }).await;
    let account = account.map_err(|error| refused(doing.clone(), &error))?;
    let assignments: Vec<NewAssignment> = roles
        .iter()
        .map(|role| NewAssignment { user: account.id, role: role.id, organization: None, expires_at: None })
        .collect();
    if !assignments.is_empty() {
        let given = iam.assignments().create_all(caller, &assignments).await;
        given.map_err(|error| refused("assigning roles to the service account".to_owned(), &error))?;
    }
    print(&format!("Service account {} is created.", account.id))?;
    Ok(account.id)
}
