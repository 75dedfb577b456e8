#![doc = include_str!("../README.md")]

mod accept;
mod access;
mod assignment;
mod audit;
mod conditional;
mod context;
mod credential;
mod deprecation;
mod extract;
mod guard;
mod health;
mod idempotency;
mod metrics;
mod openapi;
mod organization;
mod page;
mod permission;
mod problem;
pub mod rate_limit;
mod role;
mod session;
mod settings;
mod tenant;
mod time;
mod token;
mod user;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRef};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::Response;
use conditional::conditional;
use iam_core::Iam;
use idempotency::once;
use tower::util::option_layer;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate as _, SizeAbove};
use tower_http::cors::{AllowOrigin, CorsLayer};
use tower_http::timeout::{RequestBodyDeadlineLayer, TimeoutLayer};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

pub use context::TraceId;
pub use deprecation::Deprecation;
pub use extract::{Authenticated, Body, PathId, Query};
pub use guard::RequirePermission;
pub use metrics::Metrics;
pub use openapi::openapi;
pub use problem::{Kind, Problem};
pub use settings::Settings;

/// How large a request body may be (`decisions.md` §1).
const MAX_BODY: usize = 256 * 1024;

/// What every handler works with.
#[derive(Clone)]
struct ApiState {
    iam: Iam,
    settings: Arc<Settings>,
}

impl FromRef<ApiState> for Iam {
    fn from_ref(state: &ApiState) -> Self {
        state.iam.clone()
    }
}

impl FromRef<ApiState> for Arc<Settings> {
    fn from_ref(state: &ApiState) -> Self {
        Self::clone(&state.settings)
    }
}

/// The API with unprefixed paths, for whoever mounts it under a prefix of its own.
///
/// ```
/// use std::sync::Arc;
///
/// use axum::Router;
/// use iam_core::{Iam, memory::MemoryStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> iam_core::Result<()> {
/// let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await?;
/// let app: Router = Router::new().nest("/iam/v1", iam_axum::router(iam, iam_axum::Settings::default()));
/// # Ok(())
/// # }
/// ```
pub fn router(iam: Iam, settings: Settings) -> Router {
    let state = ApiState { iam, settings: Arc::new(settings.clone()) };
    let api = operations().split_for_parts().0.with_state(state.clone());
    with_conventions(limited(api, state), settings)
}

/// Everything that the reference server answers: the API under the prefix of the [`Settings`] and, as an alias,
/// without it; at the root `/.well-known/jwks.json`, `/openapi.json`, Swagger UI at `/docs`, and `/metrics` where the
/// settings have them.
pub fn service(iam: Iam, settings: Settings) -> Router {
    let prefix = settings.prefix().to_owned();
    let document = openapi(&settings);
    let state = ApiState { iam, settings: Arc::new(settings.clone()) };
    let api = operations().split_for_parts().0;
    let prefixed = if prefix.is_empty() { Router::new() } else { Router::new().nest(&prefix, api.clone()) };
    let metrics = settings.metrics.as_ref().filter(|_| settings.shows_metrics);
    let metrics = metrics.map_or_else(Router::new, |metrics| metrics.router(state.iam.clone()));
    let composed = prefixed
        .merge(api)
        .merge(operations_at_the_root().split_for_parts().0)
        .with_state(state.clone())
        .merge(metrics)
        .merge(openapi::swagger_ui(document));
    with_conventions(limited(composed, state), settings)
}

