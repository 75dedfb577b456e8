//! The JSON of responses: what can be read before anything is verified, and what cannot be read.

use iam_webauthn::{AuthenticationResponse, Refusal, RegistrationResponse};
use serde_json::{Value, json};

use crate::authenticator::{Authentication, OWNER, Registration, base64url, passkey, relying_party, user};

fn registration() -> Value {
    let (options, _) = relying_party().begin_registration([1; 32], user(), &[]).unwrap();
    Registration::of(&passkey().key, b"credential", &options).json()
}

fn authentication() -> Value {
    let (options, _) = relying_party().begin_authentication([2; 32], None);
    Authentication::of(b"credential", &options).json(&passkey().key)
}

/// Reads both responses after the same change.
fn refused(change: impl Fn(&mut Value)) -> [Option<Refusal>; 2] {
    let [mut registration, mut authentication] = [registration(), authentication()];
    change(&mut registration);
    change(&mut authentication);
    [RegistrationResponse::from_json(&registration).err(), AuthenticationResponse::from_json(&authentication).err()]
}

const REFUSED: [Option<Refusal>; 2] = [Some(Refusal::Response); 2];

#[test]
fn a_response_tells_which_challenge_credential_and_user_it_claims() {
    let response = RegistrationResponse::from_json(&registration()).unwrap();
    assert_eq!(response.claimed_challenge(), [1; 32]);
    assert_eq!(response.claimed_credential_id(), b"credential");
    let response = AuthenticationResponse::from_json(&authentication()).unwrap();
    assert_eq!(response.claimed_challenge(), [2; 32]);
    assert_eq!(response.claimed_credential_id(), b"credential");
    assert_eq!(response.claimed_user_handle(), Some(OWNER));
}

#[test]
fn a_user_handle_may_be_null_or_absent() {
    let mut json = authentication();
    json["response"]["userHandle"] = Value::Null;
    assert_eq!(AuthenticationResponse::from_json(&json).unwrap().claimed_user_handle(), None);
    json["response"].as_object_mut().unwrap().remove("userHandle");
    assert_eq!(AuthenticationResponse::from_json(&json).unwrap().claimed_user_handle(), None);
}

#[test]
fn unknown_members_are_ignored() {
    let refusals = refused(|json| {
        json["future"] = json!(1);
        json["response"]["publicKeyAlgorithm"] = json!(-7);
        json["clientExtensionResults"] = json!({ "credProps": { "rk": true } });
    });
    assert_eq!(refusals, [None; 2]);
}

#[test]
fn other_json_is_refused() {
    for other in [json!(null), json!([]), json!({}), json!("text"), json!(1)] {
        assert_eq!(refused(|json| *json = other.clone()), REFUSED);
    }
    assert_eq!(RegistrationResponse::from_json(&authentication()).err(), Some(Refusal::Response));
    assert_eq!(AuthenticationResponse::from_json(&registration()).err(), Some(Refusal::Response));
}

#[test]
fn a_missing_member_is_refused() {
    for member in ["id", "rawId", "type", "response"] {
        let refusals = refused(|json| drop(json.as_object_mut().unwrap().remove(member)));
        assert_eq!(refusals, REFUSED, "{member}");
    }
    for member in ["clientDataJSON", "attestationObject"] {
        let mut json = registration();
        json["response"].as_object_mut().unwrap().remove(member);
        assert_eq!(RegistrationResponse::from_json(&json).err(), Some(Refusal::Response), "{member}");
    }
    for member in ["clientDataJSON", "authenticatorData", "signature"] {
        let mut json = authentication();
        json["response"].as_object_mut().unwrap().remove(member);
        assert_eq!(AuthenticationResponse::from_json(&json).err(), Some(Refusal::Response), "{member}");
    }
}

#[test]
fn another_type_of_credential_is_refused() {
    assert_eq!(refused(|json| json["type"] = json!("password")), REFUSED);
}

#[test]
fn two_different_identifiers_are_refused() {
    assert_eq!(refused(|json| json["id"] = json!(base64url("other"))), REFUSED);
    assert_eq!(refused(|json| json["rawId"] = json!(base64url("other"))), REFUSED);
}

