//! `/audit-logs` (`docs/http-api.md#the-audit-log-over-http`): reading. The modules below test the other operations.

mod erasure;
mod event;
mod export;
mod names;
mod proof;
mod retention;

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::app::{TestApp, shown};
use crate::people::{PASSWORD, Person, WRONG_PASSWORD};
use crate::request::{ADDRESS, Request, members};

on_every_store![
    "filters and pages are statements of the store";
    an_entry_has_these_fields,
    an_entry_names_the_request_that_caused_it,
    the_newest_entry_comes_first,
    every_filter_finds_the_matching_items,
    the_filters_suspend_and_reactivate_find_the_longer_stored_names,
    filters_are_combined,
    start_and_end_are_inclusive_to_the_millisecond,
    a_date_without_a_time_means_that_whole_utc_day,
    a_time_may_have_an_offset,
    malformed_filters_are_400_and_named,
    limit_is_twenty_by_default_and_bounded,
    pages_follow_each_other_without_gap_or_repetition,
    pages_neither_skip_nor_repeat_while_new_entries_arrive,
    a_damaged_cursor_is_400,
    reading_needs_audit_logs_read_tenant_wide,
    the_organization_filter_finds_its_entries_and_its_assignments,
    every_filter_value_is_taken_literally,
    a_single_entry_is_the_same_as_in_the_list,
    an_unknown_entry_is_not_found,
    the_resource_types_and_actions_are_those_of_the_contract,
    the_catalogue_lists_everything_that_the_service_records,
    audit_logs_read_in_an_organization_gives_no_access,
    reading_is_not_recorded,
    a_refused_change_leaves_no_entry,
    no_entry_holds_a_secret,
];

fn log<'a>(app: &'a TestApp, by: &Person, query: &[(&str, &str)]) -> Request<'a> {
    let request = app.get("/audit-logs").by(by);
    query.iter().fold(request, |request, (name, value)| request.query(name, value))
}

fn ids(page: &Value) -> Vec<String> {
    page["data"].as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
}

async fn an_entry_has_these_fields(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = app.get("/audit-logs").by(&ada).send().await.ok();
    assert_eq!(members(&body), ["data", "pagination"]);
    assert_eq!(body["pagination"], json!({ "limit": 20, "hasNext": false, "nextCursor": null }));
    for entry in body["data"].as_array().unwrap() {
        let expected = [
            "action",
            "correlationId",
            "createdAt",
            "id",
            "ipAddress",
            "metadata",
            "newValue",
            "oldValue",
            "resourceId",
            "resourceType",
            "tenantId",
            "userAgent",
            "userId",
        ];
        assert_eq!(members(entry), expected);
        assert_eq!(entry["createdAt"], app.now());
        assert!(entry["metadata"].is_object());
    }
}

