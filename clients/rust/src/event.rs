//! The feed of events, as a stream without an end.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use reqwest::Method;
use serde::Serialize;

use crate::call::Call;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::models::{Event, Events};
use crate::retry::pause;

/// How long the service waits for an event before it answers without one, in seconds.
const WAIT: u32 = 20;
/// The pause after an empty page that came at once.
const LEAST_WAIT: Duration = Duration::from_millis(500);

/// Which events to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Events after the one with this number: the [position](EventStream::position) that was kept. If it is absent, all
    /// that are left.
    pub after: Option<u64>,
    /// Events of these types only, such as `USER.CREATE` or `USER.*`. Empty means all.
    pub types: Vec<String>,
}

#[derive(Serialize)]
struct Query {
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    types: Option<String>,
    wait: u32,
}

impl Client {
    /// Follows the feed of events. The caller needs `audit-logs:read`.
    ///
    /// The stream has no end: it waits for new events, and goes on after every failure that may pass, with pauses of up
    /// to 30 seconds. Any other error is its last item, for example
    ///
    /// - [`Code::Gone`](crate::Code::Gone): retention has removed the next events. Begin again after
    ///   `first_sequence` less one;
    /// - `validation-error`: the position is that of a log before the restore of a backup. Begin again from the start.
    ///
    /// ```no_run
    /// use iam_client::{Client, EventFilter};
    ///
    /// # async fn example(client: &Client, kept: Option<u64>) -> iam_client::Result<()> {
    /// let mut events = client.events(EventFilter { after: kept, types: vec!["USER.*".to_owned()] });
    /// while let Some(event) = events.next().await {
    ///     let event = event?;
    ///     println!("{} {}", event.sequence, event.r#type);
    ///     let _keep_this = events.position(); // together with the result of the work
    /// }
    /// # Ok(()) }
    /// ```
    pub fn events(&self, filter: EventFilter) -> EventStream {
        let position = Arc::new(AtomicU64::new(filter.after.unwrap_or_default()));
        let reader = Reader {
            client: self.clone(),
            types: (!filter.types.is_empty()).then(|| filter.types.join(",")),
            after: filter.after,
            waiting: VecDeque::new(),
            position: Arc::clone(&position),
            has_failed: false,
        };
        let events = stream::unfold(reader, |mut reader| async move {
            let event = reader.next().await?;
            Some((event, reader))
        });
        EventStream { events: events.boxed(), position }
    }
}

struct Reader {
    client: Client,
    types: Option<String>,
    /// The number to continue after.
    after: Option<u64>,
    waiting: VecDeque<Event>,
    position: Arc<AtomicU64>,
    has_failed: bool,
}

impl Reader {
    async fn next(&mut self) -> Option<Result<Event>> {
        if self.has_failed {
            return None;
        }
        let mut failures = 0;
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.position.store(event.sequence, Ordering::Release);
                return Some(Ok(event));
            }
            if let Some(after) = self.after {
                // The consumer has asked for more, so it has handled all events of the page.
                self.position.store(after, Ordering::Release);
            }
            let begun = Instant::now();
            match self.page().await {
                Ok(()) => {
                    failures = 0;
                    if self.waiting.is_empty() && begun.elapsed() < LEAST_WAIT {
                        // A server that does not wait must not be asked without a pause.
                        tokio::time::sleep(LEAST_WAIT).await;
                    }
                }
                Err(error) if error.is_temporary() => {
                    failures += 1;
                    tokio::time::sleep(pause(failures, &error)).await;
                }
                Err(error) => {
                    self.has_failed = true;
                    return Some(Err(error));
                }
            }
        }
    }

    async fn page(&mut self) -> Result<()> {
        let query = Query { after: self.after, types: self.types.clone(), wait: WAIT };
        let page: Events = self.client.send(Call::new(Method::GET, "/events").query(&query)).await?;
        let after = self.after.unwrap_or_default();
        let is_in_order = page.data.is_sorted_by(|one, other| one.sequence < other.sequence)
            && page.data.first().is_none_or(|event| event.sequence > after)
            && page.data.last().map_or(after, |event| event.sequence) <= page.next;
        if !is_in_order {
            // Otherwise an event would be handled twice, or none for ever.
            let reason = "the events are not in the order of their numbers".to_owned();
            return Err(Error::Answer { status: 200, reason, retry_after: None });
        }
        self.after = Some(page.next);
        self.waiting = page.data.into();
        Ok(())
    }
}

/// The events of [`Client::events`]. Also a [`Stream`].
pub struct EventStream {
    events: BoxStream<'static, Result<Event>>,
    position: Arc<AtomicU64>,
}

impl EventStream {
    /// Waits for the next event. `None` after an error.
    pub async fn next(&mut self) -> Option<Result<Event>> {
        self.events.next().await
    }

    /// The number to continue after, when all events that the stream has returned are handled: keep it, and give it to
    /// the next [`EventFilter::after`].
    pub fn position(&self) -> u64 {
        self.position.load(Ordering::Acquire)
    }
}

impl Stream for EventStream {
    type Item = Result<Event>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Event>>> {
        self.events.poll_next_unpin(context)
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("EventStream").field("position", &self.position()).finish_non_exhaustive()
    }
}
