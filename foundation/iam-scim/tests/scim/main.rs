//! What Entra ID, Okta and others send is read as they mean it, and what they must not send is refused.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod discovery;
mod filter;
mod group;
mod group_patch;
mod patch;
mod property;
mod query;
mod user;

use iam_scim::{Meta, ScimError};
use serde_json::{Value, json};

const USER: &str = "urn:ietf:params:scim:schemas:core:2.0:User";
const GROUP: &str = "urn:ietf:params:scim:schemas:core:2.0:Group";
const ENTERPRISE: &str = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const BASE: &str = "https://iam.example.com/scim/v2";

/// The kind of an error 400.
fn kind(error: &ScimError) -> &'static str {
    assert_eq!(error.status, 400, "{error:?}");
    error.scim_type.expect("the error has a kind").as_str()
}

/// The body of a request by PATCH.
fn patch_op(operations: Value) -> Value {
    json!({ "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": operations })
}

fn meta(location: &str) -> Meta {
    Meta {
        created: "2026-01-31T09:15:00Z".parse().unwrap(),
        last_modified: "2026-02-01T09:15:00.5Z".parse().unwrap(),
        location: format!("{BASE}/{location}"),
        version: r#"W/"7""#.to_owned(),
    }
}

#[test]
fn an_error_has_the_form_of_the_protocol() {
    let error = ScimError::new(409, Some(iam_scim::ScimType::Uniqueness), "userName is taken");
    let schemas = ["urn:ietf:params:scim:api:messages:2.0:Error"];
    let body = json!({ "schemas": schemas, "status": "409", "scimType": "uniqueness", "detail": "userName is taken" });
    assert_eq!(error.body(), body);
    let without_kind = ScimError::new(404, None, "there is no such user").body();
    assert_eq!(without_kind, json!({ "schemas": schemas, "status": "404", "detail": "there is no such user" }));
}
