use async_trait::async_trait;
use iam_model::audit::{AuditEntry, AuditFilter, Cursor, Retention};
use iam_model::change::{AuditChange, ErasedDetails, ErasedOrigin};
use iam_model::clock::{Day, Timestamp};
use iam_model::context::RequestContext;
use iam_model::id::{AuditEntryId, OrganizationId, TenantId, UserId};
use iam_model::store::AuditStore;
use iam_model::store_error::StoreError;
use iam_store_sql::audit::{ENTRY_COLUMNS, push_filter};
use iam_store_sql::column::{integer, parse};
use iam_store_sql::error::expect_row;
use sqlx::types::Json;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};
use uuid::Uuid;

use crate::SqliteStore;
use crate::bulk::{CHUNK, execute};
use crate::column::millis;
use crate::error::store_error;
use crate::store::push_limit;
use crate::transaction::SqliteTransaction;

pub(crate) type AuditEntryRow = iam_store_sql::audit::AuditEntryRow<i64>;

/// The maximum number of entries that one transaction removes, so that other writers do not wait for long.
const PURGED_AT_ONCE: i64 = 500;

#[async_trait]
impl AuditStore for SqliteStore {
    async fn audit_entries(
        &self,
        tenant: TenantId,
        filter: &AuditFilter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let mut query = listed(tenant, filter, after, limit);
        let rows: Vec<AuditEntryRow> = self.answer(query.build_query_as().fetch_all(&self.reads_of(tenant))).await?;
        rows.into_iter().map(AuditEntry::try_from).collect()
    }

    async fn audit_entries_by_day(
        &self,
        tenant: TenantId,
        action: &str,
        from: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Day, u64)>, StoreError> {
        let mut query = counted(tenant, action, from, limit);
        let rows: Vec<(String, i64)> = self.answer(query.build_query_as().fetch_all(&self.reads_of(tenant))).await?;
        rows.into_iter()
            .map(|(day, count)| Ok((parse("audit_entries.created_at", &day)?, count.unsigned_abs())))
            .collect()
    }

    async fn audit_actors_by_week(
        &self,
        tenant: TenantId,
        action: &str,
        from: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Day, u64, u64)>, StoreError> {
        let mut query = counted_actors(tenant, action, from, limit);
        let rows: Vec<(String, i64, i64)> =
            self.answer(query.build_query_as().fetch_all(&self.reads_of(tenant))).await?;
        let row = |(week, entries, actors): (String, i64, i64)| -> Result<(Day, u64, u64), StoreError> {
            Ok((parse("audit_entries.created_at", &week)?, entries.unsigned_abs(), actors.unsigned_abs()))
        };
        rows.into_iter().map(row).collect()
    }

    async fn audit_entry(&self, tenant: TenantId, id: AuditEntryId) -> Result<Option<AuditEntry>, StoreError> {
        let mut query = by_id();
        let query = query.build_query_as::<AuditEntryRow>().bind(tenant.as_uuid()).bind(id.as_uuid());
        self.answer(query.fetch_optional(&self.reads_of(tenant))).await?.map(AuditEntry::try_from).transpose()
    }

    async fn purge_audit_entries(&self) -> Result<u64, StoreError> {
        let logs = sqlx::query!("SELECT tenant_id, purged, removed FROM audit_logs WHERE purged < removed");
        let mut gone = 0;
        for log in self.answer(logs.fetch_all(&self.reads())).await? {
            let mut from = log.purged;
            while from < log.removed {
                let until = log.removed.min(from + PURGED_AT_ONCE);
                gone += self.purge(log.tenant_id, from, until).await?;
                from = until;
            }
        }
        Ok(gone)
    }
}

impl SqliteStore {
    /// Removes the entries with the sequence numbers from `from` to before `until`, unless another process has done so.
    async fn purge(&self, tenant: Uuid, from: i64, until: i64) -> Result<u64, StoreError> {
        let mut transaction = self.writer.begin().await.map_err(store_error)?;
        let deleted = sqlx::query!(
            r#"
            DELETE FROM audit_entries
            WHERE rowid IN (
                SELECT e.rowid
                FROM audit_leaves l
                CROSS JOIN audit_entries e
                    ON e.tenant_id = l.tenant_id AND e.created_at = l.created_at AND e.id = l.entry_id
                WHERE l.tenant_id = ?1 AND l.sequence >= ?2 AND l.sequence < ?3
            )
            "#,
            tenant,
            from,
            until
        );
        let deleted = deleted.execute(&mut transaction).await.map_err(store_error)?;
        sqlx::query!("UPDATE audit_logs SET purged = ?2 WHERE tenant_id = ?1 AND purged < ?2", tenant, until)
            .execute(&mut transaction)
            .await
            .map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        Ok(deleted.rows_affected())
    }
}

