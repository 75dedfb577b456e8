//! What the service can do. It is public. A directory that sends its key also sees the attributes that its tenant has
//! defined.

use axum::extract::{FromRef as _, FromRequestParts, Path};
use axum::http::request::Parts;
use iam_core::Iam;
use iam_core::directory::CustomSchema;
use iam_scim::{discovery, list_response};
use serde_json::Value;

use crate::extract::{Authenticated, bearer_token};
use crate::problem::{Kind, Problem};
use crate::scim::answer::Scim;
use crate::scim::error::Refusal;
use crate::scim_url::ScimUrl;
use crate::state::ApiState;

/// `GET /ServiceProviderConfig`
pub(super) async fn config(ScimUrl(base): ScimUrl) -> Scim {
    Scim(discovery::service_provider_config(&base))
}

/// `GET /ResourceTypes`
pub(super) async fn resource_types(Custom(custom): Custom, ScimUrl(base): ScimUrl) -> Scim {
    all(discovery::resource_types(&base, &custom))
}

/// `GET /ResourceTypes/{id}`
pub(super) async fn resource_type(
    Custom(custom): Custom,
    ScimUrl(base): ScimUrl,
    Path(id): Path<String>,
) -> Result<Scim, Problem> {
    one(discovery::resource_types(&base, &custom), &id)
}

/// `GET /Schemas`
pub(super) async fn schemas(Custom(custom): Custom, ScimUrl(base): ScimUrl) -> Scim {
    all(discovery::schemas(&base, &custom))
}

/// `GET /Schemas/{id}`
pub(super) async fn schema(
    Custom(custom): Custom,
    ScimUrl(base): ScimUrl,
    Path(id): Path<String>,
) -> Result<Scim, Problem> {
    one(discovery::schemas(&base, &custom), &id)
}

/// The attributes that the tenant of the sender has defined. Empty for a sender without the key of a directory: the
/// answer is public.
pub(super) struct Custom(CustomSchema);

impl FromRequestParts<ApiState> for Custom {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Refusal> {
        if bearer_token(&parts.headers).is_none() {
            return Ok(Self(CustomSchema::default()));
        }
        let Ok(Authenticated(caller)) = Authenticated::from_request_parts(parts, state).await else {
            return Ok(Self(CustomSchema::default()));
        };
        Ok(Self(Iam::from_ref(state).provisioning().custom_schema(&caller).await?))
    }
}

fn all(documents: Vec<Value>) -> Scim {
    let total = documents.len() as u64;
    Scim(list_response(documents, total, 1))
}

fn one(documents: Vec<Value>, id: &str) -> Result<Scim, Problem> {
    let found = documents.into_iter().find(|document| has_id(document, id));
    found.map(Scim).ok_or_else(|| Problem::new(Kind::NotFound))
}

/// The names of schemas and types have no case.
fn has_id(document: &Value, id: &str) -> bool {
    document.get("id").and_then(Value::as_str).is_some_and(|found| found.eq_ignore_ascii_case(id))
}
