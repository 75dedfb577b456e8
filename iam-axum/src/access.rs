//! `/authz/check`: whether a user holds a permission, and why (`docs/http-api.md#checks`). `/authz/who`: which users
//! hold one (`docs/foresight.md#who-can`).

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use iam_core::access::{DecidingGrant, Decision, Holder, Question};
use iam_core::{AccessRequestId, DirectoryGroupId, Iam, OrganizationId, UserId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::assignment::AssignedUser;
use crate::description::{AUTHORIZATION, Problems};
use crate::extract::{Authenticated, Call, Params, Query};
use crate::long::{ITEM, json};
use crate::page::{Collection, List, PageQuery};
use crate::problem::Problem;
use crate::time::{Time, moment};

/// The question whether a user holds a permission.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PermissionCheck)]
pub(crate) struct Check {
    /// A built-in permission or one of the application. A permission that is not registered is not an error: only a
    /// role with `*` or `<resource>:*` holds it.
    #[serde(default)]
    #[schema(required, max_length = 120, pattern = "^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$", example = "users:read")]
    permission: String,
    /// The organization to check. Absent or null means tenant-wide; roles in organizations then do not count.
    #[schema(value_type = Option<Uuid>)]
    organization_id: Option<String>,
    /// The user to check. Absent or null means the caller.
    #[schema(value_type = Option<Uuid>)]
    user_id: Option<String>,
    /// The moment to check. Absent or null means now. For an earlier moment, the answer is the one of that moment, and
    /// the caller also needs `audit-logs:read`. For a later one, it is the answer as things stand now.
    #[schema(value_type = Option<String>, format = DateTime)]
    at: Option<String>,
}

impl Check {
    fn question(&self, params: &mut Params, field: impl Fn(&str) -> String) -> Option<Question> {
        let permission = params.require(&field("permission"), &self.permission);
        let organization = params.parse(&field("organizationId"), self.organization_id.as_deref());
        let user = params.parse(&field("userId"), self.user_id.as_deref());
        let at = params.parse_with(&field("at"), self.at.as_deref(), moment);
        Some(Question { permission: permission?, organization, user, at })
    }
}

/// Several questions.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PermissionChecks)]
pub(crate) struct Checks {
    #[serde(default)]
    #[schema(required, min_items = 1, max_items = 100)]
    checks: Vec<Check>,
}

/// Whether the user holds the permission, and why.
#[derive(Serialize, ToSchema)]
#[schema(as = Decision)]
pub(crate) struct DecisionDto {
    allowed: bool,
    /// An explanation for people: what grants the permission, or what is missing.
    #[schema(example = "Granted by MEMBER (tenant-wide).")]
    reason: String,
    /// The role assignments that grant the permission, at most 50. Each of them is enough by itself.
    grants: Vec<DecidingGrantDto>,
    /// Whether more role assignments grant the permission. Absent if none does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    truncated: bool,
}

/// A role assignment that grants the permission.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DecidingGrant)]
pub(crate) struct DecidingGrantDto {
    assignment_id: Uuid,
    role_id: Uuid,
    role_name: String,
    /// The organization in which the role is held. Null means tenant-wide.
    #[schema(required)]
    organization_id: Option<Uuid>,
    /// The organization in which the role is held, if it is above the checked organization. Otherwise null.
    #[schema(required)]
    inherited_from: Option<Uuid>,
    /// The user who assigned the role. Null means the service itself.
    #[schema(required)]
    granted_by: Option<Uuid>,
    /// The group of a directory that gives the role. Null if it was assigned by other means.
    #[schema(required)]
    directory_group_id: Option<Uuid>,
    /// The access request by which the role is held, or was given. Null for a standing assignment.
    #[schema(required)]
    access_request_id: Option<Uuid>,
    granted_at: Time,
}

impl From<DecidingGrant> for DecidingGrantDto {
    fn from(grant: DecidingGrant) -> Self {
        Self {
            assignment_id: grant.assignment.as_uuid(),
            role_id: grant.role.as_uuid(),
            role_name: grant.role_name.into(),
            organization_id: grant.organization.map(OrganizationId::as_uuid),
            inherited_from: grant.inherited_from.map(OrganizationId::as_uuid),
            granted_by: grant.granted_by.map(UserId::as_uuid),
            directory_group_id: grant.directory_group.map(DirectoryGroupId::as_uuid),
            access_request_id: grant.access_request.map(AccessRequestId::as_uuid),
            granted_at: Time(grant.granted_at),
        }
    }
}

impl From<Decision> for DecisionDto {
    fn from(decision: Decision) -> Self {
        Self {
            allowed: decision.is_allowed(),
            reason: decision.to_string(),
            truncated: decision.truncated,
            grants: decision.grants.into_iter().map(DecidingGrantDto::from).collect(),
        }
    }
}

/// Check a permission
///
/// Tells whether the caller holds a permission, and why. A caller with `role-assignments:read` can also check another
/// user.
#[utoipa::path(
    post,
    path = "/authz/check",
    operation_id = "check",
    tag = AUTHORIZATION,
    request_body = Check,
    responses((status = 200, description = "The decision", body = DecisionDto), Problems),
    extensions(("x-required-permission" = json!("session")), ("x-problems" = json!(["forbidden", "not-found"]))),
)]
pub(crate) async fn check(
    State(iam): State<Iam>,
    Call(caller, body): Call<Check>,
) -> Result<Json<DecisionDto>, Problem> {
    let mut params = Params::default();
    let question = body.question(&mut params, str::to_owned);
    params.finish()?;
    let Some(question) = question else { return Err(Problem::invalid_field("permission", "is required")) };
    Ok(Json(iam.access().check(&caller, question).await?.into()))
}

