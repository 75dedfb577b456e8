//! `/eligibilities` and `/auth/eligibilities` (`docs/access-requests.md#eligibilities`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use iam_core::eligibility::{Eligibility, EligibilityPatch, ListedEligibility, NewEligibility};
use iam_core::{EligibilityId, Iam, OrganizationId, RoleId, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::assignment::Named;
use crate::conditional::{IfMatch, Tagged};
use crate::description::{ACCESS_REQUESTS, Problems};
use crate::extract::{Authenticated, Call, Params, PathId, Query, Whole, nullable};
use crate::idempotency::RequestKey;
use crate::page::{Collection, List, PageQuery};
use crate::problem::{Kind, Problem};
use crate::time::{Time, moment};

/// Lets users ask for a role in a place, for a time. It gives nothing by itself.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Eligibility)]
pub(crate) struct EligibilityDto {
    id: Uuid,
    /// The role for which users may ask.
    role_id: Uuid,
    /// Where they may hold it. Null means tenant-wide.
    #[schema(required)]
    organization_id: Option<Uuid>,
    /// The user who may ask. Null if the holders of a role may.
    #[schema(required)]
    user_id: Option<Uuid>,
    /// The role whose holders may ask, there or above. Null if a user is named.
    #[schema(required)]
    held_role_id: Option<Uuid>,
    /// For how many seconds users may hold the role at most.
    max_seconds: u32,
    /// How many others have to approve. With none, a request is effective at once.
    approvals: u8,
    /// The role whose holders decide. Null means the holders of `access-requests:update`.
    #[schema(required)]
    approver_role_id: Option<Uuid>,
    /// From when on no user may ask. What begins before ends then at the latest; a later change does not move the end of
    /// what has begun. Null means never.
    #[schema(required)]
    expires_at: Option<Time>,
    created_at: Time,
    /// The user who made it. Null means the service itself.
    #[schema(required)]
    created_by: Option<Uuid>,
    updated_at: Time,
}

impl From<Eligibility> for EligibilityDto {
    fn from(eligibility: Eligibility) -> Self {
        Self {
            id: eligibility.id.as_uuid(),
            role_id: eligibility.role_id.as_uuid(),
            organization_id: eligibility.organization_id.map(OrganizationId::as_uuid),
            user_id: eligibility.eligible.user().map(UserId::as_uuid),
            held_role_id: eligibility.eligible.held_role().map(RoleId::as_uuid),
            max_seconds: eligibility.max_seconds,
            approvals: eligibility.approvals,
            approver_role_id: eligibility.approver_role_id.map(RoleId::as_uuid),
            expires_at: eligibility.expires_at.map(Time),
            created_at: Time(eligibility.created_at),
            created_by: eligibility.created_by.map(UserId::as_uuid),
            updated_at: Time(eligibility.updated_at),
        }
    }
}

/// An eligibility with its role and its organization.
#[derive(Serialize, ToSchema)]
#[schema(as = ListedEligibility)]
pub(crate) struct ListedEligibilityDto {
    #[serde(flatten)]
    eligibility: EligibilityDto,
    role: Named,
    /// Absent when the role would be held tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    organization: Option<Named>,
}

impl From<ListedEligibility> for ListedEligibilityDto {
    fn from(listed: ListedEligibility) -> Self {
        Self {
            eligibility: listed.eligibility.into(),
            role: listed.role.into(),
            organization: listed.organization.map(Named::from),
        }
    }
}

/// The eligibility to make. It names a user or the role whose holders may ask, and not both.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewEligibility)]
pub(crate) struct NewEligibilityDto {
    #[serde(default)]
    #[schema(required, value_type = Uuid)]
    role_id: String,
    /// Absent or null means tenant-wide.
    #[schema(value_type = Option<Uuid>)]
    organization_id: Option<String>,
    /// The user who may ask. Absent or null if `heldRoleId` is there.
    #[schema(value_type = Option<Uuid>)]
    user_id: Option<String>,
    /// The role whose holders may ask, there or above. Absent or null if `userId` is there.
    #[schema(value_type = Option<Uuid>)]
    held_role_id: Option<String>,
    /// For how many seconds users may hold the role at most. Absent or null means 28,800, which is eight hours.
    #[schema(value_type = Option<u32>, minimum = 300, maximum = 2_592_000)]
    max_seconds: Option<Whole<i64>>,
    /// How many others have to approve. Absent or null means one.
    #[schema(value_type = Option<u32>, minimum = 0, maximum = 2)]
    approvals: Option<Whole<i64>>,
    /// The role whose holders decide. Absent or null means the holders of `access-requests:update`.
    #[schema(value_type = Option<Uuid>)]
    approver_role_id: Option<String>,
    /// Must be in the future. Absent or null means never.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<String>,
}

impl NewEligibilityDto {
    fn parse(self) -> Result<NewEligibility, Problem> {
        let mut params = Params::default();
        let role = params.require("roleId", &self.role_id);
        let organization = params.parse("organizationId", self.organization_id.as_deref());
        let user = params.parse("userId", self.user_id.as_deref());
        let held_role = params.parse("heldRoleId", self.held_role_id.as_deref());
        let approver_role = params.parse("approverRoleId", self.approver_role_id.as_deref());
        let expires_at = params.parse_with("expiresAt", self.expires_at.as_deref(), moment);
        params.finish()?;
        // Without a role, `finish` has failed.
        let role = role.ok_or_else(|| Problem::new(Kind::Internal))?;
        Ok(NewEligibility {
            role,
            organization,
            user,
            held_role,
            max_seconds: self.max_seconds.map(|seconds| seconds.0),
            approvals: self.approvals.map(|approvals| approvals.0),
            approver_role,
            expires_at,
        })
    }
}

/// The changes to an eligibility. Fields that are absent stay unchanged.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = EligibilityPatch)]
pub(crate) struct EligibilityPatchDto {
    /// For how many seconds users may hold the role at most.
    #[schema(value_type = Option<u32>, minimum = 300, maximum = 2_592_000)]
    max_seconds: Option<Whole<i64>>,
    /// How many others have to approve.
    #[schema(value_type = Option<u32>, minimum = 0, maximum = 2)]
    approvals: Option<Whole<i64>>,
    /// The role whose holders decide. Null means the holders of `access-requests:update`.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<Uuid>)]
    approver_role_id: Option<Option<String>>,
    /// Must be in the future. Null means never.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Option<String>>,
}

impl EligibilityPatchDto {
    fn parse(self) -> Result<EligibilityPatch, Problem> {
        let mut params = Params::default();
        let approver_role =
            self.approver_role_id.map(|role| role.and_then(|role| params.require("approverRoleId", &role)));
        let expires_at = self
            .expires_at
            .map(|expiry| expiry.and_then(|expiry| params.parse_with("expiresAt", Some(&expiry), moment)));
        params.finish()?;
        Ok(EligibilityPatch {
            max_seconds: self.max_seconds.map(|seconds| seconds.0),
            approvals: self.approvals.map(|approvals| approvals.0),
            approver_role,
            expires_at,
        })
    }
}

/// List eligibilities
///
/// Newest first, also expired ones. If the caller holds the permission in organizations only, the list has only the
/// eligibilities in these organizations and in those below them.
#[utoipa::path(
    get,
    path = "/eligibilities",
    operation_id = "listEligibilities",
    tag = ACCESS_REQUESTS,
    params(PageQuery),
    responses((status = 200, description = "A page of eligibilities", body = Collection<ListedEligibilityDto>), Problems),
    extensions(("x-required-permission" = json!("eligibilities:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(page): Query<PageQuery>,
) -> Result<Json<Collection<ListedEligibilityDto>>, Problem> {
    let page = page.request()?;
    Ok(Json(Collection::of(iam.eligibilities().list(&caller, page).await?)))
}

/// Let users ask for a role
///
/// An eligibility names a user, or a role whose standing holders may ask, in the same place or above. The caller needs
/// everything that the role permits, there and until the eligibility expires, as if it assigned the role. What the
/// caller holds by an access request does not count. The session must have authenticated within the last ten minutes.
/// No API key can do it.
#[utoipa::path(
    post,
    path = "/eligibilities",
    operation_id = "createEligibility",
    tag = ACCESS_REQUESTS,
    request_body = NewEligibilityDto,
    responses((status = 201, description = "The new eligibility", body = EligibilityDto), Problems),
    extensions(
        ("x-required-permission" = json!("eligibilities:create")),
        ("x-problems" = json!(["insufficient-authentication", "not-found", "validation"])),
    ),
)]
pub(crate) async fn create(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    Call(caller, body): Call<NewEligibilityDto>,
) -> Result<(StatusCode, Json<EligibilityDto>), Problem> {
    let made = iam.eligibilities().create_once(&caller, body.parse()?, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(made.into())))
}

