use async_trait::async_trait;
use macro_rules_attribute::apply;
use uuid::Uuid;

use crate::id::TenantId;
use crate::link::{Link, LinkPurpose};
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads links.
#[apply(observed)]
#[async_trait]
pub trait LinkStore {
    /// Returns the link with this digest of its token, also if it has expired.
    async fn link_by_token(&self, tenant: TenantId, token_hash: &[u8; 32]) -> Result<Option<Link>, StoreError>;

    /// Returns the newest link for a purpose and a subject, also if it has expired.
    async fn link(&self, tenant: TenantId, purpose: LinkPurpose, subject: Uuid) -> Result<Option<Link>, StoreError>;
}

/// Reads links inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait LinkTransaction {
    /// Returns the newest link for a purpose and a subject, also if it has expired, and locks it until the unit of work
    /// ends. Of two concurrent units of work that end one link, the second finds none.
    async fn lock_link(&mut self, purpose: LinkPurpose, subject: Uuid) -> Result<Option<Link>, StoreError>;
}
