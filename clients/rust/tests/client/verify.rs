//! Tokens that a service must not accept, and keys that it must not use.
#![cfg(test)]

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use iam_client::{Client, Expected, Tenants, TokenError, TokenVerifier};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, get_current_timestamp};
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use uuid::Uuid;

use crate::fake::{Fake, Reply};
use crate::tokens::{FIRST, SECOND, TENANT, USER, claims, expected, publishes, verifier};

const JWKS: &str = "/.well-known/jwks.json";

#[tokio::test]
async fn a_valid_token_says_who_it_is() {
    let fake = publishes(json!([FIRST.jwk("k1")])).await;
    let verifier = verifier(&fake);
    let token = verifier.verify(&FIRST.token("k1", |_, _| {})).await.unwrap();
    assert_eq!((token.user, token.tenant, token.actor, token.read_only), (USER, TENANT, None, false));
    assert!(token.has_second_factor() && token.has_authenticated_within(Duration::from_secs(60)));

    assert!(token.attributes.is_empty() && !token.attributes_truncated);

    let actor = Uuid::from_u128(5);
    let acting = FIRST.token("k1", |_, claims| {
        claims["act"] = json!({ "sub": actor });
        claims["readOnly"] = json!(true);
        claims["auth_time"] = json!(0);
        claims["attributes"] = json!({ "costCentre": "4711" });
        claims["attributesTruncated"] = json!(true);
        claims["aClaimOfALaterVersion"] = json!({});
    });
    let token = verifier.verify(&acting).await.unwrap();
    assert_eq!((token.actor, token.read_only), (Some(actor), true));
    assert_eq!((&token.attributes["costCentre"], token.attributes_truncated), (&json!("4711"), true));
    assert!(!token.has_authenticated_within(Duration::from_secs(24 * 60 * 60)));
    let shown = format!("{token:?} {verifier:?}");
    assert!(!shown.contains(&acting), "{shown}");
    assert_eq!(fake.seen("GET", JWKS).len(), 1, "keys are kept");
    assert_eq!(fake.seen("GET", JWKS)[0].token(), None);
}

#[tokio::test]
async fn a_wrong_claim_is_refused() {
    let fake = publishes(json!([FIRST.jwk("k1")])).await;
    let verifier = verifier(&fake);
    let now = get_current_timestamp();
    for (claim, values) in [
        ("iss", vec![json!("another"), json!(["iam", 7]), json!(null), json!(7)]),
        ("aud", vec![json!("another"), json!([]), json!(["another"]), json!(null), json!(7)]),
        ("sub", vec![json!(null), json!("ada"), json!("")]),
        ("tenantId", vec![json!(null), json!("iam"), json!([TENANT])]),
        ("sid", vec![json!(null)]),
        ("nbf", vec![json!(null), json!(now + 3600), json!("0"), json!(i64::MAX)]),
        ("exp", vec![json!(null), json!("9999999999"), json!(-1)]),
        ("act", vec![json!("ada"), json!({})]),
        ("readOnly", vec![json!("false"), json!(0)]),
        ("attributes", vec![json!("4711"), json!(["4711"])]),
    ] {
        for value in values {
            let token = FIRST.token("k1", |_, claims| claims[claim] = value.clone());
            let refused = verifier.verify(&token).await;
            assert!(matches!(refused, Err(TokenError::Invalid | TokenError::Expired)), "{claim} {value}: {refused:?}");
        }
        if !["act", "readOnly", "attributes"].contains(&claim) {
            let token = FIRST.token("k1", |_, claims| {
                claims.as_object_mut().unwrap().remove(claim);
            });
            let refused = verifier.verify(&token).await;
            assert!(matches!(refused, Err(TokenError::Invalid)), "without {claim}: {refused:?}");
        }
    }
    let expired = FIRST.token("k1", |_, claims| claims["exp"] = json!(now - 1));
    assert!(matches!(verifier.verify(&expired).await, Err(TokenError::Expired)));
}

#[tokio::test]
async fn a_token_of_another_tenant_is_refused() {
    let fake = publishes(json!([FIRST.jwk("k1")])).await;
    let other = FIRST.token("k1", |_, claims| claims["tenantId"] = json!(Uuid::from_u128(9)));
    assert!(matches!(verifier(&fake).verify(&other).await, Err(TokenError::Tenant)));

    let client = Client::builder(&fake.url).build().unwrap();
    for (tenants, passes) in [
        (Tenants::Listed(vec![]), false),
        (Tenants::Listed(vec![TENANT]), false),
        (Tenants::Listed(vec![TENANT, Uuid::from_u128(9)]), true),
        (Tenants::Every, true),
    ] {
        let verifier = TokenVerifier::new(&client, Expected { tenants: tenants.clone(), ..expected() });
        assert_eq!(verifier.verify(&other).await.is_ok(), passes, "{tenants:?}");
    }
}

