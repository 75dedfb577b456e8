//! Roles.

use iam_model::role::Role;
use iam_model::store_error::StoreError;
use serde::Deserialize;
use uuid::Uuid;

use crate::column::{StoredMoment, StoredTexts, moment, parse};

/// A role as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, Deserialize)]
pub struct RoleRow<T, P> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub name: String,
    pub description: String,
    pub scope: String,
    pub permissions: P,
    pub system: bool,
    pub created_at: T,
    pub updated_at: T,
    pub version: i64,
}

impl<T: StoredMoment, P: StoredTexts> TryFrom<RoleRow<T, P>> for Role {
    type Error = StoreError;

    fn try_from(row: RoleRow<T, P>) -> Result<Self, StoreError> {
        let permission = |text: &String| parse("role_permissions.permission", text);
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            name: parse("roles.name", &row.name)?,
            description: parse("roles.description", &row.description)?,
            scope: parse("roles.scope", &row.scope)?,
            permissions: row.permissions.texts().iter().map(permission).collect::<Result<_, _>>()?,
            system: row.system,
            created_at: moment("roles.created_at", row.created_at)?,
            updated_at: moment("roles.updated_at", row.updated_at)?,
            version: row.version.into(),
        })
    }
}

/// Selects roles. The literals are the list of a role's permissions, and from where and which.
#[doc(hidden)]
#[macro_export]
macro_rules! select_roles {
    ($row:ident, $permissions:literal, $which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            $row,
            r#"
            SELECT
                r.tenant_id,
                r.id,
                r.name,
                r.description,
                r.scope,
                "# + $permissions + r#",
                r.system,
                r.created_at,
                r.updated_at,
                r.version
            "# + $which,
            $($argument),+
        )
    };
}

