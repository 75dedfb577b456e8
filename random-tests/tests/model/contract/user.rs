//! Users.

use super::{Expectation, MISSING, OperationContext};
use crate::operation::{Ref, UserPatch};
use crate::state::{Destroyed, Right, Status};

impl OperationContext<'_> {
    /// The user with an address.
    pub(super) fn holder_of(&self, email: &str) -> Option<usize> {
        self.state.users.iter().position(|user| user.email == email)
    }

    pub(super) fn check_email(&self, v: &mut Expectation, own: Option<usize>, email: &str) {
        if let Some(holder) = self.holder_of(email).filter(|holder| Some(*holder) != own) {
            // A caller who may read the deleted user can restore it instead.
            let is_deleted = self.state.users[holder].status == Status::Inactive;
            let is_told = is_deleted && self.is_member("users:read", holder);
            v.refusals.push(if is_told { "EmailOfDeletedUser" } else { "EmailTaken" });
        }
    }

    pub(super) fn check_home(&self, v: &mut Expectation, home: Option<Ref>) {
        let Some(home) = home else { return };
        if !self.own(home) {
            v.refusals.push(MISSING);
        } else if self.state.is_inactive(home.index) {
            v.refusals.push("OrganizationInactive");
        }
    }

    pub(super) fn patch_user(&self, v: &mut Expectation, user: Ref, patch: &UserPatch) {
        let UserPatch { email, first_name, status, home, attributes } = patch;
        (v.gate, v.tolerated) = self.user_gate("users:update", user);
        if !v.gate.is_empty() {
            return;
        }
        let before = &self.state.users[user.index];
        if before.is_service && (email.is_some() || first_name.is_some()) {
            v.refusals.push("Validation");
        }
        if let Some(email) = email {
            self.check_email(v, Some(user.index), email);
            v.after.users[user.index].email.clone_from(email);
            v.after.users[user.index].is_verified &= *email == before.email;
            let is_own = self.user() == Some(user.index);
            if *email != before.email && !is_own && !self.covers_account(user.index) {
                v.refusals.push("Escalation");
            }
            if *email != before.email && !self.is_fresh() {
                v.refusals.push(self.not_fresh());
            }
        }
        if let Some(first_name) = first_name {
            v.after.users[user.index].first_name.clone_from(first_name);
        }
        if let Some(attributes) = attributes {
            self.patch_attributes(v, user.index, attributes);
        }
        if let Some(home) = *home
            && home != before.home.map(|index| Ref { tenant: self.tenant, index })
        {
            v.refusals.extend(self.gate("users:update", None));
            self.check_home(v, home);
            v.after.users[user.index].home = home.map(|home| home.index);
        }
        let Some(status) = status.filter(|status| *status != before.status) else {
            // Also where nothing would change: what is kept cannot be guessed.
            let names_attributes = attributes.as_ref().is_some_and(|attributes| !attributes.is_empty());
            let names_more = email.is_some() || first_name.is_some() || home.is_some() || names_attributes;
            if before.status == Status::Inactive && names_more {
                v.refusals.push("UserInactive");
            }
            return;
        };
        if status == Status::Inactive {
            let (gate, doubtful) = self.user_gate("users:delete", user);
            v.refusals.extend(gate);
            v.tolerated.extend(doubtful);
        }
        if before.status == Status::Inactive {
            v.refusals.extend(self.gate("users:create", None));
            // Otherwise, its directory could neither see the user nor make it again.
            if let Some(entry) = v.after.entries.get_mut(&user.index) {
                entry.deleted = None;
            }
        }
        self.set_status(v, user.index, status);
    }

    /// Whether the caller has all rights of a user, also those that are suspended for now. A caller that changes the
    /// e-mail or the external identifier could get into the account: by a password reset, or by another system.
    pub(super) fn covers_account(&self, user: usize) -> bool {
        let rights = self.state.rights_asleep(user, self.now);
        rights.iter().all(|right| self.has([right.pattern], right.spot, right.until))
    }

    pub(super) fn set_status(&self, v: &mut Expectation, user: usize, status: Status) {
        v.after.users[user].status = status;
        if status == Status::Inactive {
            if self.state.users[user].status != Status::Inactive {
                self.check_hold(v, Destroyed::OfUser(user));
                v.after.users[user].ended = self.now;
            }
            v.after.leave_groups(user);
            for assignment in &mut v.after.assignments {
                assignment.gone |= assignment.user == user;
            }
        }
        self.check_administrators(v);
        self.check_growth(v);
        let wakes = status == Status::Active && self.state.users[user].status != Status::Active;
        if wakes && !self.covers_account(user) {
            v.tolerated.push("Escalation");
        }
        if wakes {
            self.check_protections_of(v, user);
        }
    }

    /// Adds the refusal of a caller without a recent authentication, if a user may change what protects the tenant.
    pub(super) fn check_protections_of(&self, v: &mut Expectation, user: usize) {
        for Right { pattern, spot, until } in self.state.rights_asleep(user, self.now) {
            self.check_protections(v, [pattern], spot, until);
        }
    }
}
