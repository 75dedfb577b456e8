//! Servers in the middle, and what they must not get or do.
#![cfg(test)]

use std::time::Duration;

use iam_client::models::{Login, Tokens};
use iam_client::{Call, Client, Error, Method, Secret};
use serde_json::{Value, json};

use crate::fake::{Fake, Reply};

fn call() -> Call {
    Call::new(Method::GET, "/users")
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let thief = Fake::start(async |_, _| Reply::json(200, &json!({}))).await;
    for status in [301, 302, 303, 307, 308] {
        let target = format!("location: {}/users\r\n", thief.url);
        let fake = Fake::start(move |_, _| {
            let reply = Reply::new(status, &target, "");
            async { reply }
        })
        .await;
        let error = fake.client().send::<Value>(call()).await.unwrap_err();
        assert!(matches!(error, Error::Answer { status: found, .. } if found == status), "{error}");
        // Nor with settings of HTTP that would follow it.
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::limited(5));
        fake.builder().http(http).build().unwrap().send::<Value>(call()).await.unwrap_err();
    }
    assert!(thief.seen("GET", "/users").is_empty());
}

#[tokio::test]
async fn an_endless_answer_ends() {
    for (status, kind, size) in [(200, "application/json", 40), (400, "application/problem+json", 1)] {
        let fake = Fake::start(move |_, _| async move {
            let mut bytes = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-type: {kind}\r\n\r\n\"");
            bytes.push_str(&"x".repeat(size * 1024 * 1024));
            Reply(bytes.into())
        })
        .await;
        let error = fake.client().send::<Value>(call()).await.unwrap_err();
        assert!(matches!(error, Error::Answer { .. }), "{error}");
    }
}

#[tokio::test]
async fn an_answer_that_never_comes_is_a_timeout() {
    let fake = Fake::start(async |_, _| std::future::pending().await).await;
    let client = fake.builder().timeout(Duration::from_millis(50)).retries(1, Duration::ZERO).build().unwrap();
    let error = client.send::<Value>(call()).await.unwrap_err();
    assert!(matches!(&error, Error::Transport(cause) if cause.is_timeout()), "{error}");
}

#[tokio::test]
async fn an_answer_that_is_not_json_is_an_error() {
    let html = "content-type: text/html\r\n";
    let json = "content-type: application/json\r\n";
    let problem = "content-type: application/problem+json\r\n";
    for (status, headers, body) in [
        (200, html, "<html>Log in to the wireless network</html>"),
        (200, "", "{}"),
        (200, json, "{"),
        (200, json, "[[[[[[["),
        (403, html, "<html>no</html>"),
        (403, json, "{}"),
        (403, problem, "{}"),
        (403, problem, r#"{"type":7}"#),
        (600, problem, "{}"),
    ] {
        let fake = Fake::start(move |_, _| async move { Reply::new(status, headers, body) }).await;
        let client = fake.builder().retries(1, Duration::ZERO).build().unwrap();
        let error = client.send::<Value>(call()).await.unwrap_err();
        assert!(!matches!(error, Error::Problem(_)), "{status} {body}: {error}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let fake = Fake::start(move |_, _| {
        let reply = Reply::new(200, json, &deep);
        async { reply }
    })
    .await;
    fake.client().send::<Value>(call()).await.unwrap_err();
}

#[tokio::test]
async fn no_error_and_no_debug_shows_a_secret() {
    let body =
        json!({ "accessToken": 7, "refreshToken": "the-secret", "tokenType": "the-secret", "expiresIn": "the-secret" });
    let fake = Fake::start(move |_, _| {
        let reply = Reply::json(200, &body);
        async { reply }
    })
    .await;
    let client = Client::builder(&fake.url).access_token("the-secret").build().unwrap();
    let login = Login { email: "ada@example.com".into(), password: "the-secret".into(), tenant: None };
    let error = client.login(&login).await.unwrap_err();
    let tokens: Tokens = serde_json::from_value(crate::fake::tokens("the-secret")).unwrap();
    let builder = Client::builder(&fake.url).api_key("the-secret");
    let request = client.login(&login);
    let text = format!("{error} {error:?} {client:?} {login:?} {tokens:?} {builder:?} {request:?}");
    assert!(!text.contains("the-secret"), "{text}");
    assert_eq!(format!("{:?}", Secret::new(json!({ "a": 1 }))), "Secret(…)");

    // A token that no header can have.
    let client = client.with_access_token("the-secret\r\nx-injected: 1");
    let error = client.get_me().await.unwrap_err();
    assert!(matches!(error, Error::Request(_)), "{error}");
    assert!(!format!("{error} {error:?}").contains("the-secret"));
}

#[tokio::test]
async fn a_url_must_be_that_of_a_service() {
    for url in [
        "http://iam.example.com/api/v1",
        "http://localhost.example.com",
        "ftp://iam.example.com",
        "https://ada:secret@iam.example.com",
        "https://iam.example.com/api/v1?x",
        "https://iam.example.com/api/v1#x",
        "iam.example.com",
        "",
    ] {
        let error = Client::builder(url).build().unwrap_err();
        assert!(matches!(error, Error::Request(_)) && !error.to_string().contains("secret"), "{url}: {error}");
    }
    Client::builder("http://iam.example.com/api/v1").allow_http().build().unwrap();
    Client::builder("https://iam.example.com/api/v1/").build().unwrap();

    let client = Client::builder("http://localhost").build().unwrap();
    for path in ["users", "@thief.example.com", "/users?x=1", "/users#x", "\\users"] {
        let error = client.send::<Value>(Call::new(Method::GET, path)).await.unwrap_err();
        assert!(matches!(error, Error::Request(_)), "{path}: {error}");
    }
}
