//! Counts the passwords that are hashed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use iam_core::StoreError;
use iam_core::credential::LoginFailure;
use iam_core::observe::Observer;

/// An observer that counts hashes.
#[derive(Default)]
pub(crate) struct Hashes(AtomicUsize);

impl Hashes {
    /// Returns the number of hashes since the last call.
    pub(crate) fn count(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }
}

impl Observer for Hashes {
    fn store_answered(&self, _: &'static str, _: Duration, _: Option<&StoreError>) {}

    fn login_failed(&self, _: LoginFailure) {}

    fn password_hashed(&self, _: Duration, _: Duration) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn password_refused(&self) {}
    fn webhook_attempted(&self, _: iam_core::webhook::DeliveryStatus) {}
}
