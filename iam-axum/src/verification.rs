//! `/auth/email`: the verification of addresses (`docs/http-api.md#links-by-mail`).

use axum::extract::State;
use axum::http::StatusCode;
use iam_core::Iam;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::description::{AUTHENTICATION, Problems};
use crate::extract::{Authenticated, Body, Call, Context};
use crate::problem::Problem;

/// The token of a link that was sent to an address.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = EmailVerification)]
pub(crate) struct EmailVerificationDto {
    #[serde(default)]
    #[schema(required, min_length = 1)]
    token: String,
}

/// A change of the caller's own address.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = EmailChange)]
pub(crate) struct EmailChangeDto {
    #[serde(default)]
    #[schema(required, format = "email", max_length = 254)]
    new_email: String,
    #[serde(default)]
    #[schema(required, format = Password, min_length = 1)]
    current_password: String,
}

/// Send a link that verifies the caller's address
///
/// The link works for 24 hours, and ends the one that was sent before. Nothing is sent if the address is verified
/// already, or after three messages in an hour.
#[utoipa::path(
    post,
    path = "/auth/email/verification",
    operation_id = "requestEmailVerification",
    tag = AUTHENTICATION,
    responses((status = 202, description = "The link is sent, if it is needed"), Problems),
    extensions(("x-required-permission" = json!("session")), ("x-problems" = json!(["forbidden"]))),
)]
pub(crate) async fn request(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
) -> Result<StatusCode, Problem> {
    iam.verification().request(&caller).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Verify an address
///
/// Takes the token of a link that was sent to the address. If the link was sent to a new address, it replaces the
/// former one. A token can be used once.
#[utoipa::path(
    post,
    path = "/auth/email/verify",
    operation_id = "verifyEmail",
    tag = AUTHENTICATION,
    request_body = EmailVerificationDto,
    responses((status = 204, description = "The address is verified"), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn verify(
    State(iam): State<Iam>,
    Context(context): Context,
    Body(body): Body<EmailVerificationDto>,
) -> Result<StatusCode, Problem> {
    iam.verification().verify(&context, &body.token.into()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Change the caller's own address
///
/// Sends a link to the new address. The caller keeps its address until that link is used; then the former address is
/// told. The response is the same if another user has the new address. A wrong current password counts like a failed
/// login.
#[utoipa::path(
    post,
    path = "/auth/email",
    operation_id = "changeEmail",
    tag = AUTHENTICATION,
    request_body = EmailChangeDto,
    responses((status = 202, description = "The link is sent to the new address"), Problems),
    extensions(
        ("x-required-permission" = json!("session")),
        ("x-problems" = json!(["account-locked", "forbidden", "insufficient-authentication", "not-found"])),
    ),
)]
pub(crate) async fn change(
    State(iam): State<Iam>,
    Call(caller, body): Call<EmailChangeDto>,
) -> Result<StatusCode, Problem> {
    iam.verification().change_email(&caller, &body.new_email, body.current_password.into()).await?;
    Ok(StatusCode::ACCEPTED)
}