/// Get an eligibility
///
/// Also an expired one.
#[utoipa::path(
    get,
    path = "/eligibilities/{id}",
    operation_id = "getEligibility",
    tag = ACCESS_REQUESTS,
    params(("id" = Uuid, Path, description = "The eligibility")),
    responses((status = 200, description = "The eligibility", body = ListedEligibilityDto), Problems),
    extensions(("x-required-permission" = json!("eligibilities:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<EligibilityId>,
) -> Result<Tagged<ListedEligibilityDto>, Problem> {
    let listed = iam.eligibilities().get(&caller, id).await?;
    Ok(Tagged(listed.eligibility.version, listed.into()))
}

/// Change an eligibility
///
/// A change that gives more is allowed as a new eligibility is: one for longer, with fewer approvals, or with other
/// people who decide. Requests that wait and for which it is too narrow then are cancelled when they are to be decided
/// or to begin. What has begun goes on.
#[utoipa::path(
    patch,
    path = "/eligibilities/{id}",
    operation_id = "updateEligibility",
    tag = ACCESS_REQUESTS,
    params(("id" = Uuid, Path, description = "The eligibility")),
    request_body = EligibilityPatchDto,
    responses((status = 200, description = "The changed eligibility", body = EligibilityDto), Problems),
    extensions(
        ("x-required-permission" = json!("eligibilities:update")),
        ("x-problems" = json!(["insufficient-authentication", "validation"])),
    ),
)]
pub(crate) async fn update(
    State(iam): State<Iam>,
    _: Authenticated,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<EligibilityId>,
    Call(caller, body): Call<EligibilityPatchDto>,
) -> Result<Tagged<EligibilityDto>, Problem> {
    let eligibility = iam.eligibilities().update_if(&caller, id, body.parse()?, &precondition).await?;
    Ok(Tagged(eligibility.version, eligibility.into()))
}

