#![doc = include_str!("../README.md")]

mod access;
mod access_requests;
mod access_reviews;
mod account;
mod asking;
mod assets;
mod assignments;
mod attributes;
mod audit;
mod brand;
mod catalogue;
mod charts;
mod confirm;
mod cookie;
mod day;
mod density;
mod device;
mod directories;
mod domains;
mod duration;
mod effects;
mod eligibilities;
mod eligible;
mod errand;
mod filters;
mod find;
mod form;
mod group_names;
mod guard;
mod hands;
mod identity_providers;
mod invitations;
mod keys;
mod language;
mod names;
mod once;
mod organizations;
mod overview;
mod paging;
mod permissions;
mod person;
mod picker;
mod placed_roles;
mod problem;
mod proofs;
mod provider;
mod query;
mod resume;
mod rights;
mod role_matrix;
mod roles;
mod rows;
mod run;
mod runs;
mod session;
mod settings;
mod sign_in;
mod state;
mod suspended;
mod tenant;
mod text;
mod theme;
mod time;
mod users;
mod view;
mod webhooks;

use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{Redirect, Response};
use axum::routing::get;
use iam_axum::{with_conventions, with_limits};
use iam_core::Iam;

use crate::state::Console;

pub use crate::settings::Settings;

/// Only files of the console, and forms that it receives itself. No page may contain a script or a style.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
     base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Returns the console, under the path of the settings.
///
/// ```
/// use axum::Router;
/// use iam_core::Iam;
///
/// fn app(iam: Iam) -> Router {
///     let api = Router::new().nest("/iam/v1", iam_axum::router(iam.clone(), iam_axum::Settings::default()));
///     api.merge(iam_console::router(iam, iam_console::Settings::default()))
/// }
/// ```
pub fn router(iam: Iam, settings: Settings) -> Router {
    let mut api = settings.api.clone();
    // The pages of other origins may call the API, and not read the console.
    api.cors_origins.clear();
    let console = Console::new(iam.clone(), settings);
    let pages = Router::new()
        .route("/", get(overview::show))
        .merge(charts::routes())
        .merge(sign_in::routes())
        .merge(provider::routes())
        .merge(guard::routes())
        .merge(users::routes())
        .merge(roles::routes())
        .merge(role_matrix::routes())
        .merge(permissions::routes())
        .merge(assignments::routes())
        .merge(organizations::routes())
        .merge(access::routes())
        .merge(picker::routes())
        .merge(find::routes())
        .merge(account::routes())
        .merge(keys::routes())
        .merge(invitations::routes())
        .merge(audit::routes())
        .merge(access_requests::routes())
        .merge(access_reviews::routes())
        .merge(eligibilities::routes())
        .merge(webhooks::routes())
        .merge(domains::routes())
        .merge(identity_providers::routes())
        .merge(directories::routes())
        .merge(tenant::routes())
        .merge(runs::routes())
        .fallback(problem::not_found)
        .with_state(console.clone())
        .layer(from_fn_with_state(console.clone(), guard::guarded));
    // The session comes before the limits, because they count the requests of a user together.
    let pages = with_limits(pages, iam.clone(), api.clone())
        .layer(from_fn_with_state(console.clone(), session::with_session))
        .layer(from_fn_with_state(console.clone(), problem::as_page))
        // The pages of problems have a language, too.
        .layer(from_fn_with_state(console.clone(), language::with_language));
    let limited = |router| with_limits(router, iam.clone(), api.clone());
    let complete = |router| with_conventions(router, api.clone()).layer(map_response(with_policy));
    let all = complete(pages.merge(limited(assets::routes(console.look.files()))));
    let base = console.base();
    if base.is_empty() {
        return all;
    }
    let home = Redirect::permanent(base);
    let slash = complete(limited(Router::new().route("/", get(async move || home))));
    Router::new().nest(base, all).nest(&format!("{base}/"), slash)
}

async fn with_policy(mut response: Response) -> Response {
    // A file of the operator has a stricter one.
    response.headers_mut().entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    for (name, value) in [
        // With the `no-referrer` of the API, browsers would send `Origin: null` with every form.
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
