use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::attribute::Attributes;
use iam_model::change::UserChange;
use iam_model::clock::Timestamp;
use iam_model::id::{OrganizationId, TenantId, UserId};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{UserStore, UserTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::{User, UserFilter, UserKind, UserSort, UserStatus};
use iam_model::validate::{EmailKey, ExternalId};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold, page};

#[async_trait]
impl UserStore for MemoryStore {
    async fn user(&self, tenant: TenantId, id: UserId) -> Result<Option<User>, StoreError> {
        Ok(self.tenant_state(tenant).users.get(&id).cloned())
    }

    async fn users_by_id(&self, tenant: TenantId, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        Ok(self.tenant_state(tenant).users_by_id(ids))
    }

    async fn user_by_external_id(
        &self,
        tenant: TenantId,
        external_id: &ExternalId,
    ) -> Result<Option<User>, StoreError> {
        Ok(self.tenant_state(tenant).user_with_external_id(external_id).cloned())
    }

    async fn users_named(
        &self,
        tenant: TenantId,
        external_ids: &[ExternalId],
        emails: &[EmailKey],
    ) -> Result<Vec<User>, StoreError> {
        let is_named = |user: &&User| {
            user.external_id.as_ref().is_some_and(|id| external_ids.contains(id)) || emails.contains(&user.email.key())
        };
        Ok(self.tenant_state(tenant).users.values().filter(is_named).cloned().collect())
    }

    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        visible_scope: &VisibleScope,
        sort: UserSort,
        request: PageRequest,
        now: Timestamp,
    ) -> Result<Page<User>, StoreError> {
        let state = self.tenant_state(tenant);
        let passes = |user: &&User| filter.matches(user) && state.is_listed(user, filter, visible_scope, now);
        let mut found: Vec<&User> = state.users.values().filter(passes).collect();
        found.sort_by(|a, b| sort.compare(a, b));
        Ok(page(&found, request))
    }
}

#[async_trait]
impl UserTransaction for MemoryTransaction {
    async fn lock_user(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        Ok(self.draft.users.get(&id).cloned())
    }

    async fn users_by_id(&mut self, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        Ok(self.draft.users_by_id(ids))
    }

    async fn all_service_accounts(&mut self) -> Result<Vec<User>, StoreError> {
        let is_kept = |user: &&User| user.kind == UserKind::Service && user.status != UserStatus::Inactive;
        Ok(self.draft.users.values().filter(is_kept).cloned().collect())
    }

    async fn user_by_external_id(&mut self, external_id: &ExternalId) -> Result<Option<User>, StoreError> {
        Ok(self.draft.user_with_external_id(external_id).cloned())
    }

    async fn lock_users_at_home(&mut self, organization: OrganizationId, limit: u32) -> Result<Vec<User>, StoreError> {
        let at_home = self.draft.users.values().filter(|user| user.home_organization_id == Some(organization));
        let mut found: Vec<User> = at_home.cloned().collect();
        found.sort_by_key(|user| user.id);
        found.truncate(limit as usize);
        Ok(found)
    }
}

impl TenantState {
    pub(super) fn user_with_email(&self, email: &EmailKey) -> Option<&User> {
        self.users.values().find(|user| user.email.key() == *email)
    }

    fn user_with_external_id(&self, external_id: &ExternalId) -> Option<&User> {
        self.users.values().find(|user| user.external_id.as_ref() == Some(external_id))
    }

    fn users_by_id(&self, ids: &[UserId]) -> Vec<User> {
        self.users.values().filter(|user| ids.contains(&user.id)).cloned().collect()
    }

    /// Whether the attributes, the factors and the assignments of a user match the filter, and the user belongs to the
    /// visible scope.
    fn is_listed(&self, user: &User, filter: &UserFilter, visible_scope: &VisibleScope, now: Timestamp) -> bool {
        let held = || self.assignments.values().filter(|found| found.user_id == user.id && found.is_live(now));
        let is_member = |id: OrganizationId| held().any(|found| found.organization_id == Some(id));
        let is_within = || {
            *visible_scope == VisibleScope::Tenant
                || self.is_visible(visible_scope, user.home_organization_id)
                || held().any(|found| self.is_visible(visible_scope, found.organization_id))
        };
        let has_attribute = self.has_attribute(user.id.into(), filter.attribute.as_ref());
        let has_factor = |wanted: bool| user.kind == UserKind::Human && self.has_factor(user.id) == wanted;
        has_attribute
            && filter.has_factor.is_none_or(has_factor)
            && filter.organization.is_none_or(is_member)
            && is_within()
    }

    pub(super) fn write_user(&mut self, change: &UserChange) -> Result<(), StoreError> {
        match change {
            UserChange::Create { user, password, attributes, .. } => {
                hold(Constraint::Reference, self.tenant.is_some())?;
                self.hold_email_unique(user)?;
                self.hold_external_id_unique(user)?;
                self.hold_home(user.home_organization_id)?;
                self.users.insert(user.id, user.clone());
                self.passwords.extend(password.clone().map(|password| (user.id, password)));
                self.write_attributes(user.id.into(), attributes);
            }
            UserChange::Update { after, attributes, .. } => {
                self.update_user(after)?;
                if let Some(attributes) = attributes {
                    self.write_attributes(after.id.into(), &attributes.after);
                }
            }
            UserChange::ForgetAttributes { after } => {
                self.update_user(after)?;
                self.write_attributes(after.id.into(), &Attributes::default());
            }
            UserChange::ChangeStatus { after, .. }
            | UserChange::VerifyEmail { after, .. }
            | UserChange::ConfirmEmail { after, .. }
            | UserChange::Delete { after, .. } => self.update_user(after)?,
            UserChange::MoveHomes { before, home, at } => {
                self.hold_home(*home)?;
                for user in before {
                    let stored = self.user_mut(user.id)?;
                    *stored = User { home_organization_id: *home, ..stored.clone() }.changed(*at);
                }
            }
        }
        Ok(())
    }

    fn update_user(&mut self, after: &User) -> Result<(), StoreError> {
        self.hold_email_unique(after)?;
        self.hold_external_id_unique(after)?;
        self.hold_home(after.home_organization_id)?;
        let stored = self.user_mut(after.id)?;
        *stored = User { last_login_at: stored.last_login_at, version: stored.version.next(), ..after.clone() };
        Ok(())
    }

    fn hold_home(&self, home: Option<OrganizationId>) -> Result<(), StoreError> {
        hold(Constraint::Reference, home.is_none_or(|home| self.organizations.contains_key(&home)))
    }

    fn user_mut(&mut self, id: UserId) -> Result<&mut User, StoreError> {
        self.users.get_mut(&id).ok_or(StoreError::Missing("user"))
    }

    fn hold_email_unique(&self, user: &User) -> Result<(), StoreError> {
        let holder = self.user_with_email(&user.email.key());
        hold(Constraint::UserEmail, holder.is_none_or(|holder| holder.id == user.id))
    }

    fn hold_external_id_unique(&self, user: &User) -> Result<(), StoreError> {
        let holder = user.external_id.as_ref().and_then(|external_id| self.user_with_external_id(external_id));
        hold(Constraint::UserExternalId, holder.is_none_or(|holder| holder.id == user.id))
    }
}
