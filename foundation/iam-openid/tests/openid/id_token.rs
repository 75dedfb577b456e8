use aws_lc_rs::digest::{SHA256, SHA512, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use iam_openid::{Cause, Fault, IdToken, ProviderKeys, verify_id_token};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use crate::provider::{ALGORITHMS, Signer, document, published, signer};
use crate::{CLIENT, EXPECTED, ISSUER, now, seconds};

const NONCE: &str = "the nonce of this login";

pub(crate) fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": CLIENT, "sub": "248289761001", "nonce": NONCE,
        "iat": seconds(-2), "exp": seconds(300), "auth_time": seconds(-60),
        "email": "ada@example.com", "email_verified": true,
        "given_name": "Ada", "family_name": "Lovelace", "name": "Ada Lovelace",
        "amr": ["pwd", "mfa"], "sid": "a session", "oid": "an object",
    })
}

/// The claims with some of them replaced, or removed where the value is null.
fn with(changes: Value) -> Value {
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

fn verify_with(keys: &ProviderKeys, token: &str, access_token: Option<&str>) -> Result<IdToken, Fault> {
    verify_id_token(token, keys, EXPECTED, NONCE, access_token, now())
}

fn verify(token: &str) -> Result<IdToken, Fault> {
    verify_with(&published(), token, None)
}

/// The result for the claims, signed by the key for RS256.
fn checked(changes: Value) -> Result<IdToken, Fault> {
    verify(&signer(Algorithm::RS256).sign(&with(changes)))
}

#[test]
fn tokens_of_every_algorithm_are_accepted() {
    let expected = IdToken {
        subject: "248289761001".into(),
        object_id: Some("an object".into()),
        email: Some("ada@example.com".into()),
        email_verified: true,
        given_name: Some("Ada".into()),
        family_name: Some("Lovelace".into()),
        name: Some("Ada Lovelace".into()),
        methods: vec!["pwd".into(), "mfa".into()],
        authenticated_at: Some(now() - TimeDelta::seconds(60)),
        session: Some("a session".into()),
    };
    for algorithm in ALGORITHMS {
        assert_eq!(verify(&signer(algorithm).sign(&claims())), Ok(expected.clone()), "{algorithm:?}");
    }
}

#[test]
fn every_fault_of_a_claim_is_refused() {
    let cases = [
        (json!({ "iss": "https://id.example.com/tenant" }), Fault::Issuer),
        (json!({ "iss": "https://evil.example.com/tenant/" }), Fault::Issuer),
        (json!({ "iss": null }), Fault::Malformed),
        (json!({ "iss": [ISSUER] }), Fault::Malformed),
        (json!({ "aud": "another" }), Fault::Audience),
        (json!({ "aud": [] }), Fault::Audience),
        (json!({ "aud": ["another"] }), Fault::Audience),
        (json!({ "aud": [CLIENT, "another"] }), Fault::Audience),
        (json!({ "aud": [CLIENT, "another"], "azp": "another" }), Fault::Audience),
        (json!({ "azp": "another" }), Fault::Audience),
        (json!({ "aud": "another", "azp": CLIENT }), Fault::Audience),
        (json!({ "aud": null }), Fault::Malformed),
        (json!({ "aud": 1 }), Fault::Malformed),
        (json!({ "exp": seconds(0) }), Fault::Expired),
        (json!({ "exp": seconds(-1) }), Fault::Expired),
        (json!({ "exp": null }), Fault::Malformed),
        (json!({ "exp": "never" }), Fault::Malformed),
        (json!({ "exp": i64::MAX }), Fault::Malformed),
        (json!({ "iat": seconds(61) }), Fault::IssuedInFuture),
        (json!({ "iat": null }), Fault::Malformed),
        (json!({ "nbf": seconds(61) }), Fault::IssuedInFuture),
        (json!({ "nbf": "later" }), Fault::Malformed),
        (json!({ "nonce": "that of another login" }), Fault::Nonce),
        (json!({ "nonce": null }), Fault::Nonce),
        (json!({ "nonce": [NONCE] }), Fault::Nonce),
        (json!({ "sub": null }), Fault::Malformed),
        (json!({ "sub": "" }), Fault::Malformed),
        (json!({ "sub": 248_289_761_001_u64 }), Fault::Malformed),
        (json!({ "sub": "x".repeat(256) }), Fault::Malformed),
    ];
    for (changes, fault) in cases {
        assert_eq!(checked(changes.clone()), Err(fault), "{changes}");
    }
}

#[test]
fn claims_at_their_bounds_are_accepted() {
    let cases = [
        json!({ "aud": [CLIENT] }),
        json!({ "aud": [CLIENT], "azp": CLIENT }),
        json!({ "aud": [CLIENT, "another"], "azp": CLIENT }),
        json!({ "exp": seconds(1) }),
        json!({ "exp": seconds(300) as f64 + 0.5 }),
        json!({ "iat": seconds(60) }),
        json!({ "nbf": seconds(60) }),
        json!({ "nbf": seconds(-60) }),
        json!({ "sub": "x".repeat(255) }),
    ];
    for changes in cases {
        assert!(checked(changes.clone()).is_ok(), "{changes}");
    }
}

#[test]
fn claims_that_no_login_needs_may_be_absent_or_of_another_type() {
    let absent = checked(json!({
        "email": null, "email_verified": null, "given_name": null, "family_name": null, "name": null, "amr": null,
        "auth_time": null, "sid": null, "oid": null,
    }));
    let strange = checked(json!({
        "email": 1, "email_verified": 1, "given_name": [], "family_name": {}, "name": false, "amr": "pwd",
        "auth_time": "now", "sid": 7, "oid": 8,
    }));
    let expected = IdToken {
        subject: "248289761001".into(),
        object_id: None,
        email: None,
        email_verified: false,
        given_name: None,
        family_name: None,
        name: None,
        methods: vec![],
        authenticated_at: None,
        session: None,
    };
    assert_eq!(absent, Ok(expected.clone()));
    assert_eq!(strange, Ok(expected));
}

#[test]
fn an_address_is_verified_by_true_alone() {
    let is_verified = |value: Value| checked(json!({ "email_verified": value })).unwrap().email_verified;
    assert!(is_verified(json!(true)) && is_verified(json!("true")));
    for other in [json!(false), json!("false"), json!("TRUE"), json!(1), json!("1"), json!(["true"])] {
        assert!(!is_verified(other.clone()), "{other}");
    }
}

#[test]
fn a_token_without_an_address_gets_the_claims_of_userinfo() {
    let none = json!({ "email": null, "email_verified": null, "given_name": null, "name": null });
    let bare = checked(none.clone()).unwrap();
    let info = json!({
        "sub": bare.subject, "email": "grace@example.com", "email_verified": true, "given_name": "Grace",
        "family_name": "Other", "name": "Grace Hopper",
    });
    let told = bare.clone().with_userinfo(info.to_string().as_bytes());
    assert_eq!((told.email.as_deref(), told.email_verified), (Some("grace@example.com"), true));
    assert_eq!((told.given_name.as_deref(), told.name.as_deref()), (Some("Grace"), Some("Grace Hopper")));
    assert_eq!(told.family_name, bare.family_name.clone().or(Some("Other".to_owned())), "the token comes first");
    let mut none = none;
    none["family_name"] = Value::Null;
    let nameless = checked(none).unwrap().with_userinfo(info.to_string().as_bytes());
    assert_eq!(nameless.family_name.as_deref(), Some("Other"));
    // Another person, no JSON, or an address without more.
    for (changes, expected) in [
        (json!({ "sub": "another" }), &bare),
        (json!({ "sub": null }), &bare),
        (json!({ "email_verified": "yes" }), &IdToken { email_verified: false, ..told.clone() }),
    ] {
        let mut info = info.clone();
        info.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        assert_eq!(bare.clone().with_userinfo(info.to_string().as_bytes()), *expected, "{changes}");
    }
    assert_eq!(bare.clone().with_userinfo(b"eyJhbGciOi"), bare);
    let full = checked(json!({ "email": "signed@example.com" })).unwrap();
    assert_eq!(full.clone().with_userinfo(info.to_string().as_bytes()), full, "an address of the token stays");
}

#[test]
fn a_token_belongs_to_its_access_token() {
    for algorithm in ALGORITHMS {
        let kind = if algorithm == Algorithm::EdDSA { &SHA512 } else { &SHA256 };
        let hash = digest(kind, b"the access token");
        let half = URL_SAFE_NO_PAD.encode(&hash.as_ref()[..hash.as_ref().len() / 2]);
        let token = signer(algorithm).sign(&with(json!({ "at_hash": half })));
        let verify = |access_token| verify_with(&published(), &token, access_token).map(|_| ());
        assert_eq!(verify(Some("the access token")), Ok(()), "{algorithm:?}");
        assert_eq!(verify(Some("another one")), Err(Fault::AccessToken), "{algorithm:?}");
        assert_eq!(verify(None), Err(Fault::AccessToken), "{algorithm:?}");
    }
    let strange = signer(Algorithm::RS256).sign(&with(json!({ "at_hash": 1 })));
    assert_eq!(verify_with(&published(), &strange, Some("the access token")), Err(Fault::AccessToken));
}

#[test]
fn a_changed_token_is_refused() {
    for algorithm in ALGORITHMS {
        let token = signer(algorithm).sign(&claims());
        let (message, signature) = token.rsplit_once('.').unwrap();
        let (header, _) = message.split_once('.').unwrap();
        let other = URL_SAFE_NO_PAD.encode(with(json!({ "sub": "the chief" })).to_string());
        assert_eq!(verify(&format!("{header}.{other}.{signature}")), Err(Fault::Signature), "{algorithm:?}");
        assert_eq!(verify(&format!("{message}.")), Err(Fault::Signature), "{algorithm:?}");
        assert_eq!(verify(&format!("{message}.{}", "A".repeat(signature.len()))), Err(Fault::Signature));
    }
}

#[test]
fn a_token_of_another_key_is_refused() {
    for algorithm in ALGORITHMS {
        let of_stranger = Signer::new(algorithm, signer(algorithm).id);
        assert_eq!(verify(&of_stranger.sign(&claims())), Err(Fault::Signature), "{algorithm:?}");
        let unknown = Signer::new(algorithm, "unknown");
        assert_eq!(verify(&unknown.sign(&claims())), Err(Fault::UnknownKey), "{algorithm:?}");
    }
}

/// The public key is known, so a token that uses it as the secret of an HMAC must be refused.
#[test]
fn the_key_decides_on_the_algorithm() {
    let public = signer(Algorithm::RS256).public();
    let secret = EncodingKey::from_secret(public["n"].as_str().unwrap().as_bytes()).unwrap();
    let header = Header { kid: Some("rsa".into()), ..Header::new(Algorithm::HS256) };
    assert_eq!(verify(&encode(&header, &claims(), &secret).unwrap()), Err(Fault::Algorithm));

    let unsigned = |header: Value| {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        verify(&format!("{}.{}.", part(&header), part(&claims())))
    };
    assert_eq!(unsigned(json!({ "alg": "none", "kid": "rsa" })), Err(Fault::Malformed));
    assert_eq!(unsigned(json!({ "alg": "HS256", "kid": "rsa" })), Err(Fault::Algorithm));
    assert_eq!(unsigned(json!({ "alg": "RS512", "kid": "rsa" })), Err(Fault::Algorithm));
    // The key is for RS256, as it says itself.
    assert_eq!(unsigned(json!({ "alg": "PS256", "kid": "rsa" })), Err(Fault::Algorithm));
    assert_eq!(unsigned(json!({ "alg": "ES256", "kid": "rsa" })), Err(Fault::Algorithm));
    // What the key must be is for the provider to say, not for the token.
    let jwk = json!({ "alg": "RS256", "jwk": public, "jku": "https://evil.example.com" });
    assert_eq!(unsigned(jwk), Err(Fault::Signature));
}

#[test]
fn extensions_that_must_be_understood_are_refused() {
    let signer = signer(Algorithm::EdDSA);
    let header = json!({ "alg": "EdDSA", "kid": signer.id, "crit": ["exp"], "exp": 1 });
    let token = signer.sign(&claims());
    let (_, rest) = token.split_once('.').unwrap();
    let token = format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header.to_string()));
    assert!(matches!(verify(&token), Err(Fault::Malformed | Fault::Signature)));
}

