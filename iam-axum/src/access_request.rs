//! `/access-requests` (`docs/access-requests.md#requests`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_core::access_request::{
    AccessDecision, AccessRequest, AccessRequestFilter, AccessRequestStatus, AccessVerdict, CancelCause,
    ListedAccessRequest, NewAccessRequest,
};
use iam_core::{AccessRequestId, AssignmentId, Description, Iam, OrganizationId, Reason, UserId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::assignment::{AssignedUser, Named};
use crate::conditional::{IfMatch, Tagged};
use crate::description::{ACCESS_REQUESTS, Problems};
use crate::extract::{Authenticated, Call, CallWithOptionalBody, Params, PathId, Query, Whole, truth};
use crate::idempotency::RequestKey;
use crate::page::{Collection, PageQuery};
use crate::preview::Target;
use crate::problem::{Kind, Problem};
use crate::time::{DateOrMoment, Time, end_of, moment, start_of};

/// A user asks for a role for a time.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccessRequest)]
pub(crate) struct AccessRequestDto {
    id: Uuid,
    status: AccessRequestStatusDto,
    /// The eligibility by which the user asks. It may be gone since.
    eligibility_id: Uuid,
    /// The role for which the user asks.
    role_id: Uuid,
    /// The name of the role when the user asked. The role may be gone since, or have another name.
    role_name: String,
    /// Null means tenant-wide.
    #[schema(required)]
    organization_id: Option<Uuid>,
    /// The user who asks.
    requested_by: Uuid,
    /// Why. Those who decide and the audit log see it.
    reason: String,
    /// What another system calls the reason.
    #[schema(required)]
    ticket: Option<String>,
    /// For how many seconds the user asks.
    seconds: u32,
    /// How many others have to approve.
    approvals_needed: u8,
    /// The last decision of each user, oldest first.
    decisions: Vec<AccessDecisionDto>,
    /// The role assignment that the request gives. It may have ended since. Null before it begins.
    #[schema(required)]
    assignment_id: Option<Uuid>,
    /// When it begins. While the request is PENDING: when it is to begin at the earliest, or null for the last approval.
    #[schema(required)]
    starts_at: Option<Time>,
    /// When it ends at the latest. Null as long as approvals are missing.
    #[schema(required)]
    ends_at: Option<Time>,
    /// Until when the approvals must be there.
    lapses_at: Time,
    created_at: Time,
    /// When it was closed. Null while it is open, and until the service has written that it has lapsed or ended.
    #[schema(required)]
    closed_at: Option<Time>,
    /// The user who closed it. Null while it is open, and if the service closed it.
    #[schema(required)]
    closed_by: Option<Uuid>,
    /// The reason that this user has given for the cancellation or the end. The reason of a denial is that of the
    /// decision.
    #[schema(required)]
    close_reason: Option<String>,
    /// Why the service has cancelled it. Null if a user did, and with any other status.
    #[schema(required)]
    cancel_cause: Option<CancelCauseDto>,
}

/// A decision about an access request.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccessDecision)]
pub(crate) struct AccessDecisionDto {
    /// The user who decided.
    user_id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    user: Option<AssignedUser>,
    decision: AccessVerdictDto,
    /// Why, for people.
    #[schema(required)]
    reason: Option<String>,
    /// When it was decided.
    at: Time,
    /// Whether it is about the role as it is now, so that an approval counts. Once the request is decided, its decisions
    /// stay as they are: a later change of the role has no effect on them.
    counts: bool,
}

/// What was decided: the user agrees, or refuses.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = AccessVerdict)]
pub(crate) enum AccessVerdictDto {
    Approve,
    Deny,
}

/// The state of an access request. PENDING: approvals are missing. APPROVED: it begins later. ACTIVE: the user holds the
/// role. ENDED: the user has held it. DENIED: it was refused. CANCELLED: it was taken back, or what it needs was gone.
/// LAPSED: the approvals did not come in time.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = AccessRequestStatus)]
pub(crate) enum AccessRequestStatusDto {
    Pending,
    Approved,
    Active,
    Ended,
    Denied,
    Cancelled,
    Lapsed,
}

/// Why the service has cancelled an access request. OUTDATED: the eligibility does not allow it any more, or the role or
/// the approvals are not the same any more. NOT_ELIGIBLE: the user is not eligible any more. ROLE_HELD: the user holds
/// the role there by other means. USER_SUSPENDED, USER_DELETED: what has become of the user.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = AccessRequestCancelCause)]
pub(crate) enum CancelCauseDto {
    Outdated,
    NotEligible,
    RoleHeld,
    UserSuspended,
    UserDeleted,
}

impl From<CancelCause> for CancelCauseDto {
    fn from(cause: CancelCause) -> Self {
        match cause {
            CancelCause::Outdated => Self::Outdated,
            CancelCause::NotEligible => Self::NotEligible,
            CancelCause::RoleHeld => Self::RoleHeld,
            CancelCause::UserSuspended => Self::UserSuspended,
            CancelCause::UserDeleted => Self::UserDeleted,
        }
    }
}

impl From<AccessVerdict> for AccessVerdictDto {
    fn from(verdict: AccessVerdict) -> Self {
        match verdict {
            AccessVerdict::Approve => Self::Approve,
            AccessVerdict::Deny => Self::Deny,
        }
    }
}

impl From<AccessRequestStatus> for AccessRequestStatusDto {
    fn from(status: AccessRequestStatus) -> Self {
        match status {
            AccessRequestStatus::Pending => Self::Pending,
            AccessRequestStatus::Approved => Self::Approved,
            AccessRequestStatus::Active => Self::Active,
            AccessRequestStatus::Ended => Self::Ended,
            AccessRequestStatus::Denied => Self::Denied,
            AccessRequestStatus::Cancelled => Self::Cancelled,
            AccessRequestStatus::Lapsed => Self::Lapsed,
        }
    }
}

impl AccessDecisionDto {
    fn of(listed: &ListedAccessRequest, decision: &AccessDecision) -> Self {
        Self {
            user_id: decision.user_id.as_uuid(),
            user: person(listed, decision.user_id),
            decision: decision.decision.into(),
            reason: decision.reason.clone().map(Reason::into),
            at: Time(decision.at),
            counts: listed.counts(decision),
        }
    }
}

impl AccessRequestDto {
    fn of(request: AccessRequest, decisions: Vec<AccessDecisionDto>) -> Self {
        Self {
            id: request.id.as_uuid(),
            status: request.status.into(),
            eligibility_id: request.eligibility_id.as_uuid(),
            role_id: request.role_id.as_uuid(),
            role_name: request.role_name.into(),
            organization_id: request.organization_id.map(OrganizationId::as_uuid),
            requested_by: request.requested_by.as_uuid(),
            reason: request.reason.into(),
            ticket: request.ticket.map(Description::into),
            seconds: request.seconds,
            approvals_needed: request.approvals_needed,
            decisions,
            assignment_id: request.assignment_id.map(AssignmentId::as_uuid),
            starts_at: request.starts_at.map(Time),
            ends_at: request.ends_at.map(Time),
            lapses_at: Time(request.lapses_at),
            created_at: Time(request.created_at),
            closed_at: request.closed_at.map(Time),
            closed_by: request.closed_by.map(UserId::as_uuid),
            close_reason: request.close_reason.map(Reason::into),
            cancel_cause: request.cancel_cause.map(CancelCauseDto::from),
        }
    }
}

/// Returns a user whom a request mentions.
fn person(listed: &ListedAccessRequest, id: UserId) -> Option<AssignedUser> {
    listed.person(id).map(|person| AssignedUser::new(id, person.clone()))
}

/// An access request with the names of all that it mentions.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListedAccessRequest)]
pub(crate) struct ListedAccessRequestDto {
    #[serde(flatten)]
    request: AccessRequestDto,
    user: AssignedUser,
    /// Absent when the role is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    role: Option<Named>,
    /// Absent when the role is held tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    organization: Option<Named>,
    /// The role whose holders decide. Absent when the holders of `access-requests:update` decide, and when the role is
    /// gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    approver_role: Option<Named>,
    /// The user who closed it. Absent while it is open, and if the service closed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    closed_by_user: Option<AssignedUser>,
}

impl From<ListedAccessRequest> for ListedAccessRequestDto {
    fn from(listed: ListedAccessRequest) -> Self {
        let decisions = &listed.request.decisions;
        let decisions = decisions.iter().map(|decision| AccessDecisionDto::of(&listed, decision)).collect();
        let closed_by_user = listed.request.closed_by.and_then(|id| person(&listed, id));
        Self {
            user: AssignedUser::new(listed.request.requested_by, listed.user),
            request: AccessRequestDto::of(listed.request, decisions),
            role: listed.role.map(Named::from),
            organization: listed.organization.map(Named::from),
            approver_role: listed.approver_role.map(Named::from),
            closed_by_user,
        }
    }
}

/// Returns a request with its entity tag.
fn tagged(listed: ListedAccessRequest) -> Tagged<ListedAccessRequestDto> {
    Tagged(listed.version, listed.into())
}

/// What the user asks for.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewAccessRequest)]
pub(crate) struct NewAccessRequestDto {
    /// The eligibility by which the user asks.
    #[serde(default)]
    #[schema(required, value_type = Uuid)]
    eligibility_id: String,
    /// For how many seconds, at most as many as the eligibility allows. Absent or null means all of them.
    #[schema(value_type = Option<u32>, minimum = 60, maximum = 2_592_000)]
    seconds: Option<Whole<i64>>,
    /// Why. Those who decide and the audit log see it.
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 500)]
    reason: String,
    /// What another system calls the reason. Absent or null means nothing.
    #[schema(max_length = 200)]
    ticket: Option<String>,
    /// When it is to begin at the earliest, at most 30 days from now. Absent or null means as soon as it is approved.
    #[schema(value_type = Option<String>, format = DateTime)]
    starts_at: Option<String>,
}

