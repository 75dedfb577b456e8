//! The rules of a mapping that no record of the files has used.

use std::collections::BTreeMap;

use iam_import::Record;

use crate::command::document::Mistake;

/// The names in the other system that no record has had yet, with the warnings about their rules.
#[derive(Default)]
pub(super) struct Unused {
    pub(super) roles: BTreeMap<String, Mistake>,
    pub(super) groups: BTreeMap<String, Mistake>,
    pub(super) attributes: BTreeMap<String, Mistake>,
}

impl Unused {
    /// Removes what a record has.
    pub(super) fn note(&mut self, record: &Record) {
        for name in &record.roles {
            self.roles.remove(name);
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
        let mut warnings: Vec<&Mistake> =
            [&self.roles, &self.groups, &self.attributes].into_iter().flat_map(BTreeMap::values).collect();
        warnings.sort_by_key(|warning| warning.line);
        warnings
    }
}
