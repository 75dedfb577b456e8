use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::clock::Timestamp;
use crate::directory::{Directory, DirectoryActivity, DirectoryRefusal};
use crate::id::{DirectoryId, TenantId, UserId};
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads directories, and keeps what they have sent last.
#[apply(observed)]
#[async_trait]
pub trait DirectoryStore {
    /// Returns a directory.
    async fn directory(&self, tenant: TenantId, id: DirectoryId) -> Result<Option<Directory>, StoreError>;

    /// Returns the directories of a tenant with what each has sent last, by name, then by identifier.
    async fn directories(&self, tenant: TenantId) -> Result<Vec<(Directory, DirectoryActivity)>, StoreError>;

    /// Returns the directory of a service account. There is one at most.
    async fn directory_of_account(&self, tenant: TenantId, account: UserId) -> Result<Option<Directory>, StoreError>;

    /// Keeps when a request of a directory arrived, unless a later one is kept. Keeps a refusal before all others, and
    /// the first [`MAX`](DirectoryRefusal::MAX) of them. It does nothing for a directory that does not exist. It is not
    /// audited, and does not raise the version.
    async fn record_directory_request(
        &self,
        tenant: TenantId,
        id: DirectoryId,
        at: Timestamp,
        refusal: Option<&DirectoryRefusal>,
    ) -> Result<(), StoreError>;
}

/// Reads directories inside a unit of work.
///
/// They change only under [`lock_tenant`](crate::store::TenantTransaction::lock_tenant). While the unit of work holds
/// this lock, the results of these reads stay valid.
#[apply(observed)]
#[async_trait]
pub trait DirectoryTransaction {
    /// Returns the directories of the tenant, by name, then by identifier.
    async fn directories(&mut self) -> Result<Vec<Directory>, StoreError>;
}
