use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use iam_core::directory::UserResource;
use iam_core::{Caller, Iam, UserId};
use iam_scim::list_response;
use iam_scim::query::{Parameters, UserQuery};

use crate::extract::Authenticated;
use crate::scim::answer::{Scim, user, user_resource};
use crate::scim::error::Refusal;
use crate::scim::request::{At, Sent, Shown, parameters};
use crate::scim_url::ScimUrl;

/// `GET /Users`
pub(super) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    ScimUrl(base): ScimUrl,
    RawQuery(query): RawQuery,
) -> Result<Scim, Refusal> {
    page(&iam, &caller, &base, &Parameters::from_pairs(parameters(query.as_deref()))?.of_users()?).await
}

/// `POST /Users/.search`
pub(super) async fn search(
    State(iam): State<Iam>,
    ScimUrl(base): ScimUrl,
    Sent(caller, body): Sent,
) -> Result<Scim, Refusal> {
    page(&iam, &caller, &base, &Parameters::from_search(&body)?.of_users()?).await
}

async fn page(iam: &Iam, caller: &Caller, base: &str, query: &UserQuery) -> Result<Scim, Refusal> {
    let skipped = query.start_index.saturating_sub(1);
    let (found, total) = iam.provisioning().list(caller, &query.condition, query.sort, skipped, query.count).await?;
    let resources = found.iter().map(|found| query.projection.apply(user_resource(base, found))).collect();
    Ok(Scim(list_response(resources, total, query.start_index)))
}

/// `POST /Users`
pub(super) async fn create(
    State(iam): State<Iam>,
    _: Authenticated,
    shown: Shown,
    Sent(caller, body): Sent,
) -> Result<Response, Refusal> {
    let (made, _) = iam.provisioning().create(&caller, UserResource::parse(&body)?).await?;
    Ok(user(StatusCode::CREATED, &made, &shown))
}

/// `GET /Users/{id}`
pub(super) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    shown: Shown,
    At { id, .. }: At<UserId>,
) -> Result<Response, Refusal> {
    let found = iam.provisioning().get(&caller, id).await?;
    Ok(user(StatusCode::OK, &found, &shown))
}

/// `PUT /Users/{id}`
pub(super) async fn replace(
    State(iam): State<Iam>,
    _: Authenticated,
    shown: Shown,
    At { id, if_match }: At<UserId>,
    Sent(caller, body): Sent,
) -> Result<Response, Refusal> {
    let wanted = UserResource::parse(&body)?;
    let changed = iam.provisioning().replace(&caller, id, wanted, if_match.as_deref()).await?;
    Ok(user(StatusCode::OK, &changed, &shown))
}

/// `PATCH /Users/{id}`
pub(super) async fn patch(
    State(iam): State<Iam>,
    _: Authenticated,
    shown: Shown,
    At { id, if_match }: At<UserId>,
    Sent(caller, body): Sent,
) -> Result<Response, Refusal> {
    let changed = iam.provisioning().patch(&caller, id, &body, if_match.as_deref()).await?;
    Ok(user(StatusCode::OK, &changed, &shown))
}

/// `DELETE /Users/{id}`
pub(super) async fn delete(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    At { id, if_match }: At<UserId>,
) -> Result<StatusCode, Refusal> {
    iam.provisioning().delete(&caller, id, if_match.as_deref()).await?;
    Ok(StatusCode::NO_CONTENT)
}
