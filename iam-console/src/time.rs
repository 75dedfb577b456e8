//! Moments in pages: in UTC, which a script shows in the time zone of the person.

use std::fmt;

use askama::filters::HtmlSafe;
use chrono::SecondsFormat;
use iam_core::clock::Timestamp;

/// Shows a moment as an element of HTML.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time(Timestamp);

impl Time {
    pub(crate) fn at(moment: &Timestamp) -> Self {
        Self(*moment)
    }
}

/// The text consists of digits and of characters that have no meaning in HTML.
impl HtmlSafe for Time {}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = self.0.to_rfc3339_opts(SecondsFormat::Millis, true);
        write!(f, r#"<time datetime="{exact}">{} UTC</time>"#, self.0.format("%Y-%m-%d %H:%M"))
    }
}
