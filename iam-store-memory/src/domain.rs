use async_trait::async_trait;
use iam_model::change::DomainChange;
use iam_model::clock::Timestamp;
use iam_model::domain::Domain;
use iam_model::id::{DomainId, TenantId};
use iam_model::store::{DomainStore, DomainTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::validate::DomainName;

use crate::state::{MemoryStore, MemoryTransaction, hold};

#[async_trait]
impl DomainStore for MemoryStore {
    async fn domain(&self, tenant: TenantId, id: DomainId) -> Result<Option<Domain>, StoreError> {
        Ok(self.tenant_state(tenant).domains.get(&id).cloned())
    }

    async fn domains(&self, tenant: TenantId) -> Result<Vec<Domain>, StoreError> {
        let mut domains: Vec<Domain> = self.tenant_state(tenant).domains.values().cloned().collect();
        domains.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
        Ok(domains)
    }

    async fn verified_domain(&self, name: &DomainName) -> Result<Option<Domain>, StoreError> {
        Ok(self.read(|state| {
            let mut domains = state.tenants.values().flat_map(|tenant| tenant.domains.values());
            domains.find(|domain| domain.verified_at.is_some() && domain.name == *name).cloned()
        }))
    }

    async fn domains_to_check(&self, before: Timestamp, limit: u32) -> Result<Vec<Domain>, StoreError> {
        let is_due = |domain: &&Domain| {
            domain.verified_at.is_some() && !domain.is_trusted && domain.checked_at.is_some_and(|at| at <= before)
        };
        Ok(self.read(|state| {
            let domains = state.tenants.values().flat_map(|tenant| tenant.domains.values());
            let mut due: Vec<&Domain> = domains.filter(is_due).collect();
            due.sort_by_key(|domain| (domain.checked_at, domain.id));
            due.into_iter().take(limit as usize).cloned().collect()
        }))
    }
}

#[async_trait]
impl DomainTransaction for MemoryTransaction {
    async fn lock_domain(&mut self, id: DomainId) -> Result<Option<Domain>, StoreError> {
        Ok(self.draft.domains.get(&id).cloned())
    }

    async fn domain_named(&mut self, name: &DomainName) -> Result<Option<Domain>, StoreError> {
        Ok(self.draft.domains.values().find(|domain| domain.name == *name).cloned())
    }

    async fn count_domains(&mut self) -> Result<u64, StoreError> {
        Ok(self.draft.domains.len() as u64)
    }
}

impl MemoryTransaction {
    pub(super) fn write_domain(&mut self, change: &DomainChange) -> Result<(), StoreError> {
        match change {
            DomainChange::Create(domain) => {
                hold(Constraint::Reference, self.draft.tenant.is_some())?;
                let is_free = self.draft.domains.values().all(|other| other.name != domain.name);
                hold(Constraint::Domain, is_free)?;
                self.hold_verified(domain)?;
                self.draft.domains.insert(domain.id, domain.clone());
            }
            DomainChange::Check { after, .. } => {
                let stored = self.draft.domains.get(&after.id).ok_or(StoreError::Missing("domain"))?;
                let checked = Domain {
                    verified_at: after.verified_at,
                    is_trusted: after.is_trusted,
                    checked_at: after.checked_at,
                    absent_since: after.absent_since,
                    ..stored.clone()
                };
                self.hold_verified(&checked)?;
                self.draft.domains.insert(checked.id, checked);
            }
            DomainChange::Delete(domain) => {
                self.draft.domains.remove(&domain.id).ok_or(StoreError::Missing("domain"))?;
            }
        }
        Ok(())
    }

    /// Returns a conflict if the domain is VERIFIED here and in another tenant.
    fn hold_verified(&self, domain: &Domain) -> Result<(), StoreError> {
        let is_taken = self.store.read(|state| {
            let others = state.tenants.iter().filter(|(tenant, _)| **tenant != self.tenant);
            let mut others = others.flat_map(|(_, state)| state.domains.values());
            others.any(|other| other.verified_at.is_some() && other.name == domain.name)
        });
        hold(Constraint::VerifiedDomain, domain.verified_at.is_none() || !is_taken)
    }
}
