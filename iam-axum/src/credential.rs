//! `/auth/password` (`docs/http-api.md#the-own-password`).

use axum::extract::State;
use axum::http::StatusCode;
use iam_core::Iam;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::description::{AUTHENTICATION, Problems};
use crate::extract::Call;
use crate::problem::Problem;

/// A change of the caller's own password.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PasswordChange)]
pub(crate) struct PasswordChangeDto {
    #[serde(default)]
    #[schema(required, format = Password, min_length = 1)]
    current_password: String,
    /// By the `passwordPolicy` of the tenant. By default, it must contain an upper-case and a lower-case letter, a
    /// digit and one of `! @ # $ % ^ & *`.
    #[serde(default)]
    #[schema(required, format = Password, min_length = 8, max_length = 128)]
    new_password: String,
}

/// Change the caller's own password
///
/// Ends the caller's other sessions. A wrong current password counts like a failed login.
#[utoipa::path(
    post,
    path = "/auth/password",
    operation_id = "changePassword",
    tag = AUTHENTICATION,
    request_body = PasswordChangeDto,
    responses((status = 204, description = "The password is changed"), Problems),
    extensions(
        ("x-required-permission" = json!("session")),
        ("x-problems" = json!(["account-locked", "forbidden", "insufficient-authentication", "not-found"])),
    ),
)]
pub(crate) async fn change_password(
    State(iam): State<Iam>,
    Call(caller, body): Call<PasswordChangeDto>,
) -> Result<StatusCode, Problem> {
    let PasswordChangeDto { current_password, new_password } = body;
    iam.credentials().change_password(&caller, current_password.into(), new_password.into()).await?;
    Ok(StatusCode::NO_CONTENT)
}
