//! The commands of `user`.

use clap::Subcommand;
use iam_core::assignment::NewAssignment;
use iam_core::role::{Role, RoleScope};
use iam_core::user::UserStatus;
use iam_core::{Caller, Iam, OrganizationId};

use crate::command::output::{print, refused};
use crate::command::person::{PasswordSource, Person};
use crate::command::tenant;
use crate::failure::Failure;
use crate::services::open;
use crate::settings::Settings;

#[derive(Clone, Subcommand)]
pub(crate) enum User {
    /// Create a user
    Create {
        /// The tenant, by its id or slug
        #[arg(long, value_name = "TENANT")]
        tenant: String,
        #[command(flatten)]
        person: Person,
        /// A role that the user gets in the whole tenant, such as TENANT_ADMIN; may be repeated [default: none]
        #[arg(long = "role", value_name = "NAME")]
        roles: Vec<String>,
        /// The organization that becomes the home of the user, by its id [default: none, the user belongs to the tenant]
        #[arg(long, value_name = "ORGANIZATION")]
        home: Option<OrganizationId>,
    },
    /// Set a new password, end all sessions of the user and lift its lockout after failed logins
    ResetPassword {
        /// The tenant, by its id or slug
        #[arg(long, value_name = "TENANT")]
        tenant: String,
        /// The user's e-mail
        #[arg(long, value_name = "ADDRESS")]
        email: String,
        #[command(flatten)]
        password: PasswordSource,
    },
    /// Remove all second factors and recovery codes of a user that has lost them, and end its sessions
    ResetFactors {
        /// The tenant, by its id or slug
        #[arg(long, value_name = "TENANT")]
        tenant: String,
        /// The user's e-mail
        #[arg(long, value_name = "ADDRESS")]
        email: String,
    },
    /// Record that a user receives mail at its address: a login that names no tenant then means this account, and not
    /// an unverified account with the same address
    VerifyEmail {
        /// The tenant, by its id or slug
        #[arg(long, value_name = "TENANT")]
        tenant: String,
        /// The user's e-mail
        #[arg(long, value_name = "ADDRESS")]
        email: String,
    },
}

pub(crate) async fn user(command: User, settings: &Settings) -> Result<(), Failure> {
    let iam = open(settings).await?;
    let result = match command {
        User::Create { tenant, person, roles, home } => create(&iam, &tenant, &person, roles, home).await,
        User::ResetPassword { tenant, email, password } => reset_password(&iam, &tenant, &email, password).await,
        User::ResetFactors { tenant, email } => reset_factors(&iam, &tenant, &email).await,
        User::VerifyEmail { tenant, email } => verify_email(&iam, &tenant, &email).await,
    };
    iam.close().await;
    result
}

async fn create(
    iam: &Iam,
    tenant: &str,
    person: &Person,
    roles: Vec<String>,
    home: Option<OrganizationId>,
) -> Result<(), Failure> {
    let caller = tenant::find(iam, tenant, "user create command").await?;
    // Finds all roles before it creates the user.
    let found = tenant_wide_roles(iam, &caller, roles).await?;
    let password = person.password.password(iam)?;
    let new = person.with_password(password.clone());
    let doing = format!("creating the user {}", new.email);
    let user = iam.users().create_once(&caller, new, home, None, None).await.map_err(|error| refused(doing, &error))?;
    print(&format!("User {} ({}) is created.", user.email, user.id))?;
    person.password.tell(&password)?;
    if found.is_empty() {
        return Ok(());
    }
    let assignment = |role: &Role| NewAssignment { user: user.id, role: role.id, organization: None, expires_at: None };
    let assignments: Vec<NewAssignment> = found.iter().map(assignment).collect();
    let given = iam.assignments().create_all(&caller, &assignments).await;
    given.map_err(|error| refused(format!("assigning roles to the user {}", user.email), &error))?;
    let names: Vec<&str> = found.iter().map(|role| role.name.as_str()).collect();
    print(&format!("Roles: {}", names.join(", ")))
}

/// Returns the roles with these names, each once.
pub(crate) async fn tenant_wide_roles(
    iam: &Iam,
    caller: &Caller,
    mut names: Vec<String>,
) -> Result<Vec<Role>, Failure> {
    names.sort();
    names.dedup();
    let mut roles = Vec::with_capacity(names.len());
    for name in &names {
        roles.push(tenant_wide_role(iam, caller, name).await?);
    }
    Ok(roles)
}

async fn tenant_wide_role(iam: &Iam, caller: &Caller, name: &str) -> Result<Role, Failure> {
    let role = iam.roles().by_name(caller, name).await.map_err(|error| Failure::new("looking for the role", &error))?;
    let role = role.ok_or_else(|| Failure(format!("there is no role {name}")))?;
    if role.scope == RoleScope::Organization {
        return Err(Failure(format!("the role {name} can be assigned in organizations only")));
    }
    Ok(role)
}

async fn verify_email(iam: &Iam, tenant: &str, email: &str) -> Result<(), Failure> {
    let caller = tenant::find(iam, tenant, "user verify-email command").await?;
    let user = iam.users().verify_email(&caller, email).await;
    let user = user.map_err(|error| refused(format!("verifying the e-mail {email}"), &error))?;
    print(&format!("The e-mail {} of user {} is verified.", user.email, user.id))
}

async fn reset_factors(iam: &Iam, tenant: &str, email: &str) -> Result<(), Failure> {
    let caller = tenant::find(iam, tenant, "user reset-factors command").await?;
    let user = iam.factors().reset_with_email(&caller, email).await;
    let user = user.map_err(|error| refused(format!("removing the second factors of {email}"), &error))?;
    print(&format!("User {} ({}) has no second factors.", user.email, user.id))
}

async fn reset_password(iam: &Iam, tenant: &str, email: &str, source: PasswordSource) -> Result<(), Failure> {
    let caller = tenant::find(iam, tenant, "user reset-password command").await?;
    let password = source.password(iam)?;
    let user = iam.credentials().reset_password(&caller, email, password.clone()).await;
    let user = user.map_err(|error| refused(format!("resetting the password of {email}"), &error))?;
    print(&format!("User {} ({}) has a new password and no sessions.", user.email, user.id))?;
    if user.status == UserStatus::Suspended {
        print("The user is suspended and cannot log in until an administrator reactivates it.")?;
    }
    source.tell(&password)
}
