//! `/audit-logs/export`: the log as a file of any length.

use std::future::ready;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use futures_util::stream::{Stream, StreamExt as _, TryStreamExt as _, once, try_unfold};
use iam_core::audit::{AuditEntry, AuditExport, Cursor, EventFormat, OcsfEvent};
use iam_core::{BoxError, Caller, Iam};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tracing::Span;
use utoipa::{IntoParams, ToSchema};

use super::{AuditEntryDto, AuditQuery, EventFormatDto};
use crate::accept::prefers;
use crate::description::{AUDIT_LOGS, Problems};
use crate::extract::{Authenticated, Params, Query};
use crate::long;
use crate::problem::{Problem, chain};
use crate::spreadsheet::{BYTE_ORDER_MARK, CSV, CSV_IN_UTF_8, csv, harmless};

/// An entry, with the cursor from which an export continues after it.
#[derive(Serialize, ToSchema)]
#[schema(as = ExportedAuditEntry)]
pub(crate) struct ExportedEntry {
    #[serde(flatten)]
    entry: AuditEntryDto,
    /// To get the entries that follow this one, send this value as `cursor`.
    cursor: String,
}

impl From<AuditEntry> for ExportedEntry {
    fn from(entry: AuditEntry) -> Self {
        let cursor = Cursor::after(&entry).to_string();
        Self { entry: entry.into(), cursor }
    }
}

/// How an export writes entries.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FormatQuery {
    /// With `ocsf`, entries are events of the Open Cybersecurity Schema Framework, as NDJSON.
    #[param(value_type = Option<EventFormatDto>, inline)]
    format: Option<String>,
}

/// The format of an export.
#[derive(Clone, Copy, Debug)]
enum Format {
    NdJson,
    Csv,
    Ocsf,
}

const NDJSON: &str = "application/x-ndjson";

/// The first line of an export as CSV: the names of an exported entry's fields, in their order.
const COLUMNS: [&str; 14] = [
    "id",
    "tenantId",
    "action",
    "resourceType",
    "resourceId",
    "userId",
    "oldValue",
    "newValue",
    "metadata",
    "correlationId",
    "ipAddress",
    "userAgent",
    "createdAt",
    "cursor",
];

impl Format {
    /// Returns the format that a client asks for. Events have no columns, so `Accept` does not count for them.
    fn of(format: EventFormat, headers: &HeaderMap) -> Self {
        match format {
            EventFormat::Ocsf => Self::Ocsf,
            EventFormat::Native if prefers(headers, CSV, NDJSON) => Self::Csv,
            EventFormat::Native => Self::NdJson,
        }
    }

