//! The OpenAPI document and Swagger UI.

use std::collections::BTreeMap;

use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::response::IntoResponse as _;
use axum::routing::get;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, Response, ResponseBuilder, Server, ServerBuilder};
use utoipa::{IntoResponses, OpenApi as _};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_swagger_ui::{Config, SwaggerUi};

use crate::problem::{FieldErrorDocument, ProblemDocument};
use crate::{ApiState, Kind, Problem, Settings, operations, operations_at_the_root};

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

const BEARER: &str = "bearer";

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Identity, access and audit",
        description = "Users, sessions, roles and an audit log for many tenants. Every failure is a problem document \
                       (RFC 9457). `x-required-permission` names what an operation asks for: a permission, `session` \
                       (any logged-in user) or `public`.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    components(schemas(ProblemDocument, FieldErrorDocument))
)]
struct Document;

/// The failures that every operation shares.
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

/// The OpenAPI 3.1 document of the API, mounted under the prefix of the [`Settings`].
#[must_use]
pub fn openapi(settings: &Settings) -> OpenApi {
    let mut document = Document::openapi();
    document.info.version.clone_from(&settings.version);
    document.servers = Some(vec![server(settings.prefix())]);
    document.merge(document_of(operations()));
    document.merge(at_the_root(document_of(operations_at_the_root())));
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(BEARER, SecurityScheme::Http(bearer));
    document.security = Some(vec![SecurityRequirement::new(BEARER, Vec::<String>::new())]);
    document
}

fn document_of(operations: Vec<UtoipaMethodRouter<ApiState>>) -> OpenApi {
    operations.into_iter().fold(OpenApiRouter::new(), OpenApiRouter::routes).into_openapi()
}

fn server(url: &str) -> Server {
    ServerBuilder::new().url(if url.is_empty() { "/" } else { url }).build()
}

/// Marks paths that do not carry the prefix.
fn at_the_root(mut document: OpenApi) -> OpenApi {
    for path in document.paths.paths.values_mut() {
        path.servers = Some(vec![server("/")]);
    }
    document
}

/// `/openapi.json`, and Swagger UI at `/docs` with its assets built in.
pub(crate) fn swagger_ui(document: OpenApi) -> Router {
    // By default the page sends the document's address to a validator on the web.
    let config = Config::from("/openapi.json").try_it_out_enabled(true).validator_url("none");
    let ui = SwaggerUi::new("/docs").config(config);
    // Once, and not for whoever asks: it is long, and nobody is limited.
    let document = document.to_json().map(Bytes::from).map_err(|error| error.to_string());
    let show = async move || match document {
        Ok(document) => ([(header::CONTENT_TYPE, "application/json")], document).into_response(),
        Err(error) => {
            tracing::error!(error, "the OpenAPI document cannot be shown");
            Problem::new(Kind::Internal).into_response()
        }
    };
    Router::new().route("/openapi.json", get(show)).merge(ui)
}
