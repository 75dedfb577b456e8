use std::collections::HashMap;

use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use iam_core::directory::{DirectoryGroup, GroupResource, ProvisioningError};
use iam_core::{Caller, DirectoryGroupId, Error, Iam, UserId};
use iam_scim::query::{GroupQuery, Parameters};
use iam_scim::{Projection, list_response};
use serde_json::Value;

use crate::extract::Authenticated;
use crate::long::{ITEM, processed};
use crate::scim::answer::{Scim, group, group_resource};
use crate::scim::error::Refusal;
use crate::scim::request::{At, Sent, SentGroup, Shown, parameters};
use crate::scim_url::ScimUrl;

/// The attribute that is read only if an answer shows it.
const MEMBERS: &str = "members";

/// The maximum number of members of all groups of a page. A group with more members makes a page alone.
const MAX_MEMBERS: u32 = 20_000;

/// About how many bytes a member has in an answer.
const MEMBER: usize = 200;

/// `GET /Groups`
pub(super) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    ScimUrl(base): ScimUrl,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    page(&iam, &caller, base, Parameters::from_pairs(parameters(query.as_deref()))?.of_groups()?).await
}

/// `POST /Groups/.search`
pub(super) async fn search(
    State(iam): State<Iam>,
    ScimUrl(base): ScimUrl,
    Sent(caller, body): Sent,
) -> Result<Response, Refusal> {
    page(&iam, &caller, base, Parameters::from_search(&body)?.of_groups()?).await
}

async fn page(iam: &Iam, caller: &Caller, base: String, query: GroupQuery) -> Result<Response, Refusal> {
    let found = FoundGroups::of(iam, caller, &query, query.start_index.saturating_sub(1), query.count).await?;
    let (total, size) = (found.total, found.size());
    let write = move || {
        let resources = found.into_resources(&base, &query.projection).collect();
        Scim(list_response(resources, total, query.start_index)).into_response()
    };
    Ok(processed(iam, caller, size, write).await?)
}

/// Groups of a page, with their members if these are shown.
pub(super) struct FoundGroups {
    groups: Vec<DirectoryGroup>,
    members: Option<HashMap<DirectoryGroupId, Vec<UserId>>>,
    /// The number of all groups that match.
    pub(super) total: u64,
}

impl FoundGroups {
    /// Reads the groups that match a query: `first` of them are skipped, and at most `limit` are returned. They are
    /// fewer if they have too many members together.
    pub(super) async fn of(
        iam: &Iam,
        caller: &Caller,
        query: &GroupQuery,
        first: u64,
        limit: u32,
    ) -> Result<Self, Refusal> {
        let provisioning = iam.provisioning();
        let (mut groups, total) = provisioning.list_groups(caller, &query.condition, query.sort, first, limit).await?;
        let mut members = None;
        if query.projection.shows(MEMBERS) && !groups.is_empty() {
            groups.truncate(fitting(groups.iter().map(|group| group.members)));
            let ids: Vec<DirectoryGroupId> = groups.iter().map(|group| group.id).collect();
            members = Some(provisioning.members(caller, &ids).await?);
        }
        Ok(Self { groups, members, total })
    }

    /// About how many bytes they have in an answer.
    pub(super) fn size(&self) -> usize {
        let members = self.members.iter().flat_map(HashMap::values).map(Vec::len);
        self.groups.len() * ITEM + members.sum::<usize>() * MEMBER
    }

    /// Returns the groups as the directory sees them.
    pub(super) fn into_resources(self, base: &str, projection: &Projection) -> impl Iterator<Item = Value> {
        let Self { groups, mut members, .. } = self;
        groups.into_iter().map(move |group| {
            let members = members.as_mut().map(|all| all.remove(&group.id).unwrap_or_default());
            projection.apply(group_resource(base, &group, members.as_deref()))
        })
    }
}

/// Returns how many of the groups with these numbers of members make a page: at least one.
fn fitting(members: impl Iterator<Item = u32>) -> usize {
    let sums = members.scan(0, |sum: &mut u32, members| {
        *sum = sum.saturating_add(members);
        Some(*sum)
    });
    sums.take_while(|sum| *sum <= MAX_MEMBERS).count().max(1)
}

