//! `/users` (`docs/http-api.md#users`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_core::attribute::Attributes;
use iam_core::user::{
    NewServiceAccount, NewUser, NewUserDetails, User, UserFilter, UserKind, UserPatch, UserSort, UserSortKey,
    UserStatus, UserWithAttributes,
};
use iam_core::{Iam, OrganizationId, UserId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::attribute::{SentAttributes, sent};
use crate::conditional::{IfMatch, Tagged};
use crate::description::{Problems, USERS};
use crate::extract::{Authenticated, Call, Params, PathId, Query, nullable, truth};
use crate::idempotency::RequestKey;
use crate::page::{Collection, PageQuery, SortOrderDto, sort_order};
use crate::preview::Target;
use crate::problem::Problem;
use crate::time::Time;

/// A person who can log in to a tenant, or a service account, as which programs act by API keys.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
pub(crate) struct UserDto {
    id: Uuid,
    #[schema(inline)]
    kind: KindDto,
    /// Absent for a service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    email: Option<String>,
    /// When it was proven that the user receives mail at this address. Null means not yet.
    #[schema(required)]
    email_verified_at: Option<Time>,
    /// Absent for a service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    first_name: Option<String>,
    /// Absent for a service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    last_name: Option<String>,
    /// The name of a service account. Absent for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<String>,
    /// The identifier of the user in another system, such as a directory. Null means none.
    #[schema(required)]
    external_id: Option<String>,
    tenant_id: Uuid,
    /// The organization to which the user belongs. Null for the tenant. A caller that holds a permission in
    /// organizations only can use it on users whose home and all of whose roles are there.
    #[schema(required)]
    home_organization_id: Option<Uuid>,
    #[schema(inline)]
    status: StatusDto,
    /// When the user last logged in. Null means never.
    #[schema(required)]
    last_login_at: Option<Time>,
    /// What the tenant keeps of the user beside the other fields. Absent if there is nothing, and in responses about the
    /// caller itself.
    #[serde(skip_serializing_if = "Attributes::is_empty")]
    #[schema(required = false, value_type = BTreeMap<String, Value>)]
    attributes: Attributes,
    created_at: Time,
    updated_at: Time,
}

/// A user as lists show it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserListItem {
    id: Uuid,
    #[schema(inline)]
    kind: KindDto,
    /// Absent for a service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    email: Option<String>,
    /// Absent for a service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    first_name: Option<String>,
    /// Absent for a service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    last_name: Option<String>,
    /// The name of a service account. Absent for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<String>,
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
    #[schema(inline)]
    kind: KindDto,
    /// Absent for a service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    email: Option<String>,
    /// Absent for a service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    first_name: Option<String>,
    /// Absent for a service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    last_name: Option<String>,
    /// The name of a service account. Absent for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<String>,
    #[schema(inline)]
    status: StatusDto,
    updated_at: Time,
}

/// Whether a user is a person or a program.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum KindDto {
    Human,
    Service,
}

impl From<UserKind> for KindDto {
    fn from(kind: UserKind) -> Self {
        match kind {
            UserKind::Human => Self::Human,
            UserKind::Service => Self::Service,
        }
    }
}

/// By what a user is known: a person by e-mail and names, a service account by its name.
#[derive(Default)]
struct Identity {
    email: Option<String>,
    first_name: Option<String>,
    last_name: Option<String>,
    name: Option<String>,
}

impl Identity {
    fn of(user: &User) -> Self {
        match user.service_name() {
            Some(name) => Self { name: Some(name.as_str().to_owned()), ..Self::default() },
            None => Self {
                email: Some(user.email.as_str().to_owned()),
                first_name: Some(user.first_name.as_str().to_owned()),
                last_name: Some(user.last_name.as_str().to_owned()),
                name: None,
            },
        }
    }
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
        let Identity { email, first_name, last_name, name } = Identity::of(&user);
        Self {
            id: user.id.as_uuid(),
            kind: user.kind.into(),
            email,
            email_verified_at: user.email_verified_at.map(Time),
            first_name,
            last_name,
            name,
            external_id: user.external_id.map(String::from),
            tenant_id: user.tenant_id.as_uuid(),
            home_organization_id: user.home_organization_id.map(OrganizationId::as_uuid),
            status: user.status.into(),
            last_login_at: user.last_login_at.map(Time),
            attributes: Attributes::default(),
            created_at: Time(user.created_at),
            updated_at: Time(user.updated_at),
        }
    }
}

impl From<UserWithAttributes> for UserDto {
    fn from(UserWithAttributes { user, attributes, .. }: UserWithAttributes) -> Self {
        Self { attributes, ..user.into() }
    }
}

impl From<User> for UserListItem {
    fn from(user: User) -> Self {
        let Identity { email, first_name, last_name, name } = Identity::of(&user);
        Self {
            id: user.id.as_uuid(),
            kind: user.kind.into(),
            email,
            first_name,
            last_name,
            name,
            status: user.status.into(),
            last_login_at: user.last_login_at.map(Time),
        }
    }
}

