//! Streams of HTTP/2 whose client does not take the answer.
//!
//! By flow control a client says how much it takes of every answer. One that says nothing may still read its socket and
//! answer pings, so that neither a time limit on writing nor pings tell that the answer stands still.

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

/// A client has so long to take a piece of an answer. Longer than any wait of our own in a stream: what makes an answer,
/// and each query of an export, ends within 30 seconds.
pub(crate) const TAKING: Duration = Duration::from_secs(60);
/// As large as a frame of the default size.
const PIECE: usize = 16 * 1024;

/// Runs streams, and resets one whose client takes nothing of its answer any more.
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

/// Drops a stream that nothing has woken for too long; h2 resets it then.
async fn unless_stalled(stream: impl Future) {
    let mut stream = pin!(stream);
    let mut stalled = pin!(sleep(TAKING));
    poll_fn(|context| {
        if stalled.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        stalled.as_mut().reset(Instant::now() + TAKING);
        stream.as_mut().poll(context).map(drop)
    })
    .await;
}

/// The same answer, in pieces by which a stream that stands still is told from one that does not.
///
/// h2 takes a whole piece as soon as the client takes a byte of it, keeps the rest, and does not wake the stream before
/// the client has taken that. Behind the last piece nobody would wait, so it is one byte, which has no rest.
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
    fn pieces_are_the_whole_and_end_with_a_single_byte() {
        for length in [0, 1, 2, PIECE - 1, PIECE, PIECE + 1, PIECE + 2, 5 * PIECE] {
            let data = Bytes::from((0..length).map(|index| index as u8).collect::<Vec<_>>());
            let pieces: Vec<_> = pieces(data.clone()).collect();
            assert_eq!(pieces.concat(), data);
            assert!(pieces.iter().all(|piece| !piece.is_empty() && piece.len() <= PIECE), "{length}");
            assert_eq!(pieces.last().map(Bytes::len), (length > 0).then_some(1), "{length}");
        }
    }
}
