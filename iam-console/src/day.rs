//! Days that a person types. They are days in UTC.

use chrono::{Days, NaiveDate, NaiveTime, TimeDelta};
use iam_core::Error;
use iam_core::clock::Timestamp;

use crate::text;

/// Returns the first moment after the day in a field. `None` if the field is empty.
pub(crate) fn end_of_day(field: &str, typed: Option<String>) -> Result<Option<Timestamp>, Error> {
    let Some(typed) = typed else { return Ok(None) };
    let next = typed.parse::<NaiveDate>().ok().and_then(|day| day.checked_add_days(Days::new(1)));
    let next = next.ok_or_else(|| Error::field(field, text::t("must-be-day")))?;
    Ok(Some(next.and_time(NaiveTime::MIN).and_utc()))
}

/// Returns the first moment of the day in a filter. `None` if the text is empty.
pub(crate) fn first_moment(field: &str, text: &str) -> Result<Option<Timestamp>, Error> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let day: NaiveDate = text.parse().map_err(|_| Error::field(field, text::t("must-be-day")))?;
    Ok(Some(day.and_time(NaiveTime::MIN).and_utc()))
}

/// Returns the last moment of the day in a filter. `None` if the text is empty.
pub(crate) fn last_moment(field: &str, text: &str) -> Result<Option<Timestamp>, Error> {
    Ok(first_moment(field, text)?.map(|first| first + (TimeDelta::days(1) - TimeDelta::milliseconds(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_day_is_included() {
        let day = "2026-01-31";
        let text = |moment: Result<Option<Timestamp>, Error>| moment.unwrap().unwrap().to_rfc3339();
        assert_eq!(text(first_moment("from", day)), "2026-01-31T00:00:00+00:00");
        assert_eq!(text(last_moment("until", day)), "2026-01-31T23:59:59.999+00:00");
        assert!(first_moment("from", " ").unwrap().is_none() && last_moment("until", "tomorrow").is_err());
    }
}
