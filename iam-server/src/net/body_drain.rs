//! The body drain: reads the rest of an HTTP/1.1 request body that the handler did not read.
//!
//! If the rest of a request is not read and has not arrived yet, hyper closes the connection. By then it may have
//! sent an answer that does not announce the close. The client then sends its next request and gets no answer.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, Request, header};
use axum::response::Response;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long a client may take to send the rest of a request after the handler has answered. Usually it has sent it
/// already.
const DRAIN_LIMIT: Duration = Duration::from_secs(1);
/// The most bytes that are drained: the size of the largest request that a handler reads.
const MOST: usize = 256 * 1024;

/// Answers a request and drains the rest of its body. If the rest is too large or does not arrive, the answer has
/// `connection: close`.
pub(crate) async fn answer_and_drain<E>(
    request: Request<Incoming>,
    answer: impl AsyncFnOnce(Request<Body>) -> Result<Response, E>,
) -> Result<Response, E> {
    let (parts, body) = request.into_parts();
    if body.is_end_stream() {
        return answer(Request::from_parts(parts, Body::empty())).await;
    }
    // Such a client sends no body before it is told to continue, and reading the rest would tell it.
    let expects_continue = parts.headers.contains_key(header::EXPECT);
    let (back, mut returned) = oneshot::channel();
    let mut response = answer(Request::from_parts(parts, Body::new(ReturnedBody(Some((body, back)))))).await?;
    if let Ok(rest) = returned.try_recv()
        && !rest.is_end_stream()
        && (expects_continue || timeout(DRAIN_LIMIT, drain(rest)).await != Ok(true))
    {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

/// Reads a body and drops the data. Returns whether it reached the end.
async fn drain(rest: Incoming) -> bool {
    let mut rest = Limited::new(rest, MOST);
    while let Some(frame) = rest.frame().await {
        if frame.is_err() {
            return false;
        }
    }
    true
}

/// The body of a request. If it is dropped before it is read to its end, it sends the rest back.
struct ReturnedBody(Option<(Incoming, oneshot::Sender<Incoming>)>);

impl HttpBody for ReturnedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let Some((body, _)) = &mut self.0 else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        if frame.is_none() {
            // Nothing is left. A body of unknown length does not report that in `is_end_stream`.
            self.0 = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(|(body, _)| body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), |(body, _)| body.size_hint())
    }
}

impl Drop for ReturnedBody {
    fn drop(&mut self) {
        if let Some((body, back)) = self.0.take() {
            // The receiver may be gone.
            let _ = back.send(body);
        }
    }
}
