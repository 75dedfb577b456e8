//! Moments in pages: in UTC, which a script shows in the time zone of the person.

use std::fmt;

use askama::filters::HtmlSafe;
use chrono::{NaiveDateTime, SecondsFormat, Timelike as _};
use iam_core::Error;
use iam_core::clock::Timestamp;

use crate::text;

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
        write!(f, r#"<time datetime="{exact}">{}</time>"#, utc(&self.0))
    }
}

/// Shows how long ago a moment was, or how far ahead it is, as an element of HTML. Its title has the moment itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ago {
    at: Timestamp,
    now: Timestamp,
}

impl Ago {
    pub(crate) fn of(at: &Timestamp, now: &Timestamp) -> Self {
        Self { at: *at, now: *now }
    }
}

/// The text consists of digits and of texts of the console that have no characters with a meaning in HTML.
impl HtmlSafe for Ago {}

impl fmt::Display for Ago {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = self.at.to_rfc3339_opts(SecondsFormat::Millis, true);
        let said = text::ago((self.now - self.at).num_seconds());
        write!(f, r#"<time datetime="{exact}" title="{}">{said}</time>"#, utc(&self.at))
    }
}

/// Returns the text of a moment in UTC.
pub(crate) fn utc(moment: &Timestamp) -> String {
    format!("{} UTC", moment.format("%Y-%m-%d %H:%M"))
}

/// Returns the moment that a person has typed into a field, in UTC. `None` if the text is empty.
pub(crate) fn typed(field: &str, text: &str) -> Result<Option<Timestamp>, Error> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let formats = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S%.f"];
    let parsed = formats.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    parsed.map(|moment| Some(moment.and_utc())).ok_or_else(|| Error::field(field, text::t("must-be-moment")))
}

/// Returns the text of such a field for a moment.
pub(crate) fn typeable(moment: &Timestamp) -> String {
    let is_full_minute = moment.second() == 0 && moment.nanosecond() == 0;
    let format = if is_full_minute { "%Y-%m-%dT%H:%M" } else { "%Y-%m-%dT%H:%M:%S%.3f" };
    moment.format(format).to_string()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_moment_is_shown_by_the_largest_unit_since_then() {
        let now = typed("now", "2026-01-31T09:15").unwrap().unwrap();
        let shown = |seconds: i64| Ago::of(&(now - TimeDelta::seconds(seconds)), &now).to_string();
        for (seconds, said) in [
            (-259_200, ">in 3 days<"),
            (-60, ">in 1 minute<"),
            (-5, ">just now<"),
            (59, ">just now<"),
            (60, ">1 minute ago<"),
            (7_199, ">1 hour ago<"),
            (7_200, ">2 hours ago<"),
            (200_000, ">2 days ago<"),
        ] {
            assert!(shown(seconds).contains(said), "{}", shown(seconds));
        }
        assert!(shown(60).contains(r#"datetime="2026-01-31T09:14:00.000Z" title="2026-01-31 09:14 UTC""#));
    }

    #[test]
    fn a_moment_is_shown_as_it_can_be_typed() {
        for text in ["2026-01-31T09:15", "2026-01-31T09:15:20.125", "2026-01-31T00:00"] {
            let moment = typed("until", text).unwrap().unwrap();
            assert_eq!(typeable(&moment), text);
        }
        assert_eq!(typed("until", " ").unwrap(), None);
        assert!(typed("until", "tomorrow").is_err());
    }
}
