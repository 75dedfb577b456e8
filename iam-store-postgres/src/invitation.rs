use async_trait::async_trait;
use iam_model::access::{Until, VisibleScope};
use iam_model::change::InvitationChange;
use iam_model::clock::Timestamp;
use iam_model::id::{InvitationId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::invitation::{Invitation, InvitationFilter, InvitedRole};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{InvitationStore, InvitationTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::PersonName;
use iam_store_sql::column::counted;
use iam_store_sql::error::expect_row;
use iam_store_sql::invitation::{InvitationRow, InvitedRoles, list};
use iam_store_sql::store::SqlStore as _;
use sqlx::types::Json;
use uuid::Uuid;

use crate::PostgresStore;
use crate::column::{in_range, latest_end};
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

type Row = InvitationRow<Timestamp>;

#[async_trait]
impl InvitationStore for PostgresStore {
    async fn invitation(&self, tenant: TenantId, id: InvitationId) -> Result<Option<Invitation>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, email, first_name, last_name, roles AS "roles: Json<Vec<InvitedRole>>", status,
                invited_by, expires_at, created_at
            FROM iam.invitations
            WHERE tenant_id = $1 AND id = $2
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
        let is_steady = filter.email.is_none() && filter.status.is_none() && Self::is_everywhere(&scope);
        let list = |page| list::<Self>(tenant, filter, page, now, &scope);
        self.page::<Invitation, Row>(tenant, page, is_steady, list).await
    }
}

#[async_trait]
impl InvitationTransaction for PostgresTransaction {
    async fn lock_invitation(&mut self, id: InvitationId) -> Result<Option<Invitation>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, email, first_name, last_name, roles AS "roles: Json<Vec<InvitedRole>>", status,
                invited_by, expires_at, created_at
            FROM iam.invitations
            WHERE tenant_id = $1 AND id = $2
            FOR UPDATE
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
            FROM iam.invitations
            WHERE tenant_id = $1 AND status = 'PENDING' AND expires_at > $2
            "#,
            self.tenant(),
            in_range(now)
        );
        counted("invitations", count.fetch_one(self.connection()).await.map_err(store_error)?)
    }

    async fn roles_offered_in(
        &mut self,
        organizations: &[OrganizationId],
        now: Timestamp,
    ) -> Result<Vec<InvitedRole>, StoreError> {
        let organizations: Vec<Uuid> = organizations.iter().map(|organization| organization.as_uuid()).collect();
        let offered = sqlx::query_scalar!(
            r#"
            SELECT r.value AS "role!: Json<InvitedRole>"
            FROM iam.invitations i, jsonb_array_elements(i.roles) r
            WHERE i.tenant_id = $1
                AND i.status = 'PENDING'
                AND i.expires_at > $3
                AND (r.value ->> 'organizationId')::uuid = ANY($2)
            "#,
            self.tenant(),
            &organizations,
            in_range(now)
        );
        let offered = offered.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(offered.into_iter().map(|Json(role)| role).collect())
    }

    async fn roles_offered_until(&mut self, roles: &[RoleId], now: Timestamp) -> Result<Option<Until>, StoreError> {
        let roles: Vec<Uuid> = roles.iter().map(|role| role.as_uuid()).collect();
        let until = sqlx::query_scalar!(
            r#"
            SELECT
                -- NULL if one of them never expires.
                CASE
                    WHEN count(*) = count(r.value ->> 'expiresAt') THEN max((r.value ->> 'expiresAt')::timestamptz)
                END AS until
            FROM iam.invitations i, jsonb_array_elements(i.roles) r
            WHERE i.tenant_id = $1
                AND i.status = 'PENDING'
                AND i.expires_at > $3
                AND (r.value ->> 'roleId')::uuid = ANY($2)
            HAVING count(*) > 0
            "#,
            self.tenant(),
            &roles,
            in_range(now)
        );
        latest_end("invitations.roles", until.fetch_optional(self.connection()).await.map_err(store_error)?)
    }
}

impl PostgresTransaction {
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
        let (email, created_at) = (invitation.email.key(), in_range(invitation.created_at));
        let expire = sqlx::query!(
            r#"
            UPDATE iam.invitations
            SET status = 'EXPIRED'
            WHERE tenant_id = $1 AND email_key = $2 AND status = 'PENDING' AND expires_at <= $3
            "#,
            self.tenant(),
            email.as_str(),
            created_at
        );
        self.execute(expire).await?;
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.invitations (
                tenant_id, id, email, email_key, first_name, last_name, roles, status, invited_by, expires_at,
                created_at, keyed
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, TRUE)
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
            in_range(invitation.expires_at),
            created_at
        );
        self.execute(insert).await.map(drop)
    }

    async fn send_invitation(&mut self, invitation: &Invitation) -> Result<(), StoreError> {
        let update = sqlx::query!(
            "UPDATE iam.invitations SET expires_at = $3 WHERE tenant_id = $1 AND id = $2",
            self.tenant(),
            invitation.id.as_uuid(),
            in_range(invitation.expires_at)
        );
        expect_row(self.execute(update).await?, "invitation")
    }

    async fn update_invitation(&mut self, invitation: &Invitation) -> Result<(), StoreError> {
        let update = sqlx::query!(
            "UPDATE iam.invitations SET status = $3, expires_at = $4 WHERE tenant_id = $1 AND id = $2",
            self.tenant(),
            invitation.id.as_uuid(),
            invitation.status.as_str(),
            in_range(invitation.expires_at)
        );
        expect_row(self.execute(update).await?, "invitation")
    }
}

impl InvitedRoles for PostgresStore {
    const ROLES: &'static str = "jsonb_array_elements(i.roles) r";
    const ORGANIZATION: &'static str = "(r.value ->> 'organizationId')::uuid";
}
