//! The sources of the settings: flags, the environment and a TOML file.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use toml::de::DeTable;

use super::list::{SETTINGS, Setting};

/// An invalid setting. The message does not contain the value, which may be secret.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("{} {problem}", Setting::named(.name).map(ToString::to_string).unwrap_or_default())]
    Value { name: &'static str, problem: String },
    #[error("{0} is not a setting; `iam-server --help` lists all settings")]
    UnknownVariable(String),
    #[error("the settings file {path}: {problem}")]
    File { path: String, problem: String },
}

/// The flags that set the settings.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A TOML file with the settings below, named in snake case
    #[arg(long, env = CONFIG, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    #[command(flatten)]
    given: Given,
}

const CONFIG: &str = "IAM_CONFIG";

impl Arguments {
    /// Returns the texts of all sources.
    pub(crate) fn read(&self) -> Result<Given, SettingsError> {
        let mut given = self.config.as_deref().map(read_file).transpose()?.unwrap_or_default();
        given.set_from_variable("database_url", "DATABASE_URL");
        for setting in SETTINGS.iter().filter(|setting| setting.flag().is_none()) {
            given.set_from_variable(setting.name, &setting.variable());
        }
        given.0.extend(self.given.0.clone());
        Ok(given)
    }
}

/// The texts of the settings that are set, by the name of the setting.
#[derive(Clone, Default)]
pub(crate) struct Given(BTreeMap<&'static str, Text>);

/// The text of a setting.
#[derive(Clone)]
pub(crate) struct Text {
    pub(crate) text: String,
    /// The flag, the variable, or `file`.
    pub(crate) source: String,
}

impl Given {
    /// Returns the text of a setting, if it is set.
    pub(crate) fn get(&self, setting: &Setting) -> Option<&Text> {
        self.0.get(setting.name)
    }

    fn set_from_variable(&mut self, name: &'static str, variable: &str) {
        if let Ok(text) = env::var(variable) {
            self.0.insert(name, Text { text, source: variable.to_owned() });
        }
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command.args(SETTINGS.iter().filter_map(Setting::argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Self::default();
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in SETTINGS {
            let Some(flag) = setting.flag() else { continue };
            let Some(text) = matches.get_one::<String>(setting.name) else { continue };
            let is_flag = matches.value_source(setting.name) == Some(ValueSource::CommandLine);
            let source = if is_flag { flag } else { setting.variable() };
            self.0.insert(setting.name, Text { text: text.clone(), source });
        }
        Ok(())
    }
}

/// Refuses unknown `IAM_…` variables, which may be misspelt settings. `IAM_TEST_…` belongs to the tests. Kubernetes
/// sets variables such as `IAM_SERVICE_HOST` and `IAM_PORT_8080_TCP` in every pod when a service is named `iam`.
pub(super) fn refuse_unknown_variables(names: impl Iterator<Item = String>) -> Result<(), SettingsError> {
    let is_foreign = |name: &str| {
        name.starts_with("IAM_TEST_")
            || ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT"].iter().any(|mark| name.contains(mark))
    };
    let is_known = |name: &str| name == CONFIG || SETTINGS.iter().any(|setting| setting.variable() == name);
    let is_unknown = |name: &String| name.starts_with("IAM_") && !is_known(name) && !is_foreign(name);
    match names.into_iter().find(is_unknown) {
        Some(name) => Err(SettingsError::UnknownVariable(name)),
        None => Ok(()),
    }
}

fn read_file(path: &Path) -> Result<Given, SettingsError> {
    let failed = |problem: String| SettingsError::File { path: path.display().to_string(), problem };
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    parse_file(&text).map_err(failed)
}

/// Returns the texts of a settings file, or its error, with the line.
pub(super) fn parse_file(file: &str) -> Result<Given, String> {
    let with_line = |problem: String, start: usize| {
        let line = file.get(..start).unwrap_or_default().matches('\n').count() + 1;
        format!("{problem} (line {line})")
    };
    // Not the full text of an error, which has several lines and quotes the file, including its secrets.
    let message = |error: &toml::de::Error| error.message().replace('\n', " ");
    let table =
        DeTable::parse(file).map_err(|error| with_line(message(&error), error.span().map_or(0, |span| span.start)))?;
    let mut given = Given::default();
    for (key, value) in table.into_inner() {
        let Some(setting) = Setting::named(key.get_ref()) else {
            let names: Vec<String> = SETTINGS.iter().map(|setting| format!("`{}`", setting.name)).collect();
            let problem = format!("unknown field `{}`, expected one of {}", key.get_ref(), names.join(", "));
            return Err(with_line(problem, key.span().start));
        };
        let start = value.span().start;
        let text = toml::Value::deserialize(value.into_deserializer())
            .map_err(|error| message(&error))
            .and_then(|value| text_of(&value))
            .map_err(|problem| with_line(format!("{}: {problem}", setting.name), start))?;
        given.0.insert(setting.name, Text { text, source: "file".to_owned() });
    }
    Ok(given)
}

/// Returns the text of a value: a string, a number, or a list of them, joined with commas.
fn text_of(value: &toml::Value) -> Result<String, String> {
    let text = |value: &toml::Value| match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        _ => Err("must be a string, a number or a list of strings".to_owned()),
    };
    match value {
        toml::Value::Array(items) => Ok(items.iter().map(text).collect::<Result<Vec<_>, _>>()?.join(",")),
        value => text(value),
    }
}
