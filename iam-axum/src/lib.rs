#![doc = include_str!("../README.md")]
#![doc = include_str!("overview.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod accept;
mod access;
mod access_request;
mod access_review;
mod account;
mod api_key;
mod assignment;
mod attribute;
mod audit;
mod authzen;
mod book;
mod conditional;
mod context;
mod credential;
mod demand;
mod description;
mod directory;
mod domain;
mod eligibility;
mod email_login;
mod event;
mod extract;
mod factor;
mod federation;
mod guarded;
mod health;
mod idempotency;
mod identity_provider;
mod impersonation;
mod introspection;
mod invitation;
mod legal_hold;
mod long;
mod manifest;
mod metrics;
mod openapi;
mod operations;
mod organization;
mod page;
#[cfg(feature = "passkeys")]
mod passkey;
mod permission;
mod pieces;
mod preview;
mod problem;
mod properties;
pub mod rate_limit;
mod rate_limiting;
mod recovery;
mod request_state;
mod require_fresh;
mod require_permission;
mod role;
mod scim;
mod scim_url;
mod session;
mod settings;
mod spreadsheet;
mod state;
mod static_file;
mod sync_middleware;
mod tenant;
mod time;
mod token;
mod unused;
mod user;
mod user_export;
mod verification;
mod webhook;

use std::any::Any;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{self, Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{Route, get};
use axum::{Router, body};
use iam_core::Iam;
use tower::util::option_layer;
use tower::{Layer, Service};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate as _, SizeAbove};
use tower_http::compression::{CompressionBody, CompressionLayer};
use tower_http::cors::{AllowOrigin, CorsLayer};
use tower_http::timeout::TimeoutLayer;

use crate::conditional::NotModified;
use crate::context::Conventions;
use crate::extract::BodyDeadline;
use crate::operations::{operations, operations_at_the_root, routes};
use crate::pieces::InPieces;
use crate::rate_limiting::Paths;
use crate::request_state::ResponseState;
use crate::state::ApiState;
use crate::sync_middleware::{SyncMiddlewareLayer, sync_middleware};

pub use access_review::access_review_file;
pub use attribute::attributes_of_json;
pub use context::TraceId;
pub use extract::{Authenticated, Body, Call, Context, PathId, Query};
pub use metrics::Metrics;
pub use openapi::{OpenApiConflict, merge_openapi, openapi};
pub use problem::{Kind, Problem};
pub use rate_limiting::charge;
pub use request_state::HumanPage;
pub use require_fresh::RequireFresh;
pub use require_permission::RequirePermission;
pub use settings::{ApiPart, Settings};
pub use user_export::{UserExportFormat, user_export_file};

/// The maximum size of a request body, in bytes (`docs/http-api.md#bodies`).
const MAX_BODY: usize = 256 * 1024;

/// Returns the API with unprefixed paths, which a host program mounts under a prefix of its own.
///
/// The router contains the [`parts`](Settings::parts) of the API that the settings name. [`merge_openapi`] adds their
/// operations to the host program's own OpenAPI document.
///
/// ```
/// use std::sync::Arc;
///
/// use axum::Router;
/// use iam_core::Iam;
/// use iam_store_memory::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> iam_core::Result<()> {
/// let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await?;
/// let app: Router = Router::new().nest("/iam/v1", iam_axum::router(iam, iam_axum::Settings::default()));
/// # Ok(())
/// # }
/// ```
pub fn router(iam: Iam, settings: Settings) -> Router {
    let state = ApiState::new(iam, settings);
    let api = routes(operations(&state.settings.parts), &[""]);
    let api = api.merge(scim::routes(&state)).with_state(state.clone());
    with_layers(api, state)
}

/// Returns everything that the reference server serves.
///
/// The API has the prefix of the [`Settings`] and, as an alias, no prefix. At the root are `/.well-known/jwks.json`,
/// `/.well-known/authzen-configuration`, `/scim/v2` for directories, and, if the settings enable them, `/openapi.json`,
/// Swagger UI at `/docs` with the book, `/metrics`, and the pages under `/account` to which the links in messages lead.
pub fn service(iam: Iam, settings: Settings) -> Router {
    let state = ApiState { is_whole: true, ..ApiState::new(iam, settings.clone()) };
    let prefixes = if settings.prefix().is_empty() { vec![""] } else { vec!["", settings.prefix()] };
    let metrics = settings.metrics.as_ref().filter(|_| settings.shows_metrics);
    let metrics = metrics.map_or_else(Router::new, |metrics| metrics.router_beside_api(state.iam.clone()));
    let pages = account::routes(|part| settings.shows_account_pages && settings.parts.contains(&part));
    let composed = routes(operations(&settings.parts), &prefixes)
        .merge(routes(&operations_at_the_root(&settings.parts), &[""]))
        .merge(scim::routes(&state))
        .merge(pages)
        .with_state(state.clone())
        .merge(metrics);
    let composed = if settings.shows_docs { composed.merge(openapi::swagger_ui(settings)) } else { composed };
    with_layers(composed, state)
}

/// Returns the router of a server while its services start, for instance while the database is migrated: `/health/live`
/// says that the process is alive, and everything else is a 503 that asks the client to come back.
pub fn starting(settings: Settings) -> Router {
    let prefixes = BTreeSet::from(["", settings.prefix()]);
    let router = prefixes.into_iter().fold(Router::new(), |router, prefix| {
        let router = router.route(&format!("{prefix}/health/live"), get(health::live));
        router.route(&format!("{prefix}/health/ready"), get(health::starting))
    });
    let later = || async { Problem::unavailable().detail("The service is starting. Try again in a moment.") };
    with_conventions(router.fallback(later), settings)
}

