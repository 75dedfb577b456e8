//! The stalled-stream guard: resets streams of HTTP/2 whose client does not accept the answer.
//!
//! With flow control, a client says how many bytes of each answer it accepts. A client that accepts none may still
//! read its socket and answer pings. So neither a time limit on writing nor pings detect that the answer is stalled.

use std::future::poll_fn;
use std::iter::from_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::StreamExt as _;
use futures_util::stream::iter;
use hyper::rt::Executor;
use tokio::time::{Instant, sleep};

/// How long a client may take to accept a piece of an answer. This is longer than any wait of the server in a stream:
/// a handler, and each query of an export, ends within 30 seconds.
pub(crate) const STALL_LIMIT: Duration = Duration::from_secs(60);
/// The default size of an HTTP/2 frame.
const PIECE: usize = 16 * 1024;

/// Runs streams, and resets a stream whose client stops accepting its answer.
#[derive(Clone)]
pub(crate) struct Streams;

impl<F> Executor<F> for Streams
where
    F: Future<Output: Send> + Send + 'static,
{
    fn execute(&self, stream: F) {
        tokio::spawn(unless_stalled(stream));
    }
}

/// Runs a stream, and drops it when nothing has woken it for too long. h2 then resets it.
async fn unless_stalled(stream: impl Future) {
    let mut stream = pin!(stream);
    let mut stalled = pin!(sleep(STALL_LIMIT));
    poll_fn(|context| {
        if stalled.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        stalled.as_mut().reset(Instant::now() + STALL_LIMIT);
        stream.as_mut().poll(context).map(drop)
    })
    .await;
}

/// Splits an answer into pieces that show whether its stream is stalled.
///
/// h2 takes a whole piece as soon as the client accepts one byte of it. It keeps the rest, and does not wake the
/// stream before the client has accepted the rest. After the last piece, the stream would not wait for the rest. So
/// the last piece is one byte, which has no rest.
pub(crate) fn in_pieces(answer: Body) -> Body {
    if hyper::body::Body::is_end_stream(&answer) {
        return answer;
    }
    let pieces = |data: Result<Bytes, axum::Error>| match data {
        Ok(data) => iter(pieces(data).map(Ok)).left_stream(),
        Err(error) => iter([Err(error)]).right_stream(),
    };
    Body::from_stream(answer.into_data_stream().flat_map(pieces))
}

fn pieces(mut data: Bytes) -> impl Iterator<Item = Bytes> {
    from_fn(move || match data.len() {
        0 => None,
        1 => Some(data.split_to(1)),
        length => Some(data.split_to(PIECE.min(length - 1))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_contain_all_data_and_the_last_one_is_a_single_byte() {
        for length in [0, 1, 2, PIECE - 1, PIECE, PIECE + 1, PIECE + 2, 5 * PIECE] {
            let data = Bytes::from((0..length).map(|index| index as u8).collect::<Vec<_>>());
            let pieces: Vec<_> = pieces(data.clone()).collect();
            assert_eq!(pieces.concat(), data);
            assert!(pieces.iter().all(|piece| !piece.is_empty() && piece.len() <= PIECE), "{length}");
            assert_eq!(pieces.last().map(Bytes::len), (length > 0).then_some(1), "{length}");
        }
    }
}
