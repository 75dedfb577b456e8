//! The signing keys that this process has cached, refreshed from the store.

use std::collections::HashMap;
use std::sync::{Arc, Once, PoisonError, RwLock};
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use iam_model::clock::{Timestamp, monotonic_now};
use iam_model::error::{Error, Result};
use iam_model::id::KeyId;
use iam_model::random::Random;
use iam_model::signing_key::{KeyPurpose, PrivateKey, PublicKey, SigningKey};
use iam_model::store::Store;
use iam_model::store_error::{Constraint, StoreError};
use jsonwebtoken::{DecodingKey, EncodingKey};

use crate::cache::{ReadVersion, SessionCache};
use crate::token::MasterKey;
use crate::token::signing_key::{decoding_key, encoding_key, generate_key, pair};

/// The cached keys of this process. They are read again when they are [`STALE`], when a token names an unknown key,
/// and when one of them may have been revoked.
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
    /// The read version from before the store was queried.
    as_of: ReadVersion,
    /// When the store was queried, by the monotonic clock.
    asked: Instant,
}

struct Signer {
    id: KeyId,
    from: Timestamp,
    key: EncodingKey,
}

/// Cached keys older than this are read again, so that a new key is known well before it signs.
const STALE: TimeDelta = TimeDelta::seconds(20);

/// While this process does not receive the changes of other replicas, keys older than this are read again. So a key
/// that another replica has revoked is refused within a second.
const MAX_AGE_WITHOUT_FEED: Duration = Duration::from_millis(900);

/// The minimum time between two queries for unknown keys, however many tokens name unknown keys.
const UNKNOWN_KEY: TimeDelta = TimeDelta::seconds(1);

/// How long a new key is published before it signs.
const PUBLICATION: TimeDelta = TimeDelta::seconds(60);

/// How long a key keeps its private half after its successor begins to sign. A replica that cannot decrypt the
/// successor yet still signs with it.
const HANDOVER: TimeDelta = TimeDelta::minutes(10);

/// How long a key is still published after its successor begins to sign. No access token may live longer.
pub(crate) const RETIREMENT: TimeDelta = TimeDelta::hours(24);

impl KeyRing {
    /// Reads the keys, and makes the first one if there is none.
    pub(crate) async fn open(
        store: &dyn Store,
        master: Option<MasterKey>,
        now: Timestamp,
        id: KeyId,
        random: &dyn Random,
    ) -> Result<Self> {
        let stored = first_or_stored(KeyPurpose::AccessTokens, store, master.as_ref(), now, id, random).await?;
        let keys = Keys::from_stored(&stored, master.as_ref(), now, ReadVersion::default(), monotonic_now());
        Ok(Self { keys: RwLock::new(Arc::new(keys)), reading: tokio::sync::Mutex::new(()), master })
    }

    /// Adds a key that begins to sign when every replica knows it. The older keys still verify.
    pub(crate) async fn rotate(
        &self,
        store: &dyn Store,
        snapshots: &SessionCache,
        now: Timestamp,
        id: KeyId,
        random: &dyn Random,
    ) -> Result<SigningKey> {
        let stored = store.signing_keys(KeyPurpose::AccessTokens).await?;
        let next =
            generate_key(KeyPurpose::AccessTokens, id, stored.last(), now, PUBLICATION, self.master.as_ref(), random)?;
        store.insert_signing_key(&next).await?;
        self.read(store, snapshots, now).await?;
        Ok(next)
    }

    /// Replaces the newest key when it has reached `age`. Returns `None` when it has not, or when another replica has
    /// just replaced it.
    pub(crate) async fn rotate_when_due(
        &self,
        store: &dyn Store,
        snapshots: &SessionCache,
        age: TimeDelta,
        now: Timestamp,
        id: KeyId,
        random: &dyn Random,
    ) -> Result<Option<SigningKey>> {
        let stored = store.signing_keys(KeyPurpose::AccessTokens).await?;
        let newest = stored.iter().rev().find(|key| key.revoked_at.is_none());
        if newest.is_some_and(|key| now - key.created_at < age) {
            return Ok(None);
        }
        match self.rotate(store, snapshots, now, id, random).await {
            Err(Error::Store(StoreError::Conflict(Constraint::SigningKeyGeneration))) => Ok(None),
            rotated => rotated.map(Some),
        }
    }

