use std::sync::Arc;

use iam_model::access::{Authority, Rights};
use iam_model::clock::Timestamp;

/// The grant authority of the caller: what it may grant to others at this moment.
///
/// It comes from [`UnitOfWork::lock_grant_authority`](crate::engine::UnitOfWork::lock_grant_authority).
#[derive(Clone)]
pub(crate) struct GrantAuthority {
    authority: Arc<Authority>,
    now: Timestamp,
}

impl GrantAuthority {
    pub(super) fn new(authority: Authority, now: Timestamp) -> Self {
        Self { authority: Arc::new(authority), now }
    }

    /// The caller's rights.
    pub(crate) fn rights(&self) -> Rights<'_> {
        Rights::new(&self.authority, self.now)
    }
}
