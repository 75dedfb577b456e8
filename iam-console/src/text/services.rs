//! What the services say. Their texts are in English; the files of the languages have them, too, under ids that begin
//! with `core-`. A text that no file has stays in English, and says so.

use std::fmt;
use std::sync::LazyLock;

use askama::filters::HtmlSafe;
use askama::filters::{Html, escape};
use fluent_bundle::FluentValue;
use iam_core::search::SearchWord;
use iam_core::text::folded;

use super::patterns::Patterns;
use super::{ENGLISH_FILE, Language, t_with};

/// The patterns of the texts of the services, in English.
static SERVICES: LazyLock<Patterns> = LazyLock::new(|| Patterns::read(ENGLISH_FILE, |id| id.starts_with("core-")));

/// Returns a text of a service in the language of the request. `None` if no file has it.
fn translated(text: &str) -> Option<String> {
    let (id, values) = SERVICES.find(text)?;
    let mut translations = Vec::new();
    for (name, value) in values {
        let value = if name == "parts" {
            // A list of texts.
            value.split(", ").map(translated).collect::<Option<Vec<_>>>()?.join(", ")
        } else {
            // It can be a text of its own, such as the name of a kind.
            translated(value).unwrap_or_else(|| value.to_owned())
        };
        translations.push((name, FluentValue::from(value)));
    }
    Some(t_with(id, translations))
}

/// Returns a text of a service in the language of the request, or else in English.
pub(crate) fn of_service(text: &str) -> String {
    let is_english = Language::current().tag == "en";
    if is_english { text.to_owned() } else { translated(text).unwrap_or_else(|| text.to_owned()) }
}

/// Whether a name and its description, in the language of the request, have all of these words together.
pub(crate) fn has_all(name: &str, description: &str, words: &[SearchWord]) -> bool {
    let texts = [folded(name), folded(&of_service(description))];
    words.iter().all(|word| texts.iter().any(|text| word.is_in(text)))
}

/// Whether a page must say that a text is in English: it is no text of the console, and no file has it.
pub(crate) fn is_foreign(text: &str) -> bool {
    let language = Language::current();
    if language.tag == "en" || translated(text).is_some() || language.patterns.find(text).is_some() {
        return false;
    }
    // What is wrong with a field follows its label, and a stop follows it.
    let text = text.trim_end_matches('.');
    let mut ends = text.match_indices(' ').filter_map(|(at, _)| text.get(at + 1..));
    !ends.any(|end| language.patterns.find(end).is_some())
}

/// Returns what is wrong with a field: its label, and the message of a service or of the console. A message that is a
/// whole sentence stands alone.
pub(crate) fn about(label: &str, message: &str) -> String {
    let message = of_service(message);
    if message.ends_with('.') { message } else { format!("{label} {message}.") }
}

/// A text of a service on a page.
pub(crate) struct Said {
    text: String,
    is_foreign: bool,
}

/// Returns a text of a service, or of the console, for a page. One in a language that is not that of the page says so.
pub(crate) fn said(text: &str) -> Said {
    Said { text: of_service(text), is_foreign: is_foreign(text) }
}

/// The text is escaped.
impl HtmlSafe for Said {}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = escape(&*self.text, Html).map_err(|_| fmt::Error)?;
        if self.is_foreign { write!(f, r#"<span lang="en">{text}</span>"#) } else { write!(f, "{text}") }
    }
}
