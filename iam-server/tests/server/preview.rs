//! Previews write nothing into the database.

use std::process::Command;

use serde_json::{Value, json};

use crate::audit::wait_until_sequenced;
use crate::client::{Client, PASSWORD, text};
use crate::store::Store;

#[test]
fn previews_change_no_row_of_a_sqlite_database() {
    let store = Store::sqlite();
    let file = store.home().path().join("iam.db");
    preview_everything(&store, || output(Command::new("sqlite3").arg(&file).arg(".dump")));
}

#[test]
fn previews_change_no_row_of_a_postgres_database() {
    let store = Store::postgres();
    // The parameters are those of the driver.
    let url = store.url().split('?').next().unwrap();
    // Some releases begin and end a dump with a random key: \restrict and \unrestrict.
    let is_sql = |line: &&str| !line.starts_with('\\');
    let dump = || output(Command::new("pg_dump").args(["--inserts", url])).lines().filter(is_sql).collect();
    preview_everything(&store, dump);
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn preview_everything(store: &Store, dump: impl Fn() -> String) {
    let server = store.serve();
    let ada = server.client().with_token(&server.client().register("ada@example.com").access);
    let made = |path: &str, body: Value| text(&ada.post(&format!("/api/v1/{path}"), &body).expect(201)["id"]);
    made("permissions", json!({ "name": "orders:refund" }));
    let role = made("roles", json!({ "name": "CLERK", "permissions": ["orders:refund"] }));
    let unused = made("roles", json!({ "name": "UNUSED", "permissions": ["orders:refund"] }));
    let north = made("organizations", json!({ "name": "North" }));
    let south = made("organizations", json!({ "name": "South" }));
    let grace = made("users", person("grace@example.com"));
    let alan = made("users", person("alan@example.com"));
    ada.post(&format!("/api/v1/users/{alan}/suspend"), &json!({})).expect(200);
    let held = made("role-assignments", json!({ "userId": grace, "roleId": role, "organizationId": north }));
    made("role-assignments", json!({ "userId": alan, "roleId": role }));

    let new = json!({ "userId": grace, "roleId": role });
    // A body, or none; and whether the change affects a user.
    let changes = [
        ("POST", "role-assignments".to_owned(), Some(new.clone()), true),
        ("POST", "role-assignments/bulk".to_owned(), Some(json!({ "assignments": [new] })), true),
        ("PATCH", format!("role-assignments/{held}"), Some(json!({ "expiresAt": "2100-01-01T00:00:00Z" })), true),
        ("DELETE", format!("role-assignments/{held}"), None, true),
        ("POST", "roles".to_owned(), Some(json!({ "name": "OTHER", "permissions": ["orders:refund"] })), false),
        ("PATCH", format!("roles/{role}"), Some(json!({ "permissions": [] })), true),
        ("DELETE", format!("roles/{unused}"), None, false),
        ("POST", "organizations".to_owned(), Some(json!({ "name": "East" })), false),
        ("PATCH", format!("organizations/{north}"), Some(json!({ "parentId": south })), false),
        ("PATCH", format!("organizations/{north}"), Some(json!({ "status": "SUSPENDED" })), true),
        ("DELETE", format!("organizations/{north}"), None, true),
        ("PATCH", format!("users/{grace}"), Some(json!({ "status": "SUSPENDED" })), true),
        ("POST", format!("users/{grace}/suspend"), None, true),
        ("POST", format!("users/{alan}/reactivate"), None, true),
        ("DELETE", format!("users/{grace}"), None, true),
    ];
    wait_until_sequenced(&ada);
    let before = dump();
    assert!(before.contains("grace@example.com"), "the dump has no rows");
    for (number, (method, path, body, affects)) in changes.iter().enumerate() {
        let keyed = ada.with_header("idempotency-key", &number.to_string());
        let preview = send(&keyed, method, &format!("{path}?preview=true"), body.as_ref());
        assert_eq!((&preview["allowed"], preview["users"].as_u64().unwrap() > 0), (&json!(true), *affects), "{path}");
        assert!(dump() == before, "{method} {path} changed the database");
    }
    // The dump sees a change.
    send(&ada, "DELETE", &format!("role-assignments/{held}"), None);
    assert!(dump() != before);
}

fn send(client: &Client, method: &str, path: &str, body: Option<&Value>) -> Value {
    let body = body.map(Value::to_string);
    let answer = client.send(method, &format!("/api/v1/{path}"), body.as_deref()).unwrap();
    assert!(answer.status < 300, "{method} {path}: {answer:?}");
    answer.body
}

fn person(email: &str) -> Value {
    json!({ "email": email, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" })
}
