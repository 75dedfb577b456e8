//! Previews, and questions about earlier and later moments.

use std::collections::BTreeSet;

use iam_core::Caller;
use iam_core::access::{Question, Until};
use iam_core::assignment::{Assignment, AssignmentFilter};
use iam_core::preview::{Direction, RightChange};

use super::{World, all, kind, position};
use crate::foresight::{Difference, differences};
use crate::operation::{ASKED, Operation};
use crate::state::{NEVER, Tenant};

impl World<'_> {
    /// Tries a change out. Returns the number of users who gain or lose a right, with the rows; or the name of the
    /// refusal.
    pub(super) async fn preview(
        &self,
        tenant: usize,
        caller: &Caller,
        operation: &Operation,
    ) -> Result<(u64, BTreeSet<Difference>), String> {
        let trial = self.iam().trial();
        let outcome = self.attempt(&trial, tenant, caller, operation).await;
        let preview = trial.preview(caller, outcome).await.map_err(|error| kind(&error))?;
        if let Some(refusal) = preview.refusal {
            return Err(kind(&refusal));
        }
        assert!(!preview.truncated, "{}", self.story());
        let names = &self.names[tenant];
        let row = |change: &RightChange| Difference {
            user: position(&names.users, &change.user),
            spot: change.organization.map(|id| position(&names.organizations, &id)),
            permission: change.permission.to_string(),
            is_gain: change.direction == Direction::Gained,
            from: self.moment(Some(change.from)),
            until: match change.until {
                Until::Moment(moment) => self.moment(Some(moment)),
                Until::Forever => NEVER,
            },
            via: change.via.iter().map(|id| position(&names.assignments, id)).collect(),
        };
        let rows: BTreeSet<Difference> = preview.changes.iter().map(row).collect();
        assert_eq!(rows.len(), preview.changes.len(), "{}", self.story());
        Ok((preview.users, rows))
    }

    /// Compares a preview with what the change did.
    pub(super) fn check_preview(
        &self,
        tenant: usize,
        before: &Tenant,
        preview: (u64, BTreeSet<Difference>),
        sees_all: bool,
    ) {
        let after = &self.states[tenant];
        let expected = differences(before, after, self.now);
        let story = || format!("{}expected {expected:#?}\nfound {:#?}\n{before}\n{after}", self.story(), preview.1);
        let users: BTreeSet<usize> = expected.iter().map(|row| row.user).collect();
        assert_eq!(preview.0, users.len() as u64, "{}", story());
        assert!(preview.1.is_subset(&expected), "{}", story());
        assert!(!sees_all || preview.1 == expected, "{}", story());
    }

    /// Asks trusted code's questions about an earlier or a later moment.
    pub(super) async fn ask_about_another_moment(&mut self, tenant: usize) {
        let Some(last) = self.past.len().checked_sub(1) else { return };
        let at = if self.random.u8(..5) == 0 {
            self.now + self.random.i64(1..100_000)
        } else {
            let since = self.past[self.random.usize(..=last)].0;
            self.random.i64(since..=self.now)
        };
        let then = match self.past.iter().rev().find(|(moment, _)| *moment <= at) {
            Some((_, states)) if at < self.now => states[tenant].clone(),
            _ => self.states[tenant].clone(),
        };
        let (system, names, state) = (self.system(tenant), &self.names[tenant], &self.states[tenant]);
        let user = self.random.usize(..state.users.len());
        let spot = match state.organizations.len() {
            0 => None,
            count => Some(self.random.usize(..=count)).filter(|number| *number < count),
        };
        let permission = ASKED[self.random.usize(..ASKED.len())];
        let organization = spot.map(|number| names.organizations[number]);
        let story = || format!("{}{user} {permission} {spot:?} at {at}\nthen {then}", self.story());
        let existed = user < then.users.len() && spot.is_none_or(|number| number < then.organizations.len());
        let expected: BTreeSet<usize> = match existed {
            true => then.granting(user, permission, spot, at).into_iter().collect(),
            false => BTreeSet::new(),
        };
        let question = Question {
            permission: permission.parse().unwrap(),
            organization,
            user: Some(names.users[user]),
            at: Some(self.time(at)),
        };
        let decision = self.iam().access().check(&system, question).await.unwrap();
        let by = |number: usize| then.assignments[number].group.map(|group| names.groups[group]);
        let expected: BTreeSet<_> = expected.into_iter().map(|number| (number, by(number))).collect();
        let found = decision.grants.iter();
        let found: BTreeSet<_> =
            found.map(|grant| (position(&names.assignments, &grant.assignment), grant.directory_group)).collect();
        assert_eq!(found, expected, "{}", story());
        assert_eq!(decision.is_allowed(), !expected.is_empty(), "{}", story());

        let (access, asked) = (self.iam().access(), permission.parse().unwrap());
        let who = access.who(&system, asked, organization, Some(self.time(at)), all()).await.unwrap();
        let found: Vec<usize> = who.items.iter().map(|holder| position(&names.users, &holder.user.id)).collect();
        let holds = |user: &usize| then.may(*user, permission, spot, at);
        let exists = spot.is_none_or(|number| number < then.organizations.len());
        let expected: BTreeSet<usize> = (0..then.users.len()).filter(|user| exists && holds(user)).collect();
        assert_eq!((found.iter().copied().collect(), found.len()), (expected.clone(), expected.len()), "{}", story());
        assert_eq!(who.total, expected.len() as u64, "{}", story());

        let filter = AssignmentFilter { user: Some(names.users[user]), ..AssignmentFilter::default() };
        let listed = self.iam().assignments().list_at(&system, &filter, self.time(at), all()).await.unwrap();
        let of_user = self.iam().assignments().of_user_at(&system, names.users[user], self.time(at)).await.unwrap();
        let shown = |assignment: &Assignment| {
            let group = assignment.directory_group_id.map(|group| position(&names.groups, &group));
            (position(&names.assignments, &assignment.id), group)
        };
        let listed: BTreeSet<_> = listed.items.iter().map(|listed| shown(&listed.assignment)).collect();
        let of_user: BTreeSet<_> = of_user.iter().map(|grant| shown(&grant.assignment)).collect();
        let is_held = |number: &usize| then.assignments[*number].user == user && then.is_live(*number, at);
        let held = (0..then.assignments.len()).filter(is_held);
        let expected: BTreeSet<_> = held.map(|number| (number, then.assignments[number].group)).collect();
        assert_eq!((&listed, &of_user), (&expected, &expected), "{}", story());
    }
}
