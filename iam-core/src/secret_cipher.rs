//! The encryption of secrets in the store.
//!
//! Each key is derived from a key of the installation, which is encrypted under the master key if there is one. So a
//! database reader without the master key learns no secret, and a new master key needs no change of them.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use iam_model::error::{Error, Result};
use iam_model::random::Random;
use uuid::Uuid;
use zeroize::Zeroizing;

/// Encrypts the secrets of one kind. Each is bound to the identifiers of its owner, so that an encrypted secret that is
/// copied into another row is refused.
pub(crate) struct SecretCipher(LessSafeKey);

impl SecretCipher {
    pub(crate) fn new(key: [u8; 32]) -> Result<Self> {
        let key = Zeroizing::new(key);
        let key = UnboundKey::new(&AES_256_GCM, key.as_slice());
        Ok(Self(LessSafeKey::new(key.map_err(|cause| Error::internal("key of secrets", cause))?)))
    }

    pub(crate) fn encrypt(&self, owner: &[Uuid], secret: &[u8], random: &dyn Random) -> Result<Vec<u8>> {
        let nonce: [u8; NONCE_LEN] = random.bytes();
        let mut encrypted = secret.to_vec();
        self.0
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), bound_to(owner), &mut encrypted)
            .map_err(|cause| Error::internal("encrypting a secret", cause))?;
        Ok([nonce.as_slice(), &encrypted].concat())
    }

    pub(crate) fn decrypt(&self, owner: &[Uuid], encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let wrong = || Error::internal("decrypting a secret", "it belongs to another owner or another key");
        let (nonce, ciphertext) = encrypted.split_first_chunk::<NONCE_LEN>().ok_or_else(wrong)?;
        let mut buffer = Zeroizing::new(ciphertext.to_vec());
        let decrypted = self
            .0
            .open_in_place(Nonce::assume_unique_for_key(*nonce), bound_to(owner), &mut buffer)
            .map_err(|_| wrong())?;
        Ok(Zeroizing::new(decrypted.to_vec()))
    }
}

fn bound_to(owner: &[Uuid]) -> Aad<Vec<u8>> {
    Aad::from(owner.iter().flat_map(|id| *id.as_bytes()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iam_model::random::SystemRandom;

    #[test]
    fn decryption_needs_the_same_key_and_the_same_owner() {
        let owner = [1, 2, 3].map(Uuid::from_u128);
        let (cipher, other) = (SecretCipher::new([1; 32]).unwrap(), SecretCipher::new([2; 32]).unwrap());
        let encrypted = cipher.encrypt(&owner, b"secret", &SystemRandom).unwrap();
        assert!(!encrypted.windows(6).any(|window| window == b"secret"));
        assert_eq!(cipher.decrypt(&owner, &encrypted).unwrap().as_slice(), b"secret");
        assert!(other.decrypt(&owner, &encrypted).is_err());
        for position in 0..owner.len() {
            let mut stranger = owner;
            stranger[position] = Uuid::from_u128(9);
            assert!(cipher.decrypt(&stranger, &encrypted).is_err());
        }
        assert!(cipher.decrypt(&owner[..2], &encrypted).is_err());
        assert!(cipher.decrypt(&owner, &encrypted[..11]).is_err());
    }
}
