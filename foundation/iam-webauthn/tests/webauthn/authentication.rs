//! The authentication by a passkey: what is requested, what is reported, and one test for each refusal.

use ciborium::cbor;
use iam_webauthn::{Authenticated, AuthenticationResponse, Ceremony, Credential, Refusal};
use serde_json::json;

use crate::authenticator::{
    AT, Authentication, BE, BS, ED, Key, ORIGIN, OWNER, PASSKEYS, Passkey, UP, UV, attested, base64url, encode,
    passkey, register, relying_party, user,
};

/// Authenticates by an ES256 passkey and a response of which something was changed.
fn authenticated(change: impl FnOnce(&mut Authentication)) -> Result<Authenticated, Refusal> {
    passkey().authenticate(change)
}

/// Authenticates a known user, of whose passkeys the first is used.
fn authenticated_known(allow: &[Credential], user_handle: Option<&[u8]>) -> Result<Authenticated, Refusal> {
    let rp = relying_party();
    let Passkey { key, credential } = passkey();
    let (options, ceremony) = rp.begin_authentication([2; 32], Some(allow));
    let mut response = Authentication::of(&credential.id, &options);
    response.user_handle = user_handle.map(<[u8]>::to_vec);
    let response = AuthenticationResponse::from_json(&response.json(key)).unwrap();
    rp.finish_authentication(&ceremony, credential, OWNER, &response)
}

/// A passkey of which the last known counter is `old` sends `new`.
fn counted(old: u32, new: u32) -> (u32, bool) {
    let mut passkey = Passkey::register(Key::es256(), b"credential");
    passkey.credential.counter = old;
    let done = passkey.authenticate(|response| response.data.counter = new).unwrap();
    assert!(done.fell_back_to.is_none_or(|sent| sent == new));
    (done.counter, done.fell_back_to.is_some())
}

#[test]
fn the_options_list_the_passkeys_of_a_known_user() {
    let credential = &passkey().credential;
    let (options, _) = relying_party().begin_authentication([2; 32], Some(std::slice::from_ref(credential)));
    let expected = json!({
        "challenge": base64url([2; 32]),
        "timeout": 300_000,
        "rpId": "example.com",
        "allowCredentials": [{ "type": "public-key", "id": base64url(&credential.id), "transports": ["internal"] }],
        "userVerification": "required",
    });
    assert_eq!(options, expected);
}

#[test]
fn the_options_for_an_unknown_user_list_no_passkeys() {
    let (options, _) = relying_party().begin_authentication([2; 32], None);
    assert_eq!(options["allowCredentials"], json!([]));
}

#[test]
fn passkeys_of_each_algorithm_authenticate_their_owner() {
    for passkey in &*PASSKEYS {
        let done = passkey.authenticate(|_| {}).unwrap();
        assert_eq!((done.counter, done.fell_back_to), (1, None));
    }
}

#[test]
fn a_ceremony_survives_its_storage() {
    let known = std::slice::from_ref(&passkey().credential);
    for allow in [None, Some(known), Some(&[])] {
        let (_, ceremony) = relying_party().begin_authentication([2; 32], allow);
        let stored = serde_json::to_vec(&ceremony).unwrap();
        assert_eq!(serde_json::from_slice::<Ceremony>(&stored).unwrap(), ceremony);
    }
}

#[test]
fn a_known_user_needs_no_user_handle() {
    let known = std::slice::from_ref(&passkey().credential);
    assert!(authenticated_known(known, None).is_ok());
    assert!(authenticated_known(known, Some(OWNER)).is_ok());
}

#[test]
fn a_counter_that_increases_is_kept() {
    assert_eq!(counted(0, 1), (1, false));
    assert_eq!(counted(7, 8), (8, false));
    assert_eq!(counted(7, u32::MAX), (u32::MAX, false));
}

#[test]
fn a_passkey_without_a_counter_does_not_fall_back() {
    assert_eq!(counted(0, 0), (0, false));
}

#[test]
fn a_counter_that_does_not_increase_is_reported_and_the_larger_one_kept() {
    assert_eq!(counted(7, 7), (7, true));
    assert_eq!(counted(7, 6), (7, true));
    assert_eq!(counted(1, 0), (1, true));
    assert_eq!(counted(u32::MAX, 0), (u32::MAX, true));
}

