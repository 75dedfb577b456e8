//! The command that prints the settings.

use std::borrow::Cow;

use url::Url;

use crate::command::output::print;
use crate::failure::Failure;
use crate::settings::{Arguments, SETTINGS, Setting, Text};

/// The text that replaces a secret.
const MASKED: &str = "***";

/// Prints every setting as a line of a settings file, with the source of its value. Secrets are masked.
pub(crate) fn config(arguments: &Arguments) -> Result<(), Failure> {
    let given = arguments.read().map_err(|error| Failure::new("reading the settings", &error))?;
    let lines: Vec<String> = SETTINGS.iter().map(|setting| line(setting, given.get(setting))).collect();
    print(&lines.join("\n"))
}

fn line(setting: &Setting, given: Option<&Text>) -> String {
    let name = setting.name;
    let given = given.map(|Text { text, source }| (text.as_str(), source.as_str()));
    match given.or_else(|| Some((setting.default()?, "default"))) {
        None => format!("# {name} is not set"),
        Some((value, source)) => {
            format!("{name} = {} # {source}", quoted(&shown(name, value, setting.is_secret)))
        }
    }
}

fn shown<'a>(name: &str, value: &'a str, is_secret: bool) -> Cow<'a, str> {
    match (name, is_secret) {
        ("database_url" | "database_direct_url", _) if value.starts_with("postgres") => {
            Cow::Owned(without_password(value))
        }
        ("database_url", _) | (_, false) => Cow::Borrowed(value),
        (_, true) => Cow::Borrowed(MASKED),
    }
}

/// Masks the password of a URL, which may be in the authority or in the query. If the URL cannot be parsed, the
/// password may be anywhere, so the whole URL is masked.
fn without_password(text: &str) -> String {
    let Ok(mut url) = Url::parse(text) else { return MASKED.to_owned() };
    if url.password().is_some() && url.set_password(Some(MASKED)).is_err() {
        return MASKED.to_owned();
    }
    // The driver does not use the fragment. It exists if a `#` was not escaped, so it may be a part of the password.
    url.set_fragment(None);
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    if !pairs.is_empty() {
        let mask = |(name, value)| if name == "password" { (name, MASKED.to_owned()) } else { (name, value) };
        url.query_pairs_mut().clear().extend_pairs(pairs.into_iter().map(mask));
    }
    url.into()
}

/// Returns a text as a TOML string, which has the escapes of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
