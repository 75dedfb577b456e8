//! The reference server of the IAM service.

mod access_request;
mod background;
mod command;
mod deletion;
mod dns;
mod failure;
mod federation;
mod follow;
mod log;
mod mail;
mod net;
mod otlp;
mod passkeys;
mod sequence;
mod serve;
mod services;
mod settings;
mod store;
mod sweep;
mod trace;
mod trace_context;
mod webhook;

use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;
use mimalloc::MiMalloc;

use crate::command::CommandLine;
use crate::settings::Settings;

/// A request allocates memory about a hundred times. mimalloc needs half the instructions of the system's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let command_line = match CommandLine::try_parse() {
        Ok(command_line) => command_line,
        Err(error) if is_help_or_version(error.kind()) => error.exit(),
        Err(error) => return refuse(&in_one_line(&error), 2),
    };
    let settings = match Settings::resolve(&command_line.arguments) {
        Ok(settings) => settings,
        Err(error) => return refuse(&error, 2),
    };
    let warns = command_line.warns_of_unencrypted_keys();
    let hidden = if warns { "" } else { ",iam_core::unencrypted_keys=off" };
    log::start(&format!("{}{hidden}", settings.log), settings.log_format);
    match command_line.run(settings).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => refuse(&failure, 1),
    }
}

/// Returns whether the arguments ask for the help or the version, which is not a mistake.
fn is_help_or_version(kind: ErrorKind) -> bool {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    matches!(kind, DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand | DisplayVersion)
}

/// Returns the error of the arguments, without the usage and the hint about the help at the end.
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
