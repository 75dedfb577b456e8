//! `/auth/factors`, `/auth/login/second-factor`, `/auth/step-up` and `/users/{id}/factors`
//! (`docs/http-api.md#second-factors`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
#[cfg(feature = "passkeys")]
use iam_core::factor::webauthn::AuthenticationResponse;
use iam_core::factor::{Factor, FactorKind, IssuedCodes};
use iam_core::session::{FactorProof, StepUp};
use iam_core::{FactorId, Iam, UserId};
use qrcode::QrCode;
use qrcode::render::svg;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::description::{AUTHENTICATION, FACTORS, Problems};
use crate::extract::{Authenticated, Body, Context, PathId, WithoutFactor};
use crate::idempotency::RequestKey;
use crate::problem::{Kind, Problem};
use crate::session::LoggedIn;
use crate::time::Time;

/// A proof by a second factor, with the challenge of the login. It has a `code`, a `recoveryCode` or a `credential`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = SecondFactor)]
pub(crate) struct SecondFactorDto {
    #[serde(default)]
    #[schema(required, min_length = 1)]
    challenge: String,
    /// The present code of an authenticator app. Blanks and dashes in it are ignored.
    #[schema(min_length = 6, example = "492039")]
    code: Option<String>,
    /// A recovery code, in upper or lower case. Blanks and dashes in it are ignored. It is used up.
    recovery_code: Option<String>,
    /// What a browser answers to the options: `PublicKeyCredential.toJSON()`.
    #[cfg(feature = "passkeys")]
    #[schema(value_type = Option<Object>)]
    credential: Option<serde_json::Value>,
}

/// A proof by which a session authenticates again. It has a `code` or a `credential`, or a `password` if the user has
/// no second factor.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = StepUp)]
pub(crate) struct StepUpDto {
    #[schema(format = Password, min_length = 1)]
    password: Option<String>,
    /// The present code of an authenticator app. Blanks and dashes in it are ignored.
    #[schema(min_length = 6)]
    code: Option<String>,
    /// What a browser answers to the options: `PublicKeyCredential.toJSON()`.
    #[cfg(feature = "passkeys")]
    #[schema(value_type = Option<Object>)]
    credential: Option<serde_json::Value>,
}

/// A second factor.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Factor)]
pub(crate) struct FactorDto {
    id: Uuid,
    #[schema(inline)]
    r#type: FactorTypeDto,
    #[schema(example = "Phone")]
    name: String,
    created_at: Time,
    /// When it last proved the user's identity. Null means never.
    #[schema(required)]
    last_used_at: Option<Time>,
}

/// An authenticator app or a passkey.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = "totp")]
pub(crate) enum FactorTypeDto {
    Totp,
    Passkey,
}

impl From<Factor> for FactorDto {
    fn from(factor: Factor) -> Self {
        Self {
            id: factor.id.as_uuid(),
            r#type: match factor.kind {
                FactorKind::Totp => FactorTypeDto::Totp,
                FactorKind::Passkey => FactorTypeDto::Passkey,
            },
            name: factor.name.into(),
            created_at: Time(factor.created_at),
            last_used_at: factor.last_used_at.map(Time),
        }
    }
}

/// The second factors of the caller.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Factors)]
pub(crate) struct FactorsDto {
    /// The factors that are confirmed, oldest first.
    data: Vec<FactorDto>,
    recovery_codes_left: u64,
}

/// A name of a factor. If it is absent, the service gives one.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewFactor)]
pub(crate) struct NewFactorDto {
    #[schema(min_length = 1, max_length = 120, example = "Phone")]
    name: Option<String>,
}

/// The changes to a factor.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = FactorPatch)]
pub(crate) struct FactorPatchDto {
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 120, example = "Phone")]
    name: String,
}

/// An authenticator app that waits for its first code. The secret is shown once.
#[derive(Serialize, ToSchema)]
#[schema(as = TotpSetup)]
pub(crate) struct TotpSetupDto {
    id: Uuid,
    /// Null in the answer to a repeated request.
    #[schema(required)]
    secret: Option<String>,
    /// Null in the answer to a repeated request.
    #[schema(required)]
    uri: Option<String>,
    /// Null in the answer to a repeated request.
    #[schema(required)]
    qr: Option<String>,
}

