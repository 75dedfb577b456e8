//! The ports that a store implements.
//!
//! The module of each noun defines a port with its reads ([`UserStore`], [`SessionStore`], …). A [`Store`] implements
//! all of them and begins [`Transaction`]s, which are the only way to write. The suite `iam-conformance` defines what
//! each method must do. `docs/custom-store.md` in the repository describes in which order to write a store, and the
//! typical mistakes.

mod access_request;
mod access_review;
mod api_key;
mod assignment;
mod attribute;
mod audit;
mod credential;
mod directory;
mod directory_group;
mod directory_user;
mod domain;
mod eligibility;
mod factor;
mod feed;
mod history;
mod host;
mod idempotency;
mod identity;
mod identity_provider;
mod invitation;
mod legal_hold;
mod link;
mod mail;
mod maintenance;
mod manifest;
mod observed;
mod organization;
mod permission;
mod role;
mod session;
mod signing_key;
mod tenant;
mod tenant_deletion;
mod user;
mod webhook;

pub use access_request::{AccessRequestStore, AccessRequestTransaction};
pub use access_review::{AccessReviewStore, AccessReviewTransaction};
pub use api_key::{ApiKeySnapshot, ApiKeyStore, ApiKeyTransaction};
pub use assignment::{AssignmentStore, AssignmentTransaction, GrantQuery};
pub use attribute::{AttributeStore, AttributeTransaction};
pub use audit::{AuditStore, AuditTransaction, SequenceStore};
pub use credential::{CredentialStore, CredentialTransaction};
pub use directory::{DirectoryStore, DirectoryTransaction};
pub use directory_group::{DirectoryGroupStore, DirectoryGroupTransaction};
pub use directory_user::{DirectoryUserStore, DirectoryUserTransaction};
pub use domain::{DomainStore, DomainTransaction};
pub use eligibility::{EligibilityStore, EligibilityTransaction};
pub use factor::{FactorStore, FactorTransaction};
pub use feed::{ChangeFeed, FeedNotification};
pub use history::{HistoryStore, HolderQuery};
pub use host::HostTransaction;
pub use idempotency::IdempotencyTransaction;
pub use identity::{IdentityStore, IdentityTransaction};
pub use identity_provider::{IdentityProviderStore, IdentityProviderTransaction};
pub use invitation::{InvitationStore, InvitationTransaction};
pub use legal_hold::{LegalHoldStore, LegalHoldTransaction};
pub use link::{LinkStore, LinkTransaction};
pub use mail::{MailStore, MailTransaction};
pub use maintenance::{LocalTurns, MaintenanceStore, Totals, Turn};
pub use manifest::ManifestTransaction;
pub use observed::Observed;
pub use organization::{OrganizationStore, OrganizationTransaction};
pub use permission::{PermissionStore, PermissionTransaction};
pub use role::{RoleStore, RoleTransaction};
pub use session::{SessionDetails, SessionSnapshot, SessionStore, SessionTransaction};
pub use signing_key::KeyStore;
pub use tenant::{Directory, TenantStore, TenantTransaction};
pub use tenant_deletion::{TenantDeletionStore, TenantDeletionTransaction};
pub use user::{UserStore, UserTransaction};
pub use webhook::{WebhookStore, WebhookTransaction};

use std::sync::Arc;

use async_trait::async_trait;

use crate::change::{AuditBatch, Change, CredentialChange};
use crate::clock::Timestamp;
use crate::id::TenantId;
use crate::store::observed::{ObservedTransaction, timed};
use crate::store_error::StoreError;

/// A store of all data. Cheap to share.
///
/// Reads see committed data only. Every method needs a tenant, with these exceptions: [`Directory`], which finds
/// the tenant, [`KeyStore`], whose keys belong to the installation, and background work for all tenants.
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
    + HistoryStore
    + AuditStore
    + SequenceStore
    + MaintenanceStore
    + KeyStore
    + InvitationStore
    + LinkStore
    + MailStore
    + FactorStore
    + ApiKeyStore
    + WebhookStore
    + AccessReviewStore
    + DomainStore
    + IdentityProviderStore
    + IdentityStore
    + DirectoryStore
    + DirectoryUserStore
    + DirectoryGroupStore
    + EligibilityStore
    + AccessRequestStore
    + AttributeStore
    + LegalHoldStore
    + TenantDeletionStore
    + Send
    + Sync
    + 'static
{
    /// Begins a unit of work in a tenant. All its reads and writes are in that tenant.
    async fn begin(&self, tenant: TenantId) -> Result<Box<dyn Transaction>, StoreError>;

    /// Checks that the store answers.
    async fn ping(&self) -> Result<(), StoreError>;

    /// Whether every migration that this program knows has run.
    async fn is_migrated(&self) -> Result<bool, StoreError>;

    /// Prepares for the near future, for instance for next month's entries of the audit log. It is called at the start
    /// and periodically. A store without anything to prepare does nothing.
    async fn prepare(&self, _now: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }

    /// Opens a feed of all later commits that may change the rights of a user, by this and other processes. A store
    /// without a feed returns `None`, and is then queried for every request.
    async fn change_feed(&self) -> Result<Option<Box<dyn ChangeFeed>>, StoreError> {
        Ok(None)
    }

    /// Waits until its resources are unused, and releases them. No method may be called afterwards.
    async fn close(&self);

    /// Returns the kind of store, as a word for people.
    fn kind(&self) -> &'static str;
}

