//! Timestamps as JSON shows them: UTC with a `Z`, to the millisecond (`docs/http-api.md#paths`).

use std::fmt;

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveTime, SecondsFormat, TimeDelta};
use iam_core::clock::Timestamp;
use serde::{Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AnyOfBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

/// A moment in UTC, with millisecond precision.
#[derive(Clone, Copy, Debug, ToSchema)]
#[schema(value_type = String, format = DateTime, example = "2026-01-31T09:15:00.123Z")]
pub(crate) struct Time(pub(crate) Timestamp);

impl Time {
    fn text(self) -> String {
        self.0.to_rfc3339_opts(SecondsFormat::Millis, true)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

/// A date or a moment, for the description of parameters.
pub(crate) struct DateOrMoment;

// Not derived, because that would give `oneOf`, whose schemas must exclude each other.
impl PartialSchema for DateOrMoment {
    fn schema() -> RefOr<Schema> {
        let text =
            |format| ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(format)));
        let either = AnyOfBuilder::new().item(text(KnownFormat::Date)).item(text(KnownFormat::DateTime));
        either.description(Some("A date or a moment.")).into()
    }
}

impl ToSchema for DateOrMoment {}

/// Returns the first moment of a date (the start of the UTC day), or the given moment itself.
pub(crate) fn start_of(text: &str) -> Result<Timestamp, String> {
    date(text).or_else(|| parsed(text)).ok_or_else(date_or_moment)
}

/// Returns the last moment of a date (the end of the UTC day), or the given moment itself.
pub(crate) fn end_of(text: &str) -> Result<Timestamp, String> {
    let last = |day| day + (TimeDelta::days(1) - TimeDelta::milliseconds(1));
    date(text).map(last).or_else(|| parsed(text)).ok_or_else(date_or_moment)
}

/// Returns the start of the UTC day `YYYY-MM-DD`. The contract does not allow longer years, which chrono also reads.
fn date(text: &str) -> Option<Timestamp> {
    let day = text.parse::<NaiveDate>().ok().filter(|_| text.len() == "YYYY-MM-DD".len())?;
    Some(day.and_time(NaiveTime::MIN).and_utc())
}

fn date_or_moment() -> String {
    "must be a date such as 2026-01-31, or a time of RFC 3339 such as 2026-01-31T09:15:00Z".to_owned()
}

/// Returns the moment of a time of RFC 3339.
pub(crate) fn moment(text: &str) -> Result<Timestamp, String> {
    parsed(text).ok_or_else(|| "must be a time of RFC 3339 such as 2026-01-31T09:15:00Z".to_owned())
}

fn parsed(text: &str) -> Option<Timestamp> {
    // chrono also accepts a space or an underscore between date and time.
    let has_separator = text.as_bytes().get("YYYY-MM-DD".len()).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'T'));
    let moment = DateTime::parse_from_rfc3339(text).ok().filter(|_| has_separator)?.to_utc();
    // A leap second becomes the next second, as in the databases.
    let whole = DateTime::from_timestamp(moment.timestamp(), 0)?;
    let moment = whole.checked_add_signed(TimeDelta::nanoseconds(moment.timestamp_subsec_nanos().into()))?;
    // The offset may lead into a year that has no text.
    (0..=9999).contains(&moment.year()).then_some(moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_stands_for_its_whole_utc_day() {
        let shown = |moment: Timestamp| serde_json::to_string(&Time(moment)).unwrap();
        assert_eq!(shown(start_of("2026-01-31").unwrap()), r#""2026-01-31T00:00:00.000Z""#);
        assert_eq!(shown(end_of("2026-01-31").unwrap()), r#""2026-01-31T23:59:59.999Z""#);
        assert_eq!(shown(end_of("2026-01-31T10:00:00+01:00").unwrap()), r#""2026-01-31T09:00:00.000Z""#);
        assert!(end_of("9999-12-31").is_ok());
        assert!(end_of("+262142-12-31").is_err());
        for other in ["31.1.2026", "2026-01-31T10:00:00", "2026-1-31", ""] {
            assert!(start_of(other).unwrap_err().contains("2026-01-31T09:15:00Z"), "{other}");
        }
    }

    #[test]
    fn a_time_is_one_of_rfc_3339_with_any_offset() {
        let shown = |text: &str| moment(text).map(|moment| Time(moment).text());
        for (text, utc) in [
            ("2026-01-31T09:15:00Z", "2026-01-31T09:15:00.000Z"),
            ("2026-01-31t09:15:00.5z", "2026-01-31T09:15:00.500Z"),
            ("2026-01-31T09:15:00.123456789+05:45", "2026-01-31T03:30:00.123Z"),
            ("2026-01-31T09:15:00-23:59", "2026-02-01T09:14:00.000Z"),
            ("2026-01-31T09:15:00-00:00", "2026-01-31T09:15:00.000Z"),
            ("2026-06-30T23:59:60Z", "2026-07-01T00:00:00.000Z"),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(utc), "{text}");
        }
        for other in [
            "2026-01-31 09:15:00Z",
            "2026-01-31T09:15:00",
            "2026-01-31T09:15Z",
            "2026-01-31T09:15:00+0100",
            "2026-01-31T09:15:00 Z",
            "2026-02-30T09:15:00Z",
            "2026-01-31",
            "20260131T091500Z",
            "2026-W05-6T09:15:00Z",
            "+12026-01-31T09:15:00Z",
            "9999-12-31T23:59:59-01:00",
            "0000-01-01T00:00:00+01:00",
            "Sat, 31 Jan 2026 09:15:00 GMT",
            "1769850900",
            "tomorrow",
            "",
        ] {
            assert!(shown(other).unwrap_err().contains("2026-01-31T09:15:00Z"), "{other}");
        }
    }
}
