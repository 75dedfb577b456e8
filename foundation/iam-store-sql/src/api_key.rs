//! API keys.

use iam_model::api_key::{ApiKey, ApiKeySecret, FormerSecret};
use iam_model::permission::{PermissionPattern, PermissionSet};
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, bytes_32, moment, moment_optional, parse};

/// An API key as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct ApiKeyRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub user_id: Uuid,
    pub name: String,
    pub secret_hash: Vec<u8>,
    pub former_hash: Option<Vec<u8>>,
    pub former_until: Option<T>,
    pub permissions: Option<String>,
    pub organization_id: Option<Uuid>,
    pub expires_at: T,
    pub created_at: T,
    pub created_by: Option<Uuid>,
    pub last_used_at: Option<T>,
    pub version: i64,
}

impl<T: StoredMoment> TryFrom<ApiKeyRow<T>> for ApiKey {
    type Error = StoreError;

    fn try_from(row: ApiKeyRow<T>) -> Result<Self, StoreError> {
        let former = match (row.former_hash, row.former_until) {
            (Some(hash), Some(until)) => Some(FormerSecret {
                hash: bytes_32("api_keys.former_hash", &hash)?,
                until: moment("api_keys.former_until", until)?,
            }),
            _ => None,
        };
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            user_id: row.user_id.into(),
            name: parse("api_keys.name", &row.name)?,
            secret: ApiKeySecret { hash: bytes_32("api_keys.secret_hash", &row.secret_hash)?, former },
            permissions: row.permissions.as_deref().map(permissions).transpose()?,
            organization_id: row.organization_id.map(Into::into),
            expires_at: moment("api_keys.expires_at", row.expires_at)?,
            created_at: moment("api_keys.created_at", row.created_at)?,
            created_by: row.created_by.map(Into::into),
            last_used_at: moment_optional("api_keys.last_used_at", row.last_used_at)?,
            version: row.version.into(),
        })
    }
}

/// Reads the patterns of a key, which are separated by spaces.
fn permissions(text: &str) -> Result<PermissionSet, StoreError> {
    text.split_ascii_whitespace().map(|pattern| parse("api_keys.permissions", pattern)).collect()
}

/// Returns the value of the column for the patterns of a key.
#[must_use]
pub fn stored_permissions(permissions: &PermissionSet) -> String {
    permissions.iter().map(PermissionPattern::as_str).collect::<Vec<_>>().join(" ")
}

/// Selects API keys; the literal says which.
#[doc(hidden)]
#[macro_export]
macro_rules! select_api_keys {
    ($row:ident, $which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            $row,
            r#"
            SELECT
                k.tenant_id,
                k.id,
                k.user_id,
                k.name,
                k.secret_hash,
                k.former_hash,
                k.former_until,
                k.permissions,
                k.organization_id,
                k.expires_at,
                k.created_at,
                k.created_by,
                k.last_used_at,
                k.version
            "# + $which,
            $($argument),+
        )
    };
}

/// Declares the row of an API key with the statuses of its user and its tenant, and with columns of grants.
#[doc(hidden)]
#[macro_export]
macro_rules! api_key_snapshot_row {
    ($row:ident, $moment:ty, $($grants:ident: $type:ty),+ $(,)?) => {
        struct $row {
            tenant_id: uuid::Uuid,
            id: uuid::Uuid,
            user_id: uuid::Uuid,
            name: String,
            secret_hash: Vec<u8>,
            former_hash: Option<Vec<u8>>,
            former_until: Option<$moment>,
            permissions: Option<String>,
            organization_id: Option<uuid::Uuid>,
            expires_at: $moment,
            created_at: $moment,
            created_by: Option<uuid::Uuid>,
            last_used_at: Option<$moment>,
            version: i64,
            user_status: String,
            tenant_status: String,
            $($grants: $type,)+
        }

        impl $row {
            /// Returns the snapshot with these grants, which are read from the other columns.
            fn with_grants(
                row: Self,
                read: impl FnOnce($($type),+) -> Result<Vec<iam_model::assignment::Grant>, StoreError>,
            ) -> Result<iam_model::store::ApiKeySnapshot, StoreError> {
                let key = $crate::api_key::ApiKeyRow {
                    tenant_id: row.tenant_id,
                    id: row.id,
                    user_id: row.user_id,
                    name: row.name,
                    secret_hash: row.secret_hash,
                    former_hash: row.former_hash,
                    former_until: row.former_until,
                    permissions: row.permissions,
                    organization_id: row.organization_id,
                    expires_at: row.expires_at,
                    created_at: row.created_at,
                    created_by: row.created_by,
                    last_used_at: row.last_used_at,
                    version: row.version,
                };
                Ok(iam_model::store::ApiKeySnapshot {
                    key: key.try_into()?,
                    user_status: $crate::column::parse("users.status", &row.user_status)?,
                    tenant_status: $crate::column::parse("tenants.status", &row.tenant_status)?,
                    grants: read($(row.$grants),+)?,
                })
            }
        }
    };
}

