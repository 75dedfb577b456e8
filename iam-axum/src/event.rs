//! `GET /events`: the audit log as a feed (`docs/integrating.md#a-program-learns-what-happens`).

use std::convert::Infallible;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use std::vec::IntoIter;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{self, Stream};
use iam_core::audit::{EventPage, EventPattern, LogEvent, OpenStream};
use iam_core::{Caller, Error, FieldError, Iam, Invalid};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tracing::Span;
use utoipa::{IntoParams, ToSchema};

use crate::accept::prefers;
use crate::audit::AuditEntryDto;
use crate::description::{EVENTS, Problems};
use crate::extract::{Authenticated, Params, Query};
use crate::long::json;
use crate::problem::Problem;
use crate::settings::Settings;

/// An entry of the audit log with its place in the sequence.
#[derive(Serialize, ToSchema)]
#[schema(as = Event)]
pub(crate) struct EventDto {
    /// The number of the entry, counted from 1. Numbers have no gaps.
    sequence: u64,
    /// The resource type and the action of the entry.
    r#type: String,
    entry: AuditEntryDto,
}

impl From<LogEvent> for EventDto {
    fn from(event: LogEvent) -> Self {
        Self { sequence: event.sequence, r#type: event.entry.event_type(), entry: event.entry.into() }
    }
}

/// Consecutive events.
#[derive(Serialize, ToSchema)]
#[schema(as = Events)]
pub(crate) struct EventsDto {
    /// The events, oldest first.
    data: Vec<EventDto>,
    /// To get the next page, send this value as `after`.
    next: u64,
}

/// The type of an event: a resource type and an action, or `*` for all actions.
#[derive(ToSchema)]
#[schema(value_type = String, max_length = 129, pattern = "^[A-Z][A-Z0-9_]{0,63}[.]([*]|[A-Z][A-Z0-9_]{0,63})$")]
#[expect(dead_code, reason = "only its schema is used; the domain parses the text")]
pub(crate) struct EventPatternDto(String);

/// Which events to show.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventQuery {
    /// Events after the one with this number. If it is absent, all that are left.
    #[param(value_type = Option<u64>, minimum = 0)]
    after: Option<String>,
    /// Events of these types only, joined by commas: `USER.CREATE`, or `USER.*` for all actions on a resource type.
    #[param(
        example = "USER.*,ROLE.CREATE",
        pattern = "^[A-Z][A-Z0-9_]{0,63}[.]([*]|[A-Z][A-Z0-9_]{0,63})(,[A-Z][A-Z0-9_]{0,63}[.]([*]|[A-Z][A-Z0-9_]{0,63}))*$"
    )]
    types: Option<String>,
    /// How many events a page holds at most.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 500, default = 100)]
    limit: Option<String>,
    /// How many seconds to wait for an event if there is none yet.
    #[param(value_type = Option<u32>, minimum = 0, maximum = 30, default = 0)]
    wait: Option<String>,
}

/// Where a client continues that reads a stream again.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "only its schema is used; the handler reads the header")]
pub(crate) struct LastEvent {
    /// As `after`, which it replaces.
    #[param(rename = "Last-Event-ID", value_type = u64, required = false, minimum = 0)]
    last_event_id: Option<String>,
}

const MAX_WAIT: u32 = 30;

/// The greatest number of an event: that of the format `int64`.
const MAX_SEQUENCE: u64 = i64::MAX.unsigned_abs();

/// How many events a stream reads at once. A client chooses how slowly it takes them, so they are few.
const STREAMED: u32 = 100;

/// How many events of a stream are written on an async thread. More are written beside these threads: a tenant has a
/// hundred streams, and each may begin at the start of the log.
const FEW: usize = 5;

/// How long a stream sends events after the permission of its caller was checked.
const RECHECK: Duration = Duration::from_secs(5);

/// Neither a browser nor a proxy may keep or delay the events of a stream. Some proxies wait for the end of a response
/// unless it has the second header.
const STREAM_HEADERS: [(HeaderName, &str); 2] =
    [(header::CACHE_CONTROL, "no-store"), (HeaderName::from_static("x-accel-buffering"), "no")];

/// The rest of the time limit for a request after a wait.
const MARGIN: Duration = Duration::from_secs(2);

