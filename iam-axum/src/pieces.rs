//! Large responses in pieces.
//!
//! The compression takes as much of a response at once as it gets. A megabyte takes it some ten milliseconds, in which
//! the thread of the runtime would answer no other request.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::response::Response;
use http_body::{Frame, SizeHint};

use crate::sync_middleware::{After, SyncMiddleware};

/// The largest piece in bytes.
const PIECE: usize = 64 * 1024;

/// Hands large responses on in pieces.
#[derive(Clone)]
pub(crate) struct InPieces;

impl SyncMiddleware for InPieces {
    type After = Self;

    fn before(&self, request: Request) -> (Request, Self) {
        (request, Self)
    }
}

impl After for InPieces {
    fn after(self, response: Response) -> Response {
        if response.body().size_hint().exact().is_none_or(|size| size <= PIECE as u64) {
            return response;
        }
        response.map(|body| Body::new(Pieces { body, rest: Bytes::new(), is_next: true }))
    }
}

/// A body whose data comes in pieces. Between two of them, other tasks have their turn.
struct Pieces {
    body: Body,
    /// The rest of the data that came last.
    rest: Bytes,
    /// Whether the next piece can come, because other tasks had their turn.
    is_next: bool,
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            let Some(frame) = ready!(Pin::new(&mut self.body).poll_frame(context)) else { return Poll::Ready(None) };
            match frame?.into_data() {
                Ok(data) => self.rest = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        if !self.is_next {
            self.is_next = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let length = PIECE.min(self.rest.len());
        self.is_next = length == self.rest.len();
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, body) = (self.rest.len() as u64, self.body.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(rest + body.lower());
        if let Some(upper) = body.upper() {
            hint.set_upper(rest + upper);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use futures_util::StreamExt as _;

    use super::*;

    /// The lengths of the pieces, and how often another task had its turn.
    async fn pieces(length: usize) -> (Vec<usize>, usize) {
        let data: Vec<u8> = (0..length).map(|index| index as u8).collect();
        let response = InPieces.after(Response::new(Body::from(data.clone())));
        assert_eq!(response.body().size_hint().exact(), Some(length as u64));
        let mut body = response.into_body().into_data_stream();
        let (mut received, mut lengths, mut turns) = (Vec::new(), Vec::new(), 0);
        loop {
            match body.next().now_or_never() {
                Some(Some(piece)) => {
                    let piece = piece.unwrap();
                    lengths.push(piece.len());
                    received.extend(piece);
                }
                Some(None) => break,
                None => turns += 1,
            }
        }
        assert_eq!(received, data);
        (lengths, turns)
    }

    #[tokio::test]
    async fn a_large_response_leaves_turns_to_other_tasks() {
        for (length, expected, turns) in [
            (0, vec![], 0),
            (PIECE, vec![PIECE], 0),
            (PIECE + 1, vec![PIECE, 1], 1),
            (2 * PIECE, vec![PIECE, PIECE], 1),
            (2 * PIECE + 9, vec![PIECE, PIECE, 9], 2),
        ] {
            assert_eq!(pieces(length).await, (expected, turns), "{length}");
        }
    }
}
