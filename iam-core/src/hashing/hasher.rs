//! Password hashing outside the async threads. New hashes are Argon2id (RFC 9106).

use std::sync::Arc;
use std::time::Duration;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash as Phc, Salt};
use argon2::{Argon2, Block, Params};
use iam_model::error::{Error, Result};
use iam_model::id::TenantId;
use iam_model::observe::Observer;
use iam_model::random::Random;
use iam_model::secret::{HashSecret, Password, PasswordHash};
use iam_model::validate::Invalid;

use crate::hashing::Share;
use crate::hashing::cost::HashingCost;
use crate::hashing::function::{ALGORITHM, Function, VERSION, work_of};
use crate::hashing::keyed::{self, HashKey};
use crate::hashing::stored::{ImportLimit, StoredHash, accept_hash, check_secret};
use crate::hashing::timing::Timing;
use crate::hashing::workers::{HashFn, HashResult, Load, Workers};
use crate::password::AcceptedPassword;
use crate::secret_cipher::SecretCipher;

/// Hashes and verifies passwords. As many hashes run at a time as the machine has cores.
pub(crate) struct PasswordHasher {
    argon2: Argon2<'static>,
    workers: Workers,
    timing: Timing,
    observer: Option<Arc<dyn Observer>>,
    random: Arc<dyn Random>,
    /// Encrypts the secrets of other systems, without which their hashes cannot be verified.
    secrets: SecretCipher,
}

/// The result of verifying a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verified {
    /// The password is wrong.
    No,
    /// The password is right.
    Yes,
    /// The password is right, and the hash is not as new hashes are: a new hash of the same password replaces it.
    YesButOutdated,
}

