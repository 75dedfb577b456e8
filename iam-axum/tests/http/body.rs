//! Request bodies (`docs/http-api.md#bodies`).

use axum::http::Method;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::app::{PREFIX, TestApp};
use crate::openapi::{document, operations};
use crate::people::profile;

in_memory![
    a_content_type_other_than_json_is_415,
    a_body_without_content_type_is_415,
    an_encoded_body_is_415,
    a_body_with_two_content_types_is_415,
    an_operation_without_a_body_refuses_fields,
    a_json_content_type_may_have_parameters,
    broken_json_is_400,
    trailing_garbage_is_400,
    json_other_than_an_object_is_400,
    text_that_is_not_utf_8_is_400,
    no_operation_reads_json_that_is_hidden_in_a_text,
    an_unknown_field_is_400_and_named,
    a_type_error_is_400_and_named,
    an_error_does_not_repeat_the_refused_value,
    a_body_over_256_kib_is_413,
    a_body_of_256_kib_is_read,
    a_missing_token_is_reported_before_an_invalid_body,
    a_body_that_arrives_after_the_session_ended_is_401,
    a_late_body_is_checked_against_the_rights_at_its_arrival,
    a_late_body_keeps_its_idempotency_key_and_its_condition,
    a_late_body_is_read,
];

const PATHS: [&str; 11] = [
    "/auth/register",
    "/auth/login",
    "/auth/refresh",
    "/users",
    "/roles",
    "/permissions",
    "/organizations",
    "/role-assignments/bulk",
    "/authz/check",
    "/audit-logs",
    "/audit-logs/erasures",
];

async fn a_content_type_other_than_json_is_415(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for path in PATHS {
        for content_type in
            ["text/plain", "application/xml", "application/x-www-form-urlencoded", "json", "application/jsonp", ""]
        {
            let request = app.post(path).by(&ada).body(profile("bob@example.com").to_string());
            let answer = request.header("content-type", content_type).send().await;
            answer.problem("unsupported-media-type");
        }
    }
}

async fn an_encoded_body_is_415(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for path in PATHS {
        for encoding in ["gzip", "br", "identity, gzip", ",gzip", "x"] {
            let request = app.post(path).by(&ada).json(&profile("bob@example.com"));
            request.header("content-encoding", encoding).send().await.problem("unsupported-media-type");
        }
    }
    for (encoding, email) in [("Identity", "bob@example.com"), (", identity ,", "grace@example.com")] {
        let request = app.post("/users").by(&ada).json(&profile(email));
        request.header("content-encoding", encoding).send().await.created();
    }
}

async fn a_body_with_two_content_types_is_415(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut request = app.post("/users").by(&ada).json(&profile("bob@example.com"));
    request.headers_mut().append("content-type", "text/plain".parse().unwrap());
    request.send().await.problem("unsupported-media-type");
}

