use async_trait::async_trait;
use chrono::{DateTime, Utc};
use iam_core::audit::{AuditEntry, AuditFilter, AuditStore, Cursor};
use iam_core::clock::cut;
use iam_core::{CorrelationId, RequestContext, StoreError, TenantId, UserAgent, UserId};
use serde_json::{Map, Value};
use sqlx::types::Json;
use sqlx::{FromRow, Postgres, QueryBuilder};
use uuid::Uuid;

use crate::PostgresStore;
use crate::column::{in_range, is_storable, parse_optional};
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

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
    created_at: DateTime<Utc>,
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
            created_at: row.created_at,
        })
    }
}

#[async_trait]
impl AuditStore for PostgresStore {
    async fn audit_entries(
        &self,
        tenant: TenantId,
        filter: &AuditFilter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let mut texts = [&filter.action, &filter.resource_type, &filter.resource_id].into_iter().flatten();
        if !texts.all(|text| is_storable(text)) {
            return Ok(Vec::new());
        }
        let mut query = filtered(tenant, filter);
        if let Some(cursor) = after {
            query.push(" AND (created_at, id) < (").push_bind(in_range(cursor.created_at));
            query.push(", ").push_bind(cursor.id.as_uuid()).push(")");
        }
        query.push(" ORDER BY created_at DESC, id DESC LIMIT ").push_bind(i64::from(limit));
        let rows: Vec<AuditEntryRow> = query.build_query_as().fetch_all(&self.pool).await.map_err(store_error)?;
        rows.into_iter().map(AuditEntry::try_from).collect()
    }
}

/// Selects the entries that pass a filter.
///
/// It is built at run time, because which conditions there are varies from call to call. What is pushed is text of this
/// file alone; whatever came from outside is bound.
fn filtered(tenant: TenantId, filter: &AuditFilter) -> QueryBuilder<Postgres> {
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
        FROM iam.audit_entries
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
        query.push_bind(in_range(cut(from)));
    }
    if let Some(until) = filter.until {
        query.push(" AND created_at <= ").push_bind(in_range(cut(until)));
    }
    query
}

impl PostgresTransaction {
    /// Writes entries by one statement, however many there are.
    pub(crate) async fn insert_audit_entries(&mut self, entries: Vec<AuditEntry>) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        let columns = Columns::from_iter(entries);
        sqlx::query!(
            r#"
            INSERT INTO iam.audit_entries (
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
            SELECT $1, *
            FROM unnest(
                $2::uuid[],
                $3::text[],
                $4::text[],
                $5::text[],
                $6::uuid[],
                $7::jsonb[],
                $8::jsonb[],
                $9::jsonb[],
                $10::text[],
                $11::text[],
                $12::text[],
                $13::timestamptz[]
            )
            "#,
            self.tenant(),
            &columns.id,
            &columns.action,
            &columns.resource_type,
            &columns.resource_id as &[Option<String>],
            &columns.user_id as &[Option<Uuid>],
            &columns.old_value as &[Option<Fields>],
            &columns.new_value as &[Option<Fields>],
            &columns.metadata as &[Fields],
            &columns.correlation_id as &[Option<String>],
            &columns.ip_address as &[Option<String>],
            &columns.user_agent as &[Option<String>],
            &columns.created_at
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }
}

/// Entries, turned from rows to columns.
#[derive(Default)]
struct Columns {
    id: Vec<Uuid>,
    action: Vec<String>,
    resource_type: Vec<String>,
    resource_id: Vec<Option<String>>,
    user_id: Vec<Option<Uuid>>,
    old_value: Vec<Option<Fields>>,
    new_value: Vec<Option<Fields>>,
    metadata: Vec<Fields>,
    correlation_id: Vec<Option<String>>,
    ip_address: Vec<Option<String>>,
    user_agent: Vec<Option<String>>,
    created_at: Vec<DateTime<Utc>>,
}

impl FromIterator<AuditEntry> for Columns {
    fn from_iter<I: IntoIterator<Item = AuditEntry>>(entries: I) -> Self {
        let mut columns = Self::default();
        for entry in entries {
            let RequestContext { correlation_id, ip_address, user_agent } = entry.context;
            columns.id.push(entry.id.as_uuid());
            columns.action.push(entry.action.into_owned());
            columns.resource_type.push(entry.resource_type.as_str().to_owned());
            columns.resource_id.push(entry.resource_id);
            columns.user_id.push(entry.user_id.map(UserId::as_uuid));
            columns.old_value.push(entry.old_value.map(Json));
            columns.new_value.push(entry.new_value.map(Json));
            columns.metadata.push(Json(entry.metadata));
            columns.correlation_id.push(correlation_id.map(|id| id.as_str().to_owned()));
            columns.ip_address.push(ip_address.map(|address| address.to_string()));
            columns.user_agent.push(user_agent.map(|agent| agent.as_str().to_owned()));
            columns.created_at.push(entry.created_at);
        }
        columns
    }
}
