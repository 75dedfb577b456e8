use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::attribute::{AttributeOwner, AttributeRules, Attributes};
use crate::id::{TenantId, UserId};
use crate::store::observed::observed;
use crate::store_error::StoreError;
use crate::user::User;

/// Reads attributes. They are written by the changes of users and organizations.
#[apply(observed)]
#[async_trait]
pub trait AttributeStore {
    /// Returns the attributes of a user or an organization; none for one that does not exist.
    async fn attributes(&self, tenant: TenantId, owner: AttributeOwner) -> Result<Attributes, StoreError>;

    /// Returns a user with its attributes.
    async fn user_with_attributes(
        &self,
        tenant: TenantId,
        user: UserId,
    ) -> Result<Option<(User, Attributes)>, StoreError>;

    /// Returns the attributes of these users, in no particular order. Users without attributes are left out.
    async fn attributes_of(&self, tenant: TenantId, users: &[UserId]) -> Result<Vec<(UserId, Attributes)>, StoreError>;
}

/// Reads attributes inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait AttributeTransaction {
    /// Returns attributes as [`AttributeStore::attributes`] does. Those of a user change only under the lock of the user,
    /// and those of an organization only under [`lock_tenant`](crate::store::TenantTransaction::lock_tenant).
    async fn attributes(&mut self, owner: AttributeOwner) -> Result<Attributes, StoreError>;

    /// Returns the rules of the tenant. They may change at any time.
    async fn attribute_rules(&mut self) -> Result<AttributeRules, StoreError>;
}
