//! What holds for all responses: none ends in a panic, and a changed bit is refused.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use iam_webauthn::{Authenticated, AuthenticationResponse, Ceremony, Credential, Refusal, RegistrationResponse};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::authenticator::{
    AT, Authentication, ED, OWNER, PASSKEYS, Passkey, RP_ID, Registration, UP, UV, base64url, bytes, encode, passkey,
    relying_party, user,
};

/// A registration that is accepted.
static REGISTRATION: LazyLock<(Ceremony, Value)> = LazyLock::new(|| {
    let (options, ceremony) = relying_party().begin_registration([1; 32], user(), &[]).unwrap();
    (ceremony, Registration::of(&passkey().key, b"credential", &options).json())
});

fn finish_registration(json: &Value) -> Result<Credential, Refusal> {
    relying_party().finish_registration(&REGISTRATION.0, OWNER, &RegistrationResponse::from_json(json)?)
}

/// An authentication by the passkey that is accepted.
fn authentication(passkey: &Passkey) -> (Ceremony, Value) {
    let (options, ceremony) = relying_party().begin_authentication([2; 32], None);
    (ceremony, Authentication::of(&passkey.credential.id, &options).json(&passkey.key))
}

fn finish_authentication(ceremony: &Ceremony, passkey: &Passkey, json: &Value) -> Result<Authenticated, Refusal> {
    let response = AuthenticationResponse::from_json(json)?;
    relying_party().finish_authentication(ceremony, &passkey.credential, OWNER, &response)
}

fn with(json: &Value, member: &str, bytes: &[u8]) -> Value {
    let mut json = json.clone();
    json["response"][member] = json!(base64url(bytes));
    json
}

fn member(json: &Value, member: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(json["response"][member].as_str().unwrap()).unwrap()
}

#[test]
fn each_changed_bit_of_the_signed_data_or_of_the_signature_is_refused() {
    for passkey in &*PASSKEYS {
        let (ceremony, json) = authentication(passkey);
        assert!(finish_authentication(&ceremony, passkey, &json).is_ok());
        for name in ["authenticatorData", "clientDataJSON", "signature"] {
            let original = member(&json, name);
            for bit in 0..original.len() * 8 {
                let mut changed = original.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                let refusal = finish_authentication(&ceremony, passkey, &with(&json, name, &changed));
                assert!(refusal.is_err(), "bit {bit} of {name}");
            }
        }
    }
}

#[test]
fn each_shortened_or_lengthened_member_is_refused() {
    for passkey in &*PASSKEYS {
        let (ceremony, json) = authentication(passkey);
        for name in ["authenticatorData", "clientDataJSON", "signature"] {
            let original = member(&json, name);
            let longer = [original.clone(), vec![0]].concat();
            for changed in (0..original.len()).map(|end| &original[..end]).chain([longer.as_slice()]) {
                let refusal = finish_authentication(&ceremony, passkey, &with(&json, name, changed));
                assert!(refusal.is_err(), "{} bytes of {name}", changed.len());
            }
        }
    }
}

#[test]
fn a_changed_bit_of_an_attestation_object_never_changes_the_identifier() {
    let accepted = finish_registration(&REGISTRATION.1).unwrap();
    let original = member(&REGISTRATION.1, "attestationObject");
    for bit in 0..original.len() * 8 {
        let mut changed = original.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        if let Ok(credential) = finish_registration(&with(&REGISTRATION.1, "attestationObject", &changed)) {
            assert_eq!(credential.id, accepted.id, "bit {bit}");
        }
    }
}

/// Arbitrary JSON that resembles a response.
fn arbitrary_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[A-Za-z0-9_=-]{0,12}".prop_map(Value::from),
        Just(Value::from("public-key")),
    ];
    let names = prop::sample::select(vec![
        "id",
        "rawId",
        "type",
        "response",
        "clientDataJSON",
        "attestationObject",
        "authenticatorData",
        "signature",
        "userHandle",
        "transports",
    ]);
    leaf.prop_recursive(3, 32, 10, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names.clone().prop_map(str::to_owned), inner, 0..10)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Authenticator data with the right start, so that what follows is read.