impl NewAccessRequestDto {
    fn parse(self) -> Result<NewAccessRequest, Problem> {
        let mut params = Params::default();
        let eligibility = params.require("eligibilityId", &self.eligibility_id);
        let starts_at = params.parse_with("startsAt", self.starts_at.as_deref(), moment);
        params.finish()?;
        // Without an eligibility, `finish` has failed.
        let eligibility = eligibility.ok_or_else(|| Problem::new(Kind::Internal))?;
        Ok(NewAccessRequest {
            eligibility,
            seconds: self.seconds.map(|seconds| seconds.0),
            reason: self.reason,
            ticket: self.ticket,
            starts_at,
        })
    }
}

/// What to say about a decision.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewAccessDecision)]
pub(crate) struct NewAccessDecisionDto {
    /// Why, for people. Absent or null means that there is no reason.
    #[schema(max_length = 500)]
    reason: Option<String>,
}

/// What to say about the end of a request.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = AccessRequestClosing)]
pub(crate) struct AccessRequestClosingDto {
    /// Why, for people. Absent or null means that there is no reason.
    #[schema(max_length = 500)]
    reason: Option<String>,
}

/// Which requests to list.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct AccessRequestQuery {
    /// Requests with this status only.
    #[param(value_type = Option<AccessRequestStatusDto>, inline)]
    status: Option<String>,
    /// Requests of this user.
    #[param(value_type = Option<Uuid>)]
    user_id: Option<String>,
    /// Requests for this role.
    #[param(value_type = Option<Uuid>)]
    role_id: Option<String>,
    /// Requests for exactly this organization.
    #[param(value_type = Option<Uuid>)]
    organization_id: Option<String>,
    // No examples: Swagger UI would send them, and an empty list would answer.
    /// Requests that were made on this UTC day (`2026-01-31`) or at this moment (`2026-01-31T09:15:00.123Z`), or later.
    #[param(value_type = Option<DateOrMoment>, inline)]
    start_date: Option<String>,
    /// Requests that were made on this UTC day or at this moment, or earlier.
    #[param(value_type = Option<DateOrMoment>, inline)]
    end_date: Option<String>,
    /// Whether to list only the requests about which the caller can decide now.
    #[param(value_type = Option<bool>, default = false)]
    to_decide: Option<String>,
}

