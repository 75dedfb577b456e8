use async_trait::async_trait;
use iam_model::access::{Until, VisibleScope};
use iam_model::change::InvitationChange;
use iam_model::clock::Timestamp;
use iam_model::id::{InvitationId, OrganizationId, RoleId, TenantId};
use iam_model::invitation::{Invitation, InvitationFilter, InvitationStatus, InvitedRole, offered_until};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{InvitationStore, InvitationTransaction};
use iam_model::store_error::{Constraint, StoreError};

use super::rows::{Draft, Row, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold, newest_first, page};

impl Row for Invitation {
    const TABLE: &'static str = "invitations";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

#[async_trait]
impl InvitationStore for RedbStore {
    async fn invitation(&self, tenant: TenantId, id: InvitationId) -> Result<Option<Invitation>, StoreError> {
        self.read(tenant, |view| view.get(&key(id)))
    }

    async fn invitations(
        &self,
        tenant: TenantId,
        filter: &InvitationFilter,
        scope: &VisibleScope,
        request: PageRequest,
        now: Timestamp,
    ) -> Result<Page<Invitation>, StoreError> {
        let found = self.read(tenant, |view| {
            let organizations = view.organizations()?;
            view.select(|found: &Invitation| {
                filter.matches(found, now)
                    && found.is_visible(scope, |organization| organizations.is_visible(scope, Some(organization)))
            })
        })?;
        Ok(page(newest_first(found, |invitation| (invitation.created_at, invitation.id)), request))
    }
}

#[async_trait]
impl InvitationTransaction for RedbTransaction {
    async fn lock_invitation(&mut self, id: InvitationId) -> Result<Option<Invitation>, StoreError> {
        self.view().get(&key(id))
    }

    async fn pending_invitations(&mut self, now: Timestamp) -> Result<u64, StoreError> {
        Ok(self.pending(now)?.len() as u64)
    }

    async fn roles_offered_in(
        &mut self,
        organizations: &[OrganizationId],
        now: Timestamp,
    ) -> Result<Vec<InvitedRole>, StoreError> {
        let offered = self.pending(now)?.into_iter().flat_map(|invitation| invitation.roles);
        let is_there = |role: &InvitedRole| role.organization_id.is_some_and(|id| organizations.contains(&id));
        Ok(offered.filter(is_there).collect())
    }

    async fn roles_offered_until(&mut self, roles: &[RoleId], now: Timestamp) -> Result<Option<Until>, StoreError> {
        Ok(self.pending(now)?.iter().filter_map(|invitation| offered_until(&invitation.roles, roles)).max())
    }
}

impl RedbTransaction {
    /// The invitations that can be accepted at a moment.
    fn pending(&self, now: Timestamp) -> Result<Vec<Invitation>, StoreError> {
        self.view().select(|found: &Invitation| found.status_at(now) == InvitationStatus::Pending)
    }
}

impl Draft<'_> {
    pub(super) fn write_invitation(self, change: &InvitationChange) -> Result<(), StoreError> {
        match change {
            InvitationChange::Create { invitation, .. } => {
                self.hold_tenant()?;
                let pending = self.view().select(|other: &Invitation| {
                    other.status == InvitationStatus::Pending && other.email.key() == invitation.email.key()
                })?;
                for other in pending {
                    hold(Constraint::Invitation, other.expires_at <= invitation.created_at)?;
                    self.put(Invitation { status: InvitationStatus::Expired, ..other })?;
                }
                self.put(invitation.clone())
            }
            InvitationChange::Renew { after, .. }
            | InvitationChange::Send { after }
            | InvitationChange::Accept { after, .. }
            | InvitationChange::Revoke { after, .. } => {
                let stored: Option<Invitation> = self.view().get(&key(after.id))?;
                let stored = stored.ok_or(StoreError::Missing("invitation"))?;
                self.put(Invitation { status: after.status, expires_at: after.expires_at, ..stored })
            }
        }
    }
}
