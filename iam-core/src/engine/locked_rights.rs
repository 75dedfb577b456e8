use std::sync::Arc;

use iam_model::access::{Authority, Rights};
use iam_model::clock::Timestamp;

/// The rights of the caller under the tenant's lock, which it may grant to others at this moment.
///
/// It comes from [`UnitOfWork::lock_rights`](crate::engine::UnitOfWork::lock_rights).
#[derive(Clone)]
pub(crate) struct LockedRights {
    authority: Arc<Authority>,
    now: Timestamp,
}

impl LockedRights {
    pub(super) fn new(authority: Authority, now: Timestamp) -> Self {
        Self { authority: Arc::new(authority), now }
    }

    /// The number of patterns in all roles of the caller.
    pub(super) fn patterns(&self) -> usize {
        self.authority.patterns()
    }

    /// The rights by themselves, for a computation that goes on beside the unit of work.
    pub(super) fn authority(&self) -> &Arc<Authority> {
        &self.authority
    }

    /// When they were read.
    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// The caller's rights.
    pub(crate) fn rights(&self) -> Rights<'_> {
        Rights::new(&self.authority, self.now)
    }
}
