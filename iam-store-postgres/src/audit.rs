use std::mem;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use iam_model::audit::{AuditEntry, AuditFilter, Cursor, Retention};
use iam_model::change::{AuditChange, ErasedDetails, ErasedOrigin};
use iam_model::clock::{Day, Timestamp, cut};
use iam_model::id::{AuditEntryId, TenantId};
use iam_model::store::AuditStore;
use iam_model::store_error::StoreError;
use iam_store_sql::audit::{ENTRY_COLUMNS, push_filter};
use iam_store_sql::column::integer;
use iam_store_sql::error::expect_row;
use serde_json::{Map, Value};
use sqlx::{Postgres, QueryBuilder};
use uuid::Uuid;

use crate::PostgresStore;
use crate::column::{Moment, in_range, is_storable};
use crate::error::store_error;
use crate::months::end_of_month;
use crate::transaction::PostgresTransaction;
use crate::written_entry::WrittenEntry;

pub(crate) type AuditEntryRow = iam_store_sql::audit::AuditEntryRow<Moment>;

/// The maximum number of leaves whose entries one statement deletes, so that no statement holds its locks for long.
const PURGED: i32 = 2_000;

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
        // Each part has the order of an index, so no more of it is read than the page needs. The limit is not a
        // parameter: without its value, the database would plan every page again, which takes longer than reading it.
        const ORDER: &str = " ORDER BY created_at DESC, id DESC LIMIT ";
        let select = || {
            let mut query = QueryBuilder::new("SELECT * FROM ((");
            for (table, next) in [("iam.audit_unsealed", ") UNION ALL ("), ("iam.audit_entries", ")) entry")] {
                push_select(&mut query, table, tenant.as_uuid());
                push_filter::<Self>(&mut query, filter);
                if let Some(until) = filter.until {
                    query.push(" AND e.created_at <= ").push_bind(in_range(cut(until)));
                }
                if let Some(cursor) = after {
                    let created_at = in_range(cursor.created_at);
                    // The comparison of rows below excludes no partition. This condition does. It is not a parameter
                    // for the same reason as the limit.
                    if let Some(end) = end_of_month(created_at) {
                        query.push(format_args!(" AND e.created_at < '{end} 00:00:00+00'"));
                    }
                    query.push(" AND (e.created_at, e.id) < (").push_bind(created_at);
                    query.push(", ").push_bind(cursor.id.as_uuid()).push(")");
                }
                query.push(ORDER).push(limit).push(next);
            }
            query.push(ORDER).push(limit);
            query
        };
        let rows: Vec<AuditEntryRow> = self
            .list(tenant, |source| {
                let mut query = select();
                async move { query.build_query_as().fetch_all(&source).await }
            })
            .await?;
        rows.into_iter().map(AuditEntry::try_from).collect()
    }

    async fn audit_entries_by_day(
        &self,
        tenant: TenantId,
        action: &str,
        from: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Day, u64)>, StoreError> {
        if !is_storable(action) {
            return Ok(Vec::new());
        }
        let filter = AuditFilter { action: Some(action.to_owned()), from: Some(from), ..AuditFilter::default() };
        let select = || {
            let mut query = QueryBuilder::new(
                "SELECT (n.created_at AT TIME ZONE 'UTC')::date AS day, count(*) FROM (SELECT created_at FROM (",
            );
            // Each part is a range of one index.
            for (table, next) in [("iam.audit_unsealed", " UNION ALL "), ("iam.audit_entries", "")] {
                query.push("(SELECT e.created_at FROM ").push(table);
                query.push(" e WHERE e.tenant_id = ").push_bind(tenant.as_uuid());
                push_filter::<Self>(&mut query, &filter);
                query.push(" ORDER BY e.created_at DESC LIMIT ").push(limit).push(")").push(next);
            }
            query.push(") entry ORDER BY created_at DESC LIMIT ").push(limit).push(") n GROUP BY day ORDER BY day");
            query
        };
        let rows: Vec<(Day, i64)> = self
            .list(tenant, |source| {
                let mut query = select();
                async move { query.build_query_as().fetch_all(&source).await }
            })
            .await?;
        Ok(rows.into_iter().map(|(day, count)| (day, count.unsigned_abs())).collect())
    }

    async fn audit_actors_by_week(
        &self,
        tenant: TenantId,
        action: &str,
        from: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Day, u64, u64)>, StoreError> {
        if !is_storable(action) {
            return Ok(Vec::new());
        }
        let filter = AuditFilter { action: Some(action.to_owned()), from: Some(from), ..AuditFilter::default() };
        let select = || {
            let mut query = QueryBuilder::new(
                "SELECT date_trunc('week', n.created_at AT TIME ZONE 'UTC')::date AS week, count(*), \
                 count(DISTINCT n.user_id) FROM (SELECT created_at, user_id FROM (",
            );
            // Each part is a range of one index.
            for (table, next) in [("iam.audit_unsealed", " UNION ALL "), ("iam.audit_entries", "")] {
                query.push("(SELECT e.created_at, e.user_id FROM ").push(table);
                query.push(" e WHERE e.tenant_id = ").push_bind(tenant.as_uuid());
                push_filter::<Self>(&mut query, &filter);
                query.push(" ORDER BY e.created_at DESC LIMIT ").push(limit).push(")").push(next);
            }
            query.push(") entry ORDER BY created_at DESC LIMIT ").push(limit).push(") n GROUP BY week ORDER BY week");
            query
        };
        let rows: Vec<(Day, i64, i64)> = self
            .list(tenant, |source| {
                let mut query = select();
                async move { query.build_query_as().fetch_all(&source).await }
            })
            .await?;
        let row = |(week, entries, actors): (Day, i64, i64)| (week, entries.unsigned_abs(), actors.unsigned_abs());
        Ok(rows.into_iter().map(row).collect())
    }

    // Sequenced entries have no index by their identifier. The leaf gives the time of the entry, and so the entry is
    // found by the primary key. Only an entry without a leaf is searched in the queue, which has no such index
    // either.
    async fn audit_entry(&self, tenant: TenantId, id: AuditEntryId) -> Result<Option<AuditEntry>, StoreError> {
        let (tenant, id) = (tenant.as_uuid(), id.as_uuid());
        let mut query = QueryBuilder::new("WITH leaf AS (SELECT created_at FROM iam.audit_leaves WHERE tenant_id = ");
        query.push_bind(tenant).push(" AND entry_id = ").push_bind(id).push(") ");
        push_select(&mut query, "iam.audit_entries", tenant);
        query.push(" AND e.id = ").push_bind(id).push(" AND e.created_at = (SELECT created_at FROM leaf) UNION ALL ");
        push_select(&mut query, "iam.audit_unsealed", tenant);
        query.push(" AND e.id = ").push_bind(id).push(" AND NOT EXISTS (SELECT FROM leaf)");
        let row: Option<AuditEntryRow> =
            self.answer(query.build_query_as().fetch_optional(&self.reads_of(tenant))).await?;
        row.map(AuditEntry::try_from).transpose()
    }

    async fn purge_audit_entries(&self) -> Result<u64, StoreError> {
        let mut purged = self.drop_given_up_months().await?;
        loop {
            let deleted = sqlx::query_scalar!("SELECT iam.delete_given_up_audit_entries($1)", PURGED);
            match self.answer(deleted.fetch_one(&self.writes())).await? {
                Some(deleted) => purged += deleted.unsigned_abs(),
                None => return Ok(purged),
            }
        }
    }
}