/// Selects the entry with the second parameter as its identifier, in the tenant of the first parameter. Its leaf, or
/// its row in the queue, gives its time, and so the entry is found by the primary key.
fn by_id() -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("SELECT");
    query.push(ENTRY_COLUMNS).push(
        "
        FROM audit_entries e
        WHERE e.tenant_id = ?1
            AND e.id = ?2
            AND e.created_at IN (
                SELECT l.created_at FROM audit_leaves l WHERE l.tenant_id = ?1 AND l.entry_id = ?2
                UNION ALL
                SELECT u.created_at FROM audit_unsealed u WHERE u.tenant_id = ?1 AND u.id = ?2
            )
        ",
    );
    query
}

/// Counts the newest entries with an action by their days.
fn counted(tenant: TenantId, action: &str, from: Timestamp, limit: u32) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "SELECT date(n.created_at / 1000.0, 'unixepoch') AS day, count(*) FROM (
            SELECT e.created_at FROM audit_entries e WHERE e.tenant_id = ",
    );
    query.push_bind(tenant.as_uuid());
    let filter = AuditFilter { action: Some(action.to_owned()), from: Some(from), ..AuditFilter::default() };
    push_filter::<SqliteStore>(&mut query, &filter);
    query.push(" ORDER BY e.created_at DESC");
    push_limit(&mut query, limit);
    query.push(") n GROUP BY day ORDER BY day");
    query
}

/// Counts the newest entries with an action, and their actors, by their weeks. From a day, SQLite goes on to the next
/// Sunday, if it is none, and back to the Monday before.
fn counted_actors(tenant: TenantId, action: &str, from: Timestamp, limit: u32) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "SELECT date(n.created_at / 1000.0, 'unixepoch', 'weekday 0', '-6 days') AS week, count(*), \
         count(DISTINCT n.user_id) FROM (SELECT e.created_at, e.user_id FROM audit_entries e WHERE e.tenant_id = ",
    );
    query.push_bind(tenant.as_uuid());
    let filter = AuditFilter { action: Some(action.to_owned()), from: Some(from), ..AuditFilter::default() };
    push_filter::<SqliteStore>(&mut query, &filter);
    query.push(" ORDER BY e.created_at DESC");
    push_limit(&mut query, limit);
    query.push(") n GROUP BY week ORDER BY week");
    query
}

/// Selects a page of the entries that match a filter.
fn listed(tenant: TenantId, filter: &AuditFilter, after: Option<Cursor>, limit: u32) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new("SELECT");
    query.push(ENTRY_COLUMNS).push(" FROM audit_entries e WHERE e.tenant_id = ").push_bind(tenant.as_uuid());
    push_filter::<SqliteStore>(&mut query, filter);
    // With two upper bounds, SQLite would search by one of them, and read all rows between the two. So the statement
    // has only the lower one.
    match (after, filter.until) {
        (Some(cursor), until) if until.is_none_or(|until| cursor.created_at <= until) => {
            query.push(" AND (e.created_at, e.id) < (").push_bind(millis(cursor.created_at));
            query.push(", ").push_bind(cursor.id.as_uuid()).push(")");
        }
        (_, Some(until)) => {
            query.push(" AND e.created_at <= ").push_bind(millis(until));
        }
        (_, None) => {}
    }
    query.push(" ORDER BY e.created_at DESC, e.id DESC");
    push_limit(&mut query, limit);
    query
}

impl SqliteTransaction {
    /// Writes entries, and puts them into the queue of pending entries.
    pub(crate) async fn insert_audit_entries(&mut self, entries: &[AuditEntry]) -> Result<(), StoreError> {
        for chunk in entries.chunks(CHUNK) {
            let mut insert = insert_entries(self.tenant(), chunk);
            execute(&mut insert, chunk.len(), self.connection()).await?;
        }
        Ok(())
    }

    pub(crate) async fn write_audit(&mut self, change: &AuditChange) -> Result<(), StoreError> {
        match change {
            // Only their audit entries are written.
            AuditChange::Log(_)
            | AuditChange::Export(..)
            | AuditChange::ExportUser { .. }
            | AuditChange::ExportTenant { .. } => Ok(()),
            AuditChange::SetRetention { after, .. } => self.update_retention(after).await,
            AuditChange::GiveUp { until, before, .. } => {
                self.forget_past_versions(*before).await?;
                self.update_removed(*until).await
            }
            AuditChange::Erase { details, origins, .. } => self.erase(details, origins).await,
        }
    }

