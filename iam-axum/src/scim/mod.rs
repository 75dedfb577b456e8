//! `/scim/v2`: what directories write, by SCIM 2.0 (`docs/directories.md#the-protocol`).
//!
//! The bearer is an API key of the service account of a directory. Errors have the form of SCIM, also those of the
//! layers around: the [conventions](crate::with_conventions) write it.

mod answer;
mod discovery;
mod error;
mod groups;
mod record;
mod request;
mod search;
mod users;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};

use crate::problem::Problem;
use crate::settings::{ApiPart, SCIM};
use crate::state::ApiState;

/// Returns the routes of directories, if the settings have this part.
pub(crate) fn routes(state: &ApiState) -> Router<ApiState> {
    if !state.settings.parts.contains(&ApiPart::Directories) {
        return Router::new();
    }
    let at = |path: &str| format!("{SCIM}{path}");
    Router::new()
        .route(&at("/ServiceProviderConfig"), get(discovery::config))
        .route(&at("/ResourceTypes"), get(discovery::resource_types))
        .route(&at("/ResourceTypes/{id}"), get(discovery::resource_type))
        .route(&at("/Schemas"), get(discovery::schemas))
        .route(&at("/Schemas/{id}"), get(discovery::schema))
        .route(&at("/Users"), get(users::list).post(users::create))
        .route(&at("/Users/.search"), post(users::search))
        .route(&at("/Users/{id}"), get(users::get).put(users::replace).patch(users::patch).delete(users::delete))
        .route(&at("/Groups"), get(groups::list).post(groups::create))
        .route(&at("/Groups/.search"), post(groups::search))
        .route(&at("/Groups/{id}"), get(groups::get).put(groups::replace).patch(groups::patch).delete(groups::delete))
        .route(&at("/.search"), post(search::search_all))
        .route(&at("/Me"), any(not_implemented))
        .route(&at("/Bulk"), any(not_implemented))
        .route_layer(from_fn_with_state(state.clone(), record::record))
}

async fn not_implemented() -> Problem {
    Problem::from_status(StatusCode::NOT_IMPLEMENTED).detail("This service does not implement this path.")
}