impl From<User> for UpdatedUser {
    fn from(user: User) -> Self {
        let Identity { email, first_name, last_name, name } = Identity::of(&user);
        Self {
            id: user.id.as_uuid(),
            kind: user.kind.into(),
            email,
            first_name,
            last_name,
            name,
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
    /// The identifier of the user in another system, such as a directory. It is unique in the tenant, letter by letter,
    /// and not the e-mail of another user.
    #[schema(min_length = 1, max_length = 255)]
    external_id: Option<String>,
    /// The organization to which the user belongs. If it is absent or null, the user belongs to the tenant.
    #[schema(value_type = Option<Uuid>, example = json!(null))]
    home_organization_id: Option<String>,
    /// At most 16 KiB, 32 keys and 5 levels. Those that the tenant has defined have their type.
    #[serde(default, deserialize_with = "sent")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, Value>>)]
    attributes: Option<SentAttributes>,
}

/// The service account to create.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewServiceAccount)]
pub(crate) struct NewServiceAccountDto {
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 100)]
    name: String,
    /// The organization to which the account belongs. If it is absent or null, the account belongs to the tenant.
    #[schema(value_type = Option<Uuid>, example = json!(null))]
    home_organization_id: Option<String>,
    /// At most 16 KiB, 32 keys and 5 levels. Those that the tenant has defined have their type.
    #[serde(default, deserialize_with = "sent")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, Value>>)]
    attributes: Option<SentAttributes>,
}

/// The changes to a user. Fields that are absent stay unchanged. Fields that are null stay unchanged, too, except for
/// `externalId` and `homeOrganizationId`.
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
    /// Only for a service account, which has no other name and no e-mail.
    #[schema(min_length = 1, max_length = 100)]
    name: Option<String>,
    /// Only for a person. A change needs what a change of the e-mail needs. Null removes it.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 255)]
    external_id: Option<Option<String>>,
    /// A change to INACTIVE deletes the user and also needs `users:delete`. A change from INACTIVE restores the user
    /// and also needs `users:create`.
    #[schema(inline)]
    status: Option<StatusDto>,
    /// Gives the user another home, and needs the permission tenant-wide, not by an access request. Null makes the user
    /// one of the tenant.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<Uuid>)]
    home_organization_id: Option<Option<String>>,
    /// By key: a value replaces that of its key, null removes the key, and other keys stay (RFC 7396).
    #[serde(default, deserialize_with = "sent")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, Value>>)]
    attributes: Option<SentAttributes>,
}

impl UserPatchDto {
    fn into_patch(self) -> Result<UserPatch, Problem> {
        let Self { email, first_name, last_name, name, external_id, status, home_organization_id, attributes } = self;
        let mut params = Params::default();
        let home = home_organization_id.map(|id| params.parse(HOME, id.as_deref()));
        params.finish()?;
        let status = status.map(UserStatus::from);
        let attributes = attributes.map(|sent| sent.read()).transpose()?;
        Ok(UserPatch { email, first_name, last_name, name, external_id, home, status, attributes })
    }
}

/// Parses the home of a new user.
fn home(id: Option<&str>) -> Result<Option<OrganizationId>, Problem> {
    let mut params = Params::default();
    let home = params.parse(HOME, id);
    params.finish()?;
    Ok(home)
}

const HOME: &str = "homeOrganizationId";

/// Which users to list, in which order.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct UserQuery {
    /// Users with this status only.
    #[param(value_type = Option<StatusDto>, inline)]
    status: Option<String>,
    /// Users of this kind only.
    #[param(value_type = Option<KindDto>, inline)]
    kind: Option<String>,
    /// Users with all of these words (at most 8), each as a part of the e-mail, the first name or the last name, or of
    /// the name of a service account. Compared by NFKC and full case folding.
    search: Option<String>,
    /// Users with an unexpired role in exactly this organization.
    #[param(value_type = Option<Uuid>)]
    organization_id: Option<String>,
    /// Users with exactly this value of an attribute, as `key:value`. The tenant has made the key searchable.
    #[param(max_length = 265, pattern = "^[A-Za-z][A-Za-z0-9_.-]*:")]
    attribute: Option<String>,
    /// People who have a confirmed second factor (`true`), or who have none (`false`). Needs `users:update` in the whole
    /// tenant, too.
    #[param(value_type = Option<bool>)]
    has_factor: Option<String>,
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
/// If the caller holds the permission in organizations only, the list has only their members: the users who have their
/// home or hold a role there.
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
        kind: params.parse("kind", query.kind.as_deref()),
        search: query.search,
        organization: params.parse("organizationId", query.organization_id.as_deref()),
        attribute: None,
        has_factor: params.parse_with("hasFactor", query.has_factor.as_deref(), truth),
    };
    let by = params.parse::<UserSortKey>("sortBy", query.sort_by.as_deref()).unwrap_or_default();
    let order = params.parse_with("sortOrder", query.sort_order.as_deref(), sort_order).unwrap_or_default();
    params.finish()?;
    let attribute = match &query.attribute {
        Some(text) => Some(iam.users().attribute_filter(&caller, text).await?),
        None => None,
    };
    let filter = UserFilter { attribute, ..filter };
    let page = iam.users().list(&caller, &filter, UserSort { by, order }, page).await?;
    Ok(Json(Collection::of(page)))
}

