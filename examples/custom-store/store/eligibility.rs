use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::change::EligibilityChange;
use iam_model::eligibility::{Eligibility, Eligible};
use iam_model::id::{EligibilityId, RoleId, TenantId, UserId};
use iam_model::organization::Organization;
use iam_model::page::{Page, PageRequest};
use iam_model::role::Role;
use iam_model::store::{EligibilityStore, EligibilityTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::User;

use super::rows::{Draft, Row, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold, newest_first, page};

impl Row for Eligibility {
    const TABLE: &'static str = "eligibilities";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

#[async_trait]
impl EligibilityStore for RedbStore {
    async fn eligibility(&self, tenant: TenantId, id: EligibilityId) -> Result<Option<Eligibility>, StoreError> {
        self.read(tenant, |view| view.get(&key(id)))
    }

    async fn eligibilities(
        &self,
        tenant: TenantId,
        scope: &VisibleScope,
        request: PageRequest,
    ) -> Result<Page<Eligibility>, StoreError> {
        let found = self.read(tenant, |view| {
            let organizations = view.organizations()?;
            view.select(|found: &Eligibility| organizations.is_visible(scope, found.organization_id))
        })?;
        Ok(page(sorted(found), request))
    }

    async fn eligibilities_of(
        &self,
        tenant: TenantId,
        user: UserId,
        held_roles: &[RoleId],
    ) -> Result<Vec<Eligibility>, StoreError> {
        let names = |found: &Eligibility| match found.eligible {
            Eligible::User(named) => named == user,
            Eligible::HoldersOf(role) => held_roles.contains(&role),
        };
        Ok(sorted(self.read(tenant, |view| view.select(names))?))
    }
}

#[async_trait]
impl EligibilityTransaction for RedbTransaction {
    async fn eligibility(&mut self, id: EligibilityId) -> Result<Option<Eligibility>, StoreError> {
        self.view().get(&key(id))
    }

    async fn all_eligibilities(&mut self) -> Result<Vec<Eligibility>, StoreError> {
        Ok(sorted(self.view().all()?))
    }

    async fn eligibilities_led_to_by(&mut self, roles: &[RoleId]) -> Result<Vec<Eligibility>, StoreError> {
        let is_led_to = |found: &Eligibility| roles.iter().any(|role| found.is_led_to_by(*role));
        Ok(sorted(self.view().select(is_led_to)?))
    }
}

fn sorted(found: Vec<Eligibility>) -> Vec<Eligibility> {
    newest_first(found, |eligibility| (eligibility.created_at, eligibility.id))
}

impl Draft<'_> {
    pub(super) fn write_eligibility(self, change: &EligibilityChange) -> Result<(), StoreError> {
        match change {
            EligibilityChange::Create { eligibility, .. } => {
                self.hold_role(Some(eligibility.role_id))?;
                self.hold_role(eligibility.eligible.held_role())?;
                self.hold_role(eligibility.approver_role_id)?;
                if let Some(organization) = eligibility.organization_id {
                    hold(Constraint::Reference, self.view().has::<Organization>(&key(organization))?)?;
                }
                if let Some(user) = eligibility.eligible.user() {
                    hold(Constraint::Reference, self.view().has::<User>(&key(user))?)?;
                }
                self.put(eligibility.clone())
            }
            EligibilityChange::Update { after, .. } => {
                self.hold_role(after.approver_role_id)?;
                if !self.view().has::<Eligibility>(&key(after.id))? {
                    return Err(StoreError::Missing("eligibility"));
                }
                self.put(after.clone())
            }
            EligibilityChange::Delete { eligibilities, .. } => eligibilities
                .iter()
                .try_for_each(|eligibility| self.remove::<Eligibility>(&key(eligibility.id)).map(drop)),
        }
    }

    /// Refuses a role that does not exist.
    fn hold_role(self, role: Option<RoleId>) -> Result<(), StoreError> {
        match role {
            Some(role) => hold(Constraint::Reference, self.view().has::<Role>(&key(role))?),
            None => Ok(()),
        }
    }
}
