use std::collections::BTreeSet;

use serde_json::Value;

use crate::error::ScimError;
use crate::group::member::{former_members, members};
use crate::group::resource::{checked_external_id, checked_name};
use crate::group::target::Target;
use crate::operation::{Kind, Operation, Write, operations};
use crate::urn;
use crate::value::{object, text};

/// The maximum number of changes in a request. Okta sends one for each member.
const MAX: usize = 1_000;

/// A request to change a group by PATCH (RFC 7644, section 3.5.2), read without the group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupPatch {
    /// The new name; `None` if it stays.
    pub display_name: Option<String>,
    /// The new identifier, or `None` inside to remove it; `None` if it stays.
    pub external_id: Option<Option<String>>,
    /// The change of the members.
    pub members: MemberChange,
}

/// What a request does to the members of a group, without reading them. Its changes, one after the other, come to one of
/// these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberChange {
    /// These are the members from then on.
    Replace(BTreeSet<String>),
    /// Members come and go. No user is in both lists, and a user in none of them stays what it is.
    Change {
        /// Those who become members, unless they are already.
        added: BTreeSet<String>,
        /// Those who are members no longer, if they were.
        removed: BTreeSet<String>,
    },
}

impl Default for MemberChange {
    fn default() -> Self {
        Self::Change { added: BTreeSet::new(), removed: BTreeSet::new() }
    }
}

impl MemberChange {
    /// Whether no member is named, so that all stay what they are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Replace(_) => false,
            Self::Change { added, removed } => added.is_empty() && removed.is_empty(),
        }
    }

    fn add(&mut self, members: BTreeSet<String>) {
        match self {
            Self::Replace(all) => all.extend(members),
            Self::Change { added, removed } => {
                removed.retain(|member| !members.contains(member));
                added.extend(members);
            }
        }
    }

    fn remove(&mut self, members: BTreeSet<String>) {
        match self {
            Self::Replace(all) => all.retain(|member| !members.contains(member)),
            Self::Change { added, removed } => {
                added.retain(|member| !members.contains(member));
                removed.extend(members);
            }
        }
    }
}

impl GroupPatch {
    /// Reads a request. A value that names no members keeps them, an empty list of members removes all, and a list of
    /// members to remove removes these.
    ///
    /// # Errors
    ///
    /// 400 with `invalidSyntax` for a body that is no such request, `invalidPath`, `noTarget` for a removal without a
    /// path, `mutability` for a path of what only the service writes, and `invalidValue` as
    /// [`GroupResource::parse`](crate::group::GroupResource::parse); 413 for more than 1,000 changes.
    pub fn parse(body: &Value) -> Result<Self, ScimError> {
        let mut patch = Self::default();
        for operation in operations(body, MAX)? {
            patch.apply(operation)?;
        }
        Ok(patch)
    }

    fn apply(&mut self, operation: Operation<'_>) -> Result<(), ScimError> {
        let path = operation.path.filter(|path| !path.eq_ignore_ascii_case(urn::GROUP));
        match (operation.kind, path) {
            (Kind::Remove, None) => Err(ScimError::no_target("path is required to remove a value")),
            (Kind::Remove, Some(path)) => self.remove(Target::parse(path)?, operation.value),
            (Kind::Write(write), Some(path)) => match (Target::parse(path)?, operation.value) {
                // The path names the members.
                (target @ Target::Named(_), value) => self.write(target, write, value.unwrap_or(&Value::Null)),
                (target, Some(value)) => self.write(target, write, value),
                (_, None) => Err(ScimError::invalid_value("value is required")),
            },
            (Kind::Write(write), None) => {
                for (name, value) in object("value", operation.value.unwrap_or(&Value::Null))? {
                    match Target::parse(name) {
                        Ok(Target::ReadOnly(_)) => {}
                        // Here it is the same as an absent one, which keeps the members.
                        Ok(Target::Members) if value.is_null() => {}
                        Ok(target) => self.write(target, write, value)?,
                        Err(error) if name.contains('[') => return Err(error),
                        Err(_) => {}
                    }
                }
                Ok(())
            }
        }
    }

    fn write(&mut self, target: Target, write: Write, value: &Value) -> Result<(), ScimError> {
        match (target, write) {
            (Target::ReadOnly(name), _) => return Err(ScimError::read_only(name)),
            (Target::DisplayName | Target::ExternalId, Write::Add) if value.is_null() => {}
            (Target::DisplayName, _) => self.display_name = Some(checked_name(text("displayName", value)?)?),
            (Target::ExternalId, _) => self.external_id = Some(checked_external_id(text("externalId", value)?)?),
            (Target::Members, Write::Add) => self.members.add(members(value)?),
            (Target::Members, Write::Replace) => self.members = MemberChange::Replace(members(value)?),
            // A filter that selects no member describes the one that is made.
            (Target::Named(named), _) => self.members.add(named),
            (Target::Unknown, _) => {}
        }
        Ok(())
    }

    fn remove(&mut self, target: Target, listed: Option<&Value>) -> Result<(), ScimError> {
        match (target, listed.filter(|listed| !listed.is_null())) {
            (Target::ReadOnly(name), _) => return Err(ScimError::read_only(name)),
            (Target::DisplayName, _) => return Err(ScimError::invalid_value("displayName is required")),
            (Target::ExternalId, _) => self.external_id = Some(None),
            (Target::Members, Some(listed)) => self.members.remove(former_members(listed)?),
            (Target::Members, None) => self.members = MemberChange::Replace(BTreeSet::new()),
            (Target::Named(named), _) => self.members.remove(named),
            (Target::Unknown, _) => {}
        }
        Ok(())
    }
}
