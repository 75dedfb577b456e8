use iam_model::directory::{DirectoryGroup, DirectoryName};
use iam_model::id::UserId;
use iam_model::validate::ExternalId;
use iam_scim::ScimError;
use iam_scim::group::{GroupPatch, GroupResource};

use crate::directory::provisioning::group::members::NamedMembers;
use crate::directory::provisioning::wanted::valid;

/// What a directory wants to change of a group, with valid values.
pub(super) struct Wanted {
    /// `None` if it stays.
    display_name: Option<DirectoryName>,
    /// `None` if it stays.
    external_id: Option<Option<ExternalId>>,
    pub(super) members: NamedMembers,
}

/// Returns the resource of a group, with its members if they are given.
#[must_use]
pub fn group_resource(group: &DirectoryGroup, members: Option<&[UserId]>) -> GroupResource {
    GroupResource {
        display_name: group.display_name.as_str().to_owned(),
        external_id: group.external_id.as_ref().map(|id| id.as_str().to_owned()),
        members: members.map(|members| members.iter().map(UserId::to_string).collect()),
    }
}

impl Wanted {
    /// Reads a whole group. A resource that does not say who its members are keeps them.
    pub(super) fn replacing(resource: &GroupResource) -> Result<Self, ScimError> {
        Ok(Self {
            display_name: Some(valid("displayName", &resource.display_name)?),
            external_id: Some(valid_external_id(resource.external_id.as_deref())?),
            members: NamedMembers::listed(resource.members.as_deref())?,
        })
    }

    /// Reads a change of a group.
    pub(super) fn changing(patch: &GroupPatch) -> Result<Self, ScimError> {
        let GroupPatch { display_name, external_id, members } = patch;
        Ok(Self {
            display_name: display_name.as_deref().map(|text| valid("displayName", text)).transpose()?,
            external_id: external_id.as_ref().map(|text| valid_external_id(text.as_deref())).transpose()?,
            members: NamedMembers::of(members)?,
        })
    }

    /// Returns a group with the name and the identifier, and with the members that it has.
    pub(super) fn applied_to(&self, before: &DirectoryGroup) -> DirectoryGroup {
        let Self { display_name, external_id, .. } = self;
        DirectoryGroup {
            display_name: display_name.clone().unwrap_or_else(|| before.display_name.clone()),
            external_id: external_id.clone().unwrap_or_else(|| before.external_id.clone()),
            ..before.clone()
        }
    }
}

pub(super) fn valid_external_id(text: Option<&str>) -> Result<Option<ExternalId>, ScimError> {
    text.map(|text| valid("externalId", text)).transpose()
}
