//! One action on many users or role assignments: a preview, a confirmation, and a run, which goes on when the person
//! leaves the page.

mod execute;
mod plan;
mod show;
mod start;

use axum::Router;
use axum::routing::{get, post};
use iam_core::access::Permission;
use iam_core::{Caller, Iam};

use crate::state::Console;

/// How many users or role assignments an action can have: its preview must end within the time limit of requests.
pub(crate) const MAX_SELECTED: usize = 100;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/runs", get(show::list).post(start::submit))
        .route("/runs/seen", post(show::dismiss))
        .route("/runs/{id}", get(show::show))
}

/// Whether the caller holds one of these permissions, tenant-wide or at least in an organization. A list hides what only
/// leads to a refusal; the services decide.
pub(crate) fn offers(iam: &Iam, caller: &Caller, permissions: &[Permission]) -> bool {
    let now = iam.now();
    permissions.iter().any(|permission| caller.authority().visible_scope(permission, now).is_some())
}
