//! Tenants.

use iam_model::store_error::StoreError;
use iam_model::tenant::Tenant;
use uuid::Uuid;

use crate::attribute::definitions;
use crate::column::{StoredMoment, grace_days, moment, moment_optional, parse, text};

/// A tenant as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct TenantRow<T> {
    pub id: Uuid,
    pub name: String,
    pub slug: String,
    pub status: String,
    pub password_policy: String,
    pub second_factor: String,
    pub second_factor_grace_days: i64,
    pub second_factor_required_at: Option<T>,
    pub password_login: String,
    pub email_login: String,
    pub authzen_identifiers: String,
    pub user_attributes: String,
    pub organization_attributes: String,
    pub unregistered_attributes: String,
    pub created_at: T,
    pub updated_at: T,
    pub version: i64,
}

impl<T: StoredMoment> TryFrom<TenantRow<T>> for Tenant {
    type Error = StoreError;

    fn try_from(row: TenantRow<T>) -> Result<Self, StoreError> {
        let required_at = row.second_factor_required_at;
        Ok(Self {
            id: row.id.into(),
            name: text("tenants.name", row.name)?,
            slug: parse("tenants.slug", row.slug)?,
            status: parse("tenants.status", row.status)?,
            password_policy: parse("tenants.password_policy", row.password_policy)?,
            second_factor: parse("tenants.second_factor", row.second_factor)?,
            second_factor_grace_days: grace_days("tenants.second_factor_grace_days", row.second_factor_grace_days)?,
            second_factor_required_at: moment_optional("tenants.second_factor_required_at", required_at)?,
            password_login: parse("tenants.password_login", row.password_login)?,
            email_login: parse("tenants.email_login", row.email_login)?,
            authzen_identifiers: parse("tenants.authzen_identifiers", row.authzen_identifiers)?,
            user_attributes: definitions("tenants.user_attributes", &row.user_attributes)?,
            organization_attributes: definitions("tenants.organization_attributes", &row.organization_attributes)?,
            unregistered_attributes: parse("tenants.unregistered_attributes", row.unregistered_attributes)?,
            created_at: moment("tenants.created_at", row.created_at)?,
            updated_at: moment("tenants.updated_at", row.updated_at)?,
            version: row.version.into(),
        })
    }
}
