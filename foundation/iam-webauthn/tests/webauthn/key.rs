//! The COSE key of a registration: one test for each refusal.

use ciborium::Value as Cbor;
use iam_webauthn::{Credential, Refusal};

use crate::authenticator::{Key, PASSKEYS, bytes, encode, passkey, register};

/// Registers a key that is not from an authenticator.
fn registered_key(key: &Cbor) -> Result<Credential, Refusal> {
    register(&passkey().key, b"credential", |response| response.key = encode(key))
}

/// The COSE key of the passkey, of which something was changed.
fn changed_key(key: &Key, change: impl FnOnce(&mut Vec<(Cbor, Cbor)>)) -> Cbor {
    let mut entries = key.cose().into_map().unwrap();
    change(&mut entries);
    Cbor::Map(entries)
}

/// The same with another value of one parameter.
fn key_with(key: &Key, label: i64, value: impl Into<Cbor>) -> Cbor {
    changed_key(key, |entries| {
        entries.iter_mut().find(|(key, _)| *key == label.into()).unwrap().1 = value.into();
    })
}

#[test]
fn an_algorithm_that_was_not_offered_is_refused() {
    // ES384, PS256, RS1, ES256K, an unassigned number, and the names of RFC 9864 for P-256, Ed25519 and Ed448.
    for algorithm in [-35, -37, -65535, -47, 0, -9, -19, -53] {
        let key = key_with(&passkey().key, 3, algorithm);
        assert_eq!(registered_key(&key), Err(Refusal::Algorithm), "{algorithm}");
    }
}

#[test]
fn a_key_of_another_type_or_curve_is_refused() {
    let [es256, eddsa, rs256] = PASSKEYS.each_ref().map(|passkey| &passkey.key);
    for key in [
        key_with(es256, 1, 1),
        key_with(es256, 1, 3),
        key_with(es256, -1, 2),
        key_with(es256, 3, -8),
        key_with(eddsa, 1, 2),
        key_with(eddsa, -1, 7),
        key_with(eddsa, 3, -7),
        key_with(rs256, 1, 2),
        key_with(rs256, 3, -7),
    ] {
        assert_eq!(registered_key(&key), Err(Refusal::PublicKey), "{key:?}");
    }
}

#[test]
fn a_key_that_lacks_or_repeats_a_parameter_or_has_another_one_is_refused() {
    for passkey in &*PASSKEYS {
        let count = passkey.key.cose().into_map().unwrap().len();
        for index in 0..count {
            let without = changed_key(&passkey.key, |entries| drop(entries.remove(index)));
            assert_eq!(registered_key(&without), Err(Refusal::PublicKey));
            let twice = changed_key(&passkey.key, |entries| entries.push(entries[index].clone()));
            assert_eq!(registered_key(&twice), Err(Refusal::PublicKey));
            // As many entries as expected, but not the expected ones.
            let instead = changed_key(&passkey.key, |entries| {
                entries[index] = entries[(index + 1) % count].clone();
            });
            assert_eq!(registered_key(&instead), Err(Refusal::PublicKey));
        }
        let more = changed_key(&passkey.key, |entries| entries.push((4.into(), Cbor::Array(vec![2.into()]))));
        assert_eq!(registered_key(&more), Err(Refusal::PublicKey));
    }
}

#[test]
fn a_key_that_is_not_a_map_is_refused() {
    assert_eq!(registered_key(&bytes(b"key")), Err(Refusal::PublicKey));
    assert_eq!(registered_key(&Cbor::Array(vec![])), Err(Refusal::PublicKey));
}

#[test]
fn a_point_that_is_not_on_the_curve_is_refused() {
    let key = &passkey().key;
    for point in [vec![0; 32], vec![1; 32], vec![0xff; 32]] {
        assert_eq!(registered_key(&key_with(key, -3, point)), Err(Refusal::PublicKey));
    }
}

#[test]
fn a_compressed_point_is_refused() {
    assert_eq!(registered_key(&key_with(&passkey().key, -3, true)), Err(Refusal::PublicKey));
}

#[test]
fn coordinates_of_another_length_are_refused() {
    let [es256, eddsa, _] = PASSKEYS.each_ref().map(|passkey| &passkey.key);
    for length in [0, 31, 33] {
        for (key, label) in [(es256, -2), (es256, -3), (eddsa, -2)] {
            assert_eq!(registered_key(&key_with(key, label, vec![1; length])), Err(Refusal::PublicKey));
        }
    }
    // Together they have the right length.
    let shifted = changed_key(es256, |entries| {
        let point: Vec<u8> = [3, 4].iter().flat_map(|index| entries[*index].1.as_bytes().unwrap().clone()).collect();
        entries[3].1 = bytes(&point[..31]);
        entries[4].1 = bytes(&point[31..]);
    });
    assert_eq!(registered_key(&shifted), Err(Refusal::PublicKey));
}

#[test]
fn an_rsa_modulus_has_2048_to_8192_bits() {
    let key = &PASSKEYS[2].key;
    let with_bits = |bits: usize| {
        let mut modulus = vec![0xff; bits.div_ceil(8)];
        modulus[0] >>= (8 - bits % 8) % 8;
        registered_key(&key_with(key, -1, modulus))
    };
    for bits in [2048, 2049, 3072, 8191, 8192] {
        assert!(with_bits(bits).is_ok(), "{bits}");
    }
    for bits in [8, 1024, 2040, 2047, 8193, 16384] {
        assert_eq!(with_bits(bits), Err(Refusal::PublicKey), "{bits}");
    }
    assert_eq!(registered_key(&key_with(key, -1, Vec::<u8>::new())), Err(Refusal::PublicKey));
    let leading_zero = [vec![0], vec![0xff; 256]].concat();
    assert_eq!(registered_key(&key_with(key, -1, leading_zero)), Err(Refusal::PublicKey));
}

#[test]
fn an_rsa_exponent_is_odd_and_from_3_to_32_bits_long() {
    let key = &PASSKEYS[2].key;
    for exponent in [vec![3], vec![1, 0, 1], vec![0xff; 4]] {
        assert!(registered_key(&key_with(key, -2, exponent)).is_ok());
    }
    for exponent in
        [vec![], vec![0], vec![1], vec![2], vec![1, 0, 0], vec![1, 0, 0, 0, 1], vec![0, 1], vec![0, 1, 0, 1]]
    {
        assert_eq!(registered_key(&key_with(key, -2, exponent.clone())), Err(Refusal::PublicKey), "{exponent:?}");
    }
}
