//! The commands `apply` and `export`.

mod read;
mod secret;
mod shown;

use std::env::{self, VarError};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use iam_core::{Caller, Error, Iam, RequestContext};

use crate::command::document::{Lines, is_standard_input, name_of, parse, refused, text_of};
use crate::command::manifest::read::{WHAT, read};
use crate::command::output::print;
use crate::command::tenant;
use crate::failure::Failure;
use crate::services::{open, open_with_clients};
use crate::settings::Settings;

#[derive(Clone, Args)]
pub(crate) struct Apply {
    /// The tenant, by its id or slug
    #[arg(long, value_name = "TENANT")]
    tenant: String,
    /// The manifest, as YAML or JSON: a regular file, or - for the standard input
    #[arg(short, long, value_name = "FILE")]
    file: PathBuf,
    /// Change nothing, and print what would change, and who would gain or lose which right
    #[arg(long)]
    dry_run: bool,
    /// Also remove what manifests have made and this one does not name
    #[arg(long)]
    prune: bool,
    /// The environment variable with an API key, which limits what the command may do [default: it may do everything]
    #[arg(long, value_name = "VARIABLE")]
    api_key_env: Option<String>,
}

#[derive(Clone, Args)]
pub(crate) struct Export {
    /// The tenant, by its id or slug
    #[arg(long, value_name = "TENANT")]
    tenant: String,
}

pub(crate) async fn apply(command: Apply, settings: &Settings) -> Result<(), Failure> {
    // A manifest that cannot be read needs no database.
    let text = text_of(&command.file, WHAT)?;
    let folder = if is_standard_input(&command.file) { None } else { command.file.parent() };
    let read = read(&text, folder.unwrap_or(Path::new("")), command.api_key_env.as_deref());
    let (manifest, lines) = read.map_err(|mistake| refused(&command.file, &[mistake]))?;
    let iam = open_with_clients(settings).await?;
    let result = match caller(&iam, &command).await {
        Ok(caller) if command.dry_run => preview(&iam, &caller, &command, (&manifest, &lines)).await,
        Ok(caller) => change(&iam, &caller, &command, (&manifest, &lines)).await,
        Err(failure) => Err(failure),
    };
    iam.close().await;
    result
}

pub(crate) async fn export(command: Export, settings: &Settings) -> Result<(), Failure> {
    let iam = open(settings).await?;
    let result = print_manifest(&iam, &command.tenant).await;
    iam.close().await;
    result
}

async fn print_manifest(iam: &Iam, named: &str) -> Result<(), Failure> {
    let caller = tenant::find(iam, named, "export command").await?;
    let manifest = iam.manifests().export(&caller).await;
    let manifest = manifest.map_err(|error| Failure::new(format!("exporting the tenant {named}"), &error))?;
    // JSON is YAML, and its fields have the order of the types.
    let json = serde_json::to_string(&manifest).map_err(|error| Failure::new("writing the manifest", &error))?;
    let node = parse(&json).map_err(|malformed| Failure(format!("writing the manifest: {}", malformed.message)))?;
    print(node.write().trim_end())
}

/// Returns the owner of the API key, or else the system.
async fn caller(iam: &Iam, command: &Apply) -> Result<Caller, Failure> {
    let system = tenant::find(iam, &command.tenant, "apply command").await?;
    let Some(variable) = &command.api_key_env else { return Ok(system) };
    let key = env::var(variable).map_err(|error| {
        // The error itself would repeat the key.
        let problem = match error {
            VarError::NotPresent => "the variable is not set",
            VarError::NotUnicode(_) => "the variable is not valid UTF-8",
        };
        Failure(format!("reading {variable}: {problem}"))
    })?;
    let caller = iam.authenticate(key.trim(), RequestContext::default()).await;
    let caller = caller.map_err(|error| Failure::new(format!("the API key in {variable}"), &error))?;
    if caller.tenant() != system.tenant() {
        return Err(Failure(format!("the API key in {variable} is not of the tenant {}", command.tenant)));
    }
    Ok(caller)
}

type Document<'a> = (&'a iam_core::manifest::Manifest, &'a Lines);

async fn change(iam: &Iam, caller: &Caller, command: &Apply, (manifest, lines): Document<'_>) -> Result<(), Failure> {
    let changes = iam.manifests().apply(caller, manifest, command.prune).await;
    let changes = changes.map_err(|error| unchanged(command, lines, &error))?;
    let mut lines = shown::changes(&changes);
    lines.push(match changes.len() {
        0 => format!("Tenant {} has nothing to change.", command.tenant),
        1 => format!("Tenant {} is changed: 1 change.", command.tenant),
        count => format!("Tenant {} is changed: {count} changes.", command.tenant),
    });
    match write_lines(&lines) {
        // The reader needs no more lines, and the tenant is as the manifest says.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| {
            Failure::new("the tenant is as the manifest says, but writing to the standard output failed", &error)
        }),
    }
}

fn write_lines(lines: &[String]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in lines {
        writeln!(output, "{line}")?;
    }
    output.flush()
}

async fn preview(iam: &Iam, caller: &Caller, command: &Apply, (manifest, lines): Document<'_>) -> Result<(), Failure> {
    let preview = iam.manifests().preview(caller, manifest, command.prune).await;
    let preview = preview.map_err(|error| unchanged(command, lines, &error))?;
    for line in shown::changes(&preview.changes) {
        print(&line)?;
    }
    if let Some(error) = &preview.preview.refusal {
        if !preview.changes.is_empty() {
            print(&format!("{}: refused.", shown::numbers(&preview.changes)))?;
        }
        return Err(unchanged(command, lines, error));
    }
    if preview.changes.is_empty() {
        return print(&format!("Tenant {} has nothing to change.", command.tenant));
    }
    print(&format!("{}.", shown::numbers(&preview.changes)))?;
    if let Some(line) = shown::consequences(&preview.changes) {
        print(line)?;
    }
    for line in shown::rights(iam, caller, &preview).await {
        print(&line)?;
    }
    Ok(())
}

/// The failure of a manifest that was refused.
fn unchanged(command: &Apply, lines: &Lines, error: &Error) -> Failure {
    match lines.mistakes(error).as_slice() {
        [] => Failure::new(format!("applying {}", name_of(&command.file)), error),
        mistakes => refused(&command.file, mistakes),
    }
}
