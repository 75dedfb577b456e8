//! `GET /events`: the audit log as a feed (`docs/integrating.md#a-program-learns-what-happens`).

use std::time::Duration;

use axum::body::BodyDataStream;
use chrono::TimeDelta;
use futures_util::{StreamExt as _, join};
use iam_core::Caller;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::api_key::text;
use crate::app::TestApp;
use crate::people::Person;
use crate::request::{Response, members};

on_every_store![
    "the order of the feed is that in which the store commits";
    events_are_the_entries_in_the_order_of_the_leaves,
    a_reader_misses_nothing_and_sees_nothing_twice,
    an_empty_page_repeats_after,
    a_place_beyond_the_newest_event_is_400_and_names_that_event,
    types_select_events,
    invalid_parameters_are_named,
    an_event_appears_once_it_is_sequenced,
    a_waiting_request_is_answered_as_soon_as_there_is_an_event,
    a_wait_ends_without_an_event,
    a_waiting_request_needs_the_permission_when_it_is_answered,
    removed_events_are_gone,
    erased_fields_are_null,
    the_feed_of_another_tenant_is_not_shown,
    a_key_can_follow,
    a_stream_sends_the_same_events,
    a_stream_continues_after_the_last_event_id,
    a_stream_ends_without_the_permission,
    a_stream_begins_with_the_problem_if_there_is_one,
    a_stream_is_neither_kept_nor_delayed_by_proxies,
    a_user_has_at_most_ten_open_streams,
    a_request_that_waits_counts_as_an_open_stream,
];

async fn events(app: &TestApp, by: &Person, query: &[(&str, &str)]) -> Response {
    let request = query.iter().fold(app.get("/events").by(by), |request, (name, value)| request.query(name, value));
    request.send().await
}

fn sequences(page: &Value) -> Vec<u64> {
    page["data"].as_array().unwrap().iter().map(|event| event["sequence"].as_u64().unwrap()).collect()
}

