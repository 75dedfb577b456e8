//! Lists, exports and the feed of events.
#![cfg(test)]

use iam_client::models::{AuditEntry, ExportAuditLogs, ListAuditLogs, ListPermissions};
use iam_client::{Code, Error, EventFilter};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fake::{Fake, Received, Reply};

fn number(received: &Received, name: &str) -> Option<u64> {
    let query = received.path.split_once('?')?.1;
    query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}="))?.parse().ok())
}

fn permission(name: &str) -> Value {
    json!({ "id": Uuid::nil(), "name": name, "description": "", "system": false, "createdAt": "2026-01-31T09:15:00.123Z" })
}

fn entry() -> Value {
    json!({ "id": Uuid::nil(), "tenantId": Uuid::nil(), "action": "CREATE", "resourceType": "USER", "metadata": {},
        "createdAt": "2026-01-31T09:15:00.123Z" })
}

#[tokio::test]
async fn items_are_those_of_all_pages() {
    let fake = Fake::start(async |received: Received, _| {
        assert!(received.path.contains("limit=2"), "{}", received.path);
        let page = number(&received, "page").unwrap_or(1);
        let data: Vec<_> = (0..2).map(|item| permission(&format!("p:{page}-{item}"))).collect();
        let pagination =
            json!({ "total": 6, "page": page, "limit": 2, "totalPages": 3, "hasNext": page < 3, "hasPrev": page > 1 });
        Reply::json(200, &json!({ "data": data, "pagination": pagination }))
    })
    .await;
    let query = ListPermissions { limit: Some(2), ..ListPermissions::default() };
    let names: Vec<_> = fake.client().list_permissions(&query).items().collect().await.unwrap();
    let names: Vec<_> = names.into_iter().map(|permission| permission.name).collect();
    assert_eq!(names, ["p:1-0", "p:1-1", "p:2-0", "p:2-1", "p:3-0", "p:3-1"]);

    // From the page that the caller names.
    let query = ListPermissions { page: Some(3), ..query };
    assert_eq!(fake.client().list_permissions(&query).items().collect().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_cursor_that_leads_nowhere_ends_the_pages() {
    let fake = Fake::start(async |received: Received, _| {
        let cursor = if received.path.contains("cursor=") { "the-same" } else { "the same" };
        let pagination = json!({ "limit": 1, "hasNext": true, "nextCursor": cursor });
        Reply::json(200, &json!({ "data": [entry()], "pagination": pagination }))
    })
    .await;
    let mut pages = fake.client().list_audit_logs(&ListAuditLogs::default()).pages();
    for _ in 0..2 {
        pages.next().await.unwrap().unwrap();
    }
    assert!(matches!(pages.next().await, Some(Err(Error::Answer { .. }))));
    assert!(pages.next().await.is_none());
}

#[tokio::test]
async fn an_export_is_read_line_by_line() {
    let mut line = entry();
    line["cursor"] = json!("c");
    let fake = Fake::start(move |_, number| {
        let (line, kind) = (line.to_string(), "content-type: application/x-ndjson\r\n");
        let reply = match number {
            0 => Reply::new(200, kind, &format!("{line}\n\n{line}\n{line}")),
            // Breaks off in the second line.
            1 => Reply(format!("HTTP/1.1 200 OK\r\n{kind}content-length: 9999\r\n\r\n{line}\n{{").into()),
            _ => Reply::new(200, kind, &"x".repeat(2 * 1024 * 1024)),
        };
        async { reply }
    })
    .await;
    let client = fake.client();
    let export = || client.export_audit_logs(&ExportAuditLogs::default()).lines();
    assert_eq!(export().collect().await.unwrap().len(), 3);
    let mut broken = export();
    assert_eq!(broken.next().await.unwrap().unwrap().cursor, "c");
    assert!(broken.next().await.unwrap().is_err());
    assert!(matches!(export().next().await, Some(Err(Error::Answer { .. }))));
}

fn events(numbers: std::ops::RangeInclusive<u64>, next: u64) -> Reply {
    let data: Vec<_> =
        numbers.map(|sequence| json!({ "sequence": sequence, "type": "USER.CREATE", "entry": entry() })).collect();
    Reply::json(200, &json!({ "data": data, "next": next }))
}

#[tokio::test]
async fn the_feed_resumes_after_every_failure_that_may_pass() {
    let fake = Fake::start(async |received: Received, count| match count {
        0 => Reply::problem(503, "unavailable", "retry-after: 0\r\n"),
        1 => Reply::nothing(),
        2 => events(1..=2, 2),
        // More failures than the attempts of a call.
        3..=8 => Reply::problem(429, "rate-limited", "retry-after: 0\r\n"),
        _ => {
            let after = number(&received, "after").unwrap();
            events(after + 1..=after + 1, after + 1)
        }
    })
    .await;
    let mut stream = fake.client().events(EventFilter { types: vec!["USER.*".into(), "ROLE.*".into()], after: None });
    for expected in 1..=4 {
        assert_eq!(stream.next().await.unwrap().unwrap().sequence, expected);
        assert_eq!(stream.position(), expected);
    }
    let seen = fake.seen("GET", "/events");
    assert!(seen.iter().all(|received| received.path.contains("types=USER.*%2CROLE.*")), "{}", seen[0].path);

    // Another process continues where this one was.
    let mut stream = fake.client().events(EventFilter { after: Some(stream.position()), ..EventFilter::default() });
    assert_eq!(stream.next().await.unwrap().unwrap().sequence, 5);
}

#[tokio::test]
async fn the_feed_ends_with_an_error_that_stays() {
    let fake = Fake::start(async |_, _| Reply::problem(410, "gone", "")).await;
    let mut stream = fake.client().events(EventFilter { after: Some(7), ..EventFilter::default() });
    assert_eq!(stream.next().await.unwrap().unwrap_err().code(), Some(Code::Gone));
    assert!(stream.next().await.is_none());
    assert_eq!(stream.position(), 7);
}

#[tokio::test]
async fn events_out_of_order_are_an_error() {
    for (numbers, next) in [(5..=6, 6), (11..=12, 11), (10..=11, 11)] {
        let fake = Fake::start(move |_, _| {
            let reply = events(numbers.clone(), next);
            async { reply }
        })
        .await;
        let mut stream = fake.client().events(EventFilter { after: Some(10), ..EventFilter::default() });
        assert!(matches!(stream.next().await, Some(Err(Error::Answer { .. }))), "{next}");
    }
}

#[test]
fn an_entry_needs_only_what_the_document_requires() {
    serde_json::from_value::<AuditEntry>(entry()).unwrap();
}
