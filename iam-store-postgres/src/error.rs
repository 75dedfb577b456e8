//! Converts errors of the driver to errors of the service.

use iam_model::store_error::{Constraint, StoreError};
use iam_store_sql::error::ErrorCodes;
use sqlx::error::DatabaseError;

const CODES: ErrorCodes = ErrorCodes { constraint, is_transient };

/// Converts an error of the driver.
pub(crate) fn store_error(error: sqlx::Error) -> StoreError {
    CODES.store_error(error)
}

/// Returns the violated constraint, by its name in the migrations.
fn constraint(error: &dyn DatabaseError) -> Option<Constraint> {
    match error.constraint().or_else(|| constraint_of_shard(error))? {
        "users_email_key" => Some(Constraint::UserEmail),
        "users_external_id_key" => Some(Constraint::UserExternalId),
        "tenants_slug_key" => Some(Constraint::TenantSlug),
        "permissions_name_key" => Some(Constraint::PermissionName),
        "roles_name_key" => Some(Constraint::RoleName),
        "role_assignments_context_key" => Some(Constraint::RoleAssignment),
        "organizations_slug_key" => Some(Constraint::OrganizationSlug),
        "invitations_pending_key" => Some(Constraint::Invitation),
        "factors_credential_key" | "passkeys_pkey" => Some(Constraint::Passkey),
        "domains_name_key" => Some(Constraint::Domain),
        "domains_verified_key" => Some(Constraint::VerifiedDomain),
        "identity_providers_slug_key" => Some(Constraint::IdentityProviderSlug),
        "identities_subject_key" | "identities_user_key" => Some(Constraint::Identity),
        "directories_account_key" => Some(Constraint::DirectoryAccount),
        "directory_users_name_key" | "directory_users_pkey" => Some(Constraint::DirectoryUserName),
        "directory_groups_name_key" => Some(Constraint::DirectoryGroupName),
        "signing_keys_pkey" => Some(Constraint::SigningKeyGeneration),
        _ => None,
    }
}

/// Returns the violated unique constraint of a shard, whose name ends with the number of the shard. Citus passes on only
/// the message of a node, which has the name in quotation marks.
fn constraint_of_shard(error: &dyn DatabaseError) -> Option<&str> {
    let name = error.message().split('"').nth(1).filter(|_| error.is_unique_violation())?;
    let (constraint, shard) = name.rsplit_once('_')?;
    shard.bytes().all(|byte| byte.is_ascii_digit()).then_some(constraint)
}

/// Whether a row violated a unique constraint.
pub(crate) fn is_unique_violation(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(DatabaseError::is_unique_violation)
}

/// Converts an error of the statement that locks an idempotency record. The lock is held as long as another request
/// with the same key is in progress.
pub(crate) fn record_lock_error(error: sqlx::Error) -> StoreError {
    let code = error.as_database_error().and_then(DatabaseError::code);
    let is_lock_timeout = code.is_some_and(|code| code == "55P03");
    if is_lock_timeout { StoreError::Conflict(Constraint::IdempotencyRecord) } else { store_error(error) }
}

/// Whether a statement wrote a row for which there is no partition. Citus names no constraint either; but the message of
/// a violated constraint has a second name in quotation marks.
pub(crate) fn has_no_partition(error: &sqlx::Error) -> bool {
    let is_missing = |error: &dyn DatabaseError| {
        error.is_check_violation() && error.constraint().is_none() && error.message().matches('"').count() == 2
    };
    error.as_database_error().is_some_and(is_missing)
}

/// Whether trying again later may help (PostgreSQL's appendix A, by class): the connection broke (08), the server is a
/// standby (0A000 for BEGIN READ WRITE, 25006 for a write), this process paused halfway (25P03), a deadlock was resolved
/// (40), resources ran out (53), another transaction held a lock for too long (55P03), the statement took too long, or an
/// operator stopped it or the server (57). A new connection is also refused while an operator changes the login of the
/// server (28), or renames (3D000) or closes (55000) the database.
fn is_transient(code: &str) -> bool {
    let classes = ["08", "0A000", "25006", "25P03", "28", "3D000", "40", "53", "55000", "55P03", "57"];
    classes.iter().any(|class| code.starts_with(class))
}

/// Whether a failed connection attempt means that the server is unreachable, starting or stopping, or a standby.
pub(crate) fn means_outage(error: &sqlx::Error) -> bool {
    match error.as_database_error().and_then(DatabaseError::code) {
        Some(code) => ["08", "0A000", "57"].iter().any(|class| code.starts_with(class)),
        None => CODES.is_unavailable(error),
    }
}