async fn an_entry_names_the_request_that_caused_it(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let path = format!("/users/{}", ada.user);
    let request = app.patch(&path).by(&ada).json(&json!({ "firstName": "Augusta" })).from("2001:db8::7");
    request.header("x-correlation-id", "renaming").header("user-agent", "test/1.0").send().await.ok();
    let entry = &app.audit(&ada, &[("action", "UPDATE")]).await[0];
    assert_eq!((&entry["correlationId"], &entry["userAgent"]), (&json!("renaming"), &json!("test/1.0")));
    assert_eq!(entry["ipAddress"], "2001:db8::7");
    app.attempt("ada@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
    let failure = &app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await[0];
    assert_eq!((&failure["ipAddress"], &failure["userAgent"]), (&json!(ADDRESS), &Value::Null));
}

async fn the_newest_entry_comes_first(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for name in ["Augusta", "Byron", "King"] {
        app.pass(TimeDelta::milliseconds(1));
        app.patch(&format!("/users/{}", ada.user)).by(&ada).json(&json!({ "lastName": name })).send().await.ok();
    }
    let entries = app.audit(&ada, &[]).await;
    let names: Vec<&Value> = entries.iter().take(3).map(|entry| &entry["newValue"]["lastName"]).collect();
    assert_eq!(names, ["King", "Byron", "Augusta"]);
    assert!(entries.is_sorted_by(|a, b| a["createdAt"].as_str() >= b["createdAt"].as_str()));
}

async fn every_filter_finds_the_matching_items(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.post("/auth/logout").by(&bob).header("x-correlation-id", "leaving").send().await.no_content();
    let all = app.audit(&ada, &[]).await;
    let cases = [
        ("resourceType", "SESSION"),
        ("resourceType", "ROLE_ASSIGNMENT"),
        ("resourceType", "NO_SUCH_TYPE"),
        ("resourceId", &bob.user),
        ("resourceId", "no such id"),
        ("action", "CREATE"),
        ("action", "LOGOUT"),
        ("action", "NO_SUCH_ACTION"),
        ("userId", &bob.user),
        ("userId", &bob.tenant),
        ("correlationId", "leaving"),
    ];
    for (name, value) in cases {
        let expected: Vec<&Value> = all.iter().filter(|entry| entry[name] == value).collect();
        assert_eq!(app.audit(&ada, &[(name, value)]).await.iter().collect::<Vec<_>>(), expected, "{name}={value}");
    }
    assert_eq!(app.audit(&ada, &[("userId", &bob.user)]).await.len(), 2, "login and logout");
}

async fn the_filters_suspend_and_reactivate_find_the_longer_stored_names(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    for (path, alias, stored) in
        [("suspend", "SUSPEND", "USER_SUSPENDED"), ("reactivate", "REACTIVATE", "USER_REACTIVATED")]
    {
        app.post(&format!("/users/{bob}/{path}")).by(&ada).send().await.ok();
        let entries = app.audit(&ada, &[("action", alias)]).await;
        assert_eq!((entries.len(), &entries[0]["action"]), (1, &json!(stored)));
        assert_eq!(app.audit(&ada, &[("action", stored)]).await, entries);
    }
}

async fn filters_are_combined(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.add_user(&ada, "bob@example.com").await;
    let creates = app.audit(&ada, &[("action", "CREATE"), ("resourceType", "USER")]).await;
    assert_eq!(creates.len(), 2);
    let one = app.audit(&ada, &[("action", "CREATE"), ("resourceType", "USER"), ("resourceId", &ada.user)]).await;
    assert_eq!(one, creates[1..]);
}

async fn start_and_end_are_inclusive_to_the_millisecond(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let moment = app.iam.now();
    let [before, at, after] = [-1, 0, 1].map(|millis| shown(moment + TimeDelta::milliseconds(millis)));
    for (name, value, count) in [
        ("startDate", &before, 4),
        ("startDate", &at, 4),
        ("startDate", &after, 0),
        ("endDate", &before, 0),
        ("endDate", &at, 4),
        ("endDate", &after, 4),
    ] {
        assert_eq!(app.audit(&ada, &[(name, value)]).await.len(), count, "{name}={value}");
    }
    assert_eq!(app.audit(&ada, &[("startDate", &at), ("endDate", &at)]).await.len(), 4);
}

async fn a_date_without_a_time_means_that_whole_utc_day(app: TestApp) {
    // The clock is at 09:15 on the 31st. One login comes at the last instant of that day, one at the first of the next.
    let ada = app.register("ada@example.com").await;
    let midnight = "2026-02-01T00:00:00Z".parse::<iam_core::clock::Timestamp>().unwrap();
    app.pass(midnight - app.iam.now() - TimeDelta::milliseconds(1));
    app.login(&ada).await;
    app.pass(TimeDelta::milliseconds(1));
    let ada = app.login(&ada).await;
    for (start, end, count) in [
        ("2026-01-31", "2026-01-31", 2),
        ("2026-01-31", "2026-02-01", 3),
        ("2026-02-01", "2026-02-01", 1),
        ("2026-01-01", "2026-01-30", 0),
        ("2026-02-02", "2026-02-28", 0),
    ] {
        let query = [("action", "LOGIN"), ("startDate", start), ("endDate", end)];
        assert_eq!(app.audit(&ada, &query).await.len(), count, "{start} to {end}");
    }
}

async fn a_time_may_have_an_offset(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    assert_eq!(app.audit(&ada, &[("startDate", "2026-01-31T10:15:00.123+01:00")]).await.len(), 4);
    assert_eq!(app.audit(&ada, &[("endDate", "2026-01-31T10:15:00.122+01:00")]).await.len(), 0);
}

async fn malformed_filters_are_400_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let cases = [
        ("userId", "17"),
        ("organizationId", "17"),
        ("correlationId", "two words"),
        ("startDate", "yesterday"),
        ("startDate", "2026-02-30"),
        ("endDate", "31.1.2026"),
        ("endDate", "2026-01-31T25:00:00Z"),
        ("limit", "x"),
        ("cursor", "x"),
    ];
    for (name, value) in cases {
        assert_eq!(log(&app, &ada, &[(name, value)]).send().await.invalid_fields(), [name], "{value}");
    }
}

