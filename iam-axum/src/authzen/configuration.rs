use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, header};
use serde::Serialize;
use utoipa::ToSchema;

use crate::description::{AUTHORIZATION, Problems};
use crate::problem::Problem;
use crate::settings::Settings;

/// Where the operations of AuthZEN are.
#[derive(Serialize, ToSchema)]
#[schema(as = AuthzenConfiguration)]
pub(crate) struct ConfigurationDto {
    /// The URL of the service, which identifies it.
    #[schema(example = "https://iam.example.com")]
    policy_decision_point: String,
    /// Where one evaluation is sent.
    #[schema(example = "https://iam.example.com/access/v1/evaluation")]
    access_evaluation_endpoint: String,
    /// Where several evaluations are sent.
    #[schema(example = "https://iam.example.com/access/v1/evaluations")]
    access_evaluations_endpoint: String,
    /// Where subjects are searched.
    #[schema(example = "https://iam.example.com/access/v1/search/subject")]
    search_subject_endpoint: String,
    /// Where resources are searched.
    #[schema(example = "https://iam.example.com/access/v1/search/resource")]
    search_resource_endpoint: String,
    /// Where actions are searched.
    #[schema(example = "https://iam.example.com/access/v1/search/action")]
    search_action_endpoint: String,
}

/// Get the configuration of AuthZEN
///
/// The metadata of this policy decision point (AuthZEN Authorization API 1.0, section 9). It does not exist if the
/// operator has set no public URL.
#[utoipa::path(
    get,
    path = "/.well-known/authzen-configuration",
    operation_id = "getAuthzenConfiguration",
    tag = AUTHORIZATION,
    responses((status = 200, description = "The configuration", body = ConfigurationDto), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public")), ("x-problems" = json!(["not-found"]))),
)]
pub(crate) async fn get(
    State(settings): State<Arc<Settings>>,
) -> Result<([(HeaderName, &'static str); 1], Json<ConfigurationDto>), Problem> {
    let url = settings.public_url.as_deref().ok_or_else(Problem::nothing_here)?.trim_end_matches('/');
    let configuration = ConfigurationDto {
        policy_decision_point: url.to_owned(),
        access_evaluation_endpoint: format!("{url}/access/v1/evaluation"),
        access_evaluations_endpoint: format!("{url}/access/v1/evaluations"),
        search_subject_endpoint: format!("{url}/access/v1/search/subject"),
        search_resource_endpoint: format!("{url}/access/v1/search/resource"),
        search_action_endpoint: format!("{url}/access/v1/search/action"),
    };
    Ok(([(header::CACHE_CONTROL, "public, max-age=300")], Json(configuration)))
}
