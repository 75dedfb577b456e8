use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderValue;
use iam_core::brand::Brand;
use ipnet::IpNet;

use crate::metrics::Metrics;
use crate::problem::DEFAULT_TYPE_BASE;
use crate::rate_limit::{MemoryRateLimiter, RateLimiter, RateLimits};

/// The settings of the HTTP API.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The path under which [`service`](crate::service) mounts the API, and the server in the OpenAPI document. It
    /// may be empty.
    pub prefix: String,
    /// The parts of the API that are mounted: all of them by default. The paths of the other parts answer 404 and are
    /// not in the OpenAPI document.
    ///
    /// ```
    /// use iam_axum::{ApiPart, Settings};
    ///
    /// let mut settings = Settings::default();
    /// settings.parts.remove(&ApiPart::Registration); // the host program creates its tenants itself
    /// ```
    pub parts: BTreeSet<ApiPart>,
    /// The start of the `type` of a problem document. The kind follows after a slash.
    pub problem_type_base: String,
    /// The service's name in the health response.
    pub service: String,
    /// The service's release in the health response.
    pub version: String,
    /// The environment in which the service runs, in the health response.
    pub environment: String,
    /// The proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Limits the number of requests; `None` means no limit. The default is a limiter in memory, with the default
    /// [`RateLimits`]. Clients are distinguished by the address of the connection. So a host program must serve with
    /// axum's `ConnectInfo<SocketAddr>`; otherwise, only users are limited.
    pub rate_limiter: Option<Arc<dyn RateLimiter>>,
    /// Counts and measures requests; `None` means no metrics.
    pub metrics: Option<Metrics>,
    /// The origins whose web pages may use the API from a browser, such as `https://app.example.com`; none by default.
    pub cors_origins: Vec<HeaderValue>,
    /// The time limit for a request: 30 seconds by default. A request that is not answered by then gets a 503. The
    /// request body must arrive within half of this time.
    pub request_timeout: Duration,
    /// Whether [`service`](crate::service) shows the metrics at `/metrics`. If it does not, a host program can show
    /// [`Metrics::router`] elsewhere.
    pub shows_metrics: bool,
    /// Whether [`service`](crate::service) shows `/openapi.json`, Swagger UI at `/docs`, and the book at `/docs/book`.
    pub shows_docs: bool,
    /// Whether [`service`](crate::service) shows the pages `/account/verify`, `/account/reset`, `/account/invitation`
    /// and `/account/login`, to which the links in messages can lead.
    pub shows_account_pages: bool,
    /// The URL under which clients reach the service, such as `https://iam.example.com`, without the prefix. Directories
    /// get addresses that begin with it. By default, these begin by `http://` and the host that a request names, and
    /// [`service`](crate::service) has no `/.well-known/authzen-configuration`.
    pub public_url: Option<String>,
    /// Where people log in, such as `/console`. The account pages link to it after an invitation was accepted or a
    /// password was chosen. By default, they have no such link.
    pub login_page: Option<String>,
    /// Where the form of the page `/account/login` goes, such as `/console/sign-in/link`: a page of the same origin
    /// that takes the token of a link in the field `token`, and begins a session in the browser. By default, the page
    /// has no form, and asks the person to type the code of the message where it began to log in.
    pub login_by_link: Option<String>,
    /// The name, the logo and the colour on the account pages, and in the console: none by default.
    pub brand: Brand,
}

impl Settings {
    /// Returns the prefix without a slash at its end, so that paths can follow.
    pub(crate) fn prefix(&self) -> &str {
        self.prefix.trim_end_matches('/')
    }
}