#[tokio::test]
async fn a_forged_token_is_refused() {
    let fake = publishes(json!([FIRST.jwk("k1"), SECOND.jwk("k2")])).await;
    let verifier = verifier(&fake);
    let valid = FIRST.token("k1", |_, _| {});
    let [_, payload, signature] = valid.split('.').collect::<Vec<_>>().try_into().unwrap();
    // {"alg":"none","kid":"k1","typ":"JWT"}
    let none = "eyJhbGciOiJub25lIiwia2lkIjoiazEiLCJ0eXAiOiJKV1QifQ";
    let by_public_key = |algorithm| {
        let header = Header { kid: Some("k1".to_owned()), ..Header::new(algorithm) };
        encode(&header, &claims(), &EncodingKey::from_secret(FIRST.public.as_bytes()).unwrap()).unwrap()
    };
    for (name, token) in [
        ("no algorithm", format!("{none}.{payload}.")),
        ("no algorithm, with a signature", format!("{none}.{payload}.{signature}")),
        ("the public key as a secret", by_public_key(Algorithm::HS256)),
        ("the public key as a longer secret", by_public_key(Algorithm::HS512)),
        ("another published key", SECOND.token("k1", |_, _| {})),
        ("no key", FIRST.token("k1", |header, _| header.kid = None)),
        ("a critical extension", FIRST.token("k1", |header, _| header.crit = Some(vec!["exp".to_owned()]))),
        ("no signature", format!("{}.", valid.rsplit_once('.').unwrap().0)),
        ("another payload", format!("{}x.{signature}", valid.rsplit_once('.').unwrap().0)),
        ("an API key", "iamk_019bb184-0000-7000-8000-000000000000_0AbC".to_owned()),
        ("nothing", String::new()),
        ("dots", "..".to_owned()),
        ("too long", format!("{valid}{}", "x".repeat(10_000))),
    ] {
        let refused = verifier.verify(&token).await;
        assert!(matches!(refused, Err(TokenError::Invalid)), "{name}: {refused:?}");
    }
    verifier.verify(&valid).await.unwrap();
}

#[tokio::test]
async fn a_key_inside_the_token_is_not_used() {
    let fake = publishes(json!([FIRST.jwk("k1")])).await;
    let forged = SECOND.token("k1", |header, _| {
        header.jku = Some("http://127.0.0.1:1/keys".to_owned());
        header.jwk = serde_json::from_value(SECOND.jwk("k1")).unwrap();
    });
    assert!(matches!(verifier(&fake).verify(&forged).await, Err(TokenError::Invalid)));
}

/// All of them are signed well, and would be accepted if jsonwebtoken saw them. In a program with the feature
/// `raw_value` of serde_json, the nested ones would end the process.
#[tokio::test]
async fn a_header_that_a_parser_must_not_see_is_refused() {
    const NAME: &str = "$serde_json::private::RawValue";
    let fake = publishes(json!([FIRST.jwk("k1")])).await;
    let verifier = verifier(&fake);
    let with = |value: &Value| FIRST.token("k1", |header, _| header.extras.insert("later", value));
    verifier.verify(&with(&json!({ "a field": ["of a later version"] }))).await.unwrap();
    let nested = (0..4).fold(json!([7]), |inner, _| json!({ NAME: inner.to_string() }));
    for value in [json!({ NAME: "[7]" }), nested, json!({ "$serde_json": 7 }), json!("\\"), json!("x".repeat(1_000))] {
        let refused = verifier.verify(&with(&value)).await;
        assert!(matches!(refused, Err(TokenError::Invalid)), "{value}: {refused:?}");
    }
}

#[tokio::test]
async fn unknown_keys_are_asked_for_once() {
    let fake = publishes(json!([FIRST.jwk("k1")])).await;
    let verifier = verifier(&fake);
    let flood: Vec<_> = (0..200).map(|number| SECOND.token(&format!("unknown-{number}"), |_, _| {})).collect();
    let refused = futures_util::future::join_all(flood.iter().map(|token| verifier.verify(token))).await;
    assert!(refused.iter().all(|refused| matches!(refused, Err(TokenError::Invalid))));
    // Good tokens go on.
    verifier.verify(&FIRST.token("k1", |_, _| {})).await.unwrap();
    assert_eq!(fake.seen("GET", JWKS).len(), 1);
}

