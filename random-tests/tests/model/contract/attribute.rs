//! Attributes of users (`docs/http-api.md#attributes`).

use super::{Actor, Expectation, OperationContext};
use crate::state::{Attributes, Kind, Rules};

impl OperationContext<'_> {
    pub(super) fn define_attributes(&self, v: &mut Expectation, rules: &Rules) {
        v.gate = self.gate("tenants:update", None);
        let cannot_be_searched = |kind| matches!(kind, Kind::Texts | Kind::Object);
        if rules.definitions.iter().any(|it| it.searchable && cannot_be_searched(it.kind)) {
            v.refusals.push("Validation");
        }
        v.after.rules = rules.clone();
    }

    /// Changes attributes by key. Null removes a key. What is not named is not checked again.
    pub(super) fn patch_attributes(&self, v: &mut Expectation, user: usize, patch: &Attributes) {
        let attributes = &mut v.after.users[user].attributes;
        for (key, value) in patch {
            if value.is_null() {
                attributes.remove(*key);
                continue;
            }
            if !self.state.rules.admit(key, value) {
                v.refusals.push("Validation");
            }
            attributes.insert(*key, value.clone());
        }
    }

    /// What a user changes of itself.
    pub(super) fn change_own(&self, v: &mut Expectation, patch: &Attributes) {
        let user = match self.actor {
            Actor::User(user) => user,
            Actor::Key(_) => return v.refusals.push("ApiKey"),
            Actor::System => return v.refusals.push("NotAUser"),
        };
        if !patch.keys().all(|key| self.state.rules.let_write(key)) {
            v.refusals.push("Validation");
        }
        self.patch_attributes(v, user, patch);
    }
}
