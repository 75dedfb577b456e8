//! Timestamps as JSON shows them: UTC with a `Z`, to the millisecond (`decisions.md` §1).

use std::fmt;

use chrono::{NaiveDate, NaiveTime, SecondsFormat, TimeDelta};
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
    match date(text) {
        Some(day) => Ok(day),
        None => moment(text),
    }
}

/// Returns the last moment of a date (the end of the UTC day), or the given moment itself.
pub(crate) fn end_of(text: &str) -> Result<Timestamp, String> {
    match date(text) {
        Some(day) => Ok(day + (TimeDelta::days(1) - TimeDelta::milliseconds(1))),
        None => moment(text),
    }
}

/// Returns the start of the UTC day `YYYY-MM-DD`. The contract does not allow longer years, which chrono also reads.
fn date(text: &str) -> Option<Timestamp> {
    let day = text.parse::<NaiveDate>().ok().filter(|_| text.len() == "YYYY-MM-DD".len())?;
    Some(day.and_time(NaiveTime::MIN).and_utc())
}

pub(crate) fn moment(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| "must be an ISO 8601 date or timestamp with a time zone".to_owned())
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
        assert!(start_of("31.1.2026").is_err());
        assert!(start_of("2026-01-31T10:00:00").is_err());
    }
}
