//! The partitions of the audit log: one for each month.

use chrono::{DateTime, Months, Utc};
use iam_model::store_error::StoreError;

use crate::error::store_error;
use crate::store::PostgresStore;

/// How many months are prepared in addition to the present one.
const AHEAD: u32 = 3;

impl PostgresStore {
    /// Makes the partitions of this month and of the next [`AHEAD`] months.
    pub(crate) async fn make_months(&self, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.make_months_of((0..=AHEAD).filter_map(|ahead| now.checked_add_months(Months::new(ahead)))).await
    }

    /// Makes the partitions of the months of these moments, unless they are known to exist.
    pub(crate) async fn make_months_of(
        &self,
        moments: impl IntoIterator<Item = DateTime<Utc>>,
    ) -> Result<(), StoreError> {
        for month in self.months.unknown(moments) {
            let make = sqlx::query!("SELECT iam.make_audit_month($1)", month);
            self.answer(make.execute(&self.writes())).await?;
            self.months.remember(month);
        }
        Ok(())
    }

    /// Drops the partitions in which retention has marked every entry for removal. Returns how many entries they had.
    pub(crate) async fn drop_given_up_months(&self) -> Result<u64, StoreError> {
        let months = sqlx::query_scalar!(
            r#"
            SELECT to_date(right(c.relname, 7), 'YYYY_MM') AS "month!"
            FROM pg_inherits i
            JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = 'iam.audit_entries'::regclass
            ORDER BY c.relname
            "#
        );
        let mut dropped = 0;
        // Each in its own transaction: the lock for dropping a partition must not be held while the next one is
        // checked.
        for month in self.answer(months.fetch_all(&self.reads())).await? {
            // The statement reads all entries of the month.
            let mut transaction = self.begin_unbounded().await?;
            let entries = sqlx::query_scalar!("SELECT iam.drop_given_up_audit_month($1)", month);
            let entries = entries.fetch_one(&mut transaction).await.map_err(store_error)?;
            transaction.commit().await.map_err(store_error)?;
            if let Some(entries) = entries {
                self.months.forget();
                dropped += entries.unsigned_abs();
            }
        }
        Ok(dropped)
    }
}
