//! The charts of the overview, as pictures made on the server. The overview loads them after itself: to count may take
//! a moment in a large tenant.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::get;
use chrono::Days;
use iam_axum::{Kind, Problem};
use iam_core::audit::DayCounts;
use iam_core::clock::{Day, week_of};
use iam_core::factor::PeopleWithFactor;
use iam_core::{Caller, Error, Iam};

use crate::problem::{if_allowed, is_for_part};
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Frame, page};

/// How many days and weeks the charts show, with the present one.
const DAYS: u64 = 28;
const WEEKS: u64 = 12;

/// The width of a picture, and the height of its highest bar.
const WIDTH: u64 = 560;
const HEIGHT: u64 = 100;

/// The space beside the bars of a day or a week.
const GAP: u64 = 2;

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/charts", get(show))
}

/// The charts that the caller may see.
#[derive(Template)]
#[template(path = "charts.html")]
struct Charts {
    bars: Vec<BarChart>,
    /// `None` if the caller may not see all users.
    share: Option<Share>,
}

/// The same as a page, for browsers without scripts.
#[derive(Template)]
#[template(path = "charts-page.html")]
struct ChartsPage {
    frame: Frame,
    charts: Charts,
}

/// Numbers of days or weeks, as bars.
#[derive(Template)]
#[template(path = "chart.html")]
struct BarChart {
    id: &'static str,
    title: &'static str,
    /// What the days are that it shows.
    unit: &'static str,
    series: Vec<Series>,
    columns: Vec<Column>,
    /// The highest number, which the picture names beside its highest bar.
    highest: u64,
    /// Whether there are too many entries to count all of them.
    is_cut: bool,
}

/// What the bars of one colour count.
#[derive(Clone, Copy)]
struct Series {
    class: &'static str,
    label: &'static str,
}

/// The bars of a day or a week.
struct Column {
    day: Day,
    left: u64,
    width: u64,
    /// The text below the bars. Not each column has one: there is no room.
    label: Option<String>,
    middle: u64,
    /// What it shows, in words.
    said: String,
    bars: Vec<Bar>,
}

/// A number. `None` if not all entries were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bar {
    class: &'static str,
    count: Option<u64>,
    left: u64,
    width: u64,
    top: u64,
    height: u64,
}

/// Returns the height of the bar of a number.
fn height_of(count: Option<u64>, highest: u64) -> u64 {
    count.unwrap_or(0).saturating_mul(HEIGHT).div_ceil(highest.max(1))
}

impl BarChart {
    /// Places the bars. Each row has a day, or the first one of a week, and a number for each series. One of so many
    /// columns gets a label.
    fn with_rows(self, rows: Vec<(Day, Vec<Option<u64>>)>, labelled: u64) -> Self {
        let highest = rows.iter().flat_map(|(_, counts)| counts.iter().flatten()).copied().max().unwrap_or(0);
        let column_width = WIDTH / (rows.len() as u64).max(1);
        let bar_width = column_width.saturating_sub(2 * GAP) / (self.series.len() as u64).max(1);
        let columns = rows.into_iter().zip(0_u64..).map(|((day, counts), number)| {
            let labels = self.series.iter().map(|series| series.label).zip(counts.iter().copied());
            let said = text::counted_on(day, labels);
            let bars = self.series.iter().zip(counts).zip(0_u64..).map(|((series, count), place)| {
                let height = height_of(count, highest);
                let (class, left) = (series.class, GAP + bar_width * place);
                Bar { class, count, left, width: bar_width, top: HEIGHT.saturating_sub(height), height }
            });
            Column {
                day,
                left: column_width * number,
                width: column_width,
                label: number.is_multiple_of(labelled).then(|| text::short_day(day)),
                middle: column_width / 2,
                said,
                bars: bars.collect(),
            }
        });
        let columns = columns.collect();
        Self { columns, highest, ..self }
    }