#[test]
fn a_passkey_that_can_be_copied_may_change_its_copies() {
    let passkey = Passkey { key: Key::es256(), credential: passkey().credential.clone() };
    let credential = register(&passkey.key, b"credential", |response| response.data.flags |= BE).unwrap();
    let passkey = Passkey { credential, ..passkey };
    for flags in [BE | BS, BE] {
        passkey.authenticate(|response| response.data.flags |= flags).unwrap();
    }
}

#[test]
fn extensions_that_were_not_requested_are_ignored() {
    let response = authenticated(|response| {
        response.data.flags |= ED;
        response.data.rest = encode(&cbor!({ "uvm" => [[2, 4, 2]] }).unwrap());
    });
    assert!(response.is_ok());
}

#[test]
fn the_ceremony_of_a_registration_is_refused() {
    let rp = relying_party();
    let Passkey { key, credential } = passkey();
    let (options, _) = rp.begin_authentication([2; 32], None);
    let (_, other) = rp.begin_registration([2; 32], user(), &[]).unwrap();
    let response = Authentication::of(&credential.id, &options).json(key);
    let response = AuthenticationResponse::from_json(&response).unwrap();
    assert_eq!(rp.finish_authentication(&other, credential, OWNER, &response), Err(Refusal::Type));
}

#[test]
fn another_type_of_client_data_is_refused() {
    for other in ["webauthn.create", "", "webauthn.Get", "payment.get"] {
        assert_eq!(authenticated(|response| response.client_data["type"] = json!(other)), Err(Refusal::Type));
    }
}

#[test]
fn another_challenge_is_refused() {
    for other in [vec![9; 32], vec![2; 31], vec![2; 33], vec![]] {
        let response = authenticated(|response| response.client_data["challenge"] = json!(base64url(other)));
        assert_eq!(response, Err(Refusal::Challenge));
    }
}

#[test]
fn another_origin_is_refused() {
    for other in ["https://example.com", "https://login.example.com.evil.org", "http://login.example.com", "null"] {
        let response = authenticated(|response| response.client_data["origin"] = json!(other));
        assert_eq!(response, Err(Refusal::Origin), "{other}");
    }
}

#[test]
fn a_page_that_another_origin_embeds_is_refused() {
    let response = authenticated(|response| response.client_data["crossOrigin"] = json!(true));
    assert_eq!(response, Err(Refusal::CrossOrigin));
    let response = authenticated(|response| response.client_data["topOrigin"] = json!(ORIGIN));
    assert_eq!(response, Err(Refusal::CrossOrigin));
}

#[test]
fn another_relying_party_is_refused() {
    for other in ["login.example.com", "example.org", ""] {
        let response = authenticated(|response| response.data.rp_id = other.to_owned());
        assert_eq!(response, Err(Refusal::RelyingParty));
    }
}

#[test]
fn an_absent_user_is_refused() {
    assert_eq!(authenticated(|response| response.data.flags &= !UP), Err(Refusal::UserPresence));
}

#[test]
fn an_unverified_user_is_refused() {
    assert_eq!(authenticated(|response| response.data.flags &= !UV), Err(Refusal::UserVerification));
}

#[test]
fn a_backup_of_a_passkey_that_is_not_eligible_is_refused() {
    assert_eq!(authenticated(|response| response.data.flags |= BS), Err(Refusal::Backup));
}

#[test]
fn a_passkey_whose_eligibility_for_backups_changed_is_refused() {
    assert_eq!(authenticated(|response| response.data.flags |= BE), Err(Refusal::Backup));
    let key = Key::es256();
    let credential = register(&key, b"credential", |response| response.data.flags |= BE).unwrap();
    assert_eq!(Passkey { key, credential }.authenticate(|_| {}), Err(Refusal::Backup));
}

#[test]
fn another_credential_than_that_of_the_database_is_refused() {
    assert_eq!(authenticated(|response| response.id = b"other".to_vec()), Err(Refusal::Credential));
}

#[test]
fn a_credential_that_the_ceremony_does_not_allow_is_refused() {
    let other = std::slice::from_ref(&PASSKEYS[1].credential);
    assert_eq!(authenticated_known(other, Some(OWNER)), Err(Refusal::NotAllowed));
}

