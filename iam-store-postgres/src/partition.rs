//! The partitions of the audit log: one for each month.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Datelike as _, Months, NaiveDate, Utc};
use iam_core::StoreError;

use crate::PostgresStore;
use crate::error::store_error;

/// How many months are prepared in addition to the present one.
const AHEAD: u32 = 3;

/// The months, by their first days, whose partitions are known to exist. So not every sequencing round has to ask the
/// database.
#[derive(Debug, Default)]
pub(crate) struct KnownMonths(Mutex<BTreeSet<NaiveDate>>);

impl KnownMonths {
    fn unknown(&self, moments: impl IntoIterator<Item = DateTime<Utc>>) -> BTreeSet<NaiveDate> {
        let known = self.lock();
        moments.into_iter().map(month).filter(|month| !known.contains(month)).collect()
    }

    fn remember(&self, month: NaiveDate) {
        self.lock().insert(month);
    }

    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<NaiveDate>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn month(moment: DateTime<Utc>) -> NaiveDate {
    let day = moment.date_naive();
    day.with_day(1).unwrap_or(day)
}

/// Returns the first day after the month of a moment. `None` if it is after the year 9999, because no stored moment
/// is.
pub(crate) fn end_of_month(moment: DateTime<Utc>) -> Option<NaiveDate> {
    month(moment).checked_add_months(Months::new(1)).filter(|end| end.year() <= 9999)
}

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
            self.answer(make.execute(&self.source())).await?;
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
        for month in self.answer(months.fetch_all(&self.source())).await? {
            // The statement reads all entries of the month.
            let mut transaction = self.begin_unbounded().await?;
            let entries = sqlx::query_scalar!("SELECT iam.drop_given_up_audit_month($1)", month);
            let entries = entries.fetch_one(&mut *transaction).await.map_err(store_error)?;
            transaction.commit().await.map_err(store_error)?;
            if let Some(entries) = entries {
                self.months.forget();
                dropped += entries.unsigned_abs();
            }
        }
        Ok(dropped)
    }
}
