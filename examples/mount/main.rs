//! A shop on axum and SQLite that mounts IAM's router, and changes its tables and IAM's tables in one transaction.
//!
//! `cargo run -p iam-examples --example mount` serves it on <http://localhost:3000>, with the database file `shop.db`.

mod background;
mod failure;
mod mail;
mod orders;
mod routes;
mod shop;
mod sign_up;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;

use tokio::net::TcpListener;
use tokio::sync::mpsc;

use shop::Shop;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().init();
    let (sender, mails) = mpsc::unbounded_channel();
    let shop = Shop::open(Path::new("shop.db"), sender).await?;
    tokio::spawn(mail::deliver(mails));
    tokio::spawn(background::follow_changes(shop.iam.clone()));
    tokio::spawn(background::sequence_audit_logs(shop.iam.clone()));

    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    tracing::info!("listening on http://{}", listener.local_addr()?);
    // With the addresses of the clients, which IAM's rate limits need.
    let app = routes::app(&shop)?.into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, app).with_graceful_shutdown(interrupted()).await?;
    shop.close().await;
    Ok(())
}

async fn interrupted() {
    if let Err(error) = tokio::signal::ctrl_c().await {
        tracing::error!(%error, "cannot wait for interrupts");
    }
}
