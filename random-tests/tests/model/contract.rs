//! The contract of each operation: the reasons for a refusal, and the state after success.

#![cfg(test)]

mod assignment;
mod attribute;
mod directory;
mod federation;
mod group;
mod legal_hold;
mod organization;
mod read;
mod role;
mod user;

use crate::operation::{Operation, Ref};
use crate::state::{Assignment, Moment, Right, Spot, Status, Tenant, User, covers, uncovered_growth};

pub(crate) const MAX_DEPTH: usize = 5;

/// The time after an authentication in which its session can change credentials, in milliseconds.
const FRESH: Moment = 600_000;

/// The actor: a user of the tenant, a key, or trusted code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Actor {
    User(usize),
    /// The user that [`Tenant::with_key`] adds.
    Key(usize),
    System,
}

/// The correct results of an operation.
#[derive(Debug)]
pub(crate) struct Expectation {
    /// The refusals because of missing permissions. If there are any, the answer is one of these, also if there are
    /// other errors.
    pub(crate) gate: Vec<&'static str>,
    /// The other refusals. If there are any, and `gate` is empty, the answer is one of these.
    pub(crate) refusals: Vec<&'static str>,
    /// The refusals that the contract permits but does not require.
    pub(crate) tolerated: Vec<&'static str>,
    /// The hold that a refusal because of a hold names.
    pub(crate) held_by: Option<usize>,
    /// The state after success.
    pub(crate) after: Tenant,
}

impl Expectation {
    /// Whether an answer is correct: `Ok`, or the kind of the refusal.
    pub(crate) fn allows(&self, answer: Result<(), &str>) -> bool {
        match answer {
            Ok(()) => self.gate.is_empty() && self.refusals.is_empty(),
            // The refusal of an input that is invalid by itself discloses nothing, so it may come before `gate`.
            Err("Validation") => self.refusals.contains(&"Validation") || self.tolerated.contains(&"Validation"),
            Err(kind) if !self.gate.is_empty() => self.gate.contains(&kind),
            Err(kind) => self.refusals.contains(&kind) || self.tolerated.contains(&kind),
        }
    }
}

/// A tenant, the actor, and the time.
#[derive(Clone, Copy)]
pub(crate) struct OperationContext<'a> {
    pub(crate) tenant: usize,
    pub(crate) state: &'a Tenant,
    pub(crate) actor: Actor,
    pub(crate) now: Moment,
}

const FORBIDDEN: &str = "Permission";
const MISSING: &str = "NotFound";