/// A part of the API, which can be mounted or left out; see [`Settings::parts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ApiPart {
    /// `POST /auth/register`: strangers create tenants.
    Registration,
    /// The rest of `/auth`: logins, tokens, passwords, and the caller's own data.
    Authentication,
    /// `/auth/email`: verification of addresses by mail.
    Verification,
    /// `/auth/password/forgot`, `/auth/password/reset` and `/users/{id}/password-reset`: new passwords by mail.
    Recovery,
    /// `/auth/email-login`: people log in by mail, in tenants that want it.
    EmailLogin,
    /// `/auth/factors`, `/auth/login/second-factor`, `/auth/passkeys`, `/auth/step-up/options` and
    /// `/users/{id}/factors`: second factors. Without it, users who have one cannot log in over HTTP, and tenants
    /// should not require one.
    Factors,
    /// `/invitations`: people are asked by mail to become users.
    Invitations,
    /// `/users` and `/service-accounts`.
    Users,
    /// `/users/{id}/api-keys` and `/api-keys`: programs act as users. Keys that exist are accepted without it, too.
    ApiKeys,
    /// `/users/{id}/sessions`, `/users/{id}/logout-all`, `/users/{id}/impersonations` and `/sessions`.
    Sessions,
    /// `/permissions`.
    Permissions,
    /// `/roles`.
    Roles,
    /// `/role-assignments` and `/users/{id}/roles`.
    Assignments,
    /// `/organizations`.
    Organizations,
    /// `/access-reviews`: people decide about role assignments and eligibilities, one by one.
    AccessReviews,
    /// `/eligibilities`, `/auth/eligibilities` and `/access-requests`: users ask for roles for a time.
    AccessRequests,
    /// `/authz`: checks of permissions; `/access/v1`: the same by AuthZEN.
    Authorization,
    /// `/tenants`.
    Tenants,
    /// `/audit-logs`.
    AuditLogs,
    /// `/legal-holds`: what is not destroyed.
    LegalHolds,
    /// `/events`: the audit log as a feed.
    Events,
    /// `/webhooks`: events are sent to other systems.
    Webhooks,
    /// `/domains` and `/identity-providers`: people log in with the accounts of their company.
    Federation,
    /// `/directories`, and `/scim/v2`, where the identity providers of companies write their people and groups. The
    /// errors below `/scim/v2` are those of SCIM 2.0. It is not in the OpenAPI document, because it describes itself.
    Directories,
    /// `/health`.
    Health,
}

impl ApiPart {
    /// All parts.
    pub const ALL: [Self; 25] = [
        Self::Registration,
        Self::Authentication,
        Self::Verification,
        Self::Recovery,
        Self::EmailLogin,
        Self::Factors,
        Self::Invitations,
        Self::Users,
        Self::ApiKeys,
        Self::Sessions,
        Self::Permissions,
        Self::Roles,
        Self::Assignments,
        Self::Organizations,
        Self::AccessReviews,
        Self::AccessRequests,
        Self::Authorization,
        Self::Tenants,
        Self::AuditLogs,
        Self::LegalHolds,
        Self::Events,
        Self::Webhooks,
        Self::Federation,
        Self::Directories,
        Self::Health,
    ];
}

/// Returns a path without the prefix of the API.
pub(crate) fn api_path<'a>(path: &'a str, settings: &Settings) -> &'a str {
    path.strip_prefix(settings.prefix()).filter(|rest| rest.starts_with('/')).unwrap_or(path)
}

/// The path under which directories write.
pub(crate) const SCIM: &str = "/scim/v2";

/// Whether directories write under a path. A host program has the same paths below a prefix of its own.
pub(crate) fn is_of_directories(path: &str, settings: &Settings) -> bool {
    let mut after = path.split(SCIM).skip(1);
    settings.parts.contains(&ApiPart::Directories) && after.any(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path below which the operations of AuthZEN are.
const AUTHZEN: &str = "/access/v1";

/// Whether a path is that of an operation of AuthZEN, also below a prefix.
pub(crate) fn is_of_authzen(path: &str) -> bool {
    let operation = path.rsplit_once(AUTHZEN).map(|(_, operation)| operation);
    matches!(
        operation,
        Some("/evaluation" | "/evaluations" | "/search/subject" | "/search/resource" | "/search/action")
    )
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            prefix: "/api/v1".to_owned(),
            parts: ApiPart::ALL.into(),
            problem_type_base: DEFAULT_TYPE_BASE.to_owned(),
            service: "iam".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            environment: "development".to_owned(),
            trusted_proxies: Vec::new(),
            rate_limiter: Some(Arc::new(MemoryRateLimiter::new(RateLimits::default()))),
            metrics: None,
            cors_origins: Vec::new(),
            request_timeout: Duration::from_secs(30),
            shows_metrics: true,
            shows_docs: true,
            shows_account_pages: true,
            public_url: None,
            login_page: None,
            login_by_link: None,
            brand: Brand::default(),
        }
    }
}
