use async_trait::async_trait;

use super::transaction::MemoryTransaction;
use super::{MemoryStore, TenantState, hold};
use crate::clock::Timestamp;
use crate::error::{Constraint, StoreError};
use crate::id::{OrganizationId, TenantId, UserId};
use crate::page::{Page, PageRequest};
use crate::user::{User, UserChange, UserFilter, UserSort, UserStore, UserTransaction};
use crate::validate::EmailKey;

#[async_trait]
impl UserStore for MemoryStore {
    async fn user(&self, tenant: TenantId, id: UserId) -> Result<Option<User>, StoreError> {
        Ok(self.tenant_state(tenant).users.get(&id).cloned())
    }

    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        sort: UserSort,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<User>, StoreError> {
        let state = self.tenant_state(tenant);
        let is_member = |user: &User| filter.organization.is_none_or(|id| state.is_member(user.id, id, now));
        let mut found: Vec<&User> =
            state.users.values().filter(|user| filter.matches(user) && is_member(user)).collect();
        found.sort_by(|a, b| sort.compare(a, b));
        let offset = usize::try_from(page.offset()).unwrap_or(usize::MAX);
        let items = found.iter().skip(offset).take(page.limit() as usize).map(|user| User::clone(user)).collect();
        Ok(Page { items, total: found.len() as u64, request: page })
    }
}

#[async_trait]
impl UserTransaction for MemoryTransaction {
    async fn lock_user(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        Ok(self.draft.users.get(&id).cloned())
    }
}

impl TenantState {
    pub(super) fn user_with_email(&self, email: &EmailKey) -> Option<&User> {
        self.users.values().find(|user| user.email.key() == *email)
    }

    fn is_member(&self, user: UserId, organization: OrganizationId, now: Timestamp) -> bool {
        let mut assignments = self.assignments.values().filter(|assignment| assignment.user_id == user);
        assignments.any(|found| found.organization_id == Some(organization) && found.is_live(now))
    }

    pub(super) fn write_user(&mut self, change: &UserChange) -> Result<(), StoreError> {
        match change {
            UserChange::Create { user, password } => {
                hold(Constraint::Reference, self.tenant.is_some())?;
                self.hold_email_unique(user)?;
                self.users.insert(user.id, user.clone());
                self.passwords.insert(user.id, password.clone());
            }
            UserChange::Update { after, .. }
            | UserChange::ChangeStatus { after, .. }
            | UserChange::Delete { after, .. } => {
                self.hold_email_unique(after)?;
                let last_login_at = self.user_mut(after.id)?.last_login_at;
                self.users.insert(after.id, User { last_login_at, ..after.clone() });
            }
            UserChange::LoggedIn { user, at } => self.user_mut(*user)?.last_login_at = Some(*at),
        }
        Ok(())
    }

    fn user_mut(&mut self, id: UserId) -> Result<&mut User, StoreError> {
        self.users.get_mut(&id).ok_or(StoreError::Missing("user"))
    }

    fn hold_email_unique(&self, user: &User) -> Result<(), StoreError> {
        let holder = self.user_with_email(&user.email.key());
        hold(Constraint::UserEmail, holder.is_none_or(|holder| holder.id == user.id))
    }
}
