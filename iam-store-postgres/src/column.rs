//! Columns as the values that they stand for.

use std::fmt::Display;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use iam_core::StoreError;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgTypeInfo, PgValueRef};
use sqlx::{Decode, Postgres, Type};

/// The value that a text stands for.
pub(crate) fn parse<T>(column: &'static str, text: &str) -> Result<T, StoreError>
where
    T: FromStr,
    T::Err: Display,
{
    text.parse().map_err(|cause| StoreError::corrupt(column, cause))
}

/// The same where there may be none.
pub(crate) fn parse_optional<T>(column: &'static str, text: Option<&str>) -> Result<Option<T>, StoreError>
where
    T: FromStr,
    T::Err: Display,
{
    text.map(|text| parse(column, text)).transpose()
}

/// A key or a hash of 32 bytes.
pub(crate) fn bytes_32(column: &'static str, bytes: &[u8]) -> Result<[u8; 32], StoreError> {
    bytes.try_into().map_err(|cause| StoreError::corrupt(column, cause))
}

/// A number as PostgreSQL holds it. What is beyond is not there.
pub(crate) fn bigint(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Whether PostgreSQL can hold a text. It refuses every statement with a NUL inside, so a search for one is answered
/// without it: nothing that is stored has one.
pub(crate) fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}

/// PostgreSQL refuses moments before 4713 BC, and nothing that is stored happened or expired before 1970 anyway.
pub(crate) fn in_range(moment: DateTime<Utc>) -> DateTime<Utc> {
    moment.max(DateTime::UNIX_EPOCH)
}

/// A moment in a row that somebody else may have written. PostgreSQL also has an infinite one, at which sqlx panics.
#[derive(Clone, Copy)]
pub(crate) struct Moment(pub(crate) DateTime<Utc>);

impl Type<Postgres> for Moment {
    fn type_info() -> PgTypeInfo {
        <DateTime<Utc> as Type<Postgres>>::type_info()
    }
}

impl<'r> Decode<'r, Postgres> for Moment {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        /// The start of 2000, from which PostgreSQL counts.
        const START: i64 = 946_684_800_000_000;
        let micros =
            <i64 as Decode<Postgres>>::decode(value)?.checked_add(START).and_then(DateTime::from_timestamp_micros);
        micros.map(Self).ok_or_else(|| "it is no moment".into())
    }
}
