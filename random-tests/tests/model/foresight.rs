//! What a change does to the rights of users, by comparing all of them before and after it.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};

use iam_core::assignment::Assignments;
use iam_core::directory::Directories;
use iam_core::organization::Organizations;
use iam_core::role::Roles;
use iam_core::user::Users;
use iam_core::{Iam, Trial};

use crate::state::{Moment, Spot, Tenant};

/// The services with previews.
pub(crate) trait Services {
    fn users(&self) -> Users<'_>;
    fn roles(&self) -> Roles<'_>;
    fn organizations(&self) -> Organizations<'_>;
    fn assignments(&self) -> Assignments<'_>;
    fn directories(&self) -> Directories<'_>;
}

macro_rules! services {
    ($($provider:ty),+) => {$(
        impl Services for $provider {
            fn users(&self) -> Users<'_> {
                self.users()
            }

            fn roles(&self) -> Roles<'_> {
                self.roles()
            }

            fn organizations(&self) -> Organizations<'_> {
                self.organizations()
            }

            fn assignments(&self) -> Assignments<'_> {
                self.assignments()
            }

            fn directories(&self) -> Directories<'_> {
                self.directories()
            }
        }
    )+};
}

services! { Iam, Trial }

/// A permission that a user gains or loses in a place, for a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Difference {
    pub(crate) user: usize,
    pub(crate) spot: Spot,
    pub(crate) permission: String,
    pub(crate) is_gain: bool,
    pub(crate) from: Moment,
    pub(crate) until: Moment,
    /// The assignments that give the permission longer than `from`, without new ones.
    pub(crate) via: BTreeSet<usize>,
}

/// Compares every permission of every user in every place that exists before and after a change. A place about which a
/// place above it tells everything is left out.
pub(crate) fn differences(before: &Tenant, after: &Tenant, now: Moment) -> BTreeSet<Difference> {
    let spots: Vec<Spot> = std::iter::once(None).chain((0..before.organizations.len()).map(Some)).collect();
    let held_until = |state: &Tenant, user, permission: &str, spot| {
        let granting = state.granting(user, permission, spot, now).into_iter();
        granting.map(|number| state.assignments[number].until).max().unwrap_or(now)
    };
    let via = |state: &Tenant, user, permission: &str, spot, from| {
        let granting = state.granting(user, permission, spot, now).into_iter();
        let gives = |number: &usize| *number < before.assignments.len() && state.assignments[*number].until > from;
        granting.filter(gives).collect()
    };
    let mut differences = BTreeSet::new();
    for user in 0..before.users.len() {
        for permission in before.permissions.iter().filter(|permission| !permission.gone) {
            let mut found: BTreeMap<Spot, (bool, Moment, Moment)> = BTreeMap::new();
            for spot in &spots {
                let was = held_until(before, user, permission.name, *spot);
                let is = held_until(after, user, permission.name, *spot);
                if was != is {
                    found.insert(*spot, (is > was, was.min(is), was.max(is)));
                }
            }
            for (spot, (is_gain, from, until)) in &found {
                let above = spot.iter().flat_map(|spot| after.lineage(*spot).into_iter().skip(1).map(Some));
                let mut above = above.chain(spot.map(|_| None));
                let is_told = above.any(|above| {
                    found.get(&above).is_some_and(|(gain, told_from, told_until)| {
                        gain == is_gain && told_from <= from && told_until >= until
                    })
                });
                if !is_told {
                    differences.insert(Difference {
                        user,
                        spot: *spot,
                        permission: permission.name.to_owned(),
                        is_gain: *is_gain,
                        from: *from,
                        until: *until,
                        via: via(if *is_gain { after } else { before }, user, permission.name, *spot, *from),
                    });
                }
            }
        }
    }
    differences
}
