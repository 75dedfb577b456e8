//! `/access-reviews` (`docs/http-api.md#access-reviews`).

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use iam_core::access_review::{
    AccessReviewFilter, AccessReviewStatus, Decided, ListedAccessReview, ListedReviewItem, NewAccessReview,
    NewDecision, ReviewDecision, ReviewItemFilter, ReviewItemKind, ReviewOutcome, ReviewProgress, ReviewSubject,
};
use iam_core::{
    AccessReviewId, AccessReviewItemId, AssignmentId, DirectoryGroupId, EligibilityId, Iam, OrganizationId, Reason,
    RoleId, UserId,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::accept::prefers;
use crate::assignment::{AssignedUser, Named};
use crate::description::{ACCESS_REVIEWS, Problems};
use crate::extract::{Authenticated, Call, Params, PathId, Query, path_parameter};
use crate::idempotency::RequestKey;
use crate::page::{Collection, PageQuery};
use crate::problem::{Kind, Problem, chain};
use crate::spreadsheet::{BYTE_ORDER_MARK, CSV, CSV_IN_UTF_8, csv, harmless};
use crate::time::{Time, moment};

/// A review of role assignments and eligibilities.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccessReview)]
pub(crate) struct AccessReviewDto {
    id: Uuid,
    name: String,
    /// The review is about this organization and everything below it. Null means the whole tenant.
    #[schema(required)]
    organization_id: Option<Uuid>,
    /// The review is about these roles. Empty means all roles.
    role_ids: Vec<Uuid>,
    /// The review is about these users. Empty means all users.
    user_ids: Vec<Uuid>,
    due_at: Time,
    status: AccessReviewStatusDto,
    counts: AccessReviewCounts,
    /// When the review began, and its items were frozen.
    created_at: Time,
    /// The user who began the review. Null means the service itself.
    #[schema(required)]
    created_by: Option<Uuid>,
    /// When the review was completed or cancelled. Null means that it is OPEN.
    #[schema(required)]
    closed_at: Option<Time>,
    /// The user who completed or cancelled the review. Null means that it is OPEN, or the service itself.
    #[schema(required)]
    closed_by: Option<Uuid>,
}

/// How many items of a review are decided.
#[derive(Serialize, ToSchema)]
pub(crate) struct AccessReviewCounts {
    /// All items.
    total: u64,
    /// The items without a decision.
    undecided: u64,
    /// The items of which the assignment or the eligibility stays.
    keep: u64,
    /// The items of which it is revoked when the review is completed.
    revoke: u64,
}

/// The state of a review: people decide about its items, the decisions were carried out, or it was given up.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = AccessReviewStatus)]
pub(crate) enum AccessReviewStatusDto {
    Open,
    Completed,
    Cancelled,
}

impl From<AccessReviewStatus> for AccessReviewStatusDto {
    fn from(status: AccessReviewStatus) -> Self {
        match status {
            AccessReviewStatus::Open => Self::Open,
            AccessReviewStatus::Completed => Self::Completed,
            AccessReviewStatus::Cancelled => Self::Cancelled,
        }
    }
}

impl From<ReviewProgress> for AccessReviewCounts {
    fn from(ReviewProgress { total, undecided, keep, revoke }: ReviewProgress) -> Self {
        Self { total, undecided, keep, revoke }
    }
}

impl From<ListedAccessReview> for AccessReviewDto {
    fn from(ListedAccessReview { review, progress }: ListedAccessReview) -> Self {
        Self {
            id: review.id.as_uuid(),
            name: review.name.into(),
            organization_id: review.organization_id.map(OrganizationId::as_uuid),
            role_ids: review.role_ids.into_iter().map(RoleId::as_uuid).collect(),
            user_ids: review.user_ids.into_iter().map(UserId::as_uuid).collect(),
            due_at: Time(review.due_at),
            status: review.status.into(),
            counts: progress.into(),
            created_at: Time(review.created_at),
            created_by: review.created_by.map(UserId::as_uuid),
            closed_at: review.closed_at.map(Time),
            closed_by: review.closed_by.map(UserId::as_uuid),
        }
    }
}

/// The review to begin.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewAccessReview)]
pub(crate) struct NewAccessReviewDto {
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 120)]
    name: String,
    /// Restricts the review to this organization and everything below it. Absent or null means the whole tenant.
    #[schema(value_type = Option<Uuid>)]
    organization_id: Option<String>,
    /// Restricts the review to these roles. Absent, null or empty means all roles.
    #[schema(max_items = 100, value_type = Option<Vec<Uuid>>)]
    role_ids: Option<Vec<String>>,
    /// Restricts the review to these users. Absent, null or empty means all users.
    #[schema(max_items = 100, value_type = Option<Vec<Uuid>>)]
    user_ids: Option<Vec<String>>,
    /// Until when the decisions are due. It must be in the future.
    #[serde(default)]
    #[schema(required, value_type = String, format = DateTime)]
    due_at: String,
}

