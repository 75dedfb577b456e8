//! The keys that this process knows, kept up with the store.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use chrono::TimeDelta;
use jsonwebtoken::{DecodingKey, EncodingKey};

use super::{KeyPurpose, MasterKey, PrivateKey, PublicKey, SigningKey};
use crate::clock::Timestamp;
use crate::error::{Constraint, Error, Result, StoreError};
use crate::id::KeyId;
use crate::random::Random;
use crate::store::Store;

/// The keys of this process. They are read anew when they are [`STALE`] or when a token names an unknown one.
pub(crate) struct KeyRing {
    keys: RwLock<Arc<Keys>>,
    reading: tokio::sync::Mutex<()>,
    master: Option<MasterKey>,
}

struct Keys {
    signing: Vec<Signer>,
    verifying: HashMap<KeyId, DecodingKey>,
    public: Vec<PublicKey>,
    read_at: Timestamp,
}

struct Signer {
    id: KeyId,
    from: Timestamp,
    key: EncodingKey,
}

/// Keys older than this are read again, so that a rotated key is known well before it signs.
const STALE: TimeDelta = TimeDelta::seconds(20);
/// However many tokens name unknown keys, the store is asked no more often than this.
const UNKNOWN_KEY: TimeDelta = TimeDelta::seconds(1);
/// How long a new key is published before it signs.
const PUBLICATION: TimeDelta = TimeDelta::seconds(60);
/// How long a key is still published after its successor signs. No access token may live longer.
pub(crate) const RETIREMENT: TimeDelta = TimeDelta::hours(24);

impl KeyRing {
    /// Reads the keys, making the first one where there is none.
    pub(crate) async fn open(
        store: &dyn Store,
        master: Option<MasterKey>,
        now: Timestamp,
        id: KeyId,
        random: &dyn Random,
    ) -> Result<Self> {
        let stored = first_or_stored(KeyPurpose::AccessTokens, store, master.as_ref(), now, id, random).await?;
        let keys = Keys::from_stored(&stored, master.as_ref(), now);
        Ok(Self { keys: RwLock::new(Arc::new(keys)), reading: tokio::sync::Mutex::new(()), master })
    }

    /// Adds a key that will sign once every replica knows it. The older ones go on verifying.
    pub(crate) async fn rotate(
        &self,
        store: &dyn Store,
        now: Timestamp,
        id: KeyId,
        random: &dyn Random,
    ) -> Result<SigningKey> {
        let stored = store.signing_keys(KeyPurpose::AccessTokens).await?;
        let next = SigningKey::make(
            KeyPurpose::AccessTokens,
            id,
            stored.last(),
            now,
            PUBLICATION,
            self.master.as_ref(),
            random,
        )?;
        store.insert_signing_key(&next).await?;
        self.read(store, now).await?;
        Ok(next)
    }

    /// The key to sign with at this moment.
    pub(crate) fn signing_key(&self, now: Timestamp) -> Result<(KeyId, EncodingKey)> {
        let keys = self.current();
        let signer = keys.signing.iter().rev().find(|signer| signer.from <= now).or(keys.signing.first());
        let signer = signer.ok_or_else(|| Error::internal("signing key", "there is none"))?;
        Ok((signer.id, signer.key.clone()))
    }

    /// The key with this name, reading the keys again where that may find it.
    pub(crate) async fn verifying_key(
        &self,
        store: &dyn Store,
        id: KeyId,
        now: Timestamp,
    ) -> Result<Option<DecodingKey>> {
        self.refresh(store, now).await?;
        if !self.current().verifying.contains_key(&id) {
            // Everyone who meets a new key waits for whoever reads it.
            let _reading = self.reading.lock().await;
            if self.is_older_than(UNKNOWN_KEY, now) {
                self.read(store, now).await?;
            }
        }
        Ok(self.current().verifying.get(&id).cloned())
    }

    /// The public halves of all keys that sign or may have signed a token that still lives.
    pub(crate) async fn public_keys(&self, store: &dyn Store, now: Timestamp) -> Result<Vec<PublicKey>> {
        self.refresh(store, now).await?;
        Ok(self.current().public.clone())
    }

    /// Reads the keys again when they are [`STALE`]; whoever comes while another reads, goes on with those it has.
    pub(crate) async fn refresh(&self, store: &dyn Store, now: Timestamp) -> Result<()> {
        if self.is_older_than(STALE, now)
            && let Ok(_reading) = self.reading.try_lock()
            && self.is_older_than(STALE, now)
        {
            self.read(store, now).await?;
        }
        Ok(())
    }

    /// Also when the clock was set back, which would keep old keys for as long.
    fn is_older_than(&self, age: TimeDelta, now: Timestamp) -> bool {
        (now - self.current().read_at).abs() >= age
    }

    async fn read(&self, store: &dyn Store, now: Timestamp) -> Result<()> {
        let keys = Keys::from_stored(&store.signing_keys(KeyPurpose::AccessTokens).await?, self.master.as_ref(), now);
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
        Ok(())
    }

    fn current(&self) -> Arc<Keys> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The keys for a purpose, after making the first one where there is none. All of them can be opened.
pub(crate) async fn first_or_stored(
    purpose: KeyPurpose,
    store: &dyn Store,
    master: Option<&MasterKey>,
    now: Timestamp,
    id: KeyId,
    random: &dyn Random,
) -> Result<Vec<SigningKey>> {
    let mut stored = store.signing_keys(purpose).await?;
    if stored.is_empty() {
        let first = SigningKey::make(purpose, id, None, now, PUBLICATION, master, random)?;
        match store.insert_signing_key(&first).await {
            // Another replica that started at the same moment was first: its key is as good.
            Ok(()) | Err(StoreError::Conflict(Constraint::SigningKeyGeneration)) => {}
            Err(error) => return Err(error.into()),
        }
        stored = store.signing_keys(purpose).await?;
    }
    if stored.iter().any(|key| matches!(key.private, PrivateKey::Plain(_))) {
        let purpose = purpose.as_str();
        tracing::warn!(purpose, "signing keys are kept unencrypted: configure a master key to have new ones encrypted");
    }
    // At the start, a key that cannot be opened means a wrong master key.
    match stored.iter().find_map(|key| key.pair(master).err()) {
        Some(error) => Err(error),
        None => Ok(stored),
    }
}

impl Keys {
    fn from_stored(stored: &[SigningKey], master: Option<&MasterKey>, now: Timestamp) -> Self {
        let successors = stored.iter().skip(1).map(Some).chain([None]);
        let is_retired =
            |successor: Option<&SigningKey>| successor.is_some_and(|key| now - key.signs_from > RETIREMENT);
        let live = stored.iter().zip(successors).filter(|(_, successor)| !is_retired(*successor));
        let live: Vec<&SigningKey> = live.map(|(key, _)| key).collect();
        let public: Vec<PublicKey> = live.iter().map(|key| key.public_key()).collect();
        Self {
            signing: live.iter().filter_map(|key| Signer::open(key, master)).collect(),
            verifying: public.iter().map(|key| (key.id, key.decoding_key())).collect(),
            public,
            read_at: now,
        }
    }
}

impl Signer {
    /// A key that cannot be opened does not sign here, but verifies what others signed with it: a replica that was
    /// not given the master key yet goes on with the keys it can use.
    fn open(key: &SigningKey, master: Option<&MasterKey>) -> Option<Self> {
        match key.encoding_key(master) {
            Ok(encoding) => Some(Self { id: key.id, from: key.signs_from, key: encoding }),
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::error!(kid = %key.id, cause, "a signing key cannot be used");
                None
            }
        }
    }
}
