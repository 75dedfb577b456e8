//! Step-ups by the callback.
#![cfg(test)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use iam_client::models::StepUp;
use iam_client::{Call, Client, Code, Method};
use serde_json::{Value, json};

use crate::fake::{Fake, Received, Reply};

async fn act(client: &Client) -> iam_client::Result<Value> {
    client.send(Call::new(Method::POST, "/act").keyed()).await
}

/// A server that needs a step-up by `123456`, a client of it, and how often its callback was called. The callback waits
/// until this number of requests have arrived.
async fn server(code: Option<&'static str>, requests: usize) -> (Fake, Client, Arc<AtomicUsize>) {
    let (proven, arrived) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let counter = Arc::clone(&arrived);
    let fake = Fake::start(move |received: Received, _| {
        let (proven, counter) = (Arc::clone(&proven), Arc::clone(&counter));
        async move {
            if received.is("POST", "/auth/step-up") {
                if received.body != r#"{"code":"123456"}"# {
                    return Reply::problem(401, "unauthorized", "www-authenticate: Bearer\r\n");
                }
                proven.store(true, Ordering::Release);
                return Reply::new(204, "", "");
            }
            counter.fetch_add(1, Ordering::Release);
            if proven.load(Ordering::Acquire) { Reply::json(200, &json!({})) } else { Reply::step_up() }
        }
    })
    .await;
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let client = fake.builder().on_step_up(move |_, problem| {
        assert_eq!(problem.code(), Code::InsufficientAuthentication);
        counted.fetch_add(1, Ordering::Relaxed);
        let arrived = Arc::clone(&arrived);
        async move {
            while arrived.load(Ordering::Acquire) < requests {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            code.map(|code| StepUp { code: Some(code.into()), ..StepUp::default() })
        }
    });
    (fake, client.build().unwrap(), calls)
}

#[tokio::test]
async fn concurrent_calls_ask_once() {
    let (fake, client, calls) = server(Some("123456"), 10).await;
    for answer in join_all((0..10).map(|_| act(&client))).await {
        answer.unwrap();
    }
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    let proofs = fake.seen("POST", "/auth/step-up");
    assert_eq!(proofs.len(), 1);
    assert_eq!(proofs[0].token(), Some("access-old"));
    let acts = fake.seen("POST", "/act");
    assert_eq!(acts.len(), 20);
    let mut keys: Vec<_> = acts.iter().map(|act| act.header("idempotency-key").unwrap()).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 10, "the second request of a call has the key of the first");
}

#[tokio::test]
async fn without_a_proof_the_calls_fail_with_the_problem() {
    let (fake, client, calls) = server(None, 10).await;
    for answer in join_all((0..10).map(|_| act(&client))).await {
        assert_eq!(answer.unwrap_err().code(), Some(Code::InsufficientAuthentication));
    }
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert!(fake.seen("POST", "/auth/step-up").is_empty());
}

#[tokio::test]
async fn a_wrong_proof_is_sent_once() {
    let (fake, client, _) = server(Some("000000"), 1).await;
    assert_eq!(act(&client).await.unwrap_err().code(), Some(Code::Unauthorized));
    assert_eq!(fake.seen("POST", "/auth/step-up").len(), 1);
    assert_eq!(fake.seen("POST", "/act").len(), 1);
}

#[tokio::test]
async fn a_server_that_is_never_content_is_asked_twice() {
    let fake =
        Fake::start(
            async |received: Received, _| {
                if received.is("POST", "/auth/step-up") { Reply::new(204, "", "") } else { Reply::step_up() }
            },
        )
        .await;
    let client = fake.builder().on_step_up(async |_, _| Some(StepUp::default())).build().unwrap();
    assert_eq!(act(&client).await.unwrap_err().code(), Some(Code::InsufficientAuthentication));
    assert_eq!(fake.seen("POST", "/act").len(), 2);
}

#[tokio::test]
async fn an_api_key_asks_for_nothing() {
    let fake = Fake::start(async |_, _| Reply::problem(403, "second-factor-required", "")).await;
    let refuse = async |_, _| -> Option<StepUp> { unreachable!("a key has no session") };
    let client = fake.builder().api_key("iamk_x").on_step_up(refuse).build().unwrap();
    assert_eq!(act(&client).await.unwrap_err().code(), Some(Code::SecondFactorRequired));
}

#[tokio::test]
async fn a_callback_may_use_its_client() {
    let fake = Fake::start(async |received: Received, number| match received.path.as_str() {
        // An operation that itself asks for a step-up must not wait for the one that goes on.
        "/auth/factors" => Reply::step_up(),
        "/auth/step-up" => Reply::new(204, "", ""),
        _ if number == 0 => Reply::step_up(),
        _ => Reply::json(200, &json!({})),
    })
    .await;
    let prove = async |client: Client, _| client.list_factors().await.is_err().then(StepUp::default);
    let client = fake.builder().on_step_up(prove).build().unwrap();
    act(&client).await.unwrap();
}
