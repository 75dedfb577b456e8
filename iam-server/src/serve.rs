//! Serving until told to stop.

use std::net::SocketAddr;
use std::time::Duration;

use iam_core::Iam;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::Failure;
use crate::command::open;
use crate::seal::seal;
use crate::settings::{Database, Settings};
use crate::sweep::sweep;

/// How long requests in flight may take once the server is told to stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// Migrates the database and serves until a SIGTERM or SIGINT; then finishes what is in flight.
pub(crate) async fn serve(settings: Settings) -> Result<(), Failure> {
    let listener = TcpListener::bind(settings.listen).await;
    let listener = listener.map_err(|error| Failure::new(format!("listening on {}", settings.listen), &error))?;
    let address = listener.local_addr().map_err(|error| Failure::new("listening", &error))?;
    let iam = open(&settings).await?;
    let stop = stop_signal()?;
    announce(&settings, address, &iam).await;
    tokio::spawn(seal(iam.clone(), stop.clone()));
    tokio::spawn(sweep(iam.clone(), stop.clone()));
    run(listener, iam, settings.http, stop).await
}

async fn announce(settings: &Settings, address: SocketAddr, iam: &Iam) {
    let (base, prefix) = (format!("http://{address}"), &settings.http.prefix);
    tracing::info!(store = iam.store_kind(), "listening on {base}{prefix}");
    tracing::info!("Swagger UI is at {base}/docs");
    if matches!(settings.database, Database::Memory) {
        tracing::warn!("everything is kept in memory and gone when the server stops");
    }
    if !matches!(iam.is_empty().await, Ok(true)) {
        return;
    }
    if settings.iam.registration {
        tracing::info!(
            "there is no tenant yet; register the first: curl -X POST {base}{prefix}/auth/register \
             -H 'Content-Type: application/json' -d '{{\"email\":\"ada@example.com\",\"password\":\"Passw0rd!\",\
             \"firstName\":\"Ada\",\"lastName\":\"Lovelace\"}}'"
        );
    } else {
        tracing::info!("there is no tenant yet; make the first with `iam-server tenant create`");
    }
}

async fn run(
    listener: TcpListener,
    iam: Iam,
    settings: iam_axum::Settings,
    mut stop: watch::Receiver<bool>,
) -> Result<(), Failure> {
    let mut graceful = stop.clone();
    let stopped = async move {
        // An error means that nobody can signal any more: stopping is right then too.
        let _ = graceful.wait_for(|stop| *stop).await;
    };
    let service = iam_axum::service(iam.clone(), settings).into_make_service_with_connect_info::<SocketAddr>();
    let server = axum::serve(listener, service).with_graceful_shutdown(stopped);
    let finished = async {
        server.into_future().await.map_err(|error| Failure::new("serving", &error))?;
        iam.close().await;
        Ok(())
    };
    let too_late = async {
        let _ = stop.wait_for(|stop| *stop).await;
        tracing::info!("stopping: requests in flight are finished");
        tokio::time::sleep(PATIENCE).await;
    };
    tokio::select! {
        result = finished => result?,
        () = too_late => tracing::warn!("requests that took longer than {} seconds were cut", PATIENCE.as_secs()),
    }
    tracing::info!("stopped");
    Ok(())
}

/// Turns true at the first SIGTERM or SIGINT.
fn stop_signal() -> Result<watch::Receiver<bool>, Failure> {
    let failed = |error| Failure::new("waiting for signals", &error);
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        sender.send_replace(true);
        // Dropping the sender would look like a signal to whoever still waits.
        sender.closed().await;
    });
    Ok(receiver)
}
