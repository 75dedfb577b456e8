use std::fmt;
use std::str::FromStr;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use iam_model::error::{Error, Result};
use iam_model::id::KeyId;
use iam_model::random::Random;
use zeroize::Zeroizing;

/// The key that encrypts private keys at rest: 32 bytes, written in base64.
#[derive(Clone)]
pub struct MasterKey {
    key: Zeroizing<[u8; 32]>,
    /// The previous master key, which decrypts private keys that are still encrypted under it.
    former: Option<Box<MasterKey>>,
}

/// The text is not a master key. The message does not contain the text, so it is safe to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 32 random bytes in base64 (make one with `openssl rand -base64 32`)")]
pub struct MasterKeyError;

impl FromStr for MasterKey {
    type Err = MasterKeyError;

    fn from_str(text: &str) -> Result<Self, MasterKeyError> {
        let bytes = Zeroizing::new(STANDARD.decode(text.trim()).map_err(|_| MasterKeyError)?);
        let key: [u8; 32] = bytes.as_slice().try_into().map_err(|_| MasterKeyError)?;
        Ok(Self { key: Zeroizing::new(key), former: None })
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey([REDACTED])")
    }
}

impl MasterKey {
    /// Returns this key with `former` as its previous key. It also decrypts private keys under the previous key, until
    /// [`Iam::reencrypt_keys`](crate::iam::Iam::reencrypt_keys) has encrypted them again.
    #[must_use]
    pub fn replacing(self, former: Self) -> Self {
        Self { former: Some(Box::new(former)), ..self }
    }

    /// Encrypts a private key, bound to its identifier.
    pub(crate) fn encrypt(&self, id: KeyId, secret: &[u8], random: &dyn Random) -> Result<Vec<u8>> {
        let nonce: [u8; NONCE_LEN] = random.bytes();
        let mut encrypted = secret.to_vec();
        self.cipher()?
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), bound_to(id), &mut encrypted)
            .map_err(|cause| Error::internal("encrypting a signing key", cause))?;
        Ok([nonce.as_slice(), &encrypted].concat())
    }

    /// Decrypts the output of [`encrypt`](Self::encrypt) for the same identifier, under this key or the key that it
    /// replaces.
    pub(crate) fn decrypt(&self, id: KeyId, encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        match (self.decrypt_under_this_key(id, encrypted), &self.former) {
            (Err(_), Some(former)) => former.decrypt(id, encrypted),
            (decrypted, _) => decrypted,
        }
    }

    /// Decrypts the output of [`encrypt`](Self::encrypt) for the same identifier, under this key only.
    pub(crate) fn decrypt_under_this_key(&self, id: KeyId, encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let wrong = || Error::internal("decrypting a signing key", "it is encrypted under another master key");
        let (nonce, ciphertext) = encrypted.split_first_chunk::<NONCE_LEN>().ok_or_else(wrong)?;
        let mut buffer = Zeroizing::new(ciphertext.to_vec());
        let decrypted = self
            .cipher()?
            .open_in_place(Nonce::assume_unique_for_key(*nonce), bound_to(id), &mut buffer)
            .map_err(|_| wrong())?;
        Ok(Zeroizing::new(decrypted.to_vec()))
    }

    fn cipher(&self) -> Result<LessSafeKey> {
        let key = UnboundKey::new(&AES_256_GCM, self.key.as_slice());
        Ok(LessSafeKey::new(key.map_err(|cause| Error::internal("master key", cause))?))
    }
}

fn bound_to(id: KeyId) -> Aad<[u8; 16]> {
    Aad::from(*id.as_uuid().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iam_model::random::SystemRandom;
    use uuid::Uuid;

    fn master(byte: u8) -> MasterKey {
        STANDARD.encode([byte; 32]).parse().unwrap()
    }

    #[test]
    fn decryption_needs_the_same_master_key_and_key_identifier() {
        let (id, other) = (KeyId::from_uuid(Uuid::from_u128(1)), KeyId::from_uuid(Uuid::from_u128(2)));
        let encrypted = master(1).encrypt(id, b"secret", &SystemRandom).unwrap();
        assert!(!encrypted.windows(6).any(|window| window == b"secret"));
        assert_eq!(master(1).decrypt(id, &encrypted).unwrap().as_slice(), b"secret");
        assert!(master(2).decrypt(id, &encrypted).is_err());
        assert!(master(1).decrypt(other, &encrypted).is_err());
        assert!(master(1).decrypt(id, &encrypted[..11]).is_err());
    }

    #[test]
    fn a_replacing_key_decrypts_under_both_keys_and_encrypts_under_itself() {
        let id = KeyId::from_uuid(Uuid::from_u128(1));
        let [old, new] = [1, 2].map(|byte| master(byte).encrypt(id, b"secret", &SystemRandom).unwrap());
        let replacing = master(2).replacing(master(1));
        for encrypted in [&old, &new] {
            assert_eq!(replacing.decrypt(id, encrypted).unwrap().as_slice(), b"secret");
        }
        assert!(replacing.decrypt_under_this_key(id, &old).is_err());
        assert!(
            replacing.decrypt_under_this_key(id, &replacing.encrypt(id, b"secret", &SystemRandom).unwrap()).is_ok()
        );
        assert!(replacing.decrypt(id, &master(3).encrypt(id, b"secret", &SystemRandom).unwrap()).is_err());
    }

    #[test]
    fn a_master_key_is_32_bytes() {
        for bad in ["", "abc", &STANDARD.encode([0; 31]), &STANDARD.encode([0; 33])] {
            assert_eq!(bad.parse::<MasterKey>().unwrap_err(), MasterKeyError);
        }
    }
}