impl OperationContext<'_> {
    fn own(&self, what: Ref) -> bool {
        what.tenant == self.tenant
    }

    pub(crate) fn may(&self, permission: &str, spot: Spot) -> bool {
        match self.actor {
            Actor::System => true,
            Actor::User(user) | Actor::Key(user) => self.state.may(user, permission, spot, self.now),
        }
    }

    /// The acting user. `None` for trusted code.
    fn user(&self) -> Option<usize> {
        match self.actor {
            Actor::User(user) | Actor::Key(user) => Some(user),
            Actor::System => None,
        }
    }

    /// Whether the caller may change credentials without a new authentication.
    fn is_fresh(&self) -> bool {
        self.user().is_none_or(|user| {
            self.state.authenticated.get(&user).is_some_and(|authenticated| self.now - authenticated <= FRESH)
        })
    }

    fn holds_anywhere(&self, permission: &str) -> bool {
        self.user().is_none_or(|user| self.state.holds_anywhere(user, permission, self.now))
    }

    /// The refusals of a caller without the permission in a resource scope. Empty if the caller has the permission.
    pub(crate) fn gate(&self, permission: &str, organization: Option<Ref>) -> Vec<&'static str> {
        let Some(organization) = organization else {
            return if self.may(permission, None) { vec![] } else { vec![FORBIDDEN] };
        };
        if !self.own(organization) {
            return vec![MISSING];
        }
        let Some(user) = self.user().filter(|_| !self.may(permission, Some(organization.index))) else {
            return vec![];
        };
        if self.state.sees(user, Some(organization.index), self.now) { vec![FORBIDDEN] } else { vec![MISSING] }
    }

    /// The same for an item that belongs to the whole tenant, and the refusal if the item does not exist.
    fn tenant_gate(&self, permission: &str, is_there: bool) -> (Vec<&'static str>, Vec<&'static str>) {
        (self.gate(permission, None), if is_there { vec![] } else { vec![MISSING] })
    }

    /// The refusals of an operation on a user, by whether the caller's permission covers the home and all assignments of
    /// the user, some of them or none. Expired assignments may count or not: the second list has the refusals that are
    /// permitted, too.
    fn user_gate(&self, permission: &str, user: Ref) -> (Vec<&'static str>, Vec<&'static str>) {
        if !self.holds_anywhere(permission) {
            return (vec![FORBIDDEN], vec![]);
        }
        if !self.own(user) {
            return (vec![MISSING], vec![]);
        }
        if self.may(permission, None) {
            return (vec![], vec![]);
        }
        let of_user = |assignment: &&Assignment| assignment.user == user.index && !assignment.gone;
        let within = |spot: Spot| spot.is_some() && self.may(permission, spot);
        let held: Vec<_> = self.state.assignments.iter().filter(of_user).collect();
        let mut live = held.iter().filter(|assignment| self.now < assignment.until);
        if !within(self.state.users[user.index].home) || !live.all(|assignment| within(assignment.spot)) {
            let is_seen = self.is_member(permission, user.index) || self.is_member("users:read", user.index);
            return (vec![if is_seen { FORBIDDEN } else { MISSING }], vec![]);
        }
        let doubtful = if held.iter().all(|assignment| within(assignment.spot)) { vec![] } else { vec![FORBIDDEN] };
        (vec![], doubtful)
    }

    /// Whether the caller can see a user, perhaps with a permission in only some organizations.
    pub(crate) fn is_member(&self, permission: &str, user: usize) -> bool {
        let within = |spot: Spot| spot.is_some() && self.may(permission, spot);
        self.may(permission, None)
            || within(self.state.users[user].home)
            || self.state.assignments.iter().any(|assignment| {
                assignment.user == user && !assignment.gone && self.now < assignment.until && within(assignment.spot)
            })
    }

    fn assignment_gate(&self, permission: &str, assignment: Ref) -> (Vec<&'static str>, Vec<&'static str>) {
        let found = self.own(assignment).then(|| &self.state.assignments[assignment.index]);
        let Some(found) = found.filter(|found| !found.gone) else {
            let gate = if self.holds_anywhere(permission) { vec![MISSING] } else { vec![FORBIDDEN, MISSING] };
            return (gate, vec![]);
        };
        let mut gate = self.gate(permission, found.spot.map(|index| Ref { tenant: self.tenant, index }));
        if !gate.is_empty() && (found.spot.is_none() || !self.holds_anywhere(permission)) {
            gate = vec![FORBIDDEN, MISSING];
        }
        (gate, if found.until <= self.now { vec![MISSING] } else { vec![] })
    }

    /// Whether the caller has all of these patterns in a resource scope until this time.
    fn has(&self, patterns: impl IntoIterator<Item = &'static str>, spot: Spot, until: Moment) -> bool {
        let Some(user) = self.user() else { return true };
        let rights = self.state.rights(user, self.now);
        let has = |pattern: &str| {
            rights.iter().any(|right| right.spot == spot && right.until >= until && covers(right.pattern, pattern))
        };
        patterns.into_iter().all(has)
    }

    /// Adds the refusal of a caller without a recent authentication that gives the rights to change what protects the
    /// tenant.
    fn check_protections(
        &self,
        v: &mut Expectation,
        patterns: impl IntoIterator<Item = &'static str>,
        spot: Spot,
        until: Moment,
    ) {
        let mut patterns = patterns.into_iter();
        let gives = patterns.any(|pattern| self.gives_protections(Right { pattern, spot, until }));
        if gives && !self.is_fresh() {
            v.refusals.push(self.not_fresh());
        }
    }

    /// Whether a right lets its holder change what protects the tenant.
    fn gives_protections(&self, Right { pattern, spot, until }: Right) -> bool {
        let protects = ["tenants:update", "audit-logs:update", "audit-logs:delete"];
        spot.is_none() && until > self.now && protects.iter().any(|permission| covers(pattern, permission))
    }

    /// The refusal of a caller without a recent authentication.
    fn not_fresh(&self) -> &'static str {
        if matches!(self.actor, Actor::Key(_)) { "ApiKey" } else { "NotFresh" }
    }

    /// Adds the refusal by the escalation check if a user would get rights that the caller does not have.
    fn check_growth(&self, expectation: &mut Expectation) {
        let Some(author) = self.user() else { return };
        let growth = |asleep| uncovered_growth(self.state, &expectation.after, Some(author), self.now, asleep);
        if !growth(false).is_empty() {
            expectation.refusals.push("Escalation");
        }
        if !growth(true).is_empty() {
            expectation.tolerated.push("Escalation");
        }
    }

    /// As [`check_growth`](Self::check_growth), for users who will be members of groups.
    fn check_growth_of_members(&self, expectation: &mut Expectation) {
        let Some(author) = self.user() else { return };
        let (before, after) = (self.state.with_member_of_all(), expectation.after.with_member_of_all());
        let growth = |asleep| uncovered_growth(&before, &after, Some(author), self.now, asleep);
        if !growth(false).is_empty() {
            expectation.refusals.push("Escalation");
        }
        if !growth(true).is_empty() {
            expectation.tolerated.push("Escalation");
        }
    }

    fn check_administrators(&self, expectation: &mut Expectation) {
        if self.state.administrators() > 0 && expectation.after.administrators() == 0 {
            expectation.refusals.push("LastAdministrator");
        }
    }

    fn is_registered(&self, pattern: &str) -> bool {
        let same = |name: &str| name == pattern || (pattern.ends_with(":*") && covers(pattern, name));
        pattern == "*" || self.state.permissions.iter().any(|found| !found.gone && same(found.name))
    }

    /// Evaluates an operation by the contract.
    pub(crate) fn evaluate(&self, operation: &Operation) -> Expectation {
        let after = self.state.clone();
        let mut expectation = Expectation { gate: vec![], refusals: vec![], tolerated: vec![], held_by: None, after };
        let v = &mut expectation;
        match operation {
            Operation::CreateRole { name, scope, permissions } => self.create_role(v, name, *scope, permissions),
            Operation::PatchRole { role, name, scope, permissions } => {
                self.patch_role(v, *role, name.as_ref(), *scope, permissions.as_deref());
            }
            Operation::DeleteRole { role } => self.delete_role(v, *role),
            Operation::Register { name } => self.register(v, name),
            Operation::Unregister { permission } => self.unregister(v, *permission),
            Operation::Assign { item } => self.assign(v, item),
            Operation::AssignAll { items } => {
                for item in items {
                    self.assign(v, item);
                }
                // The items can have different refusals, and the answer may be any of them. So a caller that lacks the
                // permission for one item may learn about another.
                if items.len() > 1 && !v.gate.is_empty() {
                    v.refusals.append(&mut v.gate);
                }
            }
            Operation::Revoke { assignment } => self.revoke(v, *assignment),
            Operation::Expire { assignment, until } => self.expire(v, *assignment, *until),
            Operation::CreateOrganization { name, slug, parent } => {
                self.create_organization(v, name, slug.as_ref(), *parent);
            }
            Operation::PatchOrganization { organization, patch } => self.patch_organization(v, *organization, patch),
            Operation::DeleteOrganization { organization } => {
                v.gate = self.gate("organizations:delete", Some(*organization));
                if v.gate.is_empty() && !self.state.is_inactive(organization.index) {
                    self.deactivate(v, organization.index);
                }
            }
            Operation::CreateUser { email, home } => {
                v.gate = self.gate("users:create", None);
                self.check_email(v, None, email);
                self.check_home(v, *home);
                let (email, first_name) = (email.clone(), "Ada".to_owned());
                let home = home.map(|home| home.index);
                v.after.users.push(User { email, has_password: true, first_name, home, ..User::default() });
            }
            Operation::CreateAccount => {
                v.gate = self.gate("users:create", None);
                let email = format!("account {}", v.after.users.len());
                let first_name = "Robot".to_owned();
                v.after.users.push(User { email, is_service: true, first_name, ..User::default() });
            }
            Operation::CreateDirectory { account, adopts } => self.create_directory(v, *account, *adopts),
            Operation::DeleteDirectory { directory, suspends } => self.delete_directory(v, *directory, *suspends),
            Operation::SetGrants { group, grants } => self.set_grants(v, *group, grants),
            Operation::Provision { directory, provision } => self.provision(v, *directory, provision),
            Operation::Review { user, kept } => self.review(v, *user, *kept),
            Operation::DefineAttributes { rules } => self.define_attributes(v, rules),
            Operation::ChangeOwn { patch } => self.change_own(v, patch),
            Operation::PlaceHold { user } => self.place_hold(v, *user),
            Operation::ReleaseHold { hold } => self.release_hold(v, *hold),
            Operation::Erase { user } => self.erase(v, *user),
            Operation::PatchUser { user, patch } => self.patch_user(v, *user, patch),
            Operation::Suspend { user } | Operation::Reactivate { user } => {
                (v.gate, v.tolerated) = self.user_gate("users:update", *user);
                if v.gate.is_empty() {
                    if self.state.users[user.index].status == Status::Inactive {
                        v.refusals.push("UserInactive");
                    } else {
                        let is_suspension = matches!(operation, Operation::Suspend { .. });
                        self.set_status(v, user.index, if is_suspension { Status::Suspended } else { Status::Active });
                    }
                }
            }
            Operation::DeleteUser { user } => {
                (v.gate, v.tolerated) = self.user_gate("users:delete", *user);
                if v.gate.is_empty() {
                    self.set_status(v, user.index, Status::Inactive);
                }
            }
            Operation::VerifyEmail { user } => {
                if self.state.users[*user].status == Status::Inactive {
                    v.refusals.push("UserInactive");
                }
                v.after.users[*user].is_verified = true;
            }
            Operation::LogIn { person } => self.log_in(v, person),
            Operation::Link { person } => self.link(v, person),
            Operation::Unlink { identity } => self.unlink(v, *identity),
            Operation::StepUp if self.user().is_none() => v.refusals.push("NotAUser"),
            Operation::StepUp if matches!(self.actor, Actor::Key(_)) => v.refusals.push("ApiKey"),
            Operation::StepUp if self.user().is_some_and(|user| !self.state.users[user].has_password) => {
                v.refusals.push("Credentials");
            }
            Operation::StepUp | Operation::Sweep | Operation::Wait { .. } | Operation::Read(_) => {}
        }
        expectation
    }
}