/// Otherwise `{"preview": true}` would be taken for a preview, and the change would be made.
async fn an_operation_without_a_body_refuses_fields(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut count = 0;
    for operation in operations(&document()) {
        if !operation.description["requestBody"].is_null() || operation.method == Method::GET {
            continue;
        }
        let path = operation.path_of(&ada.user);
        let send = async |body: &str| {
            let request = app.request(operation.method.clone(), &format!("{PREFIX}{path}")).body(body.to_owned());
            let is_public = operation.required_permission() == "public";
            if is_public { request.send().await } else { request.by(&ada).send().await }
        };
        let refused = app.unrecorded(&ada, send(r#"{"preview": true}"#)).await;
        assert_eq!(refused.invalid_fields(), ["preview"], "{operation}");
        assert_eq!(send("preview=true").await.invalid_fields(), ["$"], "{operation}");
        count += 1;
    }
    assert!(count > 20, "{count}");
    // Some clients always send an object.
    let bob = app.add_user(&ada, "bob@example.com").await;
    for (path, body) in [("suspend", "{}"), ("reactivate", " \r\n"), ("suspend", "null")] {
        app.post(&format!("/users/{bob}/{path}")).by(&ada).body(body).send().await.ok();
    }
    let long = app.delete(&format!("/users/{bob}")).by(&ada).body(vec![b' '; 256 * 1024 + 1]).send().await;
    assert_eq!(long.status(), 413);
    let stranger = app.post(&format!("/users/{bob}/suspend")).body(r#"{"preview": true}"#);
    stranger.send().await.problem("unauthorized");
}

async fn a_body_without_content_type_is_415(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for path in PATHS {
        let request = app.post(path).by(&ada).body(profile("bob@example.com").to_string());
        request.send().await.problem("unsupported-media-type");
    }
}

async fn a_json_content_type_may_have_parameters(app: TestApp) {
    for (number, content_type) in
        ["application/json; charset=utf-8", "Application/JSON ;charset=utf-8"].iter().enumerate()
    {
        let body = profile(&format!("user{number}@example.com")).to_string();
        app.post("/auth/register").header("content-type", content_type).body(body).send().await.created();
    }
}

/// Checks that each path refuses this text as JSON with an error that names one field.
async fn all_refuse(app: &TestApp, body: &[u8]) {
    let ada = app.register("ada@example.com").await;
    for path in PATHS {
        let request = app.post(path).by(&ada).header("content-type", "application/json").body(body.to_vec());
        assert_eq!(request.send().await.invalid_fields().len(), 1, "{path}");
    }
    let path = format!("/users/{}", ada.user);
    let request = app.patch(&path).by(&ada).header("content-type", "application/json").body(body.to_vec());
    assert_eq!(request.send().await.invalid_fields().len(), 1);
}

async fn broken_json_is_400(app: TestApp) {
    for body in
        ["{", "{\"email\": }", "{\"email\": \"a\",}", "{'email': 'a'}", "{\"email\": \"a\" \"b\"}", "", " ", "nonsense"]
    {
        all_refuse(&app, body.as_bytes()).await;
    }
    all_refuse(&app, "[".repeat(100_000).as_bytes()).await;
}

async fn trailing_garbage_is_400(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for garbage in ["x", "{}", ",", "]", "\u{0}"] {
        let request = app.patch(&format!("/users/{}", ada.user)).by(&ada).header("content-type", "application/json");
        request.body(format!("{{}}{garbage}")).send().await.problem("validation-error");
    }
    let request = app.patch(&format!("/users/{}", ada.user)).by(&ada).header("content-type", "application/json");
    request.body("\n {} \r\n").send().await.ok();
}

async fn json_other_than_an_object_is_400(app: TestApp) {
    for body in ["null", "17", "\"text\"", "true", "[{}]"] {
        all_refuse(&app, body.as_bytes()).await;
    }
}

async fn text_that_is_not_utf_8_is_400(app: TestApp) {
    all_refuse(&app, b"{\"email\": \"\xff\"}").await;
}

/// A text of thousands of levels, which a parser of the text in each level would not notice (`foundation/iam-json`).
fn hidden_levels() -> String {
    let mut text = "1".to_owned();
    for _ in 0..12 {
        let escaped = text.replace('\\', "\\u005c").replace('"', "\\u0022");
        let inner = format!(r#"{{"$serde_json::private::RawValue":"{escaped}"}}"#);
        text = format!("{}{inner}{}", "[".repeat(120), "]".repeat(120));
    }
    text
}

async fn no_operation_reads_json_that_is_hidden_in_a_text(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = format!(r#"{{"credential":{}}}"#, hidden_levels());
    let mut count = 0;
    for operation in operations(&document()) {
        if operation.description["requestBody"]["content"]["application/json"].is_null() {
            continue;
        }
        let path = operation.path_of(&ada.user);
        let request = app.request(operation.method.clone(), &format!("{PREFIX}{path}"));
        let request = request.header("content-type", "application/json").body(body.clone());
        let is_public = operation.required_permission() == "public";
        let sent = async || if is_public { request.send().await } else { request.by(&ada).send().await };
        let refused = app.unrecorded(&ada, sent()).await;
        assert_eq!(refused.invalid_fields(), ["$"], "{operation}");
        count += 1;
    }
    assert!(count > 60, "{count}");
    let header = URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"EdDSA","x":{}}}"#, hidden_levels()));
    app.get("/auth/me").bearer(&format!("{header}.e30.c2ln")).send().await.problem("unauthorized");
}

async fn an_unknown_field_is_400_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for path in PATHS {
        let refused = app.post(path).by(&ada).json(&json!({ "expiresAt": null })).send().await;
        assert_eq!(refused.invalid_fields(), ["expiresAt"], "{path}");
    }
}

async fn a_type_error_is_400_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for wrong in [json!(17), json!(true), json!(["a"]), json!({ "a": 1 }), Value::Null] {
        let mut body = profile("bob@example.com");
        body["lastName"] = wrong;
        for path in ["/auth/register", "/users"] {
            assert_eq!(app.post(path).by(&ada).json(&body).send().await.invalid_fields(), ["lastName"]);
        }
    }
}

async fn an_error_does_not_repeat_the_refused_value(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let path = format!("/users/{}", ada.user);
    for body in [json!(["hunter2"]), json!({ "status": "hunter2" }), json!("hunter2"), json!({ "email": "hunter2" })] {
        let answer = app.patch(&path).by(&ada).json(&body).send().await;
        answer.problem("validation-error");
        assert!(
            !answer.text().contains("hunter2"),
            "the answer repeats a value that may be a secret: {}",
            answer.text()
        );
    }
}

/// A body, padded with spaces to this length in bytes.
fn padded(body: &Value, length: usize) -> String {
    let text = body.to_string();
    format!("{}{text}", " ".repeat(length - text.len()))
}

async fn a_body_over_256_kib_is_413(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for path in PATHS {
        let request = app.post(path).by(&ada).header("content-type", "application/json");
        request.body(padded(&profile("bob@example.com"), 256 * 1024 + 1)).send().await.problem("payload-too-large");
    }
}

async fn a_body_of_256_kib_is_read(app: TestApp) {
    let request = app.post("/auth/register").header("content-type", "application/json");
    request.body(padded(&profile("ada@example.com"), 256 * 1024)).send().await.created();
}

async fn a_missing_token_is_reported_before_an_invalid_body(app: TestApp) {
    app.post("/users").header("content-type", "text/plain").body("x").send().await.problem("unauthorized");
    app.post("/users").json(&json!({ "unknown": 1 })).send().await.problem("unauthorized");
}

async fn a_body_that_arrives_after_the_session_ended_is_401(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let request = app.post("/users").by(&ada).json(&profile("grace@example.com"));
    let meanwhile = async { app.post("/auth/logout").by(&ada).send().await.no_content() };
    request.send_after(meanwhile).await.problem("unauthorized");
    let ada = app.login(&ada).await;
    assert_eq!(app.get("/users").by(&ada).send().await.ok()["data"].as_array().unwrap().len(), 1);
}

async fn a_late_body_is_checked_against_the_rights_at_its_arrival(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let assignment = app.permit(&grace, &["users:create"]).await;
    let create = |email: &str| app.post("/users").by(&grace).json(&profile(email));
    let meanwhile = async {
        app.permit(&grace, &["roles:read"]).await;
    };
    create("alan@example.com").send_after(meanwhile).await.created();
    let meanwhile = async {
        app.delete(&format!("/role-assignments/{assignment}")).by(&ada).send().await.no_content();
    };
    create("emmy@example.com").send_after(meanwhile).await.lacks("users:create");
    let meanwhile = async {
        app.permit(&grace, &["users:create"]).await;
    };
    create("hedy@example.com").send_after(meanwhile).await.created();
}

async fn a_late_body_keeps_its_idempotency_key_and_its_condition(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let user = app.add_user(&ada, "grace@example.com").await;
    let path = format!("/users/{user}");
    let later = || async { tokio::task::yield_now().await };
    let renamed = json!({ "firstName": "Grace" });
    let request = app.patch(&path).by(&ada).json(&renamed).header("if-match", "\"other\"");
    request.send_after(later()).await.problem("precondition-failed");
    let create = || app.post("/users").by(&ada).json(&profile("alan@example.com")).header("idempotency-key", "one");
    let made = create().send_after(later()).await.created();
    let again = create().send_after(later()).await;
    assert_eq!((again.created(), again.header("idempotent-replayed")), (made, Some("true")));
}

async fn a_late_body_is_read(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let request = app.post("/users").by(&ada).json(&profile("grace@example.com"));
    request.send_after(async { tokio::task::yield_now().await }).await.created();
}
