//! The commands other than `serve`.

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
    /// Migrate the database, then serve (the default command)
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
    /// Print every setting, its value and where the value comes from; secrets are masked
    Config,
    /// Print the script that completes the command line in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Manage tenants
    Tenant {
        #[command(subcommand)]
        action: Tenant,
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
    /// Manage the keys that sign access tokens and checkpoints
    Keys {
        #[command(subcommand)]
        action: Keys,
    },
    /// Verify and maintain the audit logs
    Audit {
        #[command(subcommand)]
        action: Audit,
    },
}

#[derive(Clone, Copy, Subcommand)]
pub(crate) enum Keys {
    /// List the signing keys and how each private key is stored
    List,
    /// Add a key that signs access tokens after one minute; all sessions stay valid, and running servers load the key
    Rotate,
    /// Encrypt all private keys under the master key: those under the former master key and those that are not
    /// encrypted
    Reencrypt,
    /// Revoke a key that has leaked: its access tokens are refused within a second; sessions continue under another key
    Revoke {
        /// The id of the key, as in `keys list` and in the `kid` of its tokens
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
    let document = document.map_err(|error| Failure::new("writing the OpenAPI document", &error))?;
    print(&document)
}

pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    // Not directly to the standard output: the generator panics if the output is closed.
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
        (PrivateKey::Encrypted(_), None) => "encrypted",
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
    print(&format!("{changed} keys were encrypted. All keys are encrypted under the master key."))
}

/// Opens the database, migrates it and builds the services on it.
pub(crate) async fn open(settings: &Settings) -> Result<Iam, Failure> {
    let store = store::open(&settings.database).await?;
    build(Iam::builder(store), settings).await
}

/// Builds the services with these settings.
pub(crate) async fn build(builder: Builder, settings: &Settings) -> Result<Iam, Failure> {
    let iam = builder.settings(settings.iam.clone()).build().await;
    iam.map_err(|error| Failure::new("starting", &error))
}

/// Returns the failure for an error of a service. A validation error names every invalid field and its problem.
pub(crate) fn refused(doing: String, error: &Error) -> Failure {
    let Error::Validation(fields) = error else { return Failure::new(doing, error) };
    let fields: Vec<String> = fields.iter().map(|it| format!("{} {}", in_words(&it.field), it.message)).collect();
    Failure(format!("{doing}: {}", fields.join("; ")).replace('\n', " "))
}

/// Returns `first name` for `firstName`.
fn in_words(field: &str) -> String {
    let word = |c: char| if c.is_ascii_uppercase() { format!(" {}", c.to_ascii_lowercase()) } else { c.to_string() };
    field.chars().map(word).collect()
}

pub(crate) fn print(text: &str) -> Result<(), Failure> {
    writeln!(std::io::stdout(), "{text}").map_err(|error| Failure::new("writing to the standard output", &error))
}
