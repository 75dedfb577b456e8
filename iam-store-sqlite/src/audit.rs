use async_trait::async_trait;
use iam_core::audit::{AuditEntry, AuditFilter, AuditStore, Cursor};
use iam_core::clock::cut;
use iam_core::{CorrelationId, RequestContext, StoreError, TenantId, UserAgent, UserId};
use serde_json::{Map, Value};
use sqlx::types::Json;
use sqlx::{FromRow, QueryBuilder, Sqlite};
use uuid::Uuid;

use crate::SqliteStore;
use crate::column::{millis, moment, parse_optional};
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Fields = Json<Map<String, Value>>;

#[derive(FromRow)]
struct AuditEntryRow {
    tenant_id: Uuid,
    id: Uuid,
    action: String,
    resource_type: String,
    resource_id: Option<String>,
    user_id: Option<Uuid>,
    old_value: Option<Fields>,
    new_value: Option<Fields>,
    metadata: Fields,
    correlation_id: Option<String>,
    ip_address: Option<String>,
    user_agent: Option<String>,
    created_at: i64,
}

impl TryFrom<AuditEntryRow> for AuditEntry {
    type Error = StoreError;

    fn try_from(row: AuditEntryRow) -> Result<Self, StoreError> {
        let context = RequestContext {
            correlation_id: parse_optional("audit_entries.correlation_id", row.correlation_id.as_deref())?,
            ip_address: parse_optional("audit_entries.ip_address", row.ip_address.as_deref())?,
            user_agent: row.user_agent.as_deref().map(UserAgent::new),
        };
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            action: row.action.into(),
            resource_type: row.resource_type.into(),
            resource_id: row.resource_id,
            user_id: row.user_id.map(UserId::from),
            old_value: row.old_value.map(|Json(fields)| fields),
            new_value: row.new_value.map(|Json(fields)| fields),
            metadata: row.metadata.0,
            context,
            created_at: moment("audit_entries.created_at", row.created_at)?,
        })
    }
}

#[async_trait]
impl AuditStore for SqliteStore {
    async fn audit_entries(
        &self,
        tenant: TenantId,
        filter: &AuditFilter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let mut query = filtered(tenant, filter);
        if let Some(cursor) = after {
            query.push(" AND (created_at, id) < (").push_bind(millis(cursor.created_at));
            query.push(", ").push_bind(cursor.id.as_uuid()).push(")");
        }
        query.push(" ORDER BY created_at DESC, id DESC LIMIT ").push_bind(i64::from(limit));
        let rows: Vec<AuditEntryRow> = query.build_query_as().fetch_all(&self.readers).await.map_err(store_error)?;
        rows.into_iter().map(AuditEntry::try_from).collect()
    }
}

/// Selects the entries that pass a filter.
///
/// It is built at run time, because which conditions there are varies from call to call. What is pushed is text of this
/// file alone; whatever came from outside is bound.
fn filtered(tenant: TenantId, filter: &AuditFilter) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "SELECT
            tenant_id,
            id,
            action,
            resource_type,
            resource_id,
            user_id,
            old_value,
            new_value,
            metadata,
            correlation_id,
            ip_address,
            user_agent,
            created_at
        FROM audit_entries
        WHERE tenant_id = ",
    );
    query.push_bind(tenant.as_uuid());
    let correlation_id = filter.correlation_id.as_ref().map(CorrelationId::as_str);
    for (condition, text) in [
        (" AND action = ", filter.action.as_deref()),
        (" AND resource_type = ", filter.resource_type.as_deref()),
        (" AND resource_id = ", filter.resource_id.as_deref()),
        (" AND correlation_id = ", correlation_id),
    ] {
        if let Some(text) = text {
            query.push(condition).push_bind(text.to_owned());
        }
    }
    if let Some(user) = filter.user_id {
        query.push(" AND user_id = ").push_bind(user.as_uuid());
    }
    if let Some(from) = filter.from {
        // Entries stand on whole milliseconds: what begins within one leaves out the entry at its start.
        let is_whole = cut(from) == from;
        query.push(if is_whole { " AND created_at >= " } else { " AND created_at > " });
        query.push_bind(millis(from));
    }
    if let Some(until) = filter.until {
        query.push(" AND created_at <= ").push_bind(millis(until));
    }
    query
}

impl SqliteTransaction {
    pub(crate) async fn insert_audit_entries(&mut self, entries: Vec<AuditEntry>) -> Result<(), StoreError> {
        for entry in entries {
            self.insert_audit_entry(entry).await?;
        }
        Ok(())
    }

    async fn insert_audit_entry(&mut self, entry: AuditEntry) -> Result<(), StoreError> {
        let RequestContext { correlation_id, ip_address, user_agent } = entry.context;
        sqlx::query!(
            r#"
            INSERT INTO audit_entries (
                tenant_id,
                id,
                action,
                resource_type,
                resource_id,
                user_id,
                old_value,
                new_value,
                metadata,
                correlation_id,
                ip_address,
                user_agent,
                created_at
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            "#,
            self.tenant(),
            entry.id.as_uuid(),
            entry.action,
            entry.resource_type.as_str(),
            entry.resource_id,
            entry.user_id.map(UserId::as_uuid),
            entry.old_value.map(Json),
            entry.new_value.map(Json),
            Json(entry.metadata),
            correlation_id.as_ref().map(CorrelationId::as_str),
            ip_address.map(|address| address.to_string()),
            user_agent.as_ref().map(UserAgent::as_str),
            millis(entry.created_at)
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }
}