impl PasswordHasher {
    /// Creates a hasher for hashes of this cost. It refuses a password that would wait for longer than `max_wait`.
    /// `secrets` encrypts the secrets of other systems.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] when Argon2 does not allow the cost.
    pub(crate) fn new(
        cost: HashingCost,
        max_wait: Duration,
        observer: Option<Arc<dyn Observer>>,
        random: Arc<dyn Random>,
        secrets: SecretCipher,
    ) -> Result<Self> {
        let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, None)
            .map_err(|cause| Error::internal("password hashing cost", cause))?;
        let argon2 = Argon2::new(ALGORITHM, VERSION, params);
        Ok(Self { argon2, workers: Workers::new(max_wait), timing: Timing::default(), observer, random, secrets })
    }

    /// Refuses a password that would wait for too long. To be called before any other work for that password.
    pub(crate) fn admit(&self, share: Share) -> Result<()> {
        self.workers.admit(share).inspect_err(|error| self.observe_refusal(error))
    }

    /// Returns the number of passwords that wait to be hashed.
    pub(crate) fn waiting(&self) -> usize {
        self.workers.waiting()
    }

    /// Accepts the secret with which another system made its hashes, and encrypts it.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names `hashSecret`.
    pub(crate) fn hash_key(&self, secret: HashSecret) -> Result<HashKey> {
        check_secret(&secret).map_err(|invalid| Error::field("hashSecret", invalid.0))?;
        HashKey::new(secret, &self.secrets, &*self.random)
    }

    /// Accepts the hash of a password that another system made, with the secret of that system if it has one, and returns
    /// what is stored. What trusted code imports may take a second to verify; what a tenant imports, twice as long as a
    /// hash of this installation.
    pub(crate) fn accept(
        &self,
        hash: PasswordHash,
        key: Option<&HashKey>,
        is_trusted: bool,
    ) -> Result<PasswordHash, Invalid> {
        let limit = (!is_trusted).then(|| ImportLimit::of_tenant(self.argon2.params()));
        let hash = accept_hash(hash, key.map(HashKey::secret), limit)?;
        Ok(key.map_or_else(|| hash.clone(), |key| key.stored(&hash)))
    }

    /// Hashes a new password, in PHC string format.
    pub(crate) async fn hash(&self, share: Share, password: &AcceptedPassword) -> Result<PasswordHash> {
        self.hash_any(share, password.password()).await
    }

    /// Hashes the prepared form of a password that is known to be right, even if it breaks the current policy.
    pub(crate) async fn hash_any(&self, share: Share, password: &Password) -> Result<PasswordHash> {
        let password = &password.prepared();
        let salt = Salt::new(&self.random.bytes::<16>());
        let salt = salt.map_err(|cause| Error::internal("password hash", cause))?;
        let (hash, took) = self.output_of(share, self.function(), password, salt.as_ref().into()).await?;
        self.timing.note_own(took);
        let params = ParamsString::try_from(self.argon2.params());
        let params = params.map_err(|cause| Error::internal("password hash", cause))?;
        let (algorithm, version) = (ALGORITHM.ident(), Some(VERSION.into()));
        let hash = Phc { algorithm, version, params, salt: Some(salt), hash: Some(hash) };
        Ok(PasswordHash::from(hash.to_string()))
    }

    /// Verifies a password against a hash. Also returns how long a refusal must still wait.
    ///
    /// New hashes are of the prepared form. An imported hash, or one of an earlier release, can be of what was typed. So
    /// a wrong password that is not in its prepared form costs a second hash, whether or not the account exists.
    ///
    /// Without a hash, or for an account without a password, the same work is done and its result is ignored, so that the
    /// time does not reveal whether an account exists. The returned wait hides which kind of hash an account of the tenant has; see [`Timing`].
    pub(crate) async fn verify(
        &self,
        share: Share,
        tenant: TenantId,
        password: &Password,
        hash: Option<&PasswordHash>,
    ) -> Result<(Verified, Duration)> {
        let stored = hash.filter(|hash| !hash.is_unset());
        let stored = stored.map(|hash| keyed::parse(hash, &self.secrets)).transpose()?;
        let (function, salt, expected) = match stored {
            Some(StoredHash { function, salt, expected }) => (function, salt, Some(expected)),
            None => (self.function(), self.random.bytes::<16>().into(), None),
        };
        let (prepared, is_outdated) = (password.prepared(), !function.is_that_of_new(&self.argon2));
        let (is_own, kind) = (self.is_own(&function), (function.cost(), function.work()));
        let is_prepared = prepared.expose() == password.expose();
        // A NUL could be what the function adds itself, so the same work is done and its result is ignored.
        let is_verifiable = function.distinguishes_nul() || !password.expose().contains('\0');
        let mut left = Duration::ZERO;
        for (tried, is_form_of_new) in [(&prepared, true), (password, false)] {
            if is_prepared && !is_form_of_new {
                break;
            }
            let (output, took) = self.output_of(share, function.clone(), tried, salt.clone()).await?;
            if is_own {
                self.timing.note_own(took);
            } else {
                self.timing.note(tenant, kind, work_of(self.argon2.params()), took);
            }
            left += self.timing.left(tenant, took);
            // The comparison takes constant time.
            if expected.as_ref().is_some_and(|expected| output == *expected) && is_verifiable {
                let is_to_be_replaced = (is_outdated || !is_form_of_new) && function.reads_all_of(tried);
                return Ok((if is_to_be_replaced { Verified::YesButOutdated } else { Verified::Yes }, left));
            }
        }
        Ok((Verified::No, left))
    }

    /// Returns the function for new hashes.
    fn function(&self) -> Function {
        Function::Argon2(ALGORITHM, VERSION, self.argon2.clone())
    }

    /// Whether a function has the cost of new hashes.
    fn is_own(&self, function: &Function) -> bool {
        function.cost() == self.function().cost()
    }

    async fn output_of(
        &self,
        share: Share,
        function: Function,
        password: &Password,
        salt: Box<[u8]>,
    ) -> Result<(Output, Duration)> {
        let (password, usual, needed) = (password.clone(), self.argon2.params().block_count(), function.blocks());
        let load = Load {
            weight: function.work() as f64 / work_of(self.argon2.params()) as f64,
            needs_more_memory: function.memory_kib() > self.argon2.params().m_cost().into(),
        };
        let hash: HashFn = Arc::new(move |memory| {
            if memory.len() < needed {
                let missing = memory.try_reserve_exact(needed - memory.len());
                missing.map_err(|cause| Error::internal("memory for a password hash", cause))?;
                memory.resize(needed, Block::default());
            }
            let output = function.output(&password, &salt, memory);
            // An imported hash needed more memory than usual: release it.
            if memory.len() > usual {
                *memory = Vec::new();
            }
            output
        });
        let HashResult { output, waited, took } =
            self.workers.make(share, load, hash).await.inspect_err(|error| self.observe_refusal(error))?;
        if let Some(observer) = &self.observer {
            observer.password_hashed(waited, took);
        }
        Ok((output?, took))
    }

    fn observe_refusal(&self, error: &Error) {
        if let (Error::Overloaded { .. }, Some(observer)) = (error, &self.observer) {
            observer.password_refused();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::sync::mpsc;

    use argon2::{Algorithm, PasswordHasher as _, PasswordVerifier as _, Version};

    use super::*;
    use crate::hashing::function::Cost;
    use iam_model::random::SystemRandom;

    const TENANT: TenantId = TenantId::NONE;

    fn hasher(memory_kib: u32) -> PasswordHasher {
        let cost = HashingCost { memory_kib, passes: 1, lanes: 1 };
        let secrets = SecretCipher::new([1; 32]).unwrap();
        PasswordHasher::new(cost, Duration::from_secs(30), None, Arc::new(SystemRandom), secrets).unwrap()
    }

    #[tokio::test]
    async fn a_password_verifies_against_its_own_hash_only() {
        let hasher = hasher(64);
        let hash = hasher.hash_any(Share::SYSTEM, &"Passw0rd!".into()).await.unwrap();
        assert!(hash.expose().starts_with("$argon2id$v=19$m=64,t=1,p=1$"));
        assert_eq!(
            hasher.verify(Share::SYSTEM, TENANT, &"Passw0rd!".into(), Some(&hash)).await.unwrap().0,
            Verified::Yes
        );
        assert_eq!(
            hasher.verify(Share::SYSTEM, TENANT, &"Passw0rd?".into(), Some(&hash)).await.unwrap().0,
            Verified::No
        );
        assert_eq!(hasher.verify(Share::SYSTEM, TENANT, &"Passw0rd!".into(), None).await.unwrap().0, Verified::No);
    }

    #[tokio::test]
    async fn a_password_is_accepted_in_every_form_in_which_it_can_be_typed() {
        let hasher = hasher(64);
        let hash = hasher.hash_any(Share::SYSTEM, &"Passe\u{301} 1!".into()).await.unwrap();
        for (typed, expected) in [
            ("Passé 1!", Verified::Yes),
            ("Passe\u{301} 1!", Verified::Yes),
            ("Passé\u{a0}1!", Verified::Yes),
            ("Passe 1!", Verified::No),
            ("Passé 1! ", Verified::No),
        ] {
            let (verified, _) = hasher.verify(Share::SYSTEM, TENANT, &typed.into(), Some(&hash)).await.unwrap();
            assert_eq!(verified, expected, "{typed:?}");
        }
    }

    /// An earlier release, or another system, has hashed the bytes as they were typed.
    #[tokio::test]
    async fn a_hash_of_what_was_typed_is_accepted_and_replaced() {
        let hasher = hasher(64);
        let params = Params::new(64, 1, 1, None).unwrap();
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let typed: Password = "Passe\u{301}\u{a0}1!".into();
        let theirs: PasswordHash =
            argon2.hash_password_with_salt(typed.expose().as_bytes(), &[7; 16]).unwrap().to_string().into();
        let verify = async |password: &str| {
            hasher.verify(Share::SYSTEM, TENANT, &password.into(), Some(&theirs)).await.unwrap().0
        };
        assert_eq!(verify(typed.expose()).await, Verified::YesButOutdated);
        assert_eq!(verify("Passé 1!").await, Verified::No);
        let replaced = hasher.hash_any(Share::SYSTEM, &typed).await.unwrap();
        let (verified, _) = hasher.verify(Share::SYSTEM, TENANT, &"Passé 1!".into(), Some(&replaced)).await.unwrap();
        assert_eq!(verified, Verified::Yes);
    }

    /// The `argon2` crate makes and accepts the same hashes, also in reused memory.
    #[tokio::test]
    async fn hashes_are_compatible_with_the_argon2_crate() {
        let (hasher, argon2) = (hasher(64), Argon2::default());
        for password in ["Passw0rd!", "Correct-Horse-7!"] {
            let hash = hasher.hash_any(Share::SYSTEM, &password.into()).await.unwrap();
            argon2.verify_password(password.as_bytes(), hash.expose()).unwrap();
            let theirs = argon2.hash_password_with_salt(password.as_bytes(), &[7; 16]).unwrap().to_string();
            let (verified, _) =
                hasher.verify(Share::SYSTEM, TENANT, &password.into(), Some(&theirs.into())).await.unwrap();
            assert_eq!(verified, Verified::YesButOutdated);
        }
        // Other variants of Argon2 are imported.
        for (algorithm, version) in [(Algorithm::Argon2i, Version::V0x10), (Algorithm::Argon2d, Version::V0x13)] {
            let params = Params::new(128, 2, 2, Some(20)).unwrap();
            let theirs = Argon2::new(algorithm, version, params).hash_password_with_salt(b"Passw0rd!", &[7; 16]);
            let (verified, _) = hasher
                .verify(Share::SYSTEM, TENANT, &"Passw0rd!".into(), Some(&theirs.unwrap().to_string().into()))
                .await
                .unwrap();
            assert_eq!(verified, Verified::YesButOutdated);
        }
    }

    #[tokio::test]
    async fn the_memory_for_an_expensive_hash_is_released() {
        let (mut usual, expensive) = (hasher(64), hasher(1024));
        usual.workers = Workers::with_threads(NonZero::<usize>::MIN, Duration::ZERO, Duration::MAX);
        let hash = expensive.hash_any(Share::SYSTEM, &"Passw0rd!".into()).await.unwrap();
        for (password, memory) in [(None, 64), (Some(&hash), 0), (None, 64)] {
            usual.verify(Share::SYSTEM, TENANT, &"Passw0rd!".into(), password).await.unwrap();
            let (tell, told) = mpsc::channel();
            let look = move |blocks: &mut Vec<Block>| {
                tell.send(blocks.capacity()).unwrap();
                Ok(Output::new(&[7; 32]).unwrap())
            };
            usual.workers.make(Share::SYSTEM, Load::USUAL, Arc::new(look)).await.unwrap();
            assert_eq!(told.recv().unwrap(), memory);
        }
    }

    /// The pepper of Devise is appended to the password. The values are of Python's bcrypt.
    #[cfg(feature = "bcrypt")]
    #[tokio::test]
    async fn a_hash_with_a_pepper_is_verified_and_replaced() {
        let hasher = hasher(64);
        let key = hasher.hash_key("a pepper of devise".into()).unwrap();
        let theirs = "$2b$10$9/oL6xk0eBQ4Fx9O4CbTJuJKFg2ctTQbuvxw6HRmiAtjXIqxoziuq";
        let stored = hasher.accept(theirs.into(), Some(&key), true).unwrap();
        assert!(!stored.expose().contains("pepper"));
        for (password, expected) in
            [("Passw0rd!", Verified::YesButOutdated), ("Passw0rd!a pepper of devise", Verified::No)]
        {
            let (verified, _) = hasher.verify(Share::SYSTEM, TENANT, &password.into(), Some(&stored)).await.unwrap();
            assert_eq!(verified, expected, "{password}");
        }
        // A tenant cannot import what this service has encrypted.
        assert!(hasher.accept(stored, None, true).is_err());
        assert!(hasher.hash_key("".into()).is_err() && hasher.hash_key("x".repeat(257).into()).is_err());
    }

    #[tokio::test]
    async fn an_invalid_stored_hash_is_an_error() {
        for text in
            ["", "hunter2", "$argon2id$v=19$m=64,t=1,p=1", "$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHRzYWx0", "$2b$10$x"]
        {
            let verified = hasher(64).verify(Share::SYSTEM, TENANT, &"x".into(), Some(&text.into())).await;
            assert!(matches!(verified, Err(Error::Internal(_))), "{text}");
        }
    }

    /// An expensive hash would cost its time and memory at every login, and the time would show whose hash it is.
    #[tokio::test]
    async fn a_hash_that_differs_from_new_ones_is_replaced() {
        let hasher = hasher(64);
        let (id, new) = (Algorithm::Argon2id, Version::V0x13);
        for (algorithm, version, (memory, passes, lanes, length), expected) in [
            (id, new, (64, 1, 1, 32), Verified::Yes),
            (id, new, (32, 1, 1, 32), Verified::YesButOutdated),
            (id, new, (128, 1, 1, 32), Verified::YesButOutdated),
            (id, new, (64, 2, 1, 32), Verified::YesButOutdated),
            (id, new, (64, 1, 2, 32), Verified::YesButOutdated),
            (id, new, (64, 1, 1, 16), Verified::YesButOutdated),
            (id, Version::V0x10, (64, 1, 1, 32), Verified::YesButOutdated),
            (Algorithm::Argon2i, new, (64, 1, 1, 32), Verified::YesButOutdated),
        ] {
            let params = Params::new(memory, passes, lanes, Some(length)).unwrap();
            let theirs = Argon2::new(algorithm, version, params).hash_password_with_salt(b"Passw0rd!", &[7; 16]);
            let theirs = PasswordHash::from(theirs.unwrap().to_string());
            let (verified, _) = hasher.verify(Share::SYSTEM, TENANT, &"Passw0rd!".into(), Some(&theirs)).await.unwrap();
            assert_eq!(verified, expected, "{}", theirs.expose());
        }
    }

    /// bcrypt reads only 72 bytes. The bytes after them may be wrong or missing, so a new hash could be that of another
    /// password.
    #[cfg(feature = "bcrypt")]
    #[tokio::test]
    async fn a_password_of_which_bcrypt_may_not_read_all_is_not_rehashed() {
        let read = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        let hash = PasswordHash::from("$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui");
        for (password, expected) in [
            (read.to_owned(), Verified::Yes),
            (format!("{read}!"), Verified::Yes),
            (format!("{read} and more"), Verified::Yes),
        ] {
            let (verified, _) =
                hasher(64).verify(Share::SYSTEM, TENANT, &password.as_str().into(), Some(&hash)).await.unwrap();
            assert_eq!(verified, expected, "{password}");
        }
    }

    /// The functions of other systems cannot distinguish these passwords from the right one.
    #[tokio::test]
    async fn a_password_with_a_nul_is_wrong_for_a_hash_of_another_system() {
        let hasher = hasher(64);
        let own = hasher.hash_any(Share::SYSTEM, &"Passw0rd!\0".into()).await.unwrap();
        for (hash, password, is_right) in [
            ("$pbkdf2$1200$AAECAwQFBgcICQoLDA0ODw$V1Uj4sMq5YkJt/j67oKaOBYma3A", "Passw0rd!", true),
            ("$pbkdf2$1200$AAECAwQFBgcICQoLDA0ODw$V1Uj4sMq5YkJt/j67oKaOBYma3A", "Passw0rd!\0", false),
            (
                "$scrypt$ln=4,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$zqOzPzQQK0yTFY5g6gNJJh8Zaeu+S8ZsvIRSa/Ea1zc",
                "Passw0rd!\0\0",
                false,
            ),
            #[cfg(feature = "bcrypt")]
            ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U", true),
            #[cfg(feature = "bcrypt")]
            ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U\0U*U", false),
            (own.expose(), "Passw0rd!\0", true),
            (own.expose(), "Passw0rd!", false),
        ] {
            let (verified, _) =
                hasher.verify(Share::SYSTEM, TENANT, &password.into(), Some(&hash.into())).await.unwrap();
            assert_eq!(verified != Verified::No, is_right, "{hash} {password:?}");
        }
    }

    #[tokio::test]
    async fn a_refusal_in_a_tenant_takes_as_long_for_every_account() {
        let hasher = hasher(64);
        let known = hasher.hash_any(Share::SYSTEM, &"Passw0rd!".into()).await.unwrap();
        let hour = Duration::from_secs(3600);
        let expensive = (Cost::Pbkdf2 { rounds: NonZero::<u32>::MAX, length: 32 }, u64::MAX);
        hasher.timing.note(TENANT, expensive, 64, hour);
        let imported = "$pbkdf2$1200$AAECAwQFBgcICQoLDA0ODw$V1Uj4sMq5YkJt/j67oKaOBYma3A".into();
        for (password, hash) in [
            ("Passw0rd?", None),
            ("Passw0rd?", Some(&known)),
            ("Passw0rd?", Some(&imported)),
            // A right password may be refused for another reason.
            ("Passw0rd!", Some(&known)),
        ] {
            let (_, left) = hasher.verify(Share::SYSTEM, TENANT, &password.into(), hash).await.unwrap();
            assert!(left > hour && left < hour * 2, "{password}: {left:?}");
        }
    }

    #[tokio::test]
    async fn a_stored_hash_above_the_maximum_cost_is_an_error() {
        let greedy = PasswordHash::from("$argon2id$v=19$m=4194304,t=1,p=1$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng");
        assert!(matches!(
            hasher(64).verify(Share::SYSTEM, TENANT, &"x".into(), Some(&greedy)).await,
            Err(Error::Internal(_))
        ));
    }
}
