//! The OpenAPI document and Swagger UI.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse as _, Response as AnyResponse};
use axum::routing::get;
use utoipa::OpenApi as _;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{OpenApi, PathItem, Server, ServerBuilder};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_swagger_ui::SwaggerUi;

use crate::book::{self, BOOK};
use crate::description::{describe_problems, tags};
use crate::operations::{operations, operations_at_the_root};
use crate::problem::{FieldErrorDocument, Kind, Problem, ProblemDocument};
use crate::properties::describe_properties;
use crate::settings::Settings;
use crate::state::ApiState;

const BEARER: &str = "bearer";

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Identity, access and audit",
        description = include_str!("introduction.md"),
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    components(schemas(ProblemDocument, FieldErrorDocument))
)]
struct Document;

/// Returns the OpenAPI 3.1 document of the API, mounted under the prefix of the [`Settings`].
#[must_use]
pub fn openapi(settings: &Settings) -> OpenApi {
    let mut document = Document::openapi();
    document.info.version.clone_from(&settings.version);
    document.servers = Some(vec![server(settings.prefix())]);
    let book = settings.shows_docs.then_some(BOOK);
    document.tags = Some(tags(book));
    if let (Some(book), Some(text)) = (book, &mut document.info.description) {
        text.push_str(&format!("\n## Read more\n\n[The book]({book}/introduction) explains the whole service.\n"));
    }
    document.merge(document_of(operations(&settings.parts)));
    document.merge(at_the_root(document_of(operations_at_the_root())));
    complete(&mut document, &settings.problem_type_base);
    document.security = Some(vec![by_token()]);
    document
}

/// Adds the operations of a [`router`](crate::router) with these settings to the OpenAPI document of a host program.
///
/// The host program mounts the router under a prefix, and gets one document for all of its routes. Its own operations
/// stay as they are. If they require an access token, too, they name the security scheme `bearer`.
///
/// ```
/// use iam_axum::{Part, Settings, merge_openapi};
/// use utoipa::OpenApi;
///
/// #[derive(OpenApi)]
/// #[openapi(info(title = "Shop"), paths(refund))]
/// struct Shop;
///
/// #[utoipa::path(post, path = "/refunds", responses((status = 201, description = "Refunded")), security(("bearer" = [])))]
/// async fn refund() {}
///
/// let mut document = Shop::openapi();
/// merge_openapi(&mut document, "/iam", &Settings::default())?;
/// assert!(document.paths.paths.contains_key("/refunds"));
/// assert!(document.paths.paths.contains_key("/iam/users/{id}"));
/// # Ok::<(), iam_axum::Clash>(())
/// ```
///
/// # Errors
///
/// [`Clash`] if the host program's document uses the same name for something else. The document then stays unchanged.
pub fn merge_openapi(host: &mut OpenApi, prefix: &str, settings: &Settings) -> Result<(), Clash> {
    let mut own = Document::openapi();
    own.merge(document_of(operations(&settings.parts)));
    complete(&mut own, &settings.problem_type_base);
    let mut paths: BTreeMap<String, PathItem> = mem::take(&mut own.paths.paths)
        .into_iter()
        .map(|(path, item)| (format!("{}{path}", prefix.trim_end_matches('/')), item))
        .collect();
    if let Some(clash) = clash(host, &own, &mut paths) {
        return Err(clash);
    }
    host.paths.paths.extend(paths);
    own.servers = None;
    host.merge(own);
    Ok(())
}

/// A name that has different meanings in the host program's OpenAPI document and in that of the API.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the host's OpenAPI document has another {what} {name}")]
pub struct Clash {
    what: &'static str,
    name: String,
}

fn clash(host: &mut OpenApi, own: &OpenApi, paths: &mut BTreeMap<String, PathItem>) -> Option<Clash> {
    let clash = |what, name: &str| Some(Clash { what, name: name.to_owned() });
    if let Some(path) = paths.keys().find(|path| host.paths.paths.contains_key(*path)) {
        return clash("path", path);
    }
    let ids = |item| operations_in(item).filter_map(|operation| operation.operation_id.clone());
    let taken: BTreeSet<String> = host.paths.paths.values_mut().flat_map(ids).collect();
    if let Some(id) = paths.values_mut().flat_map(ids).find(|id| taken.contains(id)) {
        return clash("operation", &id);
    }
    let (Some(host), Some(own)) = (&host.components, &own.components) else { return None };
    let other = own.schemas.iter().find(|(name, schema)| host.schemas.get(*name).is_some_and(|other| other != *schema));
    if let Some((name, _)) = other {
        return clash("schema", name);
    }
    let mut responses = own.responses.iter();
    if let Some((name, _)) =
        responses.find(|(name, response)| host.responses.get(*name).is_some_and(|other| other != *response))
    {
        return clash("response", name);
    }
    let is_other = |scheme| host.security_schemes.get(BEARER).is_some_and(|other| other != scheme);
    own.security_schemes.get(BEARER).filter(|scheme| is_other(*scheme)).and_then(|_| clash("security scheme", BEARER))
}

