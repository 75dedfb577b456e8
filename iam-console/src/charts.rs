//! The events of the last days, as a picture made on the server.

use askama::Template;
use chrono::Days;
use iam_core::audit::DayCounts;
use iam_core::clock::Day;
use iam_core::{Caller, Error, Iam};

use crate::english;
use crate::problem::if_allowed;

/// How many days the picture shows, with the present one.
const DAYS: u64 = 14;

/// The picture of the logins and the failures of each day.
#[derive(Template)]
#[template(path = "activity.html")]
pub(crate) struct Activity {
    days: Vec<DayBars>,
    /// The highest count, which the picture names beside its highest bar.
    highest: u64,
    /// Whether there are too many entries to count all of them.
    is_cut: bool,
}

#[derive(Debug)]
struct DayBars {
    date: Day,
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
    /// Counts the entries of the audit log. `None` if the caller may not read it.
    pub(crate) async fn read(iam: &Iam, caller: &Caller) -> Result<Option<Self>, Error> {
        let today = iam.now().date_naive();
        let first = today.checked_sub_days(Days::new(DAYS - 1)).unwrap_or(today);
        let Some(logins) = if_allowed(iam.audit().count_by_day(caller, "LOGIN", first).await)? else {
            return Ok(None);
        };
        let failures = iam.audit().count_by_day(caller, "LOGIN_FAILURE", first).await?;
        Ok(Some(Self::of(first, &logins, &failures)))
    }

    fn of(first: Day, logins: &DayCounts, failures: &DayCounts) -> Self {
        let dates: Vec<Day> = first.iter_days().take(DAYS as usize).collect();
        let all = dates.iter().flat_map(|date| [logins.on(*date), failures.on(*date)]);
        let highest = all.flatten().max().unwrap_or(0);
        let days = dates.into_iter().map(|date| DayBars {
            date,
            logins: Bar::of(logins.on(date), highest),
            failures: Bar::of(failures.on(date), highest),
        });
        Self { days: days.collect(), highest, is_cut: logins.first_whole.max(failures.first_whole) > first }
    }

    fn width(&self) -> usize {
        self.days.len() * WIDTH
    }

    fn left(&self, index: &usize) -> usize {
        index * WIDTH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_counts_and_an_unknown_count_has_none() {
        let bars = [None, Some(4), Some(1), Some(0)].map(|count| Bar::of(count, 4));
        let bar = |count, height| Bar { count, height };
        assert_eq!(bars, [bar(None, 0), bar(Some(4), 100), bar(Some(1), 25), bar(Some(0), 0)]);
        assert_eq!(Bar::of(Some(0), 0), bar(Some(0), 0));
    }
}