impl AccessRequestQuery {
    fn filter(&self, params: &mut Params) -> AccessRequestFilter {
        let to_decide = params.parse_with("toDecide", self.to_decide.as_deref(), truth);
        AccessRequestFilter {
            status: params.parse("status", self.status.as_deref()),
            user: params.parse("userId", self.user_id.as_deref()),
            role: params.parse("roleId", self.role_id.as_deref()),
            organization: params.parse("organizationId", self.organization_id.as_deref()),
            from: params.parse_with("startDate", self.start_date.as_deref(), start_of),
            until: params.parse_with("endDate", self.end_date.as_deref(), end_of),
            to_decide: to_decide.unwrap_or(false),
        }
    }
}

/// List access requests
///
/// Newest first: those of the caller, those about which it may decide, and those in the places in which it holds
/// `access-requests:read`.
#[utoipa::path(
    get,
    path = "/access-requests",
    operation_id = "listAccessRequests",
    tag = ACCESS_REQUESTS,
    params(PageQuery, AccessRequestQuery),
    responses((status = 200, description = "A page of requests", body = Collection<ListedAccessRequestDto>), Problems),
    extensions(("x-required-permission" = json!("session"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(page): Query<PageQuery>,
    Query(query): Query<AccessRequestQuery>,
) -> Result<Json<Collection<ListedAccessRequestDto>>, Problem> {
    let mut params = Params::default();
    let page = page.request_among(&mut params);
    let filter = query.filter(&mut params);
    params.finish()?;
    Ok(Json(Collection::of(iam.access_requests().list(&caller, &filter, page).await?)))
}

/// Ask for a role
///
/// The caller asks by one of its eligibilities, in a session that has authenticated within the last ten minutes. No API
/// key can do it. Those who decide are told by mail. Without approvals, the user holds the role at once, or from the
/// wanted start. A user has one open request by each eligibility, and at most 20.
///
/// The preview shows what the caller would gain, as if all approvals were there.
#[utoipa::path(
    post,
    path = "/access-requests",
    operation_id = "createAccessRequest",
    tag = ACCESS_REQUESTS,
    request_body = NewAccessRequestDto,
    responses((status = 201, description = "The new request", body = AccessRequestDto), Problems),
    extensions(
        ("x-required-permission" = json!("session")),
        ("x-problems" = json!(["forbidden", "insufficient-authentication", "not-found"])),
    ),
)]
pub(crate) async fn create(
    _: Authenticated,
    target: Target,
    key: RequestKey,
    Call(caller, body): Call<NewAccessRequestDto>,
) -> Result<Response, Problem> {
    let outcome = target.access_requests().create_once(&caller, body.parse()?, target.key(&key)).await;
    // A new request has no decisions.
    let created = |request| (StatusCode::CREATED, Json(AccessRequestDto::of(request, Vec::new())));
    target.respond(&caller, outcome, created).await
}

