//! The language of a request.

mod negotiation;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::state::Console;
use crate::text::Language;

/// Answers a request in the language that its person has chosen, or else in one that its browser asks for.
pub(crate) async fn with_language(State(console): State<Console>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let chosen = console.settings.cookie(&parts).language(&parts.headers).and_then(Language::named);
    let language = chosen.unwrap_or_else(|| negotiation::accepted(&parts.headers));
    let mut response = language.speak(next.run(Request::from_parts(parts, body))).await;
    let is_page =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
    if is_page {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(language.tag));
        headers.append(header::VARY, HeaderValue::from_static("Accept-Language, Cookie"));
    }
    response
}