/// Get events
///
/// The entries of the audit log, in the order of its leaves. A client that keeps `next` misses no event and sees none
/// twice. With `wait`, the response comes as soon as there is an event. An entry appears here a moment after its
/// change. If `after` is beyond the newest event, the response is 400 and names the newest sequence: the log was restored
/// from a backup that is older than what the client has read. If retention has removed the events after `after`, the response is 410, and `firstSequence` is the number of
/// the first event that is left.
///
/// With `Accept: text/event-stream`, the response is a stream of server-sent events: `data` is an event, and `id` is
/// its `sequence`. After an interruption, send the last one as `Last-Event-ID`. The service checks the caller's
/// permission every few seconds and ends the stream without it.
///
/// A user may have at most 10 open streams, and a tenant 100. A request that waits counts as one until it is answered, and an API key
/// counts for its user. One more is 429.
#[utoipa::path(
    get,
    path = "/events",
    operation_id = "listEvents",
    tag = EVENTS,
    params(EventQuery, LastEvent),
    responses(
        (
            status = 200,
            description = "A page of events, or a stream",
            content((EventsDto = "application/json"), (String = "text/event-stream")),
        ),
        Problems,
    ),
    extensions(("x-required-permission" = json!("audit-logs:read")), ("x-problems" = json!(["gone"]))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    State(settings): State<Arc<Settings>>,
    Authenticated(caller): Authenticated,
    Query(query): Query<EventQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut params = Params::default();
    let sequence = |text: &str| number(text, 0..=MAX_SEQUENCE);
    let after = params.parse_with("after", query.after.as_deref(), sequence);
    let patterns = params.parse_with("types", query.types.as_deref(), patterns).unwrap_or_default();
    let limit = params.parse_with("limit", query.limit.as_deref(), |text| number(text, 1..=500)).unwrap_or(100);
    let wait = params.parse_with("wait", query.wait.as_deref(), |text| number(text, 0..=MAX_WAIT)).unwrap_or(0);
    let last = headers.get("last-event-id").map(|id| id.to_str().unwrap_or_default());
    let last = params.parse_with("Last-Event-ID", last, sequence);
    params.finish()?;
    let place = if last.is_some() { "Last-Event-ID" } else { "after" };
    let named = |error| naming_the_place(error, place);
    let is_stream = prefers(&headers, "text/event-stream", "application/json");
    let open = if is_stream || wait > 0 { Some(iam.audit().open_stream(&caller)?) } else { None };
    let mut reader = Reader { iam, caller, after: last.or(after), patterns, limit, _open: open };
    if is_stream {
        reader.limit = limit.min(STREAMED);
        // An error is a problem document, and not the end of a stream.
        let sending = Sending::begin(reader).await.map_err(named)?;
        let events = Sse::new(sent(sending)).keep_alive(KeepAlive::default());
        return Ok((STREAM_HEADERS, events).into_response());
    }
    let longest = settings.request_timeout.saturating_sub(MARGIN);
    let EventPage { events, next, .. } =
        reader.page(Duration::from_secs(wait.into()).min(longest)).await.map_err(named)?;
    let size = events.iter().map(|event| event.entry.size()).sum();
    let data = move || EventsDto { data: events.into_iter().map(EventDto::from).collect(), next };
    json(&reader.iam, &reader.caller, size, data).await
}

/// Returns the error with the name under which the client has sent its place in the feed.
fn naming_the_place(error: Error, place: &str) -> Error {
    match error {
        Error::Validation(errors) => {
            let renamed = |error: FieldError| match &*error.field {
                "after" => FieldError::new(place, error.message),
                _ => error,
            };
            Error::Validation(errors.into_iter().map(renamed).collect())
        }
        error => error,
    }
}

fn patterns(text: &str) -> Result<Vec<EventPattern>, String> {
    text.split(',').map(|pattern| pattern.trim().parse().map_err(|error: Invalid| error.to_string())).collect()
}

fn number<T: FromStr + PartialOrd + Display>(text: &str, range: RangeInclusive<T>) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("must be {} to {}", range.start(), range.end()))
}

/// Reads the feed page by page.
struct Reader {
    iam: Iam,
    caller: Caller,
    after: Option<u64>,
    patterns: Vec<EventPattern>,
    limit: u32,
    /// Counts the stream, or the request that waits, until the client goes away.
    _open: Option<OpenStream>,
}

impl Reader {
    async fn page(&mut self, wait: Duration) -> Result<EventPage, Error> {
        let feed = self.iam.audit().follow(&self.caller, self.after, self.limit);
        let page = feed.only(self.patterns.clone()).next_within(wait).await?;
        self.after = Some(page.next);
        Ok(page)
    }

    /// Reads a page, as the stream sends it. Returns its events, and whether it is the last one, because the program
    /// stops.
    async fn written_page(&mut self, wait: Duration) -> Result<(IntoIter<(u64, Event)>, bool), Error> {
        let EventPage { events, has_ended, .. } = self.page(wait).await?;
        let is_short = events.len() <= FEW;
        let write = move || events.into_iter().filter_map(written).collect::<Vec<_>>();
        let events = if is_short { write() } else { self.iam.compute(&self.caller, write).await? };
        Ok((events.into_iter(), has_ended))
    }
}