/// Every operation of the API, by the path without prefix.
fn operations() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(with_tokens(once(routes!(session::register))))
        .routes(with_tokens(routes!(session::login)))
        .routes(with_tokens(routes!(session::refresh)))
        .routes(routes!(session::logout))
        .routes(routes!(session::logout_all))
        .routes(routes!(credential::change_password))
        .routes(routes!(session::me))
        .routes(once(routes!(user::list, user::create)))
        .routes(conditional(routes!(user::get, user::update, user::delete)))
        .routes(routes!(user::suspend))
        .routes(routes!(user::reactivate))
        .routes(routes!(assignment::of_user))
        .routes(routes!(session::list))
        .routes(routes!(session::terminate))
        .routes(once(routes!(permission::list, permission::create)))
        .routes(routes!(permission::delete))
        .routes(once(routes!(role::list, role::create)))
        .routes(conditional(routes!(role::get, role::update, role::delete)))
        .routes(once(routes!(assignment::list, assignment::create)))
        .routes(routes!(assignment::update, assignment::delete))
        .routes(once(routes!(assignment::create_all)))
        .routes(once(routes!(organization::list, organization::create)))
        .routes(conditional(routes!(organization::get, organization::update, organization::delete)))
        .routes(routes!(organization::tree))
        .routes(routes!(organization::children))
        .routes(routes!(organization::ancestors))
        .routes(routes!(access::check))
        .routes(routes!(access::check_all))
        .routes(conditional(routes!(tenant::get, tenant::update)))
        .routes(once(routes!(audit::list, audit::create)))
        .routes(routes!(audit::resource_types))
        .routes(routes!(audit::actions))
        .routes(routes!(audit::catalogue))
        .routes(routes!(audit::export::export))
        .routes(routes!(audit::proof::checkpoint))
        .routes(routes!(audit::proof::consistency))
        .routes(routes!(audit::retention::get, audit::retention::set))
        .routes(routes!(audit::retention::apply))
        .routes(routes!(audit::erasure::create))
        .routes(routes!(audit::get))
        .routes(routes!(audit::proof::inclusion))
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
        .routes(routes!(health::live))
}

/// The operations that have their place at the root, whatever the prefix.
fn operations_at_the_root() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(token::jwks))
}

/// Bounds bodies and how many requests there may be, and answers for paths that are none.
///
/// The layers are one: the router puts each that it is given into a box of its own, and clones all of them for every
/// request.
fn limited(router: Router, state: ApiState) -> Router {
    router.fallback(|| async { Problem::new(Kind::NotFound).detail("There is nothing at this path.") }).layer((
        option_layer(cors(&state.settings.cors_origins)),
        CompressionLayer::new().gzip(true).compress_when(SizeAbove::new(1024).and(may_be_compressed)),
        // Outside of the rate limits: whose request it is may have to be asked of a store that does not answer.
        TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, state.settings.request_timeout),
        from_fn_with_state(state.clone(), rate_limit::limit),
        RequestBodyDeadlineLayer::new(state.settings.request_timeout / 2),
        DefaultBodyLimit::max(MAX_BODY),
    ))
}

/// What has no entity tag, which would have to be another one for other bytes, and says nothing of tokens. Beside
/// something that an attacker can have sent, the length of a compressed answer would tell a secret in it bit by bit
/// (BREACH).
fn may_be_compressed(_: StatusCode, _: Version, headers: &HeaderMap, extensions: &Extensions) -> bool {
    !headers.contains_key(header::ETAG) && extensions.get::<HasTokens>().is_none()
}

/// Marks an answer with tokens.
#[derive(Clone, Copy)]
struct HasTokens;

/// Operations that answer with tokens.
fn with_tokens((schemas, paths, router): UtoipaMethodRouter<ApiState>) -> UtoipaMethodRouter<ApiState> {
    let mark = async |mut response: Response| {
        response.extensions_mut().insert(HasTokens);
        response
    };
    (schemas, paths, router.layer(map_response(mark)))
}

/// Lets web pages of these origins use the API. Tokens go in a header, so no cookies are ever allowed.
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
            "traceparent",
            "tracestate",
            "x-correlation-id",
        ]))
        .expose_headers(named(&[
            "deprecation",
            "etag",
            "idempotent-replayed",
            "link",
            "retry-after",
            "sunset",
            "x-correlation-id",
            "x-ratelimit-limit",
            "x-ratelimit-remaining",
            "x-ratelimit-reset",
        ]))
        .max_age(Duration::from_secs(3600));
    Some(layer)
}

/// Gives every route of a host what the API's own routes have: a correlation id, a request context for audit entries,
/// security headers, problem documents for every error answer, and a 500 in place of a panic.
///
/// For layers around it, the extensions of every answer hold the [`RequestContext`](iam_core::RequestContext) and, where
/// the request proved whose it is, the [`Caller`](iam_core::Caller).
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
    router.layer((
        from_fn_with_state(Arc::new(settings), context::conventions),
        CatchPanicLayer::custom(problem::from_panic),
    ))
}
