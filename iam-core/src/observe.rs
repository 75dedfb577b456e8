//! The [`Observer`] of the operations of a store and of password hashing, for instance for metrics.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use iam_model::access::{HeldRole, Until, VisibleScope};
use iam_model::assignment::*;
use iam_model::audit::*;
use iam_model::change::{AuditBatch, Change, CredentialChange, LoginFailure};
use iam_model::clock::Timestamp;
use iam_model::credential::*;
use iam_model::id::*;
use iam_model::idempotency::IdempotencyRecord;
use iam_model::organization::*;
use iam_model::page::{Page, PageRequest};
use iam_model::permission::{Permission, PermissionPattern, RegisteredPermission};
use iam_model::role::*;
use iam_model::session::Session;
use iam_model::signing_key::{KeyPurpose, PrivateKey, SigningKey};
use iam_model::store::*;
use iam_model::store_error::StoreError;
use iam_model::tenant::*;
use iam_model::user::*;
use iam_model::validate::{EmailKey, Slug};

/// Receives reports. It is called during every request, so it must not wait for anything.
pub trait Observer: Send + Sync + 'static {
    /// The store has finished an operation, or failed, after the time `took`. `operation` is the name of the port's
    /// method. Called in the task that called the store.
    fn store_answered(&self, operation: &'static str, took: Duration, error: Option<&StoreError>);

    /// A login failed, and the failure is committed.
    fn login_failed(&self, reason: LoginFailure);

    /// A password was hashed, to store or to verify it. It waited for the time `waited`, and the hash then took the
    /// time `took`. Called in the task that needed the hash.
    fn password_hashed(&self, waited: Duration, took: Duration);

    /// A password was not hashed, because too many passwords already wait; see
    /// [`Error::Overloaded`](iam_model::error::Error::Overloaded).
    fn password_refused(&self);
}

/// A store that reports to an observer how long each of its operations took.
pub struct Observed {
    store: Arc<dyn Store>,
    observer: Arc<dyn Observer>,
}

impl Observed {
    /// Wraps a store, and reports its operations to the observer.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, observer: Arc<dyn Observer>) -> Self {
        Self { store, observer }
    }
}

struct ObservedTransaction {
    transaction: Box<dyn Transaction>,
    observer: Arc<dyn Observer>,
    /// The failed logins to report after the commit.
    failures: Vec<LoginFailure>,
}

#[expect(clippy::disallowed_methods, reason = "it only measures, and no decision depends on it")]
async fn timed<T>(
    observer: &dyn Observer,
    operation: &'static str,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let started = Instant::now();
    let answer = call.await;
    observer.store_answered(operation, started.elapsed(), answer.as_ref().err());
    answer
}

#[async_trait]
impl Store for Observed {
    async fn begin(&self, tenant: TenantId) -> Result<Box<dyn Transaction>, StoreError> {
        let transaction = timed(&*self.observer, "begin", self.store.begin(tenant)).await?;
        let observer = Arc::clone(&self.observer);
        Ok(Box::new(ObservedTransaction { transaction, observer, failures: Vec::new() }))
    }

    async fn ping(&self) -> Result<(), StoreError> {
        timed(&*self.observer, "ping", self.store.ping()).await
    }

    async fn is_migrated(&self) -> Result<bool, StoreError> {
        timed(&*self.observer, "is_migrated", self.store.is_migrated()).await
    }

    async fn prepare(&self, now: Timestamp) -> Result<(), StoreError> {
        timed(&*self.observer, "prepare", self.store.prepare(now)).await
    }

    async fn change_feed(&self) -> Result<Option<Box<dyn ChangeFeed>>, StoreError> {
        timed(&*self.observer, "change_feed", self.store.change_feed()).await
    }

    async fn close(&self) {
        self.store.close().await;
    }

    fn kind(&self) -> &'static str {
        self.store.kind()
    }
}

