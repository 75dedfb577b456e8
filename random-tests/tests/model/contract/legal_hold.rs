//! Legal holds, and the erasure of a user (`docs/operating.md#legal-holds`).

use super::{Actor, Expectation, MISSING, OperationContext};
use crate::operation::Ref;
use crate::state::{Destroyed, Hold, Status};

impl OperationContext<'_> {
    /// Adds the refusal of a change that destroys what a hold keeps.
    pub(super) fn check_hold(&self, v: &mut Expectation, destroyed: Destroyed) {
        if let Some(hold) = self.state.hold_on(destroyed) {
            v.refusals.push("LegalHold");
            v.held_by = Some(hold);
        }
    }

    /// The user as whom the caller acts, itself or by a key.
    fn itself(&self) -> Option<usize> {
        match self.actor {
            Actor::User(user) => Some(user),
            Actor::Key(_) => self.state.owner_of_key,
            Actor::System => None,
        }
    }

    pub(super) fn place_hold(&self, v: &mut Expectation, user: Option<Ref>) {
        v.gate = self.gate("iam-legal-holds:create", None);
        if user.is_some_and(|user| !self.own(user)) {
            v.refusals.push(MISSING);
        }
        v.after.holds.push(Hold { user: user.map(|user| user.index), gone: false });
    }

    pub(super) fn release_hold(&self, v: &mut Expectation, hold: Ref) {
        v.gate = self.gate("iam-legal-holds:delete", None);
        if !self.is_fresh() {
            v.refusals.push(self.not_fresh());
        }
        if !self.own(hold) || self.state.holds[hold.index].gone {
            v.refusals.push(MISSING);
            return;
        }
        let held = self.state.holds[hold.index].user;
        if held.is_some() && held == self.itself() {
            v.refusals.push("OwnLegalHold");
        }
        v.after.holds[hold.index].gone = true;
    }

    /// Removes what names a deleted user, beside the user itself.
    pub(super) fn erase(&self, v: &mut Expectation, user: Ref) {
        v.gate = self.gate("audit-logs:delete", None);
        if !self.is_fresh() {
            v.refusals.push(self.not_fresh());
        }
        if !self.own(user) {
            v.refusals.push(MISSING);
            return;
        }
        let user = user.index;
        if self.itself() == Some(user) {
            v.refusals.push("OwnEntries");
        }
        if self.state.users[user].status != Status::Inactive {
            v.refusals.push("UserNotInactive");
        }
        self.check_hold(v, Destroyed::OfUser(user));
        if !self.state.users[user].attributes.is_empty() {
            v.after.users[user].attributes.clear();
            v.after.users[user].ended = self.now;
        }
        for identity in v.after.identities.iter_mut().filter(|identity| identity.user == user) {
            identity.gone = true;
        }
        v.after.entries.remove(&user);
    }
}
