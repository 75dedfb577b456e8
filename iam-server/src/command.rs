//! The commands beside `serve`.

use std::io::Write as _;

use chrono::SecondsFormat;
use clap::{CommandFactory as _, Subcommand};
use clap_complete::Shell;
use iam_core::clock::Timestamp;
use iam_core::token::{KeyPurpose, PrivateKey, SigningKey};
use iam_core::{Builder, Error, Iam, KeyId, Schema};

use crate::Failure;
use crate::audit::Audit;
use crate::session::Session;
use crate::settings::{Arguments, Settings};
use crate::store;
use crate::tenant::Tenant;
use crate::user::User;

#[derive(Clone, Default, Subcommand)]
pub(crate) enum Command {
    /// Migrate the database, then serve (what happens without a command)
    #[default]
    Serve,
    /// Migrate the database and stop
    Migrate {
        /// Change nothing; fail unless the schema is up to date
        #[arg(long)]
        check: bool,
    },
    /// Print the OpenAPI document and stop
    Openapi,
    /// Print the settings that count and where each comes from, secrets masked
    Config,
    /// Print what a shell needs to complete the command line
    Completions {
        /// For this shell
        shell: Shell,
    },
    /// Look after tenants
    Tenant {
        #[command(subcommand)]
        action: Tenant,
    },
    /// Look after users
    User {
        #[command(subcommand)]
        action: User,
    },
    /// Look after sessions
    Session {
        #[command(subcommand)]
        action: Session,
    },
    /// Look after the keys that sign access tokens and checkpoints
    Keys {
        #[command(subcommand)]
        action: Keys,
    },
    /// Look after the audit logs
    Audit {
        #[command(subcommand)]
        action: Audit,
    },
}

#[derive(Clone, Copy, Subcommand)]
pub(crate) enum Keys {
    /// List the signing keys, and how the private half of each is kept
    List,
    /// Add a key that signs from a minute on; nobody is logged out, running servers pick it up by themselves
    Rotate,
    /// Encrypt all keys under the master key: those that are under the former one, and those kept as they are
    Reencrypt,
    /// Withdraw a key that has leaked: its access tokens are refused within a second, sessions go on under another key
    Revoke {
        /// The key's id, as `keys list` shows it and as the `kid` of its tokens
        #[arg(value_name = "KEY")]
        key: KeyId,
    },
}

pub(crate) async fn migrate(check: bool, settings: &Settings) -> Result<(), Failure> {
    if check {
        return match store::schema(&settings.database).await? {
            Schema::UpToDate => print("The schema is up to date."),
            Schema::Behind => Err(Failure("migrations are missing: run `iam-server migrate`".to_owned())),
            Schema::Unknown => Err(Failure("the database has a migration that this program does not know".to_owned())),
        };
    }
    let store = store::open(&settings.database).await?;
    tracing::info!(store = store.kind(), "the database is migrated");
    Ok(())
}

pub(crate) fn openapi(settings: &Settings) -> Result<(), Failure> {
    let document = iam_axum::openapi(&settings.http).to_pretty_json();
    let document = document.map_err(|error| Failure::new("the OpenAPI document", &error))?;
    print(&document)
}

pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    // Not at once to the standard output: the generator panics where that is closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "iam-server", &mut script);
    print(String::from_utf8_lossy(&script).trim_end())
}

pub(crate) async fn keys(command: Keys, settings: &Settings) -> Result<(), Failure> {
    match command {
        Keys::List => list_keys(settings).await,
        Keys::Rotate => rotate_keys(settings).await,
        Keys::Reencrypt => reencrypt_keys(settings).await,
        Keys::Revoke { key } => revoke_key(key, settings).await,
    }
}

async fn list_keys(settings: &Settings) -> Result<(), Failure> {
    let store = store::open(&settings.database).await?;
    print(&columns("ID", "PURPOSE", "CREATED", "SIGNS FROM", "PRIVATE"))?;
    for purpose in [KeyPurpose::AccessTokens, KeyPurpose::Checkpoints] {
        let keys = store.signing_keys(purpose).await.map_err(|error| Failure::new("reading the keys", &error))?;
        keys.iter().try_for_each(print_key)?;
    }
    store.close().await;
    Ok(())
}

fn print_key(key: &SigningKey) -> Result<(), Failure> {
    let time = |moment: Timestamp| moment.to_rfc3339_opts(SecondsFormat::Millis, true);
    let private = match (&key.private, key.revoked_at) {
        (_, Some(_)) => "revoked",
        (PrivateKey::Plain(_), None) => "plain",
        (PrivateKey::Sealed(_), None) => "encrypted",
        (PrivateKey::Erased, None) => "erased",
    };
    let (id, created, signs_from) = (key.id.to_string(), time(key.created_at), time(key.signs_from));
    print(&columns(&id, key.purpose.as_str(), &created, &signs_from, private))
}

fn columns(id: &str, purpose: &str, created: &str, signs_from: &str, private: &str) -> String {
    format!("{id:36}  {purpose:13}  {created:24}  {signs_from:24}  {private}")
}

async fn rotate_keys(settings: &Settings) -> Result<(), Failure> {
    let key = open(settings).await?.rotate_keys().await;
    let key = key.map_err(|error| Failure::new("rotating the signing key", &error))?;
    print(&format!("Key {} signs access tokens from {} on.", key.id, key.signs_from.to_rfc3339()))
}

async fn revoke_key(key: KeyId, settings: &Settings) -> Result<(), Failure> {
    let signer = open(settings).await?.revoke_key(key).await;
    let signer = signer.map_err(|error| refused(format!("revoking the key {key}"), &error))?;
    print(&format!("Key {key} is revoked. Key {signer} signs access tokens."))
}

async fn reencrypt_keys(settings: &Settings) -> Result<(), Failure> {
    let doing = || "encrypting the signing keys".to_owned();
    let changed = open(settings).await?.reencrypt_keys().await.map_err(|error| refused(doing(), &error))?;
    print(&format!("{changed} keys are encrypted anew; all are under the master key."))
}

/// The services over the database, migrated.
pub(crate) async fn open(settings: &Settings) -> Result<Iam, Failure> {
    let store = store::open(&settings.database).await?;
    build(Iam::builder(store), settings).await
}

/// The services with these settings.
pub(crate) async fn build(builder: Builder, settings: &Settings) -> Result<Iam, Failure> {
    let iam = builder.settings(settings.iam.clone()).build().await;
    iam.map_err(|error| Failure::new("starting", &error))
}

/// What a service refused, with what is wrong in which field.
pub(crate) fn refused(doing: String, error: &Error) -> Failure {
    let Error::Validation(fields) = error else { return Failure::new(doing, error) };
    let fields: Vec<String> = fields.iter().map(|it| format!("{} {}", in_words(&it.field), it.message)).collect();
    Failure(format!("{doing}: {}", fields.join("; ")).replace('\n', " "))
}

/// `first name` for `firstName`.
fn in_words(field: &str) -> String {
    let word = |c: char| if c.is_ascii_uppercase() { format!(" {}", c.to_ascii_lowercase()) } else { c.to_string() };
    field.chars().map(word).collect()
}

pub(crate) fn print(text: &str) -> Result<(), Failure> {
    writeln!(std::io::stdout(), "{text}").map_err(|error| Failure::new("writing to the standard output", &error))
}
