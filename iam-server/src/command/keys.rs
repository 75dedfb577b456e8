//! The commands of `keys`.

use chrono::SecondsFormat;
use clap::Subcommand;
use iam_core::KeyId;
use iam_core::clock::Timestamp;
use iam_core::token::{KeyPurpose, PrivateKey, SigningKey};

use crate::command::output::{print, refused};
use crate::failure::Failure;
use crate::services::open;
use crate::settings::Settings;
use crate::store;

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
