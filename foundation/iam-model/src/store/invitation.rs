use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::access::{Until, VisibleScope};
use crate::clock::Timestamp;
use crate::id::{InvitationId, OrganizationId, RoleId, TenantId};
use crate::invitation::{Invitation, InvitationFilter, InvitedRole};
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

    /// Returns how many invitations of the tenant can be accepted at a moment.
    async fn pending_invitations(&mut self, now: Timestamp) -> Result<u64, StoreError>;

    /// Returns the roles that invitations offer in these organizations and that can be accepted at a moment, in no
    /// particular order.
    async fn roles_offered_in(
        &mut self,
        organizations: &[OrganizationId],
        now: Timestamp,
    ) -> Result<Vec<InvitedRole>, StoreError>;

    /// Returns the latest time until which an invitation that can be accepted at a moment offers one of these roles;
    /// `None` if no such invitation offers one.
    async fn roles_offered_until(&mut self, roles: &[RoleId], now: Timestamp) -> Result<Option<Until>, StoreError>;
}
