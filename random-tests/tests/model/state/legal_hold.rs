//! Legal holds.

use super::Tenant;

/// An order that data is kept: that of a user, or of the whole tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) user: Option<usize>,
    pub(crate) gone: bool,
}

/// What would be destroyed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Destroyed {
    Log,
    OfUser(usize),
    OfDirectory(usize),
}

impl Tenant {
    /// The hold that keeps something, the oldest one of several.
    pub(crate) fn hold_on(&self, destroyed: Destroyed) -> Option<usize> {
        self.holds.iter().position(|hold| {
            !hold.gone
                && hold.user.is_none_or(|held| match destroyed {
                    Destroyed::Log => true,
                    Destroyed::OfUser(user) => held == user,
                    Destroyed::OfDirectory(directory) => {
                        self.entries.get(&held).is_some_and(|entry| entry.directory == directory)
                    }
                })
        })
    }
}
