//! The registration of a passkey: what is requested, what is kept, and one test for each refusal.

use ciborium::{Value as Cbor, cbor};
use iam_webauthn::{Ceremony, Credential, Refusal, RegistrationResponse, TIMEOUT, User};
use serde_json::json;

use crate::authenticator::{
    AT, BE, BS, ED, ORIGIN, OWNER, PASSKEYS, Registration, UP, UV, attestation_object, attested, base64url, bytes,
    encode, passkey, register, relying_party, user,
};

/// Registers an ES256 passkey by a response of which something was changed.
fn registered(change: impl FnOnce(&mut Registration)) -> Result<Credential, Refusal> {
    register(&passkey().key, b"credential", change)
}

#[test]
fn the_options_request_a_discoverable_passkey_of_a_verified_user() {
    let known = &passkey().credential;
    let (options, _) = relying_party().begin_registration([1; 32], user(), std::slice::from_ref(known)).unwrap();
    let expected = json!({
        "rp": { "id": "example.com", "name": "Example" },
        "user": { "id": base64url(OWNER), "name": "ada@example.com", "displayName": "Ada" },
        "challenge": base64url([1; 32]),
        "pubKeyCredParams": [
            { "type": "public-key", "alg": -7 },
            { "type": "public-key", "alg": -8 },
            { "type": "public-key", "alg": -257 },
        ],
        "timeout": 300_000,
        "excludeCredentials": [{ "type": "public-key", "id": base64url(&known.id), "transports": ["internal"] }],
        "authenticatorSelection": {
            "residentKey": "required",
            "requireResidentKey": true,
            "userVerification": "required",
        },
        "attestation": "none",
    });
    assert_eq!(options, expected);
    assert_eq!(options["timeout"], json!(u64::try_from(TIMEOUT.as_millis()).unwrap()));
}

#[test]
fn a_user_handle_has_1_to_64_bytes() {
    for (length, is_valid) in [(0, false), (1, true), (64, true), (65, false)] {
        let handle = vec![7; length];
        let begun = relying_party().begin_registration([1; 32], User { handle: &handle, ..user() }, &[]);
        assert_eq!(begun.map(|_| ()), if is_valid { Ok(()) } else { Err(Refusal::UserHandle) }, "{length} bytes");
    }
}

#[test]
fn the_credential_is_what_the_authenticator_sent() {
    for passkey in &*PASSKEYS {
        let credential = register(&passkey.key, b"credential", |response| {
            response.data.flags |= BE | BS;
            response.data.counter = 0x0102_0304;
            response.transports = json!(["usb", "a transport of the future"]);
        })
        .unwrap();
        assert_eq!(credential.id, b"credential");
        assert_eq!(credential.public_key, encode(&passkey.key.cose()));
        assert_eq!(credential.counter, 0x0102_0304);
        assert_eq!((credential.backup_eligible, credential.backed_up), (true, true));
        assert_eq!(credential.transports, ["usb", "a transport of the future"]);
    }
    let credential = registered(|response| response.data.flags |= BE).unwrap();
    assert_eq!((credential.backup_eligible, credential.backed_up), (true, false));
    let credential = registered(|_| {}).unwrap();
    assert_eq!((credential.backup_eligible, credential.backed_up), (false, false));
}

#[test]
fn a_credential_and_a_ceremony_survive_their_storage() {
    let credential = registered(|_| {}).unwrap();
    let stored = serde_json::to_vec(&credential).unwrap();
    assert_eq!(serde_json::from_slice::<Credential>(&stored).unwrap(), credential);
    let (_, ceremony) = relying_party().begin_registration([1; 32], user(), &[credential]).unwrap();
    let stored = serde_json::to_vec(&ceremony).unwrap();
    assert_eq!(serde_json::from_slice::<Ceremony>(&stored).unwrap(), ceremony);
}

#[test]
fn a_stored_ceremony_does_not_contain_the_challenge() {
    let (_, ceremony) = relying_party().begin_registration([1; 32], user(), &[]).unwrap();
    assert!(!serde_json::to_string(&ceremony).unwrap().contains(&base64url([1; 32])));
}

#[test]
fn every_origin_of_the_relying_party_is_accepted() {
    let response = registered(|response| response.client_data["origin"] = json!("https://example.com:8443"));
    assert!(response.is_ok());
}

#[test]
fn unknown_members_of_the_client_data_are_ignored() {
    assert!(registered(|response| response.client_data["extraData"] = json!({ "a": [1] })).is_ok());
}