    async fn update_retention(&mut self, retention: &Retention) -> Result<(), StoreError> {
        insert_log(self.tenant(), self.connection()).await?;
        let updated = sqlx::query!(
            r#"
            UPDATE audit_logs
            SET
                retention_days = ?2,
                pending_retention_days = ?3,
                pending_retention_from = ?4
            WHERE tenant_id = ?1
            "#,
            self.tenant(),
            retention.days,
            retention.pending.map(|pending| pending.days),
            retention.pending.map(|pending| millis(pending.from))
        );
        updated.execute(self.connection()).await.map_err(store_error)?;
        Ok(())
    }

    async fn update_removed(&mut self, until: u64) -> Result<(), StoreError> {
        let until = integer(until);
        let updated = sqlx::query!("UPDATE audit_logs SET removed = ?2 WHERE tenant_id = ?1", self.tenant(), until);
        let updated = updated.execute(self.connection()).await.map_err(store_error)?;
        expect_row(updated.rows_affected(), "audit log")
    }

    async fn erase(&mut self, details: &[ErasedDetails], origins: &[ErasedOrigin]) -> Result<(), StoreError> {
        self.erases = true;
        for erased in details {
            self.erase_details(erased).await?;
        }
        for erased in origins {
            self.erase_origin(erased).await?;
        }
        Ok(())
    }

    async fn erase_details(&mut self, erased: &ErasedDetails) -> Result<(), StoreError> {
        self.insert_erasure(erased.created_at, erased.id).await?;
        let updated = sqlx::query!(
            r#"
            UPDATE audit_entries
            SET
                old_value = ?4,
                new_value = ?5,
                metadata = ?6,
                details_salt = ?7
            WHERE tenant_id = ?1 AND created_at = ?2 AND id = ?3
            "#,
            self.tenant(),
            millis(erased.created_at),
            erased.id.as_uuid(),
            erased.old_value.as_ref().map(Json),
            erased.new_value.as_ref().map(Json),
            Json(&erased.metadata),
            erased.salt.as_bytes()
        );
        updated.execute(self.connection()).await.map_err(store_error)?;
        Ok(())
    }

    async fn erase_origin(&mut self, erased: &ErasedOrigin) -> Result<(), StoreError> {
        self.insert_erasure(erased.created_at, erased.id).await?;
        let updated = sqlx::query!(
            r#"
            UPDATE audit_entries
            SET
                ip_address = NULL,
                user_agent = NULL,
                origin_salt = ?4
            WHERE tenant_id = ?1 AND created_at = ?2 AND id = ?3
            "#,
            self.tenant(),
            millis(erased.created_at),
            erased.id.as_uuid(),
            erased.salt.as_bytes()
        );
        updated.execute(self.connection()).await.map_err(store_error)?;
        Ok(())
    }

    /// Records that an entry is erased. Without this record, the triggers refuse every change of the entry.
    async fn insert_erasure(&mut self, created_at: Timestamp, id: AuditEntryId) -> Result<(), StoreError> {
        let inserted = sqlx::query!(
            "INSERT INTO audit_erasures (tenant_id, created_at, id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            self.tenant(),
            millis(created_at),
            id.as_uuid()
        );
        inserted.execute(self.connection()).await.map_err(store_error)?;
        Ok(())
    }
}

/// Inserts entries, and puts them into the queue of pending entries.
fn insert_entries(tenant: Uuid, entries: &[AuditEntry]) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(
        "INSERT INTO audit_entries (
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
        ) ",
    );
    query.push_values(entries, |mut row, entry| {
        let RequestContext { correlation_id, ip_address, user_agent } = &entry.context;
        row.push_bind(tenant)
            .push_bind(entry.id.as_uuid())
            .push_bind(entry.action.clone().into_owned())
            .push_bind(entry.resource_type.as_str().to_owned())
            .push_bind(entry.resource_id.clone())
            .push_bind(entry.organization_id.map(OrganizationId::as_uuid))
            .push_bind(entry.user_id.map(UserId::as_uuid))
            .push_bind(entry.old_value.clone().map(Json))
            .push_bind(entry.new_value.clone().map(Json))
            .push_bind(Json(entry.metadata.clone()))
            .push_bind(correlation_id.as_ref().map(ToString::to_string))
            .push_bind(ip_address.map(|address| address.to_string()))
            .push_bind(user_agent.as_ref().map(|agent| agent.as_str().to_owned()))
            .push_bind(millis(entry.created_at))
            .push_bind(entry.salts.details.as_bytes().to_vec())
            .push_bind(entry.salts.origin.as_bytes().to_vec());
    });
    query.push("; INSERT INTO audit_unsealed (tenant_id, created_at, id, digest) ");
    query.push_values(entries, |mut row, entry| {
        row.push_bind(tenant)
            .push_bind(millis(entry.created_at))
            .push_bind(entry.id.as_uuid())
            .push_bind(entry.digest().0.to_vec());
    });
    query
}

