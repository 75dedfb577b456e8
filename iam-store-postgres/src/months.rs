use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Datelike as _, Months, NaiveDate, Utc};

/// The months, by their first days, whose partitions are known to exist. So not every sequencing round has to ask the
/// database.
#[derive(Debug, Default)]
pub(crate) struct KnownMonths(Mutex<BTreeSet<NaiveDate>>);

impl KnownMonths {
    pub(crate) fn unknown(&self, moments: impl IntoIterator<Item = DateTime<Utc>>) -> BTreeSet<NaiveDate> {
        let known = self.lock();
        moments.into_iter().map(month).filter(|month| !known.contains(month)).collect()
    }

    pub(crate) fn remember(&self, month: NaiveDate) {
        self.lock().insert(month);
    }

    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, BTreeSet<NaiveDate>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn month(moment: DateTime<Utc>) -> NaiveDate {
    let day = moment.date_naive();
    day.with_day(1).unwrap_or(day)
}

/// Returns the first day after the month of a moment. `None` if it is after the year 9999, because no stored moment
/// is.
pub(crate) fn end_of_month(moment: DateTime<Utc>) -> Option<NaiveDate> {
    month(moment).checked_add_months(Months::new(1)).filter(|end| end.year() <= 9999)
}