async fn limit_is_twenty_by_default_and_bounded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for number in 0..20 {
        app.add_user(&ada, &format!("user{number}@example.com")).await;
    }
    let page = log(&app, &ada, &[]).send().await.ok();
    assert_eq!((ids(&page).len(), &page["pagination"]["hasNext"]), (20, &json!(true)));
    for (limit, count) in [("1", 1), ("24", 24), ("100", 24)] {
        let page = log(&app, &ada, &[("limit", limit)]).send().await.ok();
        assert_eq!(ids(&page).len(), count);
        assert_eq!(page["pagination"]["limit"].to_string(), limit);
        assert_eq!(page["pagination"]["hasNext"], count < 24);
    }
    for limit in ["0", "101", "-1"] {
        assert_eq!(log(&app, &ada, &[("limit", limit)]).send().await.invalid_fields(), ["limit"]);
    }
}

/// The ids of all pages in order. Calls `between` before each page but the first.
async fn pages(app: &TestApp, by: &Person, limit: &str, between: impl AsyncFn()) -> Vec<String> {
    let mut page = log(app, by, &[("limit", limit)]).send().await.ok();
    let mut seen = ids(&page);
    while page["pagination"]["hasNext"] == true {
        between().await;
        let cursor = page["pagination"]["nextCursor"].as_str().unwrap();
        page = log(app, by, &[("limit", limit), ("cursor", cursor)]).send().await.ok();
        seen.extend(ids(&page));
    }
    assert_eq!(page["pagination"]["nextCursor"], Value::Null);
    seen
}

async fn pages_follow_each_other_without_gap_or_repetition(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.add_user(&ada, "bob@example.com").await;
    app.pass(TimeDelta::minutes(1));
    app.add_user(&ada, "eve@example.com").await;
    let all = ids(&log(&app, &ada, &[]).send().await.ok());
    assert_eq!(all.len(), 6);
    for limit in ["1", "2", "3", "4", "5", "6"] {
        assert_eq!(pages(&app, &ada, limit, async || ()).await, all, "{limit}");
    }
}

async fn pages_neither_skip_nor_repeat_while_new_entries_arrive(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.add_user(&ada, "bob@example.com").await;
    let all = ids(&log(&app, &ada, &[]).send().await.ok());
    let seen = pages(&app, &ada, "2", async || {
        app.login(&ada).await;
    });
    assert_eq!(seen.await, all);
}

async fn a_damaged_cursor_is_400(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let page = log(&app, &ada, &[("limit", "1")]).send().await.ok();
    let cursor = page["pagination"]["nextCursor"].as_str().unwrap();
    for at in 0..cursor.len() {
        let other = if &cursor[at..=at] == "A" { "B" } else { "A" };
        let damaged = format!("{}{other}{}", &cursor[..at], &cursor[at + 1..]);
        for text in [damaged.as_str(), &cursor[..at]] {
            assert_eq!(log(&app, &ada, &[("cursor", text)]).send().await.invalid_fields(), ["cursor"], "{text}");
        }
    }
}

