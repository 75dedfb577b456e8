//! The tenant for the decisions, as plain numbers. Each contestant builds from it the form that suits it best.

use std::collections::HashSet;

use fastrand::Rng;

/// The size of a world.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) users: usize,
    pub(crate) roles: usize,
    pub(crate) assignments: usize,
    /// The number of organizations on each level. A root is on level 0.
    pub(crate) levels: [usize; 6],
    pub(crate) questions: usize,
}

impl Size {
    /// The size for measurements, with as many levels as the default settings allow.
    pub(crate) const FULL: Self =
        Self { users: 10_000, roles: 100, assignments: 50_000, levels: [5, 20, 75, 200, 300, 400], questions: 50_000 };
    /// The size for a check that everything works.
    pub(crate) const SMALL: Self =
        Self { users: 20, roles: 10, assignments: 100, levels: [1, 2, 3, 4, 5, 5], questions: 500 };
}

const PERMISSIONS_PER_ROLE: usize = 20;
/// One in this number of assignments is tenant-wide.
const TENANT_WIDE: usize = 5;

const RESOURCES: [&str; 25] = [
    "accounts",
    "articles",
    "bookings",
    "budgets",
    "campaigns",
    "carts",
    "contracts",
    "coupons",
    "customers",
    "deliveries",
    "documents",
    "employees",
    "expenses",
    "invoices",
    "orders",
    "payments",
    "products",
    "projects",
    "refunds",
    "reports",
    "shipments",
    "stocks",
    "suppliers",
    "tickets",
    "warehouses",
];
const ACTIONS: [&str; 4] = ["create", "read", "update", "delete"];

/// A tenant in which everything is identified by its number.
pub(crate) struct World {
    pub(crate) users: usize,
    pub(crate) permissions: Vec<String>,
    /// The permissions of each role.
    pub(crate) roles: Vec<Vec<usize>>,
    /// The parent of each organization. It always has a lower number.
    pub(crate) parents: Vec<Option<usize>>,
    /// Sorted by user.
    pub(crate) assignments: Vec<Assigned>,
    pub(crate) questions: Vec<Question>,
}

/// A user holds a role in an organization, or tenant-wide.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Assigned {
    pub(crate) user: usize,
    pub(crate) role: usize,
    pub(crate) organization: Option<usize>,
}

/// The question whether a user has a permission in an organization.
#[derive(Clone, Copy)]
pub(crate) struct Question {
    pub(crate) user: usize,
    pub(crate) permission: usize,
    pub(crate) organization: usize,
}

impl World {
    /// Creates the world. It is the same in every run.
    pub(crate) fn new(size: Size) -> Self {
        let mut rng = Rng::with_seed(20_260_131);
        let permissions: Vec<String> =
            RESOURCES.iter().flat_map(|resource| ACTIONS.map(|action| format!("{resource}:{action}"))).collect();
        let roles = (0..size.roles)
            .map(|_| {
                let mut role = rng.choose_multiple(0..permissions.len(), PERMISSIONS_PER_ROLE);
                role.sort_unstable();
                role
            })
            .collect();
        let parents = parents(&mut rng, &size.levels);
        let mut assignments = HashSet::new();
        while assignments.len() < size.assignments {
            assignments.insert(Assigned {
                user: rng.usize(..size.users),
                role: rng.usize(..size.roles),
                organization: (rng.usize(..TENANT_WIDE) > 0).then(|| rng.usize(..parents.len())),
            });
        }
        let mut assignments: Vec<Assigned> = assignments.into_iter().collect();
        assignments.sort_unstable();
        let mut world = Self { users: size.users, permissions, roles, parents, assignments, questions: Vec::new() };
        world.questions = (0..size.questions).map(|number| world.question(&mut rng, number)).collect();
        world
    }

    /// Creates a question. Every second one is random, and nearly always denied unless the user holds the permission
    /// tenant-wide. The others are about a permission that the user holds in the organization or above it.
    fn question(&self, rng: &mut Rng, number: usize) -> Question {
        let organization = rng.usize(..self.parents.len());
        let anything =
            Question { user: rng.usize(..self.users), permission: rng.usize(..self.permissions.len()), organization };
        if number.is_multiple_of(2) {
            return anything;
        }
        let Some(assigned) = rng.choice(&self.assignments) else { return anything };
        let permission = self.roles.get(assigned.role).and_then(|role| rng.choice(role.iter().copied()));
        let below: Vec<usize> = match assigned.organization {
            None => vec![organization],
            Some(held_in) => {
                (held_in..self.parents.len()).filter(|number| self.upwards(*number).any(|it| it == held_in)).collect()
            }
        };
        Question {
            user: assigned.user,
            permission: permission.unwrap_or(anything.permission),
            organization: rng.choice(below).unwrap_or(organization),
        }
    }

    /// An organization and its ancestors, from the organization to the root.
    pub(crate) fn upwards(&self, organization: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(organization), |number| self.parents.get(*number).copied().flatten())
    }

    /// The assignments of a user.
    pub(crate) fn assignments_of(&self, user: usize) -> &[Assigned] {
        let from = self.assignments.partition_point(|assigned| assigned.user < user);
        let to = self.assignments.partition_point(|assigned| assigned.user <= user);
        self.assignments.get(from..to).unwrap_or_default()
    }
}

/// The parents: each organization is below a random one of the level above.
fn parents(rng: &mut Rng, levels: &[usize]) -> Vec<Option<usize>> {
    let mut parents = Vec::new();
    let mut above = 0..0;
    for count in levels {
        let level = parents.len()..parents.len() + count;
        parents.extend(level.clone().map(|_| rng.choice(above.clone())));
        above = level;
    }
    parents
}