/// Create a user
///
/// The user is ACTIVE and has no roles. Its e-mail and its external identifier are unique in the tenant, also among
/// deleted users.
#[utoipa::path(
    post,
    path = "/users",
    operation_id = "createUser",
    tag = USERS,
    request_body = NewUserDto,
    responses((status = 201, description = "The new user", body = UserDto), Problems),
    extensions(("x-required-permission" = json!("users:create")), ("x-problems" = json!(["not-found"]))),
)]
pub(crate) async fn create(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    Call(caller, body): Call<NewUserDto>,
) -> Result<(StatusCode, Json<UserDto>), Problem> {
    let NewUserDto { email, password, first_name, last_name, external_id, home_organization_id, attributes } = body;
    let home = home(home_organization_id.as_deref())?;
    let attributes = SentAttributes::of_new(attributes)?;
    let new = NewUser { email, password: password.into(), first_name, last_name };
    let details = NewUserDetails { home, external_id, attributes };
    let user = iam.users().create_with(&caller, new, details, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(user.into())))
}

/// Create a service account
///
/// A user that is a program. It holds roles as a person does, but has no e-mail, no password and no second factor, and
/// never logs in. Programs act as it by API keys.
#[utoipa::path(
    post,
    path = "/service-accounts",
    operation_id = "createServiceAccount",
    tag = USERS,
    request_body = NewServiceAccountDto,
    responses((status = 201, description = "The new service account", body = UserDto), Problems),
    extensions(("x-required-permission" = json!("users:create")), ("x-problems" = json!(["not-found"]))),
)]
pub(crate) async fn create_service_account(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    Call(caller, body): Call<NewServiceAccountDto>,
) -> Result<(StatusCode, Json<UserDto>), Problem> {
    let NewServiceAccountDto { name, home_organization_id, attributes } = body;
    let home = home(home_organization_id.as_deref())?;
    let attributes = SentAttributes::of_new(attributes)?;
    let details = NewUserDetails { home, external_id: None, attributes };
    let new = NewServiceAccount { name };
    let account = iam.users().create_service_account_with(&caller, new, details, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(account.into())))
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
    let found = iam.users().get_with_attributes(&caller, id).await?;
    Ok(Tagged(found.user.version, found.into()))
}

/// Change a user
///
/// A new e-mail is not verified. It needs a session that has authenticated within the last ten minutes, and so does
/// another external identifier. A user that is suspended or deleted loses its sessions. A caller that holds the
/// permission in organizations only can change users whose home and all of whose roles are there.
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
        ("x-problems" = json!(["conflict", "insufficient-authentication", "legal-hold"])),
    ),
)]
pub(crate) async fn update(
    _: Authenticated,
    target: Target,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<UserId>,
    Call(caller, body): Call<UserPatchDto>,
) -> Result<Response, Problem> {
    let outcome = target.users().update_if(&caller, id, body.into_patch()?, &precondition).await;
    target.respond(&caller, outcome, |user| Tagged(user.version, UpdatedUser::from(user))).await
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
    extensions(
        ("x-required-permission" = json!("users:delete")),
        ("x-problems" = json!(["conflict", "legal-hold"])),
    ),
)]
pub(crate) async fn delete(
    Authenticated(caller): Authenticated,
    target: Target,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<UserId>,
) -> Result<Response, Problem> {
    let outcome = target.users().delete_if(&caller, id, &precondition).await;
    target.respond(&caller, outcome, |()| StatusCode::NO_CONTENT).await
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
    Authenticated(caller): Authenticated,
    target: Target,
    PathId(id): PathId<UserId>,
) -> Result<Response, Problem> {
    let outcome = target.users().suspend(&caller, id).await;
    target.respond(&caller, outcome, |user| Json(UpdatedUser::from(user))).await
}

/// Reactivate a user
///
/// Reactivating an active user does nothing. A user who may change the protections of the tenant becomes active only by a
/// session that has authenticated recently.
#[utoipa::path(
    post,
    path = "/users/{id}/reactivate",
    operation_id = "reactivateUser",
    tag = USERS,
    params(("id" = Uuid, Path, description = "The user")),
    responses((status = 200, description = "The active user", body = UpdatedUser), Problems),
    extensions(
        ("x-required-permission" = json!("users:update")),
        ("x-problems" = json!(["conflict", "insufficient-authentication"])),
    ),
)]
pub(crate) async fn reactivate(
    Authenticated(caller): Authenticated,
    target: Target,
    PathId(id): PathId<UserId>,
) -> Result<Response, Problem> {
    let outcome = target.users().reactivate(&caller, id).await;
    target.respond(&caller, outcome, |user| Json(UpdatedUser::from(user))).await
}
