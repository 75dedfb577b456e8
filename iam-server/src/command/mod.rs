//! The command line: its commands, and their effects.

mod api_key;
mod audit;
mod config;
mod demo;
mod document;
mod domain;
mod healthcheck;
mod import;
mod keys;
mod mail;
mod manifest;
mod output;
mod person;
mod session;
mod tenant;
mod tenant_delete;
mod tenant_export;
mod user;

use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use iam_core::Schema;

use crate::command::api_key::ApiKey;
use crate::command::audit::Audit;
use crate::command::domain::Domain;
use crate::command::import::Import;
use crate::command::keys::Keys;
use crate::command::mail::Mail;
use crate::command::manifest::{Apply, Export};
use crate::command::output::print;
use crate::command::session::Session;
use crate::command::tenant::Tenant;
use crate::command::user::User;
use crate::failure::Failure;
use crate::settings::{Arguments, Settings};
use crate::{serve, store};

/// Identity, access and audit for many tenants: one binary, an embedded SQLite file by default, PostgreSQL for
/// several replicas.
#[derive(Parser)]
#[command(
    version,
    after_help = "Settings come from flags, then the environment, then the TOML file, then defaults.\n\
    Two settings have no flag. IAM_MASTER_KEY encrypts the signing keys: 32 random bytes in base64.\n\
    IAM_FORMER_MASTER_KEY is the previous master key, until `keys reencrypt` is done.\n\
    To try the server, start it without arguments and open http://127.0.0.1:8080/docs."
)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    pub(crate) arguments: Arguments,
}

#[derive(Clone, Default, Subcommand)]
enum Command {
    /// Migrate the database, then serve (the default command)
    #[default]
    Serve,
    /// Migrate the database and stop
    Migrate {
        /// Change nothing; fail unless the schema is up to date
        #[arg(long)]
        check: bool,
        /// Also distribute the tables over the nodes of Citus, by tenant; no server may run meanwhile
        #[arg(long, conflicts_with = "check")]
        distributed: bool,
    },
    /// Create a small tenant to look around in; refused if the database has a tenant
    Demo,
    /// Print the OpenAPI document and stop
    Openapi,
    /// Print every setting, its value and where the value comes from; secrets are masked
    Config,
    /// Ask the server at the address of the settings whether it answers 200, and fail otherwise
    Healthcheck {
        /// The path that is asked for
        #[arg(default_value = "/api/v1/health/live")]
        path: String,
    },
    /// Print the script that completes the command line in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Make a tenant what a manifest says: its settings, permissions, roles, organizations, service accounts, webhooks,
    /// identity providers and directories
    Apply(Apply),
    /// Print the manifest of a tenant
    Export(Export),
    /// Import users of another system, with their password hashes: Keycloak, Auth0, Firebase, Django, Devise, ASP.NET
    /// Identity, CSV or NDJSON
    ///
    /// For each user, the command writes the result as one line of JSON. It changes no user that is there already. So
    /// you can import the same files again after an interruption.
    Import(Import),
    /// Manage tenants
    Tenant {
        #[command(subcommand)]
        action: Tenant,
    },
    /// Manage the domains of tenants
    Domain {
        #[command(subcommand)]
        action: Domain,
    },
    /// Manage users
    User {
        #[command(subcommand)]
        action: User,
    },
    /// Manage sessions
    Session {
        #[command(subcommand)]
        action: Session,
    },
    /// Manage API keys, by which programs act as users
    ApiKey {
        #[command(subcommand)]
        action: ApiKey,
    },
    /// Manage the keys that sign access tokens and checkpoints
    Keys {
        #[command(subcommand)]
        action: Keys,
    },
    /// Try out the sending of mail
    Mail {
        #[command(subcommand)]
        action: Mail,
    },
    /// Verify and maintain the audit logs
    Audit {
        #[command(subcommand)]
        action: Audit,
    },
}