async fn reading_needs_audit_logs_read_tenant_wide(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["users:*"]).await;
    let refused = log(&app, &bob, &[]).send().await.problem("forbidden");
    assert!(refused["detail"].as_str().unwrap().contains("audit-logs:read"));
    app.assign(&ada, &bob.user, "AUDITOR", None, None).await;
    assert_eq!(app.audit(&bob, &[]).await, app.audit(&ada, &[]).await);
}

async fn the_organization_filter_finds_its_entries_and_its_assignments(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [north, south] = [app.organization(&ada, "north").await, app.organization(&ada, "south").await];
    let before = app.audit(&ada, &[]).await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let [here, there] = [north, south].map(Some);
    for organization in [here, there, None] {
        app.assign(&ada, &bob, "MEMBER", organization, None).await;
    }
    let event = json!({ "action": "VISITED", "resourceType": "ORGANIZATION", "resourceId": north });
    app.post("/audit-logs").by(&ada).json(&event).send().await.created();
    app.delete(&format!("/organizations/{north}")).by(&ada).send().await.no_content();
    let expected = ["CREATE", "DELETE", "ROLE_ASSIGNED", "ROLE_REVOKED", "VISITED"];
    let actions = async |filter: &[(&str, &str)]| {
        let entries = app.audit(&ada, filter).await;
        let mut actions: Vec<String> =
            entries.iter().map(|entry| entry["action"].as_str().unwrap().to_owned()).collect();
        actions.sort_unstable();
        actions
    };
    assert_eq!(actions(&[("organizationId", &north.to_string())]).await, expected);
    assert_eq!(actions(&[("organizationId", &south.to_string())]).await, ["CREATE", "ROLE_ASSIGNED"]);
    let both = [("organizationId", north.to_string()), ("resourceType", "ROLE_ASSIGNMENT".to_owned())];
    let both = [(both[0].0, both[0].1.as_str()), (both[1].0, both[1].1.as_str())];
    assert_eq!(actions(&both).await, ["ROLE_ASSIGNED", "ROLE_REVOKED"]);
    assert!(before.len() < app.audit(&ada, &[]).await.len());
}

async fn every_filter_value_is_taken_literally(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for value in ["", "%", "_", "' OR 1=1 --", "\\", "\u{0}", "a\u{0}", "\u{10ffff}", &"x".repeat(5_000)] {
        for name in ["resourceType", "resourceId", "action"] {
            assert!(app.audit(&ada, &[(name, value)]).await.is_empty(), "{name}={value}");
        }
    }
    for (name, value) in [("startDate", "9999-12-31T23:59:59.999Z"), ("endDate", "0001-01-01")] {
        assert!(app.audit(&ada, &[(name, value)]).await.is_empty(), "{name}={value}");
    }
    assert_eq!(app.audit(&ada, &[("startDate", "0001-01-01"), ("endDate", "9999-12-31")]).await.len(), 4);
}

