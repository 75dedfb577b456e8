//! The encryption of TOTP secrets in the store.
//!
//! The key is derived from a key of the installation, which is encrypted under the master key if there is one. So a
//! database reader without the master key cannot make codes, and a new master key needs no change of these secrets.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use iam_model::error::{Error, Result};
use iam_model::factor::FactorKey;
use iam_model::id::{FactorId, TenantId, UserId};
use iam_model::random::Random;
use zeroize::Zeroizing;

/// Encrypts the secrets of TOTP generators. Each is bound to its factor, its user and its tenant, so that an encrypted
/// secret that is copied into another row is refused.
pub(crate) struct TotpCipher(LessSafeKey);

impl TotpCipher {
    pub(crate) fn new(key: [u8; 32]) -> Result<Self> {
        let key = Zeroizing::new(key);
        let key = UnboundKey::new(&AES_256_GCM, key.as_slice());
        Ok(Self(LessSafeKey::new(key.map_err(|cause| Error::internal("key of TOTP secrets", cause))?)))
    }

    pub(crate) fn encrypt(&self, owner: Owner, secret: &[u8], random: &dyn Random) -> Result<FactorKey> {
        let nonce: [u8; NONCE_LEN] = random.bytes();
        let mut encrypted = secret.to_vec();
        self.0
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), bound_to(owner), &mut encrypted)
            .map_err(|cause| Error::internal("encrypting a TOTP secret", cause))?;
        Ok(FactorKey([nonce.as_slice(), &encrypted].concat()))
    }

    pub(crate) fn decrypt(&self, owner: Owner, key: &FactorKey) -> Result<Zeroizing<Vec<u8>>> {
        let wrong = || Error::internal("decrypting a TOTP secret", "it belongs to another factor or another key");
        let (nonce, ciphertext) = key.0.split_first_chunk::<NONCE_LEN>().ok_or_else(wrong)?;
        let mut buffer = Zeroizing::new(ciphertext.to_vec());
        let decrypted = self
            .0
            .open_in_place(Nonce::assume_unique_for_key(*nonce), bound_to(owner), &mut buffer)
            .map_err(|_| wrong())?;
        Ok(Zeroizing::new(decrypted.to_vec()))
    }
}

/// The factor to which a secret belongs.
pub(crate) type Owner = (TenantId, UserId, FactorId);

fn bound_to((tenant, user, factor): Owner) -> Aad<Vec<u8>> {
    let ids = [tenant.as_uuid(), user.as_uuid(), factor.as_uuid()];
    Aad::from(ids.iter().flat_map(|id| *id.as_bytes()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iam_model::random::SystemRandom;
    use uuid::Uuid;

    #[test]
    fn decryption_needs_the_same_key_and_the_same_factor_of_the_same_user() {
        let id = Uuid::from_u128;
        let owner: Owner = (id(1).into(), id(2).into(), id(3).into());
        let (cipher, other) = (TotpCipher::new([1; 32]).unwrap(), TotpCipher::new([2; 32]).unwrap());
        let encrypted = cipher.encrypt(owner, b"secret", &SystemRandom).unwrap();
        assert!(!encrypted.0.windows(6).any(|window| window == b"secret"));
        assert_eq!(cipher.decrypt(owner, &encrypted).unwrap().as_slice(), b"secret");
        assert!(other.decrypt(owner, &encrypted).is_err());
        for stranger in
            [(id(9).into(), owner.1, owner.2), (owner.0, id(9).into(), owner.2), (owner.0, owner.1, id(9).into())]
        {
            assert!(cipher.decrypt(stranger, &encrypted).is_err());
        }
        assert!(cipher.decrypt(owner, &FactorKey(encrypted.0[..11].to_vec())).is_err());
    }
}
