//! What the directory makes and changes, and what it has at the end.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// The number of users that one request adds to a group.
const PART: usize = 20;

/// The family name of all users at the end.
pub(super) const CHANGED: &str = "Murray";

/// What the directory does at a time. Users and groups are named by their numbers.
pub(super) enum Step {
    MakeUser(usize),
    MakeGroup(usize),
    RenameUser(usize),
    Suspend(usize),
    RenameGroup(usize),
    /// Users become members of a group.
    Fill(usize, Vec<usize>),
    /// Members of a group go to the next one, and those of the one before come.
    Move(usize),
    /// The administrator maps a group to its role.
    Map(usize),
}

/// The size of a run, and all that follows from it.
pub(super) struct Plan {
    pub(super) users: usize,
    pub(super) groups: usize,
}

impl Plan {
    pub(super) fn from_environment() -> Self {
        let size = |name: &str, default: usize| {
            std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is {text}")))
        };
        let plan = Self { users: size("IAM_PROVISIONING_USERS", 120), groups: size("IAM_PROVISIONING_GROUPS", 10) };
        assert!(plan.users > 0 && plan.groups > 1, "members move between two groups");
        plan
    }

    pub(super) fn creations(&self) -> Vec<Step> {
        (0..self.users).map(Step::MakeUser).chain((0..self.groups).map(Step::MakeGroup)).collect()
    }

    /// Names change, and groups get their members, some of them before they are mapped to roles, and some afterwards.
    pub(super) fn changes(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = (0..self.users).map(Step::RenameUser).collect();
        for group in 0..self.groups {
            let members: Vec<usize> = self.first_members(group).into_iter().collect();
            steps.extend(members.chunks(PART).map(|part| Step::Fill(group, part.to_vec())));
            steps.extend(self.role(group).map(|_| Step::Map(group)));
        }
        steps
    }

    pub(super) fn departures(&self) -> Vec<Step> {
        let suspended = (0..self.users).filter(|user| !Self::is_active(*user)).map(Step::Suspend);
        suspended.chain((0..self.groups).flat_map(|group| [Step::Move(group), Step::RenameGroup(group)])).collect()
    }

    pub(super) fn user(number: usize) -> Value {
        json!({
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
            "userName": user_name(number),
            "externalId": external_id(number),
            "name": { "givenName": "Grace", "familyName": "Hopper" },
            "active": true,
        })
    }

    pub(super) fn group(number: usize) -> Value {
        json!({
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"],
            "displayName": group_name(number, false),
            "externalId": external_id(number),
        })
    }

    /// Providers look for users in different ways.
    pub(super) fn filter_of_user(number: usize) -> String {
        if number.is_multiple_of(2) {
            format!("userName eq \"{}\"", user_name(number))
        } else {
            format!("externalId eq \"{}\"", external_id(number))
        }
    }

    pub(super) fn filter_of_group(number: usize) -> String {
        format!("displayName eq \"{}\"", group_name(number, false))
    }

    /// Whether a user is active at the end.
    pub(super) fn is_active(user: usize) -> bool {
        user.is_multiple_of(2)
    }

    /// The number of roles to which groups are mapped.
    pub(super) fn roles(&self) -> usize {
        self.groups.div_ceil(4)
    }

    /// The role of a group: every second group has one, and two groups have the same.
    pub(super) fn role(&self, group: usize) -> Option<usize> {
        group.is_multiple_of(2).then_some(group / 4)
    }

    /// The members of a group before any moves. Most users are in two groups.
    pub(super) fn first_members(&self, group: usize) -> BTreeSet<usize> {
        (0..self.users).filter(|user| self.home(*user) == group || user / self.groups % self.groups == group).collect()
    }

    /// Those who go from a group to the next one.
    pub(super) fn goers(&self, group: usize) -> BTreeSet<usize> {
        (0..self.users).filter(|user| user % 3 == 0 && self.home(*user) == group).collect()
    }

    /// Those who come to a group from the one before.
    pub(super) fn comers(&self, group: usize) -> BTreeSet<usize> {
        self.goers((group + self.groups - 1) % self.groups)
    }

    /// The members of a group at the end.
    pub(super) fn members(&self, group: usize) -> BTreeSet<usize> {
        let stayed = &self.first_members(group) - &self.goers(group);
        &stayed | &self.comers(group)
    }

    /// The number of users who have become members of a group, and of those who have left it.
    pub(super) fn turnover(&self, group: usize) -> (usize, usize) {
        let (first, comers) = (self.first_members(group), self.comers(group));
        (first.len() + (&comers - &first).len(), self.goers(group).len())
    }

    /// The groups that give each role to each user at the end, by user and role.
    pub(super) fn held(&self) -> BTreeMap<(usize, usize), Vec<usize>> {
        let mut held: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for group in 0..self.groups {
            let Some(role) = self.role(group) else { continue };
            for user in self.members(group) {
                held.entry((user, role)).or_default().push(group);
            }
        }
        held
    }

    fn home(&self, user: usize) -> usize {
        user % self.groups
    }
}

pub(super) fn user_name(number: usize) -> String {
    format!("person-{number}@navy.example")
}

pub(super) fn external_id(number: usize) -> String {
    format!("navy-{number}")
}

pub(super) fn group_name(number: usize, is_renamed: bool) -> String {
    if is_renamed { format!("Fleet {number}") } else { format!("Crew {number}") }
}

/// Members as directories send them.
pub(super) fn member_values<'a>(ids: impl Iterator<Item = &'a str>) -> Value {
    ids.map(|id| json!({ "value": id })).collect()
}