#[async_trait]
impl Transaction for ObservedTransaction {
    async fn write(&mut self, change: &Change, audit: AuditBatch) -> Result<(), StoreError> {
        timed(&*self.observer, "write", self.transaction.write(change, audit)).await?;
        if let Change::Credential(
            CredentialChange::CountFailure { reason, is_recorded: true, .. } | CredentialChange::Refuse { reason, .. },
        ) = change
        {
            self.failures.push(*reason);
        }
        Ok(())
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        let Self { transaction, observer, failures } = *self;
        timed(&*observer, "commit", transaction.commit()).await?;
        failures.into_iter().for_each(|reason| observer.login_failed(reason));
        Ok(())
    }
}

/// Implements every method of these ports: calls the inner store, and reports how long it took.
macro_rules! observed {
    ($($port:ident { $(fn $method:ident($($name:ident: $type:ty),*) -> $answer:ty;)+ })+) => {$(
        #[async_trait]
        impl $port for Observed {
            $(async fn $method(&self, $($name: $type),*) -> Result<$answer, StoreError> {
                timed(&*self.observer, stringify!($method), self.store.$method($($name),*)).await
            })+
        }
    )+};
    (in a transaction: $($port:ident { $(fn $method:ident($($name:ident: $type:ty),*) -> $answer:ty;)+ })+) => {$(
        #[async_trait]
        impl $port for ObservedTransaction {
            $(async fn $method(&mut self, $($name: $type),*) -> Result<$answer, StoreError> {
                timed(&*self.observer, stringify!($method), self.transaction.$method($($name),*)).await
            })+
        }
    )+};
}