async fn a_single_entry_is_the_same_as_in_the_list(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.attempt_at(&ada.tenant, "ada@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
    for is_sequenced in [false, true] {
        for entry in app.audit(&ada, &[]).await {
            let path = format!("/audit-logs/{}", entry["id"].as_str().unwrap());
            assert_eq!(app.get(&path).by(&ada).send().await.ok(), entry, "sequenced: {is_sequenced}");
        }
        app.sequence().await;
    }
}

async fn an_unknown_entry_is_not_found(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let entry = app.audit(&ada, &[]).await[0]["id"].as_str().unwrap().to_owned();
    let get = |by: &Person, id: &str| app.get(&format!("/audit-logs/{id}")).by(by);
    let missing = get(&ada, &ada.user).send().await.problem("not-found");
    assert_eq!(missing["detail"], "Audit entry not found.");
    get(&eve, &entry).send().await.problem("not-found");
    assert_eq!(get(&ada, "17").send().await.invalid_fields(), ["id"]);
}

async fn the_resource_types_and_actions_are_those_of_the_contract(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let list = async |path: &str| app.get(path).by(&ada).send().await.ok();
    let types = json!(["USER", "ORGANIZATION", "TENANT", "ROLE", "PERMISSION", "SESSION"]);
    assert_eq!(list("/audit-logs/resource-types").await, types);
    let actions = json!(["CREATE", "READ", "UPDATE", "DELETE", "LOGIN", "LOGOUT", "LOGIN_FAILURE"]);
    assert_eq!(list("/audit-logs/actions").await, actions);
}

/// Other tests check the entries of every operation, and therefore that the catalogue is complete.
async fn the_catalogue_lists_everything_that_the_service_records(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = app.get("/audit-logs/catalogue").by(&ada).send().await.ok();
    let recorded = |recorded: &iam_core::audit::Recorded| json!({ "resourceType": recorded.resource_type.as_str(), "actions": recorded.actions });
    assert_eq!(body, json!({ "data": iam_core::audit::CATALOGUE.iter().map(recorded).collect::<Vec<_>>() }));
    for (resource_type, action) in [
        ("USER", "USER_SUSPENDED"),
        ("USER", "LOGIN_FAILURE"),
        ("TENANT", "UPDATE"),
        ("ROLE_ASSIGNMENT", "ROLE_REVOKED"),
        ("SESSION", "TOKEN_REFRESH"),
    ] {
        let mut items = body["data"].as_array().unwrap().iter();
        let item = items.find(|item| item["resourceType"] == resource_type).unwrap();
        assert!(item["actions"].as_array().unwrap().contains(&json!(action)), "{resource_type} {action}");
    }
}

async fn audit_logs_read_in_an_organization_gives_no_access(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let bob = app.colleague_in(&ada, north, "bob@example.com", &["audit-logs:*"]).await;
    app.sequence().await;
    let entry = app.audit(&ada, &[]).await[0]["id"].as_str().unwrap().to_owned();
    for path in ["", "/resource-types", "/actions", "/catalogue", "/export", "/checkpoint", "/retention"] {
        app.get(&format!("/audit-logs{path}")).by(&bob).send().await.lacks("audit-logs:read");
    }
    for path in [format!("/{entry}"), format!("/{entry}/proof"), format!("/{}", ada.user)] {
        app.get(&format!("/audit-logs{path}")).by(&bob).send().await.lacks("audit-logs:read");
    }
    let there = log(&app, &bob, &[("organizationId", &north.to_string())]);
    there.send().await.lacks("audit-logs:read");
}

async fn reading_is_not_recorded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let before = app.audit(&ada, &[]).await;
    app.get("/users").by(&ada).send().await.ok();
    assert_eq!(app.audit(&ada, &[]).await, before);
}

async fn a_refused_change_leaves_no_entry(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let before = app.audit(&ada, &[]).await;
    app.post("/users").by(&bob).json(&crate::people::profile("eve@example.com")).send().await.problem("forbidden");
    app.delete(&format!("/users/{}", ada.user)).by(&bob).send().await.problem("forbidden");
    app.post("/users").by(&ada).json(&json!({})).send().await.problem("validation-error");
    assert_eq!(app.audit(&ada, &[]).await, before);
}

async fn no_entry_holds_a_secret(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.attempt("bob@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
    let body = json!({ "currentPassword": PASSWORD, "newPassword": "N3w&Password" });
    app.post("/auth/password").by(&bob).json(&body).send().await.no_content();
    app.post("/auth/refresh").json(&json!({ "refreshToken": bob.refresh })).send().await.ok();
    app.delete(&format!("/users/{}", bob.user)).by(&ada).send().await.no_content();
    let entries = app.audit(&ada, &[]).await;
    let shown = json!(entries).to_string();
    for secret in [PASSWORD, WRONG_PASSWORD, "N3w&Password", "$argon2", &bob.refresh, &bob.access, &ada.refresh] {
        assert!(!shown.contains(secret), "{secret}");
    }
    let passwords: Vec<&Value> = entries.iter().filter_map(|entry| entry["newValue"].get("password")).collect();
    assert_eq!(passwords, ["[REDACTED]", "[REDACTED]"]);
}
