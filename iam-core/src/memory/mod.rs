//! A [`Store`] in memory: for tests, for examples, and as the model that the other stores are compared with.
//!
//! It gives the same guarantees as the databases, except durability. A unit of work changes its own copy of its tenant,
//! and replaces the tenant by the copy when it commits. Units of work are serialized. The cost of the copy is
//! proportional to the size of the tenant, so this store does not suit a million users.

mod assignment;
mod audit;
mod credential;
mod idempotency;
mod maintenance;
mod organization;
mod permission;
mod role;
mod session;
mod tenant;
mod token;
mod transaction;
mod user;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use tokio::sync::Mutex;

use crate::assignment::Assignment;
use crate::clock::Timestamp;
use crate::credential::LoginAttempts;
use crate::error::{Constraint, StoreError};
use crate::id::{AssignmentId, OrganizationId, PermissionId, RoleId, SessionId, TenantId, UserId};
use crate::idempotency::IdempotencyRecord;
use crate::organization::Organization;
use crate::page::{Page, PageRequest};
use crate::permission::RegisteredPermission;
use crate::role::Role;
use crate::secret::PasswordHash;
use crate::session::Session;
use crate::store::{Store, Transaction};
use crate::tenant::Tenant;
use crate::token::SigningKey;
use crate::user::User;
use crate::validate::EmailKey;
use audit::AuditLog;
use transaction::MemoryTransaction;

/// A store in memory. Clones share its content.
///
/// ```
/// use std::sync::Arc;
///
/// use iam_core::{Iam, memory::MemoryStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> iam_core::Result<()> {
/// let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await?;
/// assert!(iam.is_migrated().await?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct MemoryStore {
    state: Arc<RwLock<State>>,
    writer: Arc<Mutex<()>>,
}

/// The committed state of all tenants.
#[derive(Default)]
struct State {
    tenants: BTreeMap<TenantId, Arc<TenantState>>,
    audit: BTreeMap<TenantId, AuditLog>,
    keys: Vec<SigningKey>,
    idempotency: BTreeMap<(TenantId, [u8; 32]), IdempotencyRecord>,
}

/// The state of one tenant. For [`TenantId::NONE`], it contains login attempts only.
#[derive(Clone, Default)]
struct TenantState {
    tenant: Option<Tenant>,
    users: BTreeMap<UserId, User>,
    passwords: BTreeMap<UserId, PasswordHash>,
    attempts: BTreeMap<EmailKey, LoginAttempts>,
    sessions: BTreeMap<SessionId, Session>,
    permissions: BTreeMap<PermissionId, RegisteredPermission>,
    roles: BTreeMap<RoleId, Arc<Role>>,
    organizations: BTreeMap<OrganizationId, Organization>,
    assignments: BTreeMap<AssignmentId, Assignment>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// The committed state of a tenant; an empty state if nothing was committed.
    fn tenant_state(&self, tenant: TenantId) -> Arc<TenantState> {
        self.read(|state| state.tenants.get(&tenant).cloned().unwrap_or_default())
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn begin(&self, tenant: TenantId) -> Result<Box<dyn Transaction>, StoreError> {
        let writer = Arc::clone(&self.writer).lock_owned().await;
        let draft = TenantState::clone(&self.tenant_state(tenant));
        Ok(Box::new(MemoryTransaction {
            store: self.clone(),
            tenant,
            draft,
            audit: Vec::new(),
            entries: Vec::new(),
            idempotency: Vec::new(),
            cleared: Vec::new(),
            _writer: writer,
        }))
    }

    async fn ping(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn is_migrated(&self) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn close(&self) {}

    fn kind(&self) -> &'static str {
        "memory"
    }
}

/// Returns a conflict if the constraint does not hold.
fn hold(constraint: Constraint, holds: bool) -> Result<(), StoreError> {
    if holds { Ok(()) } else { Err(StoreError::Conflict(constraint)) }
}

/// Returns the requested page of the items found, in the order of `found`.
fn page<T: Clone>(found: &[&T], request: PageRequest) -> Page<T> {
    let offset = usize::try_from(request.offset()).unwrap_or(usize::MAX);
    let items = found.iter().skip(offset).take(request.limit() as usize).map(|item| T::clone(item)).collect();
    Page { items, total: found.len() as u64, request }
}

/// Sorts newest first, then by identifier.
fn newest_first<T, I: Ord>(found: &mut [T], key: impl Fn(&T) -> (Timestamp, I)) {
    found.sort_by_key(|item| {
        let (created_at, id) = key(item);
        (Reverse(created_at), id)
    });
}