observed! {
    Directory {
        fn tenant_by_slug(slug: &Slug) -> Option<Tenant>;
        fn login_candidates(email: &EmailKey, limit: u32) -> LoginCandidates;
        fn is_empty() -> bool;
        fn has_several_tenants() -> bool;
    }
    TenantStore {
        fn tenant(tenant: TenantId) -> Option<Tenant>;
    }
    UserStore {
        fn user(tenant: TenantId, id: UserId) -> Option<User>;
        fn users_by_id(tenant: TenantId, ids: &[UserId]) -> Vec<User>;
        fn users(
            tenant: TenantId, filter: &UserFilter, visible_scope: &VisibleScope, sort: UserSort, page: PageRequest, now: Timestamp
        ) -> Page<User>;
    }
    CredentialStore {
        fn guarded_account(tenant: TenantId, email: &EmailKey) -> GuardedAccount;
    }
    SessionStore {
        fn session_snapshot(tenant: TenantId, session: SessionId) -> Option<SessionSnapshot>;
        fn session(tenant: TenantId, id: SessionId) -> Option<Session>;
        fn session_details(tenant: TenantId, id: SessionId) -> Option<SessionDetails>;
        fn sessions_of(tenant: TenantId, user: UserId) -> Vec<Session>;
    }
    PermissionStore {
        fn permissions(tenant: TenantId, page: PageRequest) -> Page<RegisteredPermission>;
    }
    RoleStore {
        fn role(tenant: TenantId, id: RoleId) -> Option<Role>;
        fn role_by_name(tenant: TenantId, name: &str) -> Option<Role>;
        fn roles(tenant: TenantId, page: PageRequest) -> Page<Role>;
    }
    OrganizationStore {
        fn lineages(tenant: TenantId, organizations: &[OrganizationId]) -> Vec<Organization>;
        fn subtree(tenant: TenantId, root: OrganizationId) -> Vec<Organization>;
        fn children(tenant: TenantId, parent: OrganizationId) -> Vec<Organization>;
        fn organizations(
            tenant: TenantId, filter: &OrganizationFilter, visible_scope: &VisibleScope, sort: OrganizationSort, page: PageRequest
        ) -> Page<Organization>;
    }
    AssignmentStore {
        fn grants_of(tenant: TenantId, users: &[UserId]) -> Vec<Grant>;
        fn assignments(
            tenant: TenantId, filter: &AssignmentFilter, visible_scope: &VisibleScope, page: PageRequest, now: Timestamp
        ) -> Page<ListedAssignment>;
        fn tenants_with_expired_assignments(now: Timestamp, limit: u32) -> Vec<TenantId>;
    }
    AuditStore {
        fn audit_entries(
            tenant: TenantId, filter: &AuditFilter, after: Option<Cursor>, limit: u32
        ) -> Vec<AuditEntry>;
        fn audit_entry(tenant: TenantId, id: AuditEntryId) -> Option<AuditEntry>;
        fn purge_audit_entries() -> u64;
    }
    SequenceStore {
        fn pending(except: &[TenantId], limit: u32) -> Vec<Pending>;
        fn log_heads(tenants: &[TenantId]) -> Vec<LogHead>;
        fn sequence(batches: &[SequencedBatch]) -> bool;
        fn sequence_of(tenant: TenantId, id: AuditEntryId) -> Option<u64>;
        fn tree_hashes(tenant: TenantId, spans: &[TreeSpan]) -> Vec<TreeHash>;
        fn audited_tenants() -> Vec<TenantId>;
        fn sequenced_entries(tenant: TenantId, from: u64, limit: u32) -> Vec<SequencedEntry>;
        fn pending_entries(
            tenant: TenantId, after: Option<(Timestamp, AuditEntryId)>, limit: u32
        ) -> Vec<PendingEntry>;
        fn stray_entry(tenant: TenantId) -> Option<AuditEntryId>;
    }
    MaintenanceStore {
        fn totals(now: Timestamp) -> Totals;
        fn remove_expired_sessions(now: Timestamp, limit: u32) -> u64;
        fn remove_stale_login_attempts(now: Timestamp, failed_before: Timestamp, limit: u32) -> u64;
        fn remove_idempotency_records(before: Timestamp, limit: u32) -> u64;
        fn take_turn(job: &'static str) -> Option<Box<dyn Turn>>;
    }
    KeyStore {
        fn signing_keys(purpose: KeyPurpose) -> Vec<SigningKey>;
        fn insert_signing_key(key: &SigningKey) -> ();
        fn replace_private_key(id: KeyId, before: &PrivateKey, after: &PrivateKey) -> bool;
        fn revoke_signing_key(id: KeyId, at: Timestamp) -> bool;
    }
}

observed! { in a transaction:
    TenantTransaction {
        fn lock_tenant() -> Option<Tenant>;
        fn usage() -> Usage;
    }
    UserTransaction {
        fn lock_user(id: UserId) -> Option<User>;
        fn users_by_id(ids: &[UserId]) -> Vec<User>;
    }
    CredentialTransaction {
        fn lock_guarded_account(email: &EmailKey, user: Option<UserId>) -> GuardedAccount;
    }
    SessionTransaction {
        fn lock_session(id: SessionId) -> Option<Session>;
        fn lock_sessions_of(user: UserId) -> Vec<Session>;
        fn lock_sessions(limit: u32) -> Vec<Session>;
    }
    PermissionTransaction {
        fn permission(id: PermissionId) -> Option<RegisteredPermission>;
        fn permission_names() -> Vec<Permission>;
    }
    RoleTransaction {
        fn roles_by_id(ids: &[RoleId]) -> Vec<Role>;
        fn roles_with(pattern: &PermissionPattern) -> Vec<RoleId>;
    }
    OrganizationTransaction {
        fn lineages(organizations: &[OrganizationId]) -> Vec<Organization>;
        fn subtree(root: OrganizationId) -> Vec<Organization>;
        fn is_organization_slug_taken(slug: &Slug) -> bool;
    }
    AssignmentTransaction {
        fn grants(which: GrantQuery<'_>) -> Vec<Grant>;
        fn roles_held_in(organizations: &[OrganizationId], now: Timestamp) -> Vec<HeldRole>;
        fn roles_held_until(roles: &[RoleId], now: Timestamp) -> Option<Until>;
        fn has_other_administrator(than: UserId) -> bool;
    }
    AuditTransaction {
        fn log_head() -> Option<LogHead>;
        fn first_sequenced_since(from: u64, moment: Timestamp) -> Option<u64>;
    }
    IdempotencyTransaction {
        fn lock_idempotency_record(tenant: TenantId, id: &[u8; 32]) -> Option<IdempotencyRecord>;
    }
}
