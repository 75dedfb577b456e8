//! `GET /audit-logs/export`: the log as a file.

use axum::body::Bytes;
use futures_util::StreamExt as _;
use iam_core::Caller;
use iam_core::audit::NewEvent;
use serde_json::{Value, json};

use super::event::edge_case_metadata;
use crate::app::TestApp;
use crate::people::{Person, with};
use crate::request::{Request, members};

in_memory![
    every_line_is_an_entry_of_the_list_with_a_cursor,
    the_csv_export_has_the_same_content,
    the_accept_header_selects_the_format,
    an_export_has_every_entry_of_a_long_log,
    an_export_resumes_from_the_cursor_of_any_line,
    an_export_reads_pages_and_omits_entries_made_meanwhile,
    every_filter_of_the_list_applies_to_an_export,
    an_export_is_recorded_before_its_first_byte,
    malformed_filters_are_400_and_not_recorded,
    no_cell_of_a_csv_export_is_a_spreadsheet_formula,
    an_export_shows_only_the_callers_tenant,
];

const NDJSON: &str = "application/x-ndjson";
const CSV: &str = "text/csv; charset=utf-8";

fn export<'a>(app: &'a TestApp, by: &Person, query: &[(&str, &str)]) -> Request<'a> {
    let request = app.get("/audit-logs/export").by(by);
    query.iter().fold(request, |request, (name, value)| request.query(name, value))
}

/// The lines of an export, each without its cursor, and the cursors.
async fn ndjson(app: &TestApp, by: &Person, query: &[(&str, &str)]) -> (Vec<Value>, Vec<String>) {
    let text = export(app, by, query).send().await.ok_of(NDJSON);
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| entry_and_cursor(serde_json::from_str(line).unwrap())).unzip()
}

fn entry_and_cursor(mut line: Value) -> (Value, String) {
    let cursor = line.as_object_mut().unwrap().remove("cursor").unwrap();
    (line, cursor.as_str().unwrap().to_owned())
}

/// The same for an export as CSV.
async fn csv(app: &TestApp, by: &Person, query: &[(&str, &str)]) -> (Vec<Value>, Vec<String>) {
    let text = export(app, by, query).header("accept", "text/csv").send().await.ok_of(CSV);
    let text = text.strip_prefix('\u{feff}').expect("a byte order mark");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    reader.records().map(|row| entry_and_cursor(object(&names, &row.unwrap()))).unzip()
}

/// A row of CSV as JSON, by the rules in the OpenAPI document.
fn object(names: &[String], row: &csv::StringRecord) -> Value {
    let value = |(name, cell): (&String, &str)| {
        let is_json = ["oldValue", "newValue", "metadata"].contains(&name.as_str());
        let text = cell.strip_prefix('\'').unwrap_or(cell);
        let value = match text {
            "" => Value::Null,
            text if is_json => serde_json::from_str(text).unwrap(),
            text => json!(text),
        };
        (name.clone(), value)
    };
    Value::Object(names.iter().zip(row).map(value).collect())
}

/// The administrator of a tenant whose audit log has values of every kind.
async fn with_values_of_every_kind(app: &TestApp) -> Person {
    let ada = app.register("ada@example.com").await;
    app.attempt_at(&ada.tenant, "ada@example.com", "x").send().await.problem("unauthorized");
    app.patch(&format!("/users/{}", ada.user)).by(&ada).json(&json!({ "lastName": "King, \"Ada\"" })).send().await.ok();
    for (id, agent, metadata) in [
        ("=1+1", "=cmd|' /C calc'!A0", json!({ "text": "line\nbreak, \"quoted\"; ü" })),
        ("+1", "'quoted'", json!({})),
        ("-1", "-1", edge_case_metadata()),
        ("@SUM(A1)", "a,b;c\"d", json!({ "=": "=" })),
        ("'=1", "'", json!({ "empty": "" })),
    ] {
        let body = json!({ "action": "SENT", "resourceType": "INVOICE", "resourceId": id, "metadata": metadata });
        app.post("/audit-logs").by(&ada).header("user-agent", agent).json(&body).send().await.created();
        app.pass(chrono::TimeDelta::milliseconds(1));
    }
    ada
}

async fn every_line_is_an_entry_of_the_list_with_a_cursor(app: TestApp) {
    let ada = with_values_of_every_kind(&app).await;
    let (entries, cursors) = ndjson(&app, &ada, &[]).await;
    let listed = app.audit(&ada, &[]).await;
    assert_eq!(entries, listed, "the record of the export itself comes first");
    assert_eq!(entries[0]["action"], "READ");
    assert_eq!(members(&entries[0]).len(), 13);
    let page = app.get("/audit-logs?limit=3").by(&ada).send().await.ok();
    assert_eq!(page["pagination"]["nextCursor"], cursors[2], "the cursors are those of the list");
}

