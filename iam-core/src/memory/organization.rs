use super::{TenantState, hold};
use crate::error::{Constraint, StoreError};
use crate::organization::OrganizationChange;

impl TenantState {
    pub(super) fn write_organization(&mut self, change: &OrganizationChange) -> Result<(), StoreError> {
        let OrganizationChange::Create(organization) = change;
        let has_parent = organization.parent_id.is_none_or(|parent| self.organizations.contains_key(&parent));
        hold(Constraint::Reference, self.tenant.is_some() && has_parent)?;
        let is_free = self.organizations.values().all(|other| other.slug != organization.slug);
        hold(Constraint::OrganizationSlug, is_free)?;
        self.organizations.insert(organization.id, organization.clone());
        Ok(())
    }
}
