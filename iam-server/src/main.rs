//! The reference server of the IAM service.

mod audit;
mod background;
mod body_drain;
mod command;
mod config;
mod connection_limit;
mod follow;
mod http;
mod import;
mod log;
mod otlp;
mod person;
mod sequence;
mod serve;
mod session;
mod settings;
mod stalled_stream;
mod store;
mod sweep;
mod tenant;
mod trace;
mod trace_context;
mod user;

use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _};
use mimalloc::MiMalloc;

use crate::command::Command;
use crate::settings::{Arguments, Settings};

/// A request allocates memory about a hundred times. mimalloc needs half the instructions of the system's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The reason why a command failed, in one line.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    /// Creates a failure that names what the program was doing, the error, and every cause of the error.
    pub(crate) fn new(doing: impl fmt::Display, error: &dyn std::error::Error) -> Self {
        let causes = std::iter::successors(Some(error), |error| error.source());
        let mut causes: Vec<String> = causes.map(ToString::to_string).collect();
        // An error that wraps another one often has the same text.
        causes.dedup();
        Self(format!("{doing}: {}", causes.join(": ")).replace('\n', " "))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let parsed = Arguments::command().try_get_matches();
    let parsed = parsed.and_then(|matches| Ok((Arguments::from_arg_matches(&matches)?, matches)));
    let (arguments, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) if is_help_or_version(error.kind()) => error.exit(),
        Err(error) => return refuse(&in_one_line(&error), 2),
    };
    let settings = match Settings::resolve(&arguments) {
        Ok(settings) => settings,
        Err(error) => return refuse(&error, 2),
    };
    log::start(&settings.log, settings.log_format);
    let result = match arguments.command.clone().unwrap_or_default() {
        Command::Serve => serve::serve(settings).await,
        Command::Migrate { check } => command::migrate(check, &settings).await,
        Command::Openapi => command::openapi(&settings),
        Command::Config => config::config(&arguments, &matches),
        Command::Completions { shell } => command::completions(shell),
        Command::Tenant { action } => tenant::tenant(action, &settings).await,
        Command::User { action } => user::user(action, &settings).await,
        Command::Session { action } => session::session(action, &settings).await,
        Command::Keys { action } => command::keys(action, &settings).await,
        Command::Audit { action } => audit::audit(action, &settings).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => refuse(&failure, 1),
    }
}

/// Returns whether the arguments ask for the help or the version, which is not a mistake.
fn is_help_or_version(kind: ErrorKind) -> bool {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    matches!(kind, DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand | DisplayVersion)
}

/// Returns what is wrong with the arguments, without the usage and the hint about the help at the end.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let says_why = |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(says_why).filter(|line| !line.is_empty()).collect();
    lines.join("; ").replace(":; ", ": ").trim_start_matches("error: ").to_owned()
}

/// Prints the reason in one line and returns the exit code.
fn refuse(reason: &dyn fmt::Display, code: u8) -> ExitCode {
    // If the error output is closed, no output is left to report that.
    let _ = writeln!(std::io::stderr(), "iam-server: {reason}");
    ExitCode::from(code)
}