impl NewAccessReviewDto {
    fn parse(self) -> Result<NewAccessReview, Problem> {
        let mut params = Params::default();
        let organization = params.parse("organizationId", self.organization_id.as_deref());
        let roles = ids(&mut params, "roleIds", self.role_ids);
        let users = ids(&mut params, "userIds", self.user_ids);
        let due_at = params.parse_with("dueAt", Some(&self.due_at), moment);
        params.finish()?;
        // Without a moment, `finish` has failed.
        let due_at = due_at.ok_or_else(|| Problem::new(Kind::Internal))?;
        Ok(NewAccessReview { name: self.name, organization, roles, users, due_at })
    }
}

fn ids<T>(params: &mut Params, field: &str, texts: Option<Vec<String>>) -> Vec<T>
where
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    let texts = texts.unwrap_or_default();
    let parse = |(number, text): (usize, &String)| params.require(&format!("{field}[{number}]"), text);
    texts.iter().enumerate().filter_map(parse).collect()
}

/// An item of a review: a role assignment or an eligibility as it was when the review began, and the decision about it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccessReviewItem)]
pub(crate) struct AccessReviewItemDto {
    /// Identifies the item. It is the identifier of the assignment or of the eligibility.
    id: Uuid,
    kind: ReviewItemKindDto,
    /// The user who holds the role, or may ask for it. Null means the holders of a role.
    #[schema(required)]
    user_id: Option<Uuid>,
    /// Absent when the holders of a role may ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    user: Option<AssignedUser>,
    /// The role whose holders may ask. Null means a user.
    #[schema(required)]
    held_role_id: Option<Uuid>,
    role_id: Uuid,
    role: Named,
    /// Null means tenant-wide.
    #[schema(required)]
    organization_id: Option<Uuid>,
    /// Absent when the role is held tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    organization: Option<Named>,
    /// The assignment. It may have ended since. Null for an eligibility.
    #[schema(required)]
    assignment_id: Option<Uuid>,
    /// The eligibility. It may be removed since. Null for an assignment.
    #[schema(required)]
    eligibility_id: Option<Uuid>,
    /// When the assignment or the eligibility expires. Null means never.
    #[schema(required)]
    expires_at: Option<Time>,
    /// When the assignment or the eligibility was made.
    assignment_created_at: Time,
    /// The user who made it. Null means the service itself.
    #[schema(required)]
    granted_by: Option<Uuid>,
    /// The group of a directory that gave the role when the review began. Null if it was assigned by other means.
    #[schema(required)]
    directory_group_id: Option<Uuid>,
    /// When the user had last logged in when the review began. Null means never.
    #[schema(required)]
    last_login_at: Option<Time>,
    /// Whether it stays. Null means that nothing is decided.
    #[schema(required)]
    decision: Option<ReviewDecisionDto>,
    /// Why, for people.
    #[schema(required)]
    reason: Option<String>,
    /// The user who has decided. Null means that nothing is decided, or the service itself.
    #[schema(required)]
    decided_by: Option<Uuid>,
    #[schema(required)]
    decided_at: Option<Time>,
    /// What the completion made of the decision. Null means that the review is not COMPLETED.
    #[schema(required)]
    outcome: Option<ReviewOutcomeDto>,
}

/// What an item is about: a role that a user holds, or one for which users may ask.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = AccessReviewItemKind)]
pub(crate) enum ReviewItemKindDto {
    Assignment,
    Eligibility,
}

/// A decision: the assignment or the eligibility stays, or it is revoked when the review is completed.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = AccessReviewDecision)]
pub(crate) enum ReviewDecisionDto {
    Keep,
    Revoke,
}

/// What the completion made of a decision: the assignment or the eligibility stayed, was revoked, or had ended before.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = AccessReviewOutcome)]
pub(crate) enum ReviewOutcomeDto {
    Kept,
    Revoked,
    Gone,
}

impl From<ReviewItemKind> for ReviewItemKindDto {
    fn from(kind: ReviewItemKind) -> Self {
        match kind {
            ReviewItemKind::Assignment => Self::Assignment,
            ReviewItemKind::Eligibility => Self::Eligibility,
        }
    }
}

