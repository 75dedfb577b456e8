use chrono::{DateTime, Utc};
use iam_model::audit::AuditEntry;
use iam_model::context::RequestContext;
use iam_model::id::{OrganizationId, UserId};
use serde_json::Value;
use sqlx::postgres::{PgHasArrayType, PgTypeInfo};
use sqlx::{Postgres, Type};
use uuid::Uuid;

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
