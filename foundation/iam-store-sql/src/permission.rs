//! Registered permissions.

use iam_model::permission::RegisteredPermission;
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, moment, parse, text};

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
            description: text("permissions.description", row.description)?,
            system: row.system,
            created_at: moment("permissions.created_at", row.created_at)?,
        })
    }
}
