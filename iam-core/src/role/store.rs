use async_trait::async_trait;

use super::Role;
use crate::error::StoreError;
use crate::id::TenantId;

/// Reads roles.
#[async_trait]
pub trait RoleStore {
    /// The role with this name.
    async fn role_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<Role>, StoreError>;
}
