//! Fixed vectors that other implementations made: section 16 of the standard, and independent authenticators.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use iam_webauthn::{AuthenticationResponse, Credential, Refusal, RegistrationResponse, RelyingParty, User};
use serde_json::Value;

const SPECIFICATION: &str = include_str!("vectors/specification.json");
const FIDO2: &str = include_str!("vectors/fido2.json");
const PASSKEY: &str = include_str!("vectors/passkey.json");

fn bytes(value: &Value) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(value.as_str().unwrap()).unwrap()
}

fn challenge(ceremony: &Value) -> [u8; 32] {
    bytes(&ceremony["challenge"]).try_into().unwrap()
}

/// The outcome as the file names it.
fn outcome<T>(result: &Result<T, Refusal>) -> String {
    match result {
        Ok(_) => "accepted".to_owned(),
        Err(refusal) => format!("{refusal:?}"),
    }
}

/// Registers and authenticates with every vector. Returns how many outcomes were acceptances.
fn check(file: &str) -> usize {
    let file: Value = serde_json::from_str(file).unwrap();
    let origin = file["origin"].as_str().unwrap();
    let rp = RelyingParty::new(file["id"].as_str().unwrap(), "Example", [origin]).unwrap();
    let mut accepted = 0;
    for vector in file["vectors"].as_array().unwrap() {
        let name = &vector["name"];
        // The vectors of the standard have no user handle, so their user must be known.
        let handle = vector["userHandle"].as_str().map(|_| bytes(&vector["userHandle"]));
        let owner = handle.clone().unwrap_or_else(|| b"user".to_vec());
        let credential: Credential = serde_json::from_value(vector["credential"].clone()).unwrap();

        let ceremony = &vector["registration"];
        let user = User { handle: &owner, name: "name", display_name: "" };
        let (_, begun) = rp.begin_registration(challenge(ceremony), user, &[]).unwrap();
        let response = RegistrationResponse::from_json(&ceremony["response"]).unwrap();
        let registered = rp.finish_registration(&begun, &owner, &response);
        assert_eq!(outcome(&registered), ceremony["outcome"], "registration {name}");
        if let Ok(registered) = registered {
            assert_eq!(registered, credential, "{name}");
            accepted += 1;
        }

        let ceremony = &vector["authentication"];
        let allow = handle.is_none().then(|| std::slice::from_ref(&credential));
        let (_, begun) = rp.begin_authentication(challenge(ceremony), allow);
        let response = AuthenticationResponse::from_json(&ceremony["response"]).unwrap();
        let authenticated = rp.finish_authentication(&begun, &credential, &owner, &response);
        assert_eq!(outcome(&authenticated), ceremony["outcome"], "authentication {name}");
        if let Ok(authenticated) = authenticated {
            assert_eq!(authenticated.counter, ceremony["counter"].as_u64().unwrap() as u32, "{name}");
            assert_eq!(authenticated.fell_back_to, None);
            accepted += 1;
        }
    }
    accepted
}

#[test]
fn vectors_of_the_standard_have_the_expected_outcomes() {
    assert_eq!(check(SPECIFICATION), 8);
}

#[test]
fn responses_of_python_fido2_are_accepted() {
    assert_eq!(check(FIDO2), 6);
}

#[test]
fn responses_of_the_crate_passkey_are_accepted() {
    assert_eq!(check(PASSKEY), 4);
}