impl CommandLine {
    /// Whether the command warns of signing keys that are stored unencrypted: a server, or a command about keys. An
    /// operator who counts what a deletion removes learns nothing from that.
    pub(crate) fn warns_of_unencrypted_keys(&self) -> bool {
        matches!(self.command, None | Some(Command::Serve | Command::Keys { .. }))
    }

    /// Runs the command with the settings of this command line.
    pub(crate) async fn run(self, settings: Settings) -> Result<(), Failure> {
        match self.command.unwrap_or_default() {
            Command::Serve => serve::serve(settings).await,
            Command::Migrate { check, distributed } => migrate(check, distributed, &settings).await,
            Command::Demo => demo::demo(&settings).await,
            Command::Openapi => openapi(&settings),
            Command::Config => config::config(&self.arguments),
            Command::Healthcheck { path } => healthcheck::healthcheck(&path, &settings),
            Command::Completions { shell } => completions(shell),
            Command::Apply(apply) => manifest::apply(apply, &settings).await,
            Command::Export(export) => manifest::export(export, &settings).await,
            Command::Import(import) => import::import(import, &settings).await,
            Command::Tenant { action } => tenant::tenant(action, &settings).await,
            Command::Domain { action } => domain::domain(action, &settings).await,
            Command::User { action } => user::user(action, &settings).await,
            Command::Session { action } => session::session(action, &settings).await,
            Command::ApiKey { action } => api_key::api_key(action, &settings).await,
            Command::Keys { action } => keys::keys(action, &settings).await,
            Command::Mail { action } => mail::mail(action, &settings).await,
            Command::Audit { action } => audit::audit(action, &settings).await,
        }
    }
}

async fn migrate(check: bool, distributed: bool, settings: &Settings) -> Result<(), Failure> {
    if check {
        return match store::schema(&settings.database).await? {
            Schema::UpToDate => print("The schema is up to date."),
            Schema::Behind => Err(Failure("migrations are missing: run `iam-server migrate`".to_owned())),
            Schema::Unknown => Err(Failure("the database has a migration that this program does not know".to_owned())),
        };
    }
    if distributed {
        store::distribute(&settings.database).await?;
        tracing::info!("the database is migrated, and its tables are distributed");
        return Ok(());
    }
    let store = store::open(&settings.database).await?;
    tracing::info!(store = store.kind(), "the database is migrated");
    Ok(())
}

fn openapi(settings: &Settings) -> Result<(), Failure> {
    let document = iam_axum::openapi(&settings.http).to_pretty_json();
    let document = document.map_err(|error| Failure::new("writing the OpenAPI document", &error))?;
    print(&document)
}

fn completions(shell: Shell) -> Result<(), Failure> {
    // Not directly to the standard output: the generator panics if the output is closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "iam-server", &mut script);
    print(String::from_utf8_lossy(&script).trim_end())
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;
    use crate::settings::Setting;

    /// The ids and flags of the arguments of all commands below one.
    fn arguments(command: &Command, found: &mut Vec<(String, String)>) {
        for below in command.get_subcommands() {
            let all = below.get_arguments().filter(|argument| !argument.is_global_set());
            let flag = |argument: &clap::Arg| argument.get_long().unwrap_or_default().to_owned();
            found.extend(all.map(|argument| (argument.get_id().to_string(), flag(argument))));
            arguments(below, found);
        }
    }

    // A setting is an argument of every command. clap keeps the values of both under one id.
    #[test]
    fn no_argument_of_a_command_has_the_name_of_a_setting() {
        let command = CommandLine::command();
        command.clone().debug_assert();
        let mut found = Vec::new();
        arguments(&command, &mut found);
        assert!(found.iter().any(|(id, flag)| id == "audit_log" && flag == "audit-log"), "{found:?}");
        for (id, flag) in found {
            assert!(id != "config" && Setting::named(&id).is_none(), "{id}");
            assert!(Setting::named(&flag.replace('-', "_")).is_none(), "--{flag}");
        }
    }
}
