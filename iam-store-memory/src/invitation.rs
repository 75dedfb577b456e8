use async_trait::async_trait;
use iam_model::access::{Until, VisibleScope};
use iam_model::change::InvitationChange;
use iam_model::clock::Timestamp;
use iam_model::id::{InvitationId, OrganizationId, RoleId, TenantId};
use iam_model::invitation::{Invitation, InvitationFilter, InvitationStatus, InvitedRole, offered_until};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{InvitationStore, InvitationTransaction};
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold, newest_first, page};

#[async_trait]
impl InvitationStore for MemoryStore {
    async fn invitation(&self, tenant: TenantId, id: InvitationId) -> Result<Option<Invitation>, StoreError> {
        Ok(self.tenant_state(tenant).invitations.get(&id).cloned())
    }

    async fn invitations(
        &self,
        tenant: TenantId,
        filter: &InvitationFilter,
        visible_scope: &VisibleScope,
        request: PageRequest,
        now: Timestamp,
    ) -> Result<Page<Invitation>, StoreError> {
        let state = self.tenant_state(tenant);
        let passes = |found: &&Invitation| {
            filter.matches(found, now)
                && found.is_visible(visible_scope, |id| state.is_visible(visible_scope, Some(id)))
        };
        let mut found: Vec<&Invitation> = state.invitations.values().filter(passes).collect();
        newest_first(&mut found, |invitation| (invitation.created_at, invitation.id));
        Ok(page(&found, request))
    }
}

#[async_trait]
impl InvitationTransaction for MemoryTransaction {
    async fn lock_invitation(&mut self, id: InvitationId) -> Result<Option<Invitation>, StoreError> {
        Ok(self.draft.invitations.get(&id).cloned())
    }

    async fn pending_invitations(&mut self, now: Timestamp) -> Result<u64, StoreError> {
        Ok(self.pending(now).count() as u64)
    }

    async fn roles_offered_in(
        &mut self,
        organizations: &[OrganizationId],
        now: Timestamp,
    ) -> Result<Vec<InvitedRole>, StoreError> {
        let offered = self.pending(now).flat_map(|invitation| &invitation.roles);
        let is_there = |role: &&InvitedRole| role.organization_id.is_some_and(|id| organizations.contains(&id));
        Ok(offered.filter(is_there).copied().collect())
    }

    async fn roles_offered_until(&mut self, roles: &[RoleId], now: Timestamp) -> Result<Option<Until>, StoreError> {
        Ok(self.pending(now).filter_map(|invitation| offered_until(&invitation.roles, roles)).max())
    }
}

impl MemoryTransaction {
    /// The invitations that can be accepted at a moment.
    fn pending(&self, now: Timestamp) -> impl Iterator<Item = &Invitation> {
        let is_pending = move |found: &&Invitation| found.status_at(now) == InvitationStatus::Pending;
        self.draft.invitations.values().filter(is_pending)
    }
}

impl TenantState {
    pub(super) fn write_invitation(&mut self, change: &InvitationChange) -> Result<(), StoreError> {
        match change {
            InvitationChange::Create { invitation, .. } => {
                hold(Constraint::Reference, self.tenant.is_some())?;
                let is_pending = |other: &&mut Invitation| {
                    other.status == InvitationStatus::Pending && other.email.key() == invitation.email.key()
                };
                if let Some(pending) = self.invitations.values_mut().find(is_pending) {
                    hold(Constraint::Invitation, pending.expires_at <= invitation.created_at)?;
                    pending.status = InvitationStatus::Expired;
                }
                self.invitations.insert(invitation.id, invitation.clone());
                Ok(())
            }
            InvitationChange::Renew { after, .. }
            | InvitationChange::Send { after }
            | InvitationChange::Accept { after, .. }
            | InvitationChange::Revoke { after, .. } => {
                let stored = self.invitations.get_mut(&after.id).ok_or(StoreError::Missing("invitation"))?;
                (stored.status, stored.expires_at) = (after.status, after.expires_at);
                Ok(())
            }
        }
    }
}