/// Inserts the row of a tenant's log, if there is none yet.
pub(crate) async fn insert_log(tenant: Uuid, connection: &mut SqliteConnection) -> Result<(), StoreError> {
    // Not ON CONFLICT: the trigger fires before it, and would refuse the insert.
    let inserted = sqlx::query!(
        r#"
        INSERT INTO audit_logs (tenant_id)
        SELECT ?1
        WHERE NOT EXISTS (SELECT 1 FROM audit_logs g WHERE g.tenant_id = ?1)
        "#,
        tenant
    );
    inserted.execute(connection).await.map_err(store_error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{assert_list, assert_plan};

    /// Entries are counted from the index alone.
    #[tokio::test]
    async fn a_count_by_day_is_a_range_of_one_index() {
        let first =
            "SEARCH e USING COVERING INDEX audit_entries_action_idx (tenant_id=? AND action=? AND created_at>?)";
        assert_list(counted(TenantId::NONE, "LOGIN", Timestamp::UNIX_EPOCH, 50), first, false).await;
    }

    /// The actors are in the rows of the entries.
    #[tokio::test]
    async fn a_count_of_actors_by_week_is_a_range_of_one_index() {
        let first = "SEARCH e USING INDEX audit_entries_action_idx (tenant_id=? AND action=? AND created_at>?)";
        assert_list(counted_actors(TenantId::NONE, "LOGIN", Timestamp::UNIX_EPOCH, 50), first, false).await;
    }

    /// Each filter alone, with the index of its pages, and its condition in the index.
    fn single_filters() -> [(&'static str, &'static str, AuditFilter); 7] {
        let (text, id, plain) = (|| Some("X".to_owned()), Uuid::nil, AuditFilter::default);
        [
            ("sqlite_autoindex_audit_entries_1", "", plain()),
            ("audit_entries_action_idx", " AND action=?", AuditFilter { action: text(), ..plain() }),
            (
                "audit_entries_resource_type_idx",
                " AND resource_type=?",
                AuditFilter { resource_type: text(), ..plain() },
            ),
            ("audit_entries_resource_idx", " AND resource_id=?", AuditFilter { resource_id: text(), ..plain() }),
            (
                "audit_entries_organization_idx",
                " AND organization_id=?",
                AuditFilter { organization_id: Some(id().into()), ..plain() },
            ),
            ("audit_entries_user_idx", " AND user_id=?", AuditFilter { user_id: Some(id().into()), ..plain() }),
            (
                "audit_entries_correlation_idx",
                " AND correlation_id=?",
                AuditFilter { correlation_id: "x".parse().ok(), ..plain() },
            ),
        ]
    }

    /// No row is sorted, and no row is read that is not on the page.
    #[tokio::test]
    async fn a_page_of_any_single_filter_is_a_range_of_one_index() {
        let (tenant, moment) = (TenantId::NONE, Timestamp::UNIX_EPOCH);
        let cursor = Some(Cursor { created_at: moment, id: Uuid::nil().into() });
        for (index, column, filter) in single_filters() {
            let key = format!("SEARCH e USING INDEX {index} (tenant_id=?{column}");
            let between = AuditFilter { from: Some(moment), until: Some(moment), ..filter.clone() };
            for (filter, after, range) in [
                (&filter, None, ""),
                (&filter, cursor, " AND (created_at,id)<(?,?)"),
                (&between, None, " AND created_at>? AND created_at<?"),
                (&between, cursor, " AND created_at>? AND (created_at,id)<(?,?)"),
            ] {
                assert_plan(listed(tenant, filter, after, 50), &[&format!("{key}{range})")]).await;
            }
        }
    }

    #[tokio::test]
    async fn an_entry_is_found_by_its_identifier_through_its_leaf_or_the_queue() {
        let expected = [
            "SEARCH e USING INDEX sqlite_autoindex_audit_entries_1 (tenant_id=? AND created_at=? AND id=?)",
            "SEARCH l USING INDEX sqlite_autoindex_audit_leaves_2 (tenant_id=? AND entry_id=?)",
            "SEARCH u USING PRIMARY KEY (tenant_id=?)",
        ];
        assert_plan(by_id(), &expected).await;
    }
}
