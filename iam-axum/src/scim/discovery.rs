//! What the service can do. It is public, and says nothing of a tenant.

use axum::extract::Path;
use iam_scim::{discovery, list_response};
use serde_json::Value;

use crate::problem::{Kind, Problem};
use crate::scim::answer::Scim;
use crate::scim_url::ScimUrl;

/// `GET /ServiceProviderConfig`
pub(super) async fn config(ScimUrl(base): ScimUrl) -> Scim {
    Scim(discovery::service_provider_config(&base))
}

/// `GET /ResourceTypes`
pub(super) async fn resource_types(ScimUrl(base): ScimUrl) -> Scim {
    all(discovery::resource_types(&base))
}

/// `GET /ResourceTypes/{id}`
pub(super) async fn resource_type(ScimUrl(base): ScimUrl, Path(id): Path<String>) -> Result<Scim, Problem> {
    one(discovery::resource_types(&base), &id)
}

/// `GET /Schemas`
pub(super) async fn schemas(ScimUrl(base): ScimUrl) -> Scim {
    all(discovery::schemas(&base))
}

/// `GET /Schemas/{id}`
pub(super) async fn schema(ScimUrl(base): ScimUrl, Path(id): Path<String>) -> Result<Scim, Problem> {
    one(discovery::schemas(&base), &id)
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