impl From<ReviewDecision> for ReviewDecisionDto {
    fn from(decision: ReviewDecision) -> Self {
        match decision {
            ReviewDecision::Keep => Self::Keep,
            ReviewDecision::Revoke => Self::Revoke,
        }
    }
}

impl From<ReviewOutcome> for ReviewOutcomeDto {
    fn from(outcome: ReviewOutcome) -> Self {
        match outcome {
            ReviewOutcome::Kept => Self::Kept,
            ReviewOutcome::Revoked => Self::Revoked,
            ReviewOutcome::Gone => Self::Gone,
        }
    }
}

impl From<ListedReviewItem> for AccessReviewItemDto {
    fn from(ListedReviewItem { item, user }: ListedReviewItem) -> Self {
        let subject = item.subject;
        let decision = item.decision().map(ReviewDecisionDto::from);
        let (reason, decided_by, decided_at) = match item.decided {
            Some(Decided { reason, decided_by, decided_at, .. }) => (reason, decided_by, Some(Time(decided_at))),
            None => (None, None, None),
        };
        Self {
            id: subject.item_id().as_uuid(),
            kind: subject.kind().into(),
            user_id: subject.user().map(UserId::as_uuid),
            user: subject.user().zip(user).map(|(id, user)| AssignedUser::new(id, user)),
            held_role_id: held_role(subject).map(RoleId::as_uuid),
            role_id: item.role.id.as_uuid(),
            role: item.role.into(),
            organization_id: item.organization.as_ref().map(|organization| organization.id.as_uuid()),
            organization: item.organization.map(Named::from),
            assignment_id: subject.assignment().map(AssignmentId::as_uuid),
            eligibility_id: subject.eligibility().map(EligibilityId::as_uuid),
            expires_at: item.expires_at.map(Time),
            assignment_created_at: Time(item.granted_at),
            granted_by: item.granted_by.map(UserId::as_uuid),
            directory_group_id: subject.directory_group().map(DirectoryGroupId::as_uuid),
            last_login_at: item.last_login_at.map(Time),
            decision,
            reason: reason.map(Reason::into),
            decided_by: decided_by.map(UserId::as_uuid),
            decided_at,
            outcome: item.outcome.map(ReviewOutcomeDto::from),
        }
    }
}

/// The role whose holders may ask, if the item is about them.
fn held_role(subject: ReviewSubject) -> Option<RoleId> {
    match subject {
        ReviewSubject::Assignment { .. } => None,
        ReviewSubject::Eligibility { eligible, .. } => eligible.held_role(),
    }
}

/// The first line of a review as CSV.
const COLUMNS: [&str; 19] = [
    "id",
    "userId",
    "user",
    "roleId",
    "role",
    "organizationId",
    "organization",
    "expiresAt",
    "assignmentCreatedAt",
    "grantedBy",
    "directoryGroupId",
    "lastLoginAt",
    "decision",
    "reason",
    "decidedBy",
    "decidedAt",
    "outcome",
    "kind",
    "heldRoleId",
];

/// Returns the cells of an item. A null value becomes an empty cell.
fn cells(ListedReviewItem { item, user }: ListedReviewItem) -> [String; COLUMNS.len()] {
    fn cell(value: Option<impl ToString>) -> String {
        value.map(|value| harmless(value.to_string())).unwrap_or_default()
    }
    let user = user.map(|user| user.service_name.map_or_else(|| user.email.to_string(), |name| name.to_string()));
    let subject = item.subject;
    let (place, decision) = (item.organization.as_ref(), item.decision());
    let decided = item.decided.as_ref();
    [
        subject.item_id().to_string(),
        cell(subject.user()),
        cell(user),
        item.role.id.to_string(),
        cell(Some(&item.role.name)),
        cell(place.map(|place| place.id)),
        cell(place.map(|place| &place.name)),
        cell(item.expires_at.map(Time)),
        Time(item.granted_at).to_string(),
        cell(item.granted_by),
        cell(subject.directory_group()),
        cell(item.last_login_at.map(Time)),
        cell(decision),
        cell(decided.and_then(|decided| decided.reason.as_ref())),
        cell(decided.and_then(|decided| decided.decided_by)),
        cell(decided.map(|decided| Time(decided.decided_at))),
        cell(item.outcome),
        subject.kind().to_string(),
        cell(held_role(subject)),
    ]
}

/// Which reviews to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AccessReviewQuery {
    /// Reviews with this status only.
    #[param(value_type = Option<AccessReviewStatusDto>, inline)]
    status: Option<String>,
}

