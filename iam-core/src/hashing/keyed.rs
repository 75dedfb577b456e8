//! Imported hashes that cannot be verified without a secret of the system which made them: the signer key of Firebase, or
//! a pepper.
//!
//! The secret is stored encrypted before the hash. So a reader of the database who does not have the master key cannot
//! even guess passwords behind such a hash. It is bound to no row: a writer of the database could as well write the hash
//! of a password of its own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use iam_model::error::{Error, Result};
use iam_model::random::Random;
use iam_model::secret::{HashSecret, PasswordHash};

use crate::hashing::stored::StoredHash;
use crate::secret_cipher::SecretCipher;

/// Before it stands nothing, and after it the encrypted secret and the hash itself. No hash that is imported may begin
/// with it.
const PREFIX: &str = "$keyed$";

/// A secret of another system, and its encrypted form.
pub(crate) struct HashKey {
    secret: HashSecret,
    encrypted: String,
}

impl HashKey {
    pub(super) fn new(secret: HashSecret, cipher: &SecretCipher, random: &dyn Random) -> Result<Self> {
        let encrypted = STANDARD_NO_PAD.encode(cipher.encrypt(&[], secret.expose().as_bytes(), random)?);
        Ok(Self { secret, encrypted })
    }

    pub(super) fn secret(&self) -> &HashSecret {
        &self.secret
    }

    /// Returns the text that is stored for a hash that needs the secret. The hash begins with a dollar sign.
    pub(super) fn stored(&self, hash: &PasswordHash) -> PasswordHash {
        format!("{PREFIX}{}{}", self.encrypted, hash.expose()).into()
    }
}

/// Parses a stored hash, with its secret if it needs one.
///
/// # Errors
///
/// [`Error::Internal`] when it is no hash that was accepted, or when its secret cannot be decrypted.
pub(super) fn parse(hash: &PasswordHash, cipher: &SecretCipher) -> Result<StoredHash> {
    let wrong = |cause: &dyn std::fmt::Display| Error::internal("stored password hash", cause);
    let Some(keyed) = hash.expose().strip_prefix(PREFIX) else {
        return StoredHash::parse(hash.expose(), None).map_err(|cause| wrong(&cause));
    };
    let end = keyed.find('$').unwrap_or(keyed.len());
    let (encrypted, hash) = keyed.split_at(end);
    let encrypted = STANDARD_NO_PAD.decode(encrypted).map_err(|cause| wrong(&cause))?;
    let secret = cipher.decrypt(&[], &encrypted)?;
    let secret = HashSecret::from(str::from_utf8(&secret).map_err(|cause| wrong(&cause))?);
    StoredHash::parse(hash, Some(&secret)).map_err(|cause| wrong(&cause))
}

#[cfg(test)]
mod tests {
    use iam_model::random::SystemRandom;

    use super::*;

    const FIREBASE: &str = "$firebase-scrypt$ln=14,r=8$42xEC+ixf3L2lwc$\
        lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ";
    const SIGNER_KEY: &str = "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==";

    #[test]
    fn a_stored_hash_contains_its_secret_encrypted() {
        let (cipher, other) = (SecretCipher::new([1; 32]).unwrap(), SecretCipher::new([2; 32]).unwrap());
        let stored = HashKey::new(SIGNER_KEY.into(), &cipher, &SystemRandom).unwrap().stored(&FIREBASE.into());
        assert!(stored.expose().ends_with(FIREBASE) && !stored.expose().contains("jxspr8"));
        assert_eq!(parse(&stored, &cipher).unwrap().salt.len(), 11);
        assert!(parse(&stored, &other).is_err());
        assert!(parse(&FIREBASE.into(), &cipher).is_err());
        assert!(parse(&"$keyed$AAAA".into(), &cipher).is_err());
    }
}
