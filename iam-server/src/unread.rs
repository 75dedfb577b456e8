//! What an answer leaves of its request over HTTP/1.1.
//!
//! hyper ends the connection where nobody reads the rest of a request and that has not come yet, and by then it may have
//! answered without a word of it: the client sends its next request, and gets no answer.

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

/// A client has so long to send the rest of a request that is answered; as a rule it has sent it.
const PATIENCE: Duration = Duration::from_secs(1);
/// More than this is not waited for: as much as the largest request that is read.
const MOST: usize = 256 * 1024;

/// Answers a request, and reads what is left of it; where that is too much, or does not come, the answer says that it is
/// the last of its connection.
pub(crate) async fn read_whole<E>(
    request: Request<Incoming>,
    answer: impl AsyncFnOnce(Request<Body>) -> Result<Response, E>,
) -> Result<Response, E> {
    let (parts, body) = request.into_parts();
    if body.is_end_stream() {
        return answer(Request::from_parts(parts, Body::empty())).await;
    }
    // Such a client sends nothing before it is told to, which whoever reads the rest would do.
    let waits = parts.headers.contains_key(header::EXPECT);
    let (back, mut given_back) = oneshot::channel();
    let mut response = answer(Request::from_parts(parts, Body::new(Lent(Some((body, back)))))).await?;
    if let Ok(rest) = given_back.try_recv()
        && !rest.is_end_stream()
        && (waits || timeout(PATIENCE, throw_away(rest)).await != Ok(true))
    {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

/// Reads a body to its end, and tells whether it came there.
async fn throw_away(rest: Incoming) -> bool {
    let mut rest = Limited::new(rest, MOST);
    while let Some(frame) = rest.frame().await {
        if frame.is_err() {
            return false;
        }
    }
    true
}

/// The body of a request, which is given back by whoever drops it before it was read to its end.
struct Lent(Option<(Incoming, oneshot::Sender<Incoming>)>);

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let Some((body, _)) = &mut self.0 else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        if frame.is_none() {
            // There is nothing left of it, which a body of unknown length does not say when it is asked.
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

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some((body, back)) = self.0.take() {
            // Nobody may wait for it any more.
            let _ = back.send(body);
        }
    }
}
