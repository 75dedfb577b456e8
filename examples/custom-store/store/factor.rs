use std::collections::BTreeSet;

use async_trait::async_trait;
use iam_model::challenge::{Ceremony, Challenge, ChallengePurpose};
use iam_model::change::{ChallengeChange, FactorChange};
use iam_model::clock::Timestamp;
use iam_model::factor::{Factor, FactorKey, FactorKind};
use iam_model::id::{FactorId, TenantId, UserId};
use iam_model::session::ProviderSession;
use iam_model::store::{FactorStore, FactorTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::User;
use iam_model::validate::Name;
use serde::{Deserialize, Serialize};

use super::rows::{Draft, Keys, Row, View, everywhere, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold};

/// A second factor. `Factor` does not implement the traits of serde, because only a store may see its key.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct FactorRow(#[serde(with = "FactorFields")] Factor);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Factor")]
struct FactorFields {
    id: FactorId,
    tenant_id: TenantId,
    user_id: UserId,
    kind: FactorKind,
    name: Name,
    #[serde(with = "KeyBytes")]
    key: FactorKey,
    credential_id: Option<Vec<u8>>,
    counter: u64,
    created_at: Timestamp,
    confirmed_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "FactorKey")]
struct KeyBytes(Vec<u8>);

impl Row for FactorRow {
    const TABLE: &'static str = "factors";

    fn key(&self) -> Vec<u8> {
        key(self.0.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.0.tenant_id = tenant;
    }
}

/// The recovery codes that a user has left.
#[derive(Serialize, Deserialize)]
pub(super) struct RecoveryCodesRow {
    user: UserId,
    hashes: Vec<[u8; 32]>,
}

impl Row for RecoveryCodesRow {
    const TABLE: &'static str = "recovery_codes";

    fn key(&self) -> Vec<u8> {
        key(self.user)
    }
}

/// A proof of identity that has begun.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ChallengeRow(#[serde(with = "ChallengeFields")] pub(super) Challenge);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Challenge")]
struct ChallengeFields {
    tenant_id: TenantId,
    token_hash: [u8; 32],
    purpose: ChallengePurpose,
    user_id: Option<UserId>,
    tries: u32,
    #[serde(with = "ceremony")]
    ceremony: Option<Ceremony>,
    provider: Option<ProviderSession>,
    created_at: Timestamp,
    expires_at: Timestamp,
}

mod ceremony {
    use iam_model::challenge::Ceremony;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(ceremony: &Option<Ceremony>, to: S) -> Result<S::Ok, S::Error> {
        ceremony.as_ref().map(|Ceremony(state)| state).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Ceremony>, D::Error> {
        Ok(Option::<Vec<u8>>::deserialize(from)?.map(Ceremony))
    }
}

impl Row for ChallengeRow {
    const TABLE: &'static str = "challenges";

    fn key(&self) -> Vec<u8> {
        self.0.token_hash.to_vec()
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.0.tenant_id = tenant;
    }
}

#[async_trait]
impl FactorStore for RedbStore {
    async fn factors(&self, tenant: TenantId, user: UserId) -> Result<Vec<Factor>, StoreError> {
        self.read(tenant, |view| view.factors(user))
    }

    async fn recovery_codes_left(&self, tenant: TenantId, user: UserId) -> Result<u64, StoreError> {
        Ok(self.read(tenant, |view| view.recovery_codes(user))?.len() as u64)
    }

    async fn people_with_factor(&self, tenant: TenantId, limit: u32) -> Result<u64, StoreError> {
        self.read(tenant, |view| {
            let owners = view.users_with_factor()?;
            let passes = |user: &User| user.can_administer() && owners.contains(&user.id);
            Ok(view.take(Keys::all(), limit, passes)?.len() as u64)
        })
    }

    async fn challenge(&self, tenant: TenantId, token_hash: &[u8; 32]) -> Result<Option<Challenge>, StoreError> {
        self.read(tenant, |view| view.challenge(token_hash))
    }
}

#[async_trait]
impl FactorTransaction for RedbTransaction {
    async fn factors(&mut self, user: UserId) -> Result<Vec<Factor>, StoreError> {
        self.view().factors(user)
    }

    async fn recovery_codes(&mut self, user: UserId) -> Result<Vec<[u8; 32]>, StoreError> {
        self.view().recovery_codes(user)
    }

    async fn lock_challenge(&mut self, token_hash: &[u8; 32]) -> Result<Option<Challenge>, StoreError> {
        self.view().challenge(token_hash)
    }
}

impl View<'_> {
    /// The users who have a confirmed factor.
    pub(super) fn users_with_factor(self) -> Result<BTreeSet<UserId>, StoreError> {
        let confirmed = self.select(|FactorRow(factor)| factor.is_confirmed())?;
        Ok(confirmed.iter().map(|FactorRow(factor)| factor.user_id).collect())
    }

