//! Attributes of users and organizations.

use iam_model::attribute::{AttributeDefinitions, AttributeFilter, AttributeRules, Attributes};
use iam_model::id::{TenantId, UserId};
use iam_model::store_error::StoreError;
use iam_model::user::User;
use sqlx::{Encode, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::{StoredMoment, parse};
use crate::store::SqlStore;
use crate::user::UserRow;

/// The rules of a tenant for attributes: columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct AttributeRulesRow {
    pub user_attributes: String,
    pub organization_attributes: String,
    pub unregistered_attributes: String,
}

impl TryFrom<AttributeRulesRow> for AttributeRules {
    type Error = StoreError;

    fn try_from(row: AttributeRulesRow) -> Result<Self, StoreError> {
        Ok(Self {
            users: definitions("tenants.user_attributes", &row.user_attributes)?,
            organizations: definitions("tenants.organization_attributes", &row.organization_attributes)?,
            unregistered: parse("tenants.unregistered_attributes", row.unregistered_attributes)?,
        })
    }
}

/// A user with its attributes.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct UserWithAttributesRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub kind: String,
    pub email: String,
    pub email_verified_at: Option<T>,
    pub first_name: String,
    pub last_name: String,
    pub external_id: Option<String>,
    pub home_organization_id: Option<Uuid>,
    pub status: String,
    pub last_login_at: Option<T>,
    pub created_at: T,
    pub updated_at: T,
    pub version: i64,
    /// `None` for a user without attributes.
    pub attributes: Option<String>,
}

impl<T: StoredMoment> TryFrom<UserWithAttributesRow<T>> for (User, Attributes) {
    type Error = StoreError;

    fn try_from(row: UserWithAttributesRow<T>) -> Result<Self, StoreError> {
        let user = UserRow {
            tenant_id: row.tenant_id,
            id: row.id,
            kind: row.kind,
            email: row.email,
            email_verified_at: row.email_verified_at,
            first_name: row.first_name,
            last_name: row.last_name,
            external_id: row.external_id,
            home_organization_id: row.home_organization_id,
            status: row.status,
            last_login_at: row.last_login_at,
            created_at: row.created_at,
            updated_at: row.updated_at,
            version: row.version,
        };
        Ok((user.try_into()?, attributes(row.attributes)?))
    }
}

/// Converts a column of the table of tenants to definitions.
pub(crate) fn definitions(column: &'static str, text: &str) -> Result<AttributeDefinitions, StoreError> {
    AttributeDefinitions::stored(text).map_err(|cause| StoreError::corrupt(column, cause))
}

/// Converts the attributes of an owner. One without a row has none.
///
/// # Errors
///
/// [`StoreError::Corrupt`] when they are no JSON object.
pub fn attributes(text: Option<String>) -> Result<Attributes, StoreError> {
    let Some(text) = text else { return Ok(Attributes::default()) };
    Attributes::stored(&text).map_err(|cause| StoreError::corrupt("attributes.attributes", cause))
}

/// Converts the attributes of a user.
///
/// # Errors
///
/// [`StoreError::Corrupt`] when they are no JSON object.
pub fn attributes_of(user: Uuid, text: String) -> Result<(UserId, Attributes), StoreError> {
    Ok((user.into(), attributes(Some(text))?))
}

/// Adds the condition that a column names an owner with a value of an attribute.
pub(crate) fn push_has<S>(
    query: &mut QueryBuilder<S::Database>,
    column: &'static str,
    tenant: TenantId,
    filter: &AttributeFilter,
) where
    S: SqlStore,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    query.push(" AND ").push(column).push(" IN (SELECT v.owner_id FROM ").push(S::SCHEMA).push("attribute_values v");
    query.push(" WHERE v.tenant_id = ").push_bind(tenant.as_uuid());
    query.push(" AND v.key = ").push_bind(filter.value.key.clone());
    query.push(" AND v.value = ").push_bind(filter.value.value.clone()).push(")");
}
