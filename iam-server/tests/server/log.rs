//! What the log says about requests, and what it must not say.

use serde_json::{Value, json};

use crate::client::{Client, PASSWORD, Session, text};
use crate::collector::Collector;
use crate::factor::{Authenticator, challenge};
use crate::process::{Home, Server};
use crate::store::Store;

const EMAIL: &str = "grace@navy.example";
const UNKNOWN_EMAIL: &str = "unknown@navy.example";
const NEW_EMAIL: &str = "Edsger.W@thn.example";
const WRONG_PASSWORD: &str = "Wrong-Horse-8!";
const NEXT_PASSWORD: &str = "Better-Horse-9!";
const WRONG_RECOVERY_CODE: &str = "WRNG-CODE-WRNG-CODE";

/// Uses the service as one person does, with mistakes. Returns the texts that must not appear in any log or trace.
pub(crate) fn send_typical_requests(client: &Client) -> Vec<String> {
    let mut tokens = vec!["invented-token-0123456789".to_owned()];
    let mut remember = |session: &Session| tokens.extend([session.access.clone(), session.refresh.clone()]);

    let session = client.register(EMAIL);
    remember(&session);
    for (email, password) in [(EMAIL, WRONG_PASSWORD), (UNKNOWN_EMAIL, WRONG_PASSWORD)] {
        client.post("/api/v1/auth/login", &json!({ "email": email, "password": password })).expect(401);
    }
    let session = client.log_in(EMAIL);
    remember(&session);
    let refreshed = client.post("/api/v1/auth/refresh", &json!({ "refreshToken": session.refresh })).expect(200);
    remember(&Session {
        user: session.user.clone(),
        access: text(&refreshed["accessToken"]),
        refresh: text(&refreshed["refreshToken"]),
    });
    client.post("/api/v1/auth/refresh", &json!({ "refreshToken": "invented-token-0123456789" })).expect(401);

    let user = client.with_token(&text(&refreshed["accessToken"]));
    user.get("/api/v1/auth/me").expect(200);
    let person = |password: &str| {
        json!({
            "email": NEW_EMAIL, "password": password, "firstName": "Edsger", "lastName": "Dijkstra",
        })
    };
    user.post("/api/v1/users", &person("horse-without-digit")).expect(400);
    user.post("/api/v1/users", &person(WRONG_PASSWORD)).expect(201);
    user.post("/api/v1/users", &person(WRONG_PASSWORD)).expect(409);
    user.get(&format!("/api/v1/users?search={NEW_EMAIL}")).expect(200);
    user.get(&format!("/api/v1/users/{NEW_EMAIL}")).expect(400);
    user.get(&format!("/{NEW_EMAIL}")).expect(404);
    user.with_header("user-agent", NEW_EMAIL).get("/health").expect(200);
    let change = json!({ "currentPassword": PASSWORD, "newPassword": NEXT_PASSWORD });
    user.post("/api/v1/auth/password", &change).expect(204);
    let app = Authenticator::of(&user);
    let pending = challenge(client, EMAIL, NEXT_PASSWORD);
    let finish = |code: &str| {
        client.post("/api/v1/auth/login/second-factor", &json!({ "challenge": pending, "recoveryCode": code }))
    };
    finish(WRONG_RECOVERY_CODE).expect(401);
    finish(&app.recovery_codes[0]).expect(200);
    user.post("/api/v1/auth/step-up", &json!({ "password": NEXT_PASSWORD })).expect(401);
    let broken = format!(r#"{{"email": "{EMAIL}", "password": "{PASSWORD}", "#);
    client.post_text("/api/v1/auth/login", &broken).expect(400);
    let misspelt = json!({ "email": EMAIL, "password": PASSWORD, PASSWORD: EMAIL });
    client.post("/api/v1/auth/login", &misspelt).expect(400);
    client.with_token("invented-token-0123456789").get("/api/v1/auth/me").expect(401);
    user.post_text("/api/v1/auth/logout", "").expect(204);

    let given = [EMAIL, UNKNOWN_EMAIL, NEW_EMAIL, PASSWORD, WRONG_PASSWORD, NEXT_PASSWORD, "horse-without-digit"];
    tokens.extend(given.map(str::to_owned));
    tokens.extend([app.secret().to_owned(), pending, WRONG_RECOVERY_CODE.to_owned()]);
    tokens.extend(app.recovery_codes);
    // The start of a password hash, and an e-mail in the form in which it is looked up.
    tokens.extend(["$argon2".to_owned(), NEW_EMAIL.to_lowercase()]);
    tokens
}

/// The token that the server sends to the collector of traces.
const COLLECTORS_TOKEN: &str = "collectors-token-0123456789";

#[track_caller]
fn assert_logs_no_secret(server: Server) {
    let mut secrets = send_typical_requests(&server.client());
    secrets.push(COLLECTORS_TOKEN.to_owned());
    let log = server.stop().log;
    assert!(log.contains("answered"), "it logs requests:\n{log}");
    for secret in secrets {
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(&secret)).collect();
        assert!(lines.is_empty(), "{secret} is in the log:\n{}", lines.join("\n"));
    }
}

#[test]
fn no_password_token_or_email_is_logged() {
    for format in ["text", "json"] {
        let home = Home::new();
        assert_logs_no_secret(home.iam_server().env("IAM_LOG_FORMAT", format).serve());
    }
}

