use chrono::TimeDelta;
use iam_openid::{Fault, LogoutToken, verify_logout_token};
use jsonwebtoken::{Algorithm, Header};
use serde_json::{Value, json};

use crate::provider::{published, signer};
use crate::{CLIENT, EXPECTED, ISSUER, id_token, now, seconds};

fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": CLIENT, "sub": "248289761001", "sid": "a session", "jti": "once",
        "iat": seconds(-2), "exp": seconds(120),
        "events": { "http://schemas.openid.net/event/backchannel-logout": {} },
    })
}

fn verify_as(kind: Option<&str>, claims: &Value) -> Result<LogoutToken, Fault> {
    let signer = signer(Algorithm::ES256);
    let header = Header { typ: kind.map(str::to_owned), ..signer.header() };
    verify_logout_token(&signer.sign_with(&header, claims), &published(), EXPECTED, now())
}

fn verify(changes: Value) -> Result<LogoutToken, Fault> {
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    verify_as(Some("logout+jwt"), &claims)
}

#[test]
fn a_logout_token_names_a_person_or_a_session() {
    let expected = LogoutToken {
        subject: Some("248289761001".into()),
        session: Some("a session".into()),
        id: "once".into(),
        forgotten_at: now() + TimeDelta::seconds(598),
    };
    assert_eq!(verify(json!({})), Ok(expected.clone()));
    assert_eq!(verify(json!({ "sid": null })), Ok(LogoutToken { session: None, ..expected.clone() }));
    assert_eq!(verify(json!({ "sub": null })), Ok(LogoutToken { subject: None, ..expected }));
}

#[test]
fn older_providers_send_another_type_and_no_end() {
    for kind in [None, Some("JWT"), Some("jwt"), Some("LOGOUT+JWT")] {
        assert!(verify_as(kind, &claims()).is_ok(), "{kind:?}");
    }
    assert!(verify(json!({ "exp": null })).is_ok());
}

#[test]
fn every_fault_is_refused() {
    let cases = [
        (json!({ "sid": null, "sub": null }), Fault::Malformed),
        (json!({ "sub": "" }), Fault::Malformed),
        (json!({ "jti": null }), Fault::Malformed),
        (json!({ "iat": null }), Fault::Malformed),
        (json!({ "iat": seconds(61) }), Fault::IssuedInFuture),
        (json!({ "iat": seconds(-600) }), Fault::Expired),
        (json!({ "exp": seconds(0) }), Fault::Expired),
        (json!({ "iss": "https://evil.example.com" }), Fault::Issuer),
        (json!({ "aud": "another" }), Fault::Audience),
        (json!({ "nonce": "of a login" }), Fault::NotALogout),
        (json!({ "events": null }), Fault::NotALogout),
        (json!({ "events": {} }), Fault::NotALogout),
        (json!({ "events": ["http://schemas.openid.net/event/backchannel-logout"] }), Fault::NotALogout),
        (json!({ "events": { "http://schemas.openid.net/event/backchannel-logout": true } }), Fault::NotALogout),
    ];
    for (changes, fault) in cases {
        assert_eq!(verify(changes.clone()), Err(fault), "{changes}");
    }
    assert!(verify(json!({ "iat": seconds(-599) })).is_ok());
    assert_eq!(verify_as(Some("at+jwt"), &claims()), Err(Fault::NotALogout));
}

#[test]
fn an_id_token_ends_no_session() {
    assert_eq!(verify_as(Some("JWT"), &id_token::claims()), Err(Fault::NotALogout));
}