/// Implements the ports of API keys; see [`store`](crate::store).
///
/// The store also has a method `read_api_key_snapshot`, because each database has its own way to read grants.
#[macro_export]
macro_rules! api_key_ports {
    (
        $store:ident,
        $transaction:ident,
        by_id: $by_id:literal,
        of_user: $of_user:literal,
        lock: $lock:literal,
        lock_of_user: $lock_of_user:literal,
        record_use: $record_use:literal,
        insert: ($($insert:tt)+),
        update: ($($update:tt)+),
        delete: ($($delete:tt)+) $(,)?
    ) => {
        const _: () = {
            use iam_model::api_key::ApiKey;
            use iam_model::change::ApiKeyChange;
            use iam_model::clock::Timestamp;
            use iam_model::id::{ApiKeyId, OrganizationId, TenantId, UserId};
            use iam_model::store::{ApiKeySnapshot, ApiKeyStore, ApiKeyTransaction};
            use iam_model::store_error::StoreError;
            use $crate::api_key::stored_permissions;
            use $crate::error::expect_row;
            use $crate::store::SqlStore;

            type Row = $crate::api_key::ApiKeyRow<<$store as SqlStore>::Moment>;

            #[async_trait::async_trait]
            impl ApiKeyStore for $store {
                async fn api_key_snapshot(
                    &self,
                    tenant: TenantId,
                    id: ApiKeyId,
                ) -> Result<Option<ApiKeySnapshot>, StoreError> {
                    self.read_api_key_snapshot(tenant, id).await
                }

                async fn api_key(&self, tenant: TenantId, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
                    let row = $crate::select_api_keys!(Row, $by_id, tenant.as_uuid(), id.as_uuid());
                    self.answer(row.fetch_optional(&self.reads())).await?.map(ApiKey::try_from).transpose()
                }

                async fn api_keys_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<ApiKey>, StoreError> {
                    let rows = $crate::select_api_keys!(Row, $of_user, tenant.as_uuid(), user.as_uuid());
                    self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(ApiKey::try_from).collect()
                }

                async fn record_api_key_use(
                    &self,
                    tenant: TenantId,
                    id: ApiKeyId,
                    now: Timestamp,
                ) -> Result<(), StoreError> {
                    let update =
                        sqlx::query!($record_use, tenant.as_uuid(), id.as_uuid(), $store::stored(now));
                    self.answer(update.execute(&self.writes())).await.map(drop)
                }
            }

            #[async_trait::async_trait]
            impl ApiKeyTransaction for $transaction {
                async fn lock_api_key(&mut self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
                    let row = $crate::select_api_keys!(Row, $lock, self.tenant(), id.as_uuid());
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    row.map(ApiKey::try_from).transpose()
                }

                async fn lock_api_keys_of(&mut self, user: UserId) -> Result<Vec<ApiKey>, StoreError> {
                    let rows = $crate::select_api_keys!(Row, $lock_of_user, self.tenant(), user.as_uuid());
                    let rows = rows.fetch_all(self.connection()).await.map_err($store::store_error)?;
                    rows.into_iter().map(ApiKey::try_from).collect()
                }
            }

            impl $transaction {
                pub(crate) async fn write_api_key(&mut self, change: &ApiKeyChange) -> Result<(), StoreError> {
                    match change {
                        ApiKeyChange::Create { key, .. } => self.insert_api_key(key).await,
                        ApiKeyChange::Update { after, .. } | ApiKeyChange::Rotate { after, .. } => {
                            self.update_api_key(after).await
                        }
                        ApiKeyChange::Delete(keys) => self.delete_api_keys(keys).await,
                    }
                }

                async fn insert_api_key(&mut self, key: &ApiKey) -> Result<(), StoreError> {
                    let former = key.secret.former.as_ref();
                    execute_audited!(
                        self,
                        $($insert)+,
                        self.tenant(),
                        key.id.as_uuid(),
                        key.name.as_str(),
                        key.secret.hash.as_slice(),
                        former.map(|former| former.hash.as_slice()),
                        former.map(|former| $store::stored(former.until)),
                        key.permissions.as_ref().map(stored_permissions),
                        $store::stored(key.expires_at),
                        key.user_id.as_uuid(),
                        key.organization_id.map(OrganizationId::as_uuid),
                        $store::stored(key.created_at),
                        key.created_by.map(UserId::as_uuid),
                        key.last_used_at.map($store::stored)
                    )?;
                    Ok(())
                }

                async fn update_api_key(&mut self, key: &ApiKey) -> Result<(), StoreError> {
                    let former = key.secret.former.as_ref();
                    let updated = execute_audited!(
                        self,
                        $($update)+,
                        self.tenant(),
                        key.id.as_uuid(),
                        key.name.as_str(),
                        key.secret.hash.as_slice(),
                        former.map(|former| former.hash.as_slice()),
                        former.map(|former| $store::stored(former.until)),
                        key.permissions.as_ref().map(stored_permissions),
                        $store::stored(key.expires_at)
                    )?;
                    expect_row(updated.rows_affected(), "API key")
                }

                async fn delete_api_keys(&mut self, keys: &[ApiKey]) -> Result<(), StoreError> {
                    let ids = $store::ids(keys.iter().map(|key| key.id.as_uuid()));
                    execute_audited!(self, $($delete)+, self.tenant(), &ids)?;
                    Ok(())
                }
            }
        };
    };
}