#[tokio::test]
async fn keys_of_other_kinds_are_left_out() {
    let secret = json!({ "kty": "oct", "kid": "k2", "alg": "HS256", "k": "c2VjcmV0" });
    let rsa = json!({ "kty": "RSA", "kid": "k3", "n": "AQAB", "e": "AQAB" });
    let mut for_encryption = FIRST.jwk("k4");
    for_encryption["use"] = json!("enc");
    let mut short = FIRST.jwk("k5");
    short["x"] = json!("11qY");
    let fake = publishes(json!([secret, rsa, for_encryption, short, FIRST.jwk("k1")])).await;
    let verifier = verifier(&fake);
    verifier.verify(&FIRST.token("k1", |_, _| {})).await.unwrap();
    let header = Header { kid: Some("k2".to_owned()), ..Header::new(Algorithm::HS256) };
    let by_secret = encode(&header, &claims(), &EncodingKey::from_secret(b"secret").unwrap()).unwrap();
    let named = ["k2", "k3", "k4", "k5"].map(|kid| FIRST.token(kid, |_, _| {}));
    for token in named.iter().chain([&by_secret]) {
        assert!(matches!(verifier.verify(token).await, Err(TokenError::Invalid)));
    }
}

#[tokio::test]
async fn a_document_that_is_none_accepts_no_token() {
    let many: Vec<_> = (0..2_000).map(|number| FIRST.jwk(&format!("k{number}"))).collect();
    for (document, name) in [
        (json!({ "keys": many }), "too large"),
        (json!([]), "an array"),
        (json!({ "keys": "k1" }), "a text"),
        (json!({ "keys": [] }), "no key"),
    ] {
        let fake = Fake::start(move |_, _| {
            let reply = Reply::json(200, &document);
            async { reply }
        })
        .await;
        let refused = verifier(&fake).verify(&FIRST.token("k1", |_, _| {})).await;
        assert!(matches!(refused, Err(TokenError::Keys(_))), "{name}: {refused:?}");
    }
}

#[tokio::test]
async fn keys_that_were_out_of_reach_are_asked_for_again() {
    let fake = Fake::start(async |_, number| match number {
        0 => Reply::problem(503, "unavailable", "retry-after: 0\r\n"),
        _ => Reply::json(200, &json!({ "keys": [FIRST.jwk("k1")] })),
    })
    .await;
    let verifier = verifier(&fake);
    let token = FIRST.token("k1", |_, _| {});
    assert!(matches!(verifier.verify(&token).await, Err(TokenError::Keys(_))));
    while verifier.verify(&token).await.is_err() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(fake.seen("GET", JWKS).len(), 2);
}

/// Keeps the fields of the events of the client.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("iam_client")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Fields(&self.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Fields<'a>(&'a Mutex<String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.lock().unwrap().push_str(&format!("{field}={value:?} "));
    }
}

#[tokio::test]
async fn the_reason_of_a_refusal_is_logged_without_the_token() {
    let fake = publishes(json!([FIRST.jwk("k1")])).await;
    let verifier = verifier(&fake);
    let log = Log::default();
    let _default = tracing::subscriber::set_default(log.clone());
    for (token, reason) in [
        ("garbage".to_owned(), "it is no access token"),
        (FIRST.token("k1", |_, claims| claims["exp"] = json!(1)), "it has expired"),
        (FIRST.token("k1", |_, claims| claims["aud"] = json!("shop")), "it is for another audience"),
        (FIRST.token("k1", |_, claims| claims["tenantId"] = json!(USER)), "it is of another tenant"),
        (FIRST.token("k1", |_, claims| claims["sub"] = json!("a secret")), "a claim is missing or malformed"),
        (SECOND.token("k1", |_, _| {}), "its signature is wrong"),
        (FIRST.token("k2", |_, _| {}), "no key of the service has signed it"),
    ] {
        verifier.verify(&token).await.unwrap_err();
        let logged = std::mem::take(&mut *log.0.lock().unwrap());
        assert!(logged.contains(reason), "{reason}: {logged}");
        assert!(!logged.contains(&token) && !logged.contains("secret"), "{logged}");
    }
}
