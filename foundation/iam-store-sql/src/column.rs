//! Converts columns to values and back.

use std::fmt::Display;
use std::str::FromStr;

use iam_model::clock::Timestamp;
use iam_model::factor::GraceDays;
use iam_model::store_error::StoreError;
use iam_model::validate::StoredText;
use sqlx::types::Json;

/// A moment as one database stores it.
pub trait StoredMoment {
    /// Converts the value of a column to a moment.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] when the value is not a moment.
    fn moment(self, column: &'static str) -> Result<Timestamp, StoreError>;
}

impl StoredMoment for Timestamp {
    fn moment(self, _column: &'static str) -> Result<Timestamp, StoreError> {
        Ok(self)
    }
}

/// Milliseconds since 1970.
impl StoredMoment for i64 {
    fn moment(self, column: &'static str) -> Result<Timestamp, StoreError> {
        Timestamp::from_timestamp_millis(self).ok_or_else(|| StoreError::corrupt(column, "is out of range"))
    }
}

/// A list of moments as one database stores it.
pub trait StoredMoments {
    /// Converts the value of a column to moments.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] when one of them is not a moment.
    fn moments(self, column: &'static str) -> Result<Vec<Timestamp>, StoreError>;
}

impl<T: StoredMoment> StoredMoments for Vec<T> {
    fn moments(self, column: &'static str) -> Result<Vec<Timestamp>, StoreError> {
        self.into_iter().map(|stored| stored.moment(column)).collect()
    }
}

impl<T: StoredMoment> StoredMoments for Json<Vec<T>> {
    fn moments(self, column: &'static str) -> Result<Vec<Timestamp>, StoreError> {
        self.0.moments(column)
    }
}

/// Converts a column to a moment.
///
/// # Errors
///
/// [`StoreError::Corrupt`] when the value is not a moment.
pub fn moment<T: StoredMoment>(column: &'static str, stored: T) -> Result<Timestamp, StoreError> {
    stored.moment(column)
}

/// Converts a column that may be NULL to a moment.
///
/// # Errors
///
/// [`StoreError::Corrupt`] when the value is not a moment.
pub fn moment_optional<T: StoredMoment>(
    column: &'static str,
    stored: Option<T>,
) -> Result<Option<Timestamp>, StoreError> {
    stored.map(|stored| stored.moment(column)).transpose()
}

/// A list of texts as one database stores it.
pub trait StoredTexts {
    /// Returns the texts.
    fn texts(&self) -> &[String];
}

impl StoredTexts for Vec<String> {
    fn texts(&self) -> &[String] {
        self
    }
}

impl StoredTexts for Json<Vec<String>> {
    fn texts(&self) -> &[String] {
        &self.0
    }
}

/// Parses a text column.
///
/// # Errors
///
/// [`StoreError::Corrupt`] when the text is not valid.
pub fn parse<T>(column: &'static str, text: impl AsRef<str>) -> Result<T, StoreError>
where
    T: FromStr,
    T::Err: Display,
{
    text.as_ref().parse().map_err(|cause| StoreError::corrupt(column, cause))
}

/// Parses a text column that may be NULL.
///
/// # Errors
///
/// [`StoreError::Corrupt`] when the text is not valid.
pub fn parse_optional<T>(column: &'static str, text: Option<&str>) -> Result<Option<T>, StoreError>
where
    T: FromStr,
    T::Err: Display,
{
    text.map(|text| parse(column, text)).transpose()
}

/// Converts a text column that is not checked again: texts that an earlier release accepted can still be read.
///
/// # Errors
///
/// None. The result is that of the other conversions.
pub fn text<T: StoredText>(_column: &'static str, text: impl Into<String>) -> Result<T, StoreError> {
    Ok(T::stored(text.into()))
}

/// Converts a column of 32 bytes: a key or a hash.
///
/// # Errors
///
/// [`StoreError::Corrupt`] when the column has another length.
pub fn bytes_32(column: &'static str, bytes: &[u8]) -> Result<[u8; 32], StoreError> {
    bytes.try_into().map_err(|cause| StoreError::corrupt(column, cause))
}

/// Converts a column that contains a count.
///
/// # Errors
///
/// [`StoreError::Corrupt`] when the number is negative.
pub fn counted(column: &'static str, number: i64) -> Result<u64, StoreError> {
    number.try_into().map_err(|cause| StoreError::corrupt(column, cause))
}

/// Converts a column that contains a number of a smaller type.
///
/// # Errors
///
/// [`StoreError::Corrupt`] when the number is out of the range of the type.
pub fn smaller<T>(column: &'static str, number: i64) -> Result<T, StoreError>
where
    T: TryFrom<i64>,
    T::Error: Display,
{
    number.try_into().map_err(|cause| StoreError::corrupt(column, cause))
}

/// Converts a column that contains the days of a grace.
///
/// # Errors
///
/// [`StoreError::Corrupt`] when there are more or fewer days than allowed.
pub fn grace_days(column: &'static str, days: i64) -> Result<GraceDays, StoreError> {
    days.try_into().map_err(|cause| StoreError::corrupt(column, cause))
}

/// Converts a stored count, which may be wrong, and even negative, if rows were changed without the triggers.
#[must_use]
pub fn not_negative(count: i64) -> u64 {
    count.try_into().unwrap_or_default()
}

/// Converts a number to a 64-bit integer column. A number that is too large becomes the largest one, which no row has.
#[must_use]
pub fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
