use async_trait::async_trait;
use macro_rules_attribute::apply;
use uuid::Uuid;

use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads the record of what manifests have made, inside a unit of work.
///
/// It changes only under [`lock_tenant`](crate::store::TenantTransaction::lock_tenant). While the unit of work holds
/// this lock, the result stays valid.
#[apply(observed)]
#[async_trait]
pub trait ManifestTransaction {
    /// Returns the identifiers of all items that manifests have made, in no particular order. Some of the items may be
    /// gone.
    async fn manifest_items(&mut self) -> Result<Vec<Uuid>, StoreError>;
}