/// Which items to list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ItemQuery {
    /// Items with this decision, or without one, only.
    #[param(value_type = Option<ReviewItemFilterDto>, inline)]
    decision: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "UPPERCASE")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ReviewItemFilterDto {
    Keep,
    Revoke,
    Undecided,
}

/// A decision about an item.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewAccessReviewDecision)]
pub(crate) struct NewDecisionDto {
    #[serde(default)]
    #[schema(required, inline, value_type = ReviewDecisionDto)]
    decision: String,
    /// Why, for people. Absent or null means that there is no reason.
    #[schema(max_length = 500)]
    reason: Option<String>,
}

/// The identifiers in the path of an item.
pub(crate) struct ItemPath(AccessReviewId, AccessReviewItemId);

impl<S: Send + Sync> FromRequestParts<S> for ItemPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(path_parameter(parts, "id").await?, path_parameter(parts, "itemId").await?))
    }
}

/// List access reviews
///
/// Newest first. If the caller holds the permission in organizations only, the list has only the reviews of these
/// organizations and of those below them.
#[utoipa::path(
    get,
    path = "/access-reviews",
    operation_id = "listAccessReviews",
    tag = ACCESS_REVIEWS,
    params(PageQuery, AccessReviewQuery),
    responses((status = 200, description = "A page of reviews", body = Collection<AccessReviewDto>), Problems),
    extensions(("x-required-permission" = json!("access-reviews:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(page): Query<PageQuery>,
    Query(query): Query<AccessReviewQuery>,
) -> Result<Json<Collection<AccessReviewDto>>, Problem> {
    let mut params = Params::default();
    let page = page.request_among(&mut params);
    let filter = AccessReviewFilter { status: params.parse("status", query.status.as_deref()) };
    params.finish()?;
    Ok(Json(Collection::of(iam.access_reviews().list(&caller, &filter, page).await?)))
}

/// Begin an access review
///
/// The role assignments and the eligibilities that have not expired, in the organization and below it or in the whole
/// tenant, are frozen as the items of the review, at most 10,000. Then people decide about them, one by one. The caller
/// needs `role-assignments:read` there, too.
#[utoipa::path(
    post,
    path = "/access-reviews",
    operation_id = "createAccessReview",
    tag = ACCESS_REVIEWS,
    request_body = NewAccessReviewDto,
    responses((status = 201, description = "The new review", body = AccessReviewDto), Problems),
    extensions(
        ("x-required-permission" = json!("access-reviews:create")),
        ("x-problems" = json!(["not-found", "validation"])),
    ),
)]
pub(crate) async fn create(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    Call(caller, body): Call<NewAccessReviewDto>,
) -> Result<(StatusCode, Json<AccessReviewDto>), Problem> {
    let made = iam.access_reviews().create_once(&caller, body.parse()?, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(made.into())))
}

/// Get an access review
///
/// Shows what it is about, its status, and how many of its items are decided.
#[utoipa::path(
    get,
    path = "/access-reviews/{id}",
    operation_id = "getAccessReview",
    tag = ACCESS_REVIEWS,
    params(("id" = Uuid, Path, description = "The review")),
    responses((status = 200, description = "The review", body = AccessReviewDto), Problems),
    extensions(("x-required-permission" = json!("access-reviews:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<AccessReviewId>,
) -> Result<Json<AccessReviewDto>, Problem> {
    Ok(Json(iam.access_reviews().get(&caller, id).await?.into()))
}

/// List the items of an access review
///
/// By their identifiers. If `Accept` prefers `text/csv`, the response has all items that pass the filter,
/// and no pages.
///
/// CSV follows RFC 4180, in UTF-8 with a byte order mark and a header line. A null value is an empty cell; `user` is the
/// e-mail, or the name of a service account. A cell that starts with one of `= + - @`, a tab, a carriage return, a line
/// feed or an apostrophe gets an apostrophe in front, so that no spreadsheet takes it for a formula.
#[utoipa::path(
    get,
    path = "/access-reviews/{id}/items",
    operation_id = "listAccessReviewItems",
    tag = ACCESS_REVIEWS,
    params(("id" = Uuid, Path, description = "The review"), PageQuery, ItemQuery),
    responses(
        (
            status = 200,
            description = "A page of items, or all items as CSV",
            content((Collection<AccessReviewItemDto> = "application/json"), (String = "text/csv")),
        ),
        Problems,
    ),
    extensions(("x-required-permission" = json!("access-reviews:read"))),
)]
pub(crate) async fn items(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<AccessReviewId>,
    Query(page): Query<PageQuery>,
    Query(query): Query<ItemQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut params = Params::default();
    let page = page.request_among(&mut params);
    let filter: Option<ReviewItemFilter> = params.parse("decision", query.decision.as_deref());
    params.finish()?;
    if !prefers(&headers, CSV, "application/json") {
        let items = iam.access_reviews().items(&caller, id, filter, page).await?;
        return Ok(Json(Collection::<AccessReviewItemDto>::of(items)).into_response());
    }
    let items = iam.access_reviews().all_items(&caller, id, filter).await?;
    iam.compute(&caller, move || access_review_file(items)).await?
}

