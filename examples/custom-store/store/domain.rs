use async_trait::async_trait;
use iam_model::change::DomainChange;
use iam_model::clock::Timestamp;
use iam_model::domain::Domain;
use iam_model::id::{DomainId, TenantId};
use iam_model::store::{DomainStore, DomainTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::validate::DomainName;

use super::rows::{Draft, Row, everywhere, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold};

impl Row for Domain {
    const TABLE: &'static str = "domains";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

#[async_trait]
impl DomainStore for RedbStore {
    async fn domain(&self, tenant: TenantId, id: DomainId) -> Result<Option<Domain>, StoreError> {
        self.read(tenant, |view| view.get(&key(id)))
    }

    async fn domains(&self, tenant: TenantId) -> Result<Vec<Domain>, StoreError> {
        let mut domains = self.read(tenant, |view| view.all::<Domain>())?;
        domains.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
        Ok(domains)
    }

    async fn verified_domain(&self, name: &DomainName) -> Result<Option<Domain>, StoreError> {
        let mut domains = self.read_all(everywhere::<Domain>)?.into_iter().map(|(_, domain)| domain);
        Ok(domains.find(|domain| domain.verified_at.is_some() && domain.name == *name))
    }

    async fn domains_to_check(&self, before: Timestamp, limit: u32) -> Result<Vec<Domain>, StoreError> {
        let is_due = |domain: &Domain| {
            domain.verified_at.is_some() && !domain.is_trusted && domain.checked_at.is_some_and(|at| at <= before)
        };
        let domains = self.read_all(everywhere::<Domain>)?.into_iter().map(|(_, domain)| domain);
        let mut due: Vec<Domain> = domains.filter(is_due).collect();
        due.sort_by_key(|domain| (domain.checked_at, domain.id));
        due.truncate(limit as usize);
        Ok(due)
    }
}

#[async_trait]
impl DomainTransaction for RedbTransaction {
    async fn lock_domain(&mut self, id: DomainId) -> Result<Option<Domain>, StoreError> {
        self.view().get(&key(id))
    }

    async fn domain_named(&mut self, name: &DomainName) -> Result<Option<Domain>, StoreError> {
        Ok(self.view().all::<Domain>()?.into_iter().find(|domain| domain.name == *name))
    }

    async fn count_domains(&mut self) -> Result<u64, StoreError> {
        Ok(self.view().all::<Domain>()?.len() as u64)
    }
}

impl Draft<'_> {
    pub(super) fn write_domain(self, change: &DomainChange) -> Result<(), StoreError> {
        match change {
            DomainChange::Create(domain) => {
                self.hold_tenant()?;
                let is_taken = self.view().any(|other: &Domain| other.name == domain.name)?;
                hold(Constraint::Domain, !is_taken)?;
                self.hold_verified(domain)?;
                self.put(domain.clone())
            }
            DomainChange::Check { after, .. } => {
                let stored: Option<Domain> = self.view().get(&key(after.id))?;
                let checked = Domain {
                    verified_at: after.verified_at,
                    is_trusted: after.is_trusted,
                    checked_at: after.checked_at,
                    absent_since: after.absent_since,
                    ..stored.ok_or(StoreError::Missing("domain"))?
                };
                self.hold_verified(&checked)?;
                self.put(checked)
            }
            DomainChange::Delete(domain) => {
                let removed = self.remove::<Domain>(&key(domain.id))?;
                removed.then_some(()).ok_or(StoreError::Missing("domain"))
            }
        }
    }

    /// Returns a conflict if the domain is VERIFIED here and in another tenant.
    fn hold_verified(self, domain: &Domain) -> Result<(), StoreError> {
        let mut others = everywhere::<Domain>(self.rows())?.into_iter().filter(|(tenant, _)| *tenant != self.tenant);
        let is_taken = others.any(|(_, other)| other.verified_at.is_some() && other.name == domain.name);
        hold(Constraint::VerifiedDomain, domain.verified_at.is_none() || !is_taken)
    }
}
