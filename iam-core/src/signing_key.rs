//! The keys that sign access tokens, and the encryption of all private keys.

use iam_model::error::{Error, Result};
use iam_model::id::KeyId;
use iam_model::signing_key::{KeyPurpose, PublicKey, SigningKey};

use crate::iam::Iam;
use crate::token::reencrypted;

impl Iam {
    /// Returns the public keys that verify access tokens (RFC 7517).
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails.
    pub async fn public_keys(&self) -> Result<Vec<PublicKey>> {
        self.0.keys.tokens.public_keys(&*self.0.store, self.0.snapshots(), self.0.now()).await
    }

    /// Adds a signing key. It is published at once and begins to sign a minute later. The older keys still verify the
    /// tokens that they signed, so no user is logged out.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails, or when another replica rotates the keys at the same moment.
    pub async fn rotate_keys(&self) -> Result<SigningKey> {
        let iam = &*self.0;
        iam.keys.tokens.rotate(&*iam.store, iam.snapshots(), iam.now(), iam.next_id(), &*iam.random).await
    }

    /// [Rotates](Self::rotate_keys) the signing keys if the newest has reached the age
    /// [`key_rotation`](crate::Settings::key_rotation). Returns the new key, if one was created. For a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails.
    pub async fn rotate_keys_when_due(&self) -> Result<Option<SigningKey>> {
        let (iam, age) = (&*self.0, self.0.settings.key_rotation);
        iam.keys.tokens.rotate_when_due(&*iam.store, iam.snapshots(), age, iam.now(), iam.next_id(), &*iam.random).await
    }

    /// Revokes a key that has leaked, and erases its private half. Tokens that it signed are refused, here at once
    /// and by other replicas within a second. Sessions stay: they are refreshed with the key whose identifier this
    /// returns, which signs from this moment on.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] naming `key` when no such key signs access tokens; [`Error::Store`] when the store fails.
    pub async fn revoke_key(&self, key: KeyId) -> Result<KeyId> {
        let iam = &*self.0;
        iam.keys.tokens.revoke(&*iam.store, iam.snapshots(), key, iam.now(), iam.next_id(), &*iam.random).await
    }

    /// Erases the private halves of signing keys whose successors have signed for ten minutes, and returns how many.
    /// Their public halves still verify the tokens that they signed. For a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails. Private halves that were erased before stay erased.
    pub async fn erase_replaced_keys(&self) -> Result<u64> {
        self.0.keys.tokens.erase_replaced(&*self.0.store, self.0.now()).await
    }

    /// Encrypts every private key under the [master key](crate::Settings::master_key) that is stored unencrypted, or is
    /// encrypted under the key that the master key [replaces](crate::token::MasterKey::replacing). Returns how many
    /// keys it has changed. An attacker that has read a key earlier, in the store or in a backup of it, can still use
    /// it. If that matters, [rotate](Self::rotate_keys) the keys.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] when there is no master key; [`Error::Store`] when the store fails. Keys that were changed
    /// before stay changed.
    pub async fn reencrypt_keys(&self) -> Result<u64> {
        let (store, settings, random) = (&self.0.store, &self.0.settings, &self.0.random);
        let Some(master) = &settings.master_key else {
            return Err(Error::field("master_key", "is missing"));
        };
        let mut changed = 0;
        // Repeated until no key is left: another replica may have added or changed a key meanwhile.
        loop {
            let mut is_done = true;
            for purpose in [KeyPurpose::AccessTokens, KeyPurpose::Checkpoints] {
                for key in store.signing_keys(purpose).await? {
                    if let Some(encrypted) = reencrypted(&key, master, &**random)? {
                        changed += u64::from(store.replace_private_key(key.id, &key.private, &encrypted).await?);
                        is_done = false;
                    }
                }
            }
            if is_done {
                return Ok(changed);
            }
        }
    }
}
