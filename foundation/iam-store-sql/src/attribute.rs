//! Attributes of users and organizations.

use iam_model::attribute::{AttributeDefinitions, AttributeFilter, AttributeRules, Attributes};
use iam_model::id::{TenantId, UserId};
use iam_model::store_error::StoreError;
use sqlx::{Encode, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::parse;
use crate::store::SqlStore;

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
