//! Access tokens and the keys that verify them (`docs/http-api.md#tokens`).

use axum::http::Method;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::claims;
use crate::request::members;

in_memory![
    the_header_names_the_key_and_its_algorithm,
    the_claims_are_those_of_the_contract,
    the_published_keys_verify_the_token,
    the_published_keys_are_public,
    a_token_is_valid_for_exactly_fifteen_minutes,
    a_missing_or_malformed_token_is_401,
    several_tokens_are_401,
    the_scheme_is_matched_in_any_letter_case,
    a_tampered_token_is_401,
    a_token_that_chooses_its_own_algorithm_is_401,
    a_token_of_another_installation_is_401,
    a_token_of_another_issuer_or_audience_is_401,
    a_token_from_the_future_is_401,
    the_token_of_an_ended_session_is_401_at_once,
    a_rotated_key_is_published_before_it_signs,
    a_key_rotation_ends_no_session,
];

fn header(token: &str) -> Value {
    let header = token.split('.').next().unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).unwrap()).unwrap()
}

fn encode(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

async fn published_keys(app: &TestApp) -> Vec<Value> {
    let document = app.request(Method::GET, "/.well-known/jwks.json").send().await.ok();
    document["keys"].as_array().unwrap().clone()
}

async fn key_of(app: &TestApp, token: &str) -> Value {
    let kid = &header(token)["kid"];
    published_keys(app).await.into_iter().find(|key| key["kid"] == *kid).unwrap()
}

async fn is_refused(app: &TestApp, token: &str) {
    let answer = app.get("/auth/me").bearer(token).send().await;
    answer.problem("unauthorized");
    assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"));
}

async fn the_header_names_the_key_and_its_algorithm(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    assert_eq!(header(&ada.access)["alg"], "EdDSA");
    assert_eq!(key_of(&app, &ada.access).await["alg"], "EdDSA");
}

async fn the_claims_are_those_of_the_contract(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (claims, again) = (claims(&ada.access), claims(&app.login(&ada).await.access));
    assert_eq!(
        members(&claims),
        ["amr", "aud", "auth_time", "exp", "iat", "iss", "jti", "nbf", "sid", "sub", "tenantId"]
    );
    let second = "2026-01-31T09:15:00Z".parse::<iam_core::clock::Timestamp>().unwrap().timestamp();
    assert_eq!(
        (&claims["iat"], &claims["nbf"], &claims["exp"]),
        (&json!(second), &json!(second), &json!(second + 900))
    );
    assert_eq!((&claims["sub"], &claims["tenantId"]), (&json!(ada.user), &json!(ada.tenant)));
    let me = app.get("/auth/me").by(&ada).send().await.ok();
    assert_eq!(claims["sid"], me["session"]["id"]);
    assert_ne!(claims["jti"], again["jti"]);
}

async fn the_published_keys_verify_the_token(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let key = serde_json::from_value(key_of(&app, &ada.access).await).unwrap();
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.set_audience(&[&app.iam.settings().audience]);
    validation.set_issuer(&[&app.iam.settings().issuer]);
    // The clock of the service is fixed, but the library uses the system clock.
    validation.validate_exp = false;
    let verified =
        jsonwebtoken::decode::<Value>(&ada.access, &DecodingKey::from_jwk(&key).unwrap(), &validation).unwrap();
    assert_eq!(verified.claims, claims(&ada.access));
}

async fn the_published_keys_are_public(app: TestApp) {
    for key in published_keys(&app).await {
        assert_eq!(members(&key), ["alg", "crv", "kid", "kty", "use", "x"]);
        assert_eq!((&key["kty"], &key["crv"], &key["use"]), (&json!("OKP"), &json!("Ed25519"), &json!("sig")));
    }
}

async fn a_token_is_valid_for_exactly_fifteen_minutes(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    // The times in a token are whole seconds, and this token was made 123 milliseconds after a full second.
    app.pass(TimeDelta::seconds(900) - TimeDelta::milliseconds(124));
    assert!(app.knows(&ada).await);
    app.pass(TimeDelta::milliseconds(1));
    is_refused(&app, &ada.access).await;
}

async fn a_missing_or_malformed_token_is_401(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let answer = app.get("/auth/me").send().await;
    answer.problem("unauthorized");
    assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"));
    let malformed = ["", "Bearer", "Bearer ", "Basic YWRhOng=", &ada.access, "Bearer x", "Bearer a.b.c", "Bearer ü"];
    for text in malformed {
        app.get("/auth/me").header("authorization", text).send().await.problem("unauthorized");
    }
}

/// A proxy in front may have checked the other one.
async fn several_tokens_are_401(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for other in ["", "Basic YWRhOng=", &format!("Bearer {}", ada.access)] {
        let request = app.get("/auth/me").by(&ada).header("authorization", other);
        request.send().await.problem("unauthorized");
    }
}

async fn the_scheme_is_matched_in_any_letter_case(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for scheme in ["bearer", "BEARER"] {
        app.get("/auth/me").header("authorization", &format!("{scheme} {}", ada.access)).send().await.ok();
    }
}

async fn a_tampered_token_is_401(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let [head, _, signature]: [&str; 3] = ada.access.split('.').collect::<Vec<_>>().try_into().unwrap();
    for (claim, value) in [("sub", &bob.user), ("sid", &bob.session), ("tenantId", &ada.user)] {
        let mut forged = claims(&ada.access);
        forged[claim] = json!(value);
        is_refused(&app, &format!("{head}.{}.{signature}", encode(&forged))).await;
    }
    let foreign_signature = bob.access.rsplit('.').next().unwrap();
    is_refused(&app, &ada.access.replace(signature, foreign_signature)).await;
    is_refused(&app, &ada.access.replace(signature, "")).await;
    is_refused(&app, &ada.access[..ada.access.len() - 1]).await;
}

async fn a_token_that_chooses_its_own_algorithm_is_401(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let kid = header(&ada.access)["kid"].as_str().unwrap().to_owned();
    for alg in ["none", "None", "NONE"] {
        let head = encode(&json!({ "alg": alg, "kid": kid, "typ": "JWT" }));
        is_refused(&app, &format!("{head}.{}.", encode(&claims(&ada.access)))).await;
    }
    // The public key is no secret, so the service must not accept it as a shared secret.
    let x = key_of(&app, &ada.access).await["x"].as_str().unwrap().to_owned();
    for secret in [x.as_bytes(), &URL_SAFE_NO_PAD.decode(&x).unwrap()] {
        let head = Header { kid: Some(kid.clone()), ..Header::new(Algorithm::HS256) };
        let key = EncodingKey::from_secret(secret).unwrap();
        is_refused(&app, &jsonwebtoken::encode(&head, &claims(&ada.access), &key).unwrap()).await;
    }
}

async fn a_token_of_another_installation_is_401(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let elsewhere = crate::store::memory().await;
    let stranger = elsewhere.register("ada@example.com").await;
    is_refused(&app, &stranger.access).await;
    let foreign_kid = Some(header(&stranger.access)["kid"].as_str().unwrap().to_owned());
    for kid in [foreign_kid, Some("no such key".to_owned()), None] {
        let mut head = header(&ada.access);
        head["kid"] = json!(kid);
        let (_, rest) = ada.access.split_once('.').unwrap();
        is_refused(&app, &format!("{}.{rest}", encode(&head))).await;
    }
}

async fn a_token_of_another_issuer_or_audience_is_401(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let issuer = app.with_settings(|settings| settings.issuer = "another issuer".to_owned()).await;
    let audience = app.with_settings(|settings| settings.audience = "another audience".to_owned()).await;
    for other in [issuer, audience] {
        let there = other.login(&ada).await;
        assert!(other.knows(&there).await);
        is_refused(&app, &there.access).await;
    }
}

async fn a_token_from_the_future_is_401(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.pass(TimeDelta::hours(1));
    let early = app.login(&ada).await;
    app.pass(TimeDelta::hours(-1));
    is_refused(&app, &early.access).await;
}

async fn the_token_of_an_ended_session_is_401_at_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let out = app.login(&ada).await;
    app.post("/auth/logout").by(&out).send().await.no_content();
    is_refused(&app, &out.access).await;
    for status in ["SUSPENDED", "INACTIVE"] {
        let bob = app.colleague(&ada, &format!("{status}@example.com")).await;
        app.set_status(&ada, &bob.user, status).await;
        is_refused(&app, &bob.access).await;
    }
}

