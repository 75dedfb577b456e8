//! Files that clients load without a token and without a rate limit. They are compressed once, not for each request.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read as _};

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use flate2::Compression;
use flate2::read::GzEncoder;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use crate::accept::accepts_gzip;
use crate::problem::{Kind, Problem};

/// A file in the two encodings in which clients get it.
pub(crate) struct StaticFile {
    content_type: &'static str,
    plain: Encoded,
    gzip: Encoded,
}

struct Encoded {
    content: Bytes,
    /// The entity tag, which differs between the encodings (RFC 9110 §8.8.3.3).
    tag: HeaderValue,
}

impl StaticFile {
    /// Compresses a file. A megabyte takes some fifty milliseconds, so [`make`] calls this beside the async threads.
    ///
    /// # Errors
    ///
    /// If the file cannot be compressed, which is a defect.
    pub(crate) fn new(content_type: &'static str, content: impl Into<Bytes>) -> io::Result<Self> {
        let content = content.into();
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        let hash = hasher.finish();
        let tag = |encoding| HeaderValue::from_str(&format!("\"{hash:016x}{encoding}\"")).map_err(io::Error::other);
        let mut gzip = Vec::new();
        GzEncoder::new(&*content, Compression::default()).read_to_end(&mut gzip)?;
        let gzip = Encoded { content: gzip.into(), tag: tag("-gzip")? };
        Ok(Self { content_type, plain: Encoded { content, tag: tag("")? }, gzip })
    }

    /// Returns the file in an encoding that a client with these headers accepts. The client may keep it, and asks each
    /// time whether it has changed.
    pub(crate) fn response(&self, headers: &HeaderMap) -> Response {
        let is_compressed = accepts_gzip(headers);
        let Encoded { content, tag } = if is_compressed { &self.gzip } else { &self.plain };
        let mut response = (
            [(header::CONTENT_TYPE, self.content_type), (header::CACHE_CONTROL, "no-cache")],
            [(header::VARY, HeaderValue::from_name(header::ACCEPT_ENCODING)), (header::ETAG, tag.clone())],
            content.clone(),
        )
            .into_response();
        if is_compressed {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

/// Makes files once, beside the async threads.
///
/// # Errors
///
/// A problem of the kind [`Internal`](Kind::Internal) if they cannot be made, which is a defect.
pub(crate) async fn once<T: Send + 'static>(
    made: &OnceCell<T>,
    make: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<&T, Problem> {
    made.get_or_try_init(|| self::make(make)).await
}

/// Makes files beside the async threads.
///
/// # Errors
///
/// Those of [`once`].
pub(crate) async fn make<T: Send + 'static>(
    make: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Problem> {
    let made = spawn_blocking(make).await.map_err(io::Error::other).and_then(|made| made);
    made.map_err(|error| {
        tracing::error!(%error, "a file cannot be shown");
        Problem::new(Kind::Internal)
    })
}