/// Get an access request
///
/// The caller asks itself, may decide about it, or holds `access-requests:read` in its place.
///
/// The entity tag changes with the permissions of the role, too.
#[utoipa::path(
    get,
    path = "/access-requests/{id}",
    operation_id = "getAccessRequest",
    tag = ACCESS_REQUESTS,
    params(("id" = Uuid, Path, description = "The request")),
    responses((status = 200, description = "The request", body = ListedAccessRequestDto), Problems),
    extensions(("x-required-permission" = json!("session"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<AccessRequestId>,
) -> Result<Tagged<ListedAccessRequestDto>, Problem> {
    Ok(tagged(iam.access_requests().get(&caller, id).await?))
}

/// Approve an access request
///
/// With the last approval that it needs, the user holds the role at once, or from the wanted start. If the eligibility
/// has named an approver role, the caller needs this role in the place of the request or above, and not the permission.
/// The session must have authenticated within the last ten minutes, and not by a message to the user, also not together
/// with a second factor. What the caller holds by an access request does not count, and no caller decides about its own
/// request.
///
/// If the eligibility was removed or narrowed, or the user is not eligible any more, the response is 409, and the
/// request is CANCELLED. `If-Match` refuses a decision about a role whose permissions have changed since they were read.
#[utoipa::path(
    post,
    path = "/access-requests/{id}/approve",
    operation_id = "approveAccessRequest",
    tag = ACCESS_REQUESTS,
    params(("id" = Uuid, Path, description = "The request")),
    request_body = NewAccessDecisionDto,
    responses((status = 200, description = "The request with the decision", body = ListedAccessRequestDto), Problems),
    extensions(
        ("x-required-permission" = json!("access-requests:update")),
        ("x-problems" = json!(["conflict", "insufficient-authentication"])),
        ("x-optional-body" = json!(true)),
    ),
)]
pub(crate) async fn approve(
    State(iam): State<Iam>,
    _: Authenticated,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<AccessRequestId>,
    CallWithOptionalBody(caller, body): CallWithOptionalBody<NewAccessDecisionDto>,
) -> Result<Tagged<ListedAccessRequestDto>, Problem> {
    Ok(tagged(iam.access_requests().approve(&caller, id, body.reason.as_deref(), &precondition).await?))
}