/// Remove an eligibility
///
/// Requests that wait are cancelled when they are to be decided or to begin. What has begun goes on.
#[utoipa::path(
    delete,
    path = "/eligibilities/{id}",
    operation_id = "deleteEligibility",
    tag = ACCESS_REQUESTS,
    params(("id" = Uuid, Path, description = "The eligibility")),
    responses((status = 204, description = "The eligibility is removed"), Problems),
    extensions(("x-required-permission" = json!("eligibilities:delete"))),
)]
pub(crate) async fn delete(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<EligibilityId>,
) -> Result<StatusCode, Problem> {
    iam.eligibilities().delete_if(&caller, id, &precondition).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// List one's own eligibilities
///
/// Returns the eligibilities by which the caller can ask now, newest first.
#[utoipa::path(
    get,
    path = "/auth/eligibilities",
    operation_id = "listOwnEligibilities",
    tag = ACCESS_REQUESTS,
    responses((status = 200, description = "The eligibilities", body = List<ListedEligibilityDto>), Problems),
    extensions(("x-required-permission" = json!("session")), ("x-problems" = json!(["forbidden"]))),
)]
pub(crate) async fn own(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
) -> Result<Json<List<ListedEligibilityDto>>, Problem> {
    let own = iam.eligibilities().own(&caller).await?;
    Ok(Json(List { data: own.into_iter().map(ListedEligibilityDto::from).collect() }))
}
