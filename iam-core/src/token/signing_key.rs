use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use chrono::TimeDelta;
use iam_model::clock::Timestamp;
use iam_model::error::{Error, Result};
use iam_model::id::KeyId;
use iam_model::random::Random;
use iam_model::signing_key::{KeyPurpose, PrivateKey, PublicKey, SigningKey};
use jsonwebtoken::{DecodingKey, EncodingKey};
use zeroize::Zeroizing;

use crate::token::MasterKey;

pub(crate) fn decoding_key(key: &PublicKey) -> DecodingKey {
    DecodingKey::from_ed_der(&key.bytes)
}

/// Generates the successor of a key, which signs after `publication`, or the first key, which signs at once.
pub(crate) fn generate_key(
    purpose: KeyPurpose,
    id: KeyId,
    predecessor: Option<&SigningKey>,
    now: Timestamp,
    publication: TimeDelta,
    master: Option<&MasterKey>,
    random: &dyn Random,
) -> Result<SigningKey> {
    let seed: Zeroizing<[u8; 32]> = Zeroizing::new(random.bytes());
    let pair = key_pair(&*seed)?;
    let private = match master {
        Some(master) => PrivateKey::Encrypted(master.encrypt(id, &*seed, random)?),
        None => PrivateKey::Plain(seed.to_vec()),
    };
    Ok(SigningKey {
        purpose,
        id,
        generation: predecessor.map_or(1, |key| key.generation + 1),
        public: pair.public_key().as_ref().to_vec(),
        private,
        created_at: now,
        signs_from: predecessor.map_or(now, |_| now + publication),
        revoked_at: None,
    })
}

pub(crate) fn encoding_key(key: &SigningKey, master: Option<&MasterKey>) -> Result<EncodingKey> {
    let pkcs8 = pair(key, master)?.to_pkcs8().map_err(|cause| Error::internal("signing key", cause))?;
    Ok(EncodingKey::from_ed_der(pkcs8.as_ref()))
}

/// Returns the key pair, and decrypts the private key with the master key if needed.
pub(crate) fn pair(key: &SigningKey, master: Option<&MasterKey>) -> Result<Ed25519KeyPair> {
    key_pair(&seed(key, master)?)
}

/// Encrypts the private key under the newest master key. Returns `None` if it is already encrypted under that key,
/// or is erased.
pub(crate) fn reencrypted(key: &SigningKey, master: &MasterKey, random: &dyn Random) -> Result<Option<PrivateKey>> {
    if key.private == PrivateKey::Erased {
        return Ok(None);
    }
    if matches!(&key.private, PrivateKey::Encrypted(encrypted) if master.decrypt_under_this_key(key.id, encrypted).is_ok())
    {
        return Ok(None);
    }
    let encrypted = master.encrypt(key.id, &seed(key, Some(master))?, random)?;
    Ok(Some(PrivateKey::Encrypted(encrypted)))
}

fn seed(key: &SigningKey, master: Option<&MasterKey>) -> Result<Zeroizing<Vec<u8>>> {
    match (&key.private, master) {
        (PrivateKey::Plain(seed), _) => Ok(Zeroizing::new(seed.clone())),
        (PrivateKey::Encrypted(encrypted), Some(master)) => master.decrypt(key.id, encrypted),
        (PrivateKey::Encrypted(_), None) => {
            Err(Error::internal("signing key", "it is encrypted, and no master key is configured"))
        }
        (PrivateKey::Erased, _) => Err(Error::internal("signing key", "its private half is erased")),
    }
}

fn key_pair(seed: &[u8]) -> Result<Ed25519KeyPair> {
    Ed25519KeyPair::from_seed_unchecked(seed).map_err(|cause| Error::internal("signing key", cause))
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use uuid::Uuid;

    use super::*;
    use iam_model::random::SystemRandom;

    fn key(private: PrivateKey) -> SigningKey {
        SigningKey {
            purpose: KeyPurpose::AccessTokens,
            id: Uuid::from_u128(7).into(),
            generation: 1,
            public: vec![1; 32],
            private,
            created_at: Timestamp::default(),
            signs_from: Timestamp::default(),
            revoked_at: None,
        }
    }

    #[test]
    fn the_debug_output_of_a_private_key_shows_only_its_form() {
        for (private, shown) in [
            (PrivateKey::Plain(vec![65; 32]), "Plain([REDACTED])"),
            (PrivateKey::Encrypted(vec![65; 60]), "Encrypted([REDACTED])"),
            (PrivateKey::Erased, "Erased"),
        ] {
            assert_eq!(format!("{private:?}"), shown);
        }
    }

    #[test]
    fn a_private_key_is_reencrypted_unless_it_is_under_the_newest_master_key() {
        let (seed, id) = (vec![65; 32], key(PrivateKey::Erased).id);
        let [old, new] = [1, 2].map(|byte| STANDARD.encode([byte; 32]).parse::<MasterKey>().unwrap());
        let [by_old, by_new] = [&old, &new].map(|master| master.encrypt(id, &seed, &SystemRandom).unwrap());
        let replacing = new.clone().replacing(old);
        for private in [PrivateKey::Plain(seed.clone()), PrivateKey::Encrypted(by_old)] {
            let Some(PrivateKey::Encrypted(encrypted)) = reencrypted(&key(private), &replacing, &SystemRandom).unwrap()
            else {
                panic!("not encrypted");
            };
            assert_eq!(*new.decrypt_under_this_key(id, &encrypted).unwrap(), seed);
        }
        for private in [PrivateKey::Encrypted(by_new), PrivateKey::Erased] {
            assert_eq!(reencrypted(&key(private), &replacing, &SystemRandom).unwrap(), None);
        }
    }
}
