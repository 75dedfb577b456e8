//! `/legal-holds` (`docs/operating.md#legal-holds`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use iam_core::legal_hold::LegalHold;
use iam_core::{Iam, LegalHoldId, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::description::{LEGAL_HOLDS, Problems};
use crate::extract::{Authenticated, Call, Params, PathId, Query};
use crate::idempotency::RequestKey;
use crate::page::{Collection, PageQuery};
use crate::problem::Problem;
use crate::time::Time;

/// An order that the data of the tenant, or of one of its users, is kept.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LegalHold)]
pub(crate) struct LegalHoldDto {
    id: Uuid,
    /// The user whose data is kept. Null means the data of the whole tenant.
    #[schema(required)]
    user_id: Option<Uuid>,
    reason: String,
    /// The user who placed it. Null means the service itself.
    #[schema(required)]
    placed_by: Option<Uuid>,
    created_at: Time,
}

impl From<LegalHold> for LegalHoldDto {
    fn from(hold: LegalHold) -> Self {
        Self {
            id: hold.id.as_uuid(),
            user_id: hold.user_id.map(UserId::as_uuid),
            reason: hold.reason.into(),
            placed_by: hold.placed_by.map(UserId::as_uuid),
            created_at: Time(hold.created_at),
        }
    }
}

/// The legal hold to place.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewLegalHold)]
pub(crate) struct NewLegalHoldDto {
    /// The user whose data is kept. Absent or null means the data of the whole tenant.
    #[schema(value_type = Option<Uuid>)]
    user_id: Option<String>,
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 500)]
    reason: String,
}

/// Why a legal hold is released.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LegalHoldRelease)]
pub(crate) struct ReleaseDto {
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 500)]
    reason: String,
}

/// List legal holds
///
/// Newest first. Those that were released are in the audit log alone.
#[utoipa::path(
    get,
    path = "/legal-holds",
    operation_id = "listLegalHolds",
    tag = LEGAL_HOLDS,
    params(PageQuery),
    responses((status = 200, description = "A page of legal holds", body = Collection<LegalHoldDto>), Problems),
    extensions(("x-required-permission" = json!("iam-legal-holds:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(page): Query<PageQuery>,
) -> Result<Json<Collection<LegalHoldDto>>, Problem> {
    let page = page.request()?;
    Ok(Json(Collection::of(iam.legal_holds().list(&caller, page).await?)))
}

/// Place a legal hold
///
/// A hold on the tenant refuses the deletion of users and directories, the erasure of persons and the removal of old
/// entries of the audit log. A hold on a user refuses the deletion and the erasure of that user, the deletion of any
/// directory, and the removal of old entries: entries cannot be kept apart by person. The refused operations answer
/// `legal-hold` (409). A user who is held can still be suspended. A tenant has 1,000 holds at most.
#[utoipa::path(
    post,
    path = "/legal-holds",
    operation_id = "createLegalHold",
    tag = LEGAL_HOLDS,
    request_body = NewLegalHoldDto,
    responses((status = 201, description = "The new legal hold", body = LegalHoldDto), Problems),
    extensions(
        ("x-required-permission" = json!("iam-legal-holds:create")),
        ("x-problems" = json!(["conflict", "not-found"])),
    ),
)]
pub(crate) async fn create(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    Call(caller, body): Call<NewLegalHoldDto>,
) -> Result<(StatusCode, Json<LegalHoldDto>), Problem> {
    let mut params = Params::default();
    let user = params.parse("userId", body.user_id.as_deref());
    params.finish()?;
    let hold = iam.legal_holds().place_once(&caller, user, &body.reason, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(hold.into())))
}

/// Get a legal hold
///
/// One that was released is not found.
#[utoipa::path(
    get,
    path = "/legal-holds/{id}",
    operation_id = "getLegalHold",
    tag = LEGAL_HOLDS,
    params(("id" = Uuid, Path, description = "The legal hold")),
    responses((status = 200, description = "The legal hold", body = LegalHoldDto), Problems),
    extensions(("x-required-permission" = json!("iam-legal-holds:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<LegalHoldId>,
) -> Result<Json<LegalHoldDto>, Problem> {
    Ok(Json(iam.legal_holds().get(&caller, id).await?.into()))
}

/// Release a legal hold
///
/// What it kept can be destroyed again. The release is recorded as DELETE on LEGAL_HOLD, with both reasons. A user
/// cannot release a hold on its own data (403). The session must have authenticated within the last ten minutes; an API
/// key cannot do this.
#[utoipa::path(
    post,
    path = "/legal-holds/{id}/release",
    operation_id = "releaseLegalHold",
    tag = LEGAL_HOLDS,
    params(("id" = Uuid, Path, description = "The legal hold")),
    request_body = ReleaseDto,
    responses((status = 204, description = "The legal hold is released"), Problems),
    extensions(
        ("x-required-permission" = json!("iam-legal-holds:delete")),
        ("x-problems" = json!(["insufficient-authentication"])),
    ),
)]
pub(crate) async fn release(
    State(iam): State<Iam>,
    _: Authenticated,
    PathId(id): PathId<LegalHoldId>,
    Call(caller, body): Call<ReleaseDto>,
) -> Result<StatusCode, Problem> {
    iam.legal_holds().release(&caller, id, &body.reason).await?;
    Ok(StatusCode::NO_CONTENT)
}
