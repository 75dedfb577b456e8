//! Argon2id (RFC 9106) off the async threads, behind a limit.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash as Phc;
use argon2::{Algorithm, Argon2, Params, PasswordHasher as _, PasswordVerifier as _, Version};
use tokio::sync::Semaphore;

use super::policy::AcceptedPassword;
use crate::error::{Error, Result};
use crate::random::Random;
use crate::secret::{Password, PasswordHash};

/// What one password hash costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashingCost {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Threads' worth of lanes.
    pub lanes: u32,
}

impl Default for HashingCost {
    /// OWASP's first choice for Argon2id: 19 MiB, two passes, one lane.
    fn default() -> Self {
        Self { memory_kib: 19 * 1024, passes: 2, lanes: 1 }
    }
}

/// The most that a stored hash may ask for: an imported one must not exhaust the machine.
const MAX_MEMORY_KIB: u32 = 256 * 1024;
const MAX_PASSES: u32 = 16;
const MAX_LANES: u32 = 16;

/// Hashes and verifies passwords, as many at a time as the machine has cores.
#[derive(Clone)]
pub struct PasswordHasher {
    argon2: Argon2<'static>,
    permits: Arc<Semaphore>,
    random: Arc<dyn Random>,
}

/// What became of verifying a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verified {
    /// It is not the password.
    No,
    /// It is.
    Yes,
    /// It is, and the hash is weaker than what is made today.
    YesButWeak,
}

impl PasswordHasher {
    /// A hasher that makes hashes of this cost.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] when Argon2 does not allow the cost.
    pub fn new(cost: HashingCost, random: Arc<dyn Random>) -> Result<Self> {
        let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, None)
            .map_err(|cause| Error::internal("password hashing cost", cause))?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            argon2: Argon2::new(Algorithm::Argon2id, Version::V0x13, params),
            permits: Arc::new(Semaphore::new(cores)),
            random,
        })
    }

    /// The hash of a new password, in PHC string form.
    pub(crate) async fn hash(&self, password: &AcceptedPassword) -> Result<PasswordHash> {
        self.hash_any(password.password()).await
    }

    /// The hash of a password that is known to be right, whatever the policy says today.
    pub(crate) async fn hash_any(&self, password: &Password) -> Result<PasswordHash> {
        let salt: [u8; 16] = self.random.bytes();
        let (argon2, password) = (self.argon2.clone(), password.clone());
        let hash = move || argon2.hash_password_with_salt(password.expose().as_bytes(), &salt);
        let hash: Phc = self.run(hash).await?.map_err(|cause| Error::internal("password hash", cause))?;
        Ok(PasswordHash::from(hash.to_string()))
    }

    /// Whether this is the password that was hashed.
    ///
    /// Without a hash the same work is done for nothing, so that the time does not tell whether an account exists.
    pub(crate) async fn verify(&self, password: &Password, hash: Option<&PasswordHash>) -> Result<Verified> {
        let Some(hash) = hash else {
            self.hash_any(password).await?;
            return Ok(Verified::No);
        };
        let hash = Phc::new(hash.expose()).map_err(|cause| Error::internal("stored password hash", cause))?;
        let params = Params::try_from(&hash).map_err(|cause| Error::internal("stored password hash", cause))?;
        if params.m_cost() > MAX_MEMORY_KIB || params.t_cost() > MAX_PASSES || params.p_cost() > MAX_LANES {
            return Err(Error::internal("stored password hash", "its cost is beyond what is allowed"));
        }
        let is_weak = hash.algorithm != Algorithm::Argon2id.ident() || is_weaker(&params, self.argon2.params());
        let (argon2, password) = (self.argon2.clone(), password.clone());
        let verify = move || argon2.verify_password(password.expose().as_bytes(), &hash);
        Ok(match self.run(verify).await? {
            Err(_) => Verified::No,
            Ok(()) if is_weak => Verified::YesButWeak,
            Ok(()) => Verified::Yes,
        })
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|cause| Error::internal("password hashing", cause))?;
        // The permit goes along: a caller who gives up must not free a place that is still in use.
        let work = move || {
            let result = work();
            drop(permit);
            result
        };
        tokio::task::spawn_blocking(work).await.map_err(|cause| Error::internal("password hashing", cause))
    }
}

fn is_weaker(stored: &Params, wanted: &Params) -> bool {
    stored.m_cost() < wanted.m_cost() || stored.t_cost() < wanted.t_cost() || stored.p_cost() < wanted.p_cost()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SystemRandom;

    fn hasher(memory_kib: u32) -> PasswordHasher {
        let cost = HashingCost { memory_kib, passes: 1, lanes: 1 };
        PasswordHasher::new(cost, Arc::new(SystemRandom)).unwrap()
    }

    #[tokio::test]
    async fn a_password_verifies_against_its_own_hash_only() {
        let hasher = hasher(64);
        let hash = hasher.hash_any(&"Passw0rd!".into()).await.unwrap();
        assert!(hash.expose().starts_with("$argon2id$v=19$m=64,t=1,p=1$"));
        assert_eq!(hasher.verify(&"Passw0rd!".into(), Some(&hash)).await.unwrap(), Verified::Yes);
        assert_eq!(hasher.verify(&"Passw0rd?".into(), Some(&hash)).await.unwrap(), Verified::No);
        assert_eq!(hasher.verify(&"Passw0rd!".into(), None).await.unwrap(), Verified::No);
    }

    #[tokio::test]
    async fn a_hash_of_a_lower_cost_is_weak() {
        let hash = hasher(64).hash_any(&"Passw0rd!".into()).await.unwrap();
        assert_eq!(hasher(128).verify(&"Passw0rd!".into(), Some(&hash)).await.unwrap(), Verified::YesButWeak);
    }

    #[tokio::test]
    async fn a_stored_hash_cannot_ask_for_too_much() {
        let greedy = PasswordHash::from("$argon2id$v=19$m=4194304,t=1,p=1$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng");
        assert!(matches!(hasher(64).verify(&"x".into(), Some(&greedy)).await, Err(Error::Internal(_))));
    }
}