/// The first code of an authenticator app.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TotpConfirmation)]
pub(crate) struct TotpConfirmationDto {
    #[serde(default)]
    #[schema(required, min_length = 6, example = "492039")]
    code: String,
}

/// A confirmed factor.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConfirmedFactor)]
pub(crate) struct ConfirmedFactorDto {
    /// Recovery codes, if the user had none. They are shown once, and null in the answer to a repeated request.
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery_codes: Option<Option<Vec<String>>>,
}

/// A set of recovery codes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecoveryCodes)]
pub(crate) struct RecoveryCodesDto {
    /// Each can be used once in place of a second factor. They are shown once, and null in the answer to a repeated
    /// request.
    #[schema(required)]
    recovery_codes: Option<Vec<String>>,
}

/// Finish a login by a second factor
///
/// Takes the challenge of the 401 `second-factor-required` that the login has answered. A wrong proof counts like a
/// wrong password. A challenge can be answered once, for five minutes, and ends with the fifth wrong proof.
#[utoipa::path(
    post,
    path = "/auth/login/second-factor",
    operation_id = "finishLogin",
    tag = AUTHENTICATION,
    request_body = SecondFactorDto,
    responses((status = 200, description = "Tokens and the user", body = LoggedIn), Problems),
    security(()),
    extensions(
        ("x-required-permission" = json!("public")),
        ("x-problems" = json!(["account-locked", "forbidden", "unauthorized"])),
    ),
)]
pub(crate) async fn finish_login(
    State(iam): State<Iam>,
    Context(context): Context,
    Body(body): Body<SecondFactorDto>,
) -> Result<Json<LoggedIn>, Problem> {
    let code = body.code.map(|code| FactorProof::Code(code.into()));
    let recovery_code = body.recovery_code.map(|code| FactorProof::RecoveryCode(code.into()));
    let proofs = [("code", code), ("recoveryCode", recovery_code)];
    #[cfg(feature = "passkeys")]
    let proofs = proofs.into_iter().chain([("credential", by_passkey(body.credential.as_ref())?)]);
    let proof = only_one(proofs)?;
    Ok(Json(iam.sessions().login_with_factor(&context, &body.challenge.into(), &proof).await?.into()))
}

