//! Converts errors of the driver to errors of the service.

use iam_model::store_error::{Constraint, StoreError};
use sqlx::error::{DatabaseError, ErrorKind};
use sqlx::postgres::PgQueryResult;

/// Converts an error of the driver.
pub(crate) fn store_error(error: sqlx::Error) -> StoreError {
    if let sqlx::Error::Database(cause) = &error
        && let Some(constraint) = constraint(cause.as_ref())
    {
        return StoreError::Conflict(constraint);
    }
    match error {
        sqlx::Error::ColumnDecode { index, source } => StoreError::corrupt("column", format!("{index}: {source}")),
        error if is_unavailable(&error) => StoreError::Unavailable(error.into()),
        error => StoreError::Failed(error.into()),
    }
}

/// Returns the violated constraint, by its name in the migrations.
fn constraint(error: &dyn DatabaseError) -> Option<Constraint> {
    if error.kind() == ErrorKind::ForeignKeyViolation {
        return Some(Constraint::Reference);
    }
    match error.constraint()? {
        "users_email_key" => Some(Constraint::UserEmail),
        "tenants_slug_key" => Some(Constraint::TenantSlug),
        "permissions_name_key" => Some(Constraint::PermissionName),
        "roles_name_key" => Some(Constraint::RoleName),
        "role_assignments_context_key" => Some(Constraint::RoleAssignment),
        "organizations_slug_key" => Some(Constraint::OrganizationSlug),
        "signing_keys_pkey" => Some(Constraint::SigningKeyGeneration),
        _ => None,
    }
}

/// Whether a row violated a unique constraint.
pub(crate) fn is_unique_violation(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(DatabaseError::is_unique_violation)
}

/// Whether another transaction has held a lock for too long.
pub(crate) fn is_lock_timeout(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == "55P03")
}

/// Whether a statement wrote a row for which there is no partition.
pub(crate) fn has_no_partition(error: &sqlx::Error) -> bool {
    let is_missing = |error: &dyn DatabaseError| error.is_check_violation() && error.constraint().is_none();
    error.as_database_error().is_some_and(is_missing)
}

fn is_unavailable(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(cause) => cause.code().is_some_and(|code| is_transient(&code)),
        _ => false,
    }
}

/// Whether trying again later may help (PostgreSQL's appendix A, by class): the connection broke (08), this process
/// paused halfway (25P03), a deadlock was resolved (40), resources ran out (53), another transaction held a lock for
/// too long (55P03), the statement took too long, or an operator stopped it or the server (57).
fn is_transient(code: &str) -> bool {
    ["08", "25P03", "40", "53", "55P03", "57"].iter().any(|class| code.starts_with(class))
}

/// Whether a failed connection attempt means that the server is unreachable, starting or stopping.
pub(crate) fn means_outage(error: &sqlx::Error) -> bool {
    match error.as_database_error().and_then(DatabaseError::code) {
        Some(code) => code.starts_with("08") || code.starts_with("57"),
        None => is_unavailable(error),
    }
}

/// Fails when a statement found no row to change.
pub(crate) fn expect_row(done: &PgQueryResult, what: &'static str) -> Result<(), StoreError> {
    if done.rows_affected() == 0 { Err(StoreError::Missing(what)) } else { Ok(()) }
}
