//! The rules of a mapping that no record of the files has used.

use std::collections::BTreeMap;
use std::fmt;

use iam_import::Record;

use crate::command::document::Mistake;

/// The name of a role in the other system. A role of a realm of Keycloak can have any name, also one that looks like that
/// of a client and of its role together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RoleName {
    client: Option<String>,
    name: String,
}

impl RoleName {
    pub(super) fn of(client: Option<&str>, name: &str) -> Self {
        Self { client: client.map(str::to_owned), name: name.to_owned() }
    }
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.client {
            Some(client) => write!(f, "{client}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// The names in the other system that no record has had yet, with the warnings about their rules.
#[derive(Default)]
pub(super) struct Unused {
    pub(super) roles: BTreeMap<RoleName, Mistake>,
    pub(super) groups: BTreeMap<String, Mistake>,
    pub(super) attributes: BTreeMap<String, Mistake>,
}

impl Unused {
    /// Removes what a record has.
    pub(super) fn note(&mut self, record: &Record) {
        for name in &record.roles {
            self.roles.remove(&RoleName::of(None, name));
        }
        for (client, roles) in &record.client_roles {
            for name in roles {
                self.roles.remove(&RoleName::of(Some(client), name));
            }
        }
        for name in &record.groups {
            self.groups.remove(name);
        }
        for name in record.attributes.keys() {
            self.attributes.remove(name);
        }
    }

    /// Returns the warnings, in the order of their lines.
    pub(super) fn warnings(&self) -> Vec<&Mistake> {
        let others = [&self.groups, &self.attributes].into_iter().flat_map(BTreeMap::values);
        let mut warnings: Vec<&Mistake> = self.roles.values().chain(others).collect();
        warnings.sort_by_key(|warning| warning.line);
        warnings
    }
}
