//! Registered permissions.

use iam_model::permission::RegisteredPermission;
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, moment, parse};

/// A registered permission as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct PermissionRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub name: String,
    pub description: String,
    pub system: bool,
    pub created_at: T,
}

impl<T: StoredMoment> TryFrom<PermissionRow<T>> for RegisteredPermission {
    type Error = StoreError;

    fn try_from(row: PermissionRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            name: parse("permissions.name", &row.name)?,
            description: parse("permissions.description", &row.description)?,
            system: row.system,
            created_at: moment("permissions.created_at", row.created_at)?,
        })
    }
}

/// Selects registered permissions; the literal says from where and which.
#[doc(hidden)]
#[macro_export]
macro_rules! select_permissions {
    ($row:ident, $which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            $row,
            r#"
            SELECT
                p.tenant_id,
                p.id,
                p.name,
                p.description,
                p.system,
                p.created_at
            "# + $which,
            $($argument),+
        )
    };
}

/// Implements the ports of permissions; see [`store`](crate::store).
///
/// The transaction also has a method `insert_permissions`, because each database has its own way to insert many rows.
#[macro_export]
macro_rules! permission_ports {
    (
        $store:ident,
        $transaction:ident,
        count: $count:literal,
        page: $page:literal,
        by_id: $by_id:literal,
        names: $names:literal,
        delete: $delete:literal $(,)?
    ) => {
        const _: () = {
            use iam_model::change::PermissionChange;
            use iam_model::id::{PermissionId, TenantId};
            use iam_model::page::{Page, PageRequest};
            use iam_model::permission::{Permission, RegisteredPermission};
            use iam_model::store::{PermissionStore, PermissionTransaction};
            use iam_model::store_error::StoreError;
            use $crate::column::parse;
            use $crate::error::expect_row;
            use $crate::page::{offset, page_of};
            use $crate::store::SqlStore;

            type Row = $crate::permission::PermissionRow<<$store as SqlStore>::Moment>;

            #[async_trait::async_trait]
            impl PermissionStore for $store {
                async fn permissions(
                    &self,
                    tenant: TenantId,
                    page: PageRequest,
                ) -> Result<Page<RegisteredPermission>, StoreError> {
                    let tenant = tenant.as_uuid();
                    let limit = i64::from(page.limit());
                    let (rows, total) = self
                        .list(|source| async move {
                            let total = sqlx::query_scalar!($count, tenant).fetch_one(&source).await?;
                            let rows = $crate::select_permissions!(Row, $page, tenant, limit, offset(page));
                            Ok((rows.fetch_all(&source).await?, total))
                        })
                        .await?;
                    page_of(rows, total, page)
                }
            }

            #[async_trait::async_trait]
            impl PermissionTransaction for $transaction {
                async fn permission(&mut self, id: PermissionId) -> Result<Option<RegisteredPermission>, StoreError> {
                    let row = $crate::select_permissions!(Row, $by_id, self.tenant(), id.as_uuid());
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    row.map(RegisteredPermission::try_from).transpose()
                }

                async fn permission_names(&mut self) -> Result<Vec<Permission>, StoreError> {
                    let names = sqlx::query_scalar!($names, self.tenant());
                    let names = names.fetch_all(self.connection()).await.map_err($store::store_error)?;
                    names.iter().map(|name| parse("permissions.name", name)).collect()
                }
            }

            impl $transaction {
                pub(crate) async fn write_permission(&mut self, change: &PermissionChange) -> Result<(), StoreError> {
                    match change {
                        PermissionChange::CreateBuiltIn(permissions) => self.insert_permissions(permissions).await,
                        PermissionChange::Create { permission, .. } => {
                            self.insert_permissions(std::slice::from_ref(permission)).await
                        }
                        PermissionChange::Delete(permission) => self.delete_permission(permission.id).await,
                    }
                }

                async fn delete_permission(&mut self, id: PermissionId) -> Result<(), StoreError> {
                    let deleted = sqlx::query!($delete, self.tenant(), id.as_uuid());
                    let deleted = deleted.execute(self.connection()).await.map_err($store::store_error)?;
                    expect_row(deleted.rows_affected(), "permission")
                }
            }
        };
    };
}