/// `POST /Groups`
pub(super) async fn create(
    State(iam): State<Iam>,
    _: Authenticated,
    shown: Shown,
    SentGroup(caller, body): SentGroup,
) -> Result<Response, Refusal> {
    let made = iam.provisioning().create_group(&caller, &GroupResource::parse(&body)?).await?;
    changed(&iam, &caller, StatusCode::CREATED, made, shown).await
}

/// `GET /Groups/{id}`
pub(super) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    shown: Shown,
    At { id, .. }: At<DirectoryGroupId>,
) -> Result<Response, Refusal> {
    let found = iam.provisioning().get_group(&caller, id).await?;
    let members = if shown.projection.shows(MEMBERS) { Some(members(&iam, &caller, id).await?) } else { None };
    Ok(one(&iam, &caller, StatusCode::OK, found, members, shown).await?)
}

/// `PUT /Groups/{id}`
pub(super) async fn replace(
    State(iam): State<Iam>,
    _: Authenticated,
    shown: Shown,
    At { id, if_match }: At<DirectoryGroupId>,
    SentGroup(caller, body): SentGroup,
) -> Result<Response, Refusal> {
    let wanted = GroupResource::parse(&body)?;
    let after = iam.provisioning().replace_group(&caller, id, &wanted, if_match.as_deref()).await?;
    changed(&iam, &caller, StatusCode::OK, after, shown).await
}

/// `PATCH /Groups/{id}`
pub(super) async fn patch(
    State(iam): State<Iam>,
    _: Authenticated,
    shown: Shown,
    At { id, if_match }: At<DirectoryGroupId>,
    SentGroup(caller, body): SentGroup,
) -> Result<Response, Refusal> {
    let after = iam.provisioning().patch_group(&caller, id, &body, if_match.as_deref()).await?;
    changed(&iam, &caller, StatusCode::OK, after, shown).await
}

/// `DELETE /Groups/{id}`
pub(super) async fn delete(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    At { id, if_match }: At<DirectoryGroupId>,
) -> Result<StatusCode, Refusal> {
    iam.provisioning().delete_group(&caller, id, if_match.as_deref()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the answer to a change of a group. The change is made, so the answer is no error: the group is without its
/// members for an account that may not read, and if the service is too busy to read them.
async fn changed(
    iam: &Iam,
    caller: &Caller,
    status: StatusCode,
    group: DirectoryGroup,
    shown: Shown,
) -> Result<Response, Refusal> {
    let mut known = None;
    if shown.projection.shows(MEMBERS) {
        known = match members(iam, caller, group.id).await {
            Ok(members) => Some(members),
            Err(ProvisioningError::Service(Error::Forbidden(_) | Error::Overloaded { .. })) => None,
            Err(error) => return Err(error.into()),
        };
    }
    match one(iam, caller, status, group.clone(), known, shown.clone()).await {
        Err(Error::Overloaded { .. }) => Ok(one(iam, caller, status, group, None, shown).await?),
        answered => Ok(answered?),
    }
}

async fn members(iam: &Iam, caller: &Caller, id: DirectoryGroupId) -> Result<Vec<UserId>, ProvisioningError> {
    Ok(iam.provisioning().members(caller, &[id]).await?.remove(&id).unwrap_or_default())
}

/// Returns the answer with one group, whose members are shown if they are known.
async fn one(
    iam: &Iam,
    caller: &Caller,
    status: StatusCode,
    found: DirectoryGroup,
    members: Option<Vec<UserId>>,
    shown: Shown,
) -> Result<Response, Error> {
    let size = ITEM + members.iter().map(Vec::len).sum::<usize>() * MEMBER;
    let write = move || group(status, &found, members.as_deref(), &shown);
    processed(iam, caller, size, write).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_limited_number_of_members() {
        for (members, expected) in [
            (vec![0; 200], 200),
            (vec![5_000; 5], 4),
            (vec![5_000, 5_000, 5_000, 4_999, 1, 0, 1], 6),
            (vec![MAX_MEMBERS], 1),
            (vec![MAX_MEMBERS + 1, 0], 1),
            (vec![u32::MAX, u32::MAX], 1),
        ] {
            assert_eq!(fitting(members.iter().copied()), expected, "{members:?}");
        }
    }
}