#[test]
fn client_data_may_lack_the_member_cross_origin() {
    let response = registered(|response| {
        response.client_data.as_object_mut().unwrap().remove("crossOrigin");
    });
    assert!(response.is_ok());
}

#[test]
fn extensions_that_were_not_requested_are_ignored() {
    let response = registered(|response| {
        response.data.flags |= ED;
        response.data.rest = encode(&cbor!({ "credProtect" => 2 }).unwrap());
    });
    assert!(response.is_ok());
}

#[test]
fn an_attestation_statement_is_ignored() {
    let response = registered(|response| {
        response.wrap = |data| {
            let statement = cbor!({ "alg" => -7, "sig" => "wrong" }).unwrap();
            encode(&cbor!({ "fmt" => "packed", "attStmt" => statement, "authData" => data }).unwrap())
        };
    });
    assert!(response.is_ok());
}

#[test]
fn the_ceremony_of_an_authentication_is_refused() {
    let rp = relying_party();
    let (options, _) = rp.begin_registration([1; 32], user(), &[]).unwrap();
    let (_, other) = rp.begin_authentication([1; 32], None);
    let response = Registration::of(&passkey().key, b"credential", &options).json();
    let response = RegistrationResponse::from_json(&response).unwrap();
    assert_eq!(rp.finish_registration(&other, OWNER, &response), Err(Refusal::Type));
}

#[test]
fn a_response_that_another_user_sends_is_refused() {
    let rp = relying_party();
    let (options, ceremony) = rp.begin_registration([1; 32], user(), &[]).unwrap();
    let response = Registration::of(&passkey().key, b"credential", &options).json();
    let response = RegistrationResponse::from_json(&response).unwrap();
    assert_eq!(rp.finish_registration(&ceremony, b"user 2", &response), Err(Refusal::UserHandle));
}

#[test]
fn another_type_of_client_data_is_refused() {
    for other in ["webauthn.get", "", "webauthn.create ", "payment.get"] {
        assert_eq!(registered(|response| response.client_data["type"] = json!(other)), Err(Refusal::Type));
    }
}

#[test]
fn another_challenge_is_refused() {
    for other in [vec![9; 32], vec![1; 31], vec![1; 33], vec![]] {
        let response = registered(|response| response.client_data["challenge"] = json!(base64url(other)));
        assert_eq!(response, Err(Refusal::Challenge));
    }
}

#[test]
fn another_origin_is_refused() {
    for other in [
        "https://example.com",
        "https://evil.example.com",
        "https://login.example.com.evil.org",
        "https://login.example.com:8443",
        "https://login.example.com/",
        "http://login.example.com",
        "HTTPS://login.example.com",
        "null",
        "",
    ] {
        let response = registered(|response| response.client_data["origin"] = json!(other));
        assert_eq!(response, Err(Refusal::Origin), "{other}");
    }
}

#[test]
fn a_page_that_another_origin_embeds_is_refused() {
    let response = registered(|response| response.client_data["crossOrigin"] = json!(true));
    assert_eq!(response, Err(Refusal::CrossOrigin));
    let response = registered(|response| response.client_data["topOrigin"] = json!(ORIGIN));
    assert_eq!(response, Err(Refusal::CrossOrigin));
}

#[test]
fn another_relying_party_is_refused() {
    for other in ["login.example.com", "example.org", ""] {
        let response = registered(|response| response.data.rp_id = other.to_owned());
        assert_eq!(response, Err(Refusal::RelyingParty));
    }
}

#[test]
fn an_absent_user_is_refused() {
    assert_eq!(registered(|response| response.data.flags &= !UP), Err(Refusal::UserPresence));
}

#[test]
fn an_unverified_user_is_refused() {
    assert_eq!(registered(|response| response.data.flags &= !UV), Err(Refusal::UserVerification));
}

#[test]
fn a_backup_of_a_passkey_that_is_not_eligible_is_refused() {
    assert_eq!(registered(|response| response.data.flags |= BS), Err(Refusal::Backup));
}

#[test]
fn a_response_without_a_credential_is_refused() {
    assert_eq!(registered(|response| response.data.flags &= !AT), Err(Refusal::AttestedCredential));
}

#[test]
fn another_credential_than_the_attested_one_is_refused() {
    assert_eq!(registered(|response| response.id = b"other".to_vec()), Err(Refusal::Credential));
}