#[test]
fn other_encodings_of_bytes_are_refused() {
    // Padding, the other alphabet, bits after the end, white space, no text.
    for id in [json!("YQ=="), json!("-_+/"), json!("YR"), json!(" YQ"), json!([97]), json!(null)] {
        let refusals = refused(|json| {
            json["id"] = id.clone();
            json["rawId"] = id.clone();
        });
        assert_eq!(refusals, REFUSED, "{id}");
    }
    let refusals = refused(|json| {
        json["id"] = json!("-_8");
        json["rawId"] = json!("-_8");
    });
    assert_eq!(refusals, [None; 2]);
}

#[test]
fn members_have_a_maximum_length() {
    let registration = |member: &str, length: usize| {
        let mut json = registration();
        json["response"][member] = json!(base64url(vec![b' '; length]));
        RegistrationResponse::from_json(&json).err()
    };
    let authentication = |member: &str, length: usize| {
        let mut json = authentication();
        json["response"][member] = json!(base64url(vec![b' '; length]));
        AuthenticationResponse::from_json(&json).err()
    };
    // White space can be read, but is no JSON.
    assert_eq!(registration("clientDataJSON", 4096), Some(Refusal::ClientData));
    assert_eq!(registration("clientDataJSON", 4097), Some(Refusal::Response));
    assert_eq!(registration("attestationObject", 16384), None);
    assert_eq!(registration("attestationObject", 16385), Some(Refusal::Response));
    assert_eq!(authentication("clientDataJSON", 4097), Some(Refusal::Response));
    assert_eq!(authentication("authenticatorData", 4096), None);
    assert_eq!(authentication("authenticatorData", 4097), Some(Refusal::Response));
    assert_eq!(authentication("signature", 1024), None);
    assert_eq!(authentication("signature", 1025), Some(Refusal::Response));
    assert_eq!(authentication("userHandle", 64), None);
    assert_eq!(authentication("userHandle", 65), Some(Refusal::Response));
    for (length, expected) in [(1023, [None; 2]), (1024, REFUSED)] {
        let refusals = refused(|json| {
            json["id"] = json!(base64url(vec![7; length]));
            json["rawId"] = json!(base64url(vec![7; length]));
        });
        assert_eq!(refusals, expected, "{length}");
    }
}

#[test]
fn transports_have_a_maximum_number_and_length() {
    for (transports, is_read) in [
        (json!([]), true),
        (json!(vec!["usb"; 16]), true),
        (json!(vec!["usb"; 17]), false),
        (json!(["a".repeat(32)]), true),
        (json!(["a".repeat(33)]), false),
        (json!([1]), false),
        (json!("usb"), false),
    ] {
        let mut json = registration();
        json["response"]["transports"] = transports;
        assert_eq!(RegistrationResponse::from_json(&json).is_ok(), is_read, "{json}");
    }
    let mut json = registration();
    json["response"].as_object_mut().unwrap().remove("transports");
    assert!(RegistrationResponse::from_json(&json).is_ok());
}

#[test]
fn malformed_client_data_are_refused() {
    let challenge = base64url([1; 32]);
    for text in [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        r#"{"type":"webauthn.get","origin":"https://login.example.com"}"#.to_owned(),
        format!(r#"{{"type":"webauthn.get","challenge":"{challenge}"}}"#),
        format!(r#"{{"challenge":"{challenge}","origin":"https://login.example.com"}}"#),
        format!(r#"{{"type":"webauthn.get","challenge":"{challenge}=","origin":"https://login.example.com"}}"#),
        format!(r#"{{"type":"webauthn.get","challenge":"{challenge}","origin":1}}"#),
        format!(r#"{{"type":"webauthn.get","challenge":"{challenge}","origin":"o","crossOrigin":"false"}}"#),
        format!(r#"{{"type":"webauthn.get","challenge":"{challenge}","origin":"o"}} trailing"#),
        // Readers differ in which of two members they take.
        format!(r#"{{"type":"webauthn.get","challenge":"{challenge}","origin":"o","origin":"o"}}"#),
        format!(r#"{{"type":"webauthn.get","challenge":"{challenge}","challenge":"{challenge}","origin":"o"}}"#),
        // A challenge of more than 64 bytes.
        format!(r#"{{"type":"webauthn.get","challenge":"{}","origin":"o"}}"#, base64url([1; 65])),
    ] {
        let refusals = refused(|json| json["response"]["clientDataJSON"] = json!(base64url(&text)));
        assert_eq!(refusals, [Some(Refusal::ClientData); 2], "{text}");
    }
}