/// Gives every route of a host program the limits of the API's own routes: on the number of requests, on the time of a
/// request, and on the size of its body. Large responses are compressed, and a panic becomes a 500.
///
/// Every request counts, on every path. A layer around the router may have put an access token into the request.
/// Then the request counts for its user. Put [`with_conventions`] around it: without them, clients are not told apart
/// behind a proxy.
pub fn with_limits(router: Router, iam: Iam, settings: Settings) -> Router {
    router.layer((catch_panic(), limits(ApiState::new(iam, settings), Paths::OfHost)))
}

/// Adds the response for unknown paths, the limits and the conventions.
fn with_layers(router: Router, state: ApiState) -> Router {
    limited(router.fallback(|| async { Problem::nothing_here() }), state)
}

/// Adds the limits and the conventions.
///
/// All layers are passed as one. The router puts every layer that it receives into a box of its own, and clones all
/// boxes for every request.
fn limited(router: Router, state: ApiState) -> Router {
    router.layer((conventions(Arc::clone(&state.settings)), limits(state, Paths::OfApi)))
}

/// Returns the limits on request bodies, on their time and on the number of requests.
fn limits(
    state: ApiState,
    paths: Paths,
) -> impl Layer<
    Route,
    Service = impl Service<
        Request,
        Response = http::Response<CompressionBody<body::Body>>,
        Error = Infallible,
        Future: Send + 'static,
    > + Clone
              + Send
              + Sync
              + 'static,
> + Clone
+ Send
+ Sync
+ 'static {
    let counts = state.settings.rate_limiter.is_some();
    (
        option_layer(cors(&state.settings.cors_origins)),
        CompressionLayer::new()
            .gzip(true)
            .compress_when(SizeAbove::new(1024).and(NotForContentType::SSE).and(may_be_compressed)),
        // Outside of the rate limits: these may query the store to identify the user, and the store may not answer.
        TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, state.settings.request_timeout),
        option_layer(counts.then(|| from_fn_with_state((state.clone(), paths), rate_limiting::limit))),
        sync_middleware(BodyDeadline(state.settings.request_timeout / 2)),
        sync_middleware(NotModified),
        sync_middleware(InPieces),
        DefaultBodyLimit::max(MAX_BODY),
    )
}

/// Whether a response may be compressed: it has no entity tag and contains no tokens.
///
/// Compressed bytes would need a different entity tag. If a response contains a secret beside text that an attacker
/// can choose, the length of the compressed response reveals the secret bit by bit (BREACH).
fn may_be_compressed(_: StatusCode, _: Version, headers: &HeaderMap, extensions: &Extensions) -> bool {
    !headers.contains_key(header::ETAG) && !ResponseState::has_tokens(extensions)
}

/// Lets web pages of these origins use the API. Tokens are sent in a header, so cookies are never allowed.
fn cors(origins: &[HeaderValue]) -> Option<CorsLayer> {
    if origins.is_empty() {
        return None;
    }
    let named = |names: &[&'static str]| names.iter().map(|name| HeaderName::from_static(name)).collect::<Vec<_>>();
    let layer = CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins.to_vec()))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers(named(&[
            "authorization",
            "content-type",
            "idempotency-key",
            "if-match",
            "if-none-match",
            "last-event-id",
            "traceparent",
            "tracestate",
            "x-correlation-id",
            "x-request-id",
        ]))
        .expose_headers(named(&[
            "deprecation",
            "etag",
            "idempotent-replayed",
            "link",
            "retry-after",
            "sunset",
            "www-authenticate",
            "x-correlation-id",
            "x-ratelimit-limit",
            "x-ratelimit-remaining",
            "x-ratelimit-reset",
            "x-request-id",
        ]))
        .max_age(Duration::from_secs(3600));
    Some(layer)
}

/// Gives every route of a host program the additions of the API's own routes: a correlation id, a request context for
/// audit entries, security headers, a problem document for every error response, and a 500 in place of a panic.
///
/// For layers around it, the extensions of every response hold the [`RequestContext`](iam_core::RequestContext) and,
/// if the request was authenticated, the [`Caller`](iam_core::Caller).
///
/// ```
/// use axum::{Router, routing::get};
/// use iam_axum::{Settings, with_conventions};
/// use iam_core::Iam;
///
/// fn app(iam: Iam) -> Router {
///     let host = Router::new().route("/hello", get(|| async { "hello" }));
///     with_conventions(host.nest("/iam", iam_axum::router(iam, Settings::default())), Settings::default())
/// }
/// ```
pub fn with_conventions(router: Router, settings: Settings) -> Router {
    router.layer(conventions(Arc::new(settings)))
}

fn conventions(settings: Arc<Settings>) -> (SyncMiddlewareLayer<Conventions>, CatchPanicLayer<FromPanic>) {
    (sync_middleware(Conventions(settings)), catch_panic())
}

fn catch_panic() -> CatchPanicLayer<FromPanic> {
    CatchPanicLayer::custom(problem::from_panic as FromPanic)
}

type FromPanic = fn(Box<dyn Any + Send>) -> Response;
