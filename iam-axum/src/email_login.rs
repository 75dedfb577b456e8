//! `/auth/email-login` (`docs/http-api.md#login-by-e-mail`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use iam_core::Iam;
use iam_core::email_login::EmailProof;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::description::{AUTHENTICATION, Problems};
use crate::extract::{Body, Context};
use crate::problem::Problem;
use crate::session::LoggedIn;

/// The address of a person who logs in by e-mail.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = EmailLogin)]
pub(crate) struct EmailLoginDto {
    #[serde(default)]
    #[schema(required, format = "email", max_length = 254)]
    email: String,
    /// The id or the slug of a tenant. If it is absent, the message has a link and a code for each account with the
    /// address.
    tenant: Option<String>,
}

/// A login by e-mail that has begun.
#[derive(Serialize, ToSchema)]
#[schema(as = StartedEmailLogin)]
pub(crate) struct StartedDto {
    /// Send it with the code of the message. It says nothing about an account.
    flow: String,
}

/// The proof that a person reads the mail of its address. It has a `token`, or a `flow` and a `code`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = EmailLoginFinish)]
pub(crate) struct FinishDto {
    /// The token of the link in the message.
    token: Option<String>,
    /// The flow of the request that has caused the message.
    flow: Option<String>,
    /// The code in the message. Blanks and dashes in it are ignored.
    #[schema(min_length = 8)]
    code: Option<String>,
}

impl FinishDto {
    fn proof(self) -> Result<EmailProof, Problem> {
        match (self.token, self.flow, self.code) {
            (Some(token), None, None) => Ok(EmailProof::Link(token.into())),
            (Some(_), ..) => Err(Problem::invalid_field("token", "stands alone, without flow and code")),
            (None, Some(flow), Some(code)) => Ok(EmailProof::Code { flow: flow.into(), code: code.into() }),
            (None, Some(_), None) => Err(Problem::invalid_field("code", "must not be empty")),
            (None, None, Some(_)) => Err(Problem::invalid_field("flow", "must not be empty")),
            (None, None, None) => Err(Problem::invalid_field("token", "is needed, or flow and code")),
        }
    }
}

/// Send a link and a code with which a person can log in
///
/// The response is the same whether or not an account has the address. A message goes to verified addresses only, in
/// tenants whose `emailLogin` is `ON`. The link and the code work once, for 10 minutes, and only those of the newest
/// message. At most three messages are sent to an address in an hour.
#[utoipa::path(
    post,
    path = "/auth/email-login",
    operation_id = "startEmailLogin",
    tag = AUTHENTICATION,
    request_body = EmailLoginDto,
    responses((status = 202, description = "A message is sent, if there is an account", body = StartedDto), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public"))),
)]
pub(crate) async fn start(
    State(iam): State<Iam>,
    Context(context): Context,
    Body(body): Body<EmailLoginDto>,
) -> Result<(StatusCode, Json<StartedDto>), Problem> {
    let flow = iam.email_logins().request(&context, &body.email, body.tenant.as_deref()).await?;
    Ok((StatusCode::ACCEPTED, Json(StartedDto { flow: flow.expose().to_owned() })))
}

/// Log in by e-mail
///
/// Takes the token of the link, or the flow with the code. Everything that does not log in is the same 400. A wrong
/// code counts like a wrong password; the fifth one ends the message. If the user has a second factor, the response is
/// 401 `second-factor-required` as for `POST /auth/login`. The session must authenticate again before it changes
/// credentials.
#[utoipa::path(
    post,
    path = "/auth/email-login/finish",
    operation_id = "finishEmailLogin",
    tag = AUTHENTICATION,
    request_body = FinishDto,
    responses((status = 200, description = "Tokens and the user", body = LoggedIn), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public")), ("x-problems" = json!(["second-factor-required"]))),
)]
pub(crate) async fn finish(
    State(iam): State<Iam>,
    Context(context): Context,
    Body(body): Body<FinishDto>,
) -> Result<Json<LoggedIn>, Problem> {
    Ok(Json(iam.email_logins().finish(&context, &body.proof()?).await?.into()))
}
