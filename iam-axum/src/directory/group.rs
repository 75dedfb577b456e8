//! `/directories/{id}/groups` (`docs/directories.md#mapping-a-group`).

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::response::Response;
use iam_core::directory::DirectoryGroup;
use iam_core::role::PlacedRole;
use iam_core::{DirectoryGroupId, DirectoryId, Iam, OrganizationId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::conditional::{IfMatch, Tagged};
use crate::description::{DIRECTORIES, Problems};
use crate::extract::{Authenticated, Call, Params, PathId, Query, path_parameter};
use crate::page::{Collection, PageQuery};
use crate::preview::Target;
use crate::problem::Problem;
use crate::time::Time;

/// A group of a directory. Its name and its members grant nothing: its members hold the roles to which it is mapped.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DirectoryGroup)]
pub(crate) struct GroupDto {
    id: Uuid,
    directory_id: Uuid,
    /// The name, unique in the directory without regard to case.
    display_name: String,
    /// How the directory names the group itself. Null if it does not.
    #[schema(required)]
    external_id: Option<String>,
    /// The number of its members, who are users of the directory.
    members: u32,
    /// The roles that its members hold.
    grants: Vec<GroupGrantDto>,
    created_at: Time,
    updated_at: Time,
}

/// A role that the members of a group hold, without an end.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DirectoryGroupGrant)]
pub(crate) struct GroupGrantDto {
    role_id: Uuid,
    /// Null means tenant-wide.
    #[schema(required)]
    organization_id: Option<Uuid>,
}

impl From<PlacedRole> for GroupGrantDto {
    fn from(PlacedRole { role_id, organization_id }: PlacedRole) -> Self {
        Self { role_id: role_id.as_uuid(), organization_id: organization_id.map(OrganizationId::as_uuid) }
    }
}

impl From<DirectoryGroup> for GroupDto {
    fn from(group: DirectoryGroup) -> Self {
        Self {
            id: group.id.as_uuid(),
            directory_id: group.directory_id.as_uuid(),
            display_name: group.display_name.to_string(),
            external_id: group.external_id.map(String::from),
            members: group.members,
            grants: group.grants.into_iter().map(GroupGrantDto::from).collect(),
            created_at: Time(group.created_at),
            updated_at: Time(group.updated_at),
        }
    }
}

/// The roles to which a group is mapped.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewDirectoryGroupGrants)]
pub(crate) struct NewGrantsDto {
    /// All roles after the change, each once in an organization or tenant-wide. If it is empty, the group gives none.
    #[schema(max_items = 20)]
    grants: Vec<NewGrantDto>,
}

/// A role that the members of a group are to hold.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewDirectoryGroupGrant)]
pub(crate) struct NewGrantDto {
    #[serde(default)]
    #[schema(required, value_type = Uuid)]
    role_id: String,
    /// Absent or null means tenant-wide.
    #[schema(value_type = Option<Uuid>)]
    organization_id: Option<String>,
}

impl NewGrantsDto {
    fn parse(&self) -> Result<Vec<PlacedRole>, Problem> {
        let mut params = Params::default();
        let parse = |(number, grant): (usize, &NewGrantDto)| {
            let role_id = params.require(&format!("grants[{number}].roleId"), &grant.role_id);
            let organization = format!("grants[{number}].organizationId");
            let organization_id = params.parse(&organization, grant.organization_id.as_deref());
            Some(PlacedRole { role_id: role_id?, organization_id })
        };
        let grants = self.grants.iter().enumerate().filter_map(parse).collect();
        params.finish()?;
        Ok(grants)
    }
}

/// Which groups to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct GroupQuery {
    /// Groups whose names contain all these words, at most eight. Upper and lower case make no difference.
    search: Option<String>,
}

/// The identifiers in the path of a group.
pub(crate) struct GroupPath(DirectoryId, DirectoryGroupId);

impl<S: Send + Sync> FromRequestParts<S> for GroupPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(path_parameter(parts, "id").await?, path_parameter(parts, "groupId").await?))
    }
}

/// List the groups of a directory
///
/// By name.
#[utoipa::path(
    get,
    path = "/directories/{id}/groups",
    operation_id = "listDirectoryGroups",
    tag = DIRECTORIES,
    params(("id" = Uuid, Path, description = "The directory"), PageQuery, GroupQuery),
    responses((status = 200, description = "A page of groups", body = Collection<GroupDto>), Problems),
    extensions(("x-required-permission" = json!("directories:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<DirectoryId>,
    Query(page): Query<PageQuery>,
    Query(query): Query<GroupQuery>,
) -> Result<Json<Collection<GroupDto>>, Problem> {
    let page = page.request()?;
    Ok(Json(Collection::of(iam.directories().groups(&caller, id, query.search.as_deref(), page).await?)))
}

/// Get a group of a directory
///
/// With the number of its members, and the roles that they hold by it.
#[utoipa::path(
    get,
    path = "/directories/{id}/groups/{groupId}",
    operation_id = "getDirectoryGroup",
    tag = DIRECTORIES,
    params(
        ("id" = Uuid, Path, description = "The directory"),
        ("groupId" = Uuid, Path, description = "The group"),
    ),
    responses((status = 200, description = "The group", body = GroupDto), Problems),
    extensions(("x-required-permission" = json!("directories:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    GroupPath(directory, id): GroupPath,
) -> Result<Tagged<GroupDto>, Problem> {
    let group = iam.directories().group(&caller, directory, id).await?;
    Ok(Tagged(group.version, group.into()))
}

/// Map a group of a directory to roles
///
/// The members of the group hold these roles as long as they are members. For each new one, the caller needs
/// `role-assignments:create` in its organization, or tenant-wide if it has none. There, the caller and the service
/// account of the directory must also hold all permissions of the role. At most 5,000 role assignments begin and end
/// by one change.
///
/// A role that can change what protects the tenant is given tenant-wide only in a session that has authenticated within
/// the last ten minutes, and by no API key.
#[utoipa::path(
    put,
    path = "/directories/{id}/groups/{groupId}/grants",
    operation_id = "setDirectoryGroupGrants",
    tag = DIRECTORIES,
    params(
        ("id" = Uuid, Path, description = "The directory"),
        ("groupId" = Uuid, Path, description = "The group"),
    ),
    request_body = NewGrantsDto,
    responses((status = 200, description = "The changed group", body = GroupDto), Problems),
    extensions(
        ("x-required-permission" = json!("directories:update")),
        ("x-problems" = json!(["conflict", "insufficient-authentication", "validation"])),
    ),
)]
pub(crate) async fn set_grants(
    _: Authenticated,
    target: Target,
    IfMatch(precondition): IfMatch,
    GroupPath(directory, id): GroupPath,
    Call(caller, body): Call<NewGrantsDto>,
) -> Result<Response, Problem> {
    let outcome = target.directories().set_grants_if(&caller, directory, id, body.parse()?, &precondition).await;
    let changed = |group: DirectoryGroup| Tagged(group.version, GroupDto::from(group));
    target.respond(&caller, outcome, changed).await
}
