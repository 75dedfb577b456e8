use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::assignment::Assignment;
use iam_model::attribute::Attributes;
use iam_model::change::UserChange;
use iam_model::clock::Timestamp;
use iam_model::id::{OrganizationId, TenantId, UserId};
use iam_model::organization::Organization;
use iam_model::page::{Page, PageRequest};
use iam_model::store::{UserStore, UserTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::{User, UserFilter, UserKind, UserSort, UserStatus};
use iam_model::validate::{EmailKey, ExternalId};

use super::credential::PasswordRow;
use super::rows::{Draft, Row, View, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold, page};

impl Row for User {
    const TABLE: &'static str = "users";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

#[async_trait]
impl UserStore for RedbStore {
    async fn user(&self, tenant: TenantId, id: UserId) -> Result<Option<User>, StoreError> {
        self.read(tenant, |view| view.get(&key(id)))
    }

    async fn users_by_id(&self, tenant: TenantId, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        self.read(tenant, |view| view.users_by_id(ids))
    }

    async fn user_by_external_id(
        &self,
        tenant: TenantId,
        external_id: &ExternalId,
    ) -> Result<Option<User>, StoreError> {
        self.read(tenant, |view| view.user_with_external_id(external_id))
    }

    async fn users_named(
        &self,
        tenant: TenantId,
        external_ids: &[ExternalId],
        emails: &[EmailKey],
    ) -> Result<Vec<User>, StoreError> {
        let is_named = |user: &User| {
            user.external_id.as_ref().is_some_and(|id| external_ids.contains(id)) || emails.contains(&user.email.key())
        };
        self.read(tenant, |view| view.select(is_named))
    }

    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        scope: &VisibleScope,
        sort: UserSort,
        request: PageRequest,
        now: Timestamp,
    ) -> Result<Page<User>, StoreError> {
        let mut found = self.read(tenant, |view| view.users(filter, scope, now))?;
        found.sort_by(|a, b| sort.compare(a, b));
        Ok(page(found, request))
    }
}

#[async_trait]
impl UserTransaction for RedbTransaction {
    async fn lock_user(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        self.view().get(&key(id))
    }

    async fn users_by_id(&mut self, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        self.view().users_by_id(ids)
    }

    async fn all_service_accounts(&mut self) -> Result<Vec<User>, StoreError> {
        self.view().select(|user: &User| user.kind == UserKind::Service && user.status != UserStatus::Inactive)
    }

    async fn user_by_external_id(&mut self, external_id: &ExternalId) -> Result<Option<User>, StoreError> {
        self.view().user_with_external_id(external_id)
    }

    async fn lock_users_at_home(&mut self, organization: OrganizationId, limit: u32) -> Result<Vec<User>, StoreError> {
        let mut users = self.view().select(|user: &User| user.home_organization_id == Some(organization))?;
        users.sort_by_key(|user| user.id);
        users.truncate(limit as usize);
        Ok(users)
    }
}

impl View<'_> {
    pub(super) fn user_with_email(self, email: &EmailKey) -> Result<Option<User>, StoreError> {
        Ok(self.select::<User>(|user| user.email.key() == *email)?.pop())
    }

    fn user_with_external_id(self, external_id: &ExternalId) -> Result<Option<User>, StoreError> {
        Ok(self.select::<User>(|user| user.external_id.as_ref() == Some(external_id))?.pop())
    }

    fn users_by_id(self, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        self.select(|user: &User| ids.contains(&user.id))
    }

    /// The users that match the filter and are in the visible scope. A user is in a part of the organization tree if its
    /// home or a live assignment of the user is there.
    fn users(self, filter: &UserFilter, scope: &VisibleScope, now: Timestamp) -> Result<Vec<User>, StoreError> {
        let organizations = self.organizations()?;
        let live = self.select(|found: &Assignment| found.is_live(now))?;
        let having = self.having(filter.attribute.as_ref())?;
        let with_factor = self.users_with_factor()?;
        self.select(|user: &User| {
            let held = || live.iter().filter(|found| found.user_id == user.id);
            let is_member = |id: OrganizationId| held().any(|found| found.organization_id == Some(id));
            let is_within = || {
                let places = held().map(|found| found.organization_id).chain([user.home_organization_id]);
                places.into_iter().any(|place| organizations.is_visible(scope, place))
            };
            filter.matches(user)
                && having.as_ref().is_none_or(|having| having.contains(&user.id.as_uuid()))
                && filter
                    .has_factor
                    .is_none_or(|wanted| user.kind == UserKind::Human && with_factor.contains(&user.id) == wanted)
                && filter.organization.is_none_or(is_member)
                && (*scope == VisibleScope::Tenant || is_within())
        })
    }
}

impl Draft<'_> {
    pub(super) fn write_user(self, change: &UserChange) -> Result<(), StoreError> {
        match change {
            UserChange::Create { user, password, attributes, .. } => {
                self.hold_tenant()?;
                self.hold_email(user)?;
                self.hold_external_id(user)?;
                self.hold_home(user.home_organization_id)?;
                self.put(user.clone())?;
                self.write_attributes(user.id.into(), attributes)?;
                match password {
                    Some(password) => self.put(PasswordRow::new(user.id, password)),
                    None => Ok(()),
                }
            }
            UserChange::Update { after, attributes, .. } => {
                self.update_user(after)?;
                match attributes {
                    Some(attributes) => self.write_attributes(after.id.into(), &attributes.after),
                    None => Ok(()),
                }
            }
            UserChange::ForgetAttributes { after } => {
                self.update_user(after)?;
                self.write_attributes(after.id.into(), &Attributes::default())
            }
            UserChange::ChangeStatus { after, .. }
            | UserChange::VerifyEmail { after, .. }
            | UserChange::ConfirmEmail { after, .. }
            | UserChange::Delete { after, .. } => self.update_user(after),
            UserChange::MoveHomes { before, home, at } => {
                self.hold_home(*home)?;
                for user in before {
                    let stored: User = self.view().get(&key(user.id))?.ok_or(StoreError::Missing("user"))?;
                    self.put(User { home_organization_id: *home, ..stored }.changed(*at))?;
                }
                Ok(())
            }
        }
    }

    fn update_user(self, after: &User) -> Result<(), StoreError> {
        self.hold_email(after)?;
        self.hold_external_id(after)?;
        self.hold_home(after.home_organization_id)?;
        let stored: User = self.view().get(&key(after.id))?.ok_or(StoreError::Missing("user"))?;
        // A login may have changed the row after the service read the user. The change must not undo that.
        self.put(User { last_login_at: stored.last_login_at, version: stored.version.next(), ..after.clone() })
    }

    fn hold_home(self, home: Option<OrganizationId>) -> Result<(), StoreError> {
        match home {
            None => Ok(()),
            Some(home) => hold(Constraint::Reference, self.view().has::<Organization>(&key(home))?),
        }
    }

    fn hold_email(self, user: &User) -> Result<(), StoreError> {
        let holder = self.view().user_with_email(&user.email.key())?;
        hold(Constraint::UserEmail, holder.is_none_or(|holder| holder.id == user.id))
    }

    fn hold_external_id(self, user: &User) -> Result<(), StoreError> {
        let Some(external_id) = &user.external_id else { return Ok(()) };
        let holder = self.view().user_with_external_id(external_id)?;
        hold(Constraint::UserExternalId, holder.is_none_or(|holder| holder.id == user.id))
    }
}
