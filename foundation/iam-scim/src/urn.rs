//! The names of schemas and messages (RFC 7643, section 10.3; RFC 7644, section 8.2).

/// The schema of users.
pub const USER: &str = "urn:ietf:params:scim:schemas:core:2.0:User";
/// The extension of users with what a company says of its people.
pub const ENTERPRISE_USER: &str = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
/// The extension of users with the attributes that a tenant has defined. Its form is the one that Entra ID asks for.
pub const CUSTOM_USER: &str = "urn:ietf:params:scim:schemas:extension:iam:2.0:User";
/// The schema of groups.
pub const GROUP: &str = "urn:ietf:params:scim:schemas:core:2.0:Group";
/// The schema of schemas.
pub const SCHEMA: &str = "urn:ietf:params:scim:schemas:core:2.0:Schema";
/// The schema of types of resources.
pub const RESOURCE_TYPE: &str = "urn:ietf:params:scim:schemas:core:2.0:ResourceType";
/// The schema of what a service can do.
pub const SERVICE_PROVIDER_CONFIG: &str = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig";
/// The message with a page of a list.
pub const LIST_RESPONSE: &str = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
/// The message with a query.
pub const SEARCH_REQUEST: &str = "urn:ietf:params:scim:api:messages:2.0:SearchRequest";
/// The message with changes.
pub const PATCH_OP: &str = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
/// The message with an error.
pub const ERROR: &str = "urn:ietf:params:scim:api:messages:2.0:Error";
