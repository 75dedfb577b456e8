//! The change feed: notifies a process of the commits of other replicas.

use std::time::Instant;

use async_trait::async_trait;
use uuid::Uuid;

use crate::store_error::StoreError;

/// Notifies a subscriber of all commits that may change the rights of a user, by any replica or program.
///
/// Each changed resource is named by its id: a tenant or user whose status changes, a user whose role assignments
/// change, a session that ends, a role or an organization that changes, a signing key that is revoked. Cache entries
/// that depend on the id are then stale. An unnecessary notification costs a query. A missing notification is a
/// security hole: a revoked permission stays usable.
///
/// A log that gets new sequence numbers is named by its [`log_id`](crate::audit::log_id). Those who wait for its
/// entries then read them.
#[async_trait]
pub trait ChangeFeed: Send {
    /// Waits for the next notification. An error ends the feed, and the subscriber then opens another one. A feed must
    /// also end with an error when it cannot say for a long time that it is [complete](FeedNotification::complete_at).
    async fn next(&mut self) -> Result<FeedNotification, StoreError>;
}

/// A notification of a [`ChangeFeed`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedNotification {
    /// The ids of the changed resources.
    pub changed: Vec<Uuid>,
    /// If known: this notification and the earlier ones of the same feed contain all changes that were committed before
    /// this moment.
    pub complete_at: Option<Instant>,
}
