use std::collections::HashSet;
use std::fmt::Display;

use iam_model::directory::DirectoryGroup;
use iam_model::error::Result;
use iam_model::id::{DirectoryGroupId, UserId};
use iam_scim::group::MemberChange;
use iam_scim::{ScimError, ScimType};

use crate::directory::provisioning::ProvisioningError;
use crate::distinct::distinct;
use crate::engine::UnitOfWork;

/// The maximum number of members who come and go by one request.
const MAX_CHANGED: usize = 1_000;

/// The maximum number of members, and of those that a request names.
const MAX_MEMBERS: usize = DirectoryGroup::MAX_MEMBERS as usize;

/// How many users one query looks for.
const READ_AT_ONCE: usize = 500;

/// The members that a request names, each once.
pub(super) enum NamedMembers {
    /// These are the members from then on.
    All(Vec<UserId>),
    /// These become members and these are none any more. Each may be a member now, or not.
    Changed(ChangedMembers),
}

/// The users who become members of a group, and the members who are none any more.
#[derive(Default)]
pub(super) struct ChangedMembers {
    pub(super) added: Vec<UserId>,
    pub(super) removed: Vec<UserId>,
}

impl NamedMembers {
    /// Reads a list of all members; without one, all stay.
    pub(super) fn listed(all: Option<&[String]>) -> Result<Self, ScimError> {
        match all {
            None => Ok(Self::Changed(ChangedMembers::default())),
            Some(all) => Ok(Self::All(users(all)?)),
        }
    }

    /// Reads a change of members.
    pub(super) fn of(change: &MemberChange) -> Result<Self, ScimError> {
        Ok(match change {
            MemberChange::Replace(all) => Self::All(users(all)?),
            MemberChange::Change { added, removed } => {
                let added = users(added)?;
                check_number(removed.len())?;
                // A text that is no identifier is that of no member.
                let removed = distinct(removed.iter().filter_map(|id| id.parse().ok()));
                Self::Changed(ChangedMembers { added, removed })
            }
        })
    }

    /// Returns what changes of the present members of a group. These are read only if the request names all.
    pub(super) async fn compared(&self, work: &mut UnitOfWork<'_>, group: DirectoryGroupId) -> Result<ChangedMembers> {
        Ok(match self {
            Self::All(all) => {
                let present = work.reads().members_of_group(group).await?;
                ChangedMembers { added: without(all, &present), removed: without(&present, all) }
            }
            Self::Changed(ChangedMembers { added, removed }) => {
                let present = members_among(work, group, added).await?;
                let removed = members_among(work, group, removed).await?;
                ChangedMembers { added: without(added, &present), removed }
            }
        })
    }
}

impl ChangedMembers {
    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }

    /// Checks that users who become members are users of the directory. Returns the number of members afterwards.
    pub(super) async fn check(
        &self,
        work: &mut UnitOfWork<'_>,
        group: &DirectoryGroup,
    ) -> Result<u32, ProvisioningError> {
        let members = self.number_after(group.members)?;
        for users in self.added.chunks(READ_AT_ONCE) {
            if work.reads().present_directory_users(group.directory_id, users).await?.len() < users.len() {
                return Err(unknown().into());
            }
        }
        Ok(members)
    }

    /// Returns the number of members after a change that is not too large.
    fn number_after(&self, before: u32) -> Result<u32, ScimError> {
        let (added, removed) = (self.added.len(), self.removed.len());
        if added + removed > MAX_CHANGED {
            return Err(too_large(format!("a request adds and removes {MAX_CHANGED} at most")));
        }
        let members = (before as usize + added).saturating_sub(removed);
        check_number(members)?;
        u32::try_from(members).map_err(too_large)
    }
}

async fn members_among(work: &mut UnitOfWork<'_>, group: DirectoryGroupId, users: &[UserId]) -> Result<Vec<UserId>> {
    let mut members = Vec::new();
    for users in users.chunks(READ_AT_ONCE) {
        members.extend(work.reads().members_among(group, users).await?);
    }
    Ok(members)
}

fn without(users: &[UserId], others: &[UserId]) -> Vec<UserId> {
    let others: HashSet<&UserId> = others.iter().collect();
    users.iter().filter(|user| !others.contains(user)).copied().collect()
}

/// Returns the users with these identifiers.
fn users<'t>(ids: impl IntoIterator<Item = &'t String, IntoIter: ExactSizeIterator>) -> Result<Vec<UserId>, ScimError> {
    let ids = ids.into_iter();
    check_number(ids.len())?;
    let users: Result<Vec<UserId>, ScimError> = ids.map(|id| id.parse().map_err(|_| unknown())).collect();
    users.map(distinct)
}

fn check_number(members: usize) -> Result<(), ScimError> {
    if members > MAX_MEMBERS { Err(too_large(format!("a group has {MAX_MEMBERS} at most"))) } else { Ok(()) }
}

fn too_large(bound: impl Display) -> ScimError {
    ScimError::new(413, None, format!("members: {bound}"))
}

fn unknown() -> ScimError {
    let detail = "members must be users of the directory who are not deleted";
    ScimError::bad_request(ScimType::InvalidValue, detail)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn ids(count: usize) -> Vec<String> {
        (0..count).map(|number| Uuid::from_u128(number as u128).to_string()).collect()
    }

    fn changed(added: usize, removed: usize) -> ChangedMembers {
        ChangedMembers { added: users(&ids(added)).unwrap(), removed: users(&ids(removed)).unwrap() }
    }

    #[test]
    fn a_change_of_members_and_a_group_have_a_limited_size() {
        for (before, added, removed, expected) in [
            (0, 1_000, 0, Ok(1_000)),
            (0, 1_001, 0, Err(413)),
            (2_000, 500, 500, Ok(2_000)),
            (2_000, 500, 501, Err(413)),
            (4_000, 1_000, 0, Ok(5_000)),
            (4_990, 11, 0, Err(413)),
            (4_990, 11, 1, Ok(5_000)),
            (5_000, 0, 1_000, Ok(4_000)),
        ] {
            let number = changed(added, removed).number_after(before);
            assert_eq!(number.map_err(|error| error.status), expected, "{before} {added} {removed}");
        }
        assert!(NamedMembers::listed(Some(&ids(5_000))).is_ok());
        let status = |named: Result<NamedMembers, ScimError>| named.err().map(|error| error.status);
        assert_eq!(status(NamedMembers::listed(Some(&ids(5_001)))), Some(413));
        let (few, many) = (ids(1).into_iter().collect(), ids(5_001).into_iter().collect());
        assert_eq!(status(NamedMembers::of(&MemberChange::Change { added: few, removed: many })), Some(413));
    }

    #[test]
    fn each_user_is_named_once_and_a_text_that_is_no_identifier_is_no_member() {
        let id = ids(11).remove(10);
        let (upper, other) = (id.to_uppercase(), "no identifier".to_owned());
        assert_eq!(users(&[id.clone(), upper.clone()]).unwrap().len(), 1);
        let refused = users(&[id.clone(), other.clone()]).unwrap_err();
        assert_eq!((refused.status, refused.scim_type), (400, Some(ScimType::InvalidValue)));
        let removed = [id, upper, other].into_iter().collect();
        let named = NamedMembers::of(&MemberChange::Change { added: [].into(), removed }).unwrap();
        assert!(matches!(named, NamedMembers::Changed(ChangedMembers { removed, .. }) if removed.len() == 1));
    }
}