/// Check several permissions
///
/// Answers 1–100 questions, in order.
#[utoipa::path(
    post,
    path = "/authz/check/bulk",
    operation_id = "checkAll",
    tag = AUTHORIZATION,
    request_body = Checks,
    responses((status = 200, description = "The decisions, in order", body = List<DecisionDto>), Problems),
    extensions(("x-required-permission" = json!("session")), ("x-problems" = json!(["forbidden", "not-found"]))),
)]
pub(crate) async fn check_all(
    State(iam): State<Iam>,
    Call(caller, Checks { checks }): Call<Checks>,
) -> Result<Response, Problem> {
    let mut params = Params::default();
    let question =
        |(number, check): (usize, &Check)| check.question(&mut params, |field| format!("checks[{number}].{field}"));
    let questions: Vec<Question> = checks.iter().enumerate().filter_map(question).collect();
    params.finish()?;
    let decisions = iam.access().check_all(&caller, &questions).await?;
    let grants: usize = decisions.iter().map(|decision| decision.grants.len()).sum();
    let data = move || List { data: decisions.into_iter().map(DecisionDto::from).collect::<Vec<_>>() };
    json(&iam, &caller, grants * ITEM, data).await
}

/// Which users to list.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct WhoQuery {
    /// A built-in permission or one of the application.
    #[serde(default)]
    #[param(required, max_length = 120, pattern = "^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$", example = "users:read")]
    permission: String,
    /// The organization in which they hold it. Absent means tenant-wide; roles in organizations then do not count.
    #[param(value_type = Option<Uuid>)]
    organization_id: Option<String>,
    /// The moment at which they hold it. Absent means now. For an earlier moment, the caller also needs
    /// `audit-logs:read`. For a later one, the answer is the one as things stand now.
    #[param(value_type = Option<String>, format = DateTime)]
    at: Option<String>,
}

/// A user who holds the permission.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PermissionHolder)]
pub(crate) struct HolderDto {
    user_id: Uuid,
    user: AssignedUser,
    /// The role assignments that grant the permission, at most 50. Each of them is enough by itself.
    grants: Vec<DecidingGrantDto>,
    /// Whether more role assignments grant the permission. Absent if none does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    truncated: bool,
}

impl From<Holder> for HolderDto {
    fn from(holder: Holder) -> Self {
        Self {
            user_id: holder.user.id.as_uuid(),
            user: AssignedUser::new(holder.user.id, holder.user.summary()),
            truncated: holder.truncated,
            grants: holder.grants.into_iter().map(DecidingGrantDto::from).collect(),
        }
    }
}

/// List who holds a permission
///
/// Returns the users for whom a check of the permission is positive, with the role assignments that grant it. The
/// caller needs the permission in the organization, or tenant-wide if none is given.
#[utoipa::path(
    get,
    path = "/authz/who",
    operation_id = "listPermissionHolders",
    tag = AUTHORIZATION,
    params(PageQuery, WhoQuery),
    responses((status = 200, description = "A page of users, by id", body = Collection<HolderDto>), Problems),
    extensions(("x-required-permission" = json!("role-assignments:read")), ("x-problems" = json!(["not-found"]))),
)]
pub(crate) async fn who(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(page): Query<PageQuery>,
    Query(query): Query<WhoQuery>,
) -> Result<Response, Problem> {
    let mut params = Params::default();
    let page = page.request_among(&mut params);
    let permission = params.require("permission", &query.permission);
    let organization = params.parse("organizationId", query.organization_id.as_deref());
    let at = params.parse_with("at", query.at.as_deref(), moment);
    params.finish()?;
    let Some(permission) = permission else { return Err(Problem::invalid_field("permission", "is required")) };
    let holders = iam.access().who(&caller, permission, organization, at, page).await?;
    let grants: usize = holders.items.iter().map(|holder| holder.grants.len()).sum();
    json(&iam, &caller, grants * ITEM, move || Collection::<HolderDto>::of(holders)).await
}