async fn the_csv_export_has_the_same_content(app: TestApp) {
    let ada = with_values_of_every_kind(&app).await;
    let (entries, cursors) = csv(&app, &ada, &[]).await;
    assert_eq!(entries, app.audit(&ada, &[]).await);
    assert_eq!(entries[0]["action"], "READ");
    let (_, as_ndjson) = ndjson(&app, &ada, &[]).await;
    assert_eq!(cursors, as_ndjson[1..]);
    let text = export(&app, &ada, &[]).header("accept", "text/csv").send().await.text();
    let header = text.trim_start_matches('\u{feff}').split("\r\n").next().unwrap();
    let line = export(&app, &ada, &[]).send().await.text().lines().next().unwrap().to_owned();
    let positions: Vec<usize> = header.split(',').map(|name| line.find(&format!("\"{name}\":")).unwrap()).collect();
    assert!(positions.is_sorted(), "the columns have the order of the fields: {header}; {line}");
    assert!(header.ends_with(",cursor") && text.ends_with("\r\n"));
}

async fn the_accept_header_selects_the_format(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let cases = [
        (None, NDJSON),
        (Some("*/*"), NDJSON),
        (Some("application/json"), NDJSON),
        (Some("application/x-ndjson"), NDJSON),
        (Some("text/csv"), CSV),
        (Some("text/*"), CSV),
        (Some("text/csv, application/x-ndjson"), NDJSON),
        (Some("text/csv, application/x-ndjson;q=0.9"), CSV),
        (Some("text/csv;q=0.8, */*;q=0.9"), NDJSON),
        (Some("text/csv;q=0"), NDJSON),
    ];
    for (accept, content_type) in cases {
        let request = export(&app, &ada, &[]);
        let answer = accept.into_iter().fold(request, |request, accept| request.header("accept", accept)).send().await;
        answer.ok_of(content_type);
        let extension = if content_type == CSV { "csv" } else { "ndjson" };
        let disposition = format!("attachment; filename=\"audit-log.{extension}\"");
        assert_eq!(answer.header("content-disposition"), Some(disposition.as_str()), "{accept:?}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
}

/// More entries than fit into four pages of an export.
const MANY: usize = 2_017;

/// Records this many events, several in each millisecond.
async fn fill(app: &TestApp, person: &Person, count: usize) {
    let system = Caller::system(person.tenant.parse().unwrap(), "test");
    for number in 0..count {
        let (action, resource_type) = ("SENT".to_owned(), "INVOICE".to_owned());
        let event = NewEvent { action, resource_type, resource_id: Some(number.to_string()), ..NewEvent::default() };
        app.iam.audit().log(&system, event).await.unwrap();
        if number % 7 == 0 {
            app.pass(chrono::TimeDelta::milliseconds(1));
        }
    }
}

const EVENTS: (&str, &str) = ("resourceType", "INVOICE");

async fn an_export_has_every_entry_of_a_long_log(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    fill(&app, &ada, MANY).await;
    let expected: Vec<Value> = (0..MANY).rev().map(|number| json!(number.to_string())).collect();
    for (entries, cursors) in [ndjson(&app, &ada, &[EVENTS]).await, csv(&app, &ada, &[EVENTS]).await] {
        let numbers: Vec<Value> = entries.iter().map(|entry| entry["resourceId"].clone()).collect();
        assert!(numbers == expected, "{} of {MANY} entries", numbers.len());
        assert_eq!(cursors.len(), MANY);
    }
    assert_eq!(ndjson(&app, &ada, &[EVENTS]).await.0, app.audit(&ada, &[EVENTS]).await);
}

async fn an_export_resumes_from_the_cursor_of_any_line(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    fill(&app, &ada, 1_017).await;
    let (entries, cursors) = ndjson(&app, &ada, &[EVENTS]).await;
    for at in [0, 1, 6, 498, 499, 500, 501, 516, 517, 1_000, 1_015, 1_016] {
        let query = [EVENTS, ("cursor", cursors[at].as_str())];
        for (rest, following) in [ndjson(&app, &ada, &query).await, csv(&app, &ada, &query).await] {
            assert!(rest == entries[at + 1..], "after line {at}: {} lines", rest.len());
            assert!(following == cursors[at + 1..]);
        }
    }
}

async fn an_export_reads_pages_and_omits_entries_made_meanwhile(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    fill(&app, &ada, 1_200).await;
    let mut stream = export(&app, &ada, &[EVENTS]).stream().await;
    let lines = |bytes: &Bytes| bytes.iter().filter(|byte| **byte == b'\n').count();
    let mut counts = vec![lines(&stream.next().await.unwrap().unwrap())];
    fill(&app, &ada, 5).await;
    while let Some(bytes) = stream.next().await {
        counts.push(lines(&bytes.unwrap()));
    }
    assert_eq!(counts.iter().sum::<usize>(), 1_200);
    assert!(counts.iter().all(|lines| *lines <= 500), "at most one page is in memory at a time: {counts:?}");
}

async fn every_filter_of_the_list_applies_to_an_export(app: TestApp) {
    let ada = with_values_of_every_kind(&app).await;
    let north = app.organization(&ada, "north").await.to_string();
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.post(&format!("/users/{bob}/suspend")).by(&ada).header("x-correlation-id", "mine").send().await.ok();
    let now = app.now();
    let filters: [&[(&str, &str)]; 12] = [
        &[("action", "SENT")],
        &[("action", "SUSPEND")],
        &[("resourceType", "USER")],
        &[("resourceId", &bob)],
        &[("userId", &ada.user)],
        &[("organizationId", &north)],
        &[("correlationId", "mine")],
        &[("startDate", &now)],
        &[("endDate", "2026-01-31T09:15:00.124Z")],
        &[("startDate", "2026-01-31"), ("endDate", "2026-01-31"), ("resourceType", "INVOICE")],
        &[("action", "SENT"), ("userId", &bob)],
        &[("resourceType", "NOTHING")],
    ];
    for filter in filters {
        let (as_ndjson, as_csv) = (ndjson(&app, &ada, filter).await.0, csv(&app, &ada, filter).await.0);
        let listed = app.audit(&ada, filter).await;
        // If the record of an export passes the filter, the later export shows the records of both exports.
        assert_eq!(as_csv, listed, "{filter:?}");
        assert_eq!(listed[listed.len() - as_ndjson.len()..], as_ndjson, "{filter:?}");
        assert!(listed.len() - as_ndjson.len() <= 1);
    }
}

async fn an_export_is_recorded_before_its_first_byte(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let stream = export(&app, &ada, &[EVENTS]).header("x-correlation-id", "exporting").stream().await;
    drop(stream);
    let entries = app.audit(&ada, &[("correlationId", "exporting")]).await;
    let [entry] = entries.as_slice() else { panic!("{entries:?}") };
    crate::people::says(entry, &ada, "READ", "AUDIT_LOG", &ada.tenant);
    let expected = json!({ "format": NDJSON, "resumed": false, "filter": { "resourceType": "INVOICE" } });
    assert_eq!(entry["metadata"], expected);
}

async fn malformed_filters_are_400_and_not_recorded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let before = app.audit(&ada, &[]).await;
    for (name, value) in [
        ("userId", "17"),
        ("organizationId", "17"),
        ("startDate", "yesterday"),
        ("endDate", "31.1.2026"),
        ("correlationId", "two words"),
        ("cursor", "x"),
    ] {
        assert_eq!(export(&app, &ada, &[(name, value)]).send().await.invalid_fields(), [name]);
    }
    assert_eq!(app.audit(&ada, &[]).await, before);
}

async fn no_cell_of_a_csv_export_is_a_spreadsheet_formula(app: TestApp) {
    let ada = with_values_of_every_kind(&app).await;
    let text = export(&app, &ada, &[]).header("accept", "text/csv").send().await.ok_of(CSV);
    assert!(text.starts_with("\u{feff}id,tenantId,"), "spreadsheets see that it is UTF-8");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut guarded = 0;
    for row in reader.records() {
        let row = row.unwrap();
        // No user chooses the text of the cursor.
        for cell in row.iter().take(13) {
            assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']), "{cell}");
            guarded += usize::from(cell.starts_with('\''));
        }
        assert!(!row[13].contains(['=', '+', '@', '(', '|', '!']), "{}", &row[13]);
    }
    assert_eq!(guarded, 5 + 4, "all resource ids and all user agents but one");
    let only = json!({ "action": "SENT", "resourceType": "TABBED" });
    app.post("/audit-logs").by(&ada).json(&with(only, &json!({ "resourceId": "a=b" }))).send().await.created();
    let row = csv(&app, &ada, &[("resourceType", "TABBED")]).await.0;
    assert_eq!(row[0]["resourceId"], "a=b", "inside a cell, the characters are harmless");
}

async fn an_export_shows_only_the_callers_tenant(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    for person in [&ada, &eve] {
        let entries = ndjson(&app, person, &[]).await.0;
        assert!(entries.iter().all(|entry| entry["tenantId"] == person.tenant));
        assert_eq!(entries.len(), 5);
    }
    let cursor = ndjson(&app, &ada, &[]).await.1.remove(0);
    let foreign = ndjson(&app, &eve, &[("cursor", &cursor)]).await.0;
    assert!(foreign.iter().all(|entry| entry["tenantId"] == eve.tenant));
}
