//! Organizations.

use iam_model::id::OrganizationId;
use iam_model::organization::Organization;
use iam_model::store_error::StoreError;
use sqlx::FromRow;
use uuid::Uuid;

use crate::column::{StoredMoment, moment, parse};

/// An organization as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct OrganizationRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub name: String,
    pub slug: String,
    pub status: String,
    pub parent_id: Option<Uuid>,
    pub created_at: T,
    pub updated_at: T,
}

impl<T: StoredMoment> TryFrom<OrganizationRow<T>> for Organization {
    type Error = StoreError;

    fn try_from(row: OrganizationRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            name: parse("organizations.name", &row.name)?,
            slug: parse("organizations.slug", &row.slug)?,
            status: parse("organizations.status", &row.status)?,
            parent_id: row.parent_id.map(OrganizationId::from),
            created_at: moment("organizations.created_at", row.created_at)?,
            updated_at: moment("organizations.updated_at", row.updated_at)?,
        })
    }
}