#[test]
fn a_token_without_a_key_identifier_is_tried_with_the_keys_of_its_algorithm() {
    for algorithm in ALGORITHMS {
        let header = Header::new(algorithm);
        assert!(verify(&signer(algorithm).sign_with(&header, &claims())).is_ok(), "{algorithm:?}");
    }
}

#[test]
fn keys_for_other_uses_are_left_out() {
    let signer = signer(Algorithm::ES256);
    let token = signer.sign(&claims());
    let with = |name: &str, value: Value| {
        let mut key = signer.public();
        key[name] = value;
        document(&[json!({ "kty": "unknown" }), json!(1), key])
    };
    assert!(verify_with(&with("use", json!("sig")), &token, None).is_ok());
    assert_eq!(verify_with(&with("use", json!("enc")), &token, None), Err(Fault::UnknownKey));
    assert!(verify_with(&with("key_ops", json!(["sign", "verify"])), &token, None).is_ok());
    assert_eq!(verify_with(&with("key_ops", json!(["encrypt"])), &token, None), Err(Fault::UnknownKey));
    assert_eq!(verify_with(&with("alg", json!("ES384")), &token, None), Err(Fault::UnknownKey));
    assert_eq!(verify_with(&document(&[]), &token, None), Err(Fault::UnknownKey));
    // A key that names no algorithm is for all of its type.
    let mut key = signer.public();
    key.as_object_mut().unwrap().remove("alg");
    key.as_object_mut().unwrap().remove("use");
    assert!(verify_with(&document(&[key]), &token, None).is_ok());
    let secret = json!({ "kty": "oct", "kid": signer.id, "k": "c2VjcmV0", "alg": "HS256" });
    assert_eq!(verify_with(&document(&[secret]), &token, None), Err(Fault::UnknownKey));
}

