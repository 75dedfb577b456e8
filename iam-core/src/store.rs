//! The ports that a store implements.
//!
//! Every noun says what it reads in its own module ([`UserStore`], [`SessionStore`], …); a [`Store`] is all of them
//! and begins [`Transaction`]s, through which alone anything is written. The
//! [`conformance`](crate::conformance) suite says what each method must do, and `docs/custom-store.md` in the repository
//! in which order to write a store, and what goes wrong where.

use async_trait::async_trait;

use crate::assignment::{AssignmentStore, AssignmentTransaction};
use crate::audit::{AuditBatch, AuditStore, AuditTransaction, SealStore};
use crate::change::Change;
use crate::clock::Timestamp;
use crate::credential::{CredentialStore, CredentialTransaction};
use crate::error::StoreError;
use crate::feed::ChangeFeed;
use crate::id::TenantId;
use crate::idempotency::IdempotencyTransaction;
use crate::maintenance::MaintenanceStore;
use crate::organization::{OrganizationStore, OrganizationTransaction};
use crate::permission::{PermissionStore, PermissionTransaction};
use crate::role::{RoleStore, RoleTransaction};
use crate::session::{SessionStore, SessionTransaction};
use crate::tenant::{Directory, TenantStore, TenantTransaction};
use crate::token::KeyStore;
use crate::user::{UserStore, UserTransaction};

/// Keeps everything; cheap to share.
///
/// Reads see committed data only. No method can be called without a tenant, but for [`Directory`] (which finds it)
/// and [`KeyStore`] (whose keys are the installation's).
#[async_trait]
pub trait Store:
    Directory
    + TenantStore
    + UserStore
    + CredentialStore
    + SessionStore
    + PermissionStore
    + RoleStore
    + OrganizationStore
    + AssignmentStore
    + AuditStore
    + SealStore
    + MaintenanceStore
    + KeyStore
    + Send
    + Sync
    + 'static
{
    /// Begins a unit of work in a tenant. Whatever it reads and writes is of that tenant.
    async fn begin(&self, tenant: TenantId) -> Result<Box<dyn Transaction>, StoreError>;

    /// Asks whether the store answers.
    async fn ping(&self) -> Result<(), StoreError>;

    /// Whether every migration that this program knows has run.
    async fn is_migrated(&self) -> Result<bool, StoreError>;

    /// Prepares for what is to come, such as next month's entries of the audit log. It is asked now and then, and at the
    /// start; a store with nothing to prepare has nothing to do.
    async fn prepare(&self, _now: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }

    /// Tells from now on what is committed that may change who may do what, also by other processes. A store that cannot
    /// tell gives none, and is asked anew for every request.
    async fn change_feed(&self) -> Result<Option<Box<dyn ChangeFeed>>, StoreError> {
        Ok(None)
    }

    /// Gives back what it holds, waiting for those who use it. Nothing may be asked of it afterwards.
    async fn close(&self);

    /// A word for people: which kind of store this is.
    fn kind(&self) -> &'static str;
}

/// How the schema of a database stands to the migrations that this program knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// All of them have run, and no others.
    UpToDate,
    /// Some of them have not run yet.
    Behind,
    /// Something has run that this program does not know: a newer one has been there, or a migration was edited.
    Unknown,
}

impl Schema {
    /// What it amounts to whether every migration that has run is known, and every known one has run.
    #[must_use]
    pub fn of(are_known: bool, are_complete: bool) -> Self {
        match (are_known, are_complete) {
            (true, true) => Self::UpToDate,
            (true, false) => Self::Behind,
            (false, _) => Self::Unknown,
        }
    }
}

/// What a unit of work reads before it decides, locked until it ends.
pub trait Locks:
    TenantTransaction
    + UserTransaction
    + CredentialTransaction
    + SessionTransaction
    + PermissionTransaction
    + RoleTransaction
    + OrganizationTransaction
    + AssignmentTransaction
    + AuditTransaction
    + IdempotencyTransaction
    + Send
{
}

impl<T> Locks for T where
    T: TenantTransaction
        + UserTransaction
        + CredentialTransaction
        + SessionTransaction
        + PermissionTransaction
        + RoleTransaction
        + OrganizationTransaction
        + AssignmentTransaction
        + AuditTransaction
        + IdempotencyTransaction
        + Send
{
}

/// A unit of work in one tenant. Dropping it leaves nothing behind.
///
/// Nothing can be written without an [`AuditBatch`], and only [`UnitOfWork`](crate::UnitOfWork) makes those.
#[async_trait]
pub trait Transaction: Locks {
    /// Writes a change and the audit entries that record it. A violated constraint is a [`StoreError::Conflict`]; after
    /// any error only dropping is left.
    async fn write(&mut self, change: &Change, audit: AuditBatch) -> Result<(), StoreError>;

    /// Makes everything durable, or nothing.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;
}
