//! Passkeys: `/auth/passkeys`, `/auth/factors/passkeys` and the options of ceremonies
//! (`docs/http-api.md#second-factors`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use iam_core::Iam;
use iam_core::factor::webauthn::RegistrationResponse;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::description::{AUTHENTICATION, FACTORS, Problems};
use crate::extract::{Body, Context, WithoutFactor};
use crate::factor::{FactorDto, assertion, shown};
use crate::idempotency::RequestKey;
use crate::problem::Problem;
use crate::session::LoggedIn;

/// The options of a ceremony, for `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`
/// of a browser.
#[derive(Serialize, ToSchema)]
#[schema(as = PasskeyOptions, value_type = Object)]
pub(crate) struct OptionsDto(Value);

/// The challenge of a login.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LoginChallenge)]
pub(crate) struct ChallengeDto {
    #[serde(default)]
    #[schema(required, min_length = 1)]
    challenge: String,
}

/// The tenant of a login.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PasskeyLoginOptions)]
pub(crate) struct TenantDto {
    /// The id or the slug of a tenant, if only its users may log in with these options.
    tenant: Option<String>,
}

/// A login by a passkey.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PasskeyLogin)]
pub(crate) struct LoginDto {
    #[schema(value_type = Object)]
    credential: Value,
}

/// A new passkey.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewPasskey)]
pub(crate) struct NewPasskeyDto {
    #[schema(min_length = 1, max_length = 120)]
    name: Option<String>,
    #[schema(value_type = Object)]
    credential: Value,
}

/// A registered passkey.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RegisteredPasskey)]
pub(crate) struct RegisteredDto {
    #[serde(flatten)]
    factor: FactorDto,
    /// Recovery codes, if the user had none. They are shown once, and null in the answer to a repeated request.
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery_codes: Option<Option<Vec<String>>>,
}

/// Get the options to finish a login by a passkey
///
/// Takes the challenge of the 401 `second-factor-required`. Newer options end the older ones.
#[utoipa::path(
    post,
    path = "/auth/login/second-factor/options",
    operation_id = "getSecondFactorOptions",
    tag = AUTHENTICATION,
    request_body = ChallengeDto,
    responses((status = 200, description = "The options", body = OptionsDto), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public")), ("x-problems" = json!(["unauthorized"]))),
)]
pub(crate) async fn second_factor_options(
    State(iam): State<Iam>,
    Body(body): Body<ChallengeDto>,
) -> Result<Json<OptionsDto>, Problem> {
    Ok(Json(OptionsDto(iam.sessions().second_factor_options(&body.challenge.into()).await?)))
}

/// Get the options to authenticate again by a passkey
///
/// `POST /auth/step-up` takes the response of the browser.
#[utoipa::path(
    post,
    path = "/auth/step-up/options",
    operation_id = "getStepUpOptions",
    tag = AUTHENTICATION,
    responses((status = 200, description = "The options", body = OptionsDto), Problems),
    extensions(("x-required-permission" = json!("session")), ("x-problems" = json!(["forbidden"]))),
)]
pub(crate) async fn step_up_options(
    State(iam): State<Iam>,
    WithoutFactor(caller): WithoutFactor,
) -> Result<Json<OptionsDto>, Problem> {
    Ok(Json(OptionsDto(iam.sessions().step_up_options(&caller).await?)))
}

/// Get the options to log in by a passkey
///
/// No name is needed: the passkey tells who the user is. The options work once, for five minutes.
#[utoipa::path(
    post,
    path = "/auth/passkeys/options",
    operation_id = "getPasskeyOptions",
    tag = AUTHENTICATION,
    request_body = TenantDto,
    responses((status = 200, description = "The options", body = OptionsDto), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public"))),
)]
pub(crate) async fn login_options(
    State(iam): State<Iam>,
    Body(body): Body<TenantDto>,
) -> Result<Json<OptionsDto>, Problem> {
    Ok(Json(OptionsDto(iam.sessions().passkey_options(body.tenant.as_deref()).await?)))
}

/// Log in by a passkey
///
/// Takes what a browser answers to the options. The passkey verifies its user, so it counts as two factors. The lock
/// that wrong passwords cause does not refuse it.
#[utoipa::path(
    post,
    path = "/auth/passkeys/login",
    operation_id = "logInByPasskey",
    tag = AUTHENTICATION,
    request_body = LoginDto,
    responses((status = 200, description = "Tokens and the user", body = LoggedIn), Problems),
    security(()),
    extensions(
        ("x-required-permission" = json!("public")),
        ("x-problems" = json!(["forbidden", "unauthorized"])),
    ),
)]
pub(crate) async fn login(
    State(iam): State<Iam>,
    Context(context): Context,
    Body(body): Body<LoginDto>,
) -> Result<Json<LoggedIn>, Problem> {
    let response = assertion(&body.credential)?;
    Ok(Json(iam.sessions().login_by_passkey(&context, &response).await?.into()))
}

/// Get the options to register a passkey
///
/// The options work once, for five minutes.
#[utoipa::path(
    post,
    path = "/auth/factors/passkeys/options",
    operation_id = "getPasskeyRegistrationOptions",
    tag = FACTORS,
    responses((status = 200, description = "The options", body = OptionsDto), Problems),
    extensions(
        ("x-required-permission" = json!("session")),
        ("x-problems" = json!(["conflict", "forbidden", "insufficient-authentication"])),
    ),
)]
pub(crate) async fn registration_options(
    State(iam): State<Iam>,
    WithoutFactor(caller): WithoutFactor,
) -> Result<Json<OptionsDto>, Problem> {
    Ok(Json(OptionsDto(iam.factors().passkey_options(&caller).await?)))
}

/// Register a passkey
///
/// Takes what a browser answers to the options. If the user has no recovery codes, the response has some, once.
#[utoipa::path(
    post,
    path = "/auth/factors/passkeys",
    operation_id = "addPasskey",
    tag = FACTORS,
    request_body = NewPasskeyDto,
    responses((status = 201, description = "The passkey", body = RegisteredDto), Problems),
    extensions(
        ("x-required-permission" = json!("session")),
        ("x-problems" = json!(["conflict", "forbidden", "insufficient-authentication"])),
    ),
)]
pub(crate) async fn register(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    WithoutFactor(caller): WithoutFactor,
    Body(body): Body<NewPasskeyDto>,
) -> Result<(StatusCode, Json<RegisteredDto>), Problem> {
    let response = RegistrationResponse::from_json(&body.credential)
        .map_err(|refusal| Problem::invalid_field("credential", refusal.to_string()))?;
    let made = iam.factors().add_passkey_once(&caller, body.name.as_deref(), &response, key.as_ref()).await?;
    let (factor, codes) = made;
    Ok((StatusCode::CREATED, Json(RegisteredDto { factor: factor.into(), recovery_codes: shown(codes) })))
}
