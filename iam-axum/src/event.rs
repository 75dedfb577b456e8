//! `GET /events`: the audit log as a feed (`events.md`).

use std::convert::Infallible;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{self, Stream, StreamExt as _};
use iam_core::audit::{EventPage, EventPattern, LogEvent};
use iam_core::{Caller, Error, Iam, Invalid};
use serde::{Deserialize, Serialize};
use tracing::Span;
use utoipa::{IntoParams, ToSchema};

use crate::accept::prefers;
use crate::audit::AuditEntryDto;
use crate::description::{EVENTS, Problems};
use crate::extract::{Authenticated, Params, Query};
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

/// What is left of the time limit for a request after a wait.
const MARGIN: Duration = Duration::from_secs(2);

/// Get events
///
/// The entries of the audit log, in the order of its leaves. A client that keeps `next` misses no event and sees none
/// twice. With `wait`, the response comes as soon as there is an event. An entry appears here a moment after its
/// change. If retention has removed the events after `after`, the response is 410, and `firstSequence` is the number of
/// the first event that is left.
///
/// With `Accept: text/event-stream`, the response is a stream of server-sent events: `data` is an event, and `id` is
/// its `sequence`. After an interruption, send the last one as `Last-Event-ID`. The service checks the caller's
/// permission every few seconds and ends the stream without it.
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
    let mut reader = Reader { iam, caller, after: last.or(after), patterns, limit };
    if prefers(&headers, "text/event-stream", "application/json") {
        // An error is a problem document, and not the end of a stream.
        let first = reader.page(Duration::ZERO).await?;
        let events = stream::iter(first.events).chain(following(reader)).filter_map(async |event| written(event));
        return Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response());
    }
    let longest = settings.request_timeout.saturating_sub(MARGIN);
    let page = reader.page(Duration::from_secs(wait.into()).min(longest)).await?;
    let data = page.events.into_iter().map(EventDto::from).collect();
    Ok(Json(EventsDto { data, next: page.next }).into_response())
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
}

impl Reader {
    async fn page(&mut self, wait: Duration) -> Result<EventPage, Error> {
        let feed = self.iam.audit().follow(&self.caller, self.after, self.limit);
        let page = feed.only(self.patterns.clone()).next_within(wait).await?;
        self.after = Some(page.next);
        Ok(page)
    }
}

/// Returns the further events until an error ends the stream. The client then asks again, and is told the error.
fn following(reader: Reader) -> impl Stream<Item = LogEvent> {
    // The body is read outside of the request's own span.
    let span = Span::current();
    let pages =
        stream::unfold((reader, span), async |(mut reader, span)| match reader.page(Duration::from_secs(60)).await {
            Ok(page) => Some((stream::iter(page.events), (reader, span))),
            Err(error) => {
                span.in_scope(|| tracing::info!(%error, "a stream of events ended"));
                None
            }
        });
    pages.flatten()
}

fn written(event: LogEvent) -> Option<Result<Event, Infallible>> {
    let id = event.sequence.to_string();
    match Event::default().id(id).json_data(EventDto::from(event)) {
        Ok(event) => Some(Ok(event)),
        Err(error) => {
            tracing::error!(%error, "an event cannot be written");
            None
        }
    }
}