/// A page of a stream, whose events are sent as fast as the client reads them.
struct Sending {
    reader: Reader,
    /// The events that are not sent yet, with their numbers.
    events: IntoIter<(u64, Event)>,
    /// After which number the unsent events begin.
    unsent_after: Option<u64>,
    /// When the page was read, and with it the permission of the caller.
    read: Instant,
    /// Whether no page follows.
    is_last: bool,
}

impl Sending {
    /// Reads the first page: an error is a problem document, and not the end of a stream.
    async fn begin(mut reader: Reader) -> Result<Self, Error> {
        let unsent_after = reader.after;
        let (events, is_last) = reader.written_page(Duration::ZERO).await?;
        Ok(Self { reader, events, unsent_after, read: Instant::now(), is_last })
    }

    /// Returns the next event. The rest of an old page is read again, and the permission with it. `None` ends the stream:
    /// the program stops, and the client goes on elsewhere.
    async fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            if self.read.elapsed() < RECHECK
                && let Some((sequence, event)) = self.events.next()
            {
                self.unsent_after = Some(sequence);
                return Ok(Some(event));
            }
            if self.is_last {
                return Ok(None);
            }
            if self.events.len() > 0 {
                self.reader.after = self.unsent_after;
            }
            self.unsent_after = self.reader.after;
            (self.events, self.is_last) = self.reader.written_page(Duration::from_secs(60)).await?;
            self.read = Instant::now();
        }
    }
}

/// Returns an event as a stream sends it, with its number.
fn written(event: LogEvent) -> Option<(u64, Event)> {
    let sequence = event.sequence;
    match Event::default().id(sequence.to_string()).json_data(EventDto::from(event)) {
        Ok(event) => Some((sequence, event)),
        Err(error) => {
            tracing::error!(%error, "an event cannot be written");
            None
        }
    }
}

/// Returns the events from a page on, until an error or the end of the program ends the stream. The client then asks
/// again, and is told the error.
fn sent(sending: Sending) -> impl Stream<Item = Result<Event, Infallible>> {
    // The body is read outside of the request's own span.
    let span = Span::current();
    stream::unfold((sending, span), async |(mut sending, span)| match sending.next().await {
        Ok(Some(event)) => Some((Ok(event), (sending, span))),
        Ok(None) => None,
        Err(error) => {
            span.in_scope(|| tracing::info!(%error, "a stream of events ended"));
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use iam_core::TenantId;
    use iam_core::audit::NewEvent;
    use iam_store_memory::MemoryStore;
    use tokio::time::advance;

    use super::*;

    async fn record(iam: &Iam, caller: &Caller, count: usize) {
        for _ in 0..count {
            let (action, resource_type) = ("SENT".to_owned(), "LETTER".to_owned());
            iam.audit().log(caller, NewEvent { action, resource_type, ..NewEvent::default() }).await.unwrap();
        }
        while iam.sequence_audit_logs().await.unwrap().more {}
    }

    /// A client may take the events of a page as slowly as it likes.
    #[tokio::test(start_paused = true)]
    async fn a_page_that_is_read_slowly_is_checked_again_and_loses_nothing() {
        let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await.unwrap();
        let caller = Caller::system(TenantId::from_uuid(uuid::Uuid::now_v7()), "test");
        record(&iam, &caller, 4).await;
        let reader = Reader {
            iam: iam.clone(),
            caller: caller.clone(),
            after: None,
            patterns: Vec::new(),
            limit: 3,
            _open: None,
        };
        let mut sending = Sending::begin(reader).await.unwrap();
        for expected in [1, 2, 3, 4] {
            advance(RECHECK).await;
            assert!(sending.next().await.is_ok());
            assert_eq!(sending.unsent_after, Some(expected));
        }
        // An event that was read and not sent needs a new check, which fails here.
        record(&iam, &caller, 2).await;
        assert!(sending.next().await.is_ok());
        assert_eq!(sending.unsent_after, Some(5));
        sending.reader.limit = 0;
        advance(RECHECK).await;
        assert!(matches!(sending.next().await, Err(Error::Validation(_))));
    }

    /// The end of the program would otherwise wait for the client.
    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_when_the_program_stops() {
        let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await.unwrap();
        let caller = Caller::system(TenantId::from_uuid(uuid::Uuid::now_v7()), "test");
        record(&iam, &caller, 3).await;
        let reader = Reader { iam: iam.clone(), caller, after: None, patterns: Vec::new(), limit: 2, _open: None };
        let mut sending = Sending::begin(reader).await.unwrap();
        iam.end_feeds();
        let mut sent = 0;
        while sending.next().await.unwrap().is_some() {
            sent += 1;
        }
        assert_eq!(sent, 3);
    }
}
