//! Tenants.

use iam_model::tenant::Tenant;
use uuid::Uuid;

/// Calls a macro with the columns of tenants `t`; see [`table`](crate::table).
#[doc(hidden)]
#[macro_export]
macro_rules! with_tenant_columns {
    ($macro:ident $arguments:tt) => {
        $crate::$macro! {
            $arguments
            (id: Uuid, into, "t.id", tenant_id, r#"t.id AS "tenant_id?""#)
            (name: String, parse, "t.name", tenant_name, r#"t.name AS "tenant_name?""#)
            (slug: String, parse, "t.slug", tenant_slug, r#"t.slug AS "tenant_slug?""#)
            (status: String, parse, "t.status", tenant_status, r#"t.status AS "tenant_status?""#)
            (
                password_policy: String, parse, "t.password_policy",
                tenant_password_policy, r#"t.password_policy AS "tenant_password_policy?""#
            )
            (
                second_factor: String, parse, "t.second_factor",
                tenant_second_factor, r#"t.second_factor AS "tenant_second_factor?""#
            )
            (
                second_factor_grace_days: i64, grace_days, "t.second_factor_grace_days",
                tenant_second_factor_grace_days, r#"t.second_factor_grace_days AS "tenant_second_factor_grace_days?""#
            )
            (
                second_factor_required_at: Option<T>, moment_optional, "t.second_factor_required_at",
                tenant_second_factor_required_at,
                r#"t.second_factor_required_at AS "tenant_second_factor_required_at?""#
            )
            (created_at: T, moment, "t.created_at", tenant_created_at, r#"t.created_at AS "tenant_created_at?""#)
            (updated_at: T, moment, "t.updated_at", tenant_updated_at, r#"t.updated_at AS "tenant_updated_at?""#)
            (version: i64, into, "t.version", tenant_version, r#"t.version AS "tenant_version?""#)
        }
    };
}

with_tenant_columns! {
    row_type (
        /// A tenant as the stores read it: the columns of its table.
        TenantRow, Tenant, "tenants"
    )
}

/// Selects tenants; the literal says which.
#[doc(hidden)]
#[macro_export]
macro_rules! select_tenants {
    ($row:ident, $which:literal, $($argument:expr),+) => {
        $crate::with_tenant_columns!(select_columns ($row, $which, $($argument),+))
    };
}

/// Implements the ports of tenants; see [`store`](crate::store). Needs [`credential_ports!`](crate::credential_ports)
/// for the accounts of a login. If the tables are distributed, `distributed_lock` takes the lock of a tenant, and the
/// row is read afterwards.
#[macro_export]
macro_rules! tenant_ports {
    (
        $store:ident,
        $transaction:ident,
        by_id: $by_id:literal,
        by_slug: $by_slug:literal,
        lock: $lock:literal,
        $(distributed_lock: $distributed_lock:literal,)?
        is_empty: $is_empty:literal,
        has_several: $has_several:literal,
        usage: $usage:literal,
        insert: $insert:literal,
        update: $update:literal $(,)?
    ) => {
        const _: () = {
            use iam_model::change::TenantChange;
            use iam_model::credential::LoginCandidates;
            use iam_model::id::TenantId;
            use iam_model::store::{Directory, TenantStore, TenantTransaction};
            use iam_model::store_error::StoreError;
            use iam_model::tenant::{Tenant, Usage};
            use iam_model::validate::{EmailKey, Slug};
            use $crate::column::not_negative;
            use $crate::error::expect_row;
            use $crate::store::SqlStore;

            type Row = $crate::tenant::TenantRow<<$store as SqlStore>::Moment>;

            #[async_trait::async_trait]
            impl Directory for $store {
                async fn tenant_by_slug(&self, slug: &Slug) -> Result<Option<Tenant>, StoreError> {
                    let row = $crate::select_tenants!(Row, $by_slug, slug.as_str());
                    self.answer(row.fetch_optional(&self.reads())).await?.map(Tenant::try_from).transpose()
                }

                async fn login_candidates(&self, email: &EmailKey, limit: u32) -> Result<LoginCandidates, StoreError> {
                    self.candidates(email, limit).await
                }

                async fn is_empty(&self) -> Result<bool, StoreError> {
                    self.answer(sqlx::query_scalar!($is_empty).fetch_one(&self.reads())).await
                }

                async fn has_several_tenants(&self) -> Result<bool, StoreError> {
                    self.answer(sqlx::query_scalar!($has_several).fetch_one(&self.reads())).await
                }
            }

            #[async_trait::async_trait]
            impl TenantStore for $store {
                async fn tenant(&self, tenant: TenantId) -> Result<Option<Tenant>, StoreError> {
                    let row = $crate::select_tenants!(Row, $by_id, tenant.as_uuid());
                    self.answer(row.fetch_optional(&self.reads())).await?.map(Tenant::try_from).transpose()
                }
            }

            #[async_trait::async_trait]
            impl TenantTransaction for $transaction {
                async fn lock_tenant(&mut self) -> Result<Option<Tenant>, StoreError> {
                    $(
                        if self.is_distributed() {
                            let lock = sqlx::query!($distributed_lock, self.tenant());
                            lock.execute(self.connection()).await.map_err($store::store_error)?;
                            let row = $crate::select_tenants!(Row, $by_id, self.tenant());
                            let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                            return row.map(Tenant::try_from).transpose();
                        }
                    )?
                    let row = $crate::select_tenants!(Row, $lock, self.tenant());
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    row.map(Tenant::try_from).transpose()
                }

                async fn usage(&mut self) -> Result<Usage, StoreError> {
                    let row = sqlx::query!($usage, self.tenant());
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    let Some(row) = row else { return Ok(Usage::default()) };
                    Ok(Usage {
                        users: not_negative(row.users),
                        organizations: not_negative(row.organizations),
                        roles: not_negative(row.roles),
                        assignments: not_negative(row.role_assignments),
                    })
                }
            }

            impl $transaction {
                pub(crate) async fn write_tenant(&mut self, change: &TenantChange) -> Result<(), StoreError> {
                    match change {
                        TenantChange::Create(tenant) => self.insert_tenant(tenant).await,
                        TenantChange::Update { after, .. } | TenantChange::ChangeStatus { after, .. } => {
                            self.update_tenant(after).await
                        }
                    }
                }

                async fn insert_tenant(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
                    let insert = sqlx::query!(
                        $insert,
                        self.tenant(),
                        tenant.name.as_str(),
                        tenant.slug.as_str(),
                        tenant.status.as_str(),
                        $store::stored(tenant.created_at),
                        $store::stored(tenant.updated_at),
                        tenant.password_policy.as_str(),
                        tenant.second_factor.as_str(),
                        i64::from(tenant.second_factor_grace_days),
                        tenant.second_factor_required_at.map($store::stored)
                    );
                    insert.execute(self.connection()).await.map(drop).map_err($store::store_error)
                }

                async fn update_tenant(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
                    let update = sqlx::query!(
                        $update,
                        self.tenant(),
                        tenant.name.as_str(),
                        tenant.slug.as_str(),
                        tenant.status.as_str(),
                        $store::stored(tenant.updated_at),
                        tenant.password_policy.as_str(),
                        tenant.second_factor.as_str(),
                        i64::from(tenant.second_factor_grace_days),
                        tenant.second_factor_required_at.map($store::stored)
                    );
                    let updated = update.execute(self.connection()).await.map_err($store::store_error)?;
                    expect_row(updated.rows_affected(), "tenant")
                }
            }
        };
    };
}
