use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::access::{Until, VisibleScope};
use iam_model::api_key::{ApiKey, ApiKeySecret};
use iam_model::assignment::{Assignment, Grant};
use iam_model::attribute::{AttributeDefinitions, Attributes, UnregisteredAttributes};
use iam_model::change::{
    AssignmentChange, AuditBatch, Change, ChangedAssignment, OrganizationChange, PermissionChange, RoleChange,
    TenantChange, UserChange,
};
use iam_model::clock::testing::FixedClock;
use iam_model::clock::{Clock as _, Timestamp};
use iam_model::context::{Actor, Author, RequestContext};
use iam_model::error::Error;
use iam_model::factor::{AuthenticationMethods, Factor, FactorKey, FactorKind, GraceDays, SecondFactorPolicy};
use iam_model::id::{IdGenerator, OrganizationId, TenantId, UserId};
use iam_model::organization::{Organization, OrganizationStatus};
use iam_model::page::{Page, PageRequest};
use iam_model::permission::RegisteredPermission;
use iam_model::random::{Random, SystemRandom};
use iam_model::role::{Role, RoleScope, built_in_roles};
use iam_model::secret::PasswordHash;
use iam_model::session::{RefreshState, Session};
use iam_model::store::{GrantQuery, Store, Transaction, TransactionReads};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::tenant::{AuthzenIdentifiers, EmailLogin, PasswordLogin, PasswordPolicy, Tenant, TenantStatus};
use iam_model::user::{User, UserStatus};
use iam_model::version::Version;

/// A store under test, a clock that stands still, and helpers that fill the store.
pub struct World {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The clock of the units of work.
    pub clock: FixedClock,
    pub(crate) ids: IdGenerator,
}

