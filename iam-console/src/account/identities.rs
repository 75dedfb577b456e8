//! The accounts at identity providers by which the person signs in.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use iam_axum::{PathId, Problem};
use iam_core::{Error, IdentityId};

use super::{AccountPage, answer, back, page_of};
use crate::errand::Errand;
use crate::form::Form;
use crate::session::SignedIn;
use crate::state::Console;
use crate::view::page;

/// Begins to link an account at a provider.
pub(super) async fn start(
    State(console): State<Console>,
    signed_in: SignedIn,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let errand = Errand::link();
    let callback = signed_in.provider_callback.clone().ok_or(Error::FederationOff);
    let started = match callback.and_then(|callback| errand.input(&form, callback, None)) {
        Ok(input) => console.iam.federation().start_linking(&signed_in.caller, input).await,
        Err(error) => Err(error),
    };
    match started {
        Ok(started) => errand.leave(&console, &parts, &started),
        Err(error) => refused(&console, signed_in, error).await,
    }
}

pub(super) async fn remove(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<IdentityId>,
) -> Result<Response, Problem> {
    let result = console.iam.federation().unlink(&signed_in.caller, id).await;
    answer(&console, signed_in.into(), result.map(|()| "unlinked")).await
}

/// Leads back to the account after a link.
pub(crate) fn linked(console: &Console) -> Response {
    back(console, "linked")
}

/// Leads to the account after a way to a provider and back that took too long, or that another session has begun.
pub(crate) fn too_late(console: &Console) -> Response {
    back(console, "link-late")
}

/// Shows on the account why nothing is linked.
pub(crate) async fn not_linked(
    console: &Console,
    signed_in: SignedIn,
    status: StatusCode,
    text: &str,
) -> Result<Response, Problem> {
    let shown = page_of(console, &signed_in.into()).await?;
    page(status, &AccountPage { error: text.to_owned(), ..shown })
}

/// Does the same for an error of the service.
pub(crate) async fn refused(console: &Console, signed_in: SignedIn, error: Error) -> Result<Response, Problem> {
    answer(console, signed_in.into(), Err(error)).await
}