    /// Revokes a key, and returns the identifier of the key that signs from now on. If no other key can sign, a new
    /// key is made that signs at once.
    pub(crate) async fn revoke(
        &self,
        store: &dyn Store,
        snapshots: &SessionCache,
        revoked: KeyId,
        now: Timestamp,
        id: KeyId,
        random: &dyn Random,
    ) -> Result<KeyId> {
        let stored = store.signing_keys(KeyPurpose::AccessTokens).await?;
        if !stored.iter().any(|key| key.id == revoked) {
            return Err(Error::field("key", "is no key that signs access tokens"));
        }
        // Before the revocation, so that there is always a key that signs.
        self.make_signer_beside(revoked, &stored, store, now, id, random).await?;
        store.revoke_signing_key(revoked, now).await?;
        snapshots.invalidate(&[revoked.into()]);
        self.read(store, snapshots, now).await?;
        if self.current().signing.is_empty() {
            // The remaining key was revoked concurrently.
            let stored = store.signing_keys(KeyPurpose::AccessTokens).await?;
            self.make_signer_beside(revoked, &stored, store, now, id, random).await?;
            self.read(store, snapshots, now).await?;
        }
        Ok(self.signing_key(now)?.0)
    }

    /// Makes a key that signs at once, if no key other than `revoked` can sign.
    async fn make_signer_beside(
        &self,
        revoked: KeyId,
        stored: &[SigningKey],
        store: &dyn Store,
        now: Timestamp,
        id: KeyId,
        random: &dyn Random,
    ) -> Result<()> {
        let master = self.master.as_ref();
        let can_sign = |key: &SigningKey| key.id != revoked && pair(key, master).is_ok();
        if live(stored, now).any(can_sign) {
            return Ok(());
        }
        let next = generate_key(KeyPurpose::AccessTokens, id, stored.last(), now, TimeDelta::zero(), master, random)?;
        match store.insert_signing_key(&next).await {
            // A conflict means that a concurrent revocation has made one.
            Ok(()) | Err(StoreError::Conflict(Constraint::SigningKeyGeneration)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Erases the private halves of replaced keys after [`HANDOVER`], and returns how many.
    pub(crate) async fn erase_replaced(&self, store: &dyn Store, now: Timestamp) -> Result<u64> {
        let stored = store.signing_keys(KeyPurpose::AccessTokens).await?;
        let valid: Vec<&SigningKey> = stored.iter().filter(|key| key.revoked_at.is_none()).collect();
        let mut erased = 0;
        for (key, successor) in valid.iter().zip(valid.iter().skip(1)) {
            if key.private != PrivateKey::Erased && now - successor.signs_from >= HANDOVER {
                erased += u64::from(store.replace_private_key(key.id, &key.private, &PrivateKey::Erased).await?);
            }
        }
        Ok(erased)
    }

    /// Returns the key that signs at `now`.
    pub(crate) fn signing_key(&self, now: Timestamp) -> Result<(KeyId, EncodingKey)> {
        let keys = self.current();
        let signer = keys.signing.iter().rev().find(|signer| signer.from <= now).or(keys.signing.first());
        let signer = signer.ok_or_else(|| Error::internal("signing key", "there is none"))?;
        Ok((signer.id, signer.key.clone()))
    }

    /// Returns the key with this identifier. Reads the keys again if that may find it.
    pub(crate) async fn verifying_key(
        &self,
        store: &dyn Store,
        snapshots: &SessionCache,
        id: KeyId,
        now: Timestamp,
    ) -> Result<Option<DecodingKey>> {
        self.refresh(store, snapshots, now).await?;
        if !self.current().verifying.contains_key(&id) {
            // Requests with a new key wait for the one that reads it.
            let _reading = self.reading.lock().await;
            if self.is_older_than(UNKNOWN_KEY, now) {
                self.read(store, snapshots, now).await?;
            }
        }
        Ok(self.current().verifying.get(&id).cloned())
    }

    /// Whether the signatures of a key that was known a moment ago are still accepted.
    pub(crate) async fn accepts(
        &self,
        store: &dyn Store,
        snapshots: &SessionCache,
        id: KeyId,
        now: Timestamp,
    ) -> Result<bool> {
        self.refresh(store, snapshots, now).await?;
        Ok(self.current().verifying.contains_key(&id))
    }

    /// Returns the public halves of all keys that sign, or may have signed a token that has not expired.
    pub(crate) async fn public_keys(
        &self,
        store: &dyn Store,
        snapshots: &SessionCache,
        now: Timestamp,
    ) -> Result<Vec<PublicKey>> {
        self.refresh(store, snapshots, now).await?;
        Ok(self.current().public.clone())
    }

    /// Reads the keys again if one of them may have been revoked, or if they are [`STALE`]. In the first case, all
    /// requests wait for the read. In the second case, one request waits, and the others use the cached keys.
    pub(crate) async fn refresh(&self, store: &dyn Store, snapshots: &SessionCache, now: Timestamp) -> Result<()> {
        if self.current().may_be_revoked(snapshots) {
            let _reading = self.reading.lock().await;
            if self.current().may_be_revoked(snapshots) {
                self.read(store, snapshots, now).await?;
            }
        }
        if self.is_older_than(STALE, now)
            && let Ok(_reading) = self.reading.try_lock()
            && self.is_older_than(STALE, now)
        {
            self.read(store, snapshots, now).await?;
        }
        Ok(())
    }

    /// Whether the keys are older than `age`. They also count as older when the clock was set back by at least `age`.
    /// Otherwise, they would not be read again for that long.
    fn is_older_than(&self, age: TimeDelta, now: Timestamp) -> bool {
        (now - self.current().read_at).abs() >= age
    }

    async fn read(&self, store: &dyn Store, snapshots: &SessionCache, now: Timestamp) -> Result<()> {
        let (as_of, asked) = (snapshots.read_version(), monotonic_now());
        let stored = store.signing_keys(KeyPurpose::AccessTokens).await?;
        let keys = Keys::from_stored(&stored, self.master.as_ref(), now, as_of, asked);
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
        Ok(())
    }

    fn current(&self) -> Arc<Keys> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the keys for a purpose, and makes the first one if there is none.
///
/// # Errors
///
/// [`Error::Internal`] when a private key cannot be decrypted, and errors of the store.
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
        let first = generate_key(purpose, id, None, now, PUBLICATION, master, random)?;
        match store.insert_signing_key(&first).await {
            // A conflict means that another replica that started at the same moment has made the first key.
            Ok(()) | Err(StoreError::Conflict(Constraint::SigningKeyGeneration)) => {}
            Err(error) => return Err(error.into()),
        }
        stored = store.signing_keys(purpose).await?;
    }
    if stored.iter().any(|key| matches!(key.private, PrivateKey::Plain(_))) {
        // A program may build the services several times, and each has keys for several purposes.
        static WARNING: Once = Once::new();
        WARNING.call_once(|| {
            // A target of its own, so that a program can hide it where it does not help.
            tracing::warn!(
                target: "iam_core::unencrypted_keys",
                "signing keys are stored unencrypted: configure a master key to encrypt new keys"
            );
        });
    }
    // At the start, a key that cannot be decrypted means a wrong master key.
    let private = stored.iter().filter(|key| key.private != PrivateKey::Erased);
    match private.filter_map(|key| pair(key, master).err()).next() {
        Some(error) => Err(error),
        None => Ok(stored),
    }
}

/// Returns the keys that sign, or may have signed a token that has not expired, oldest first.
///
/// A key is retired forever when a later key has signed for longer than [`RETIREMENT`], even if that key was revoked
/// since. A revocation must not bring back an older key, because that may have leaked long ago.
fn live(stored: &[SigningKey], now: Timestamp) -> impl Iterator<Item = &SigningKey> {
    let served = move |key: &SigningKey| key.revoked_at.map_or(now, |revoked| revoked.min(now)) - key.signs_from;
    stored.iter().enumerate().filter_map(move |(index, key)| {
        let is_retired = stored.iter().skip(index + 1).any(|later| served(later) > RETIREMENT);
        (key.revoked_at.is_none() && !is_retired).then_some(key)
    })
}

impl Keys {
    fn from_stored(
        stored: &[SigningKey],
        master: Option<&MasterKey>,
        now: Timestamp,
        as_of: ReadVersion,
        asked: Instant,
    ) -> Self {
        let live: Vec<&SigningKey> = live(stored, now).collect();
        let public: Vec<PublicKey> = live.iter().map(|key| key.public_key()).collect();
        Self {
            signing: live.iter().filter_map(|key| Signer::decrypt(key, master)).collect(),
            verifying: public.iter().map(|key| (key.id, decoding_key(key))).collect(),
            public,
            read_at: now,
            as_of,
            asked,
        }
    }

    /// Whether one of the keys may have been revoked since they were read.
    fn may_be_revoked(&self, snapshots: &SessionCache) -> bool {
        if self.public.iter().any(|key| snapshots.has_changed(key.id.into(), self.as_of)) {
            return true;
        }
        let now = monotonic_now();
        now.duration_since(self.asked) >= MAX_AGE_WITHOUT_FEED && !snapshots.has_received_all(self.as_of, now)
    }
}

impl Signer {
    /// Decrypts a key for signing. `None` when that is not possible: the key then does not sign here, but still
    /// verifies tokens that other replicas have signed. So a replica without the new master key goes on with the keys
    /// that it can use.
    fn decrypt(key: &SigningKey, master: Option<&MasterKey>) -> Option<Self> {
        if key.private == PrivateKey::Erased {
            return None;
        }
        match encoding_key(key, master) {
            Ok(encoding) => Some(Self { id: key.id, from: key.signs_from, key: encoding }),
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::error!(kid = %key.id, cause, "cannot use a signing key");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::pin::pin;

    use async_trait::async_trait;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use tokio::time::timeout;
    use uuid::Uuid;

    use super::*;
    use iam_model::random::SystemRandom;
    use iam_model::store::{ChangeFeed, FeedNotification, KeyStore as _};
    use iam_store_memory::MemoryStore;

    /// A key ring over its own store, with a clock that the test controls.
    struct Fixture {
        store: MemoryStore,
        snapshots: SessionCache,
        ring: KeyRing,
        now: Timestamp,
    }

    fn new_id() -> KeyId {
        let random: &dyn Random = &SystemRandom;
        Uuid::from_bytes(random.bytes()).into()
    }

    impl Fixture {
        async fn new() -> Self {
            let (store, now) = (MemoryStore::new(), "2026-01-31T09:00:00Z".parse().unwrap());
            let ring = KeyRing::open(&store, None, now, new_id(), &SystemRandom).await.unwrap();
            Self { store, snapshots: SessionCache::default(), ring, now }
        }

        fn pass(&mut self, time: TimeDelta) {
            self.now += time;
        }

        async fn rotate(&mut self) -> KeyId {
            let rotated = self.ring.rotate(&self.store, &self.snapshots, self.now, new_id(), &SystemRandom).await;
            self.pass(PUBLICATION);
            rotated.unwrap().id
        }

        /// Revokes a key, and returns the key that signs afterwards.
        async fn revoke(&self, key: KeyId) -> KeyId {
            self.ring.revoke(&self.store, &self.snapshots, key, self.now, new_id(), &SystemRandom).await.unwrap()
        }

        async fn rotate_when_due(&self, age: TimeDelta) -> Option<KeyId> {
            let (store, snapshots) = (&self.store, &self.snapshots);
            let rotated = self.ring.rotate_when_due(store, snapshots, age, self.now, new_id(), &SystemRandom).await;
            rotated.unwrap().map(|key| key.id)
        }

        async fn signs(&self) -> KeyId {
            self.ring.refresh(&self.store, &self.snapshots, self.now).await.unwrap();
            self.ring.signing_key(self.now).unwrap().0
        }

        async fn is_accepted(&self, key: KeyId) -> bool {
            self.ring.verifying_key(&self.store, &self.snapshots, key, self.now).await.unwrap().is_some()
        }
    }

    /// An old key may have leaked with an old backup. So it neither verifies nor signs again after a later key is
    /// revoked.
    #[tokio::test]
    async fn a_revocation_brings_no_retired_key_back() {
        let mut fixture = Fixture::new().await;
        let oldest = fixture.signs().await;
        let middle = fixture.rotate().await;
        fixture.pass(RETIREMENT);
        assert!(fixture.is_accepted(oldest).await, "it may have signed a token that has not expired");
        fixture.pass(STALE);
        assert!(!fixture.is_accepted(oldest).await);
        let newest = fixture.revoke(middle).await;
        assert!(newest != oldest && newest != middle);
        assert_eq!(fixture.signs().await, newest);
        let last = fixture.revoke(newest).await;
        for (key, is_accepted) in [(oldest, false), (middle, false), (newest, false), (last, true)] {
            assert_eq!(fixture.is_accepted(key).await, is_accepted);
        }
        assert_eq!(fixture.ring.public_keys(&fixture.store, &fixture.snapshots, fixture.now).await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_key_is_replaced_at_a_given_age() {
        let (mut fixture, age) = (Fixture::new().await, TimeDelta::days(30));
        fixture.pass(age - TimeDelta::milliseconds(1));
        assert_eq!(fixture.rotate_when_due(age).await, None);
        fixture.pass(TimeDelta::milliseconds(1));
        let next = fixture.rotate_when_due(age).await.unwrap();
        assert_eq!(fixture.rotate_when_due(age).await, None);
        // The age is that of the newest key that is not revoked.
        fixture.revoke(next).await;
        assert!(fixture.rotate_when_due(age).await.is_some());
    }

    #[tokio::test]
    async fn a_revoked_key_is_not_accepted_and_an_unknown_key_cannot_be_revoked() {
        let fixture = Fixture::new().await;
        let key = fixture.signs().await;
        let accepts =
            async || fixture.ring.accepts(&fixture.store, &fixture.snapshots, key, fixture.now).await.unwrap();
        let unknown = fixture
            .ring
            .revoke(&fixture.store, &fixture.snapshots, new_id(), fixture.now, new_id(), &SystemRandom)
            .await;
        assert!(matches!(unknown, Err(Error::Validation(_))), "{unknown:?}");
        assert!(accepts().await);
        assert_eq!(fixture.store.signing_keys(KeyPurpose::AccessTokens).await.unwrap().len(), 1);
        fixture.revoke(key).await;
        assert!(!accepts().await);
    }

    #[tokio::test]
    async fn an_unknown_key_is_looked_up_at_most_once_a_second() {
        let mut fixture = Fixture::new().await;
        let elsewhere = KeyRing::open(&fixture.store, None, fixture.now, new_id(), &SystemRandom).await.unwrap();
        let rotated = elsewhere.rotate(&fixture.store, &fixture.snapshots, fixture.now, new_id(), &SystemRandom).await;
        let key = rotated.unwrap().id;
        fixture.pass(UNKNOWN_KEY - TimeDelta::milliseconds(1));
        assert!(!fixture.is_accepted(key).await);
        fixture.pass(TimeDelta::milliseconds(1));
        assert!(fixture.is_accepted(key).await);
    }

    /// A feed that sends one notification and then stays silent.
    struct OneNotification(Option<FeedNotification>);

    #[async_trait]
    impl ChangeFeed for OneNotification {
        async fn next(&mut self) -> Result<FeedNotification, StoreError> {
            match self.0.take() {
                Some(notification) => Ok(notification),
                None => pending().await,
            }
        }
    }

    #[tokio::test]
    async fn keys_are_read_again_when_one_may_have_been_revoked() {
        let fixture = Fixture::new().await;
        let stored = fixture.store.signing_keys(KeyPurpose::AccessTokens).await.unwrap();
        let asked = monotonic_now();
        let (just_now, long_ago) = (asked, asked - MAX_AGE_WITHOUT_FEED);
        let (alone, informed) = (SessionCache::default(), SessionCache::default());
        let notification = FeedNotification { changed: Vec::new(), complete_at: Some(asked) };
        let mut following = pin!(informed.follow(Box::new(OneNotification(Some(notification)))));
        assert!(timeout(Duration::ZERO, following.as_mut()).await.is_err());
        for (snapshots, asked, expected) in [
            (&alone, just_now, false),
            (&alone, long_ago, true),
            (&informed, just_now, false),
            (&informed, long_ago, false),
        ] {
            let keys = Keys::from_stored(&stored, None, fixture.now, snapshots.read_version(), asked);
            assert_eq!(keys.may_be_revoked(snapshots), expected);
            snapshots.invalidate(&[stored[0].id.into()]);
            assert!(keys.may_be_revoked(snapshots));
        }
    }

    #[tokio::test]
    async fn a_ring_opens_with_erased_keys_and_not_with_the_wrong_master_key() {
        let mut fixture = Fixture::new().await;
        fixture.rotate().await;
        fixture.pass(HANDOVER);
        assert_eq!(fixture.ring.erase_replaced(&fixture.store, fixture.now).await.unwrap(), 1);
        let open = async |master| KeyRing::open(&fixture.store, master, fixture.now, new_id(), &SystemRandom).await;
        assert!(open(None).await.is_ok());
        let [right, wrong] = [1, 2].map(|byte| STANDARD.encode([byte; 32]).parse::<MasterKey>().unwrap());
        let with_master = open(Some(right.clone())).await.unwrap();
        let snapshots = SessionCache::default();
        with_master.rotate(&fixture.store, &snapshots, fixture.now, new_id(), &SystemRandom).await.unwrap();
        assert!(open(Some(right)).await.is_ok());
        assert!(open(Some(wrong)).await.is_err() && open(None).await.is_err());
    }

    /// When a new key is revoked soon after it began to sign, the key before it signs again.
    #[tokio::test]
    async fn a_key_signs_again_when_its_successor_is_revoked_early() {
        let mut fixture = Fixture::new().await;
        let oldest = fixture.signs().await;
        let leaked = fixture.rotate().await;
        assert_eq!(fixture.signs().await, leaked);
        fixture.pass(TimeDelta::minutes(5));
        assert_eq!(fixture.revoke(leaked).await, oldest);
        fixture.pass(RETIREMENT * 30);
        assert!(fixture.is_accepted(oldest).await && !fixture.is_accepted(leaked).await);
        assert_eq!(fixture.signs().await, oldest);
    }

    #[tokio::test]
    async fn a_replaced_key_is_erased_after_ten_minutes_and_still_verifies() {
        let mut fixture = Fixture::new().await;
        let oldest = fixture.signs().await;
        let newest = fixture.rotate().await;
        fixture.pass(HANDOVER - TimeDelta::milliseconds(1));
        assert_eq!(fixture.ring.erase_replaced(&fixture.store, fixture.now).await.unwrap(), 0);
        fixture.pass(TimeDelta::milliseconds(1));
        for erased in [1, 0] {
            assert_eq!(fixture.ring.erase_replaced(&fixture.store, fixture.now).await.unwrap(), erased);
        }
        assert_eq!(fixture.signs().await, newest);
        assert!(fixture.is_accepted(oldest).await);
        let third = fixture.revoke(newest).await;
        assert!(third != oldest, "a key without a private half does not sign");
    }
}