impl World {
    /// Creates a world over an empty store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        let (clock, ids) = (FixedClock::at("2026-01-31T09:15:00.123Z"), IdGenerator::new());
        Self { store, clock, ids }
    }

    /// Returns the time of the clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Advances the clock by one second.
    pub fn tick(&self) {
        self.clock.advance(TimeDelta::seconds(1));
    }

    /// Returns a new identifier.
    pub fn id<T: From<uuid::Uuid>>(&self) -> T {
        self.ids.next(self.now(), &SystemRandom)
    }

    /// Begins a unit of work of this author.
    pub async fn begin(&self, author: &Author) -> Work<'_> {
        Work { world: self, author: author.clone(), transaction: self.store.begin(author.tenant).await.unwrap() }
    }

    /// Trusted code in a tenant.
    #[must_use]
    pub fn system(tenant: TenantId) -> Author {
        let actor = Actor::System { reason: "conformance".into() };
        Author { actor, tenant, impersonator: None, directory: None, context: RequestContext::default() }
    }

    /// A user of a tenant, in a session.
    #[must_use]
    pub fn author(&self, tenant: TenantId, user: UserId, context: RequestContext) -> Author {
        Author { actor: Actor::User { user, session: self.id() }, tenant, impersonator: None, directory: None, context }
    }

    /// A client that has not proven who it is.
    #[must_use]
    pub fn anonymous(tenant: TenantId, context: RequestContext) -> Author {
        Author { actor: Actor::Anonymous, tenant, impersonator: None, directory: None, context }
    }

    /// Commits changes in a tenant, in one unit of work.
    ///
    /// # Errors
    ///
    /// The error of the first refused change, or of the commit.
    pub async fn try_commit(&self, tenant: TenantId, changes: impl IntoIterator<Item = Change>) -> Result<(), Error> {
        let mut work = self.begin(&Self::system(tenant)).await;
        for change in changes {
            work.apply(change).await?;
        }
        Ok(work.commit().await?)
    }

    /// Commits one change in a tenant.
    pub async fn commit(&self, tenant: TenantId, change: impl Into<Change>) {
        self.try_commit(tenant, [change.into()]).await.unwrap();
    }

    /// Reads inside a unit of work that writes nothing.
    pub async fn locked<T>(&self, tenant: TenantId, read: impl AsyncFnOnce(&mut dyn TransactionReads) -> T) -> T {
        let mut work = self.begin(&Self::system(tenant)).await;
        read(work.reads()).await
    }

    /// A tenant that is not in the store yet.
    #[must_use]
    pub fn new_tenant(&self, slug: &str) -> Tenant {
        Tenant {
            id: self.id(),
            name: format!("Tenant {slug}").parse().unwrap(),
            slug: slug.parse().unwrap(),
            status: TenantStatus::Active,
            password_policy: PasswordPolicy::default(),
            second_factor: SecondFactorPolicy::default(),
            second_factor_grace_days: GraceDays::default(),
            second_factor_required_at: None,
            password_login: PasswordLogin::default(),
            email_login: EmailLogin::default(),
            authzen_identifiers: AuthzenIdentifiers::default(),
            user_attributes: AttributeDefinitions::default(),
            organization_attributes: AttributeDefinitions::default(),
            unregistered_attributes: UnregisteredAttributes::default(),
            created_at: self.now(),
            updated_at: self.now(),
            version: Version::FIRST,
        }
    }

    /// Creates a tenant in the store.
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
            kind: iam_model::user::UserKind::Human,
            email: email.parse().unwrap(),
            email_verified_at: None,
            first_name: "Ada".parse().unwrap(),
            last_name: "Lovelace".parse().unwrap(),
            external_id: None,
            home_organization_id: None,
            status: UserStatus::Active,
            last_login_at: None,
            created_at: self.now(),
            updated_at: self.now(),
            version: Version::FIRST,
        }
    }

    /// Puts a user into the store.
    pub async fn add(&self, user: User) -> User {
        self.commit(user.tenant_id, create(&user)).await;
        user
    }

    /// Creates a user in the store.
    pub async fn user(&self, tenant: &Tenant, email: &str) -> User {
        self.add(self.new_user(tenant, email)).await
    }

    /// Creates the built-in roles in the store.
    pub async fn roles(&self, tenant: &Tenant) -> Vec<Role> {
        let roles = built_in_roles(tenant.id, self.now(), || self.id()).unwrap();
        self.commit(tenant.id, RoleChange::CreateBuiltIn(roles.clone())).await;
        roles
    }

    /// A role that is not in the store yet.
    #[must_use]
    pub fn new_role(&self, tenant: &Tenant, name: &str, permissions: &[&str]) -> Role {
        Role {
            id: self.id(),
            tenant_id: tenant.id,
            name: name.parse().unwrap(),
            description: format!("What a {name} does").parse().unwrap(),
            scope: RoleScope::Any,
            permissions: permissions.iter().map(|text| text.parse().unwrap()).collect(),
            system: false,
            created_at: self.now(),
            updated_at: self.now(),
            version: Version::FIRST,
        }
    }

    /// Creates a role in the store.
    pub async fn role(&self, tenant: &Tenant, name: &str, permissions: &[&str]) -> Role {
        let role = self.new_role(tenant, name, permissions);
        self.commit(tenant.id, RoleChange::Create(role.clone())).await;
        role
    }

    /// A permission that is not in the store yet.
    #[must_use]
    pub fn new_permission(&self, tenant: &Tenant, name: &str) -> RegisteredPermission {
        RegisteredPermission {
            id: self.id(),
            tenant_id: tenant.id,
            name: name.parse().unwrap(),
            description: format!("Allows {name}").parse().unwrap(),
            system: false,
            created_at: self.now(),
        }
    }

    /// Creates a permission in the store.
    pub async fn permission(&self, tenant: &Tenant, name: &str) -> RegisteredPermission {
        let permission = self.new_permission(tenant, name);
        self.commit(tenant.id, register(&permission)).await;
        permission
    }

    /// A root organization that is not in the store yet.
    #[must_use]
    pub fn new_organization(&self, tenant: TenantId, slug: &str) -> Organization {
        Organization {
            id: self.id(),
            tenant_id: tenant,
            name: format!("Organization {slug}").parse().unwrap(),
            slug: slug.parse().unwrap(),
            status: OrganizationStatus::Active,
            parent_id: None,
            created_at: self.now(),
            updated_at: self.now(),
            version: Version::FIRST,
        }
    }

    /// Puts an organization into the store.
    pub async fn add_organization(&self, organization: Organization) -> Organization {
        self.commit(organization.tenant_id, OrganizationChange::create(organization.clone())).await;
        organization
    }

    /// Creates a root organization in the store.
    pub async fn organization(&self, tenant: &Tenant, slug: &str) -> Organization {
        self.add_organization(self.new_organization(tenant.id, slug)).await
    }

    /// Creates an organization in the store, directly below another one.
    pub async fn below(&self, parent: &Organization, slug: &str) -> Organization {
        let organization = self.new_organization(parent.tenant_id, slug);
        self.add_organization(Organization { parent_id: Some(parent.id), ..organization }).await
    }

    /// Creates a chain of organizations in the store. The first is a root, and each other one is directly below the
    /// previous one.
    pub async fn chain(&self, tenant: &Tenant, slug: &str, length: usize) -> Vec<Organization> {
        let mut chain: Vec<Organization> = Vec::with_capacity(length);
        for number in 0..length {
            let organization = self.new_organization(tenant.id, &format!("{slug}-{number}"));
            let parent_id = chain.last().map(|parent| parent.id);
            chain.push(Organization { parent_id, ..organization });
        }
        let changes = chain.iter().cloned().map(OrganizationChange::create).map(Change::from);
        self.try_commit(tenant.id, changes).await.unwrap();
        chain
    }

    /// Changes an organization in the store.
    pub async fn reorganize(&self, before: &Organization, after: Organization) -> Organization {
        let after = Organization { version: before.version.next(), ..after };
        self.commit(before.tenant_id, update(before, &after)).await;
        after
    }

    /// Changes the status of an organization in the store. For INACTIVE, the change is a deletion.
    pub async fn set_status(&self, before: &Organization, status: OrganizationStatus) -> Organization {
        let after = Organization { status, version: before.version.next(), ..before.clone() };
        let change = match status {
            OrganizationStatus::Inactive => OrganizationChange::Delete { before: before.clone(), after: after.clone() },
            OrganizationStatus::Active | OrganizationStatus::Suspended => update(before, &after),
        };
        self.commit(before.tenant_id, change).await;
        after
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
            directory_group_id: None,
            access_request_id: None,
        }
    }

    /// Puts an assignment into the store.
    pub async fn assign(&self, assignment: Assignment, role: &Role) -> Assignment {
        self.commit(assignment.tenant_id, assigning([assignment.clone()], role)).await;
        assignment
    }

    /// Assigns a role to a user in the store, in an organization or tenant-wide.
    pub async fn give(&self, user: &User, role: &Role, organization: Option<&Organization>) -> Assignment {
        self.give_until(user, role, organization, None).await
    }

    /// Assigns a role as [`give`](Self::give) does, with an expiry.
    pub async fn give_until(
        &self,
        user: &User,
        role: &Role,
        organization: Option<&Organization>,
        expires_at: Option<Timestamp>,
    ) -> Assignment {
        let assignment = self.new_assignment(user, role, organization.map(|organization| organization.id));
        self.assign(Assignment { expires_at, ..assignment }, role).await
    }

    /// Reads grants inside a unit of work.
    pub async fn grants(&self, tenant: TenantId, which: GrantQuery<'_>) -> Vec<Grant> {
        self.locked(tenant, async |locks| locks.grants(which).await.unwrap()).await
    }

    /// A session that is not in the store yet.
    #[must_use]
    pub fn new_session(&self, user: &User) -> Session {
        let random: &dyn Random = &SystemRandom;
        Session {
            id: self.id(),
            tenant_id: user.tenant_id,
            user_id: user.id,
            ip_address: Some([192, 0, 2, 7].into()),
            user_agent: Some(iam_model::context::UserAgent::new("conformance/1.0")),
            methods: AuthenticationMethods::default(),
            authenticated_at: self.now(),
            created_at: self.now(),
            last_used_at: self.now(),
            expires_at: self.now() + TimeDelta::days(7),
            refresh: RefreshState { tag_key: random.bytes(), current: random.bytes(), spent: None },
            provider: None,
            impersonation: None,
        }
    }
}

