//! `Idempotency-Key` for every POST of the OpenAPI document that creates something
//! (`docs/http-api.md#repeating-a-request`).

use axum::http::Method;
use serde_json::json;

use crate::app::TestApp;
use crate::idempotency::was_replayed;
use crate::openapi::{document, operations};
use crate::permissions::Fixture;
use crate::request::members;

on_every_store_with_mail!["the answer commits with the change"; every_post_that_creates_honours_the_key];

/// The members of answers that are shown once.
const SHOWN_ONCE: [&str; 5] = ["key", "secret", "uri", "qr", "recoveryCodes"];

/// The members that a repeated registration or acceptance has anew.
const ANEW: [&str; 2] = ["accessToken", "refreshToken"];

async fn every_post_that_creates_honours_the_key(app: TestApp) {
    let document = document();
    let posts = operations(&document).into_iter().filter(|operation| operation.method == Method::POST);
    let mut with_secret = Vec::new();
    for operation in posts {
        let creates = operation.description["responses"].get("201").is_some();
        assert!(!creates || operation.has_parameter("Idempotency-Key"), "{operation}");
        if !operation.has_parameter("Idempotency-Key") {
            continue;
        }
        let fixture = Fixture::set(&app, &operation).await;
        let is_public = operation.required_permission() == "public";
        let ask = async |key: &str| {
            let request = fixture.request(&app, &document, &operation).header("idempotency-key", key);
            if is_public { request } else { request.by(&fixture.administrator) }.send().await
        };
        if !is_public {
            let of_another =
                app.post("/organizations").by(&fixture.administrator).header("idempotency-key", "of-another");
            of_another.json(&json!({ "name": "Other" })).send().await.created();
            ask("of-another").await.problem("idempotency-key-reused");
        }
        let first = ask("walk").await;
        assert!((200..300).contains(&first.status()) && !was_replayed(&first), "{operation}: {}", first.text());
        let again =
            if is_public { ask("walk").await } else { app.unrecorded(&fixture.administrator, ask("walk")).await };
        assert!(was_replayed(&again), "{operation}: {}", again.text());
        assert_eq!(again.status(), first.status(), "{operation}");
        let (first, again) = (first.json(), again.json());
        assert_eq!(members(&first), members(&again), "{operation}");
        for (name, value) in first.as_object().unwrap() {
            if SHOWN_ONCE.contains(&&**name) {
                assert!(!value.is_null() && again[name].is_null(), "{operation} {name}: {again}");
                with_secret.push(operation.to_string());
            } else if !ANEW.contains(&&**name) {
                assert_eq!(again[name], *value, "{operation} {name}");
            }
        }
    }
    with_secret.sort_unstable();
    with_secret.dedup();
    let expected = [
        "POST /api-keys/{id}/rotate",
        "POST /auth/factors/passkeys",
        "POST /auth/factors/recovery-codes",
        "POST /auth/factors/totp",
        "POST /auth/factors/totp/{id}/confirm",
        "POST /users/{id}/api-keys",
        "POST /webhooks",
        "POST /webhooks/{id}/rotate-secret",
    ];
    assert_eq!(with_secret, expected);
}
