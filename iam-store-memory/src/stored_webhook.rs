use std::collections::BTreeMap;

use iam_model::clock::Timestamp;
use iam_model::webhook::{Delivery, DeliveryProgress, Webhook};

/// A webhook with its deliveries.
#[derive(Clone)]
pub(super) struct StoredWebhook {
    pub(super) webhook: Webhook,
    pub(super) progress: DeliveryProgress,
    pub(super) deliveries: BTreeMap<u64, Delivery>,
}

impl StoredWebhook {
    pub(super) fn due_deliveries(&self, now: Timestamp) -> impl Iterator<Item = &Delivery> {
        let attempted = self.deliveries.range(..=self.progress.attempted).map(|(_, delivery)| delivery);
        attempted.filter(move |delivery| delivery.next_attempt_at.is_some_and(|at| at <= now))
    }

    pub(super) fn is_due(&self, log_size: u64, now: Timestamp) -> bool {
        (log_size > self.progress.attempted && !self.progress.is_paused(now))
            || self.due_deliveries(now).next().is_some()
    }
}
