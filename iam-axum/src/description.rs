//! What the descriptions of all operations share: their tags and their error responses.

use std::collections::BTreeMap;

use utoipa::IntoResponses;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};

pub(crate) const AUTHENTICATION: &str = "Authentication";
pub(crate) const USERS: &str = "Users";
pub(crate) const ROLES: &str = "Roles";
pub(crate) const ROLE_ASSIGNMENTS: &str = "Role assignments";
pub(crate) const ORGANIZATIONS: &str = "Organizations";
pub(crate) const AUTHORIZATION: &str = "Authorization";
pub(crate) const SESSIONS: &str = "Sessions";
pub(crate) const TENANTS: &str = "Tenants";
pub(crate) const AUDIT_LOGS: &str = "Audit logs";
pub(crate) const HEALTH: &str = "Health";

/// The error responses that all operations share.
pub(crate) struct Problems;

impl IntoResponses for Problems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let response = ResponseBuilder::new()
            .description("A problem document that says what went wrong")
            .content("application/problem+json", problem)
            .build();
        BTreeMap::from([("default".to_owned(), response.into())])
    }
}
