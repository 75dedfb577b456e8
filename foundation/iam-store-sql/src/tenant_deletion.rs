//! The deletions of tenants.

use iam_model::store_error::StoreError;
use iam_model::tenant_deletion::{TenantContents, TenantDeletion};
use sqlx::types::Json;
use uuid::Uuid;

use crate::column::{StoredMoment, moment, moment_optional, text};

/// The deletion of a tenant as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct TenantDeletionRow<T> {
    pub tenant_id: Uuid,
    pub due_at: T,
    pub keeps_log: bool,
    pub reason: String,
    pub scheduled_at: T,
    pub begun_at: Option<T>,
    pub contents: Option<Json<TenantContents>>,
}

impl<T: StoredMoment> TryFrom<TenantDeletionRow<T>> for TenantDeletion {
    type Error = StoreError;

    fn try_from(row: TenantDeletionRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            tenant_id: row.tenant_id.into(),
            due_at: moment("tenant_deletions.due_at", row.due_at)?,
            keeps_log: row.keeps_log,
            reason: text("tenant_deletions.reason", row.reason)?,
            scheduled_at: moment("tenant_deletions.scheduled_at", row.scheduled_at)?,
            begun_at: moment_optional("tenant_deletions.begun_at", row.begun_at)?,
            contents: row.contents.map(|contents| contents.0),
        })
    }
}

/// The tables with rows of tenants, in the order in which they are emptied: a row that refers to another one comes before
/// it. Those of the audit log stay. The rows of `directory_withheld` go with the memberships to which they refer.
pub const TABLES_OF_TENANTS: [&str; 42] = [
    "webhook_deliveries",
    "webhooks",
    "directory_group_members",
    "directory_groups",
    "directory_users",
    "directories",
    "identities",
    "access_review_items",
    "access_reviews",
    "access_requests",
    "eligibilities",
    "legal_holds",
    "passkeys",
    "factors",
    "recovery_codes",
    "challenges",
    "links",
    "api_keys",
    "sessions",
    "login_attempts",
    "idempotency_records",
    "messages",
    "queued_messages",
    "sent_messages",
    "invitations",
    "role_assignments",
    "past_assignments",
    "past_versions",
    "history_starts",
    "manifest_items",
    "role_permissions",
    "roles",
    "permissions",
    "unchecked_permissions",
    "attribute_values",
    "attributes",
    "credentials",
    "users",
    "organizations",
    "identity_providers",
    "domains",
    "tenant_counts",
];
