//! The least cost of a decision: a loop over a vector, a bit for each permission, and parents by their numbers.

#![expect(clippy::indexing_slicing, reason = "every number comes from the world, which does not change")]

use super::contest::{Contestant, Outcome};
use super::world::World;

/// No organization: the parent of a root, or tenant-wide.
const NONE: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct Floor {
    /// The index of each user's first grant, and at the end the number of all grants.
    starts: Vec<u32>,
    /// The role, and the organization in which it is held.
    grants: Vec<(u32, u32)>,
    /// A bit for each permission.
    roles: Vec<u128>,
    parents: Vec<u32>,
    /// User, permission, organization.
    questions: Vec<(u32, u32, u32)>,
}

impl Floor {
    pub(crate) fn load(world: &World) -> Outcome<Box<dyn Contestant>> {
        let narrow = |number: Option<usize>| number.map_or(Ok(NONE), u32::try_from);
        let mut floor = Self::default();
        for user in 0..world.users {
            floor.starts.push(u32::try_from(floor.grants.len())?);
            for assigned in world.assignments_of(user) {
                floor.grants.push((u32::try_from(assigned.role)?, narrow(assigned.organization)?));
            }
        }
        floor.starts.push(u32::try_from(floor.grants.len())?);
        floor.roles = world.roles.iter().map(|role| role.iter().fold(0, |bits, number| bits | 1 << number)).collect();
        floor.parents = world.parents.iter().map(|parent| narrow(*parent)).collect::<Result<_, _>>()?;
        Ok(Box::new(floor))
    }

    fn is_within(&self, mut organization: u32, wanted: u32) -> bool {
        while organization != NONE {
            if organization == wanted {
                return true;
            }
            organization = self.parents[organization as usize];
        }
        false
    }
}

impl Contestant for Floor {
    fn prepare(&mut self, world: &World) {
        let narrow = |number: usize| u32::try_from(number).unwrap_or(NONE);
        let questions = world.questions.iter();
        self.questions =
            questions.map(|it| (narrow(it.user), narrow(it.permission), narrow(it.organization))).collect();
    }

    fn allows(&self, number: usize) -> bool {
        let (user, permission, organization) = self.questions[number];
        let user = user as usize;
        let grants = &self.grants[self.starts[user] as usize..self.starts[user + 1] as usize];
        grants.iter().any(|(role, held_in)| {
            self.roles[*role as usize] >> permission & 1 == 1
                && (*held_in == NONE || self.is_within(organization, *held_in))
        })
    }
}