fn types(page: &Value) -> Vec<&str> {
    page["data"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// Records events of the application, and sequences them.
async fn record(app: &TestApp, by: &Person, count: usize) {
    for number in 0..count {
        let body = json!({ "action": "SENT", "resourceType": "LETTER", "resourceId": number.to_string() });
        app.post("/audit-logs").by(by).json(&body).send().await.created();
    }
    app.sequence().await;
}

async fn events_are_the_entries_in_the_order_of_the_leaves(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    record(&app, &ada, 3).await;
    let page = events(&app, &ada, &[]).await.ok();
    assert_eq!(members(&page), ["data", "next"]);
    let mut entries = app.audit(&ada, &[]).await;
    let count = entries.len() as u64;
    assert!(count >= 7 && sequences(&page).into_iter().eq(1..=count) && page["next"] == count, "{page}");
    for event in page["data"].as_array().unwrap() {
        let entry = &event["entry"];
        assert_eq!(members(event), ["entry", "sequence", "type"]);
        let expected = format!("{}.{}", entry["resourceType"].as_str().unwrap(), entry["action"].as_str().unwrap());
        assert_eq!(event["type"], expected);
        let place = entries.iter().position(|other| other == entry).expect("an entry of the log");
        entries.remove(place);
        let proof = app.get(&format!("/audit-logs/{}/proof", entry["id"].as_str().unwrap())).by(&ada).send().await.ok();
        assert_eq!(proof["leafIndex"].as_u64().unwrap() + 1, event["sequence"].as_u64().unwrap());
    }
    assert!(entries.is_empty());
}

async fn a_reader_misses_nothing_and_sees_nothing_twice(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    record(&app, &ada, 9).await;
    let (mut next, mut seen) = (None, Vec::new());
    for round in 0..20 {
        let after = next.map(|next: u64| next.to_string());
        let mut query = vec![("limit", "3")];
        query.extend(after.as_deref().map(|after| ("after", after)));
        // Each page may come from another replica, or after a restart.
        let page = events(&app.restarted().await, &ada, &query).await.ok();
        assert!(sequences(&page).len() <= 3);
        seen.extend(sequences(&page));
        next = page["next"].as_u64();
        if round == 2 {
            record(&app, &ada, 5).await;
        }
    }
    let all = app.audit(&ada, &[]).await.len() as u64;
    assert!(seen.into_iter().eq(1..=all));
}

async fn an_empty_page_repeats_after(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    // Nothing is sequenced yet.
    assert_eq!(events(&app, &ada, &[]).await.ok(), json!({ "data": [], "next": 0 }));
    record(&app, &ada, 1).await;
    let end = events(&app, &ada, &[]).await.ok()["next"].as_u64().unwrap();
    let page = events(&app, &ada, &[("after", &end.to_string())]).await.ok();
    assert_eq!(page, json!({ "data": [], "next": end }));
    let page = events(&app, &ada, &[("after", "1"), ("types", "NOTHING.LIKE_THIS")]).await.ok();
    assert_eq!(page, json!({ "data": [], "next": 1 }));
}

/// A consumer whose place comes from a log that was lost, for instance because a backup was restored, must not skip what
/// follows.
async fn a_place_beyond_the_newest_event_is_400_and_names_that_event(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for newest in [0, 7] {
        if newest > 0 {
            record(&app, &ada, 1).await;
        }
        let newest = if newest > 0 { events(&app, &ada, &[]).await.ok()["next"].as_u64().unwrap() } else { 0 };
        for after in [newest + 1, newest + 1_000, i64::MAX as u64] {
            let stream = || app.get("/events").by(&ada).header("accept", "text/event-stream");
            for (request, field) in [
                (app.get("/events").by(&ada).query("after", &after.to_string()), "after"),
                (app.get("/events").by(&ada).query("after", &after.to_string()).query("wait", "30"), "after"),
                (stream().query("after", &after.to_string()), "after"),
                (stream().header("last-event-id", &after.to_string()), "Last-Event-ID"),
            ] {
                let refused = request.send().await;
                assert_eq!(refused.invalid_fields(), [field]);
                let message = refused.json()["errors"][0]["message"].as_str().unwrap().to_owned();
                assert!(message.contains(&format!(" {newest},")), "{message}");
            }
        }
    }
}

async fn types_select_events(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.role(&ada, "CLERK", &[]).await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.set_status(&ada, &bob, "SUSPENDED").await;
    record(&app, &ada, 2).await;
    let select = async |types: &str| events(&app, &ada, &[("types", types)]).await.ok();
    assert_eq!(types(&select("USER.*").await), ["USER.CREATE", "USER.CREATE", "USER.UPDATE", "USER.USER_SUSPENDED"]);
    assert_eq!(
        types(&select("USER.USER_SUSPENDED, LETTER.SENT").await),
        ["USER.USER_SUSPENDED", "LETTER.SENT", "LETTER.SENT"]
    );
    assert_eq!(types(&select("ROLE.CREATE").await).last(), Some(&"ROLE.CREATE"));
    assert!(types(&select("ROLE.DELETE").await).is_empty());
    // The page ends where the log ends, so the skipped events are not read again.
    let all = events(&app, &ada, &[]).await.ok();
    assert_eq!(select("USER.*").await["next"], all["next"]);
    let first = events(&app, &ada, &[("types", "LETTER.*"), ("limit", "1")]).await.ok();
    assert_eq!(types(&first), ["LETTER.SENT"]);
    let after = first["next"].to_string();
    let rest = events(&app, &ada, &[("types", "LETTER.*"), ("after", &after)]).await.ok();
    assert_eq!(sequences(&rest), [first["next"].as_u64().unwrap() + 1]);
}

async fn invalid_parameters_are_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (name, values) in [
        ("after", &["-1", "x", "1.5", "", "9223372036854775808"][..]),
        ("types", &["", "USER", "user.create", "USER.CREATE,", "*", "USER.CREATE.X"]),
        ("limit", &["0", "501", "x"]),
        ("wait", &["31", "-1", "x"]),
    ] {
        for value in values {
            assert_eq!(events(&app, &ada, &[(name, value)]).await.invalid_fields(), [name], "{value}");
        }
    }
    let all = events(&app, &ada, &[("after", "x"), ("types", "x"), ("limit", "x"), ("wait", "x")]).await;
    assert_eq!(all.invalid_fields(), ["after", "types", "limit", "wait"]);
    let request = app.get("/events").by(&ada).header("last-event-id", "x");
    assert_eq!(request.send().await.invalid_fields(), ["Last-Event-ID"]);
    let limit = events(&app, &ada, &[("limit", "500"), ("wait", "0")]).await;
    assert_eq!(limit.status(), 200);
}

async fn an_event_appears_once_it_is_sequenced(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.sequence().await;
    let end = events(&app, &ada, &[]).await.ok()["next"].to_string();
    app.role(&ada, "CLERK", &[]).await;
    assert_eq!(events(&app, &ada, &[("after", &end)]).await.ok()["data"], json!([]));
    app.sequence().await;
    assert_eq!(types(&events(&app, &ada, &[("after", &end)]).await.ok()), ["ROLE.CREATE"]);
}

/// Waits for an event after the one with this number.
async fn wait(app: &TestApp, by: &Person, after: &str, seconds: &str) -> Response {
    events(app, by, &[("after", after), ("wait", seconds), ("types", "LETTER.*,ROLE.*")]).await
}

async fn a_waiting_request_is_answered_as_soon_as_there_is_an_event(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    record(&app, &ada, 1).await;
    // Another replica, which receives no notifications, asks the store from time to time.
    let replica = app.restarted().await;
    for waiting in [&app, &replica] {
        let end = events(&app, &ada, &[]).await.ok()["next"].to_string();
        let (page, ()) = join!(wait(waiting, &ada, &end, "30"), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            app.add_user(&ada, &crate::access_table::fresh_email()).await;
            app.sequence().await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            record(&app, &ada, 1).await;
        });
        assert_eq!(types(&page.ok()), ["LETTER.SENT"]);
    }
}

