use std::sync::Arc;

use chrono::TimeDelta;

use crate::assignment::{Assignment, AssignmentChange};
use crate::caller::Caller;
use crate::change::Change;
use crate::clock::testing::FixedClock;
use crate::clock::{Clock as _, Timestamp};
use crate::error::Error;
use crate::id::{IdGenerator, OrganizationId, TenantId};
use crate::organization::{Organization, OrganizationChange};
use crate::random::SystemRandom;
use crate::role::{Role, RoleChange, built_in_roles};
use crate::secret::PasswordHash;
use crate::session::{RefreshState, Session};
use crate::store::Store;
use crate::tenant::{Tenant, TenantChange, TenantStatus};
use crate::user::{User, UserChange, UserStatus};
use crate::work::UnitOfWork;

/// A store under test, a clock that stands still, and short ways to fill the store.
pub struct World {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Its time.
    pub clock: FixedClock,
    ids: IdGenerator,
}

impl World {
    /// A world over an empty store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, clock: FixedClock::at("2026-01-31T09:15:00.123Z"), ids: IdGenerator::new() }
    }

    /// The present moment.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Lets a second pass.
    pub fn tick(&self) {
        self.clock.advance(TimeDelta::seconds(1));
    }

    /// A fresh identifier.
    pub fn id<T: From<uuid::Uuid>>(&self) -> T {
        self.ids.next(self.now(), &SystemRandom)
    }

    /// Begins a unit of work.
    pub async fn begin<'a>(&'a self, caller: &'a Caller) -> UnitOfWork<'a> {
        UnitOfWork::begin(&*self.store, caller, &self.clock, &self.ids, &SystemRandom).await.unwrap()
    }

    /// Commits changes in a tenant, or says why not.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn try_commit(&self, tenant: TenantId, changes: impl IntoIterator<Item = Change>) -> Result<(), Error> {
        let caller = Caller::system(tenant, "conformance");
        let mut work = self.begin(&caller).await;
        for change in changes {
            work.apply(change).await?;
        }
        work.commit().await
    }

    /// Commits one change in a tenant.
    pub async fn commit(&self, tenant: TenantId, change: impl Into<Change>) {
        self.try_commit(tenant, [change.into()]).await.unwrap();
    }

    /// A tenant that is not in the store yet.
    #[must_use]
    pub fn new_tenant(&self, slug: &str) -> Tenant {
        Tenant {
            id: self.id(),
            name: format!("Tenant {slug}").parse().unwrap(),
            slug: slug.parse().unwrap(),
            status: TenantStatus::Active,
            created_at: self.now(),
            updated_at: self.now(),
        }
    }

    /// A tenant in the store.
    pub async fn tenant(&self, slug: &str) -> Tenant {
        let tenant = self.new_tenant(slug);
        self.commit(tenant.id, TenantChange::Create(tenant.clone())).await;
        tenant
    }

    /// A user that is not in the store yet.
    #[must_use]
    pub fn new_user(&self, tenant: &Tenant, email: &str) -> User {
        User {
            id: self.id(),
            tenant_id: tenant.id,
            email: email.parse().unwrap(),
            first_name: "Ada".parse().unwrap(),
            last_name: "Lovelace".parse().unwrap(),
            status: UserStatus::Active,
            last_login_at: None,
            created_at: self.now(),
            updated_at: self.now(),
        }
    }

    /// Puts a user into the store.
    pub async fn add(&self, user: User) -> User {
        self.commit(user.tenant_id, create(&user)).await;
        user
    }

    /// A user in the store.
    pub async fn user(&self, tenant: &Tenant, email: &str) -> User {
        self.add(self.new_user(tenant, email)).await
    }

    /// The built-in roles, in the store.
    pub async fn roles(&self, tenant: &Tenant) -> Vec<Role> {
        let roles = built_in_roles(tenant.id, self.now(), || self.id()).unwrap();
        self.commit(tenant.id, RoleChange::CreateBuiltIn(roles.clone())).await;
        roles
    }

    /// An organization in the store.
    pub async fn organization(&self, tenant: &Tenant, slug: &str) -> Organization {
        let organization = Organization {
            id: self.id(),
            tenant_id: tenant.id,
            name: format!("Organization {slug}").parse().unwrap(),
            slug: slug.parse().unwrap(),
            parent_id: None,
            created_at: self.now(),
            updated_at: self.now(),
        };
        self.commit(tenant.id, OrganizationChange::Create(organization.clone())).await;
        organization
    }

    /// An assignment that is not in the store yet.
    #[must_use]
    pub fn new_assignment(&self, user: &User, role: &Role, organization: Option<OrganizationId>) -> Assignment {
        Assignment {
            id: self.id(),
            tenant_id: user.tenant_id,
            user_id: user.id,
            role_id: role.id,
            organization_id: organization,
            expires_at: None,
            created_at: self.now(),
            created_by: None,
        }
    }

    /// Puts an assignment into the store.
    pub async fn assign(&self, assignment: Assignment, role: &Role) -> Assignment {
        let change = AssignmentChange::Create { assignment: assignment.clone(), role_name: role.name.clone() };
        self.commit(assignment.tenant_id, change).await;
        assignment
    }

    /// A session that is not in the store yet.
    #[must_use]
    pub fn new_session(&self, user: &User) -> Session {
        Session {
            id: self.id(),
            tenant_id: user.tenant_id,
            user_id: user.id,
            ip_address: Some([192, 0, 2, 7].into()),
            user_agent: Some(crate::UserAgent::new("conformance/1.0")),
            created_at: self.now(),
            last_used_at: self.now(),
            expires_at: self.now() + TimeDelta::days(7),
            refresh: RefreshState::start(&SystemRandom).0,
        }
    }
}

/// The change that makes a user.
pub(super) fn create(user: &User) -> Change {
    UserChange::Create { user: user.clone(), password: PasswordHash::from(format!("hash of {}", user.email)) }.into()
}

/// The role with this name.
pub(super) fn named<'a>(roles: &'a [Role], name: &str) -> &'a Role {
    roles.iter().find(|role| role.name == name).unwrap()
}