/// A unit of work: a transaction in which an author makes changes.
pub struct Work<'a> {
    world: &'a World,
    author: Author,
    transaction: Box<dyn Transaction>,
}

impl Work<'_> {
    /// Returns the reads. Methods named `lock_…` lock their rows until the unit of work ends.
    pub fn reads(&mut self) -> &mut dyn TransactionReads {
        self.transaction.as_mut()
    }

    /// Writes a change with its audit entries.
    ///
    /// # Errors
    ///
    /// The error of the store.
    pub async fn apply(&mut self, change: impl Into<Change>) -> Result<(), StoreError> {
        let change = change.into();
        let audit = AuditBatch::of(&change, &self.author, self.world.now(), &self.world.ids, &SystemRandom);
        self.transaction.write(&change, audit).await
    }

    /// Commits all changes.
    ///
    /// # Errors
    ///
    /// The error of the store.
    pub async fn commit(self) -> Result<(), StoreError> {
        self.transaction.commit().await
    }
}

/// The change that creates a user.
pub(super) fn create(user: &User) -> Change {
    let password = PasswordHash::from(format!("hash of {}", user.email));
    UserChange::Create {
        user: user.clone(),
        password: Some(password),
        invitation: None,
        attributes: Attributes::default(),
    }
    .into()
}

