//! The command that prints the settings.

use std::borrow::Cow;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};
use url::Url;

use crate::command::output::print;
use crate::failure::Failure;
use crate::settings::{Arguments, SettingsError};

/// The text that replaces a secret.
const MASKED: &str = "***";

/// Prints every setting as a line of a settings file, with the source of its value. Secrets are masked.
pub(crate) fn config(arguments: &Arguments, matches: &ArgMatches) -> Result<(), Failure> {
    let lines = lines(arguments, matches).map_err(|error| Failure::new("reading the settings", &error))?;
    print(&lines.join("\n"))
}

fn lines(arguments: &Arguments, matches: &ArgMatches) -> Result<Vec<String>, SettingsError> {
    let (given, file) = arguments.read()?;
    let command = Arguments::flags();
    let line = |((name, given), (_, in_file)): ((&'static str, Option<String>), (_, Option<String>))| {
        let argument = command.get_arguments().find(|argument| argument.get_id() == name);
        let source = match argument.and_then(|_| matches.value_source(name)) {
            Some(ValueSource::CommandLine) => format!("--{}", name.replace('_', "-")),
            Some(ValueSource::EnvVariable) => format!("IAM_{}", name.to_uppercase()),
            // A setting without a flag comes from the environment. Of the other settings, only the database URL has a
            // second variable.
            _ if given.is_some() && argument.is_none() => format!("IAM_{}", name.to_uppercase()),
            _ if given.is_some() => "DATABASE_URL".to_owned(),
            _ if in_file.is_some() => "file".to_owned(),
            _ => "default".to_owned(),
        };
        let value = given.or(in_file).or_else(|| default_of(argument?));
        let is_secret = argument.is_none_or(Arg::is_hide_env_values_set);
        match value {
            None => format!("# {name} is not set"),
            Some(value) => format!("{name} = {} # {source}", quoted(&shown(name, &value, is_secret))),
        }
    };
    Ok(given.texts().into_iter().zip(file.texts()).map(line).collect())
}

/// Returns the default in the help, if it is a value and not a remark. A test compares it with the default in use.
pub(crate) fn default_of(argument: &Arg) -> Option<String> {
    let help = argument.get_help()?.to_string();
    let (_, default) = help.split_once("[default: ")?;
    let default = default.trim_end_matches(']').trim_matches('`');
    Some(default.to_owned()).filter(|default| default != "none" && !default.contains(' '))
}

fn shown<'a>(name: &str, value: &'a str, is_secret: bool) -> Cow<'a, str> {
    match (name, is_secret) {
        ("database_url", _) if value.starts_with("postgres") => Cow::Owned(without_password(value)),
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