/// Authenticate again
///
/// For operations that need a recent authentication. A user with a second factor authenticates by that; a password
/// alone is 401. A wrong proof counts like a failed login.
#[utoipa::path(
    post,
    path = "/auth/step-up",
    operation_id = "stepUp",
    tag = AUTHENTICATION,
    request_body = StepUpDto,
    responses((status = 204, description = "The session has authenticated now"), Problems),
    extensions(
        ("x-required-permission" = json!("session")),
        ("x-problems" = json!(["account-locked", "federation-required", "forbidden", "not-found"])),
    ),
)]
pub(crate) async fn step_up(
    State(iam): State<Iam>,
    WithoutFactor(caller): WithoutFactor,
    Body(body): Body<StepUpDto>,
) -> Result<StatusCode, Problem> {
    let password = body.password.map(|password| StepUp::Password(password.into()));
    let code = body.code.map(|code| StepUp::Factor(FactorProof::Code(code.into())));
    let proofs = [("password", password), ("code", code)];
    #[cfg(feature = "passkeys")]
    let proofs = proofs.into_iter().chain([("credential", by_passkey(body.credential.as_ref())?.map(StepUp::Factor))]);
    let proof = only_one(proofs)?;
    iam.sessions().step_up(&caller, proof).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// List the caller's second factors
///
/// Factors that are not confirmed are left out.
#[utoipa::path(
    get,
    path = "/auth/factors",
    operation_id = "listFactors",
    tag = FACTORS,
    responses((status = 200, description = "The factors", body = FactorsDto), Problems),
    extensions(("x-required-permission" = json!("session"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    WithoutFactor(caller): WithoutFactor,
) -> Result<Json<FactorsDto>, Problem> {
    let list = iam.factors().list(&caller).await?;
    let data = list.factors.into_iter().map(FactorDto::from).collect();
    Ok(Json(FactorsDto { data, recovery_codes_left: list.recovery_codes_left }))
}

/// Set up an authenticator app
///
/// The app proves nothing until its first code is confirmed. It replaces an app that was not confirmed.
#[utoipa::path(
    post,
    path = "/auth/factors/totp",
    operation_id = "addTotp",
    tag = FACTORS,
    request_body = NewFactorDto,
    responses((status = 201, description = "The secret of the app", body = TotpSetupDto), Problems),
    extensions(
        ("x-required-permission" = json!("session")),
        ("x-problems" = json!(["conflict", "forbidden", "insufficient-authentication"])),
    ),
)]
pub(crate) async fn add_totp(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    WithoutFactor(caller): WithoutFactor,
    Body(body): Body<NewFactorDto>,
) -> Result<(StatusCode, Json<TotpSetupDto>), Problem> {
    let (id, setup) = iam.factors().add_totp_once(&caller, body.name.as_deref(), key.as_ref()).await?;
    let id = id.as_uuid();
    let Some(setup) = setup else {
        return Ok((StatusCode::CREATED, Json(TotpSetupDto { id, secret: None, uri: None, qr: None })));
    };
    let uri = setup.uri.expose().to_owned();
    let qr = QrCode::new(&uri).map_err(|error| {
        tracing::error!(%error, "a QR code cannot be made");
        Problem::new(Kind::Internal)
    })?;
    let qr = qr.render::<svg::Color<'_>>().min_dimensions(200, 200).build();
    let secret = setup.secret.expose().to_owned();
    Ok((StatusCode::CREATED, Json(TotpSetupDto { id, secret: Some(secret), uri: Some(uri), qr: Some(qr) })))
}

/// Confirm an authenticator app
///
/// Takes the present code of the app. If the user has no recovery codes, the response has some, once.
#[utoipa::path(
    post,
    path = "/auth/factors/totp/{id}/confirm",
    operation_id = "confirmTotp",
    tag = FACTORS,
    params(("id" = Uuid, Path, description = "The factor")),
    request_body = TotpConfirmationDto,
    responses((status = 200, description = "The app is confirmed", body = ConfirmedFactorDto), Problems),
    extensions(
        ("x-required-permission" = json!("session")),
        ("x-problems" = json!(["conflict", "forbidden", "insufficient-authentication"])),
    ),
)]
pub(crate) async fn confirm_totp(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    WithoutFactor(caller): WithoutFactor,
    PathId(id): PathId<FactorId>,
    Body(body): Body<TotpConfirmationDto>,
) -> Result<Json<ConfirmedFactorDto>, Problem> {
    let codes = iam.factors().confirm_totp_once(&caller, id, &body.code.into(), key.as_ref()).await?;
    Ok(Json(ConfirmedFactorDto { recovery_codes: shown(codes) }))
}

/// Rename a factor
///
/// The other members of a factor cannot be changed.
#[utoipa::path(
    patch,
    path = "/auth/factors/{id}",
    operation_id = "updateFactor",
    tag = FACTORS,
    params(("id" = Uuid, Path, description = "The factor")),
    request_body = FactorPatchDto,
    responses((status = 200, description = "The renamed factor", body = FactorDto), Problems),
    extensions(("x-required-permission" = json!("session")), ("x-problems" = json!(["forbidden"]))),
)]
pub(crate) async fn rename(
    State(iam): State<Iam>,
    WithoutFactor(caller): WithoutFactor,
    PathId(id): PathId<FactorId>,
    Body(body): Body<FactorPatchDto>,
) -> Result<Json<FactorDto>, Problem> {
    Ok(Json(iam.factors().rename(&caller, id, &body.name).await?.into()))
}

