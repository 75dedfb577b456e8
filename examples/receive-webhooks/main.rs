//! Receives webhooks: verifies each request by Standard Webhooks, and handles each event once.
//!
//! `WEBHOOK_SECRET=whsec_… cargo run -p iam-examples --example receive-webhooks` listens on port 9000, or on `PORT`.

use std::collections::{HashSet, VecDeque};
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde::Deserialize;
use standardwebhooks::Webhook;
use tokio::net::TcpListener;

/// The body of a request. `data` is an entry of the audit log; take the fields that you need.
#[derive(Deserialize)]
struct Message {
    r#type: String,
    timestamp: String,
    data: Entry,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    tenant_id: String,
    resource_id: Option<String>,
}

/// What the handler needs.
struct Receiver {
    /// Verifies requests with the secret of the webhook.
    webhook: Webhook,
    handled: Mutex<Handled>,
}

/// The last events that were handled. A real receiver keeps their ids in its database, in the transaction that handles
/// them.
#[derive(Default)]
struct Handled {
    ids: HashSet<String>,
    order: VecDeque<String>,
}

impl Handled {
    const MAX: usize = 10_000;

    /// Returns whether the event is new.
    fn insert(&mut self, id: &str) -> bool {
        if !self.ids.insert(id.to_owned()) {
            return false;
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > Self::MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        true
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().init();
    let secret = std::env::var("WEBHOOK_SECRET").map_err(|_| "set WEBHOOK_SECRET to the secret of the webhook")?;
    let port = std::env::var("PORT").map_or(Ok(9000), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    tracing::info!("receiving at http://{}/hook", listener.local_addr()?);
    axum::serve(listener, router(&secret)?).await?;
    Ok(())
}

fn router(secret: &str) -> Result<Router, Box<dyn Error>> {
    let receiver = Receiver { webhook: Webhook::new(secret)?, handled: Mutex::default() };
    Ok(Router::new().route("/hook", post(receive)).with_state(Arc::new(receiver)))
}

/// Answers 204 for an event that is handled, now or before. After any other status, the event is sent again later.
async fn receive(State(receiver): State<Arc<Receiver>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    // The signature is over the bytes of the body, so it is verified before they are parsed.
    if let Err(error) = receiver.webhook.verify(&body, &headers) {
        tracing::warn!(%error, "a request is not from the service");
        return StatusCode::UNAUTHORIZED;
    }
    let id = headers.get("webhook-id").and_then(|id| id.to_str().ok());
    let (Some(id), Ok(message)) = (id, serde_json::from_slice::<Message>(&body)) else {
        return StatusCode::BAD_REQUEST;
    };
    // An event is sent at least once.
    if receiver.handled.lock().unwrap_or_else(PoisonError::into_inner).insert(id) {
        handle(&message);
    }
    StatusCode::NO_CONTENT
}

/// A real receiver puts the event into a queue here, and answers before it does slow work.
fn handle(message: &Message) {
    let Message { r#type, timestamp, data: Entry { tenant_id, resource_id } } = message;
    let resource_id = resource_id.as_deref().unwrap_or_default();
    tracing::info!(r#type, timestamp, tenant_id, resource_id, "an event");
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use chrono::{TimeDelta, Utc};
    use tower::ServiceExt as _;

    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    async fn send(id: &str, age: TimeDelta, signed: &str, sent: &str) -> StatusCode {
        let timestamp = (Utc::now() - age).timestamp();
        let signature = Webhook::new(SECRET).unwrap().sign(id, timestamp, signed.as_bytes()).unwrap();
        let request = Request::post("/hook").header("webhook-id", id).header("webhook-timestamp", timestamp);
        let request = request.header("webhook-signature", signature).body(Body::from(sent.to_owned())).unwrap();
        router(SECRET).unwrap().oneshot(request).await.unwrap().status()
    }

    #[tokio::test]
    async fn only_a_fresh_request_with_a_valid_signature_is_accepted() {
        let event = r#"{"type":"USER.CREATE","timestamp":"2026-01-31T09:15:00.000Z","data":{"tenantId":"t","resourceId":null}}"#;
        let now = TimeDelta::zero();
        assert_eq!(send("one", now, event, event).await, StatusCode::NO_CONTENT);
        assert_eq!(send("one", now, event, &event.replace("USER", "ROLE")).await, StatusCode::UNAUTHORIZED);
        assert_eq!(send("one", TimeDelta::minutes(10), event, event).await, StatusCode::UNAUTHORIZED);
        assert_eq!(send("one", now, "{}", "{}").await, StatusCode::BAD_REQUEST);
    }

    #[test]
    fn an_event_is_handled_once() {
        let mut handled = Handled::default();
        assert!(handled.insert("one") && !handled.insert("one"));
        for number in 0..Handled::MAX {
            assert!(handled.insert(&number.to_string()));
        }
        assert_eq!((handled.ids.len(), handled.order.len()), (Handled::MAX, Handled::MAX));
    }
}
