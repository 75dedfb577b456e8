//! Builds the services over the database of the settings.

use iam_core::{Builder, Iam};

use crate::failure::Failure;
use crate::settings::Settings;
use crate::store;

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
