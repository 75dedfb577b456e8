//! Tenants.

use iam_model::store_error::StoreError;
use iam_model::tenant::Tenant;
use uuid::Uuid;

use crate::column::{StoredMoment, moment, parse};

/// A tenant as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct TenantRow<T> {
    pub id: Uuid,
    pub name: String,
    pub slug: String,
    pub status: String,
    pub created_at: T,
    pub updated_at: T,
}

impl<T: StoredMoment> TryFrom<TenantRow<T>> for Tenant {
    type Error = StoreError;

    fn try_from(row: TenantRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            name: parse("tenants.name", &row.name)?,
            slug: parse("tenants.slug", &row.slug)?,
            status: parse("tenants.status", &row.status)?,
            created_at: moment("tenants.created_at", row.created_at)?,
            updated_at: moment("tenants.updated_at", row.updated_at)?,
        })
    }
}
