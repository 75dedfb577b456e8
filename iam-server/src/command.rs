//! The commands beside `serve`.

use std::io::Write as _;

use clap::Subcommand;

use crate::Failure;
use crate::settings::Settings;
use crate::store;

#[derive(Clone, Copy, Default, Subcommand)]
pub(crate) enum Command {
    /// Migrate the database, then serve (what happens without a command)
    #[default]
    Serve,
    /// Migrate the database and stop
    Migrate,
    /// Print the OpenAPI document and stop
    Openapi,
    /// Look after the keys that sign access tokens
    Keys {
        #[command(subcommand)]
        action: Keys,
    },
}

#[derive(Clone, Copy, Subcommand)]
pub(crate) enum Keys {
    /// Add a key that signs from a minute on; nobody is logged out, running servers pick it up by themselves
    Rotate,
}

pub(crate) async fn migrate(settings: &Settings) -> Result<(), Failure> {
    let store = store::open(&settings.database).await?;
    tracing::info!(store = store.kind(), "the database is migrated");
    Ok(())
}

pub(crate) fn openapi(settings: &Settings) -> Result<(), Failure> {
    let document = iam_axum::openapi(&settings.http).to_pretty_json();
    let document = document.map_err(|error| Failure::new("the OpenAPI document", &error))?;
    print(&document)
}

pub(crate) async fn keys(Keys::Rotate: Keys, settings: &Settings) -> Result<(), Failure> {
    let store = store::open(&settings.database).await?;
    let failed = |error| Failure::new("rotating the signing key", &error);
    let iam = iam_core::Iam::builder(store).settings(settings.iam.clone()).build().await.map_err(failed)?;
    let key = iam.rotate_keys().await.map_err(failed)?;
    print(&format!("Key {} signs access tokens from {} on.", key.id, key.signs_from.to_rfc3339()))
}

fn print(text: &str) -> Result<(), Failure> {
    writeln!(std::io::stdout(), "{text}").map_err(|error| Failure::new("writing to the standard output", &error))
}
