//! The commands that look after tenants.

use serde_json::{Value, json};

use crate::client::{Client, PASSWORD, text};
use crate::process::{Ended, Launch};
use crate::store::Store;

const ADMINISTRATOR: [&str; 6] = ["--email", "ada@example.com", "--first-name", "Ada", "--last-name", "Lovelace"];

fn create(store: &Store, arguments: &[&str]) -> Launch {
    store.iam_server().args(["tenant", "create"]).args(arguments).args(ADMINISTRATOR)
}

/// The last line, without the log's.
fn reason(ended: &Ended) -> &str {
    assert_eq!((ended.code, ended.output.as_str()), (Some(1), ""), "{ended:?}");
    ended.log.lines().last().unwrap()
}

fn log_in(client: &Client, email: &str, password: &str) -> Value {
    client.post("/api/v1/auth/login", &json!({ "email": email, "password": password })).expect(200)
}

#[test]
fn a_tenant_is_made_where_registration_is_closed() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.iam_server().env("IAM_REGISTRATION", "closed").serve();
        server.log().wait_for_line("make the first with `iam-server tenant create`");
        let made = create(&store, &["--name", "Analytical Engines"]).env("IAM_REGISTRATION", "closed").run();
        assert_eq!(made.code, Some(0), "{made:?}");
        let lines: Vec<&str> = made.output.lines().collect();
        assert_eq!(lines.len(), 3, "{made:?}");
        assert!(lines[0].starts_with("Tenant analytical-engines ("), "{made:?}");
        assert!(lines[1].starts_with("ada@example.com ("), "{made:?}");
        let password = lines[2].strip_prefix("Password: ").unwrap();
        assert!(!made.log.contains(password), "{made:?}");

        let session = log_in(&server.client(), "ada@example.com", password);
        let client = server.client().with_token(&text(&session["accessToken"]));
        let me = client.get("/api/v1/auth/me").expect(200);
        assert_eq!(me["roles"][0]["role"]["name"], "TENANT_ADMIN");
        assert_eq!(client.get("/api/v1/roles").expect(200)["pagination"]["total"], 4);
        let entries = client.audit_entries("");
        let (login, made) = entries.split_last().unwrap();
        assert_eq!(login["action"], "LOGIN");
        let told: Vec<String> =
            made.iter().map(|it| format!("{} {}", text(&it["resourceType"]), text(&it["action"]))).collect();
        assert_eq!(told, ["TENANT CREATE", "USER CREATE", "ROLE_ASSIGNMENT ROLE_ASSIGNED"]);
        assert!(made.iter().all(|entry| entry["metadata"]["system"] == "tenant create command"), "{made:?}");
        assert!(made.iter().all(|entry| entry["userId"].is_null()), "{made:?}");
        assert!(!json!(entries).to_string().contains(password));
    }
}

#[test]
fn a_slug_and_a_password_can_be_given() {
    let store = Store::sqlite();
    let made = create(&store, &["--name", "Acme", "--slug", "acme-2", "--password-stdin"]);
    let made = made.input(&format!("{PASSWORD}\n")).run();
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(made.output.starts_with("Tenant acme-2 ("), "{made:?}");
    assert!(!made.output.contains("Password") && !made.output.contains(PASSWORD), "{made:?}");
    log_in(&store.serve().client(), "ada@example.com", PASSWORD);
}

#[test]
fn what_is_wrong_with_a_tenant_is_one_line() {
    let store = Store::sqlite();
    assert_eq!(create(&store, &["--name", "Acme"]).run().code, Some(0));
    let taken = create(&store, &["--name", "Acme", "--slug", "acme"]).run();
    assert_eq!(reason(&taken), "iam-server: making the tenant Acme: This slug is already taken.");
    let weak = create(&store, &["--name", "Weak", "--password-stdin"]).input("hunter2").run();
    assert!(reason(&weak).starts_with("iam-server: making the tenant Weak: password must have 8"), "{weak:?}");
    assert!(!weak.log.contains("hunter2"), "{weak:?}");
    for input in ["", "\n", "\nhunter2"] {
        let none = create(&store, &["--name", "None", "--password-stdin"]).input(input).run();
        assert_eq!(reason(&none), "iam-server: there is no password in the standard input");
    }
    let bad = create(&store, &["--name", " ", "--slug", "A"]).run();
    assert!(reason(&bad).contains("name must") && reason(&bad).contains("; slug must"), "{bad:?}");
    let missing = store.iam_server().args(["tenant", "create", "--name", "Acme"]).run();
    assert_eq!(missing.code, Some(2));
    assert!(missing.log.contains("not provided: --email <ADDRESS>; --first-name <NAME>"), "{missing:?}");
    store
        .serve()
        .client()
        .post("/api/v1/auth/login", &json!({ "email": "weak@example.com", "password": PASSWORD }))
        .expect(401);
}
