use async_trait::async_trait;
use chrono::{DateTime, Utc};
use iam_core::assignment::{Assignment, AssignmentChange, AssignmentStore, AssignmentTransaction, Grant};
use iam_core::organization::OrganizationSummary;
use iam_core::role::TENANT_ADMIN;
use iam_core::user::UserStatus;
use iam_core::{OrganizationId, StoreError, TenantId, UserId};
use serde::Deserialize;
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::role::RoleRow;
use crate::transaction::PostgresTransaction;

/// An assignment with its role and its organization; inside a session's snapshot it comes as JSON.
#[derive(Deserialize)]
pub(crate) struct GrantRow {
    tenant_id: Uuid,
    id: Uuid,
    user_id: Uuid,
    role_id: Uuid,
    organization_id: Option<Uuid>,
    organization_name: Option<String>,
    expires_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    created_by: Option<Uuid>,
    role_name: String,
    role_description: String,
    role_scope: String,
    role_permissions: Vec<String>,
    role_system: bool,
    role_created_at: DateTime<Utc>,
    role_updated_at: DateTime<Utc>,
}

impl TryFrom<GrantRow> for Grant {
    type Error = StoreError;

    fn try_from(row: GrantRow) -> Result<Self, StoreError> {
        let organization_id = row.organization_id.map(OrganizationId::from);
        let assignment = Assignment {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            user_id: row.user_id.into(),
            role_id: row.role_id.into(),
            organization_id,
            expires_at: row.expires_at,
            created_at: row.created_at,
            created_by: row.created_by.map(UserId::from),
        };
        let role = RoleRow {
            tenant_id: row.tenant_id,
            id: row.role_id,
            name: row.role_name,
            description: row.role_description,
            scope: row.role_scope,
            permissions: row.role_permissions,
            system: row.role_system,
            created_at: row.role_created_at,
            updated_at: row.role_updated_at,
        };
        let organization = organization_id.zip(row.organization_name);
        let organization = organization.map(|(id, name)| OrganizationSummary { id, name });
        Ok(Self { assignment, role: role.try_into()?, organization })
    }
}

/// The columns of a user's grants, and whether they are locked.
macro_rules! select_grants {
    ($tenant:expr, $user:expr, $lock:literal) => {
        sqlx::query_as!(
            GrantRow,
            r#"
            SELECT
                a.tenant_id,
                a.id,
                a.user_id,
                a.role_id,
                a.organization_id,
                o.name AS "organization_name?",
                a.expires_at,
                a.created_at,
                a.created_by,
                r.name AS role_name,
                r.description AS role_description,
                r.scope AS role_scope,
                ARRAY(
                    SELECT p.permission
                    FROM iam.role_permissions p
                    WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                    ORDER BY p.permission
                ) AS "role_permissions!",
                r.system AS role_system,
                r.created_at AS role_created_at,
                r.updated_at AS role_updated_at
            FROM iam.role_assignments a
            JOIN iam.roles r ON r.tenant_id = a.tenant_id AND r.id = a.role_id
            LEFT JOIN iam.organizations o ON o.tenant_id = a.tenant_id AND o.id = a.organization_id
            WHERE a.tenant_id = $1 AND a.user_id = $2
            ORDER BY a.created_at DESC, a.id
            "#
                + $lock,
            $tenant,
            $user
        )
    };
}

#[async_trait]
impl AssignmentStore for PostgresStore {
    async fn grants_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<Grant>, StoreError> {
        let rows = select_grants!(tenant.as_uuid(), user.as_uuid(), "");
        rows.fetch_all(&self.pool).await.map_err(store_error)?.into_iter().map(Grant::try_from).collect()
    }
}

#[async_trait]
impl AssignmentTransaction for PostgresTransaction {
    async fn lock_grants_of(&mut self, user: UserId) -> Result<Vec<Grant>, StoreError> {
        let rows = select_grants!(self.tenant(), user.as_uuid(), "FOR UPDATE OF a");
        rows.fetch_all(self.connection()).await.map_err(store_error)?.into_iter().map(Grant::try_from).collect()
    }

    async fn has_other_administrator(&mut self, than: UserId) -> Result<bool, StoreError> {
        sqlx::query_scalar!(
            r#"
            SELECT EXISTS (
                SELECT
                FROM iam.role_assignments a
                JOIN iam.roles r ON r.tenant_id = a.tenant_id AND r.id = a.role_id
                JOIN iam.users u ON u.tenant_id = a.tenant_id AND u.id = a.user_id
                WHERE a.tenant_id = $1
                    AND a.user_id <> $2
                    AND a.organization_id IS NULL
                    AND a.expires_at IS NULL
                    AND r.system
                    AND r.name = $3
                    AND u.status = $4
            ) AS "exists!"
            "#,
            self.tenant(),
            than.as_uuid(),
            TENANT_ADMIN,
            UserStatus::Active.as_str()
        )
        .fetch_one(self.connection())
        .await
        .map_err(store_error)
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_assignment(&mut self, change: &AssignmentChange) -> Result<(), StoreError> {
        match change {
            AssignmentChange::Create { assignment, .. } => self.insert_assignment(assignment).await,
            AssignmentChange::Revoke { grants, .. } => self.delete_assignments(grants).await,
        }
    }

    async fn insert_assignment(&mut self, assignment: &Assignment) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            INSERT INTO iam.role_assignments (
                tenant_id,
                id,
                user_id,
                role_id,
                organization_id,
                expires_at,
                created_at,
                created_by
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            "#,
            self.tenant(),
            assignment.id.as_uuid(),
            assignment.user_id.as_uuid(),
            assignment.role_id.as_uuid(),
            assignment.organization_id.map(OrganizationId::as_uuid),
            assignment.expires_at,
            assignment.created_at,
            assignment.created_by.map(UserId::as_uuid)
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn delete_assignments(&mut self, grants: &[Grant]) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = grants.iter().map(|grant| grant.assignment.id.as_uuid()).collect();
        sqlx::query!("DELETE FROM iam.role_assignments WHERE tenant_id = $1 AND id = ANY($2)", self.tenant(), &ids)
            .execute(self.connection())
            .await
            .map_err(store_error)?;
        Ok(())
    }
}
