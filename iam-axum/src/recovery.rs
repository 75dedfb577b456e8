//! `/auth/password/forgot`, `/auth/password/reset` and `/users/{id}/password-reset` (`docs/http-api.md#links-by-mail`).

use axum::extract::State;
use axum::http::StatusCode;
use iam_core::{Iam, UserId};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::description::{AUTHENTICATION, Problems, USERS};
use crate::extract::{Authenticated, Body, Context, PathId};
use crate::problem::Problem;

/// The address of a person who has forgotten its password.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ForgottenPassword)]
pub(crate) struct ForgottenPasswordDto {
    #[serde(default)]
    #[schema(required, format = "email", max_length = 254)]
    email: String,
    /// The id or the slug of a tenant. If it is absent, the message has a link for each account with the address.
    tenant: Option<String>,
}

/// A new password, with the token of a link.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PasswordReset)]
pub(crate) struct PasswordResetDto {
    #[serde(default)]
    #[schema(required, min_length = 1)]
    token: String,
    /// By the `passwordPolicy` of the tenant. By default, it must contain an upper-case and a lower-case letter, a
    /// digit and one of `! @ # $ % ^ & *`.
    #[serde(default)]
    #[schema(required, format = Password, min_length = 8, max_length = 128)]
    new_password: String,
}

/// Send a link with which a password can be reset
///
/// The response is the same whether or not an account has the address. The link works for 30 minutes. At most three
/// messages are sent to an address in an hour.
#[utoipa::path(
    post,
    path = "/auth/password/forgot",
    operation_id = "forgotPassword",
    tag = AUTHENTICATION,
    request_body = ForgottenPasswordDto,
    responses((status = 202, description = "A link is sent, if there is an account"), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public"))),
)]
pub(crate) async fn forgot(
    State(iam): State<Iam>,
    Context(context): Context,
    Body(body): Body<ForgottenPasswordDto>,
) -> Result<StatusCode, Problem> {
    iam.recovery().forgot(&context, &body.email, body.tenant.as_deref()).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Reset a password
///
/// Takes the token of a link. Ends all sessions and the lockout of the user, and verifies its address. Log in
/// afterwards.
#[utoipa::path(
    post,
    path = "/auth/password/reset",
    operation_id = "resetPassword",
    tag = AUTHENTICATION,
    request_body = PasswordResetDto,
    responses((status = 204, description = "The password is changed"), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public"))),
)]
pub(crate) async fn reset(
    State(iam): State<Iam>,
    Context(context): Context,
    Body(body): Body<PasswordResetDto>,
) -> Result<StatusCode, Problem> {
    iam.recovery().reset(&context, &body.token.into(), body.new_password.into()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Send a user a link with which it can reset its password
///
/// The caller also needs every permission that the user's roles give.
#[utoipa::path(
    post,
    path = "/users/{id}/password-reset",
    operation_id = "startPasswordReset",
    tag = USERS,
    params(("id" = Uuid, Path, description = "The user")),
    responses((status = 202, description = "The link is sent"), Problems),
    extensions(("x-required-permission" = json!("users:update")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn start(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(user): PathId<UserId>,
) -> Result<StatusCode, Problem> {
    iam.recovery().start(&caller, user).await?;
    Ok(StatusCode::ACCEPTED)
}
