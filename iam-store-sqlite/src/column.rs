//! Columns as the values that they stand for.

use std::fmt::Display;
use std::str::FromStr;

use iam_core::StoreError;
use iam_core::clock::Timestamp;

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

/// The moment that a number of milliseconds since 1970 stands for.
pub(crate) fn moment(column: &'static str, millis: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_timestamp_millis(millis).ok_or_else(|| StoreError::corrupt(column, "is out of range"))
}

/// The same where there may be none.
pub(crate) fn moment_optional(column: &'static str, millis: Option<i64>) -> Result<Option<Timestamp>, StoreError> {
    millis.map(|millis| moment(column, millis)).transpose()
}

/// The number that stands for a moment.
pub(crate) fn millis(moment: Timestamp) -> i64 {
    moment.timestamp_millis()
}

/// A key or a hash of 32 bytes.
pub(crate) fn bytes_32(column: &'static str, bytes: &[u8]) -> Result<[u8; 32], StoreError> {
    bytes.try_into().map_err(|cause| StoreError::corrupt(column, cause))
}

/// A number of things as the database counts; there is nothing beyond.
pub(crate) fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The number of things that a column counts.
pub(crate) fn counted(column: &'static str, number: i64) -> Result<u64, StoreError> {
    number.try_into().map_err(|cause| StoreError::corrupt(column, cause))
}
