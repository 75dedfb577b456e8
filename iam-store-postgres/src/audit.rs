use std::mem;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use iam_model::audit::{AuditEntry, AuditFilter, Cursor, Retention};
use iam_model::change::{AuditChange, ErasedDetails, ErasedOrigin};
use iam_model::clock::cut;
use iam_model::context::CorrelationId;
use iam_model::id::{AuditEntryId, OrganizationId, TenantId, UserId};
use iam_model::store::AuditStore;
use iam_model::store_error::StoreError;
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

/// Executes a statement of a change. If the change has exactly one audit entry, the same statement writes the entry,
/// which saves a round trip.
///
/// The first parameter of the statement is the tenant. The literal `$entry` names the parameter after the last one.
/// If the change also writes into another table, that statement comes first, after `with`.
macro_rules! execute_audited {
    ($transaction:expr, $entry:literal, $(with $other:literal,)? $statement:literal, $($argument:expr),+) => {{
        let executed = if let Some(entry) = $transaction.take_only_entry() {
            let query = $crate::audit::insert_entries!(
                "SELECT (" + $entry + "::iam.written_audit_entry).*",
                $(", " + $other +)? $statement,
                $($argument,)+
                entry as $crate::written_entry::WrittenEntry
            );
            query.execute($transaction.connection()).await
        } else {
            sqlx::query!($("WITH " + $other +)? $statement, $($argument),+).execute($transaction.connection()).await
        };
        executed.map_err($crate::error::store_error)
    }};
}
pub(crate) use execute_audited;

/// Writes the entries that a literal selects into the queue of pending entries, and executes a statement.
macro_rules! insert_entries {
    ($entries:literal $(+ $more:literal)*, $statement:literal $(+ $rest:literal)*, $($arguments:tt)+) => {
        sqlx::query!(
            r#"
            WITH written AS (
                INSERT INTO iam.audit_unsealed (
                    tenant_id,
                    id,
                    action,
                    resource_type,
                    resource_id,
                    organization_id,
                    user_id,
                    old_value,
                    new_value,
                    metadata,
                    correlation_id,
                    ip_address,
                    user_agent,
                    created_at,
                    details_salt,
                    origin_salt,
                    digest
                )
                SELECT
                    $1,
                    id,
                    action,
                    resource_type,
                    resource_id,
                    organization_id,
                    user_id,
                    old_value::json,
                    new_value::json,
                    metadata::json,
                    correlation_id,
                    ip_address,
                    user_agent,
                    created_at,
                    details_salt,
                    origin_salt,
                    digest
                FROM ("# + $entries $(+ $more)* + r#") entry
            )
            "# + $statement $(+ $rest)*,
            $($arguments)+
        )
    };
}
pub(crate) use insert_entries;

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
        let mut query = QueryBuilder::new("SELECT * FROM ((");
        for (table, next) in [("iam.audit_unsealed", ") UNION ALL ("), ("iam.audit_entries", ")) entry")] {
            push_filtered(&mut query, table, tenant, filter);
            if let Some(cursor) = after {
                let created_at = in_range(cursor.created_at);
                // The comparison of rows below excludes no partition. This condition does. It is not a parameter for
                // the same reason as the limit.
                if let Some(end) = end_of_month(created_at) {
                    query.push(format_args!(" AND created_at < '{end} 00:00:00+00'"));
                }
                query.push(" AND (created_at, id) < (").push_bind(created_at);
                query.push(", ").push_bind(cursor.id.as_uuid()).push(")");
            }
            query.push(ORDER).push(limit).push(next);
        }
        query.push(ORDER).push(limit);
        let rows: Vec<AuditEntryRow> = self.answer(query.build_query_as().fetch_all(&self.source())).await?;
        rows.into_iter().map(AuditEntry::try_from).collect()
    }

    // Sequenced entries have no index by their identifier. The leaf gives the time of the entry, and so the entry is
    // found by the primary key. Only an entry without a leaf is searched in the queue, which has no such index
    // either.
    async fn audit_entry(&self, tenant: TenantId, id: AuditEntryId) -> Result<Option<AuditEntry>, StoreError> {
        let (tenant, id) = (tenant.as_uuid(), id.as_uuid());
        let mut query = QueryBuilder::new("WITH leaf AS (SELECT created_at FROM iam.audit_leaves WHERE tenant_id = ");
        query.push_bind(tenant).push(" AND entry_id = ").push_bind(id).push(") ");
        push_select(&mut query, "iam.audit_entries", tenant);
        query.push(" AND id = ").push_bind(id).push(" AND created_at = (SELECT created_at FROM leaf) UNION ALL ");
        push_select(&mut query, "iam.audit_unsealed", tenant);
        query.push(" AND id = ").push_bind(id).push(" AND NOT EXISTS (SELECT FROM leaf)");
        let row: Option<AuditEntryRow> = self.answer(query.build_query_as().fetch_optional(&self.source())).await?;
        row.map(AuditEntry::try_from).transpose()
    }

    async fn purge_audit_entries(&self) -> Result<u64, StoreError> {
        let mut purged = self.drop_given_up_months().await?;
        loop {
            let deleted = sqlx::query_scalar!("SELECT iam.delete_given_up_audit_entries($1)", PURGED);
            match self.answer(deleted.fetch_one(&self.source())).await? {
                Some(deleted) => purged += deleted.unsigned_abs(),
                None => return Ok(purged),
            }
        }
    }
}

