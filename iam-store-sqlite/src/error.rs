//! Converts errors of the driver to errors of the service.

use iam_model::store_error::{Constraint, StoreError};
use iam_store_sql::error::ErrorCodes;
use sqlx::error::DatabaseError;

const CODES: ErrorCodes = ErrorCodes { constraint, is_transient };

/// Converts an error of the driver.
pub(crate) fn store_error(error: sqlx::Error) -> StoreError {
    CODES.store_error(error)
}

/// Returns the violated constraint. SQLite does not name it. Its message names the columns, or the index if that has an
/// expression.
fn constraint(error: &dyn DatabaseError) -> Option<Constraint> {
    // Of a trigger that checks a reference.
    if error.message() == "FOREIGN KEY constraint failed" {
        return Some(Constraint::Reference);
    }
    match error.message().strip_prefix("UNIQUE constraint failed: ")? {
        "users.tenant_id, users.email_key" => Some(Constraint::UserEmail),
        "users.tenant_id, users.external_id" => Some(Constraint::UserExternalId),
        "tenants.slug" => Some(Constraint::TenantSlug),
        "permissions.tenant_id, permissions.name" => Some(Constraint::PermissionName),
        "roles.tenant_id, roles.name" => Some(Constraint::RoleName),
        "index 'role_assignments_context_key'" => Some(Constraint::RoleAssignment),
        "organizations.tenant_id, organizations.slug" => Some(Constraint::OrganizationSlug),
        "invitations.tenant_id, invitations.email_key" => Some(Constraint::Invitation),
        "factors.tenant_id, factors.credential_id" | "passkeys.credential_id" => Some(Constraint::Passkey),
        "domains.tenant_id, domains.name" => Some(Constraint::Domain),
        "domains.name" => Some(Constraint::VerifiedDomain),
        "identity_providers.tenant_id, identity_providers.slug" => Some(Constraint::IdentityProviderSlug),
        "identities.tenant_id, identities.provider_id, identities.issuer, identities.subject"
        | "identities.tenant_id, identities.user_id, identities.provider_id" => Some(Constraint::Identity),
        "directories.tenant_id, directories.service_account_id" => Some(Constraint::DirectoryAccount),
        "directory_users.tenant_id, directory_users.directory_id, directory_users.user_name_key"
        | "directory_users.tenant_id, directory_users.user_id" => Some(Constraint::DirectoryUserName),
        "directory_groups.tenant_id, directory_groups.directory_id, directory_groups.display_name_key" => {
            Some(Constraint::DirectoryGroupName)
        }
        "signing_keys.purpose, signing_keys.generation" => Some(Constraint::SigningKeyGeneration),
        _ => None,
    }
}

/// Whether trying again later may help: another process holds the lock (`SQLITE_BUSY`), or the disk is full
/// (`SQLITE_FULL`). The low byte of an extended result code is the primary one.
fn is_transient(code: &str) -> bool {
    const BUSY: i32 = 5;
    const FULL: i32 = 13;
    code.parse::<i32>().is_ok_and(|code| [BUSY, FULL].contains(&(code & 0xff)))
}