/// Adds what the operations share: the error responses and the security scheme.
fn complete(document: &mut OpenApi, type_base: &str) {
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(BEARER, bearer());
    describe_problems(all_operations(&mut document.paths.paths), components, type_base);
    // A test fails if the texts are invalid.
    let _ = describe_properties(all_operations(&mut document.paths.paths), components);
    for operation in document.paths.paths.values_mut().flat_map(operations_in) {
        // `()` of a public operation becomes `{}`, which means that a token is optional. Generators of clients need the
        // requirement at each operation.
        operation.security = Some(operation.security.as_ref().map_or_else(|| vec![by_token()], |_| Vec::new()));
    }
    remove_unused(document);
}

/// Returns all operations, each with its path and whether it changes something.
fn all_operations(paths: &mut BTreeMap<String, PathItem>) -> impl Iterator<Item = (&str, bool, &mut Operation)> {
    paths.iter_mut().flat_map(|(path, item)| {
        let PathItem { get, put, post, delete, patch, .. } = item;
        let reads = get.iter_mut().map(|operation| (false, operation));
        let changes =
            [put, post, delete, patch].into_iter().filter_map(Option::as_mut).map(|operation| (true, operation));
        reads.chain(changes).map(move |(is_change, operation)| (path.as_str(), is_change, operation))
    })
}

/// Removes the schemas that nothing refers to: those of items that a generic schema has inline.
fn remove_unused(document: &mut OpenApi) {
    let Ok(text) = document.to_json() else { return };
    if let Some(components) = &mut document.components {
        components.schemas.retain(|name, _| text.contains(&format!("\"#/components/schemas/{name}\"")));
    }
}

fn operations_in(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, delete, patch, .. } = item;
    [get, put, post, delete, patch].into_iter().filter_map(Option::as_mut)
}

fn bearer() -> SecurityScheme {
    SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build())
}

fn by_token() -> SecurityRequirement {
    SecurityRequirement::new(BEARER, Vec::<String>::new())
}

fn document_of(operations: Vec<UtoipaMethodRouter<ApiState>>) -> OpenApi {
    operations.into_iter().fold(OpenApiRouter::new(), OpenApiRouter::routes).into_openapi()
}

fn server(url: &str) -> Server {
    ServerBuilder::new().url(if url.is_empty() { "/" } else { url }).build()
}

/// Marks paths that do not have the prefix.
fn at_the_root(mut document: OpenApi) -> OpenApi {
    for path in document.paths.paths.values_mut() {
        path.servers = Some(vec![server("/")]);
    }
    document
}

/// The content security policy, which allows what Swagger UI needs: its own files, images that are embedded in these
/// files, the one style that its script inserts, and the API at the same origin. No site may show Swagger UI in a
/// frame. The digest is that of the style in this version; the browser test fails when a new version has another
/// digest.
const POLICY: &str = "default-src 'none'; script-src 'self'; \
                      style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; img-src 'self' data:; \
                      font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns the routes `/openapi.json`, Swagger UI at `/docs` with built-in assets, and the book.
pub(crate) fn swagger_ui(settings: Settings) -> Router {
    let ui = SwaggerUi::new("/docs");
    let initializer = ([(header::CONTENT_TYPE, "text/javascript")], include_str!("swagger-initializer.js"));
    // Written once, and not for every request: the document is long, and these requests have no rate limit.
    let document = Arc::new(LazyLock::new(move || openapi(&settings).to_json().map(Bytes::from)));
    let show = async move || match &**document {
        Ok(document) => ([(header::CONTENT_TYPE, "application/json")], document.clone()).into_response(),
        Err(error) => {
            tracing::error!(%error, "the OpenAPI document cannot be shown");
            Problem::new(Kind::Internal).into_response()
        }
    };
    let guarded = async |mut response: AnyResponse| {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        response
    };
    Router::new()
        .route("/openapi.json", get(show))
        .route("/docs/swagger-initializer.js", get(async move || initializer))
        .merge(ui)
        .merge(book::routes())
        .layer(map_response(guarded))
}
