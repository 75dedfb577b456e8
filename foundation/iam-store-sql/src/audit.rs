//! Audit entries.

use iam_model::audit::{AuditEntry, AuditFilter, Salt, Salts};
use iam_model::clock::cut;
use iam_model::context::{CorrelationId, RequestContext, UserAgent};
use iam_model::id::{OrganizationId, UserId};
use iam_model::store_error::StoreError;
use serde_json::{Map, Value};
use sqlx::types::Json;
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::{StoredMoment, moment, parse_optional};
use crate::store::SqlStore;

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

/// The columns of an entry. Statements that read entries are built at run time, because the conditions of the list vary
/// from call to call, and in the other statements an entry may be missing. Only text of the source files is pushed. All
/// values from outside are bound.
pub const ENTRY_COLUMNS: &str = "
    e.tenant_id,
    e.id,
    e.action,
    e.resource_type,
    e.resource_id,
    e.organization_id,
    e.user_id,
    e.old_value,
    e.new_value,
    e.metadata,
    e.correlation_id,
    e.ip_address,
    e.user_agent,
    e.created_at,
    e.details_salt,
    e.origin_salt";

/// Adds all conditions of a filter except the upper bound of the time.
pub fn push_filter<S>(query: &mut QueryBuilder<S::Database>, filter: &AuditFilter)
where
    S: SqlStore,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    for (condition, text) in [
        (" AND e.action = ", filter.action.as_deref()),
        (" AND e.resource_type = ", filter.resource_type.as_deref()),
        (" AND e.resource_id = ", filter.resource_id.as_deref()),
        (" AND e.correlation_id = ", filter.correlation_id.as_ref().map(CorrelationId::as_str)),
    ] {
        if let Some(text) = text {
            query.push(condition).push_bind(text.to_owned());
        }
    }
    for (condition, id) in [
        (" AND e.organization_id = ", filter.organization_id.map(OrganizationId::as_uuid)),
        (" AND e.user_id = ", filter.user_id.map(UserId::as_uuid)),
    ] {
        if let Some(id) = id {
            query.push(condition).push_bind(id);
        }
    }
    if let Some(from) = filter.from {
        // Entries have whole milliseconds. A filter that begins within a millisecond excludes the entry at its start.
        let is_whole = cut(from) == from;
        query.push(if is_whole { " AND e.created_at >= " } else { " AND e.created_at > " });
        query.push_bind(S::stored(cut(from)));
    }
}
