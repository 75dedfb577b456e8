//! `/directories` (`docs/directories.md#making-a-directory`).

pub(crate) mod group;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use iam_core::directory::{DeletedUsers, Directory, DirectoryActivity, DirectoryPatch, DirectoryRefusal, NewDirectory};
use iam_core::{DirectoryId, Error, Iam, IdentityProviderId, UserId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::conditional::{IfMatch, Tagged};
use crate::description::{DIRECTORIES, Problems};
use crate::extract::{Authenticated, Call, Params, PathId, Query, nullable};
use crate::idempotency::RequestKey;
use crate::page::List;
use crate::problem::Problem;
use crate::scim_url::ScimUrl;
use crate::time::Time;

/// The provider of a directory in requests.
const PROVIDER: &str = "identityProviderId";

/// A directory as the response to a change shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UpdatedDirectory {
    id: Uuid,
    name: String,
    service_account_id: Uuid,
    /// The provider by which the users of the directory log in. Null if they log in by other means.
    #[schema(required)]
    identity_provider_id: Option<Uuid>,
    /// The address to enter where the directory is managed: the base URL of SCIM 2.0.
    scim_url: String,
    adopt: bool,
    created_at: Time,
    updated_at: Time,
}

/// Where the identity provider of a company writes its people and groups.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Directory)]
pub(crate) struct DirectoryDto {
    #[serde(flatten)]
    directory: UpdatedDirectory,
    /// When its last request arrived, to the minute. Null means never.
    #[schema(required)]
    last_request_at: Option<Time>,
    /// Its last requests that were refused, newest first: 20 at most.
    refusals: Vec<DirectoryRefusalDto>,
}

/// A request of a directory that was refused.
#[derive(Serialize, ToSchema)]
#[schema(as = DirectoryRefusal)]
pub(crate) struct DirectoryRefusalDto {
    at: Time,
    /// The method, and the path without identifiers.
    request: String,
    /// The status code of the answer.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// Why. It names no person.
    detail: String,
}

impl From<DirectoryRefusal> for DirectoryRefusalDto {
    fn from(refusal: DirectoryRefusal) -> Self {
        let DirectoryRefusal { at, request, status, detail } = refusal;
        Self { at: Time(at), request, status, detail }
    }
}

impl UpdatedDirectory {
    fn new(directory: Directory, scim_url: String) -> Self {
        Self {
            id: directory.id.as_uuid(),
            name: directory.name.into(),
            service_account_id: directory.service_account_id.as_uuid(),
            identity_provider_id: directory.identity_provider_id.map(IdentityProviderId::as_uuid),
            scim_url,
            adopt: directory.adopt,
            created_at: Time(directory.created_at),
            updated_at: Time(directory.updated_at),
        }
    }
}

impl DirectoryDto {
    fn new(directory: Directory, activity: DirectoryActivity, scim_url: String) -> Self {
        Self {
            directory: UpdatedDirectory::new(directory, scim_url),
            last_request_at: activity.last_request_at.map(Time),
            refusals: activity.refusals.into_iter().map(DirectoryRefusalDto::from).collect(),
        }
    }
}

/// The directory to make.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewDirectory)]
pub(crate) struct NewDirectoryDto {
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 120)]
    name: String,
    /// The service account whose API keys the directory uses. It is ACTIVE and has no other directory. The directory
    /// may do what the account may do.
    #[serde(default)]
    #[schema(required, value_type = Uuid)]
    service_account_id: String,
    /// The provider by which the users of the directory log in. Absent or null means that they log in by other means.
    #[schema(value_type = Option<Uuid>)]
    identity_provider_id: Option<String>,
    /// Whether the directory takes over users of the tenant who have the address of one of its own. Absent or null
    /// means that it does not.
    adopt: Option<bool>,
}

impl NewDirectoryDto {
    fn parse(self) -> Result<NewDirectory, Problem> {
        let mut params = Params::default();
        let account: Option<UserId> = params.require("serviceAccountId", &self.service_account_id);
        let identity_provider = params.parse(PROVIDER, self.identity_provider_id.as_deref());
        params.finish()?;
        let service_account = account.ok_or_else(|| Error::field("serviceAccountId", "must be a UUID"))?;
        Ok(NewDirectory { name: self.name, service_account, identity_provider, adopt: self.adopt.unwrap_or_default() })
    }
}

/// The changes to a directory. Fields that are absent or null stay unchanged, except that null removes the provider.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = DirectoryPatch)]
pub(crate) struct DirectoryPatchDto {
    #[schema(min_length = 1, max_length = 120)]
    name: Option<String>,
    /// The provider by which the users of the directory log in. Null means that they log in by other means.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<Uuid>)]
    identity_provider_id: Option<Option<String>>,
    adopt: Option<bool>,
}

impl DirectoryPatchDto {
    fn parse(self) -> Result<DirectoryPatch, Problem> {
        let mut params = Params::default();
        let identity_provider = self.identity_provider_id.map(|id| params.parse(PROVIDER, id.as_deref()));
        params.finish()?;
        Ok(DirectoryPatch { name: self.name, identity_provider, adopt: self.adopt })
    }
}

