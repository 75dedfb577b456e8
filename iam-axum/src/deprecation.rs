//! Headers of what will be removed: `Deprecation` (RFC 9745) and `Sunset` (RFC 8594).

use axum::http::{HeaderName, HeaderValue, Uri, header};
use axum::response::Response;
use iam_core::clock::Timestamp;
use tower::util::MapResponseLayer;
use utoipa::openapi::{Deprecated, PathItem};
use utoipa_axum::router::UtoipaMethodRouter;

const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");

/// Tells clients of some routes that these are deprecated, since when and why, and when they will be removed.
///
/// For single routes, for an older version of an API that is mounted beside the newer, or for all of a router.
///
/// ```
/// use axum::{Router, routing::get};
/// use chrono::{TimeZone as _, Utc};
/// use iam_axum::Deprecation;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use axum::{body::Body, http::Request};
/// # use tower::ServiceExt as _;
/// let day = |year| Utc.with_ymd_and_hms(year, 7, 1, 0, 0, 0).unwrap();
/// let deprecation = Deprecation::since(day(2026), "https://example.com/api/v2".parse()?).until(day(2027));
/// let app: Router = Router::new()
///     .route("/v1/orders", get(async || "orders"))
///     .layer(deprecation.layer())
///     .route("/v2/orders", get(async || "orders"));
///
/// let answer = app.oneshot(Request::get("/v1/orders").body(Body::empty())?).await?;
/// assert_eq!(answer.headers()["deprecation"], "@1782864000");
/// assert_eq!(answer.headers()["sunset"], "Thu, 01 Jul 2027 00:00:00 GMT");
/// assert_eq!(answer.headers()["link"], r#"<https://example.com/api/v2>; rel="deprecation sunset""#);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deprecation {
    since: Timestamp,
    sunset: Option<Timestamp>,
    explanation: Uri,
}

impl Deprecation {
    /// Deprecated from this moment on, which may be yet to come, for reasons and with alternatives that can be read at
    /// this address.
    #[must_use]
    pub fn since(since: Timestamp, explanation: Uri) -> Self {
        Self { since, sunset: None, explanation }
    }

    /// Answered no longer from about this moment on, which is not before the deprecation: an earlier one counts as that.
    #[must_use]
    pub fn until(mut self, sunset: Timestamp) -> Self {
        self.sunset = Some(sunset.max(self.since));
        self
    }

    /// The layer that adds the headers to every answer, failures too.
    #[must_use]
    pub fn layer(self) -> MapResponseLayer<impl Fn(Response) -> Response + Clone> {
        let headers = self.headers();
        MapResponseLayer::new(move |mut response: Response| {
            for (name, value) in headers.clone() {
                response.headers_mut().append(name, value);
            }
            response
        })
    }

    /// Adds the headers to these routes, as [`layer`](Self::layer) does, and marks their operations in the OpenAPI
    /// document.
    pub fn routes<S>(self, (schemas, mut paths, router): UtoipaMethodRouter<S>) -> UtoipaMethodRouter<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        for path in paths.paths.values_mut() {
            let PathItem { get, put, post, delete, options, head, patch, trace, .. } = path;
            for operation in [get, put, post, delete, options, head, patch, trace].into_iter().flatten() {
                operation.deprecated = Some(Deprecated::True);
            }
        }
        (schemas, paths, router.layer(self.layer()))
    }

    fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let relations = if self.sunset.is_some() { "deprecation sunset" } else { "deprecation" };
        let texts = [
            Some((DEPRECATION, format!("@{}", self.since.timestamp()))),
            self.sunset.map(|sunset| (SUNSET, sunset.format("%a, %d %b %Y %H:%M:%S GMT").to_string())),
            Some((header::LINK, format!("<{}>; rel=\"{relations}\"", self.explanation))),
        ];
        // None of these texts has what a header may not have.
        let texts = texts.into_iter().flatten();
        texts.filter_map(|(name, text)| Some((name, HeaderValue::from_str(&text).ok()?))).collect()
    }
}