/// Returns items of an access review as a file of comma-separated values, as the API does. Thousands of items take some
/// ten milliseconds, so call it in [`Iam::compute`](iam_core::Iam::compute).
///
/// # Errors
///
/// A problem with status 500 if the file cannot be written.
pub fn access_review_file(items: Vec<ListedReviewItem>) -> Result<Response, Problem> {
    let rows = std::iter::once(COLUMNS.map(str::to_owned)).chain(items.into_iter().map(cells));
    let file = csv(rows).map_err(|error| {
        tracing::error!(error = %chain(&*error), "a review could not be written as CSV");
        Problem::new(Kind::Internal)
    })?;
    let disposition = r#"attachment; filename="access-review.csv""#;
    let headers = [(header::CONTENT_TYPE, CSV_IN_UTF_8), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, [BYTE_ORDER_MARK, &file].concat()).into_response())
}

/// Decide about an item of an access review
///
/// The decision replaces an earlier one. It has no effect before the review is completed, and can be changed until then.
/// A user cannot decide about its own roles, nor about those for which it may ask.
#[utoipa::path(
    patch,
    path = "/access-reviews/{id}/items/{itemId}",
    operation_id = "decideAccessReviewItem",
    tag = ACCESS_REVIEWS,
    params(
        ("id" = Uuid, Path, description = "The review"),
        ("itemId" = Uuid, Path, description = "The item: the identifier of the assignment or of the eligibility"),
    ),
    request_body = NewDecisionDto,
    responses((status = 200, description = "The item with the decision", body = AccessReviewItemDto), Problems),
    extensions(("x-required-permission" = json!("access-reviews:update")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn decide(
    State(iam): State<Iam>,
    _: Authenticated,
    ItemPath(id, item): ItemPath,
    Call(caller, body): Call<NewDecisionDto>,
) -> Result<Json<AccessReviewItemDto>, Problem> {
    let mut params = Params::default();
    let decision = params.require("decision", &body.decision);
    params.finish()?;
    // Without a decision, `finish` has failed.
    let decision = decision.ok_or_else(|| Problem::new(Kind::Internal))?;
    let decision = NewDecision { decision, reason: body.reason };
    Ok(Json(iam.access_reviews().decide(&caller, id, item, decision).await?.into()))
}

/// Complete an access review
///
/// Every item must be decided. All assignments that are to be revoked are revoked, and all such eligibilities removed, or
/// none: if one cannot be revoked, `errors` names its item. Those that have ended meanwhile are skipped. The caller needs
/// `role-assignments:delete` for each assignment and `eligibilities:delete` for each eligibility, too.
#[utoipa::path(
    post,
    path = "/access-reviews/{id}/complete",
    operation_id = "completeAccessReview",
    tag = ACCESS_REVIEWS,
    params(("id" = Uuid, Path, description = "The review")),
    responses((status = 200, description = "The completed review", body = AccessReviewDto), Problems),
    extensions(("x-required-permission" = json!("access-reviews:update")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn complete(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<AccessReviewId>,
) -> Result<Json<AccessReviewDto>, Problem> {
    Ok(Json(iam.access_reviews().complete(&caller, id).await?.into()))
}

/// Cancel an access review
///
/// Nothing is revoked. The review and its decisions stay.
#[utoipa::path(
    post,
    path = "/access-reviews/{id}/cancel",
    operation_id = "cancelAccessReview",
    tag = ACCESS_REVIEWS,
    params(("id" = Uuid, Path, description = "The review")),
    responses((status = 200, description = "The cancelled review", body = AccessReviewDto), Problems),
    extensions(("x-required-permission" = json!("access-reviews:update")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn cancel(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<AccessReviewId>,
) -> Result<Json<AccessReviewDto>, Problem> {
    Ok(Json(iam.access_reviews().cancel(&caller, id).await?.into()))
}
