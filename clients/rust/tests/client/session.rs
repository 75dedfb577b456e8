//! Logins and refreshes.
#![cfg(test)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use iam_client::{Call, Client, Error, Method};
use serde_json::{Value, json};

use crate::fake::{Fake, Received, Reply, tokens};

async fn me(client: &Client) -> iam_client::Result<Value> {
    client.send(Call::new(Method::GET, "/auth/me")).await
}

/// Accepts `access-new` only, which a refresh gives after a while.
async fn refreshing(received: Received, _: usize) -> Reply {
    if received.is("POST", "/auth/refresh") {
        tokio::time::sleep(Duration::from_millis(50)).await;
        return Reply::tokens("new");
    }
    if received.token() == Some("access-new") { Reply::json(200, &json!({})) } else { Reply::token_refused() }
}

#[tokio::test]
async fn concurrent_calls_refresh_once() {
    let fake = Fake::start(refreshing).await;
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeper = Arc::clone(&kept);
    let keep = move |tokens: &iam_client::models::Tokens| keeper.lock().unwrap().push(tokens.refresh_token.clone());
    let client = fake.builder().on_tokens(keep).build().unwrap();
    for answer in join_all((0..20).map(|_| me(&client))).await {
        answer.unwrap();
    }
    let refreshes = fake.seen("POST", "/auth/refresh");
    assert_eq!(refreshes.len(), 1);
    assert_eq!(refreshes[0].body, r#"{"refreshToken":"refresh-old"}"#);
    assert_eq!(refreshes[0].token(), None);
    assert_eq!(*kept.lock().unwrap(), ["refresh-new".into()]);
}

#[tokio::test]
async fn concurrent_calls_share_the_failure_of_a_refresh() {
    for (status, keeps) in [(401, false), (400, true)] {
        let refused = Arc::new(AtomicUsize::new(0));
        let fake = Fake::start(move |received: Received, _| {
            let refused = Arc::clone(&refused);
            async move {
                if received.is("POST", "/auth/refresh") {
                    // All calls have arrived before the refresh is answered.
                    while refused.load(Ordering::Acquire) < 20 {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                    return Reply::problem(status, "unauthorized", "");
                }
                refused.fetch_add(1, Ordering::Release);
                Reply::token_refused()
            }
        })
        .await;
        let client = fake.client();
        for answer in join_all((0..20).map(|_| me(&client))).await {
            assert_eq!(answer.unwrap_err().problem().unwrap().status, status);
        }
        assert_eq!(fake.seen("POST", "/auth/refresh").len(), 1);
        assert_eq!(client.tokens().is_some(), keeps, "only a refusal ends the session");
        // The next call tries again.
        me(&client).await.unwrap_err();
        assert_eq!(fake.seen("POST", "/auth/refresh").len(), if keeps { 2 } else { 1 });
    }
}

#[tokio::test]
async fn a_token_is_refused_once_in_a_call() {
    let fake =
        Fake::start(
            async |received: Received, _| {
                if received.is("POST", "/auth/refresh") { Reply::tokens("new") } else { Reply::token_refused() }
            },
        )
        .await;
    let error = me(&fake.client()).await.unwrap_err();
    assert_eq!(error.problem().unwrap().status, 401);
    assert_eq!(fake.seen("GET", "/auth/me").len(), 2);
    assert_eq!(fake.seen("POST", "/auth/refresh").len(), 1);
}

#[tokio::test]
async fn a_refresh_goes_on_without_its_caller() {
    let fake = Fake::start(refreshing).await;
    let client = fake.client();
    // Ends as soon as the request is on its way.
    let waits = async {
        while fake.seen("POST", "/auth/refresh").is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        _ = client.refresh() => unreachable!("the answer comes later"),
        () = waits => {}
    }
    while client.tokens().unwrap().refresh_token.expose() != "refresh-new" {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(fake.seen("POST", "/auth/refresh").len(), 1);
}

#[tokio::test]
async fn a_refresh_is_sent_twice_at_most_and_makes_no_long_pause() {
    for (lost, headers, attempts) in [(true, "", 2), (false, "retry-after: 1\r\n", 2), (false, "retry-after: 3\r\n", 1)]
    {
        let fake = Fake::start(move |_, _| async move {
            if lost { Reply::nothing() } else { Reply::problem(503, "unavailable", headers) }
        })
        .await;
        let client = fake.client();
        client.refresh().await.unwrap_err();
        assert_eq!(fake.seen("POST", "/auth/refresh").len(), attempts, "{headers}");
        assert!(client.tokens().is_some(), "the session may go on");
    }
}

/// By the clock of tokio, which goes on by itself while nothing else happens.
#[tokio::test(start_paused = true)]
async fn a_refresh_without_an_answer_ends_before_the_session_does() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let client = Client::builder(url).tokens(serde_json::from_value(tokens("old")).unwrap()).build().unwrap();
    let begun = tokio::time::Instant::now();
    let error = client.refresh().await.unwrap_err();
    assert!(matches!(error, Error::Transport(_)), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_token_is_refreshed_before_it_expires() {
    let fake = Fake::start(refreshing).await;
    let mut old = tokens("old");
    old["expiresIn"] = json!(0);
    let client = Client::builder(&fake.url).tokens(serde_json::from_value(old).unwrap()).build().unwrap();
    me(&client).await.unwrap();
    assert_eq!(fake.seen("GET", "/auth/me").len(), 1);
}

#[tokio::test]
async fn a_login_keeps_its_tokens_and_a_logout_forgets_them() {
    let fake = Fake::start(async |received: Received, _| match received.path.as_str() {
        "/auth/login" => {
            assert_eq!(received.token(), None, "a login needs no token");
            let mut body = tokens("new");
            body["user"] = json!({
                "id": uuid::Uuid::nil(), "kind": "HUMAN", "tenantId": uuid::Uuid::nil(), "status": "ACTIVE",
                "createdAt": "2026-01-31T09:15:00.123Z", "updatedAt": "2026-01-31T09:15:00.123Z",
                "aFieldOfALaterVersion": 1,
            });
            Reply::json(200, &body)
        }
        "/auth/logout" => Reply::new(204, "", ""),
        path => unreachable!("{path}"),
    })
    .await;
    let client = Client::builder(&fake.url).build().unwrap();
    assert!(matches!(client.refresh().await, Err(Error::NoSession)));
    client.login(&iam_client::models::Login::default()).await.unwrap();
    assert_eq!(client.tokens().unwrap().access_token.expose(), "access-new");
    client.logout().await.unwrap();
    assert_eq!(fake.seen("POST", "/auth/logout")[0].token(), Some("access-new"));
    assert!(client.tokens().is_none());
}

#[tokio::test]
async fn an_api_key_is_not_refreshed() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let fake = Fake::start(move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Reply::token_refused() }
    })
    .await;
    let client = Client::builder(&fake.url).api_key("iamk_x").build().unwrap();
    me(&client).await.unwrap_err();
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}
