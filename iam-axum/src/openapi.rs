//! The OpenAPI document and Swagger UI.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::{io, mem};

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::map_response;
use axum::response::{Redirect, Response as AnyResponse};
use axum::routing::get;
use tokio::sync::OnceCell;
use utoipa::OpenApi as _;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{OpenApi, PathItem, Server, ServerBuilder};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::book::{self, BOOK};
use crate::description::{describe_optional_bodies, describe_problems, tags};
use crate::operations::{operations, operations_at_the_root};
use crate::problem::{FieldErrorDocument, Kind, Problem, ProblemDocument};
use crate::properties::describe_properties;
use crate::settings::Settings;
use crate::state::ApiState;
use crate::static_file::{self, StaticFile};

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
    document.merge(at_the_root(document_of(&operations_at_the_root(&settings.parts))));
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
/// use iam_axum::{ApiPart, Settings, merge_openapi};
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
/// # Ok::<(), iam_axum::OpenApiConflict>(())
/// ```
///
/// # Errors
///
/// [`OpenApiConflict`] if the document of the host program uses the same name for something else. The document then
/// stays unchanged.
pub fn merge_openapi(host: &mut OpenApi, prefix: &str, settings: &Settings) -> Result<(), OpenApiConflict> {
    let mut own = Document::openapi();
    own.merge(document_of(operations(&settings.parts)));
    complete(&mut own, &settings.problem_type_base);
    let mut paths: BTreeMap<String, PathItem> = mem::take(&mut own.paths.paths)
        .into_iter()
        .map(|(path, item)| (format!("{}{path}", prefix.trim_end_matches('/')), item))
        .collect();
    if let Some(conflict) = conflict(host, &own, &mut paths) {
        return Err(conflict);
    }
    host.paths.paths.extend(paths);
    own.servers = None;
    host.merge(own);
    Ok(())
}

/// A name that has different meanings in the host program's OpenAPI document and in that of the API.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the host's OpenAPI document has another {what} {name}")]
pub struct OpenApiConflict {
    what: &'static str,
    name: String,
}

fn conflict(host: &mut OpenApi, own: &OpenApi, paths: &mut BTreeMap<String, PathItem>) -> Option<OpenApiConflict> {
    let conflict = |what, name: &str| Some(OpenApiConflict { what, name: name.to_owned() });
    if let Some(path) = paths.keys().find(|path| host.paths.paths.contains_key(*path)) {
        return conflict("path", path);
    }
    let ids = |item| operations_in(item).filter_map(|operation| operation.operation_id.clone());
    let taken: BTreeSet<String> = host.paths.paths.values_mut().flat_map(ids).collect();
    if let Some(id) = paths.values_mut().flat_map(ids).find(|id| taken.contains(id)) {
        return conflict("operation", &id);
    }
    let (Some(host), Some(own)) = (&host.components, &own.components) else { return None };
    let other = own.schemas.iter().find(|(name, schema)| host.schemas.get(*name).is_some_and(|other| other != *schema));
    if let Some((name, _)) = other {
        return conflict("schema", name);
    }
    let mut responses = own.responses.iter();
    if let Some((name, _)) =
        responses.find(|(name, response)| host.responses.get(*name).is_some_and(|other| other != *response))
    {
        return conflict("response", name);
    }
    let is_other = |scheme| host.security_schemes.get(BEARER).is_some_and(|other| other != scheme);
    own.security_schemes
        .get(BEARER)
        .filter(|scheme| is_other(*scheme))
        .and_then(|_| conflict("security scheme", BEARER))
}

/// Adds the common parts of the operations: the error responses and the security scheme.
fn complete(document: &mut OpenApi, type_base: &str) {
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(BEARER, bearer());
    describe_optional_bodies(all_operations(&mut document.paths.paths));
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

/// Returns all operations, each with its path.
fn all_operations(paths: &mut BTreeMap<String, PathItem>) -> impl Iterator<Item = (&str, &mut Operation)> {
    paths.iter_mut().flat_map(|(path, item)| operations_in(item).map(move |operation| (path.as_str(), operation)))
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

fn document_of<'a>(operations: impl IntoIterator<Item = &'a UtoipaMethodRouter<ApiState>>) -> OpenApi {
    operations.into_iter().cloned().fold(OpenApiRouter::new(), OpenApiRouter::routes).into_openapi()
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

/// The content security policy, which allows the needs of Swagger UI: its own files, images that are embedded in these
/// files, the one style that its script inserts, and the API at the same origin. No site may show Swagger UI in a
/// frame. The digest is that of the style in this version; the browser test fails when a new version has another
/// digest.
const POLICY: &str = "default-src 'none'; script-src 'self'; \
                      style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; img-src 'self' data:; \
                      font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The files of Swagger UI that its page loads. The page itself is also that of the directory.
const SWAGGER_UI: [(&str, &str); 9] = [
    ("index.html", "text/html; charset=utf-8"),
    ("index.css", "text/css; charset=utf-8"),
    ("swagger-ui.css", "text/css; charset=utf-8"),
    ("swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
    ("swagger-ui-standalone-preset.js", "text/javascript; charset=utf-8"),
    ("oauth2-redirect.html", "text/html; charset=utf-8"),
    ("oauth2-redirect.js", "text/javascript; charset=utf-8"),
    ("favicon-16x16.png", "image/png"),
    ("favicon-32x32.png", "image/png"),
];

/// Returns the routes `/openapi.json`, Swagger UI at `/docs` with built-in assets, and the book.
pub(crate) fn swagger_ui(settings: Settings) -> Router {
    let document = Arc::new(OnceCell::new());
    let settings = Arc::new(settings);
    let show = async move |headers: HeaderMap| {
        let settings = Arc::clone(&settings);
        let make = move || StaticFile::new("application/json", openapi(&settings).to_json()?);
        Ok::<_, Problem>(static_file::once(&document, make).await?.response(&headers))
    };
    let guarded = async |mut response: AnyResponse| {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        response
    };
    Router::new()
        .route("/openapi.json", get(show))
        .route("/docs", get(async || Redirect::to("/docs/")))
        .route("/docs/", get(async |headers: HeaderMap| swagger_ui_file("index.html", &headers).await))
        .route(
            "/docs/{file}",
            get(async |Path(name): Path<String>, headers: HeaderMap| swagger_ui_file(&name, &headers).await),
        )
        .merge(book::routes())
        .layer(map_response(guarded))
}

async fn swagger_ui_file(name: &str, headers: &HeaderMap) -> Result<AnyResponse, Problem> {
    static FILES: OnceCell<BTreeMap<&str, StaticFile>> = OnceCell::const_new();
    let files = static_file::once(&FILES, swagger_ui_files).await?;
    let file = files.get(name).ok_or_else(|| Problem::new(Kind::NotFound).detail("Swagger UI has no such file."))?;
    Ok(file.response(headers))
}

fn swagger_ui_files() -> io::Result<BTreeMap<&'static str, StaticFile>> {
    let initializer = "swagger-initializer.js";
    let own = StaticFile::new("text/javascript; charset=utf-8", include_str!("swagger-initializer.js"))?;
    let mut files = BTreeMap::from([(initializer, own)]);
    for (name, content_type) in SWAGGER_UI {
        let found =
            utoipa_swagger_ui::serve(name, Arc::default()).map_err(|error| io::Error::other(error.to_string()))?;
        let found = found.ok_or_else(|| io::Error::other(format!("Swagger UI has no {name}")))?;
        files.insert(name, StaticFile::new(content_type, found.bytes.into_owned())?);
    }
    Ok(files)
}
