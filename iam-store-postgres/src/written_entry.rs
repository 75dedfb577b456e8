use chrono::{DateTime, Utc};
use iam_model::audit::AuditEntry;
use iam_model::context::RequestContext;
use iam_model::id::{OrganizationId, UserId};
use serde_json::Value;
use sqlx::postgres::{PgHasArrayType, PgTypeInfo};
use sqlx::{Postgres, Type};
use uuid::Uuid;

use crate::values::Row;

/// An entry to be written, as the type `iam.written_audit_entry` of the database.
#[derive(Debug, sqlx::Encode)]
pub(crate) struct WrittenEntry {
    id: Uuid,
    action: String,
    resource_type: String,
    resource_id: Option<String>,
    organization_id: Option<Uuid>,
    user_id: Option<Uuid>,
    old_value: Option<String>,
    new_value: Option<String>,
    metadata: String,
    correlation_id: Option<String>,
    ip_address: Option<String>,
    user_agent: Option<String>,
    created_at: DateTime<Utc>,
    details_salt: Vec<u8>,
    origin_salt: Vec<u8>,
    digest: Vec<u8>,
}

impl WrittenEntry {
    /// The statement that inserts entries, up to the values that [`push`](Self::push) adds.
    pub(crate) const INSERT: &str = "
        INSERT INTO iam.audit_unsealed (
            tenant_id, id, action, resource_type, resource_id, organization_id, user_id, old_value, new_value, metadata,
            correlation_id, ip_address, user_agent, created_at, details_salt, origin_salt, digest
        ) ";

    /// Adds the values of a row.
    pub(crate) fn push(self, tenant: Uuid, row: &mut Row<'_>) {
        row.push_bind(tenant).push_bind(self.id).push_bind(self.action).push_bind(self.resource_type);
        row.push_bind(self.resource_id).push_bind(self.organization_id).push_bind(self.user_id);
        for json in [self.old_value, self.new_value, Some(self.metadata)] {
            row.push_bind(json).push_unseparated("::json");
        }
        row.push_bind(self.correlation_id).push_bind(self.ip_address).push_bind(self.user_agent);
        row.push_bind(self.created_at).push_bind(self.details_salt).push_bind(self.origin_salt).push_bind(self.digest);
    }
}

impl Type<Postgres> for WrittenEntry {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("iam.written_audit_entry")
    }
}

impl PgHasArrayType for WrittenEntry {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::array_of("iam.written_audit_entry")
    }
}

impl From<AuditEntry> for WrittenEntry {
    fn from(entry: AuditEntry) -> Self {
        let digest = entry.digest().0.to_vec();
        let text = |fields| Value::Object(fields).to_string();
        let RequestContext { correlation_id, ip_address, user_agent } = entry.context;
        Self {
            id: entry.id.as_uuid(),
            action: entry.action.into_owned(),
            resource_type: entry.resource_type.as_str().to_owned(),
            resource_id: entry.resource_id,
            organization_id: entry.organization_id.map(OrganizationId::as_uuid),
            user_id: entry.user_id.map(UserId::as_uuid),
            old_value: entry.old_value.map(text),
            new_value: entry.new_value.map(text),
            metadata: text(entry.metadata),
            correlation_id: correlation_id.map(|id| id.as_str().to_owned()),
            ip_address: ip_address.map(|address| address.to_string()),
            user_agent: user_agent.map(|agent| agent.as_str().to_owned()),
            created_at: entry.created_at,
            details_salt: entry.salts.details.as_bytes().to_vec(),
            origin_salt: entry.salts.origin.as_bytes().to_vec(),
            digest,
        }
    }
}
