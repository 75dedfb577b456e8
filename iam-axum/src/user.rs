//! `/users` (`interface.md` §2.1, §4.1).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use iam_core::user::{NewUser, User, UserFilter, UserPatch, UserSort, UserSortKey, UserStatus};
use iam_core::{Iam, UserId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::conditional::{IfMatch, Tagged};
use crate::description::{Problems, USERS};
use crate::extract::{Authenticated, Call, Params, PathId, Query};
use crate::idempotency::RequestKey;
use crate::page::{Collection, PageQuery, SortOrderDto, sort_order};
use crate::problem::Problem;
use crate::time::Time;

/// A person who can log in to a tenant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
pub(crate) struct UserDto {
    id: Uuid,
    email: String,
    /// When it was proven that the user receives mail at this address. Null means not yet.
    #[schema(required)]
    email_verified_at: Option<Time>,
    first_name: String,
    last_name: String,
    tenant_id: Uuid,
    #[schema(inline)]
    status: StatusDto,
    /// When the user last logged in. Null means never.
    #[schema(required)]
    last_login_at: Option<Time>,
    created_at: Time,
    updated_at: Time,
}

/// A user as lists show it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserListItem {
    id: Uuid,
    email: String,
    first_name: String,
    last_name: String,
    #[schema(inline)]
    status: StatusDto,
    /// When the user last logged in. Null means never.
    #[schema(required)]
    last_login_at: Option<Time>,
}

/// A user as the response to a change shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UpdatedUser {
    id: Uuid,
    email: String,
    first_name: String,
    last_name: String,
    #[schema(inline)]
    status: StatusDto,
    updated_at: Time,
}

/// Whether a user can log in.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum StatusDto {
    Active,
    Suspended,
    Inactive,
}

impl From<UserStatus> for StatusDto {
    fn from(status: UserStatus) -> Self {
        match status {
            UserStatus::Active => Self::Active,
            UserStatus::Suspended => Self::Suspended,
            UserStatus::Inactive => Self::Inactive,
        }
    }
}

impl From<StatusDto> for UserStatus {
    fn from(status: StatusDto) -> Self {
        match status {
            StatusDto::Active => Self::Active,
            StatusDto::Suspended => Self::Suspended,
            StatusDto::Inactive => Self::Inactive,
        }
    }
}

impl From<User> for UserDto {
    fn from(user: User) -> Self {
        Self {
            id: user.id.as_uuid(),
            email: user.email.into(),
            email_verified_at: user.email_verified_at.map(Time),
            first_name: user.first_name.into(),
            last_name: user.last_name.into(),
            tenant_id: user.tenant_id.as_uuid(),
            status: user.status.into(),
            last_login_at: user.last_login_at.map(Time),
            created_at: Time(user.created_at),
            updated_at: Time(user.updated_at),
        }
    }
}

impl From<User> for UserListItem {
    fn from(user: User) -> Self {
        Self {
            id: user.id.as_uuid(),
            email: user.email.into(),
            first_name: user.first_name.into(),
            last_name: user.last_name.into(),
            status: user.status.into(),
            last_login_at: user.last_login_at.map(Time),
        }
    }
}

impl From<User> for UpdatedUser {
    fn from(user: User) -> Self {
        Self {
            id: user.id.as_uuid(),
            email: user.email.into(),
            first_name: user.first_name.into(),
            last_name: user.last_name.into(),
            status: user.status.into(),
            updated_at: Time(user.updated_at),
        }
    }
}

/// The user to create.
//
// A missing field counts as an empty one, so that every invalid field is reported at once.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewUser)]
pub(crate) struct NewUserDto {
    /// Unique in the tenant. Upper and lower case make no difference.
    #[serde(default)]
    #[schema(required, format = "email", max_length = 254)]
    email: String,
    /// By the `passwordPolicy` of the tenant. By default, it must contain an upper-case and a lower-case letter, a
    /// digit and one of `! @ # $ % ^ & *`.
    #[serde(default)]
    #[schema(required, format = Password, min_length = 8, max_length = 128)]
    password: String,
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 100)]
    first_name: String,
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 100)]
    last_name: String,
}

impl From<NewUserDto> for NewUser {
    fn from(dto: NewUserDto) -> Self {
        let NewUserDto { email, password, first_name, last_name } = dto;
        Self { email, password: password.into(), first_name, last_name }
    }
}

/// The changes to a user. Fields that are absent or null stay unchanged.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = UserPatch)]
pub(crate) struct UserPatchDto {
    #[schema(format = "email", max_length = 254)]
    email: Option<String>,
    #[schema(min_length = 1, max_length = 100)]
    first_name: Option<String>,
    #[schema(min_length = 1, max_length = 100)]
    last_name: Option<String>,
    /// A change to INACTIVE deletes the user and also needs `users:delete`. A change from INACTIVE restores the user
    /// and also needs `users:create`.
    #[schema(inline)]
    status: Option<StatusDto>,
}

impl From<UserPatchDto> for UserPatch {
    fn from(dto: UserPatchDto) -> Self {
        let UserPatchDto { email, first_name, last_name, status } = dto;
        Self { email, first_name, last_name, status: status.map(UserStatus::from), ..Self::default() }
    }
}

/// Which users to list, in which order.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct UserQuery {
    /// Users with this status only.
    #[param(value_type = Option<StatusDto>, inline)]
    status: Option<String>,
    /// Users with this text in the e-mail, the first name or the last name. Upper and lower case make no difference.
    search: Option<String>,
    /// Users with an unexpired role in exactly this organization.
    #[param(value_type = Option<Uuid>)]
    organization_id: Option<String>,
    /// The field to sort by.
    #[param(value_type = Option<SortByDto>, inline)]
    sort_by: Option<String>,
    /// The direction of the sort.
    #[param(value_type = Option<SortOrderDto>, inline)]
    sort_order: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase", default = "createdAt")]