/// The state of a database's schema, compared with the migrations that this program knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// All known migrations have run, and no others.
    UpToDate,
    /// Some known migrations have not run yet.
    Behind,
    /// A migration has run that this program does not know: a newer program has migrated the database, or a migration
    /// was edited.
    Unknown,
}

impl Schema {
    /// Returns the state from two facts: whether every migration that has run is known, and whether every known
    /// migration has run.
    #[must_use]
    pub fn of(are_known: bool, are_complete: bool) -> Self {
        match (are_known, are_complete) {
            (true, true) => Self::UpToDate,
            (true, false) => Self::Behind,
            (false, _) => Self::Unknown,
        }
    }
}

/// The reads of a unit of work before it decides. Methods named `lock_…` lock their rows until it ends. What the others
/// read stays valid only under the lock of the tenant or of the account.
pub trait TransactionReads:
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
    + InvitationTransaction
    + LinkTransaction
    + MailTransaction
    + FactorTransaction
    + ApiKeyTransaction
    + WebhookTransaction
    + AccessReviewTransaction
    + DomainTransaction
    + IdentityProviderTransaction
    + IdentityTransaction
    + DirectoryTransaction
    + DirectoryUserTransaction
    + DirectoryGroupTransaction
    + EligibilityTransaction
    + AccessRequestTransaction
    + ManifestTransaction
    + AttributeTransaction
    + LegalHoldTransaction
    + TenantDeletionTransaction
    + Send
{
}

impl<T> TransactionReads for T where
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
        + InvitationTransaction
        + LinkTransaction
        + MailTransaction
        + FactorTransaction
        + ApiKeyTransaction
        + WebhookTransaction
        + AccessReviewTransaction
        + DomainTransaction
        + IdentityProviderTransaction
        + IdentityTransaction
        + DirectoryTransaction
        + DirectoryUserTransaction
        + DirectoryGroupTransaction
        + EligibilityTransaction
        + AccessRequestTransaction
        + ManifestTransaction
        + AttributeTransaction
        + LegalHoldTransaction
        + TenantDeletionTransaction
        + Send
{
}

/// A transaction of a unit of work in one tenant. Dropping it rolls back.
///
/// Every write needs the [`AuditBatch`] of its change.
#[async_trait]
pub trait Transaction: TransactionReads {
    /// Writes a change and the audit entries that record it. A violated constraint is a [`StoreError::Conflict`]. After
    /// an error, the transaction can only be dropped.
    async fn write(&mut self, change: &Change, audit: AuditBatch) -> Result<(), StoreError>;

    /// Commits: makes all writes durable, or none.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;
}

// The wrapper around a whole store is written by hand: `begin` also wraps the transaction, a transaction reports failed
// logins once it is committed, and `close` and `kind` are not operations to measure.

#[async_trait]
impl<S: Store + ?Sized> Store for Observed<S> {
    async fn begin(&self, tenant: TenantId) -> Result<Box<dyn Transaction>, StoreError> {
        let store = timed(&*self.observer, "begin", self.store.begin(tenant)).await?;
        let observer = Arc::clone(&self.observer);
        Ok(Box::new(ObservedTransaction { store, observer, failures: Vec::new() }))
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
impl Transaction for ObservedTransaction<dyn Transaction> {
    async fn write(&mut self, change: &Change, audit: AuditBatch) -> Result<(), StoreError> {
        timed(&*self.observer, "write", self.store.write(change, audit)).await?;
        if let Change::Credential(
            CredentialChange::CountFailure { reason, is_recorded: true, .. } | CredentialChange::Refuse { reason, .. },
        ) = change
        {
            self.failures.push(*reason);
        }
        Ok(())
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        let Self { store, observer, failures } = *self;
        timed(&*observer, "commit", store.commit()).await?;
        failures.into_iter().for_each(|reason| observer.login_failed(reason));
        Ok(())
    }
}
