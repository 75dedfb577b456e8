//! Audit entries.

use iam_model::audit::{AuditEntry, Salt, Salts};
use iam_model::context::{RequestContext, UserAgent};
use iam_model::id::{OrganizationId, UserId};
use iam_model::store_error::StoreError;
use serde_json::{Map, Value};
use sqlx::FromRow;
use sqlx::types::Json;
use uuid::Uuid;

use crate::column::{StoredMoment, moment, parse_optional};

/// The JSON object of a column.
pub type Fields = Json<Map<String, Value>>;

/// An audit entry as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct AuditEntryRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub action: String,
    pub resource_type: String,
    pub resource_id: Option<String>,
    pub organization_id: Option<Uuid>,
    pub user_id: Option<Uuid>,
    pub old_value: Option<Fields>,
    pub new_value: Option<Fields>,
    pub metadata: Fields,
    pub correlation_id: Option<String>,
    pub ip_address: Option<String>,
    pub user_agent: Option<String>,
    pub created_at: T,
    pub details_salt: Vec<u8>,
    pub origin_salt: Vec<u8>,
}

impl<T: StoredMoment> TryFrom<AuditEntryRow<T>> for AuditEntry {
    type Error = StoreError;

    fn try_from(row: AuditEntryRow<T>) -> Result<Self, StoreError> {
        let context = RequestContext {
            correlation_id: parse_optional("audit_entries.correlation_id", row.correlation_id.as_deref())?,
            ip_address: parse_optional("audit_entries.ip_address", row.ip_address.as_deref())?,
            user_agent: row.user_agent.as_deref().map(UserAgent::new),
        };
        let salts = Salts {
            details: salt("audit_entries.details_salt", &row.details_salt)?,
            origin: salt("audit_entries.origin_salt", &row.origin_salt)?,
        };
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            action: row.action.into(),
            resource_type: row.resource_type.into(),
            resource_id: row.resource_id,
            organization_id: row.organization_id.map(OrganizationId::from),
            user_id: row.user_id.map(UserId::from),
            old_value: row.old_value.map(|Json(fields)| fields),
            new_value: row.new_value.map(|Json(fields)| fields),
            metadata: row.metadata.0,
            context,
            created_at: moment("audit_entries.created_at", row.created_at)?,
            salts,
        })
    }
}

fn salt(column: &'static str, bytes: &[u8]) -> Result<Salt, StoreError> {
    Salt::from_bytes(bytes).ok_or_else(|| StoreError::corrupt(column, "is neither a salt nor a commitment"))
}