/// A TOTP generator of a user that is not confirmed.
pub(super) fn new_totp(world: &World, user: &User) -> Factor {
    Factor {
        id: world.id(),
        tenant_id: user.tenant_id,
        user_id: user.id,
        kind: FactorKind::Totp,
        name: "Phone".parse().unwrap(),
        key: FactorKey(b"secret".to_vec()),
        credential_id: None,
        counter: 0,
        created_at: world.now(),
        confirmed_at: None,
        last_used_at: None,
    }
}

/// An API key that is not in the store yet.
pub(super) fn new_api_key(world: &World, user: &User) -> ApiKey {
    ApiKey {
        id: world.id(),
        tenant_id: user.tenant_id,
        user_id: user.id,
        name: "nightly".parse().unwrap(),
        secret: ApiKeySecret { hash: [1; 32], former: None },
        permissions: None,
        organization_id: None,
        expires_at: world.now() + ApiKey::DEFAULT_LIFETIME,
        created_at: world.now(),
        created_by: None,
        rotated_by_owner: false,
        last_used_at: None,
        version: Version::FIRST,
    }
}

/// A passkey of a user, with the identifier that the authenticator gave it.
pub(super) fn new_passkey(world: &World, user: &User, credential: &[u8]) -> Factor {
    Factor {
        kind: FactorKind::Passkey,
        key: FactorKey(b"public key".to_vec()),
        credential_id: Some(credential.to_vec()),
        confirmed_at: Some(world.now()),
        ..new_totp(world, user)
    }
}

/// A tenant that requires second factors from now on.
pub(super) fn requiring(world: &World, tenant: &Tenant, grace_days: i64) -> Tenant {
    Tenant {
        second_factor: SecondFactorPolicy::Required,
        second_factor_grace_days: grace_days.try_into().unwrap(),
        second_factor_required_at: Some(world.now()),
        ..tenant.clone()
    }
}

