//! Converts columns to values and back.

use iam_model::clock::Timestamp;

/// Converts a moment to milliseconds since 1970.
pub(crate) fn millis(moment: Timestamp) -> i64 {
    moment.timestamp_millis()
}
