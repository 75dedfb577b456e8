//! Announces access requests: receives the event of a new one, and prints a link to its page in the console.
//!
//! `WEBHOOK_SECRET=whsec_… cargo run -p iam-examples --example announce-access-requests` listens on port 9000, or on
//! `PORT`.

use std::error::Error;
use std::io::{self, Write as _};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde::Deserialize;
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::net::TcpListener;
use uuid::Uuid;

/// The event of a new request.
const ASKED: &str = "ACCESS_REQUEST.CREATE";

/// The body of an event. `data` is an entry of the audit log, whose members depend on the type.
#[derive(Deserialize)]
struct Message {
    r#type: String,
    data: Value,
}

/// The entry of a new request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    resource_id: Uuid,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    reason: String,
    ticket: Option<String>,
}

struct Announcer {
    /// Verifies requests with the secret of the webhook.
    webhook: Webhook,
    /// Where the console is, such as `http://localhost:8080/console`.
    console: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let secret = std::env::var("WEBHOOK_SECRET").map_err(|_| "set WEBHOOK_SECRET to the secret of the webhook")?;
    let console = std::env::var("CONSOLE_URL").unwrap_or_else(|_| "http://localhost:8080/console".to_owned());
    let port = std::env::var("PORT").map_or(Ok(9000), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    tracing::info!("receiving at http://{}/hook", listener.local_addr()?);
    axum::serve(listener, router(&secret, &console)?).await?;
    Ok(())
}

fn router(secret: &str, console: &str) -> Result<Router, Box<dyn Error>> {
    let console = console.trim_end_matches('/').to_owned();
    let announcer = Announcer { webhook: Webhook::new(secret)?, console };
    Ok(Router::new().route("/hook", post(receive)).with_state(Arc::new(announcer)))
}

/// Answers 204 for an event that is announced, or of another type. After any other status, the event is sent again
/// later.
async fn receive(State(announcer): State<Arc<Announcer>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    // The signature is over the bytes of the body, so it is verified before they are parsed.
    if let Err(error) = announcer.webhook.verify(&body, &headers) {
        tracing::warn!(%error, "a request is not from the service");
        return StatusCode::UNAUTHORIZED;
    }
    let announcement = serde_json::from_slice(&body).and_then(|message| announcement(&announcer.console, message));
    let Ok(announcement) = announcement else { return StatusCode::BAD_REQUEST };
    // A real program sends it into a chat, and keeps the `webhook-id`: an event is sent at least once.
    let written = announcement.map_or(Ok(()), |text| writeln!(io::stdout(), "{text}"));
    if let Err(error) = written {
        tracing::error!(%error, "the announcement was not written");
        return StatusCode::INTERNAL_SERVER_ERROR;
    }
    StatusCode::NO_CONTENT
}

/// Returns what to say about an event; `None` if it is no new request.
///
/// The link alone gives nothing: its page asks for a login, and for a recent authentication to decide.
fn announcement(console: &str, message: Message) -> serde_json::Result<Option<String>> {
    if message.r#type != ASKED {
        return Ok(None);
    }
    let Entry { resource_id, metadata: Metadata { reason, ticket } } = serde_json::from_value(message.data)?;
    let ticket = ticket.map(|ticket| format!(" ({ticket})")).unwrap_or_default();
    Ok(Some(format!("A user asks for access{ticket}: {reason}\n{console}/access-requests/{resource_id}")))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use chrono::{TimeDelta, Utc};
    use serde_json::json;
    use tower::ServiceExt as _;

    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "019bb2a4-5c10-7a1e-9b7d-3f0c2ad41b83";

    fn event(of: &str, metadata: &Value) -> Value {
        let data = json!({ "tenantId": "t", "action": "CREATE", "resourceId": ID, "metadata": metadata });
        json!({ "type": of, "timestamp": "2026-01-31T09:15:00.000Z", "data": data })
    }

    fn announced(event: Value) -> Option<String> {
        announcement("https://iam.example.com/console", serde_json::from_value(event).unwrap()).unwrap()
    }

    #[test]
    fn a_new_request_is_announced_with_a_link_to_its_page() {
        let metadata = json!({ "targetUserId": "u", "roleId": "r", "reason": "The disk is full.", "ticket": "OPS-7" });
        let link = format!("https://iam.example.com/console/access-requests/{ID}");
        let expected = format!("A user asks for access (OPS-7): The disk is full.\n{link}");
        assert_eq!(announced(event(ASKED, &metadata)), Some(expected));
        let without_ticket = json!({ "reason": "The disk is full.", "ticket": null });
        let expected = format!("A user asks for access: The disk is full.\n{link}");
        assert_eq!(announced(event(ASKED, &without_ticket)), Some(expected));
    }

    #[test]
    fn other_events_are_not() {
        for of in ["ACCESS_REQUEST.APPROVED", "USER.CREATE", "WEBHOOK.TEST"] {
            assert_eq!(announced(event(of, &json!({ "reason": { "of": "an application" } }))), None);
        }
        let mut other_path = event(ASKED, &json!({ "reason": "x" }));
        other_path["data"]["resourceId"] = json!("../sign-in");
        let refused = announcement("", serde_json::from_value(other_path).unwrap());
        assert!(refused.is_err());
    }

    #[tokio::test]
    async fn only_a_fresh_request_with_a_valid_signature_is_accepted() {
        let body = event("USER.CREATE", &json!({})).to_string();
        let send = async |age: TimeDelta, signed: &str| {
            let timestamp = (Utc::now() - age).timestamp();
            let signature = Webhook::new(SECRET).unwrap().sign("one", timestamp, signed.as_bytes()).unwrap();
            let request = Request::post("/hook").header("webhook-id", "one").header("webhook-timestamp", timestamp);
            let request = request.header("webhook-signature", signature).body(Body::from(body.clone())).unwrap();
            router(SECRET, "http://localhost:8080/console/").unwrap().oneshot(request).await.unwrap().status()
        };
        assert_eq!(send(TimeDelta::zero(), &body).await, StatusCode::NO_CONTENT);
        assert_eq!(send(TimeDelta::zero(), "{}").await, StatusCode::UNAUTHORIZED);
        assert_eq!(send(TimeDelta::minutes(10), &body).await, StatusCode::UNAUTHORIZED);
    }
}
