//! The months of the audit log: each has a partition of its own.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Datelike as _, Months, NaiveDate, Utc};
use iam_core::StoreError;

use crate::PostgresStore;
use crate::error::store_error;

/// How many months are prepared beside the present one.
const AHEAD: u32 = 3;

/// Months, by their first days, whose partitions are known to be there, so that not every round of sealing has to ask.
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

/// When the month of a moment is over, unless nothing that is stored can be later.
pub(crate) fn end_of_month(moment: DateTime<Utc>) -> Option<NaiveDate> {
    month(moment).checked_add_months(Months::new(1)).filter(|end| end.year() <= 9999)
}

impl PostgresStore {
    /// Makes the partitions of this month and the next ones.
    pub(crate) async fn make_months(&self, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.make_months_of((0..=AHEAD).filter_map(|ahead| now.checked_add_months(Months::new(ahead)))).await
    }

    /// Makes the partitions of the months of these moments, unless they are known to be there.
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

    /// Drops the partitions in which every entry is given up; tells how many entries went with them.
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
        // Each by itself: the lock that dropping one takes must not last while the next is looked at.
        for month in self.answer(months.fetch_all(&self.source())).await? {
            // All entries of the month are looked at.
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
