//! Logins by identity providers.

use super::{Actor, Expectation, FORBIDDEN, MISSING, OperationContext};
use crate::operation::{COMPANY, Person, Ref};
use crate::state::{Assignment, Identity, NEVER, Spot, Status, User};

impl OperationContext<'_> {
    /// A login by a provider (`docs/federation.md#whose-account`). No caller grants what it gives.
    pub(super) fn log_in(&self, v: &mut Expectation, person: &Person) {
        let state = self.state;
        let Person { provider, subject, email, is_verified, .. } = person;
        if let Some(user) = state.linked(*provider, subject) {
            match state.users[user].status {
                Status::Active => {}
                Status::Suspended => v.refusals.push("Suspended"),
                Status::Inactive => v.refusals.push("Credentials"),
            }
            return;
        }
        let is_company = *provider == COMPANY;
        let is_of_domain = email.ends_with(&format!("@{}", state.domain));
        let holder = state.users.iter().position(|user| user.email == *email);
        let user = holder.unwrap_or(state.users.len());
        if holder.is_some() {
            let (found, providers) = (&state.users[user], state.providers_of(user));
            let may_be_linked = (is_company && is_of_domain && *is_verified)
                && (found.status == Status::Active && found.is_verified)
                && (found.has_password || providers.is_empty() || providers.contains(&COMPANY))
                && !providers.contains(provider);
            let is_everything =
                |it: &&Assignment| it.user == user && !it.gone && state.roles[it.role].permissions.contains("*");
            let everything: Vec<_> = state.assignments.iter().filter(is_everything).collect();
            if !may_be_linked || everything.iter().any(|it| self.now < it.until) {
                v.refusals.push("NotLinked");
            } else if !everything.is_empty() {
                // An expired assignment may count or not.
                v.tolerated.push("NotLinked");
            }
        } else {
            if !is_verified || is_company != is_of_domain {
                v.refusals.push("NotLinked");
            }
            let (email, first_name) = (email.clone(), "Grace".to_owned());
            v.after.users.push(User { email, is_verified: is_company, first_name, ..User::default() });
            let can_be_held = |(role, spot): &(usize, Spot)| {
                let role = &state.roles[*role];
                let is_there = !role.gone && spot.is_none_or(|spot| !state.is_inactive(spot));
                is_there && role.scope.fits(*spot) && !role.permissions.contains("*")
            };
            if let Some((role, spot)) = state.provided.filter(can_be_held) {
                v.after.assignments.push(Assignment { user, role, spot, until: NEVER, group: None, gone: false });
            }
        }
        v.after.identities.push(identity(user, person));
    }

    pub(super) fn link(&self, v: &mut Expectation, person: &Person) {
        let user = match self.actor {
            Actor::User(user) => user,
            Actor::Key(_) => return v.refusals.push("ApiKey"),
            Actor::System => return v.refusals.push("NotAUser"),
        };
        if !self.is_fresh() {
            v.refusals.push(self.not_fresh());
        }
        let is_taken = self.state.linked(person.provider, &person.subject).is_some();
        if is_taken || self.state.providers_of(user).contains(&person.provider) {
            v.refusals.push("IdentityLinked");
        }
        v.after.identities.push(identity(user, person));
    }

    pub(super) fn unlink(&self, v: &mut Expectation, identity: Ref) {
        const NEEDED: &str = "users:update";
        let found = self.own(identity).then(|| &self.state.identities[identity.index]).filter(|found| !found.gone);
        let is_own = found.is_some_and(|found| self.actor == Actor::User(found.user));
        if !is_own {
            (v.gate, v.tolerated) = match found {
                Some(found) => self.user_gate(NEEDED, Ref { tenant: self.tenant, index: found.user }),
                None if self.holds_anywhere(NEEDED) => (vec![MISSING], vec![]),
                None => (vec![FORBIDDEN], vec![]),
            };
        }
        if !self.is_fresh() && (is_own || self.holds_anywhere(NEEDED)) {
            let refusals = if v.gate.is_empty() { &mut v.refusals } else { &mut v.gate };
            refusals.push(self.not_fresh());
        }
        let Some(found) = found.filter(|_| v.gate.is_empty()) else { return };
        // Without the link, another person with the address may get the account with all its rights.
        if !is_own && !self.covers_account(found.user) {
            v.refusals.push("Escalation");
        }
        let user = &self.state.users[found.user];
        if user.status != Status::Inactive && !user.has_password && self.state.providers_of(found.user).len() == 1 {
            v.refusals.push("LastIdentity");
        }
        v.after.identities[identity.index].gone = true;
    }
}

fn identity(user: usize, person: &Person) -> Identity {
    Identity { user, provider: person.provider, subject: person.subject.clone(), gone: false }
}
