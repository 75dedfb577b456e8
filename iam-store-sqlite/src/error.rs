//! Converts errors of the driver to errors of the service.

use iam_model::store_error::{Constraint, StoreError};
use sqlx::error::{DatabaseError, ErrorKind};
use sqlx::sqlite::SqliteQueryResult;

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

/// Returns the violated constraint. SQLite does not name it. Its message names the columns, or the index if that has an
/// expression.
fn constraint(error: &dyn DatabaseError) -> Option<Constraint> {
    if error.kind() == ErrorKind::ForeignKeyViolation {
        return Some(Constraint::Reference);
    }
    match error.message().strip_prefix("UNIQUE constraint failed: ")? {
        "users.tenant_id, users.email_key" => Some(Constraint::UserEmail),
        "tenants.slug" => Some(Constraint::TenantSlug),
        "permissions.tenant_id, permissions.name" => Some(Constraint::PermissionName),
        "roles.tenant_id, roles.name" => Some(Constraint::RoleName),
        "index 'role_assignments_context_key'" => Some(Constraint::RoleAssignment),
        "organizations.tenant_id, organizations.slug" => Some(Constraint::OrganizationSlug),
        "signing_keys.purpose, signing_keys.generation" => Some(Constraint::SigningKeyGeneration),
        _ => None,
    }
}

fn is_unavailable(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(cause) => cause.code().is_some_and(|code| is_transient(&code)),
        _ => false,
    }
}

/// Whether trying again later may help: another process holds the lock (`SQLITE_BUSY`), or the disk is full
/// (`SQLITE_FULL`). The low byte of an extended result code is the primary one.
fn is_transient(code: &str) -> bool {
    const BUSY: i32 = 5;
    const FULL: i32 = 13;
    code.parse::<i32>().is_ok_and(|code| [BUSY, FULL].contains(&(code & 0xff)))
}

/// Fails when a statement found no row to change.
pub(crate) fn expect_row(done: &SqliteQueryResult, what: &'static str) -> Result<(), StoreError> {
    if done.rows_affected() == 0 { Err(StoreError::Missing(what)) } else { Ok(()) }
}
