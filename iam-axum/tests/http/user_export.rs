//! `GET /users/{id}/export`: what is held about a person (`docs/operating.md#what-is-held-about-a-person`).

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::Person;
use crate::request::Request;

in_memory![
    no_secret_is_in_the_file,
    a_person_does_not_learn_where_others_were_nor_whom_it_changed,
    an_administrator_sees_the_whole_log_of_a_person,
    a_hold_is_shown_to_those_who_read_the_log_alone,
    failed_logins_are_those_of_the_person,
    the_page_shows_everything_and_runs_nothing,
    the_file_has_a_name_of_its_user_and_is_not_shown,
    the_format_is_json_or_html,
    another_person_needs_both_permissions_for_the_whole_person,
    only_a_recent_authentication_of_the_person_exports,
    a_person_runs_one_export_at_a_time,
];

mod kept {
    use super::*;

    on_every_store!["the store reads every part"; a_person_exports_what_is_held_about_it];
}

fn export<'a>(app: &'a TestApp, by: &Person, user: &str) -> Request<'a> {
    app.get(&format!("/users/{user}/export")).by(by)
}

fn list<'a>(file: &'a Value, section: &str) -> &'a [Value] {
    file[section].as_array().unwrap()
}

/// The change of a user in a file.
fn update_of<'a>(file: &'a Value, user: &str) -> &'a Value {
    let is = |entry: &&Value| entry["action"] == "UPDATE" && entry["resourceId"] == user;
    list(file, "entries").iter().find(is).unwrap()
}

/// The entries of a file as RESOURCE.ACTION, the newest first.
fn events(file: &Value) -> Vec<String> {
    let text = |entry: &Value, member: &str| entry[member].as_str().unwrap().to_owned();
    let event = |entry: &Value| format!("{}.{}", text(entry, "resourceType"), text(entry, "action"));
    list(file, "entries").iter().map(event).collect()
}

async fn a_person_exports_what_is_held_about_it(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    app.assign(&ada, &grace.user, "MEMBER", None, None).await;
    // The tenant shows the person none of them elsewhere.
    let attributes = json!({ "costCentre": "4711", "deep": { "a": [1, null] } });
    let change = json!({ "attributes": attributes });
    app.patch(&format!("/users/{}", grace.user)).by(&ada).json(&change).send().await.ok();
    app.key(&grace, &grace.user, &json!({ "name": "nightly" })).await;
    app.sequence().await;
    let file = export(&app, &grace, &grace.user).send().await.ok();
    assert_eq!((&file["user"]["email"], &file["user"]["hasPassword"]), (&json!("grace@example.com"), &json!(true)));
    assert_eq!((&file["user"]["recoveryCodesLeft"], &file["user"]["failedLogins"]), (&json!(0), &json!(0)));
    assert_eq!(file["user"]["attributes"], attributes);
    assert_eq!(list(&file, "sessions")[0]["id"], json!(grace.session));
    assert_eq!(list(&file, "apiKeys")[0]["name"], "nightly");
    assert_eq!(list(&file, "assignments")[0]["roleName"], "MEMBER");
    for section in ["factors", "identities", "eligibilities", "accessRequests", "invitations", "directory", "groups"] {
        assert!(list(&file, section).is_empty(), "{section}: {file}");
    }
    let expected =
        ["USER.READ", "API_KEY.CREATE", "USER.UPDATE", "ROLE_ASSIGNMENT.ROLE_ASSIGNED", "SESSION.LOGIN", "USER.CREATE"];
    assert_eq!(events(&file), expected);
    assert_eq!(list(&file, "entries")[4]["description"], "Session: login");
    let by_ada = export(&app, &ada, &grace.user).send().await.ok();
    assert_eq!(by_ada["user"]["attributes"], attributes);
}

async fn no_secret_is_in_the_file(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let key = app.key(&ada, &ada.user, &json!({})).await;
    let file = export(&app, &ada, &ada.user).send().await;
    let text = file.text();
    let (key, refresh) = (key["key"].as_str().unwrap(), ada.refresh.as_str());
    for secret in [key, refresh, &ada.access, crate::people::PASSWORD, "$argon2"] {
        assert!(!text.contains(secret), "{text}");
    }
    for member in ["hash", "salt", "secret", "peppered", "challenge"] {
        assert!(!text.to_lowercase().contains(&format!("\"{member}")), "{member}: {text}");
    }
}

async fn a_person_does_not_learn_where_others_were_nor_whom_it_changed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["users:*"]).await;
    let carol = app.add_user(&ada, "carol@example.com").await;
    let rename = |user: &str| app.patch(&format!("/users/{user}")).json(&json!({ "firstName": "Renamed" }));
    rename(&bob.user).by(&ada).from("2001:db8::ada").header("user-agent", "of-ada").send().await.ok();
    rename(&carol).by(&bob).from("2001:db8::b0b").header("user-agent", "of-bob").send().await.ok();
    let file = export(&app, &bob, &bob.user).send().await.ok();
    let by_ada = update_of(&file, &bob.user);
    assert_eq!(
        (&by_ada["userId"], &by_ada["ipAddress"], &by_ada["userAgent"]),
        (&json!(ada.user), &json!(null), &json!(null))
    );
    assert_eq!(by_ada["newValue"], json!({ "firstName": "Renamed" }));
    let of_carol = update_of(&file, &carol);
    assert_eq!((&of_carol["ipAddress"], &of_carol["userAgent"]), (&json!("2001:db8::b0b"), &json!("of-bob")));
    assert_eq!((&of_carol["newValue"], &of_carol["metadata"]), (&json!(null), &json!({})));
    let text = file.to_string();
    assert!(!text.contains("2001:db8::ada") && !text.contains("carol@example.com"), "{text}");
}

