//! Permissions of applications whose names are reserved now; see [`iam_store_sql::reserved`].

use iam_model::api_key::ApiKey;
use iam_model::clock::{Clock as _, SystemClock, cut};
use iam_model::history::Past;
use iam_model::id::IdGenerator;
use iam_model::permission::RegisteredPermission;
use iam_model::role::Role;
use iam_model::store::{TenantTransaction as _, Transaction as _};
use iam_model::store_error::StoreError;
use iam_model::tenant::Tenant;
use iam_store_sql::api_key::ApiKeyRow;
use iam_store_sql::history::PastVersionRow;
use iam_store_sql::permission::PermissionRow;
use iam_store_sql::reserved::{BuiltInSince, Renaming, TenantNames};
use sqlx::types::Json;
use uuid::Uuid;

use crate::error::store_error;
use crate::role::RoleRow;
use crate::store::SqliteStore;
use crate::transaction::SqliteTransaction;

impl SqliteStore {
    /// Renames the permissions of applications in all tenants that the migration has listed. The finished part stays
    /// when it is interrupted.
    pub(crate) async fn rename_reserved(&self, since: &BuiltInSince) -> Result<(), StoreError> {
        while let Some(tenant) = self.unchecked_tenant().await? {
            let transaction = self.writer.of_tenant(tenant).begin_unit_of_work().await.map_err(store_error)?;
            let mut work = SqliteTransaction::new(tenant.into(), transaction, self.writer.clone());
            let renaming = work.rename_reserved(since).await?;
            Box::new(work).commit().await?;
            renaming.iter().for_each(Renaming::report);
        }
        Ok(())
    }

    async fn unchecked_tenant(&self) -> Result<Option<Uuid>, StoreError> {
        let tenant = sqlx::query_scalar!(
            r#"SELECT tenant_id AS "tenant_id!" FROM unchecked_permissions ORDER BY tenant_id LIMIT 1"#
        );
        self.answer(tenant.fetch_optional(&self.reads())).await
    }
}

impl SqliteTransaction {
    /// Renames the permissions of an application. `None` if another process has done so meanwhile.
    async fn rename_reserved(&mut self, since: &BuiltInSince) -> Result<Option<Renaming>, StoreError> {
        let tenant = self.lock_tenant().await?;
        let check = sqlx::query!("DELETE FROM unchecked_permissions WHERE tenant_id = ?1", self.tenant());
        let is_unchecked = self.execute(check).await? > 0;
        let Some(tenant) = tenant.filter(|_| is_unchecked) else { return Ok(None) };
        let (ids, now) = (IdGenerator::new(), cut(SystemClock.now()));
        let renaming = self.names(&tenant).await?.renaming(since, now, &ids)?;
        renaming.write(self, &ids).await?;
        for past in &renaming.past_roles {
            self.replace_past_role(past).await?;
        }
        Ok(Some(renaming))
    }

    /// Reads everything of a tenant that names permissions.
    async fn names(&mut self, tenant: &Tenant) -> Result<TenantNames, StoreError> {
        let permissions = sqlx::query_as!(
            PermissionRow::<i64>,
            r#"
            SELECT p.tenant_id, p.id, p.name, p.description, p.system, p.created_at
            FROM permissions p
            WHERE p.tenant_id = ?1
            ORDER BY p.name
            "#,
            self.tenant()
        );
        let permissions = permissions.fetch_all(self.connection()).await.map_err(store_error)?;
        let roles = sqlx::query_as!(
            RoleRow,
            r#"
            SELECT
                r.tenant_id, r.id, r.name, r.description, r.scope,
                (
                    SELECT json_group_array(p.permission)
                    FROM role_permissions p
                    WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                ) AS "permissions!: _",
                r.system, r.created_at, r.updated_at, r.version
            FROM roles r
            WHERE r.tenant_id = ?1
            ORDER BY r.id
            "#,
            self.tenant()
        );
        let roles = roles.fetch_all(self.connection()).await.map_err(store_error)?;
        let past_roles = sqlx::query_as!(
            PastVersionRow::<Role, i64>,
            r#"
            SELECT until, value AS "value: Json<Role>"
            FROM past_versions
            WHERE tenant_id = ?1 AND kind = 'ROLE'
            "#,
            self.tenant()
        );
        let past_roles = past_roles.fetch_all(self.connection()).await.map_err(store_error)?;
        let keys = sqlx::query_as!(
            ApiKeyRow::<i64>,
            r#"
            SELECT
                k.tenant_id, k.id, k.user_id, k.name, k.secret_hash, k.former_hash, k.former_until, k.permissions,
                k.organization_id, k.expires_at, k.created_at, k.created_by, k.rotated_by_owner AS "rotated_by_owner: bool",
                k.last_used_at, k.version
            FROM api_keys k
            WHERE k.tenant_id = ?1 AND k.permissions IS NOT NULL
            ORDER BY k.id
            "#,
            self.tenant()
        );
        let keys = keys.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(TenantNames {
            tenant_id: tenant.id,
            created_at: tenant.created_at,
            permissions: permissions.into_iter().map(RegisteredPermission::try_from).collect::<Result<_, _>>()?,
            roles: roles.into_iter().map(Role::try_from).collect::<Result<_, _>>()?,
            past_roles: past_roles.into_iter().map(Past::try_from).collect::<Result<_, _>>()?,
            keys: keys.into_iter().map(ApiKey::try_from).collect::<Result<_, _>>()?,
        })
    }
}