#[test]
fn an_empty_list_allows_no_credential() {
    assert_eq!(authenticated_known(&[], Some(OWNER)), Err(Refusal::NotAllowed));
}

#[test]
fn the_handle_of_another_user_is_refused() {
    for other in [b"user 2".to_vec(), b"user".to_vec(), b"".to_vec()] {
        let response = authenticated(|response| response.user_handle = Some(other));
        assert_eq!(response, Err(Refusal::UserHandle));
    }
    let known = std::slice::from_ref(&passkey().credential);
    assert_eq!(authenticated_known(known, Some(b"user 2")), Err(Refusal::UserHandle));
}

#[test]
fn a_missing_user_handle_is_refused_if_the_user_is_unknown() {
    assert_eq!(authenticated(|response| response.user_handle = None), Err(Refusal::UserHandle));
}

#[test]
fn attested_credential_data_are_refused() {
    let key = &passkey().key;
    let response = authenticated(|response| {
        response.data.flags |= AT;
        response.data.rest = [attested(&response.id), encode(&key.cose())].concat();
    });
    assert_eq!(response, Err(Refusal::AttestedCredential));
}

#[test]
fn truncated_authenticator_data_are_refused() {
    let rp = relying_party();
    let Passkey { key, credential } = passkey();
    let (options, ceremony) = rp.begin_authentication([2; 32], None);
    let response = Authentication::of(&credential.id, &options);
    for length in 0..37 {
        let mut json = response.json(key);
        json["response"]["authenticatorData"] = json!(base64url(&response.data.bytes()[..length]));
        let parsed = AuthenticationResponse::from_json(&json).unwrap();
        let refusal = rp.finish_authentication(&ceremony, credential, OWNER, &parsed);
        assert_eq!(refusal, Err(Refusal::AuthenticatorData), "{length}");
    }
}

#[test]
fn bytes_after_the_authenticator_data_are_refused() {
    assert_eq!(authenticated(|response| response.data.rest = vec![0]), Err(Refusal::TrailingBytes));
}

#[test]
fn a_signature_by_another_key_is_refused() {
    for (passkey, other) in PASSKEYS.iter().zip([Key::es256(), Key::eddsa(), Key::rs256()]) {
        let passkey = Passkey { key: other, credential: passkey.credential.clone() };
        assert_eq!(passkey.authenticate(|_| {}), Err(Refusal::Signature));
    }
}

#[test]
fn a_signature_of_another_algorithm_is_refused() {
    for (index, signer) in PASSKEYS.iter().enumerate() {
        let rp = relying_party();
        let credential = &PASSKEYS[(index + 1) % 3].credential;
        let (options, ceremony) = rp.begin_authentication([2; 32], None);
        let response = Authentication::of(&credential.id, &options).json(&signer.key);
        let response = AuthenticationResponse::from_json(&response).unwrap();
        assert_eq!(rp.finish_authentication(&ceremony, credential, OWNER, &response), Err(Refusal::Signature));
    }
}

#[test]
fn an_empty_signature_is_refused() {
    let rp = relying_party();
    for Passkey { key, credential } in &*PASSKEYS {
        let (options, ceremony) = rp.begin_authentication([2; 32], None);
        let mut response = Authentication::of(&credential.id, &options).json(key);
        response["response"]["signature"] = json!("");
        let response = AuthenticationResponse::from_json(&response).unwrap();
        assert_eq!(rp.finish_authentication(&ceremony, credential, OWNER, &response), Err(Refusal::Signature));
    }
}

#[test]
fn a_stored_key_that_is_damaged_is_refused() {
    let Passkey { key, credential } = passkey();
    let [longer, mut other_curve] = [[&*credential.public_key, &[0]].concat(), credential.public_key.clone()];
    other_curve[6] = 0x02;
    for (public_key, refusal) in
        [(Vec::new(), Refusal::PublicKey), (longer, Refusal::TrailingBytes), (other_curve, Refusal::PublicKey)]
    {
        let mut credential = credential.clone();
        credential.public_key = public_key;
        let rp = relying_party();
        let (options, ceremony) = rp.begin_authentication([2; 32], None);
        let response = Authentication::of(&credential.id, &options).json(key);
        let response = AuthenticationResponse::from_json(&response).unwrap();
        assert_eq!(rp.finish_authentication(&ceremony, &credential, OWNER, &response), Err(refusal));
    }
}