#[test]
fn documents_that_are_no_key_sets_are_refused() {
    for text in ["", "null", "[]", "{}", r#"{"keys": {}}"#, r#"{"keys": null}"#] {
        assert!(ProviderKeys::parse(text.as_bytes()).is_err(), "{text}");
    }
    let many = |count: usize| json!({ "keys": vec![json!({}); count] }).to_string();
    assert!(ProviderKeys::parse(many(100).as_bytes()).is_ok());
    assert!(ProviderKeys::parse(many(101).as_bytes()).is_err());
}

#[test]
fn a_token_is_read_up_to_its_maximum_length() {
    const MAX: usize = 64 * 1024;
    // Three bytes of the claims become four of the token.
    let token = |filling: usize| signer(Algorithm::RS256).sign(&with(json!({ "filling": "x".repeat(filling) })));
    let (mut read, mut refused) = (0, usize::MAX);
    let around = (MAX - token(0).len()) * 3 / 4;
    for filling in around - 8..around + 8 {
        let token = token(filling);
        if verify(&token).is_ok() { read = read.max(token.len()) } else { refused = refused.min(token.len()) }
    }
    assert!((MAX - 2..=MAX).contains(&read) && (MAX + 1..=MAX + 2).contains(&refused), "{read} {refused}");
}