/// Remove a factor
///
/// The recovery codes end with the last factor. Where the tenant requires a factor, the last one cannot be removed.
#[utoipa::path(
    delete,
    path = "/auth/factors/{id}",
    operation_id = "deleteFactor",
    tag = FACTORS,
    params(("id" = Uuid, Path, description = "The factor")),
    responses((status = 204, description = "The factor is removed"), Problems),
    extensions(
        ("x-required-permission" = json!("session")),
        ("x-problems" = json!(["conflict", "forbidden", "insufficient-authentication"])),
    ),
)]
pub(crate) async fn remove(
    State(iam): State<Iam>,
    WithoutFactor(caller): WithoutFactor,
    PathId(id): PathId<FactorId>,
) -> Result<StatusCode, Problem> {
    iam.factors().remove(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Get new recovery codes
///
/// The new set ends the former one.
#[utoipa::path(
    post,
    path = "/auth/factors/recovery-codes",
    operation_id = "issueRecoveryCodes",
    tag = FACTORS,
    responses((status = 200, description = "The codes, which are shown once", body = RecoveryCodesDto), Problems),
    extensions(
        ("x-required-permission" = json!("session")),
        ("x-problems" = json!(["conflict", "forbidden", "insufficient-authentication"])),
    ),
)]
pub(crate) async fn issue_recovery_codes(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    WithoutFactor(caller): WithoutFactor,
) -> Result<Json<RecoveryCodesDto>, Problem> {
    let codes = iam.factors().issue_recovery_codes_once(&caller, key.as_ref()).await?;
    Ok(Json(RecoveryCodesDto { recovery_codes: shown(codes).flatten() }))
}

/// Remove all factors of a user
///
/// For a user that has lost its factors. Ends the sessions of the user, and tells it by mail. The caller also needs
/// every permission that the user's roles give.
#[utoipa::path(
    delete,
    path = "/users/{id}/factors",
    operation_id = "deleteUserFactors",
    tag = FACTORS,
    params(("id" = Uuid, Path, description = "The user")),
    responses((status = 204, description = "The user has no factors"), Problems),
    extensions(
        ("x-required-permission" = json!("users:update")),
        ("x-problems" = json!(["conflict", "insufficient-authentication"])),
    ),
)]
pub(crate) async fn reset(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(user): PathId<UserId>,
) -> Result<StatusCode, Problem> {
    iam.factors().reset(&caller, user).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the one proof of a body.
fn only_one<T>(proofs: impl IntoIterator<Item = (&'static str, Option<T>)>) -> Result<T, Problem> {
    let (mut names, mut found) = (Vec::new(), None);
    for (name, proof) in proofs {
        names.push(name);
        if let Some(proof) = proof
            && found.replace(proof).is_some()
        {
            return Err(Problem::invalid_field(name, "cannot be sent with another proof"));
        }
    }
    let first = names.first().copied().unwrap_or_default();
    found.ok_or_else(|| Problem::invalid_field(first, format!("send one of {}", names.join(", "))))
}

/// Reads the answer of a browser to the options of a login or a step-up.
#[cfg(feature = "passkeys")]
pub(crate) fn assertion(credential: &serde_json::Value) -> Result<AuthenticationResponse, Problem> {
    AuthenticationResponse::from_json(credential)
        .map_err(|refusal| Problem::invalid_field("credential", refusal.to_string()))
}

#[cfg(feature = "passkeys")]
fn by_passkey(credential: Option<&serde_json::Value>) -> Result<Option<FactorProof>, Problem> {
    let response = credential.map(assertion).transpose()?;
    Ok(response.map(|response| FactorProof::Passkey(Box::new(response))))
}

/// Returns the recovery codes as an answer shows them: absent if there are none, and null if they were shown before.
pub(crate) fn shown(codes: IssuedCodes) -> Option<Option<Vec<String>>> {
    match codes {
        IssuedCodes::None => None,
        IssuedCodes::New(codes) => Some(Some(codes.iter().map(|code| code.expose().to_owned()).collect())),
        IssuedCodes::ShownBefore => Some(None),
    }
}
