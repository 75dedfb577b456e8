//! Builds the services over the database of the settings.

use std::net::SocketAddr;

use iam_core::{Builder, Iam};

use crate::failure::Failure;
use crate::mail;
use crate::passkeys::relying_party;
use crate::settings::Settings;
use crate::{federation, store, webhook};

/// Opens the database, migrates it and builds the services on it.
pub(crate) async fn open(settings: &Settings) -> Result<Iam, Failure> {
    let store = store::open(&settings.database).await?;
    build_at(Iam::builder(store), settings, settings.listen).await
}

/// Opens the services as [`open`] does, with a client of identity providers, and with a sender of webhooks, which says
/// where they may lead. Nothing is sent to webhooks.
pub(crate) async fn open_with_clients(settings: &Settings) -> Result<Iam, Failure> {
    let store = store::open(&settings.database).await?;
    let builder = Iam::builder(store);
    let builder = match webhook::sender(settings.webhooks_allow_private) {
        Some(sender) => builder.webhooks(sender),
        None => builder,
    };
    let builder = match federation::client(settings.federation_allow_private) {
        Some(client) => builder.federation(client, federation::callbacks(settings, settings.listen)?),
        None => builder,
    };
    build_at(builder, settings, settings.listen).await
}

/// Builds the services of a server that listens on an address.
pub(crate) async fn build_at(builder: Builder, settings: &Settings, address: SocketAddr) -> Result<Iam, Failure> {
    let builder = match &settings.mail {
        Some(mail) => builder.mail(mail::mailer(settings, mail, address)?, mail::pages(settings, mail, address)?),
        None => builder,
    };
    let mut iam = settings.iam.clone();
    iam.relying_party = relying_party(settings, address)?;
    let iam = builder.settings(iam).build().await;
    iam.map_err(|error| Failure::new("starting", &error))
}