fn authenticator_data(flags: u8, rest: &[u8]) -> Vec<u8> {
    crate::authenticator::Data { rp_id: RP_ID.to_owned(), flags, counter: 1, rest: rest.to_vec() }.bytes()
}

/// The attestation object with the authenticator data.
fn attestation_object(data: &[u8]) -> Vec<u8> {
    encode(&ciborium::Value::Map(crate::authenticator::attestation_object(bytes(data))))
}

proptest! {
    #[test]
    fn arbitrary_json_is_refused(json in arbitrary_json()) {
        prop_assert!(RegistrationResponse::from_json(&json).is_err());
        prop_assert!(AuthenticationResponse::from_json(&json).is_err());
    }

    #[test]
    fn arbitrary_members_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for name in ["clientDataJSON", "attestationObject"] {
            prop_assert!(finish_registration(&with(&REGISTRATION.1, name, &bytes)).is_err());
        }
        for passkey in &*PASSKEYS {
            let (ceremony, json) = authentication(passkey);
            for name in ["clientDataJSON", "authenticatorData", "signature"] {
                prop_assert!(finish_authentication(&ceremony, passkey, &with(&json, name, &bytes)).is_err());
            }
        }
    }

    #[test]
    fn arbitrary_bytes_after_the_counter_are_refused(
        flags in any::<u8>(),
        rest in prop::collection::vec(any::<u8>(), 1..300),
    ) {
        let data = authenticator_data(flags | UP | UV, &rest);
        let (ceremony, json) = authentication(passkey());
        prop_assert!(finish_authentication(&ceremony, passkey(), &with(&json, "authenticatorData", &data)).is_err());
        let object = attestation_object(&data);
        prop_assert!(finish_registration(&with(&REGISTRATION.1, "attestationObject", &object)).is_err());
    }

    #[test]
    fn arbitrary_bytes_in_the_place_of_the_key_are_refused(key in prop::collection::vec(any::<u8>(), 0..300)) {
        let rest = [crate::authenticator::attested(b"credential"), key].concat();
        let object = attestation_object(&authenticator_data(UP | UV | AT, &rest));
        prop_assert!(finish_registration(&with(&REGISTRATION.1, "attestationObject", &object)).is_err());
    }

    #[test]
    fn arbitrary_extensions_do_not_panic(extensions in prop::collection::vec(any::<u8>(), 0..300)) {
        let key = encode(&passkey().key.cose());
        let rest = [crate::authenticator::attested(b"credential"), key, extensions].concat();
        let object = attestation_object(&authenticator_data(UP | UV | AT | ED, &rest));
        let _ = finish_registration(&with(&REGISTRATION.1, "attestationObject", &object));
    }

    #[test]
    fn a_damaged_attestation_object_does_not_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        end in any::<prop::sample::Index>(),
    ) {
        let mut object = member(&REGISTRATION.1, "attestationObject");
        for (index, byte) in changes {
            let index = index.index(object.len());
            object[index] = byte;
        }
        let _ = finish_registration(&with(&REGISTRATION.1, "attestationObject", &object));
        object.truncate(end.index(object.len()));
        prop_assert!(finish_registration(&with(&REGISTRATION.1, "attestationObject", &object)).is_err());
    }

    #[test]
    fn a_damaged_key_of_the_database_does_not_panic(
        passkey in prop::sample::select(vec![0, 1, 2]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let (ceremony, json) = authentication(&PASSKEYS[passkey]);
        let mut credential = PASSKEYS[passkey].credential.clone();
        for (index, byte) in changes {
            let index = index.index(credential.public_key.len());
            credential.public_key[index] = byte;
        }
        let is_changed = credential != PASSKEYS[passkey].credential;
        let response = AuthenticationResponse::from_json(&json).unwrap();
        let done = relying_party().finish_authentication(&ceremony, &credential, OWNER, &response);
        prop_assert!(done.is_err() || !is_changed);
    }
}
