//! What is held about a person, as a page to keep.

use axum::extract::State;
use axum::response::Response;
use iam_axum::{PathId, Problem, UserExportFormat, user_export_file};
use iam_core::UserId;

use crate::session::SignedIn;
use crate::state::Console;

pub(super) async fn export(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<UserId>,
) -> Result<Response, Problem> {
    user_export_file(console.iam.clone(), signed_in.caller.clone(), id, UserExportFormat::Html).await
}

pub(super) async fn export_own(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    let (own, _) = signed_in.caller.require_user()?;
    user_export_file(console.iam.clone(), signed_in.caller.clone(), own, UserExportFormat::Html).await
}