/// Implements the ports of roles; see [`store`](crate::store).
///
/// The transaction also has the methods `insert_roles` and `insert_role_permissions`, because each database has its own
/// way to insert many rows.
#[macro_export]
macro_rules! role_ports {
    (
        $store:ident,
        $transaction:ident,
        permissions: $permissions:literal,
        by_id: $by_id:literal,
        by_name: $by_name:literal,
        by_ids: $by_ids:literal,
        allowing: $allowing:literal,
        is_name_taken: $is_name_taken:literal,
        count: $count:literal,
        page: $page:literal,
        with_permission: $with_permission:literal,
        update: $update:literal,
        delete: $delete:literal,
        delete_permissions: $delete_permissions:literal $(,)?
    ) => {
        const _: () = {
            use iam_model::change::RoleChange;
            use iam_model::id::{RoleId, TenantId};
            use iam_model::page::{Page, PageRequest};
            use iam_model::permission::{Permission, PermissionPattern};
            use iam_model::role::Role;
            use iam_model::store::{RoleStore, RoleTransaction};
            use iam_model::store_error::StoreError;
            use iam_model::validate::RoleName;
            use std::slice;
            use $crate::error::expect_row;
            use $crate::page::{offset, page_of};
            use $crate::select_roles;
            use $crate::store::SqlStore;

            type Row = $crate::role::RoleRow<<$store as SqlStore>::Moment, <$store as SqlStore>::Texts>;

            #[async_trait::async_trait]
            impl RoleStore for $store {
                async fn role(&self, tenant: TenantId, id: RoleId) -> Result<Option<Role>, StoreError> {
                    let row = select_roles!(Row, $permissions, $by_id, tenant.as_uuid(), id.as_uuid());
                    self.answer(row.fetch_optional(&self.reads())).await?.map(Role::try_from).transpose()
                }

                async fn role_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<Role>, StoreError> {
                    if !Self::is_storable(name) {
                        return Ok(None);
                    }
                    let row = select_roles!(Row, $permissions, $by_name, tenant.as_uuid(), name);
                    self.answer(row.fetch_optional(&self.reads())).await?.map(Role::try_from).transpose()
                }

                async fn roles_by_id(&self, tenant: TenantId, ids: &[RoleId]) -> Result<Vec<Role>, StoreError> {
                    let ids = Self::ids(ids.iter().map(|id| id.as_uuid()));
                    let rows = select_roles!(Row, $permissions, $by_ids, tenant.as_uuid(), &ids);
                    let rows = self.answer(rows.fetch_all(&self.reads())).await?;
                    rows.into_iter().map(Role::try_from).collect()
                }

                async fn roles_allowing(
                    &self,
                    tenant: TenantId,
                    permission: &Permission,
                ) -> Result<Vec<Role>, StoreError> {
                    let [exact, whole, everything] = PermissionPattern::allowing(permission);
                    let rows = select_roles!(
                        Row,
                        $permissions,
                        $allowing,
                        tenant.as_uuid(),
                        exact.as_str(),
                        whole.as_str(),
                        everything.as_str()
                    );
                    let rows = self.answer(rows.fetch_all(&self.reads())).await?;
                    rows.into_iter().map(Role::try_from).collect()
                }

                async fn roles(&self, tenant: TenantId, page: PageRequest) -> Result<Page<Role>, StoreError> {
                    let tenant = tenant.as_uuid();
                    let limit = i64::from(page.limit());
                    let (rows, total) = self
                        .list(|source| async move {
                            let total = sqlx::query_scalar!($count, tenant).fetch_one(&source).await?;
                            let rows = select_roles!(Row, $permissions, $page, tenant, limit, offset(page));
                            Ok((rows.fetch_all(&source).await?, total))
                        })
                        .await?;
                    page_of(rows, total, page)
                }
            }

            #[async_trait::async_trait]
            impl RoleTransaction for $transaction {
                async fn roles_by_id(&mut self, ids: &[RoleId]) -> Result<Vec<Role>, StoreError> {
                    let ids = $store::ids(ids.iter().map(|id| id.as_uuid()));
                    let rows = select_roles!(Row, $permissions, $by_ids, self.tenant(), &ids);
                    let rows = rows.fetch_all(self.connection()).await.map_err($store::store_error)?;
                    rows.into_iter().map(Role::try_from).collect()
                }

                async fn is_role_name_taken(&mut self, name: &RoleName) -> Result<bool, StoreError> {
                    let is_taken = sqlx::query_scalar!($is_name_taken, self.tenant(), name.as_str());
                    is_taken.fetch_one(self.connection()).await.map_err($store::store_error)
                }

                async fn roles_with(&mut self, pattern: &PermissionPattern) -> Result<Vec<RoleId>, StoreError> {
                    let ids = sqlx::query_scalar!($with_permission, self.tenant(), pattern.as_str());
                    let ids = ids.fetch_all(self.connection()).await.map_err($store::store_error)?;
                    Ok(ids.into_iter().map(RoleId::from).collect())
                }
            }

            impl $transaction {
                pub(crate) async fn write_role(&mut self, change: &RoleChange) -> Result<(), StoreError> {
                    match change {
                        RoleChange::CreateBuiltIn(roles) => self.insert_roles(roles).await,
                        RoleChange::Create(role) => self.insert_roles(slice::from_ref(role)).await,
                        RoleChange::Update { after, .. } => self.update_role(after).await,
                        RoleChange::Delete(role) => self.delete_role(role.id).await,
                    }
                }

                async fn update_role(&mut self, role: &Role) -> Result<(), StoreError> {
                    let update = sqlx::query!(
                        $update,
                        self.tenant(),
                        role.id.as_uuid(),
                        role.name.as_str(),
                        role.description.as_str(),
                        role.scope.as_str(),
                        $store::stored(role.updated_at)
                    );
                    let updated = update.execute(self.connection()).await.map_err($store::store_error)?;
                    expect_row(updated.rows_affected(), "role")?;
                    self.delete_role_permissions(role.id).await?;
                    self.insert_role_permissions(slice::from_ref(role)).await
                }

                async fn delete_role(&mut self, id: RoleId) -> Result<(), StoreError> {
                    self.delete_role_permissions(id).await?;
                    let delete = sqlx::query!($delete, self.tenant(), id.as_uuid());
                    let deleted = delete.execute(self.connection()).await.map_err($store::store_error)?;
                    expect_row(deleted.rows_affected(), "role")
                }

                async fn delete_role_permissions(&mut self, id: RoleId) -> Result<(), StoreError> {
                    let delete = sqlx::query!($delete_permissions, self.tenant(), id.as_uuid());
                    delete.execute(self.connection()).await.map(drop).map_err($store::store_error)
                }
            }
        };
    };
}
