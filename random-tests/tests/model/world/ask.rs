//! Questions to the service, and to the snapshots of users without it.

use std::collections::BTreeSet;

use iam_core::Caller;
use iam_core::access::{Authority, Decision, Question, Snapshot};

use super::{World, kind, position, user_status, variant};
use crate::contract::{Actor, OperationContext};
use crate::operation::{ASKED, Chooser};
use crate::state::{Spot, Tenant};

impl World<'_> {
    pub(super) async fn ask(&mut self, tenant: usize, actor: Actor, state: &Tenant, caller: &Caller) {
        let mut chooser = Chooser { random: &mut self.random, tenants: &self.states, tenant, now: self.now };
        let about = (chooser.random.u8(..3) > 0).then(|| chooser.user());
        let organization = if chooser.random.u8(..4) > 0 { chooser.organization() } else { None };
        let permission = ASKED[self.random.usize(..ASKED.len())];
        let question = Question {
            permission: permission.parse().unwrap(),
            organization: organization.map(|organization| self.organization(organization)),
            user: about.map(|user| self.user(user)),
            at: None,
        };
        let answer = self.iam().access().check(caller, question).await;
        let shown = match &answer {
            Ok(decision) => format!("{:?} {}", decision.denial, decision.grants.len()),
            Err(error) => kind(error),
        };
        self.note(&format!("{actor:?}: {about:?} {permission} {organization:?}? {shown}"));
        let context = OperationContext { tenant, state, actor, now: self.now };
        let gate = context.question_gate(about, organization);
        let story = || format!("{}gate {gate:?}\n{state}", self.story());
        let decision = match answer {
            Err(error) => {
                let kind = kind(&error);
                return assert!(gate.contains(&&*kind), "{}", story());
            }
            Ok(decision) => {
                assert!(gate.is_empty(), "{}", story());
                decision
            }
        };
        let spot = organization.map(|organization| organization.index);
        let asked = match (about, actor) {
            (Some(user), _) => user.index,
            (None, Actor::User(user)) => user,
            (None, Actor::Key(_)) => {
                return assert_eq!(decision.is_allowed(), context.may(permission, spot), "{}", story());
            }
            (None, Actor::System) => return assert!(decision.is_allowed(), "{}", story()),
        };
        let knows_all = actor == Actor::User(asked) || context.may("role-assignments:read", None);
        if !knows_all && !state.holds_here(asked, permission, spot, self.now) {
            // Not every caller may learn what the user holds in other scopes, and which status the user has.
            let denial = decision.denial.map(|denial| variant(&denial));
            assert!(matches!(denial.as_deref(), Some("NotHeld" | "Expired" | "OrganizationNotActive")), "{}", story());
            return;
        }
        self.check_decision(tenant, asked, permission, spot, &decision);
    }

    pub(super) fn check_decision(&self, tenant: usize, user: usize, permission: &str, spot: Spot, decision: &Decision) {
        let (state, names) = (&self.states[tenant], &self.names[tenant]);
        let story = || format!("{}{user} {permission} {spot:?}: {decision:?}\n{state}", self.story());
        let granting: BTreeSet<_> = state.granting(user, permission, spot, self.now).into_iter().collect();
        let named: BTreeSet<_> =
            decision.grants.iter().map(|grant| position(&names.assignments, &grant.assignment)).collect();
        assert_eq!(granting, named, "{}", story());
        assert_eq!(decision.is_allowed(), !granting.is_empty(), "{}", story());
        for grant in &decision.grants {
            let assignment = &state.assignments[position(&names.assignments, &grant.assignment)];
            let held = assignment.spot.map(|number| names.organizations[number]);
            let inherited = held.filter(|_| assignment.spot != spot);
            assert_eq!((grant.organization, grant.inherited_from), (held, inherited), "{}", story());
            let group = assignment.group.map(|number| names.groups[number]);
            assert_eq!((grant.role, grant.directory_group), (names.roles[assignment.role], group), "{}", story());
        }
        if let Some(denial) = decision.denial {
            let name = variant(&denial);
            assert!(state.denials(user, permission, spot, self.now).contains(&&*name), "{}", story());
        }
    }

    /// Loads a user from the store, and checks the answers of the user's snapshot without the service.
    pub(super) async fn check_random_snapshot(&mut self, tenant: usize) {
        let user = self.random.usize(..self.states[tenant].users.len());
        let organization = match self.states[tenant].organizations.len() {
            0 => None,
            count => Some(self.random.usize(..count)),
        };
        let snapshot = self.snapshot(tenant, &[user], organization.into_iter().collect()).await;
        let permissions = [ASKED[self.random.usize(..ASKED.len())], ASKED[self.random.usize(..ASKED.len())]];
        for spot in [None, organization] {
            for permission in permissions {
                self.check_snapshot(&snapshot, tenant, user, permission, spot);
            }
        }
    }

    pub(super) async fn snapshot(&self, tenant: usize, users: &[usize], organizations: Vec<usize>) -> Snapshot {
        let (state, names, store) = (&self.states[tenant], &self.names[tenant], &self.installation.store);
        let ids: Vec<_> = organizations.iter().map(|number| names.organizations[*number]).collect();
        let lineages = store.lineages(self.ids[tenant], &ids).await.unwrap();
        let mut snapshot = Snapshot::new(lineages.into_iter().collect());
        let ids: Vec<_> = users.iter().map(|user| names.users[*user]).collect();
        let grants = store.grants_of(self.ids[tenant], &ids).await.unwrap();
        for user in users {
            let id = names.users[*user];
            let own = grants.iter().filter(|grant| grant.assignment.user_id == id);
            snapshot.insert(id, user_status(state.users[*user].status), Authority::of(own));
        }
        snapshot
    }

    pub(super) fn check_snapshot(&self, snapshot: &Snapshot, tenant: usize, user: usize, permission: &str, spot: Spot) {
        let names = &self.names[tenant];
        let organization = spot.map(|number| names.organizations[number]);
        let (id, asked, now) = (names.users[user], permission.parse().unwrap(), self.time(self.now));
        let allows = snapshot.allows(id, &asked, organization, now);
        assert_eq!(allows, self.states[tenant].may(user, permission, spot, self.now), "{}", self.story());
        let decision = snapshot.explain(id, &asked, organization, now).unwrap();
        self.check_decision(tenant, user, permission, spot, &decision);
    }
}