#[test]
fn texts_that_are_no_tokens_are_refused() {
    let long = format!("{}.{}.", signer(Algorithm::RS256).sign(&claims()), "A".repeat(64 * 1024));
    for text in ["", ".", "..", "...", "a.b", "a.b.c", "a.b.c.d", "é.é.é", &long] {
        assert_eq!(verify(text), Err(Fault::Malformed), "{text:.20}");
    }
}

#[test]
fn every_fault_has_a_cause_of_the_audit_log() {
    let causes = [
        (Fault::Malformed, Cause::Signature),
        (Fault::Algorithm, Cause::Signature),
        (Fault::UnknownKey, Cause::Signature),
        (Fault::Signature, Cause::Signature),
        (Fault::NotALogout, Cause::Signature),
        (Fault::Issuer, Cause::Issuer),
        (Fault::Audience, Cause::Audience),
        (Fault::Expired, Cause::Expired),
        (Fault::IssuedInFuture, Cause::Expired),
        (Fault::Nonce, Cause::Nonce),
        (Fault::AccessToken, Cause::Nonce),
    ];
    for (fault, cause) in causes {
        assert_eq!(fault.cause(), cause, "{fault:?}");
    }
    let words = [Cause::Signature, Cause::Issuer, Cause::Audience, Cause::Expired, Cause::Nonce].map(Cause::as_str);
    assert_eq!(words, ["SIGNATURE", "ISSUER", "AUDIENCE", "EXPIRED", "NONCE"]);
}

#[test]
fn a_token_is_not_printed() {
    let printed = format!("{:?}", checked(json!({})).unwrap());
    assert_eq!(printed, r#"IdToken { methods: ["pwd", "mfa"], .. }"#);
}