async fn a_rotated_key_is_published_before_it_signs(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let replica = app.restarted().await;
    app.iam.rotate_keys().await.unwrap();
    let kid_of_a_login = async |app: &TestApp| header(&app.login(&ada).await.access)["kid"].clone();
    let before = header(&ada.access)["kid"].clone();
    assert_eq!((published_keys(&app).await.len(), kid_of_a_login(&app).await), (2, before.clone()));
    app.pass(TimeDelta::seconds(59));
    assert_eq!(published_keys(&replica).await.len(), 2, "every replica publishes it within a minute");
    assert_eq!(kid_of_a_login(&replica).await, before);
    app.pass(TimeDelta::seconds(1));
    let after = kid_of_a_login(&app).await;
    assert_ne!(after, before);
    assert_eq!(kid_of_a_login(&replica).await, after);
}

async fn a_key_rotation_ends_no_session(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let replica = app.restarted().await;
    app.iam.rotate_keys().await.unwrap();
    app.pass(TimeDelta::seconds(61));
    let later = app.login(&ada).await;
    assert_ne!(header(&ada.access)["kid"], header(&later.access)["kid"]);
    for app in [&app, &replica] {
        assert_eq!(published_keys(app).await.len(), 2);
        assert!(app.knows(&ada).await && app.knows(&later).await);
    }
}
