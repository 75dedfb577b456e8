use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use iam_core::directory::{ProvisionedUser, entity_tag, resource_of};
use iam_scim::Meta;
use serde_json::Value;

use crate::problem::SCIM_JSON;
use crate::scim::request::Shown;

/// A document of SCIM.
pub(super) struct Scim(pub(super) Value);

impl IntoResponse for Scim {
    fn into_response(self) -> Response {
        let content_type = [(header::CONTENT_TYPE, HeaderValue::from_static(SCIM_JSON))];
        (content_type, self.0.to_string()).into_response()
    }
}

/// Returns a user as a directory sees it: what the directory has said of it, with its address and its entity tag.
pub(super) fn resource(base: &str, found: &ProvisionedUser) -> Value {
    let meta = Meta {
        created: found.entry.created_at,
        last_modified: found.last_modified(),
        location: location(base, found),
        version: entity_tag(found),
    };
    resource_of(found).render(&found.user.id.to_string(), &meta, &[])
}

/// Returns the answer with one user.
pub(super) fn user(status: StatusCode, found: &ProvisionedUser, shown: &Shown) -> Response {
    let shown_user = shown.projection.apply(resource(&shown.base, found));
    let mut response = (status, Scim(shown_user)).into_response();
    let mut add = |name: HeaderName, text: String| {
        // The host in an address is the text of a client.
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(name, value);
        }
    };
    add(header::LOCATION, location(&shown.base, found));
    add(header::ETAG, entity_tag(found));
    response
}

fn location(base: &str, found: &ProvisionedUser) -> String {
    format!("{base}/Users/{}", found.user.id)
}