/// Selects a tenant's entries from a table.
///
/// These statements are built at run time, because their conditions vary from call to call, and there are two tables.
/// Only text of this file is pushed. All values from outside are bound.
fn push_select(query: &mut QueryBuilder<Postgres>, table: &'static str, tenant: Uuid) {
    query.push(
        "SELECT
            tenant_id,
            id,
            action,
            resource_type,
            resource_id,
            organization_id,
            user_id,
            old_value,
            new_value,
            metadata,
            correlation_id,
            ip_address,
            user_agent,
            created_at,
            details_salt,
            origin_salt
        FROM ",
    );
    query.push(table).push(" WHERE tenant_id = ").push_bind(tenant);
}

/// Selects the entries of a table that match a filter.
fn push_filtered(query: &mut QueryBuilder<Postgres>, table: &'static str, tenant: TenantId, filter: &AuditFilter) {
    push_select(query, table, tenant.as_uuid());
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
    for (condition, id) in [
        (" AND organization_id = ", filter.organization_id.map(OrganizationId::as_uuid)),
        (" AND user_id = ", filter.user_id.map(UserId::as_uuid)),
    ] {
        if let Some(id) = id {
            query.push(condition).push_bind(id);
        }
    }
    if let Some(from) = filter.from {
        // Entries have whole milliseconds. A filter that begins within a millisecond excludes the entry at its start.
        let is_whole = cut(from) == from;
        query.push(if is_whole { " AND created_at >= " } else { " AND created_at > " });
        query.push_bind(in_range(cut(from)));
    }
    if let Some(until) = filter.until {
        query.push(" AND created_at <= ").push_bind(in_range(cut(until)));
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_audit(&mut self, change: &AuditChange) -> Result<(), StoreError> {
        match change {
            // Only their audit entries are written.
            AuditChange::Log(_) | AuditChange::Export(..) => Ok(()),
            AuditChange::SetRetention { after, .. } => self.set_retention(after).await,
            AuditChange::GiveUp { until, .. } => self.give_up(*until).await,
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

    /// Takes the audit entry of the change that is being written, if there is exactly one. The statement of the
    /// change then writes it.
    pub(crate) fn take_only_entry(&mut self) -> Option<WrittenEntry> {
        if self.entries.len() == 1 { self.entries.pop() } else { None }
    }

    /// Writes the audit entries that no statement of the change has written.
    pub(crate) async fn write_entries(&mut self) -> Result<(), StoreError> {
        if self.entries.len() == 1 {
            execute_audited!(self, "$2", "SELECT WHERE $1::uuid IS NOT NULL", self.tenant())?;
        }
        let entries = mem::take(&mut self.entries);
        if !entries.is_empty() {
            let query = insert_entries!(
                "SELECT * FROM unnest($2::iam.written_audit_entry[])",
                "SELECT WHERE $1::uuid IS NOT NULL",
                self.tenant(),
                entries as Vec<WrittenEntry>
            );
            query.execute(self.connection()).await.map_err(store_error)?;
        }
        Ok(())
    }
}

/// Returns fields as the JSON text that is stored.
fn json(fields: &Map<String, Value>) -> String {
    Value::Object(fields.clone()).to_string()
}
