//! API keys.

use iam_model::api_key::{ApiKey, ApiKeySecret, FormerSecret};
use iam_model::permission::{PermissionPattern, PermissionSet};
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, bytes_32, moment, moment_optional, parse, text};

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
    pub rotated_by_owner: bool,
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
            name: text("api_keys.name", row.name)?,
            secret: ApiKeySecret { hash: bytes_32("api_keys.secret_hash", &row.secret_hash)?, former },
            permissions: row.permissions.as_deref().map(permissions).transpose()?,
            organization_id: row.organization_id.map(Into::into),
            expires_at: moment("api_keys.expires_at", row.expires_at)?,
            created_at: moment("api_keys.created_at", row.created_at)?,
            created_by: row.created_by.map(Into::into),
            rotated_by_owner: row.rotated_by_owner,
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
