use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use iam_core::UserId;
use iam_core::directory::{self, DirectoryGroup, ProvisionedUser, entity_tag, group_entity_tag, resource_of};
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
pub(super) fn user_resource(base: &str, found: &ProvisionedUser) -> Value {
    let meta = Meta {
        created: found.entry.created_at,
        last_modified: found.last_modified(),
        location: user_location(base, found),
        version: entity_tag(found),
    };
    resource_of(found).render(&found.user.id.to_string(), &meta)
}

/// Returns a group as its directory sees it. It has its members if they are given.
pub(super) fn group_resource(base: &str, group: &DirectoryGroup, members: Option<&[UserId]>) -> Value {
    let meta = Meta {
        created: group.created_at,
        last_modified: group.updated_at,
        location: group_location(base, group),
        version: group_entity_tag(group),
    };
    directory::group_resource(group, members).render(&group.id.to_string(), &meta, &format!("{base}/Users"))
}

/// Returns the answer with one user.
pub(super) fn user(status: StatusCode, found: &ProvisionedUser, shown: &Shown) -> Response {
    let resource = user_resource(&shown.base, found);
    one(status, resource, user_location(&shown.base, found), entity_tag(found), shown)
}

/// Returns the answer with one group, and with its members if they are given.
pub(super) fn group(status: StatusCode, group: &DirectoryGroup, members: Option<&[UserId]>, shown: &Shown) -> Response {
    let resource = group_resource(&shown.base, group, members);
    one(status, resource, group_location(&shown.base, group), group_entity_tag(group), shown)
}

fn one(status: StatusCode, resource: Value, location: String, tag: String, shown: &Shown) -> Response {
    let mut response = (status, Scim(shown.projection.apply(resource))).into_response();
    let mut add = |name: HeaderName, text: String| {
        // The host in an address is the text of a client.
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(name, value);
        }
    };
    add(header::LOCATION, location);
    add(header::ETAG, tag);
    response
}

fn user_location(base: &str, found: &ProvisionedUser) -> String {
    format!("{base}/Users/{}", found.user.id)
}

fn group_location(base: &str, group: &DirectoryGroup) -> String {
    format!("{base}/Groups/{}", group.id)
}
