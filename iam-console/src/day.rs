//! Days that a person types. They are days in UTC.

use chrono::{Days, NaiveDate, NaiveTime};
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
