//! What happened in the last days, as a picture made on the server.

use std::collections::BTreeMap;

use askama::Template;
use chrono::{Days, NaiveDate, NaiveTime};
use iam_core::audit::{AuditFilter, AuditPage};
use iam_core::clock::Timestamp;
use iam_core::{Caller, Error, Iam};

use crate::english;

/// How many days the picture shows, with the present one.
const DAYS: u64 = 14;

/// How many entries of each kind are counted at most: the page must not become slow in a busy tenant.
const MAX_PAGES: usize = 10;
const LIMIT: u32 = 100;

/// The picture of the logins and the failures of each day.
#[derive(Template)]
#[template(path = "activity.html")]
pub(crate) struct Activity {
    days: Vec<Day>,
    /// Whether there are too many entries to count all of them.
    is_cut: bool,
}

#[derive(Debug)]
struct Day {
    date: NaiveDate,
    logins: Bar,
    failures: Bar,
}

/// A count. `None` if not all entries of the day were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bar {
    count: Option<u64>,
    /// The height in the picture, from 0 to [`HEIGHT`].
    height: u64,
}

/// The height of the highest bar, and the width of a day.
const HEIGHT: u64 = 100;
const WIDTH: usize = 40;

impl Bar {
    fn of(count: Option<u64>, highest: u64) -> Self {
        Self { count, height: count.unwrap_or(0).saturating_mul(HEIGHT).div_ceil(highest.max(1)) }
    }

    fn top(&self) -> u64 {
        HEIGHT.saturating_sub(self.height)
    }
}

impl Activity {
    /// Counts what the audit log has. `None` if the caller may not read it.
    pub(crate) async fn read(iam: &Iam, caller: &Caller) -> Result<Option<Self>, Error> {
        let today = iam.now().date_naive();
        let first = today.checked_sub_days(Days::new(DAYS - 1)).unwrap_or(today);
        let logins = match Counts::read(iam, caller, "LOGIN", first).await {
            Err(Error::Forbidden(_)) => return Ok(None),
            counts => counts?,
        };
        let failures = Counts::read(iam, caller, "LOGIN_FAILURE", first).await?;
        Ok(Some(Self::of(first, &logins, &failures)))
    }

    fn of(first: NaiveDate, logins: &Counts, failures: &Counts) -> Self {
        let dates: Vec<NaiveDate> = first.iter_days().take(DAYS as usize).collect();
        let all = dates.iter().flat_map(|date| [logins.on(*date), failures.on(*date)]);
        let highest = all.flatten().max().unwrap_or(0);
        let days = dates.into_iter().map(|date| Day {
            date,
            logins: Bar::of(logins.on(date), highest),
            failures: Bar::of(failures.on(date), highest),
        });
        Self { days: days.collect(), is_cut: logins.incomplete_until.or(failures.incomplete_until).is_some() }
    }

    fn width(&self) -> usize {
        self.days.len() * WIDTH
    }

    fn left(&self, index: &usize) -> usize {
        index * WIDTH
    }
}

/// The number of entries of each day.
#[derive(Default)]
struct Counts {
    days: BTreeMap<NaiveDate, u64>,
    /// The newest day of which not all entries were counted.
    incomplete_until: Option<NaiveDate>,
}

impl Counts {
    async fn read(iam: &Iam, caller: &Caller, action: &str, first: NaiveDate) -> Result<Self, Error> {
        let from: Timestamp = first.and_time(NaiveTime::MIN).and_utc();
        let (mut counts, mut cursor) = (Self::default(), None);
        for _ in 0..MAX_PAGES {
            let filter = AuditFilter { action: Some(action.to_owned()), from: Some(from), ..AuditFilter::default() };
            let AuditPage { entries, next, .. } = iam.audit().list(caller, filter, cursor, LIMIT).await?;
            let oldest = entries.last().map(|entry| entry.created_at.date_naive());
            for entry in entries {
                *counts.days.entry(entry.created_at.date_naive()).or_default() += 1;
            }
            cursor = next;
            if cursor.is_none() {
                return Ok(counts);
            }
            counts.incomplete_until = oldest;
        }
        Ok(counts)
    }

    fn on(&self, date: NaiveDate) -> Option<u64> {
        if self.incomplete_until.is_some_and(|until| date <= until) {
            return None;
        }
        Some(self.days.get(&date).copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn bars_are_as_high_as_their_counts_and_a_day_that_is_not_counted_has_none() {
        let logins = Counts {
            days: [(day("2026-01-02"), 4), (day("2026-01-03"), 1)].into(),
            incomplete_until: Some(day("2026-01-01")),
        };
        let activity = Activity::of(day("2026-01-01"), &logins, &Counts::default());
        let bars: Vec<Bar> = activity.days.iter().map(|day| day.logins).take(4).collect();
        let bar = |count, height| Bar { count, height };
        assert_eq!(bars, [bar(None, 0), bar(Some(4), 100), bar(Some(1), 25), bar(Some(0), 0)]);
        assert_eq!(activity.days.len(), 14);
        assert!(activity.is_cut);
    }
}
