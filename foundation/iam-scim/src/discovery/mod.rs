//! What the service can do, for clients that ask (RFC 7644, section 4). The absolute URL of the service is the base of
//! all locations.

mod schema;

pub use schema::schemas;

use serde_json::{Value, json};

use crate::custom::CustomSchema;
use crate::query::MAX_COUNT;
use crate::urn;

/// Returns what the service can do (RFC 7643, section 5).
#[must_use]
pub fn service_provider_config(base: &str) -> Value {
    json!({
        "schemas": [urn::SERVICE_PROVIDER_CONFIG],
        "patch": { "supported": true },
        "bulk": { "supported": false, "maxOperations": 0, "maxPayloadSize": 0 },
        "filter": { "supported": true, "maxResults": MAX_COUNT },
        "changePassword": { "supported": false },
        "sort": { "supported": true },
        "etag": { "supported": true },
        "authenticationSchemes": [{
            "type": "oauthbearertoken",
            "name": "API key",
            "description": "An API key of the service account of the directory",
            "primary": true,
        }],
        "meta": {
            "resourceType": "ServiceProviderConfig",
            "location": format!("{base}/ServiceProviderConfig"),
        },
    })
}

/// Returns the types of resources (RFC 7643, section 6): users and groups. Users have the extension of the tenant if it is
/// not empty. The `id` of each is the last segment of its
/// URL.
#[must_use]
pub fn resource_types(base: &str, custom: &CustomSchema) -> Vec<Value> {
    let extension = |urn: &str| json!({ "schema": urn, "required": false });
    let mut extensions = vec![extension(urn::ENTERPRISE_USER)];
    if !custom.is_empty() {
        extensions.push(extension(urn::CUSTOM_USER));
    }
    vec![
        resource_type(base, "User", ("/Users", "A person"), urn::USER, json!(extensions)),
        resource_type(base, "Group", ("/Groups", "A group of users"), urn::GROUP, json!([])),
    ]
}

fn resource_type(
    base: &str,
    name: &str,
    (endpoint, description): (&str, &str),
    schema: &str,
    extensions: Value,
) -> Value {
    json!({
        "schemas": [urn::RESOURCE_TYPE],
        "id": name,
        "name": name,
        "description": description,
        "endpoint": endpoint,
        "schema": schema,
        "schemaExtensions": extensions,
        "meta": { "resourceType": "ResourceType", "location": format!("{base}/ResourceTypes/{name}") },
    })
}
