//! Sends the events of webhooks in the background.

use std::sync::Arc;
use std::time::Duration;

use iam_core::Iam;
use iam_core::webhook::{AddressPolicy, WebhookSender};
use iam_webhook::HttpSender;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::background::until_stopped;

/// How often the task tries to take over from another replica, or starts again after a failure of the store.
const PERIOD: Duration = Duration::from_secs(1);

/// Returns the sender of requests. `None` on a platform without certification authorities, which needs no webhooks to
/// start.
pub(crate) fn sender(allows_private: bool) -> Option<Arc<dyn WebhookSender>> {
    let policy = if allows_private { AddressPolicy::Anywhere } else { AddressPolicy::Public };
    match HttpSender::new(policy) {
        Ok(sender) => Some(Arc::new(sender)),
        Err(error) => {
            tracing::warn!("webhooks are off: {error}");
            None
        }
    }
}

/// Sends events until the server stops, if no other replica does. Finishes the attempts in progress then.
pub(crate) async fn deliver(iam: Iam, stop: watch::Receiver<bool>) {
    let mut is_failing = false;
    while !*stop.borrow() {
        let delivered = iam.deliver_webhooks(until_stopped(stop.clone(), std::future::pending())).await;
        if let Err(error) = &delivered
            && !is_failing
        {
            tracing::warn!(%error, "the events of webhooks could not be sent; they stay in the log");
        }
        is_failing = delivered.is_err();
        until_stopped(stop.clone(), sleep(PERIOD)).await;
    }
}
