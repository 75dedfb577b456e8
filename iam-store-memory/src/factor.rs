use async_trait::async_trait;
use iam_model::challenge::Challenge;
use iam_model::change::{ChallengeChange, FactorChange};
use iam_model::factor::Factor;
use iam_model::id::{TenantId, UserId};
use iam_model::store::{FactorStore, FactorTransaction};
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold};

#[async_trait]
impl FactorStore for MemoryStore {
    async fn factors(&self, tenant: TenantId, user: UserId) -> Result<Vec<Factor>, StoreError> {
        Ok(self.tenant_state(tenant).factors_of(user))
    }

    async fn recovery_codes_left(&self, tenant: TenantId, user: UserId) -> Result<u64, StoreError> {
        Ok(self.tenant_state(tenant).recovery_codes.get(&user).map_or(0, |codes| codes.len() as u64))
    }

    async fn people_with_factor(&self, tenant: TenantId, limit: u32) -> Result<u64, StoreError> {
        let state = self.tenant_state(tenant);
        let counted = state.users.values().filter(|user| user.can_administer() && state.has_factor(user.id));
        Ok(counted.take(limit as usize).count() as u64)
    }

    async fn challenge(&self, tenant: TenantId, token_hash: &[u8; 32]) -> Result<Option<Challenge>, StoreError> {
        Ok(self.tenant_state(tenant).challenges.get(token_hash).cloned())
    }
}

#[async_trait]
impl FactorTransaction for MemoryTransaction {
    async fn factors(&mut self, user: UserId) -> Result<Vec<Factor>, StoreError> {
        Ok(self.draft.factors_of(user))
    }

    async fn recovery_codes(&mut self, user: UserId) -> Result<Vec<[u8; 32]>, StoreError> {
        Ok(self.draft.recovery_codes.get(&user).into_iter().flatten().copied().collect())
    }

    async fn lock_challenge(&mut self, token_hash: &[u8; 32]) -> Result<Option<Challenge>, StoreError> {
        Ok(self.draft.challenges.get(token_hash).cloned())
    }
}

impl MemoryTransaction {
    pub(super) fn write_factor(&mut self, change: &FactorChange) -> Result<(), StoreError> {
        if let FactorChange::Register(factor) = change {
            let other_has_passkey = self.store.read(|state| {
                let others = state.tenants.iter().filter(|(tenant, _)| **tenant != factor.tenant_id);
                others.flat_map(|(_, state)| state.factors.values()).any(|other| other.is_same_passkey(factor))
            });
            hold(Constraint::Passkey, !other_has_passkey)?;
        }
        self.draft.write_factor(change)
    }
}

impl TenantState {
    fn factors_of(&self, user: UserId) -> Vec<Factor> {
        let mut factors: Vec<Factor> = self.factors.values().filter(|factor| factor.user_id == user).cloned().collect();
        factors.sort_by_key(|factor| (factor.created_at, factor.id));
        factors
    }

    pub(super) fn has_factor(&self, user: UserId) -> bool {
        self.factors.values().any(|factor| factor.user_id == user && factor.is_confirmed())
    }

    fn write_factor(&mut self, change: &FactorChange) -> Result<(), StoreError> {
        match change {
            FactorChange::Prepare(factor) => {
                self.factors.retain(|_, stored| stored.user_id != factor.user_id || stored.is_confirmed());
                self.insert_factor(factor)?;
            }
            FactorChange::Register(factor) => self.insert_factor(factor)?,
            FactorChange::Confirm(after) | FactorChange::Rename { after, .. } | FactorChange::Use { after, .. } => {
                let stored = self.factors.get_mut(&after.id).ok_or(StoreError::Missing("factor"))?;
                *stored = after.clone();
            }
            FactorChange::Remove { user, factors, is_last, .. } => {
                self.factors.retain(|id, _| factors.iter().all(|removed| removed.id != *id));
                if *is_last {
                    self.recovery_codes.remove(user);
                }
            }
            FactorChange::IssueRecoveryCodes { user, hashes } => {
                hold(Constraint::Reference, self.users.contains_key(user))?;
                self.recovery_codes.insert(*user, hashes.iter().copied().collect());
            }
            FactorChange::UseRecoveryCode { user, hash, .. } => {
                let is_left = self.recovery_codes.get_mut(user).is_some_and(|codes| codes.remove(hash));
                is_left.then_some(()).ok_or(StoreError::Missing("recovery code"))?;
            }
        }
        Ok(())
    }

    fn insert_factor(&mut self, factor: &Factor) -> Result<(), StoreError> {
        hold(Constraint::Reference, self.users.contains_key(&factor.user_id))?;
        hold(Constraint::Passkey, !self.factors.values().any(|stored| stored.is_same_passkey(factor)))?;
        self.factors.insert(factor.id, factor.clone());
        Ok(())
    }

    pub(super) fn write_challenge(&mut self, change: &ChallengeChange) -> Result<(), StoreError> {
        match change {
            ChallengeChange::Issue(challenge) => {
                self.challenges.insert(challenge.token_hash, challenge.clone());
            }
            ChallengeChange::Update(challenge) => {
                let stored = self.challenges.get_mut(&challenge.token_hash).ok_or(StoreError::Missing("challenge"))?;
                stored.tries = challenge.tries;
                stored.ceremony.clone_from(&challenge.ceremony);
            }
            ChallengeChange::End(challenge) => {
                self.challenges.remove(&challenge.token_hash);
            }
            ChallengeChange::EndAll(user) => {
                self.challenges.retain(|_, challenge| challenge.user_id != Some(*user));
            }
            ChallengeChange::EndAllFor(purpose) => {
                self.challenges.retain(|_, challenge| challenge.purpose != *purpose);
            }
            ChallengeChange::EndAllOfTenant => self.challenges.clear(),
        }
        Ok(())
    }
}