async fn a_wait_ends_without_an_event(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.sequence().await;
    let end = events(&app, &ada, &[]).await.ok()["next"].to_string();
    let began = Instant::now();
    let page = wait(&app, &ada, &end, "1").await.ok();
    assert_eq!(page["data"], json!([]));
    assert!(began.elapsed() >= Duration::from_secs(1));
}

async fn a_waiting_request_needs_the_permission_when_it_is_answered(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let assignment = app.assign(&ada, &bob.user, "AUDITOR", None, None).await;
    app.sequence().await;
    let end = events(&app, &bob, &[]).await.ok()["next"].to_string();
    let (answer, ()) = join!(wait(&app, &bob, &end, "30"), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        app.delete(&format!("/role-assignments/{assignment}")).by(&ada).send().await.no_content();
        app.sequence().await;
    });
    answer.lacks("audit-logs:read");
    let carol = app.colleague(&ada, "carol@example.com").await;
    app.assign(&ada, &carol.user, "AUDITOR", None, None).await;
    app.sequence().await;
    let end = events(&app, &carol, &[]).await.ok()["next"].to_string();
    let (answer, ()) = join!(wait(&app, &carol, &end, "30"), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        app.set_status(&ada, &carol.user, "SUSPENDED").await;
        app.sequence().await;
    });
    answer.problem("unauthorized");
}

async fn removed_events_are_gone(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    record(&app, &ada, 3).await;
    let removed = events(&app, &ada, &[]).await.ok()["next"].as_u64().unwrap();
    app.put("/audit-logs/retention").by(&ada).json(&json!({ "retentionDays": 30 })).send().await.ok();
    app.pass(TimeDelta::days(31));
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    app.iam.audit().log(&system, letter()).await.unwrap();
    app.sequence().await;
    let ada = app.login(&ada).await;
    app.post("/audit-logs/retention/apply").by(&ada).send().await.ok();
    let first = removed + 2;
    for after in [0, 1, removed] {
        let gone = events(&app, &ada, &[("after", &after.to_string())]).await.problem("gone");
        assert_eq!(gone["firstSequence"], first, "{gone}");
    }
    // Without `after`, it starts at what is left.
    let page = events(&app, &ada, &[]).await.ok();
    assert_eq!(sequences(&page)[0], first);
    let page = events(&app, &ada, &[("after", &(first - 1).to_string())]).await.ok();
    assert_eq!(sequences(&page)[0], first);
}

