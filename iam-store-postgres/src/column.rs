//! Converts columns to values and back.

use chrono::{DateTime, Utc};
use iam_model::access::Until;
use iam_model::store_error::StoreError;
use iam_store_sql::column::{StoredMoment, moment_optional};
use serde::{Deserialize, Deserializer};
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgTypeInfo, PgValueRef};
use sqlx::{Decode, Postgres, Type};

/// Whether PostgreSQL can store a text. It refuses every statement with a NUL character inside. No stored text has
/// one, so a search for one is answered without a query.
pub(crate) fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}

/// Returns the moment, or the start of 1970 if that is later: PostgreSQL refuses moments before 4713 BC, and no
/// stored moment is before 1970.
pub(crate) fn in_range(moment: DateTime<Utc>) -> DateTime<Utc> {
    moment.max(DateTime::UNIX_EPOCH)
}

/// Returns the latest end in the rows that a query found: `until` is `None` without a row, and has no moment if
/// something of it never ends.
pub(crate) fn latest_end(
    column: &'static str,
    until: Option<Option<DateTime<Utc>>>,
) -> Result<Option<Until>, StoreError> {
    let until = until.map(|until| moment_optional(column, until));
    Ok(until.transpose()?.map(Until::from))
}

/// A moment in a row that another program may have written. PostgreSQL also has infinite moments, at which sqlx
/// panics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(pub(crate) DateTime<Utc>);

impl Type<Postgres> for Moment {
    fn type_info() -> PgTypeInfo {
        <DateTime<Utc> as Type<Postgres>>::type_info()
    }
}

impl<'r> Decode<'r, Postgres> for Moment {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        /// The start of the year 2000 in microseconds since 1970. PostgreSQL counts from there.
        const START: i64 = 946_684_800_000_000;
        let micros =
            <i64 as Decode<Postgres>>::decode(value)?.checked_add(START).and_then(DateTime::from_timestamp_micros);
        micros.map(Self).ok_or_else(|| "it is not a valid moment".into())
    }
}

/// In JSON, PostgreSQL writes a year after 9999 without the sign that ISO 8601 requires.
impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut text = String::deserialize(from)?;
        if text.find('-').is_some_and(|year| year > "9999".len()) {
            text.insert(0, '+');
        }
        text.parse().map(Self).map_err(serde::de::Error::custom)
    }
}

impl StoredMoment for Moment {
    fn moment(self, _column: &'static str) -> Result<DateTime<Utc>, StoreError> {
        Ok(self.0)
    }
}
