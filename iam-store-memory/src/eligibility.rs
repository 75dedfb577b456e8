use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::change::EligibilityChange;
use iam_model::eligibility::{Eligibility, Eligible};
use iam_model::id::{EligibilityId, RoleId, TenantId, UserId};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{EligibilityStore, EligibilityTransaction};
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold, newest_first, page};

#[async_trait]
impl EligibilityStore for MemoryStore {
    async fn eligibility(&self, tenant: TenantId, id: EligibilityId) -> Result<Option<Eligibility>, StoreError> {
        Ok(self.tenant_state(tenant).eligibilities.get(&id).cloned())
    }

    async fn eligibilities(
        &self,
        tenant: TenantId,
        visible_scope: &VisibleScope,
        request: PageRequest,
    ) -> Result<Page<Eligibility>, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(page(&state.sorted_eligibilities(|found| state.is_visible(visible_scope, found.organization_id)), request))
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
        Ok(self.tenant_state(tenant).sorted_eligibilities(names).into_iter().cloned().collect())
    }
}

#[async_trait]
impl EligibilityTransaction for MemoryTransaction {
    async fn eligibility(&mut self, id: EligibilityId) -> Result<Option<Eligibility>, StoreError> {
        Ok(self.draft.eligibilities.get(&id).cloned())
    }

    async fn all_eligibilities(&mut self) -> Result<Vec<Eligibility>, StoreError> {
        Ok(self.draft.sorted_eligibilities(|_| true).into_iter().cloned().collect())
    }

    async fn eligibilities_led_to_by(&mut self, roles: &[RoleId]) -> Result<Vec<Eligibility>, StoreError> {
        let is_led_to = |found: &Eligibility| roles.iter().any(|role| found.is_led_to_by(*role));
        Ok(self.draft.sorted_eligibilities(is_led_to).into_iter().cloned().collect())
    }
}

impl TenantState {
    /// The eligibilities that pass, newest first, then by identifier.
    fn sorted_eligibilities(&self, passes: impl Fn(&Eligibility) -> bool) -> Vec<&Eligibility> {
        let mut found: Vec<&Eligibility> = self.eligibilities.values().filter(|found| passes(found)).collect();
        newest_first(&mut found, |eligibility| (eligibility.created_at, eligibility.id));
        found
    }

    pub(super) fn write_eligibility(&mut self, change: &EligibilityChange) -> Result<(), StoreError> {
        match change {
            EligibilityChange::Create { eligibility, .. } => {
                hold(Constraint::Reference, self.has_what_it_names(eligibility))?;
                self.eligibilities.insert(eligibility.id, eligibility.clone());
            }
            EligibilityChange::Update { after, .. } => {
                let is_known = self.has_optional_role(after.approver_role_id);
                let stored = self.eligibilities.get_mut(&after.id).ok_or(StoreError::Missing("eligibility"))?;
                hold(Constraint::Reference, is_known)?;
                stored.clone_from(after);
            }
            EligibilityChange::Delete { eligibilities, .. } => {
                for eligibility in eligibilities {
                    self.eligibilities.remove(&eligibility.id);
                }
            }
        }
        Ok(())
    }

    fn has_what_it_names(&self, eligibility: &Eligibility) -> bool {
        self.roles.contains_key(&eligibility.role_id)
            && eligibility.organization_id.is_none_or(|id| self.organizations.contains_key(&id))
            && eligibility.eligible.user().is_none_or(|user| self.users.contains_key(&user))
            && self.has_optional_role(eligibility.eligible.held_role())
            && self.has_optional_role(eligibility.approver_role_id)
    }

    fn has_optional_role(&self, role: Option<RoleId>) -> bool {
        role.is_none_or(|role| self.roles.contains_key(&role))
    }
}