async fn an_administrator_sees_the_whole_log_of_a_person(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["users:*"]).await;
    let carol = app.add_user(&ada, "carol@example.com").await;
    app.patch(&format!("/users/{carol}")).by(&bob).json(&json!({ "firstName": "Renamed" })).send().await.ok();
    let file = export(&app, &ada, &bob.user).send().await.ok();
    let of_carol = list(&file, "entries").iter().find(|entry| entry["resourceId"] == carol).unwrap();
    assert_eq!(of_carol["newValue"], json!({ "firstName": "Renamed" }));
    // What others did to others is not about the person.
    assert!(list(&file, "entries").iter().all(|entry| entry["action"] != "CREATE" || entry["resourceId"] != carol));
}

async fn a_hold_is_shown_to_those_who_read_the_log_alone(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let hold = json!({ "userId": bob.user, "reason": "Case 2026-17" });
    app.post("/legal-holds").by(&ada).json(&hold).send().await.created();
    let has_hold = |file: &Value| events(file).iter().any(|event| event == "LEGAL_HOLD.CREATE");
    assert!(has_hold(&export(&app, &ada, &bob.user).send().await.ok()));
    let own = export(&app, &bob, &bob.user).send().await;
    assert!(!has_hold(&own.ok()) && !own.text().contains("Case 2026-17"));
}

async fn failed_logins_are_those_of_the_person(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    for email in ["bob@example.com", "carol@example.com"] {
        app.attempt_at(&ada.tenant, email, crate::people::WRONG_PASSWORD).from("2001:db8::bad").send().await;
    }
    let file = export(&app, &bob, &bob.user).send().await.ok();
    let failures: Vec<&Value> =
        list(&file, "entries").iter().filter(|entry| entry["action"] == "LOGIN_FAILURE").collect();
    assert_eq!(failures.len(), 1);
    // It is not known whose client it was.
    assert_eq!(
        (&failures[0]["metadata"]["email"], &failures[0]["ipAddress"]),
        (&json!("bob@example.com"), &json!(null))
    );
    assert_eq!(file["user"]["failedLogins"], 1);
}

async fn the_page_shows_everything_and_runs_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.patch(&format!("/users/{}", ada.user))
        .by(&ada)
        .json(&json!({ "firstName": "<script>x</script>" }))
        .send()
        .await
        .ok();
    let page = export(&app, &ada, &ada.user).header("accept", "text/html").send().await;
    assert_eq!((page.status(), page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none';") && policy.ends_with("sandbox"), "{policy}");
    let text = page.text();
    assert!(!text.contains("<script") && text.contains("&lt;script&gt;"), "{text}");
    for shown in ["<html lang=\"en\">", "<h1>", "<h2>Sessions</h2>", "<dt>Created at</dt>", "</html>"] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
}

async fn the_file_has_a_name_of_its_user_and_is_not_shown(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for format in ["json", "html"] {
        let file = export(&app, &ada, &ada.user).query("format", format).send().await;
        let expected = format!("attachment; filename=\"user-{}.{format}\"", ada.user);
        assert_eq!(file.header("content-disposition"), Some(&*expected));
    }
}

async fn the_format_is_json_or_html(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let refused = export(&app, &ada, &ada.user).query("format", "pdf").send().await;
    assert_eq!(refused.invalid_fields(), ["format"]);
    // The parameter goes first.
    let json = export(&app, &ada, &ada.user).header("accept", "text/html").query("format", "json");
    json.send().await.ok();
}

async fn another_person_needs_both_permissions_for_the_whole_person(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let carol = app.add_user(&ada, "carol@example.com").await;
    let half = app.colleague_who_may(&ada, "half@example.com", &["users:read"]).await;
    export(&app, &half, &carol).send().await.lacks("audit-logs:read");
    let both = app.colleague_who_may(&ada, "both@example.com", &["users:read", "audit-logs:read"]).await;
    export(&app, &both, &carol).send().await.ok();
    // A person who reads the log, and the users of a branch, exports no person with a role elsewhere.
    let branch = app.organization(&ada, "branch").await;
    app.assign(&ada, &carol, "MEMBER", Some(branch), None).await;
    app.assign(&ada, &carol, "MEMBER", None, None).await;
    let local = app.colleague_in(&ada, branch, "local@example.com", &["users:read"]).await;
    export(&app, &local, &carol).send().await.problem("forbidden");
    let eve = app.register("eve@example.com").await;
    export(&app, &eve, &carol).send().await.problem("not-found");
}

async fn only_a_recent_authentication_of_the_person_exports(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let key = app.key(&ada, &ada.user, &json!({ "permissions": ["*"] })).await;
    let by_key = app.get(&format!("/users/{}/export", ada.user)).bearer(key["key"].as_str().unwrap());
    by_key.send().await.problem("forbidden");
    app.age(&ada).await;
    export(&app, &ada, &ada.user).send().await.problem("insufficient-authentication");
    assert!(!app.audit(&ada, &[("action", "READ")]).await.iter().any(|entry| entry["resourceType"] == "USER"));
}

async fn a_person_runs_one_export_at_a_time(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    // The transfer is not read.
    let first = export(&app, &ada, &ada.user).stream().await;
    export(&app, &ada, &ada.user).send().await.problem("rate-limited");
    drop(first);
    export(&app, &ada, &ada.user).send().await.ok();
}
