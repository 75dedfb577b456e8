//! The commands beside `serve`.

use std::io::Write as _;
use std::sync::Arc;

use clap::Subcommand;
use iam_core::{Iam, Store};

use crate::Failure;
use crate::audit::Audit;
use crate::settings::Settings;
use crate::store;

#[derive(Clone, Default, Subcommand)]
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
    /// Look after the audit logs
    Audit {
        #[command(subcommand)]
        action: Audit,
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
    let key = open(settings).await?.rotate_keys().await;
    let key = key.map_err(|error| Failure::new("rotating the signing key", &error))?;
    print(&format!("Key {} signs access tokens from {} on.", key.id, key.signs_from.to_rfc3339()))
}

/// The services over the database, migrated.
pub(crate) async fn open(settings: &Settings) -> Result<Iam, Failure> {
    open_over(store::open(&settings.database).await?, settings).await
}

/// The services over a store.
pub(crate) async fn open_over(store: Arc<dyn Store>, settings: &Settings) -> Result<Iam, Failure> {
    let iam = Iam::builder(store).settings(settings.iam.clone()).build().await;
    iam.map_err(|error| Failure::new("starting", &error))
}

pub(crate) fn print(text: &str) -> Result<(), Failure> {
    writeln!(std::io::stdout(), "{text}").map_err(|error| Failure::new("writing to the standard output", &error))
}
