use std::borrow::Cow;

use iam_model::access::{Authority, Rights};
use iam_model::clock::Timestamp;

use crate::caller::Caller;
use crate::engine::Engine;

/// The standing rights of a caller at a moment: without those by access requests
/// (`docs/access-requests.md#what-an-elevation-does-not-count-for`).
pub(crate) struct StandingRights<'a> {
    authority: Cow<'a, Authority>,
    now: Timestamp,
}

impl StandingRights<'_> {
    pub(crate) fn rights(&self) -> Rights<'_> {
        Rights::new(&self.authority, self.now)
    }
}

impl Engine {
    /// Returns the standing rights of a caller at this moment.
    pub(crate) fn standing<'a>(&self, caller: &'a Caller) -> StandingRights<'a> {
        StandingRights { authority: caller.authority().standing(), now: self.now() }
    }
}