fn letter() -> iam_core::audit::NewEvent {
    let (action, resource_type) = ("SENT".to_owned(), "LETTER".to_owned());
    iam_core::audit::NewEvent { action, resource_type, ..Default::default() }
}

async fn erased_fields_are_null(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.delete(&format!("/users/{bob}")).by(&ada).send().await.no_content();
    app.post("/audit-logs/erasures").by(&ada).json(&json!({ "userId": bob })).send().await.ok();
    app.sequence().await;
    let page = events(&app, &ada, &[("types", "USER.CREATE")]).await.ok();
    let of_bob = page["data"].as_array().unwrap().iter().find(|event| event["entry"]["resourceId"] == bob).unwrap();
    assert_eq!(of_bob["entry"], app.history(&ada, &bob).await.last().unwrap().clone());
    assert!(!page.to_string().contains("bob@example.com"));
}

async fn the_feed_of_another_tenant_is_not_shown(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    record(&app, &ada, 2).await;
    let page = events(&app, &eve, &[]).await.ok();
    assert!(page["data"].as_array().unwrap().iter().all(|event| event["entry"]["tenantId"] == eve.tenant));
    // What another tenant records wakes nobody here.
    let end = page["next"].to_string();
    let (page, ()) = join!(wait(&app, &eve, &end, "1"), record(&app, &ada, 2));
    assert_eq!(page.ok()["data"], json!([]));
}

async fn a_key_can_follow(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &["audit-logs:read"]).await;
    let key = app.key(&ada, &robot, &json!({})).await;
    record(&app, &ada, 1).await;
    let page = app.get("/events").bearer(text(&key)).send().await.ok();
    assert_eq!(types(&page).last(), Some(&"LETTER.SENT"));
    let next = page["next"].to_string();
    let (answer, ()) =
        join!(app.get("/events").query("after", &next).query("wait", "30").bearer(text(&key)).send(), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            app.delete(&format!("/api-keys/{}", key["id"].as_str().unwrap())).by(&ada).send().await.no_content();
            app.sequence().await;
        });
    answer.problem("unauthorized");
}

/// Reads events of a stream.
struct Events(BodyDataStream, String);

impl Events {
    async fn open(app: &TestApp, by: &Person, query: &[(&str, &str)], last: Option<u64>) -> Self {
        let request = app.get("/events").by(by).header("accept", "text/event-stream");
        let request = query.iter().fold(request, |request, (name, value)| request.query(name, value));
        let request = match last {
            Some(last) => request.header("last-event-id", &last.to_string()),
            None => request,
        };
        Self(request.stream().await, String::new())
    }

    /// The next event: its id and its data. `None` at the end of the stream.
    async fn next(&mut self) -> Option<(u64, Value)> {
        loop {
            if let Some((event, rest)) = self.1.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.1 = rest;
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
                if let (Some(id), Some(data)) = (field("id:"), field("data:")) {
                    return Some((id.parse().unwrap(), serde_json::from_str(data).unwrap()));
                }
                continue;
            }
            let bytes = timeout(Duration::from_secs(30), self.0.next()).await.expect("an event or the end")?.unwrap();
            self.1.push_str(str::from_utf8(&bytes).unwrap());
        }
    }
}

async fn a_stream_sends_the_same_events(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    record(&app, &ada, 2).await;
    let mut stream = Events::open(&app, &ada, &[("limit", "2")], None).await;
    let expected = events(&app, &ada, &[]).await.ok();
    for event in expected["data"].as_array().unwrap() {
        assert_eq!(stream.next().await, Some((event["sequence"].as_u64().unwrap(), event.clone())));
    }
    let (next, ()) = join!(stream.next(), record(&app, &ada, 1));
    let (id, event) = next.unwrap();
    assert_eq!((id, &event["type"]), (expected["next"].as_u64().unwrap() + 1, &json!("LETTER.SENT")));
    let only = &[("types", "ROLE.*"), ("after", &*id.to_string())];
    let mut roles = Events::open(&app, &ada, only, None).await;
    record(&app, &ada, 1).await;
    let (event, ()) = join!(roles.next(), async {
        app.role(&ada, "CLERK", &[]).await;
        app.sequence().await;
    });
    assert_eq!(event.unwrap().1["type"], "ROLE.CREATE");
}

