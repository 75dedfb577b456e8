//! The ids in the values of entries that name users, organizations and roles.

use std::collections::BTreeSet;

use iam_core::{Caller, Error, Iam, OrganizationId, RoleId, UserId};
use serde_json::{Map, Value};

use crate::names::{self, Names};

/// A list of more ids is shown without names.
const MOST: usize = 10;

/// How many users are read for a page at most.
const MOST_USERS: usize = 400;

/// What the ids in a field name.
#[derive(Clone, Copy)]
enum Kind {
    User,
    Organization,
    Role,
}

impl Kind {
    fn of(field: &str) -> Option<Self> {
        match field {
            "actorId" | "approvedBy" | "serviceAccountId" | "targetUserId" | "userId" | "userIds" => Some(Self::User),
            "homeOrganizationId" | "organizationId" | "parentId" => Some(Self::Organization),
            "approverRoleId" | "heldRoleId" | "roleId" | "roleIds" => Some(Self::Role),
            _ => None,
        }
    }

    /// Returns the name of what an id names. `None` if the caller may not see it.
    fn name(self, id: &str, names: &Names) -> Option<String> {
        let name = match self {
            Self::User => names.user(id.parse().ok()?),
            Self::Organization => names.organization(id.parse().ok()?),
            Self::Role => names.role(id.parse().ok()?),
        };
        (name != id).then_some(name)
    }
}

/// The users, organizations and roles that are named by ids.
#[derive(Default)]
pub(super) struct Ids {
    pub(super) users: Vec<UserId>,
    pub(super) organizations: Vec<OrganizationId>,
    pub(super) roles: Vec<RoleId>,
}

impl Ids {
    /// Adds the ids in the fields of an entry.
    pub(super) fn add(&mut self, fields: &Map<String, Value>) {
        for (field, value) in fields {
            let Some(kind) = Kind::of(field) else { continue };
            for id in texts(value) {
                match kind {
                    Kind::User => self.users.extend(id.parse::<UserId>().ok()),
                    Kind::Organization => self.organizations.extend(id.parse::<OrganizationId>().ok()),
                    Kind::Role => self.roles.extend(id.parse::<RoleId>().ok()),
                }
            }
        }
    }

    /// Reads the names that the caller may see: if there are too many, those that were added first.
    pub(super) async fn read(self, iam: &Iam, caller: &Caller) -> Result<Names, Error> {
        let (users, organizations) = (first(self.users, MOST_USERS), first(self.organizations, names::MAX));
        let roles = first(self.roles, names::MAX);
        Names::read(iam, caller, users, organizations).await?.with_roles(iam, caller, roles).await
    }
}

/// Returns the first different ids.
fn first<T: Ord>(ids: Vec<T>, most: usize) -> BTreeSet<T> {
    let mut found = BTreeSet::new();
    for id in ids {
        if found.len() == most {
            break;
        }
        found.insert(id);
    }
    found
}

/// Returns the value of a field with a name beside each id. `None` if no name is known.
pub(super) fn named(field: &str, value: &Value, names: &Names) -> Option<String> {
    let kind = Kind::of(field)?;
    let (mut is_named, mut shown) = (false, Vec::new());
    for id in texts(value) {
        let name = kind.name(id, names);
        is_named |= name.is_some();
        shown.push(name.map_or_else(|| id.to_owned(), |name| format!("{name} ({id})")));
    }
    is_named.then(|| shown.join(", "))
}

/// Returns the texts of a value that is a text, or a short list of texts.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) if values.len() <= MOST => {
            values.iter().map(Value::as_str).collect::<Option<Vec<&str>>>().unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_has_the_name_of_what_it_names_if_that_is_known() {
        let (known, unknown) = ("019c1355-8e20-7000-80be-0a57733ee76a", "019c1355-8e20-7000-80be-0a57733ee76b");
        let names = Names::default().with_user(known.parse().unwrap(), "ada".to_owned());
        let shown = |field: &str, value: Value| named(field, &value, &names);
        assert_eq!(shown("userId", json!(known)), Some(format!("ada ({known})")));
        assert_eq!(shown("userIds", json!([unknown, known])), Some(format!("{unknown}, ada ({known})")));
        // The same id in a field for something else, an unknown one, and what is no id.
        for (field, value) in [
            ("roleId", json!(known)),
            ("correlationId", json!(known)),
            ("userId", json!(unknown)),
            ("userId", json!("[ERASED]")),
            ("userIds", json!([known, 1])),
            ("userIds", json!(vec![known; MOST + 1])),
        ] {
            assert_eq!(shown(field, value.clone()), None, "{field}: {value}");
        }
    }
}