/// Selects a tenant's entries from one of the two tables.
fn push_select(query: &mut QueryBuilder<Postgres>, table: &'static str, tenant: Uuid) {
    query.push("SELECT").push(ENTRY_COLUMNS).push(" FROM ").push(table);
    query.push(" e WHERE e.tenant_id = ").push_bind(tenant);
}

impl PostgresTransaction {
    pub(crate) async fn write_audit(&mut self, change: &AuditChange) -> Result<(), StoreError> {
        match change {
            // Only their audit entries are written.
            AuditChange::Log(_)
            | AuditChange::Export(..)
            | AuditChange::ExportUser { .. }
            | AuditChange::ExportTenant { .. } => Ok(()),
            AuditChange::SetRetention { after, .. } => self.set_retention(after).await,
            AuditChange::GiveUp { until, before, .. } => {
                self.forget_past_versions(*before).await?;
                self.give_up(*until).await
            }
            AuditChange::Erase { details, origins, .. } => self.erase(details, origins).await,
        }
    }

    async fn set_retention(&mut self, retention: &Retention) -> Result<(), StoreError> {
        let integer = |days: u32| i32::try_from(days).unwrap_or(i32::MAX);
        sqlx::query!(
            r#"
            INSERT INTO iam.audit_logs (tenant_id, retention_days, pending_retention_days, pending_retention_from)
            VALUES ($1, $2, $3, $4)
            ON CONFLICT (tenant_id) DO UPDATE
            SET
                retention_days = excluded.retention_days,
                pending_retention_days = excluded.pending_retention_days,
                pending_retention_from = excluded.pending_retention_from
            "#,
            self.tenant(),
            retention.days.map(integer),
            retention.pending.map(|pending| integer(pending.days)),
            retention.pending.map(|pending| pending.from)
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn give_up(&mut self, until: u64) -> Result<(), StoreError> {
        let updated =
            sqlx::query!("UPDATE iam.audit_logs SET removed = $2 WHERE tenant_id = $1", self.tenant(), integer(until))
                .execute(self.connection())
                .await
                .map_err(store_error)?;
        expect_row(updated.rows_affected(), "audit log")
    }

    async fn erase(&mut self, details: &[ErasedDetails], origins: &[ErasedOrigin]) -> Result<(), StoreError> {
        let optional = |fields: &Option<Map<String, Value>>| fields.as_ref().map(json);
        let details_moments: Vec<DateTime<Utc>> = details.iter().map(|entry| entry.created_at).collect();
        let details_ids: Vec<Uuid> = details.iter().map(|entry| entry.id.as_uuid()).collect();
        let old_values: Vec<Option<String>> = details.iter().map(|entry| optional(&entry.old_value)).collect();
        let new_values: Vec<Option<String>> = details.iter().map(|entry| optional(&entry.new_value)).collect();
        let metadata: Vec<String> = details.iter().map(|entry| json(&entry.metadata)).collect();
        let details_commitments: Vec<Vec<u8>> = details.iter().map(|entry| entry.salt.as_bytes().to_vec()).collect();
        let origin_moments: Vec<DateTime<Utc>> = origins.iter().map(|entry| entry.created_at).collect();
        let origin_ids: Vec<Uuid> = origins.iter().map(|entry| entry.id.as_uuid()).collect();
        let origin_commitments: Vec<Vec<u8>> = origins.iter().map(|entry| entry.salt.as_bytes().to_vec()).collect();
        sqlx::query!(
            "SELECT iam.erase_audit_entries($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            self.tenant(),
            &details_moments,
            &details_ids,
            &old_values as &[Option<String>],
            &new_values as &[Option<String>],
            &metadata,
            &details_commitments,
            &origin_moments,
            &origin_ids,
            &origin_commitments
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }

    /// Writes the audit entries that no statement of the change has written.
    pub(crate) async fn write_entries(&mut self) -> Result<(), StoreError> {
        if self.entries.is_empty() || self.write_distributed_entries().await? {
            return Ok(());
        }
        let entries = mem::take(&mut self.entries);
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.audit_unsealed (
                tenant_id, id, action, resource_type, resource_id, organization_id, user_id, old_value, new_value,
                metadata, correlation_id, ip_address, user_agent, created_at, details_salt, origin_salt, digest
            )
            SELECT
                $1, id, action, resource_type, resource_id, organization_id, user_id, old_value::json, new_value::json,
                metadata::json, correlation_id, ip_address, user_agent, created_at, details_salt, origin_salt, digest
            FROM unnest($2::iam.written_audit_entry[])
            "#,
            self.tenant(),
            entries as Vec<WrittenEntry>
        );
        insert.execute(self.connection()).await.map(drop).map_err(store_error)
    }
}

/// Returns fields as the JSON text that is stored.
fn json(fields: &Map<String, Value>) -> String {
    Value::Object(fields.clone()).to_string()
}
