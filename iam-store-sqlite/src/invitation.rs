use async_trait::async_trait;
use iam_model::access::{Until, VisibleScope};
use iam_model::change::InvitationChange;
use iam_model::clock::Timestamp;
use iam_model::id::{InvitationId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::invitation::{Invitation, InvitationFilter, InvitedRole, offered_until};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{InvitationStore, InvitationTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::PersonName;
use iam_store_sql::column::counted;
use iam_store_sql::error::expect_row;
use iam_store_sql::invitation::{InvitationRow, InvitedRoles, list};
use sqlx::types::Json;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = InvitationRow<i64>;

#[async_trait]
impl InvitationStore for SqliteStore {
    async fn invitation(&self, tenant: TenantId, id: InvitationId) -> Result<Option<Invitation>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, email, first_name, last_name, roles AS "roles: Json<Vec<InvitedRole>>", status,
                invited_by, expires_at, created_at
            FROM invitations
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Invitation::try_from).transpose()
    }

    async fn invitations(
        &self,
        tenant: TenantId,
        filter: &InvitationFilter,
        visible_scope: &VisibleScope,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<Invitation>, StoreError> {
        let scope = self.scope(tenant, visible_scope).await?;
        let list = |page| list::<Self>(tenant, filter, page, now, &scope);
        self.page::<Invitation, Row>(tenant, page, list).await
    }
}

#[async_trait]
impl InvitationTransaction for SqliteTransaction {
    async fn lock_invitation(&mut self, id: InvitationId) -> Result<Option<Invitation>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, email, first_name, last_name, roles AS "roles: Json<Vec<InvitedRole>>", status,
                invited_by, expires_at, created_at
            FROM invitations
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            id.as_uuid()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(Invitation::try_from).transpose()
    }

    async fn pending_invitations(&mut self, now: Timestamp) -> Result<u64, StoreError> {
        let count = sqlx::query_scalar!(
            r#"
            SELECT count(*) AS "count!"
            FROM invitations
            WHERE tenant_id = ?1 AND status = 'PENDING' AND expires_at > ?2
            "#,
            self.tenant(),
            millis(now)
        );
        counted("invitations", count.fetch_one(self.connection()).await.map_err(store_error)?)
    }

    async fn roles_offered_in(
        &mut self,
        organizations: &[OrganizationId],
        now: Timestamp,
    ) -> Result<Vec<InvitedRole>, StoreError> {
        let offered = sqlx::query_scalar!(
            r#"
            SELECT CAST(r.value AS TEXT) AS "role!: Json<InvitedRole>"
            FROM invitations i, json_each(i.roles) r
            WHERE i.tenant_id = ?1
                AND i.status = 'PENDING'
                AND i.expires_at > ?2
                AND r.value ->> 'organizationId' IN (SELECT value FROM json_each(?3))
            "#,
            self.tenant(),
            millis(now),
            Json(organizations)
        );
        let offered = offered.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(offered.into_iter().map(|Json(role)| role).collect())
    }

    async fn roles_offered_until(&mut self, roles: &[RoleId], now: Timestamp) -> Result<Option<Until>, StoreError> {
        let offering = sqlx::query_scalar!(
            r#"
            SELECT i.roles AS "roles: Json<Vec<InvitedRole>>"
            FROM invitations i
            WHERE i.tenant_id = ?1
                AND i.status = 'PENDING'
                AND i.expires_at > ?2
                AND EXISTS (
                    SELECT 1
                    FROM json_each(i.roles) r
                    WHERE r.value ->> 'roleId' IN (SELECT value FROM json_each(?3))
                )
            "#,
            self.tenant(),
            millis(now),
            Json(roles)
        );
        let offering = offering.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(offering.iter().filter_map(|offered| offered_until(offered, roles)).max())
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_invitation(&mut self, change: &InvitationChange) -> Result<(), StoreError> {
        match change {
            InvitationChange::Create { invitation, .. } => self.insert_invitation(invitation).await,
            InvitationChange::Send { after } => self.send_invitation(after).await,
            InvitationChange::Renew { after, .. }
            | InvitationChange::Accept { after, .. }
            | InvitationChange::Revoke { after, .. } => self.update_invitation(after).await,
        }
    }

    async fn insert_invitation(&mut self, invitation: &Invitation) -> Result<(), StoreError> {
        let (email, created_at) = (invitation.email.key(), millis(invitation.created_at));
        let expire = sqlx::query!(
            r#"
            UPDATE invitations
            SET status = 'EXPIRED'
            WHERE tenant_id = ?1 AND email_key = ?2 AND status = 'PENDING' AND expires_at <= ?3
            "#,
            self.tenant(),
            email.as_str(),
            created_at
        );
        self.execute(expire).await?;
        let insert = sqlx::query!(
            r#"
            INSERT INTO invitations (
                tenant_id, id, email, email_key, first_name, last_name, roles, status, invited_by, expires_at,
                created_at, keyed
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 1)
            "#,
            self.tenant(),
            invitation.id.as_uuid(),
            invitation.email.as_str(),
            email.as_str(),
            invitation.first_name.as_ref().map(PersonName::as_str),
            invitation.last_name.as_ref().map(PersonName::as_str),
            Json(&invitation.roles) as _,
            invitation.status.as_str(),
            invitation.invited_by.map(UserId::as_uuid),
            millis(invitation.expires_at),
            created_at
        );
        self.execute(insert).await.map(drop)
    }

    async fn send_invitation(&mut self, invitation: &Invitation) -> Result<(), StoreError> {
        let update = sqlx::query!(
            "UPDATE invitations SET expires_at = ?3 WHERE tenant_id = ?1 AND id = ?2",
            self.tenant(),
            invitation.id.as_uuid(),
            millis(invitation.expires_at)
        );
        expect_row(self.execute(update).await?, "invitation")
    }

    async fn update_invitation(&mut self, invitation: &Invitation) -> Result<(), StoreError> {
        let update = sqlx::query!(
            "UPDATE invitations SET status = ?3, expires_at = ?4 WHERE tenant_id = ?1 AND id = ?2",
            self.tenant(),
            invitation.id.as_uuid(),
            invitation.status.as_str(),
            millis(invitation.expires_at)
        );
        expect_row(self.execute(update).await?, "invitation")
    }
}

impl InvitedRoles for SqliteStore {
    const ROLES: &'static str = "json_each(i.roles) r";
    const ORGANIZATION: &'static str = "unhex(r.value ->> 'organizationId', '-')";
}