/// What happens to the users of a directory that is removed.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeletionQuery {
    /// What happens to the users of the directory: `keep` changes nothing, `suspend` suspends those who are ACTIVE.
    /// They all stay, and belong to no directory.
    #[param(required, value_type = DeletedUsersDto, inline, example = "keep")]
    users: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum DeletedUsersDto {
    Keep,
    Suspend,
}

impl DeletionQuery {
    fn parse(&self) -> Result<DeletedUsers, Problem> {
        match self.users.as_deref() {
            Some("keep") => Ok(DeletedUsers::Keep),
            Some("suspend") => Ok(DeletedUsers::Suspend),
            _ => Err(Problem::invalid_field("users", "must be keep or suspend")),
        }
    }
}

/// List the directories
///
/// By name, with what each has sent last. A tenant has 10 directories at most.
#[utoipa::path(
    get,
    path = "/directories",
    operation_id = "listDirectories",
    tag = DIRECTORIES,
    responses((status = 200, description = "The directories", body = List<DirectoryDto>), Problems),
    extensions(("x-required-permission" = json!("directories:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    ScimUrl(url): ScimUrl,
) -> Result<Json<List<DirectoryDto>>, Problem> {
    let all = iam.directories().list(&caller).await?;
    let shown = |(directory, activity)| DirectoryDto::new(directory, activity, url.clone());
    Ok(Json(List { data: all.into_iter().map(shown).collect() }))
}

/// Make a directory
///
/// A directory may do what its service account may do. With `adopt`, it takes over users of the tenant, so the caller then
/// also needs `directories:update` and `users:update`. The provider that it names logs people in as its users, so to name
/// one takes all permissions. Both take a session that has authenticated within the last ten minutes. A tenant has 10
/// directories at most.
#[utoipa::path(
    post,
    path = "/directories",
    operation_id = "createDirectory",
    tag = DIRECTORIES,
    request_body = NewDirectoryDto,
    responses((status = 201, description = "The new directory", body = DirectoryDto), Problems),
    extensions(
        ("x-required-permission" = json!("directories:create")),
        ("x-problems" = json!(["conflict", "insufficient-authentication", "not-found"])),
    ),
)]
pub(crate) async fn create(
    State(iam): State<Iam>,
    ScimUrl(url): ScimUrl,
    RequestKey(key): RequestKey,
    Call(caller, body): Call<NewDirectoryDto>,
) -> Result<(StatusCode, Json<DirectoryDto>), Problem> {
    let directory = iam.directories().create_once(&caller, body.parse()?, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(DirectoryDto::new(directory, DirectoryActivity::default(), url))))
}

/// Get a directory
///
/// With what it has sent last.
#[utoipa::path(
    get,
    path = "/directories/{id}",
    operation_id = "getDirectory",
    tag = DIRECTORIES,
    params(("id" = Uuid, Path, description = "The directory")),
    responses((status = 200, description = "The directory", body = DirectoryDto), Problems),
    extensions(("x-required-permission" = json!("directories:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    ScimUrl(url): ScimUrl,
    PathId(id): PathId<DirectoryId>,
) -> Result<Tagged<DirectoryDto>, Problem> {
    let (directory, activity) = iam.directories().get(&caller, id).await?;
    Ok(Tagged(directory.version, DirectoryDto::new(directory, activity, url)))
}

/// Change a directory
///
/// Its service account stays the same. To let it adopt, the caller also needs `users:update`; to name another provider, all
/// permissions. Both take a session that has authenticated within the last ten minutes.
#[utoipa::path(
    patch,
    path = "/directories/{id}",
    operation_id = "updateDirectory",
    tag = DIRECTORIES,
    params(("id" = Uuid, Path, description = "The directory")),
    request_body = DirectoryPatchDto,
    responses((status = 200, description = "The changed directory", body = UpdatedDirectory), Problems),
    extensions(
        ("x-required-permission" = json!("directories:update")),
        ("x-problems" = json!(["insufficient-authentication"])),
    ),
)]
pub(crate) async fn update(
    State(iam): State<Iam>,
    _: Authenticated,
    ScimUrl(url): ScimUrl,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<DirectoryId>,
    Call(caller, body): Call<DirectoryPatchDto>,
) -> Result<Tagged<UpdatedDirectory>, Problem> {
    let directory = iam.directories().update_if(&caller, id, body.parse()?, &precondition).await?;
    Ok(Tagged(directory.version, UpdatedDirectory::new(directory, url)))
}

/// Remove a directory
///
/// What it has said of its users is removed, and so are its groups with the roles that they give. Its service account
/// and the users stay. To suspend the users, the caller also needs `users:update`, and everything that those who are
/// ACTIVE may do.
#[utoipa::path(
    delete,
    path = "/directories/{id}",
    operation_id = "deleteDirectory",
    tag = DIRECTORIES,
    params(("id" = Uuid, Path, description = "The directory"), DeletionQuery),
    responses((status = 204, description = "The directory is removed"), Problems),
    extensions(
        ("x-required-permission" = json!("directories:delete")),
        ("x-problems" = json!(["conflict", "legal-hold"])),
    ),
)]
pub(crate) async fn delete(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<DirectoryId>,
    Query(query): Query<DeletionQuery>,
) -> Result<StatusCode, Problem> {
    iam.directories().delete_if(&caller, id, query.parse()?, &precondition).await?;
    Ok(StatusCode::NO_CONTENT)
}
