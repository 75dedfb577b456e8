//! `/audit-logs/erasures`: makes the personal fields of one user unreadable.

use axum::Json;
use axum::extract::State;
use iam_core::{Error, Iam, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::description::{AUDIT_LOGS, Problems};
use crate::extract::{Call, Params};
use crate::problem::Problem;

/// The user whose personal fields to erase.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewErasure)]
pub(crate) struct NewErasureDto {
    #[serde(default)]
    #[schema(required, value_type = Uuid)]
    user_id: String,
}

/// The user whose personal fields were erased.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Erasure)]
pub(crate) struct ErasureDto {
    user_id: Uuid,
    /// The number of entries in which fields were erased.
    entries: u64,
}

/// Erase a person from the audit log
///
/// Makes the personal fields of one INACTIVE user (e-mail, names, address, …) unreadable for good: `[ERASED]`
/// replaces them. This applies to every entry about that user, and to every other entry that contains the user's
/// e-mail or full name and is not about another user. Entries of what the user did lose the client's address and user
/// agent. The erasure is recorded as ERASE on the user. Every proof still holds; only the openings of the erased
/// values are gone.
///
/// The user record itself stays as it is: change the fields that the tenant should not know any more. If the user is
/// not INACTIVE, the response is a conflict (409). Callers cannot erase their own entries (403). A repeated erasure
/// finds nothing and records nothing. The session must have authenticated within the last ten minutes; an API key cannot
/// do this.
#[utoipa::path(
    post,
    path = "/audit-logs/erasures",
    operation_id = "eraseFromAuditLogs",
    tag = AUDIT_LOGS,
    request_body = NewErasureDto,
    responses((status = 200, description = "In how many entries something was erased", body = ErasureDto), Problems),
    extensions(
        ("x-required-permission" = json!("audit-logs:delete")),
        ("x-problems" = json!(["conflict", "insufficient-authentication", "legal-hold", "not-found"])),
    ),
)]
pub(crate) async fn create(
    State(iam): State<Iam>,
    Call(caller, body): Call<NewErasureDto>,
) -> Result<Json<ErasureDto>, Problem> {
    let mut params = Params::default();
    let user = params.require::<UserId>("userId", &body.user_id);
    params.finish()?;
    let Some(user) = user else { return Err(Problem::invalid_field("userId", "is required")) };
    let entries = iam.audit().erase(&caller, user).await.map_err(|error| match error {
        Error::NotFound(_) => error.about("userId"),
        other => other,
    })?;
    Ok(Json(ErasureDto { user_id: user.as_uuid(), entries }))
}