#[expect(dead_code, reason = "only its schema is used; the domain parses the word")]
pub(crate) enum SortByDto {
    CreatedAt,
    UpdatedAt,
    Email,
    FirstName,
    LastName,
    LastLoginAt,
    Status,
}

/// List users
///
/// If the caller holds the permission in organizations only, the list has only their members.
#[utoipa::path(
    get,
    path = "/users",
    operation_id = "listUsers",
    tag = USERS,
    params(PageQuery, UserQuery),
    responses((status = 200, description = "A page of users", body = Collection<UserListItem>), Problems),
    extensions(("x-required-permission" = json!("users:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(page): Query<PageQuery>,
    Query(query): Query<UserQuery>,
) -> Result<Json<Collection<UserListItem>>, Problem> {
    let mut params = Params::default();
    let page = page.request_among(&mut params);
    let filter = UserFilter {
        status: params.parse("status", query.status.as_deref()),
        search: query.search,
        organization: params.parse("organizationId", query.organization_id.as_deref()),
        ..UserFilter::default()
    };
    let by = params.parse::<UserSortKey>("sortBy", query.sort_by.as_deref()).unwrap_or_default();
    let order = params.parse_with("sortOrder", query.sort_order.as_deref(), sort_order).unwrap_or_default();
    params.finish()?;
    let page = iam.users().list(&caller, &filter, UserSort { by, order }, page).await?;
    Ok(Json(Collection::of(page)))
}

/// Create a user
///
/// The user is ACTIVE and has no roles. Its e-mail is unique in the tenant, also among deleted users.
#[utoipa::path(
    post,
    path = "/users",
    operation_id = "createUser",
    tag = USERS,
    request_body = NewUserDto,
    responses((status = 201, description = "The new user", body = UserDto), Problems),
    extensions(("x-required-permission" = json!("users:create"))),
)]
pub(crate) async fn create(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    Call(caller, body): Call<NewUserDto>,
) -> Result<(StatusCode, Json<UserDto>), Problem> {
    let user = iam.users().create_once(&caller, body.into(), key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(user.into())))
}

/// Get a user
///
/// Users of every status are found. If the caller holds the permission in organizations only, it gets only their
/// members.
#[utoipa::path(
    get,
    path = "/users/{id}",
    operation_id = "getUser",
    tag = USERS,
    params(("id" = Uuid, Path, description = "The user")),
    responses((status = 200, description = "The user", body = UserDto), Problems),
    extensions(("x-required-permission" = json!("users:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<UserId>,
) -> Result<Tagged<UserDto>, Problem> {
    let user = iam.users().get(&caller, id).await?;
    Ok(Tagged(user.version, user.into()))
}

/// Change a user
///
/// A new e-mail is not verified, and needs a session that has authenticated within the last ten minutes. A user that is
/// suspended or deleted loses its sessions.
#[utoipa::path(
    patch,
    path = "/users/{id}",
    operation_id = "updateUser",
    tag = USERS,
    params(("id" = Uuid, Path, description = "The user")),
    request_body = UserPatchDto,
    responses((status = 200, description = "The changed user", body = UpdatedUser), Problems),
    extensions(
        ("x-required-permission" = json!("users:update")),
        ("x-problems" = json!(["conflict", "insufficient-authentication"])),
    ),
)]
pub(crate) async fn update(
    State(iam): State<Iam>,
    _: Authenticated,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<UserId>,
    Call(caller, body): Call<UserPatchDto>,
) -> Result<Tagged<UpdatedUser>, Problem> {
    let user = iam.users().update_if(&caller, id, body.into(), &precondition).await?;
    Ok(Tagged(user.version, user.into()))
}

/// Delete a user
///
/// The user becomes INACTIVE. Its sessions and roles end. Its record stays.
#[utoipa::path(
    delete,
    path = "/users/{id}",
    operation_id = "deleteUser",
    tag = USERS,
    params(("id" = Uuid, Path, description = "The user")),
    responses((status = 204, description = "The user is deleted"), Problems),
    extensions(("x-required-permission" = json!("users:delete")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn delete(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<UserId>,
) -> Result<StatusCode, Problem> {
    iam.users().delete_if(&caller, id, &precondition).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Suspend a user
///
/// The user's sessions end at once. Suspending a suspended user does nothing.
#[utoipa::path(
    post,
    path = "/users/{id}/suspend",
    operation_id = "suspendUser",
    tag = USERS,
    params(("id" = Uuid, Path, description = "The user")),
    responses((status = 200, description = "The suspended user", body = UpdatedUser), Problems),
    extensions(("x-required-permission" = json!("users:update")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn suspend(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<UserId>,
) -> Result<Json<UpdatedUser>, Problem> {
    Ok(Json(iam.users().suspend(&caller, id).await?.into()))
}

/// Reactivate a user
///
/// Reactivating an active user does nothing.
#[utoipa::path(
    post,
    path = "/users/{id}/reactivate",
    operation_id = "reactivateUser",
    tag = USERS,
    params(("id" = Uuid, Path, description = "The user")),
    responses((status = 200, description = "The active user", body = UpdatedUser), Problems),
    extensions(("x-required-permission" = json!("users:update")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn reactivate(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<UserId>,
) -> Result<Json<UpdatedUser>, Problem> {
    Ok(Json(iam.users().reactivate(&caller, id).await?.into()))
}
