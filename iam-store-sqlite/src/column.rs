//! Converts columns to values and back.

use std::fmt::Display;
use std::str::FromStr;

use iam_model::clock::Timestamp;
use iam_model::store_error::StoreError;

/// Parses a text column.
pub(crate) fn parse<T>(column: &'static str, text: &str) -> Result<T, StoreError>
where
    T: FromStr,
    T::Err: Display,
{
    text.parse().map_err(|cause| StoreError::corrupt(column, cause))
}

/// Parses a text column that may be NULL.
pub(crate) fn parse_optional<T>(column: &'static str, text: Option<&str>) -> Result<Option<T>, StoreError>
where
    T: FromStr,
    T::Err: Display,
{
    text.map(|text| parse(column, text)).transpose()
}

/// Converts a column of milliseconds since 1970 to a moment.
pub(crate) fn moment(column: &'static str, millis: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_timestamp_millis(millis).ok_or_else(|| StoreError::corrupt(column, "is out of range"))
}

/// Converts a column of milliseconds since 1970, which may be NULL, to a moment.
pub(crate) fn moment_optional(column: &'static str, millis: Option<i64>) -> Result<Option<Timestamp>, StoreError> {
    millis.map(|millis| moment(column, millis)).transpose()
}

/// Converts a moment to milliseconds since 1970.
pub(crate) fn millis(moment: Timestamp) -> i64 {
    moment.timestamp_millis()
}

/// Converts a column of 32 bytes: a key or a hash.
pub(crate) fn bytes_32(column: &'static str, bytes: &[u8]) -> Result<[u8; 32], StoreError> {
    bytes.try_into().map_err(|cause| StoreError::corrupt(column, cause))
}

/// Converts a number to an `INTEGER`. A number that is too large becomes the largest one, which no row has.
pub(crate) fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a column that contains a count.
pub(crate) fn counted(column: &'static str, number: i64) -> Result<u64, StoreError> {
    number.try_into().map_err(|cause| StoreError::corrupt(column, cause))
}
