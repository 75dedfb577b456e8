//! Roles.

use iam_model::role::Role;
use iam_model::store_error::StoreError;
use serde::Deserialize;
use uuid::Uuid;

use crate::column::{StoredMoment, StoredTexts, moment, parse, text};

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
            description: text("roles.description", row.description)?,
            scope: parse("roles.scope", &row.scope)?,
            permissions: row.permissions.texts().iter().map(permission).collect::<Result<_, _>>()?,
            system: row.system,
            created_at: moment("roles.created_at", row.created_at)?,
            updated_at: moment("roles.updated_at", row.updated_at)?,
            version: row.version.into(),
        })
    }
}