    /// Returns the name by which the export is recorded.
    fn name(self) -> &'static str {
        match self {
            Self::NdJson => NDJSON,
            Self::Csv => CSV,
            Self::Ocsf => EventFormat::Ocsf.as_str(),
        }
    }

    fn headers(self) -> [(HeaderName, &'static str); 2] {
        let (content_type, disposition) = match self {
            Self::NdJson => (NDJSON, r#"attachment; filename="audit-log.ndjson""#),
            Self::Ocsf => (NDJSON, r#"attachment; filename="audit-log.ocsf.ndjson""#),
            Self::Csv => (CSV_IN_UTF_8, r#"attachment; filename="audit-log.csv""#),
        };
        [(header::CONTENT_TYPE, content_type), (header::CONTENT_DISPOSITION, disposition)]
    }

    /// Returns the bytes before the first entry.
    fn head(self) -> Result<Vec<u8>, BoxError> {
        match self {
            Self::NdJson | Self::Ocsf => Ok(Vec::new()),
            Self::Csv => Ok([BYTE_ORDER_MARK, &csv([COLUMNS.map(str::to_owned)])?].concat()),
        }
    }

    fn lines(self, entries: Vec<AuditEntry>) -> Result<Vec<u8>, BoxError> {
        match self {
            Self::NdJson => ndjson(entries.into_iter().map(ExportedEntry::from)),
            Self::Csv => csv(entries.into_iter().map(|entry| cells(entry.into()))),
            Self::Ocsf => ndjson(entries.iter().map(|entry| OcsfEvent::of(entry).with_cursor(Cursor::after(entry)))),
        }
    }
}

/// Returns the lines of a page. Those of a long one are written beside the async threads.
async fn lines(iam: Iam, caller: Caller, format: Format, page: Vec<AuditEntry>) -> Result<Vec<u8>, BoxError> {
    // An event has the values of its entry twice.
    let copies = if matches!(format, Format::Ocsf) { 2 } else { 1 };
    let size = copies * page.iter().map(AuditEntry::size).sum::<usize>();
    long::processed(&iam, &caller, size, move || format.lines(page)).await?
}

fn ndjson(values: impl Iterator<Item = impl Serialize>) -> Result<Vec<u8>, BoxError> {
    let mut lines = Vec::new();
    for value in values {
        serde_json::to_writer(&mut lines, &value)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

/// Returns the cells of an entry. A null value becomes an empty cell.
fn cells(ExportedEntry { entry, cursor }: ExportedEntry) -> [String; COLUMNS.len()] {
    let json = |fields: Option<Map<String, Value>>| fields.map(|fields| Value::Object(fields).to_string());
    let cell = |text: Option<String>| text.map(harmless).unwrap_or_default();
    [
        entry.id.to_string(),
        entry.tenant_id.to_string(),
        cell(Some(entry.action)),
        cell(Some(entry.resource_type)),
        cell(entry.resource_id),
        cell(entry.user_id.map(|user| user.to_string())),
        cell(json(entry.old_value)),
        cell(json(entry.new_value)),
        cell(json(Some(entry.metadata))),
        cell(entry.correlation_id),
        cell(entry.ip_address),
        cell(entry.user_agent),
        entry.created_at.to_string(),
        // No user chooses the cursor, and a formula of letters, digits, hyphens and underscores has no effect.
        cursor,
    ]
}

/// Export audit entries
///
/// Returns all entries that pass the filter, newest first, in any number. The response is a stream of lines:
/// `application/x-ndjson`, or `text/csv` if `Accept` prefers it. The last field of every line is `cursor`. To
/// continue after a line, for instance when a transfer broke off, send its `cursor` with the same filter.
///
/// The service checks the caller's permission repeatedly during the export. Entries that are recorded during the
/// export do not appear in it. An export that fails breaks off the transfer, without the end that chunked transfer
/// coding requires. Every export is recorded before its first byte, as READ on AUDIT_LOG with its filter. This entry
/// may be the first line of the export.
///
/// NDJSON has one entry in each line, as the list shows it. With `format=ocsf`, each line is an event of the Open
/// Cybersecurity Schema Framework 1.6.0 instead, without regard to `Accept`. Its `unmapped` is the line of NDJSON, with the
/// `cursor`.
///
/// CSV follows RFC 4180, in UTF-8 with a byte order mark, and has a header line. The columns are the same fields in the same order. `oldValue`,
/// `newValue` and `metadata` are JSON texts. A null value is an empty cell. A cell that starts with one of `= + - @`,
/// a tab, a carriage return, a line feed or an apostrophe gets an apostrophe in front, so that no spreadsheet takes
/// it for a formula. To restore the text, remove one apostrophe from every cell that starts with one. The `cursor`
/// never gets an apostrophe.
#[utoipa::path(
    get,
    path = "/audit-logs/export",
    operation_id = "exportAuditLogs",
    tag = AUDIT_LOGS,
    params(AuditQuery, FormatQuery),
    responses(
        (
            status = 200,
            description = "The entries, one in each line",
            content((ExportedEntry = "application/x-ndjson"), (String = "text/csv")),
        ),
        Problems,
    ),
    extensions(("x-required-permission" = json!("audit-logs:read"))),
)]
pub(crate) async fn export(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(query): Query<AuditQuery>,
    Query(FormatQuery { format }): Query<FormatQuery>,
    headers: HeaderMap,
) -> Result<([(HeaderName, &'static str); 2], Body), Problem> {
    let mut params = Params::default();
    let (filter, cursor) = query.parse(&mut params);
    let format = params.parse::<EventFormat>("format", format.as_deref()).unwrap_or_default();
    params.finish()?;
    let format = Format::of(format, &headers);
    let export = iam.audit().export(&caller, filter, cursor, format.name()).await?;
    let pages = try_unfold((iam.clone(), export), next_page);
    let lines = pages.and_then(move |page| lines(iam.clone(), caller.clone(), format, page));
    Ok((format.headers(), Body::from_stream(written(format, lines))))
}

async fn next_page(
    (iam, mut export): (Iam, AuditExport),
) -> Result<Option<(Vec<AuditEntry>, (Iam, AuditExport))>, BoxError> {
    let entries = export.next(&iam).await?;
    Ok((!entries.is_empty()).then_some((entries, (iam, export))))
}

/// Returns the bytes of an exported file. An error is the last item of the stream; in a body, it breaks off the
/// transfer.
fn written(
    format: Format,
    lines: impl Stream<Item = Result<Vec<u8>, BoxError>>,
) -> impl Stream<Item = Result<Bytes, BoxError>> {
    // The body is read outside of the request's own span.
    let span = Span::current();
    once(async move { format.head() })
        .chain(lines)
        .map_ok(Bytes::from)
        .try_filter(|bytes| ready(!bytes.is_empty()))
        .inspect_err(move |error| span.in_scope(|| tracing::error!(error = %chain(&**error), "an export broke off")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::Router;
    use axum::routing::get;
    use futures_util::stream::iter;
    use iam_core::audit::{AuditFilter, NewEvent};
    use iam_core::{Caller, TenantId};
    use iam_store_memory::MemoryStore;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    /// Two pages of a log.
    async fn pages() -> Vec<Vec<AuditEntry>> {
        let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await.unwrap();
        let caller = Caller::system(TenantId::from_uuid(uuid::Uuid::now_v7()), "test");
        for resource_id in ["second", "first"] {
            let (action, resource_type) = ("SENT".to_owned(), "INVOICE".to_owned());
            let event =
                NewEvent { action, resource_type, resource_id: Some(resource_id.into()), ..NewEvent::default() };
            iam.audit().log(&caller, event).await.unwrap();
        }
        let log = iam.audit().list(&caller, AuditFilter::default(), None, 10).await.unwrap();
        log.entries.into_iter().map(|entry| vec![entry]).collect()
    }

    /// Returns the bytes that a client receives when the store gives these pages, until the server closes the
    /// connection.
    async fn transferred(format: Format, pages: Vec<Result<Vec<AuditEntry>, &'static str>>) -> String {
        let pages = Arc::new(pages);
        let export = async move || {
            let pages = pages.iter().map(|page| page.clone().map_err(BoxError::from)).collect::<Vec<_>>();
            // A store takes time for each page. Meanwhile, the server sends the bytes that it has.
            let pages = iter(pages).then(|page| async {
                tokio::task::yield_now().await;
                page
            });
            Body::from_stream(written(format, pages.map(move |page| format.lines(page?))))
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async { axum::serve(listener, Router::new().route("/", get(export))).await });
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").await.unwrap();
        let mut received = Vec::new();
        stream.read_to_end(&mut received).await.unwrap();
        server.abort();
        String::from_utf8(received).unwrap()
    }

    /// The end of chunked transfer coding. Without it, every client knows that a part of the response is missing.
    const END: &str = "\r\n0\r\n\r\n";

    #[tokio::test]
    async fn an_error_in_the_middle_breaks_the_transfer_off() {
        for format in [Format::NdJson, Format::Csv, Format::Ocsf] {
            let [first, second] = <[Vec<AuditEntry>; 2]>::try_from(pages().await).unwrap();
            let whole = transferred(format, vec![Ok(first.clone()), Ok(second)]).await;
            assert!(whole.ends_with(END) && whole.contains("first") && whole.contains("second"), "{whole}");
            let broken = transferred(format, vec![Ok(first), Err("the store is gone")]).await;
            assert!(broken.contains("first"), "{broken}");
            assert!(!broken.contains(END) && !broken.contains("the store is gone"), "{broken}");
        }
    }

    #[tokio::test]
    async fn an_export_without_entries_is_complete() {
        assert!(transferred(Format::NdJson, Vec::new()).await.ends_with("\r\n\r\n0\r\n\r\n"));
        let csv = transferred(Format::Csv, Vec::new()).await;
        assert!(csv.ends_with(&format!("{}\r\n{END}", COLUMNS.join(","))), "{csv}");
    }

    #[tokio::test]
    async fn the_columns_are_the_fields_of_an_exported_entry() {
        let entry = pages().await.remove(0).remove(0);
        let line = String::from_utf8(Format::NdJson.lines(vec![entry]).unwrap()).unwrap();
        let places: Vec<_> = COLUMNS.iter().map(|name| line.find(&format!("\"{name}\":"))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{line}");
        let fields: Map<String, Value> = serde_json::from_str(&line).unwrap();
        assert_eq!(fields.len(), COLUMNS.len());
    }
}
