//! Requests that are sent again.
#![cfg(test)]

use std::time::Duration;

use iam_client::models::{NewOrganization, OrganizationPatch};
use iam_client::{Call, Client, Error, Method};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fake::{Fake, Reply};

fn organization() -> Value {
    json!({
        "id": Uuid::nil(), "tenantId": Uuid::nil(), "name": "Branch", "slug": "branch", "status": "ACTIVE", "depth": 0,
        "path": "/branch", "createdAt": "2026-01-31T09:15:00.123Z", "updatedAt": "2026-01-31T09:15:00.123Z",
    })
}

#[tokio::test]
async fn a_creation_is_repeated_with_the_same_key() {
    let fake = Fake::start(async |_, number| match number {
        0 => Reply::nothing(),
        1 => Reply::problem(503, "unavailable", "retry-after: 0\r\n"),
        // The first request goes on.
        2 => Reply::problem(409, "conflict", "retry-after: 0\r\n"),
        _ => Reply::json(201, &organization()),
    })
    .await;
    let client = fake.client();
    let created = client.create_organization(&NewOrganization::default()).await;
    assert_eq!(created.unwrap().name, "Branch");
    let seen = fake.seen("POST", "/organizations");
    assert_eq!(seen.len(), 4);
    let key = seen[0].header("idempotency-key").unwrap();
    assert!(seen.iter().all(|received| received.header("idempotency-key") == Some(key)));

    client.create_organization(&NewOrganization::default()).idempotency_key("import-17").await.unwrap();
    let seen = fake.seen("POST", "/organizations");
    assert_eq!(seen.last().unwrap().header("idempotency-key"), Some("import-17"));
    assert_ne!(seen[0].header("idempotency-key"), Some("import-17"));
}

#[tokio::test]
async fn a_change_is_repeated_only_if_the_service_has_not_begun_it() {
    for (status, attempts) in [(429, 4), (503, 1), (500, 1)] {
        let fake = Fake::start(move |_, _| async move { Reply::problem(status, "x", "retry-after: 0\r\n") }).await;
        let patch = OrganizationPatch { name: "New".to_owned().into(), ..OrganizationPatch::default() };
        let error = fake.client().update_organization(Uuid::nil(), &patch).await.unwrap_err();
        assert_eq!(error.problem().unwrap().status, status);
        assert_eq!(fake.seen("PATCH", &format!("/organizations/{}", Uuid::nil())).len(), attempts, "{status}");
    }
    let fake = Fake::start(async |_, _| Reply::nothing()).await;
    let error = fake.client().update_organization(Uuid::nil(), &OrganizationPatch::default()).await.unwrap_err();
    assert!(matches!(error, Error::Transport(_)), "{error}");
    assert_eq!(fake.seen("PATCH", &format!("/organizations/{}", Uuid::nil())).len(), 1);
}

#[tokio::test]
async fn a_change_on_a_condition_is_repeated_only_if_it_had_no_effect() {
    for (status, attempts) in [(429, 4), (503, 1)] {
        let fake = Fake::start(move |_, _| async move { Reply::problem(status, "x", "retry-after: 0\r\n") }).await;
        fake.client().delete_user(Uuid::nil()).if_match("\"3\"").await.unwrap_err();
        assert_eq!(fake.seen("DELETE", &format!("/users/{}", Uuid::nil())).len(), attempts, "{status}");
    }
}

#[tokio::test]
async fn what_a_lost_answer_has_deleted_is_gone() {
    for (lost, is_deleted) in [(0, true), (503, true), (429, false)] {
        let fake = Fake::start(move |_, number| async move {
            match (number, lost) {
                (0, 0) => Reply::nothing(),
                (0, status) => Reply::problem(status, "x", "retry-after: 0\r\n"),
                _ => Reply::problem(404, "not-found", ""),
            }
        })
        .await;
        let deleted = fake.client().delete_role(Uuid::nil()).await;
        assert_eq!(deleted.is_ok(), is_deleted, "{lost}: {deleted:?}");
        assert_eq!(fake.seen("DELETE", &format!("/roles/{}", Uuid::nil())).len(), 2, "{lost}");
    }
    let fake = Fake::start(async |_, _| Reply::problem(404, "not-found", "")).await;
    fake.client().delete_role(Uuid::nil()).await.unwrap_err();
    let fake = Fake::start(async |_, number| match number {
        0 => Reply::nothing(),
        _ => Reply::problem(404, "not-found", ""),
    })
    .await;
    fake.client().preview_delete_role(Uuid::nil()).await.unwrap_err();
}

#[tokio::test]
async fn a_read_is_repeated_a_bounded_number_of_times() {
    let fake = Fake::start(async |_, _| Reply::new(502, "retry-after: 0\r\n", "<html>Bad Gateway</html>")).await;
    let client = fake.builder().retries(3, Duration::from_secs(30)).build().unwrap();
    let error = client.get_me().await.unwrap_err();
    assert!(matches!(error, Error::Answer { status: 502, .. }), "{error}");
    assert_eq!(fake.seen("GET", "/auth/me").len(), 3);
}

#[tokio::test]
async fn a_service_that_asks_for_a_long_pause_is_not_asked_again() {
    let fake = Fake::start(async |_, _| Reply::problem(429, "rate-limited", "retry-after: 86400\r\n")).await;
    let error = fake.client().get_me().await.unwrap_err();
    assert_eq!(error.problem().unwrap().wait(), Some(Duration::from_secs(86_400)));
    assert_eq!(fake.seen("GET", "/auth/me").len(), 1);
}

#[tokio::test]
async fn a_service_that_is_not_there_is_an_error_without_secrets() {
    let client =
        Client::builder("http://127.0.0.1:1/api/v1").access_token("the-token").retries(2, Duration::from_secs(1));
    let call = Call::new(Method::GET, "/x").query(&json!({ "search": "the-search" }));
    let error = client.build().unwrap().send::<Value>(call).await.unwrap_err();
    assert!(error.is_temporary());
    let text = format!("{error} {error:?}");
    assert!(!text.contains("the-token") && !text.contains("the-search"), "{text}");
}
