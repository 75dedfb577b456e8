//! The library's router on a store, with the least hashing cost that Argon2 allows. The server itself has no setting
//! for that.

use std::net::SocketAddr;
use std::time::Duration;

use iam_benches::database::store;
use iam_benches::{CHEAP, Outcome, iam};
use tokio::net::TcpListener;
use tokio::time::sleep;

/// How often the router checks for pending audit entries: as often as the server.
const SEQUENCING: Duration = Duration::from_millis(250);

/// Serves until it is killed.
pub(crate) async fn serve(database_url: &str, listen: SocketAddr) -> Outcome {
    let iam = iam(store(database_url).await?, CHEAP).await?;
    let mut settings = iam_axum::Settings::default();
    settings.rate_limiter = None;
    settings.metrics = Some(iam_axum::Metrics::new()?);
    let router = iam_axum::service(iam.clone(), settings);
    let sequencing = async {
        loop {
            while iam.sequence_audit_logs().await?.more {}
            sleep(SEQUENCING).await;
        }
    };
    let listener = TcpListener::bind(listen).await?;
    tokio::select! {
        served = async { axum::serve(listener, router).await } => Ok(served?),
        failed = sequencing => failed,
        // As in the server. Without it, each request would read its session from the store.
        ended = iam.follow_changes() => Err(format!("the change feed ended: {ended:?}").into()),
    }
}
