//! Calls of the API, as a client makes them.

use iam_benches::{Outcome, PASSWORD, email};
use serde_json::{Value, json};

use crate::client::{Connection, authorization, request};

pub(crate) const PREFIX: &str = "/api/v1";

/// The body that creates the user with this number.
pub(crate) fn person(number: u64) -> Value {
    json!({ "email": email(number), "password": PASSWORD, "firstName": "Ada", "lastName": "Lovelace" })
}

/// The body with which the user with this number logs in.
pub(crate) fn credentials(number: u64) -> Value {
    json!({ "email": email(number), "password": PASSWORD })
}

/// Sends a request, and returns the body of the answer. The answer must have this status.
pub(crate) async fn ask(
    connection: &mut Connection,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: Option<Value>,
    status: u16,
) -> Outcome<Value> {
    let body = body.map(|body| body.to_string());
    let headers = token.map(authorization).unwrap_or_default();
    let answer = connection.ask(&request(method, &format!("{PREFIX}{path}"), &headers, body.as_deref())).await?;
    answer.expect(status).map_err(|error| format!("{method} {path}: {error}"))?;
    if answer.body.is_empty() { Ok(Value::Null) } else { answer.json() }
}

/// Makes an API key of the user that has just logged in. Returns the answer.
pub(crate) async fn new_key(connection: &mut Connection, token: &str) -> Outcome<Value> {
    let me = ask(connection, "GET", "/auth/me", Some(token), None, 200).await?;
    let path = format!("/users/{}/api-keys", text(&me, "/user/id")?);
    ask(connection, "POST", &path, Some(token), Some(json!({ "name": "benchmark" })), 201).await
}

pub(crate) fn text(value: &Value, pointer: &str) -> Outcome<String> {
    Ok(value.pointer(pointer).and_then(Value::as_str).ok_or_else(|| format!("{pointer} is missing"))?.to_owned())
}

pub(crate) fn number(value: &Value, pointer: &str) -> Outcome<u64> {
    Ok(value.pointer(pointer).and_then(Value::as_u64).ok_or_else(|| format!("{pointer} is missing"))?)
}
