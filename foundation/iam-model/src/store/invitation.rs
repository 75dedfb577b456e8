use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::access::VisibleScope;
use crate::clock::Timestamp;
use crate::id::{InvitationId, TenantId};
use crate::invitation::{Invitation, InvitationFilter};
use crate::page::{Page, PageRequest};
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads invitations.
#[apply(observed)]
#[async_trait]
pub trait InvitationStore {
    /// Returns the invitation with this identifier, in any status.
    async fn invitation(&self, tenant: TenantId, id: InvitationId) -> Result<Option<Invitation>, StoreError>;

    /// Returns a page of the invitations in the visible scope that pass the filter at a moment, newest first, then by
    /// identifier, with the exact number of all such invitations. See [`Invitation::is_visible`].
    async fn invitations(
        &self,
        tenant: TenantId,
        filter: &InvitationFilter,
        visible_scope: &VisibleScope,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<Invitation>, StoreError>;
}

/// Reads invitations inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait InvitationTransaction {
    /// Returns the invitation with this identifier, in any status, and locks it until the unit of work ends.
    async fn lock_invitation(&mut self, id: InvitationId) -> Result<Option<Invitation>, StoreError>;
}