    /// The sign-ins and the failed attempts of each day.
    fn of_sign_ins(first: Day, logins: &DayCounts, failures: &DayCounts) -> Self {
        let days = first.iter_days().take(DAYS as usize);
        let rows = days.map(|day| (day, vec![logins.on(day), failures.on(day)])).collect();
        let chart = Self {
            id: "sign-ins",
            title: text::t("sign-ins-by-day"),
            unit: text::t("day"),
            series: vec![
                Series { class: "good", label: text::t("sign-ins") },
                Series { class: "bad", label: text::t("failures") },
            ],
            columns: Vec::new(),
            highest: 0,
            is_cut: logins.first_whole.max(failures.first_whole) > first,
        };
        chart.with_rows(rows, 7)
    }

    /// Counts the entries of the audit log. Returns nothing if the caller may not read it.
    async fn read(iam: &Iam, caller: &Caller) -> Result<Vec<Self>, Error> {
        let today = iam.now().date_naive();
        let first = today.checked_sub_days(Days::new(DAYS - 1)).unwrap_or(today);
        let Some(logins) = if_allowed(iam.audit().count_by_day(caller, "LOGIN", first).await)? else {
            return Ok(Vec::new());
        };
        let failures = iam.audit().count_by_day(caller, "LOGIN_FAILURE", first).await?;
        let first_week = today.checked_sub_days(Days::new(7 * (WEEKS - 1))).unwrap_or(today);
        let people = iam.audit().count_actors_by_week(caller, "LOGIN", first_week).await?;
        let monday = week_of(first_week);
        let weeks = (0..WEEKS).filter_map(|number| monday.checked_add_days(Days::new(7 * number)));
        let rows = weeks.map(|week| (week, vec![people.in_week_of(week)])).collect();
        let by_week = Self {
            id: "people",
            title: text::t("people-by-week"),
            unit: text::t("week-from"),
            series: vec![Series { class: "good", label: text::t("people") }],
            columns: Vec::new(),
            highest: 0,
            is_cut: people.first_whole > monday,
        };
        Ok(vec![Self::of_sign_ins(first, &logins, &failures), by_week.with_rows(rows, 3)])
    }
}

/// How many of the active people have a second factor.
struct Share {
    /// The share in percent; `None` if not all who have one were counted.
    percent: Option<u64>,
    /// The share in words.
    said: String,
    /// The width of the part of the bar for those who have one.
    filled: u64,
    /// The rows of the table.
    rows: [(&'static str, String); 2],
}

impl Share {
    fn of(counted: PeopleWithFactor) -> Self {
        let PeopleWithFactor { people, with_factor, .. } = counted;
        let without = counted.without_factor();
        let part_of = |whole: u64| with_factor.min(people).saturating_mul(whole) / people.max(1);
        let with = if without.is_some() { with_factor.to_string() } else { text::at_least(with_factor) };
        Self {
            percent: without.map(|_| part_of(100)),
            said: text::have_a_factor(&with, people),
            filled: part_of(WIDTH),
            rows: [
                (text::t("with-factor"), with),
                (
                    text::t("without-factor"),
                    without.map_or_else(|| text::t("unknown-number").to_owned(), |it| it.to_string()),
                ),
            ],
        }
    }
}

impl Charts {
    /// Returns `None` if the caller may see none of them.
    async fn read(iam: &Iam, caller: &Caller) -> Result<Option<Self>, Error> {
        let bars = BarChart::read(iam, caller).await?;
        let share = if_allowed(iam.factors().count_people(caller).await)?.map(Share::of);
        Ok((!bars.is_empty() || share.is_some()).then_some(Self { bars, share }))
    }
}

async fn show(State(console): State<Console>, signed_in: SignedIn, headers: HeaderMap) -> Result<Response, Problem> {
    let charts = Charts::read(&console.iam, &signed_in.caller).await?;
    let charts = charts.ok_or_else(|| Problem::new(Kind::Forbidden).detail(text::t("no-charts")))?;
    if is_for_part(&headers) {
        return page(StatusCode::OK, &charts);
    }
    let frame = signed_in.frame(&console).await?;
    page(StatusCode::OK, &ChartsPage { frame, charts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_counts_and_an_unknown_count_has_none() {
        assert_eq!([None, Some(4), Some(1), Some(0)].map(|count| height_of(count, 4)), [0, 100, 25, 0]);
        assert_eq!(height_of(Some(0), 0), 0);
    }
}
