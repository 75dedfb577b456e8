//! How a process learns what others have committed.

use std::time::Instant;

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::StoreError;

/// Tells what is committed, by whomever, that may change who may do what.
///
/// What changes is named by its identifier: a user whose status or role assignments change, a session that ends, a role
/// or an organization that is changed. Whatever of it was kept is then not to be believed any more. To tell too much
/// costs a query; to keep one to itself is a hole.
#[async_trait]
pub trait ChangeFeed: Send {
    /// Waits for the next news. An error ends the feed, and whoever follows it asks for another; so does one that has
    /// told nothing [complete](News::complete_at) for long.
    async fn next(&mut self) -> Result<News, StoreError>;
}

/// What a [`ChangeFeed`] has to tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// What has changed.
    pub changed: Vec<Uuid>,
    /// If it is known: whatever was committed before this moment has been told, by these news or earlier ones of the
    /// same feed.
    pub complete_at: Option<Instant>,
}