#[test]
fn an_excluded_credential_is_refused() {
    let rp = relying_party();
    let known = &passkey().credential;
    let (options, ceremony) = rp.begin_registration([1; 32], user(), std::slice::from_ref(known)).unwrap();
    let response = Registration::of(&passkey().key, &known.id, &options).json();
    let response = RegistrationResponse::from_json(&response).unwrap();
    assert_eq!(rp.finish_registration(&ceremony, OWNER, &response), Err(Refusal::Excluded));
}

#[test]
fn an_identifier_has_1_to_1023_bytes() {
    let with_length = |length| {
        registered(|response| {
            response.id = vec![7; length];
            response.attested_id = vec![7; length];
        })
    };
    assert!(with_length(1).is_ok());
    assert!(with_length(1023).is_ok());
    // The identifier in JSON is refused before the attested one.
    assert_eq!(with_length(1024), Err(Refusal::Response));
    for length in [0, 1024] {
        let response = registered(|response| response.attested_id = vec![7; length]);
        assert_eq!(response, Err(Refusal::AuthenticatorData));
    }
}

#[test]
fn truncated_authenticator_data_are_refused() {
    let rp = relying_party();
    let (options, ceremony) = rp.begin_registration([1; 32], user(), &[]).unwrap();
    let response = Registration::of(&passkey().key, b"credential", &options);
    let complete = [response.data.bytes(), attested(&response.attested_id), response.key.clone()].concat();
    for length in 0..complete.len() {
        let mut json = response.json();
        let object = Cbor::Map(attestation_object(bytes(&complete[..length])));
        json["response"]["attestationObject"] = json!(base64url(encode(&object)));
        let parsed = RegistrationResponse::from_json(&json).unwrap();
        assert_eq!(rp.finish_registration(&ceremony, OWNER, &parsed), Err(Refusal::AuthenticatorData), "{length}");
    }
}

#[test]
fn bytes_after_the_authenticator_data_are_refused() {
    assert_eq!(registered(|response| response.data.rest = vec![0]), Err(Refusal::TrailingBytes));
    let response = registered(|response| {
        response.data.flags |= ED;
        response.data.rest = [encode(&cbor!({}).unwrap()), vec![0]].concat();
    });
    assert_eq!(response, Err(Refusal::TrailingBytes));
}

#[test]
fn extensions_that_are_not_a_map_are_refused() {
    for extensions in [vec![], encode(&cbor!([1]).unwrap()), vec![0xff]] {
        let response = registered(|response| {
            response.data.flags |= ED;
            response.data.rest = extensions;
        });
        assert_eq!(response, Err(Refusal::AuthenticatorData));
    }
}

#[test]
fn deeply_nested_cbor_is_refused() {
    let response = registered(|response| {
        response.data.flags |= ED;
        // A map with arrays inside each other.
        response.data.rest = [vec![0xa1, 0x01], vec![0x81; 8], vec![0x01]].concat();
    });
    assert_eq!(response, Err(Refusal::AuthenticatorData));
    let response = registered(|response| {
        response.data.flags |= ED;
        response.data.rest = [vec![0xa1, 0x01], vec![0x81; 7], vec![0x01]].concat();
    });
    assert!(response.is_ok());
}

#[test]
fn bytes_after_the_attestation_object_are_refused() {
    let response = registered(|response| {
        response.wrap = |data| [encode(&Cbor::Map(attestation_object(data))), vec![0]].concat();
    });
    assert_eq!(response, Err(Refusal::TrailingBytes));
}

#[test]
fn an_attestation_object_that_lacks_or_repeats_a_member_is_refused() {
    let objects: [fn(Cbor) -> Vec<u8>; 9] = [
        |_| Vec::new(),
        |data| encode(&data),
        |data| encode(&cbor!([{ "fmt" => "none", "attStmt" => {}, "authData" => data }]).unwrap()),
        |data| encode(&cbor!({ "attStmt" => {}, "authData" => data }).unwrap()),
        |data| encode(&cbor!({ "fmt" => "none", "authData" => data }).unwrap()),
        |_| encode(&cbor!({ "fmt" => "none", "attStmt" => {} }).unwrap()),
        |_| encode(&cbor!({ "fmt" => "none", "attStmt" => {}, "authData" => "text" }).unwrap()),
        |data| encode(&cbor!({ "fmt" => 1, "attStmt" => {}, "authData" => data }).unwrap()),
        |data| {
            let mut entries = attestation_object(data);
            entries.push(entries[2].clone());
            encode(&Cbor::Map(entries))
        },
    ];
    for (index, object) in objects.into_iter().enumerate() {
        let response = registered(|response| response.wrap = object);
        assert_eq!(response, Err(Refusal::AttestationObject), "object {index}");
    }
}