async fn a_stream_continues_after_the_last_event_id(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    record(&app, &ada, 4).await;
    let mut stream = Events::open(&app, &ada, &[("after", "1")], None).await;
    let (last, _) = stream.next().await.unwrap();
    drop(stream);
    // A browser repeats the URL as it was.
    let mut stream = Events::open(&app.restarted().await, &ada, &[("after", "1")], Some(last)).await;
    assert_eq!(stream.next().await.unwrap().0, last + 1);
}

async fn a_stream_ends_without_the_permission(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let assignment = app.assign(&ada, &bob.user, "AUDITOR", None, None).await;
    app.sequence().await;
    let end = events(&app, &bob, &[]).await.ok()["next"].to_string();
    let mut stream = Events::open(&app, &bob, &[("after", &end)], None).await;
    app.delete(&format!("/role-assignments/{assignment}")).by(&ada).send().await.no_content();
    app.sequence().await;
    assert_eq!(stream.next().await, None);
}

async fn a_stream_begins_with_the_problem_if_there_is_one(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let stream = async |by: &Person, limit: &str| {
        app.get("/events").by(by).query("limit", limit).header("accept", "text/event-stream").send().await
    };
    stream(&bob, "1").await.lacks("audit-logs:read");
    assert_eq!(stream(&ada, "0").await.invalid_fields(), ["limit"]);
}

async fn a_stream_is_neither_kept_nor_delayed_by_proxies(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (headers, _) = app.get("/events").by(&ada).header("accept", "text/event-stream").streamed().await;
    let header = |name: &str| headers[name].to_str().unwrap();
    assert_eq!([header("content-type"), header("cache-control")], ["text/event-stream", "no-store"]);
    assert_eq!(header("x-accel-buffering"), "no");
}

async fn a_user_has_at_most_ten_open_streams(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    record(&app, &ada, 1).await;
    let key = app.key(&ada, &ada.user, &json!({ "permissions": ["audit-logs:read"] })).await;
    let by_key = || app.get("/events").bearer(text(&key)).header("accept", "text/event-stream");
    let mut streams = Vec::new();
    for _ in 0..9 {
        streams.push(Events::open(&app, &ada, &[], None).await);
    }
    // A key of the user counts for the user.
    let of_key = by_key().stream().await;
    let refused = [by_key().send().await, events(&app, &ada, &[("wait", "1")]).await];
    for response in refused {
        let seconds = response.header("retry-after").unwrap().parse::<u64>().unwrap();
        assert_eq!(response.problem("rate-limited")["retryAfter"], seconds);
    }
    // A page is no stream, and another user has ten of its own.
    events(&app, &ada, &[]).await.ok();
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.assign(&ada, &bob.user, "AUDITOR", None, None).await;
    Events::open(&app, &bob, &[], None).await;
    // A stream counts until its client goes away.
    drop(of_key);
    streams.push(Events::open(&app, &ada, &[], None).await);
    by_key().send().await.problem("rate-limited");
}

async fn a_request_that_waits_counts_as_an_open_stream(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.sequence().await;
    let end = events(&app, &ada, &[]).await.ok()["next"].to_string();
    let mut streams = Vec::new();
    for _ in 0..9 {
        streams.push(Events::open(&app, &ada, &[("after", &end)], None).await);
    }
    let (answer, ()) = join!(wait(&app, &ada, &end, "30"), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        events(&app, &ada, &[("wait", "1")]).await.problem("rate-limited");
        record(&app, &ada, 1).await;
    });
    answer.ok();
    // The answered request counts no more.
    streams.push(Events::open(&app, &ada, &[], None).await);
}
