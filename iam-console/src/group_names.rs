//! The groups of directories that give role assignments, by their names.

use std::collections::{BTreeMap, BTreeSet};

use iam_core::{Caller, DirectoryGroupId, Error};

use crate::problem::if_allowed;
use crate::state::Console;
use crate::text;

/// How many groups are read for a page at most, each in one of the ten directories that a tenant may have. Others have
/// no name.
const MAX: usize = 30;

/// The groups that the caller may see.
#[derive(Debug, Default)]
pub(crate) struct GroupNames(BTreeMap<DirectoryGroupId, GivenBy>);

/// The group that gives a role, as a page names it.
#[derive(Clone, Debug)]
pub(crate) struct GivenBy {
    pub(crate) text: String,
    /// The page of the group; empty if the caller may not see it, or if it is deleted.
    pub(crate) address: String,
}

impl GroupNames {
    /// Reads the names of the groups that give some assignments.
    pub(crate) async fn read(
        console: &Console,
        caller: &Caller,
        groups: impl IntoIterator<Item = Option<DirectoryGroupId>>,
    ) -> Result<Self, Error> {
        let groups: BTreeSet<DirectoryGroupId> = groups.into_iter().flatten().collect();
        let mut named = BTreeMap::new();
        if groups.is_empty() {
            return Ok(Self(named));
        }
        let service = console.iam.directories();
        let directories = if_allowed(service.list(caller).await)?.unwrap_or_default();
        for id in groups.into_iter().take(MAX) {
            for (directory, _) in &directories {
                let Some(group) = if_allowed(service.group(caller, directory.id, id).await)? else { continue };
                let text = text::by_group(group.display_name.as_str(), directory.name.as_str());
                let address = format!("{}/directories/{}/groups/{id}", console.base(), directory.id);
                named.insert(id, GivenBy { text, address });
                break;
            }
        }
        Ok(Self(named))
    }

    pub(crate) fn of(&self, group: &DirectoryGroupId) -> GivenBy {
        let unnamed = || GivenBy { text: text::t("by-a-group").to_owned(), address: String::new() };
        self.0.get(group).cloned().unwrap_or_else(unnamed)
    }
}
