use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use iam_core::directory::ProvisioningError;
use iam_core::{Caller, Error, Iam};

use crate::problem::{Problem, chain};
use crate::request_state::{RequestState, ResponseState};
use crate::settings::SCIM;

/// Keeps when a request of a directory has arrived and, if it was refused, why: administrators see it. A request whose
/// sender is unknown is of no directory.
pub(super) async fn record(State(iam): State<Iam>, mut request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let caller = Arc::clone(&RequestState::of_mut(request.extensions_mut()).caller);
    let response = next.run(request).await;
    if let Some(caller) = caller.get() {
        let path = route.as_ref().map_or("", |route| collection(route.as_str()));
        keep(&iam, caller, &format!("{method} {path}"), refusal_of(&response)).await;
    }
    response
}

/// Returns the status of a refusal, and the reason that it tells.
fn refusal_of(response: &Response) -> Option<(u16, String)> {
    let status = response.status();
    let is_refused = status.is_client_error() || status.is_server_error();
    is_refused.then(|| match ResponseState::problem(response.extensions()) {
        Some(problem) => (status.as_u16(), problem.to_string()),
        None => (status.as_u16(), Problem::from_status(status).to_string()),
    })
}

async fn keep(iam: &Iam, caller: &Caller, request: &str, refusal: Option<(u16, String)>) {
    let refusal = refusal.as_ref().map(|(status, detail)| (*status, detail.as_str()));
    match iam.provisioning().record_request(caller, request, refusal).await {
        // The sender has no directory, or has it no more.
        Ok(()) | Err(ProvisioningError::Service(Error::Forbidden(_))) => {}
        // The request itself is answered.
        Err(error) => tracing::warn!(error = %chain(&error), "a request of a directory cannot be recorded"),
    }
}

/// Returns the path of the collection of a route, without prefix and without identifiers.
fn collection(route: &str) -> &str {
    let path = route.rsplit_once(SCIM).map_or(route, |(_, path)| path);
    path.split_once("/{").map_or(path, |(collection, _)| collection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_kept_without_identifiers() {
        for (route, expected) in [
            ("/scim/v2/Users", "/Users"),
            ("/scim/v2/Users/{id}", "/Users"),
            ("/iam/v1/scim/v2/Users/.search", "/Users/.search"),
            ("/scim/v2/Groups", "/Groups"),
            ("/scim/v2/Groups/{id}", "/Groups"),
            ("/scim/v2/Groups/.search", "/Groups/.search"),
            ("/scim/v2/.search", "/.search"),
        ] {
            assert_eq!(collection(route), expected, "{route}");
        }
    }
}
