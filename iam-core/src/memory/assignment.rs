use async_trait::async_trait;

use super::transaction::MemoryTransaction;
use super::{MemoryStore, TenantState, hold};
use crate::assignment::{Assignment, AssignmentChange, AssignmentStore, AssignmentTransaction, Grant};
use crate::error::{Constraint, StoreError};
use crate::id::{TenantId, UserId};
use crate::organization::OrganizationSummary;
use crate::user::UserStatus;

#[async_trait]
impl AssignmentStore for MemoryStore {
    async fn grants_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<Grant>, StoreError> {
        Ok(self.tenant_state(tenant).grants_of(user))
    }
}

#[async_trait]
impl AssignmentTransaction for MemoryTransaction {
    async fn lock_grants_of(&mut self, user: UserId) -> Result<Vec<Grant>, StoreError> {
        Ok(self.draft.grants_of(user))
    }

    async fn has_other_administrator(&mut self, than: UserId) -> Result<bool, StoreError> {
        let mut others = self.draft.users.values().filter(|user| user.id != than && user.status == UserStatus::Active);
        Ok(others.any(|user| self.draft.grants_of(user.id).iter().any(Grant::is_lasting_administration)))
    }
}

impl TenantState {
    pub(super) fn grants_of(&self, user: UserId) -> Vec<Grant> {
        let of_user = self.assignments.values().filter(|assignment| assignment.user_id == user);
        let mut grants: Vec<Grant> = of_user.filter_map(|assignment| self.grant(assignment)).collect();
        let order = |grant: &Grant| (std::cmp::Reverse(grant.assignment.created_at), grant.assignment.id);
        grants.sort_by_key(order);
        grants
    }

    fn grant(&self, assignment: &Assignment) -> Option<Grant> {
        let organization = assignment.organization_id.and_then(|id| self.organizations.get(&id));
        Some(Grant {
            assignment: assignment.clone(),
            role: self.roles.get(&assignment.role_id)?.clone(),
            organization: organization
                .map(|found| OrganizationSummary { id: found.id, name: found.name.as_str().to_owned() }),
        })
    }

    pub(super) fn write_assignment(&mut self, change: &AssignmentChange) -> Result<(), StoreError> {
        match change {
            AssignmentChange::Create { assignment, .. } => {
                hold(Constraint::Reference, self.has_what_it_refers_to(assignment))?;
                let is_same = |other: &Assignment| context(other) == context(assignment);
                hold(Constraint::RoleAssignment, !self.assignments.values().any(is_same))?;
                self.assignments.insert(assignment.id, assignment.clone());
            }
            AssignmentChange::Revoke { grants, .. } => {
                self.assignments.retain(|id, _| grants.iter().all(|grant| grant.assignment.id != *id));
            }
        }
        Ok(())
    }

    fn has_what_it_refers_to(&self, assignment: &Assignment) -> bool {
        self.users.contains_key(&assignment.user_id)
            && self.roles.contains_key(&assignment.role_id)
            && assignment.organization_id.is_none_or(|id| self.organizations.contains_key(&id))
    }
}

fn context(assignment: &Assignment) -> impl PartialEq + use<> {
    (assignment.user_id, assignment.role_id, assignment.organization_id)
}