/// An operator who looks for a fault logs everything, including the events of the libraries.
#[test]
fn no_secret_is_logged_even_at_the_level_trace() {
    for (store, format) in [(Store::sqlite(), "text"), (Store::postgres(), "json")] {
        let collector = Collector::start();
        let launch = store.iam_server().env("IAM_LOG", "trace").env("IAM_LOG_FORMAT", format);
        let launch = launch.env("IAM_OTLP_ENDPOINT", &collector.url).env("OTEL_BSP_SCHEDULE_DELAY", "20");
        let token = format!("authorization=Bearer%20{COLLECTORS_TOKEN}");
        assert_logs_no_secret(launch.env("OTEL_EXPORTER_OTLP_HEADERS", token).serve());
        assert!(!collector.spans().is_empty());
    }
}

fn parsed(log: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    log.lines().map(parse).collect()
}

/// Returns the log lines of a request.
fn lines_of<'a>(log: &'a [Value], correlation_id: &str) -> Vec<&'a Value> {
    let lines: Vec<&Value> = log.iter().filter(|line| line["span"]["correlation_id"] == correlation_id).collect();
    assert!(!lines.is_empty(), "the log has no line of the request {correlation_id}: {log:#?}");
    lines
}

#[test]
fn json_lines_name_their_request_and_its_user() {
    let home = Home::new();
    let server = home.iam_server().env("IAM_LOG_FORMAT", "json").serve();
    let session = server.client().register(EMAIL);
    let user = server.client().with_token(&session.access);
    let me = user.get("/api/v1/auth/me");
    let unknown = user.get("/api/v1/nothing-here");
    let anonymous = server.client().get("/api/v1/users");
    let tenant = me.body["tenant"]["id"].clone();
    let log = parsed(&server.stop().log);

    for line in lines_of(&log, &me.correlation_id.unwrap()) {
        assert_eq!(line["span"]["user_id"], session.user, "{line}");
        assert_eq!(line["span"]["tenant_id"], tenant, "{line}");
        assert_eq!((&line["status"], &line["span"]["method"]), (&json!(200), &json!("GET")), "{line}");
        assert_eq!(line["span"]["route"], "/api/v1/auth/me", "{line}");
    }
    assert_eq!(lines_of(&log, &unknown.correlation_id.unwrap())[0]["status"], 404);
    for line in lines_of(&log, &anonymous.correlation_id.unwrap()) {
        assert_eq!(line["status"], 401, "{line}");
        assert!(line["span"].get("user_id").is_none(), "{line}");
    }
}

#[test]
fn a_log_line_leads_to_the_audit_entries_of_its_request() {
    let home = Home::new();
    let server = home.iam_server().env("IAM_LOG_FORMAT", "json").serve();
    let user = server.client().with_token(&server.client().register(EMAIL).access);
    let role =
        |name: &str| user.post("/api/v1/roles", &json!({ "name": name, "permissions": ["users:read"] })).expect(201);
    let roles = [role("CLERK"), role("COOK")];
    let entry_of = |role: &Value| {
        let created = format!("&resourceType=ROLE&action=CREATE&resourceId={}", text(&role["id"]));
        user.audit_entries(&created).remove(0)
    };
    let entries = roles.each_ref().map(entry_of);
    for entry in &entries {
        let linked = user.audit_entries(&format!("&correlationId={}", text(&entry["correlationId"])));
        assert_eq!(linked, std::slice::from_ref(entry));
    }
    let log = parsed(&server.stop().log);
    for entry in entries {
        for line in lines_of(&log, &text(&entry["correlationId"])) {
            assert_eq!(line["span"]["user_id"], entry["userId"], "{line}");
            assert_eq!(line["span"]["tenant_id"], entry["tenantId"], "{line}");
        }
    }
}

#[test]
fn log_lines_name_the_clients_trace() {
    let home = Home::new();
    let server = home.iam_server().env("IAM_LOG_FORMAT", "json").serve();
    let traced = server.client().with_header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    let traced = traced.get("/health").correlation_id.unwrap();
    let nonsense = server.client().with_header("traceparent", "nonsense").get("/health").correlation_id.unwrap();
    let log = parsed(&server.stop().log);
    for line in lines_of(&log, &traced) {
        assert_eq!(line["span"]["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736", "{line}");
    }
    for line in lines_of(&log, &nonsense) {
        assert!(line["span"].get("trace_id").is_none(), "{line}");
    }
}

#[test]
fn text_lines_have_the_same_fields() {
    let home = Home::new();
    let server = home.serve();
    let session = server.client().register(EMAIL);
    let me = server.client().with_token(&session.access).get("/api/v1/auth/me");
    let log = server.stop().log;
    let id = me.correlation_id.unwrap();
    let line = log.lines().find(|line| line.contains(&format!("correlation_id={id}"))).unwrap();
    assert!(line.contains(&format!("user_id={}", session.user)), "{line}");
    assert!(line.contains(&format!("tenant_id={}", text(&me.body["tenant"]["id"]))), "{line}");
    assert!(!log.contains('\u{1b}'), "a file must have no colours: {line}");
}

#[test]
fn a_filter_decides_what_is_logged() {
    let home = Home::new();
    let server = home.iam_server().env("IAM_LOG", "info,iam_axum=warn").serve();
    server.client().get("/health").expect(200);
    assert!(!server.stop().log.contains("answered"));
}
