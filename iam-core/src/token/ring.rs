//! The keys that this process knows, kept up with the store.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use jsonwebtoken::{DecodingKey, EncodingKey};

use super::{KeyPurpose, MasterKey, PrivateKey, PublicKey, SigningKey};
use crate::clock::{Timestamp, monotonic_now};
use crate::error::{Constraint, Error, Result, StoreError};
use crate::id::KeyId;
use crate::random::Random;
use crate::session::{Snapshots, Ticket};
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
    /// A moment before the store was asked, as changes are counted, and by the clock of the machine.
    as_of: Ticket,
    asked: Instant,
}

struct Signer {
    id: KeyId,
    from: Timestamp,
    key: EncodingKey,
}

/// Keys older than this are read again, so that a rotated key is known well before it signs.
const STALE: TimeDelta = TimeDelta::seconds(20);
/// Where it is not heard what others change, keys older than this are read again, so that a key that another process has
/// withdrawn is refused within a second.
const UNHEARD: Duration = Duration::from_millis(900);
/// However many tokens name unknown keys, the store is asked no more often than this.
const UNKNOWN_KEY: TimeDelta = TimeDelta::seconds(1);
/// How long a new key is published before it signs.
const PUBLICATION: TimeDelta = TimeDelta::seconds(60);
/// How long a key keeps its private half after its successor signs: a replica that cannot open that one yet signs with it.
const HANDOVER: TimeDelta = TimeDelta::minutes(10);
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
        let keys = Keys::from_stored(&stored, master.as_ref(), now, Ticket::default(), monotonic_now());
        Ok(Self { keys: RwLock::new(Arc::new(keys)), reading: tokio::sync::Mutex::new(()), master })
    }

    /// Adds a key that will sign once every replica knows it. The older ones go on verifying.
    pub(crate) async fn rotate(
        &self,
        store: &dyn Store,
        snapshots: &Snapshots,
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
        self.read(store, snapshots, now).await?;
        Ok(next)
    }

    /// Replaces the newest key when it has reached an age; none where it has not, or another process was first.
    pub(crate) async fn rotate_when_due(
        &self,
        store: &dyn Store,
        snapshots: &Snapshots,
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

    /// Withdraws a key; the identifier of the key that signs from now on. Where no other one can sign, one is made that does
    /// so at once.
    pub(crate) async fn revoke(
        &self,
        store: &dyn Store,
        snapshots: &Snapshots,
        revoked: KeyId,
        now: Timestamp,
        id: KeyId,
        random: &dyn Random,
    ) -> Result<KeyId> {
        let stored = store.signing_keys(KeyPurpose::AccessTokens).await?;
        if !stored.iter().any(|key| key.id == revoked) {
            return Err(Error::field("key", "is no key that signs access tokens"));
        }
        // Before it goes, so that there is always one.
        self.make_signer_beside(revoked, &stored, store, now, id, random).await?;
        store.revoke_signing_key(revoked, now).await?;
        snapshots.touch(&[revoked.into()]);
        self.read(store, snapshots, now).await?;
        if self.current().signing.is_empty() {
            // The key that was to go on has been revoked at the same moment.
            let stored = store.signing_keys(KeyPurpose::AccessTokens).await?;
            self.make_signer_beside(revoked, &stored, store, now, id, random).await?;
            self.read(store, snapshots, now).await?;
        }
        Ok(self.signing_key(now)?.0)
    }

    /// Makes a key that signs at once where no key but `revoked` can sign.
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
        let can_sign = |key: &SigningKey| key.id != revoked && key.pair(master).is_ok();
        if live(stored, now).any(can_sign) {
            return Ok(());
        }
        let next =
            SigningKey::make(KeyPurpose::AccessTokens, id, stored.last(), now, TimeDelta::zero(), master, random)?;
        match store.insert_signing_key(&next).await {
            // Another revocation at the same moment made one.
            Ok(()) | Err(StoreError::Conflict(Constraint::SigningKeyGeneration)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Erases the private halves of keys that have been replaced; tells how many.
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
        snapshots: &Snapshots,
        id: KeyId,
        now: Timestamp,
    ) -> Result<Option<DecodingKey>> {
        self.refresh(store, snapshots, now).await?;
        if !self.current().verifying.contains_key(&id) {
            // All that meet a new key wait for the one that reads it.
            let _reading = self.reading.lock().await;
            if self.is_older_than(UNKNOWN_KEY, now) {
                self.read(store, snapshots, now).await?;
            }
        }
        Ok(self.current().verifying.get(&id).cloned())
    }

    /// Whether what a key signed that was known a moment ago is still accepted.
    pub(crate) async fn accepts(
        &self,
        store: &dyn Store,
        snapshots: &Snapshots,
        id: KeyId,
        now: Timestamp,
    ) -> Result<bool> {
        self.refresh(store, snapshots, now).await?;
        Ok(self.current().verifying.contains_key(&id))
    }

    /// The public halves of all keys that sign or may have signed a token that still lives.
    pub(crate) async fn public_keys(
        &self,
        store: &dyn Store,
        snapshots: &Snapshots,
        now: Timestamp,
    ) -> Result<Vec<PublicKey>> {
        self.refresh(store, snapshots, now).await?;
        Ok(self.current().public.clone())
    }

    /// Reads the keys again where one of them may have been withdrawn, which all wait for; and when they are [`STALE`], which
    /// one waits for, while the others go on with those that are known.
    pub(crate) async fn refresh(&self, store: &dyn Store, snapshots: &Snapshots, now: Timestamp) -> Result<()> {
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

    /// Also when the clock was set back, which would keep old keys for as long.
    fn is_older_than(&self, age: TimeDelta, now: Timestamp) -> bool {
        (now - self.current().read_at).abs() >= age
    }

    async fn read(&self, store: &dyn Store, snapshots: &Snapshots, now: Timestamp) -> Result<()> {
        let (as_of, asked) = (snapshots.ticket(), monotonic_now());
        let stored = store.signing_keys(KeyPurpose::AccessTokens).await?;
        let keys = Keys::from_stored(&stored, self.master.as_ref(), now, as_of, asked);
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
    let private = stored.iter().filter(|key| key.private != PrivateKey::Erased);
    match private.filter_map(|key| key.pair(master).err()).next() {
        Some(error) => Err(error),
        None => Ok(stored),
    }
}

/// The keys that sign or may have signed a token that still lives, oldest first.
///
/// A key is retired for good once a later one has signed for long enough, also where that one was revoked since: what a
/// revocation withdraws must not bring back an older key, which may have leaked long ago.
fn live(stored: &[SigningKey], now: Timestamp) -> impl Iterator<Item = &SigningKey> {
    let served = move |key: &SigningKey| key.revoked_at.map_or(now, |revoked| revoked.min(now)) - key.signs_from;
    stored.iter().enumerate().filter_map(move |(place, key)| {
        let is_retired = stored.iter().skip(place + 1).any(|later| served(later) > RETIREMENT);
        (key.revoked_at.is_none() && !is_retired).then_some(key)
    })
}

impl Keys {
    fn from_stored(
        stored: &[SigningKey],
        master: Option<&MasterKey>,
        now: Timestamp,
        as_of: Ticket,
        asked: Instant,
    ) -> Self {
        let live: Vec<&SigningKey> = live(stored, now).collect();
        let public: Vec<PublicKey> = live.iter().map(|key| key.public_key()).collect();
        Self {
            signing: live.iter().filter_map(|key| Signer::open(key, master)).collect(),
            verifying: public.iter().map(|key| (key.id, key.decoding_key())).collect(),
            public,
            read_at: now,
            as_of,
            asked,
        }
    }

    /// Whether one of them may have been withdrawn since they were read.
    fn may_be_revoked(&self, snapshots: &Snapshots) -> bool {
        if self.public.iter().any(|key| snapshots.is_touched(key.id.into(), self.as_of)) {
            return true;
        }
        let now = monotonic_now();
        now.duration_since(self.asked) >= UNHEARD && !snapshots.has_heard_all(self.as_of, now)
    }
}

impl Signer {
    /// A key that cannot be opened does not sign here, but verifies what others signed with it: a replica that was
    /// not given the master key yet goes on with the keys it can use.
    fn open(key: &SigningKey, master: Option<&MasterKey>) -> Option<Self> {
        if key.private == PrivateKey::Erased {
            return None;
        }
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
    use crate::feed::{ChangeFeed, News};
    use crate::memory::MemoryStore;
    use crate::random::SystemRandom;
    use crate::token::KeyStore as _;

    /// A ring over its own store, by a clock that a test moves.
    struct Scene {
        store: MemoryStore,
        snapshots: Snapshots,
        ring: KeyRing,
        now: Timestamp,
    }

    fn new_id() -> KeyId {
        let random: &dyn Random = &SystemRandom;
        Uuid::from_bytes(random.bytes()).into()
    }

    impl Scene {
        async fn new() -> Self {
            let (store, now) = (MemoryStore::new(), "2026-01-31T09:00:00Z".parse().unwrap());
            let ring = KeyRing::open(&store, None, now, new_id(), &SystemRandom).await.unwrap();
            Self { store, snapshots: Snapshots::default(), ring, now }
        }

        fn pass(&mut self, time: TimeDelta) {
            self.now += time;
        }

        async fn rotate(&mut self) -> KeyId {
            let rotated = self.ring.rotate(&self.store, &self.snapshots, self.now, new_id(), &SystemRandom).await;
            self.pass(PUBLICATION);
            rotated.unwrap().id
        }

        /// The key that signs afterwards.
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

    /// An old key may have leaked with an old backup: it neither verifies nor signs again because a later one is withdrawn.
    #[tokio::test]
    async fn a_revocation_brings_no_retired_key_back() {
        let mut scene = Scene::new().await;
        let oldest = scene.signs().await;
        let middle = scene.rotate().await;
        scene.pass(RETIREMENT);
        assert!(scene.is_accepted(oldest).await, "it may have signed a day ago");
        scene.pass(STALE);
        assert!(!scene.is_accepted(oldest).await);
        let newest = scene.revoke(middle).await;
        assert!(newest != oldest && newest != middle);
        assert_eq!(scene.signs().await, newest);
        let last = scene.revoke(newest).await;
        for (key, is_accepted) in [(oldest, false), (middle, false), (newest, false), (last, true)] {
            assert_eq!(scene.is_accepted(key).await, is_accepted);
        }
        assert_eq!(scene.ring.public_keys(&scene.store, &scene.snapshots, scene.now).await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_key_is_replaced_at_a_given_age() {
        let (mut scene, age) = (Scene::new().await, TimeDelta::days(30));
        scene.pass(age - TimeDelta::milliseconds(1));
        assert_eq!(scene.rotate_when_due(age).await, None);
        scene.pass(TimeDelta::milliseconds(1));
        let next = scene.rotate_when_due(age).await.unwrap();
        assert_eq!(scene.rotate_when_due(age).await, None);
        // A revoked key does not make the one before it young.
        scene.revoke(next).await;
        assert!(scene.rotate_when_due(age).await.is_some());
    }

    #[tokio::test]
    async fn a_revoked_key_is_not_accepted_and_an_unknown_key_cannot_be_revoked() {
        let scene = Scene::new().await;
        let key = scene.signs().await;
        let accepts = async || scene.ring.accepts(&scene.store, &scene.snapshots, key, scene.now).await.unwrap();
        let unknown =
            scene.ring.revoke(&scene.store, &scene.snapshots, new_id(), scene.now, new_id(), &SystemRandom).await;
        assert!(matches!(unknown, Err(Error::Validation(_))), "{unknown:?}");
        assert!(accepts().await);
        assert_eq!(scene.store.signing_keys(KeyPurpose::AccessTokens).await.unwrap().len(), 1);
        scene.revoke(key).await;
        assert!(!accepts().await);
    }

    #[tokio::test]
    async fn a_key_of_another_process_is_looked_for_once_a_second() {
        let mut scene = Scene::new().await;
        let elsewhere = KeyRing::open(&scene.store, None, scene.now, new_id(), &SystemRandom).await.unwrap();
        let rotated = elsewhere.rotate(&scene.store, &scene.snapshots, scene.now, new_id(), &SystemRandom).await;
        let key = rotated.unwrap().id;
        scene.pass(UNKNOWN_KEY - TimeDelta::milliseconds(1));
        assert!(!scene.is_accepted(key).await);
        scene.pass(TimeDelta::milliseconds(1));
        assert!(scene.is_accepted(key).await);
    }

    /// Tells once that everything is heard, and nothing afterwards.
    struct HeardOnce(Option<News>);

    #[async_trait]
    impl ChangeFeed for HeardOnce {
        async fn next(&mut self) -> Result<News, StoreError> {
            match self.0.take() {
                Some(news) => Ok(news),
                None => pending().await,
            }
        }
    }

    #[tokio::test]
    async fn keys_are_read_again_where_one_may_have_been_revoked() {
        let scene = Scene::new().await;
        let stored = scene.store.signing_keys(KeyPurpose::AccessTokens).await.unwrap();
        let asked = monotonic_now();
        let (just_now, long_ago) = (asked, asked - UNHEARD);
        let (alone, informed) = (Snapshots::default(), Snapshots::default());
        let news = News { changed: Vec::new(), complete_at: Some(asked) };
        let mut following = pin!(informed.follow(Box::new(HeardOnce(Some(news)))));
        assert!(timeout(Duration::ZERO, following.as_mut()).await.is_err());
        for (snapshots, asked, expected) in [
            (&alone, just_now, false),
            (&alone, long_ago, true),
            (&informed, just_now, false),
            (&informed, long_ago, false),
        ] {
            let keys = Keys::from_stored(&stored, None, scene.now, snapshots.ticket(), asked);
            assert_eq!(keys.may_be_revoked(snapshots), expected);
            snapshots.touch(&[stored[0].id.into()]);
            assert!(keys.may_be_revoked(snapshots));
        }
    }

    #[tokio::test]
    async fn a_ring_opens_with_erased_keys_and_not_with_the_wrong_master_key() {
        let mut scene = Scene::new().await;
        scene.rotate().await;
        scene.pass(HANDOVER);
        assert_eq!(scene.ring.erase_replaced(&scene.store, scene.now).await.unwrap(), 1);
        let open = async |master| KeyRing::open(&scene.store, master, scene.now, new_id(), &SystemRandom).await;
        assert!(open(None).await.is_ok());
        let [right, wrong] = [1, 2].map(|byte| STANDARD.encode([byte; 32]).parse::<MasterKey>().unwrap());
        let with_master = open(Some(right.clone())).await.unwrap();
        let snapshots = Snapshots::default();
        with_master.rotate(&scene.store, &snapshots, scene.now, new_id(), &SystemRandom).await.unwrap();
        assert!(open(Some(right)).await.is_ok());
        assert!(open(Some(wrong)).await.is_err() && open(None).await.is_err());
    }

    /// A new key that is withdrawn at once leaves the one before it to go on.
    #[tokio::test]
    async fn a_key_whose_successor_is_revoked_early_goes_on() {
        let mut scene = Scene::new().await;
        let oldest = scene.signs().await;
        let leaked = scene.rotate().await;
        assert_eq!(scene.signs().await, leaked);
        scene.pass(TimeDelta::minutes(5));
        assert_eq!(scene.revoke(leaked).await, oldest);
        scene.pass(RETIREMENT * 30);
        assert!(scene.is_accepted(oldest).await && !scene.is_accepted(leaked).await);
        assert_eq!(scene.signs().await, oldest);
    }

    #[tokio::test]
    async fn what_was_replaced_loses_its_private_half_ten_minutes_later_and_is_accepted_for_a_day() {
        let mut scene = Scene::new().await;
        let oldest = scene.signs().await;
        let newest = scene.rotate().await;
        scene.pass(HANDOVER - TimeDelta::milliseconds(1));
        assert_eq!(scene.ring.erase_replaced(&scene.store, scene.now).await.unwrap(), 0);
        scene.pass(TimeDelta::milliseconds(1));
        for erased in [1, 0] {
            assert_eq!(scene.ring.erase_replaced(&scene.store, scene.now).await.unwrap(), erased);
        }
        assert_eq!(scene.signs().await, newest);
        assert!(scene.is_accepted(oldest).await);
        let third = scene.revoke(newest).await;
        assert!(third != oldest, "nobody signs without a private half");
    }
}
