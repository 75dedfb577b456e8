//! The headers of routes that will be removed: `Deprecation` (RFC 9745) and `Sunset` (RFC 8594).

use axum::http::{HeaderName, HeaderValue, Uri, header};
use axum::response::Response;
use iam_core::clock::Timestamp;
use tower::util::MapResponseLayer;
use utoipa::openapi::{Deprecated, PathItem};
use utoipa_axum::router::UtoipaMethodRouter;

const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");

/// Tells the clients of some routes that these routes are deprecated, since when and why, and when they will be
/// removed.
///
/// It is for single routes, for an older version of an API that is mounted beside the newer one, or for a whole
/// router.
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
    /// Creates a deprecation that begins at this moment, which may be in the future. The page at `explanation` gives
    /// the reasons and the alternatives.
    #[must_use]
    pub fn since(since: Timestamp, explanation: Uri) -> Self {
        Self { since, sunset: None, explanation }
    }

    /// Announces that the routes stop answering at about this moment. If the moment is before the start of the
    /// deprecation, that start replaces it.
    #[must_use]
    pub fn until(mut self, sunset: Timestamp) -> Self {
        self.sunset = Some(sunset.max(self.since));
        self
    }

    /// Returns the layer that adds the headers to every response, error responses included.
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

    /// Adds the headers to these routes, as [`layer`](Self::layer) does, and marks their operations as deprecated in
    /// the OpenAPI document.
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
        // None of these texts contains a character that a header must not contain.
        let texts = texts.into_iter().flatten();
        texts.filter_map(|(name, text)| Some((name, HeaderValue::from_str(&text).ok()?))).collect()
    }
}