/// The change that registers a permission.
pub(super) fn register(permission: &RegisteredPermission) -> PermissionChange {
    PermissionChange::Create { permission: permission.clone(), wildcard_roles: None, held_until: Until::Forever }
}

/// The change that creates assignments of a role.
pub(super) fn assigning(assignments: impl IntoIterator<Item = Assignment>, role: &Role) -> AssignmentChange {
    AssignmentChange::Create(assignments.into_iter().map(|assignment| granting(assignment, role)).collect())
}

/// The change of the expiry of an assignment of a role.
pub(super) fn expiring(before: &Assignment, role: &Role, expires_at: Option<Timestamp>) -> AssignmentChange {
    updating(before, role, &Assignment { expires_at, ..before.clone() })
}

/// The change of an assignment of a role.
pub(super) fn updating(before: &Assignment, role: &Role, after: &Assignment) -> AssignmentChange {
    updating_all([(before, after)], role)
}

/// The change of assignments of a role.
pub(super) fn updating_all<'a>(
    changed: impl IntoIterator<Item = (&'a Assignment, &'a Assignment)>,
    role: &Role,
) -> AssignmentChange {
    let changed = changed.into_iter().map(|(before, after)| {
        let grant = granting(before.clone(), role);
        ChangedAssignment { grant, after: after.clone() }
    });
    AssignmentChange::Update(changed.collect())
}

fn granting(assignment: Assignment, role: &Role) -> Grant {
    Grant { assignment, role: Arc::new(role.clone()), organization: None }
}

/// The change of an organization's fields.
pub(super) fn update(before: &Organization, after: &Organization) -> OrganizationChange {
    OrganizationChange::Update { before: before.clone(), after: after.clone(), activated: None, attributes: None }
}

/// The visible scope of these organizations, with everything below them.
pub(super) fn within(organizations: &[&Organization]) -> VisibleScope {
    VisibleScope::Organizations(organizations.iter().map(|organization| organization.id).collect())
}

/// The role with this name.
pub(super) fn named<'a>(roles: &'a [Role], name: &str) -> &'a Role {
    roles.iter().find(|role| role.name.as_str() == name).unwrap()
}

/// The first page, with the maximum number of items.
pub(super) fn everything() -> PageRequest {
    PageRequest::new(1, 100).unwrap()
}

/// Fails unless pages of three items show a list of at least seven items in its order and with its total. Reads one
/// page past the end, too.
pub(super) async fn assert_pages<T>(expected: &[T], list: impl AsyncFn(PageRequest) -> Page<T>)
where
    T: Clone + PartialEq + std::fmt::Debug,
{
    assert!(expected.len() >= 7, "too few items for several pages");
    for (number, items) in expected.chunks(3).chain([&[][..]]).enumerate() {
        let request = PageRequest::new(number as u64 + 1, 3).unwrap();
        let expected = Page { items: items.to_vec(), total: expected.len() as u64, request };
        assert_eq!(list(request).await, expected);
    }
    let beyond = PageRequest::new(u64::MAX, 100).unwrap();
    assert_eq!(list(beyond).await, Page { items: Vec::new(), total: expected.len() as u64, request: beyond });
}

/// Fails unless this constraint refused the changes.
pub(super) fn assert_conflict(result: &Result<(), Error>, constraint: Constraint) {
    let expected = Err::<(), _>(Error::from(StoreError::Conflict(constraint)));
    assert_eq!(format!("{result:?}"), format!("{expected:?}"));
}

/// Fails unless a change was refused because its row is missing.
pub(super) fn assert_missing(result: &Result<(), Error>) {
    assert!(matches!(result, Err(Error::Store(StoreError::Missing(_)))), "{result:?}");
}

/// The keys of these items, in ascending order, so that they can be compared.
pub(super) fn sorted<T, K: Ord>(found: Vec<T>, key: impl Fn(T) -> K) -> Vec<K> {
    let mut keys: Vec<K> = found.into_iter().map(key).collect();
    keys.sort();
    keys
}
