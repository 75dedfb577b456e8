//! A [`Store`] in memory: for tests, for examples, and as the model that the other stores are compared with.
//!
//! It keeps the same promises as the databases, but for durability: a unit of work sees a copy of its tenant, works
//! on it alone (writers queue), and swaps it in when it commits. Copying costs in proportion to the tenant, so this
//! is not the store for a million users.

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

/// Keeps everything in memory; clones share it.
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

/// Everything that is committed.
#[derive(Default)]
struct State {
    tenants: BTreeMap<TenantId, Arc<TenantState>>,
    audit: BTreeMap<TenantId, AuditLog>,
    keys: Vec<SigningKey>,
    idempotency: BTreeMap<(TenantId, [u8; 32]), IdempotencyRecord>,
}

/// What is kept of one tenant; of [`TenantId::NONE`], login attempts alone.
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

    /// The committed state of a tenant; an empty one where nothing was committed.
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
            kept: Vec::new(),
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

/// Refuses what violates a constraint.
fn hold(constraint: Constraint, holds: bool) -> Result<(), StoreError> {
    if holds { Ok(()) } else { Err(StoreError::Conflict(constraint)) }
}

/// The page that was asked for of everything that was found, in the order in which it stands.
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
