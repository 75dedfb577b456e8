//! `/authz/check`: whether a user holds a permission, and why (`decisions.md` §4).

use axum::Json;
use axum::extract::State;
use iam_core::access::{DecidingGrant, Decision, Question};
use iam_core::{Iam, OrganizationId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::description::{AUTHORIZATION, Problems};
use crate::extract::{Call, Params};
use crate::page::List;
use crate::problem::Problem;

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
}

impl Check {
    fn question(&self, params: &mut Params, field: impl Fn(&str) -> String) -> Option<Question> {
        let permission = params.require(&field("permission"), &self.permission);
        let organization = params.parse(&field("organizationId"), self.organization_id.as_deref());
        let user = params.parse(&field("userId"), self.user_id.as_deref());
        Some(Question { permission: permission?, organization, user })
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
    /// The role assignments that grant the permission. Each of them is enough by itself.
    grants: Vec<DecidingGrantDto>,
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
}

impl From<DecidingGrant> for DecidingGrantDto {
    fn from(grant: DecidingGrant) -> Self {
        Self {
            assignment_id: grant.assignment.as_uuid(),
            role_id: grant.role.as_uuid(),
            role_name: grant.role_name.into(),
            organization_id: grant.organization.map(OrganizationId::as_uuid),
            inherited_from: grant.inherited_from.map(OrganizationId::as_uuid),
        }
    }
}

impl From<Decision> for DecisionDto {
    fn from(decision: Decision) -> Self {
        Self {
            allowed: decision.is_allowed(),
            reason: decision.to_string(),
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
) -> Result<Json<List<DecisionDto>>, Problem> {
    let mut params = Params::default();
    let question =
        |(number, check): (usize, &Check)| check.question(&mut params, |field| format!("checks[{number}].{field}"));
    let questions: Vec<Question> = checks.iter().enumerate().filter_map(question).collect();
    params.finish()?;
    let decisions = iam.access().check_all(&caller, &questions).await?;
    Ok(Json(List { data: decisions.into_iter().map(DecisionDto::from).collect() }))
}