    pub(super) fn factors(self, user: UserId) -> Result<Vec<Factor>, StoreError> {
        let found = self.select(|FactorRow(factor)| factor.user_id == user)?;
        let mut factors: Vec<Factor> = found.into_iter().map(|FactorRow(factor)| factor).collect();
        factors.sort_by_key(|factor| (factor.created_at, factor.id));
        Ok(factors)
    }

    fn recovery_codes(self, user: UserId) -> Result<Vec<[u8; 32]>, StoreError> {
        Ok(self.get::<RecoveryCodesRow>(&key(user))?.map(|row| row.hashes).unwrap_or_default())
    }

    fn challenge(self, token_hash: &[u8; 32]) -> Result<Option<Challenge>, StoreError> {
        Ok(self.get(token_hash)?.map(|ChallengeRow(challenge)| challenge))
    }
}

impl Draft<'_> {
    pub(super) fn write_factor(self, change: &FactorChange) -> Result<(), StoreError> {
        match change {
            FactorChange::Prepare(factor) => {
                for former in self.view().factors(factor.user_id)?.iter().filter(|former| !former.is_confirmed()) {
                    self.remove::<FactorRow>(&key(former.id))?;
                }
                self.insert_factor(factor)
            }
            FactorChange::Register(factor) => self.insert_factor(factor),
            FactorChange::Confirm(after) | FactorChange::Rename { after, .. } | FactorChange::Use { after, .. } => {
                if !self.view().has::<FactorRow>(&key(after.id))? {
                    return Err(StoreError::Missing("factor"));
                }
                self.put(FactorRow(after.clone()))
            }
            FactorChange::Remove { user, factors, is_last, .. } => {
                factors.iter().try_for_each(|factor| self.remove::<FactorRow>(&key(factor.id)).map(drop))?;
                if *is_last {
                    self.remove::<RecoveryCodesRow>(&key(*user))?;
                }
                Ok(())
            }
            FactorChange::IssueRecoveryCodes { user, hashes } => {
                self.hold_user(*user)?;
                self.put(RecoveryCodesRow { user: *user, hashes: hashes.clone() })
            }
            FactorChange::UseRecoveryCode { user, hash, .. } => {
                let (used, hashes) =
                    self.view().recovery_codes(*user)?.into_iter().partition::<Vec<_>, _>(|it| it == hash);
                if used.is_empty() {
                    return Err(StoreError::Missing("recovery code"));
                }
                self.put(RecoveryCodesRow { user: *user, hashes })
            }
        }
    }

    fn insert_factor(self, factor: &Factor) -> Result<(), StoreError> {
        self.hold_user(factor.user_id)?;
        // Of every tenant: a passkey belongs to one user of the installation.
        let mut others = everywhere::<FactorRow>(self.rows())?.into_iter();
        let is_taken = others.any(|(_, FactorRow(other))| other.is_same_passkey(factor));
        hold(Constraint::Passkey, !is_taken)?;
        self.put(FactorRow(factor.clone()))
    }

    fn hold_user(self, user: UserId) -> Result<(), StoreError> {
        hold(Constraint::Reference, self.view().has::<User>(&key(user))?)
    }

    pub(super) fn write_challenge(self, change: &ChallengeChange) -> Result<(), StoreError> {
        match change {
            // No tenant is needed: a login by a passkey alone names none.
            ChallengeChange::Issue(challenge) => self.put(ChallengeRow(challenge.clone())),
            ChallengeChange::Update(challenge) => {
                if !self.view().has::<ChallengeRow>(&challenge.token_hash)? {
                    return Err(StoreError::Missing("challenge"));
                }
                self.put(ChallengeRow(challenge.clone()))
            }
            ChallengeChange::End(challenge) => self.remove::<ChallengeRow>(&challenge.token_hash).map(drop),
            ChallengeChange::EndAll(user) => {
                let ended = self.view().select(|ChallengeRow(challenge)| challenge.user_id == Some(*user))?;
                ended.iter().try_for_each(|row| self.remove::<ChallengeRow>(&row.key()).map(drop))
            }
            ChallengeChange::EndAllFor(purpose) => {
                let ended = self.view().select(|ChallengeRow(challenge)| challenge.purpose == *purpose)?;
                ended.iter().try_for_each(|row| self.remove::<ChallengeRow>(&row.key()).map(drop))
            }
            ChallengeChange::EndAllOfTenant => {
                let ended = self.view().select(|_: &ChallengeRow| true)?;
                ended.iter().try_for_each(|row| self.remove::<ChallengeRow>(&row.key()).map(drop))
            }
        }
    }
}
