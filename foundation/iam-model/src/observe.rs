//! The port of an [`Observer`] of the operations of a store, of password hashing and of webhooks, for instance for
//! metrics.

use std::time::Duration;

use crate::change::LoginFailure;
use crate::store_error::StoreError;
use crate::webhook::DeliveryStatus;

/// Receives reports. It is called during every request, so it must not wait for anything.
pub trait Observer: Send + Sync + 'static {
    /// The store has finished an operation, or failed, after the time `took`. `operation` is the name of the port's
    /// method. Called in the task that called the store.
    fn store_answered(&self, operation: &'static str, took: Duration, error: Option<&StoreError>);

    /// A login failed, and the failure is committed.
    fn login_failed(&self, reason: LoginFailure);

    /// A password was hashed, to store or to verify it. It waited for the time `waited`, and the hash then took the
    /// time `took`. Called in the task that needed the hash.
    fn password_hashed(&self, waited: Duration, took: Duration);

    /// A password was not hashed, because too many passwords already wait; see
    /// [`Error::Overloaded`](crate::error::Error::Overloaded).
    fn password_refused(&self);

    /// A webhook has sent an event, or has failed to do so. `status` is the state of the delivery after this attempt.
    fn webhook_attempted(&self, status: DeliveryStatus);
}