/// Deny an access request
///
/// One denial ends it. The caller needs what an approval needs.
#[utoipa::path(
    post,
    path = "/access-requests/{id}/deny",
    operation_id = "denyAccessRequest",
    tag = ACCESS_REQUESTS,
    params(("id" = Uuid, Path, description = "The request")),
    request_body = NewAccessDecisionDto,
    responses((status = 200, description = "The request with the decision", body = ListedAccessRequestDto), Problems),
    extensions(
        ("x-required-permission" = json!("access-requests:update")),
        ("x-problems" = json!(["conflict", "insufficient-authentication"])),
        ("x-optional-body" = json!(true)),
    ),
)]
pub(crate) async fn deny(
    State(iam): State<Iam>,
    _: Authenticated,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<AccessRequestId>,
    CallWithOptionalBody(caller, body): CallWithOptionalBody<NewAccessDecisionDto>,
) -> Result<Tagged<ListedAccessRequestDto>, Problem> {
    Ok(tagged(iam.access_requests().deny(&caller, id, body.reason.as_deref(), &precondition).await?))
}

/// Cancel an access request
///
/// Takes back a request that is PENDING or APPROVED. The user who asks needs no permission. If another user cancels it,
/// the user who asks is told by mail.
#[utoipa::path(
    post,
    path = "/access-requests/{id}/cancel",
    operation_id = "cancelAccessRequest",
    tag = ACCESS_REQUESTS,
    params(("id" = Uuid, Path, description = "The request")),
    request_body = AccessRequestClosingDto,
    responses((status = 200, description = "The cancelled request", body = ListedAccessRequestDto), Problems),
    extensions(
        ("x-required-permission" = json!("access-requests:update")),
        ("x-problems" = json!(["conflict"])),
        ("x-optional-body" = json!(true)),
    ),
)]
pub(crate) async fn cancel(
    State(iam): State<Iam>,
    _: Authenticated,
    PathId(id): PathId<AccessRequestId>,
    CallWithOptionalBody(caller, body): CallWithOptionalBody<AccessRequestClosingDto>,
) -> Result<Json<ListedAccessRequestDto>, Problem> {
    Ok(Json(iam.access_requests().cancel(&caller, id, body.reason.as_deref()).await?.into()))
}

/// End what an access request gives
///
/// The user loses the role before its time, and everything that was given by it is revoked. The user who holds it needs
/// no permission. If another user ends it, the user who holds it is told by mail.
#[utoipa::path(
    post,
    path = "/access-requests/{id}/end",
    operation_id = "endAccessRequest",
    tag = ACCESS_REQUESTS,
    params(("id" = Uuid, Path, description = "The request")),
    request_body = AccessRequestClosingDto,
    responses((status = 200, description = "The ended request", body = ListedAccessRequestDto), Problems),
    extensions(
        ("x-required-permission" = json!("role-assignments:delete")),
        ("x-problems" = json!(["conflict"])),
        ("x-optional-body" = json!(true)),
    ),
)]
pub(crate) async fn end(
    State(iam): State<Iam>,
    _: Authenticated,
    PathId(id): PathId<AccessRequestId>,
    CallWithOptionalBody(caller, body): CallWithOptionalBody<AccessRequestClosingDto>,
) -> Result<Json<ListedAccessRequestDto>, Problem> {
    Ok(Json(iam.access_requests().end(&caller, id, body.reason.as_deref()).await?.into()))
}
