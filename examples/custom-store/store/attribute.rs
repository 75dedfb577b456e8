use async_trait::async_trait;
use iam_model::attribute::{AttributeFilter, AttributeOwner, AttributeRules, Attributes};
use iam_model::id::{TenantId, UserId};
use iam_model::store::{AttributeStore, AttributeTransaction};
use iam_model::store_error::StoreError;
use iam_model::tenant::Tenant;
use iam_model::user::User;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::RedbStore;
use super::rows::{Draft, Row, View, key};
use super::transaction::RedbTransaction;

/// The attributes of a user or an organization. One without attributes has no row.
#[derive(Serialize, Deserialize)]
pub(super) struct AttributesRow {
    owner: Uuid,
    attributes: Attributes,
}

impl Row for AttributesRow {
    const TABLE: &'static str = "attributes";

    fn key(&self) -> Vec<u8> {
        key(self.owner)
    }
}

#[async_trait]
impl AttributeStore for RedbStore {
    async fn attributes(&self, tenant: TenantId, owner: AttributeOwner) -> Result<Attributes, StoreError> {
        self.read(tenant, |view| view.attributes(owner))
    }

    async fn user_with_attributes(
        &self,
        tenant: TenantId,
        user: UserId,
    ) -> Result<Option<(User, Attributes)>, StoreError> {
        self.read(tenant, |view| {
            let found: Option<User> = view.get(&key(user))?;
            found.map(|found| Ok((found, view.attributes(user.into())?))).transpose()
        })
    }

    async fn attributes_of(&self, tenant: TenantId, users: &[UserId]) -> Result<Vec<(UserId, Attributes)>, StoreError> {
        self.read(tenant, |view| {
            let all = users.iter().map(|user| Ok((*user, view.attributes((*user).into())?)));
            let all = all.collect::<Result<Vec<_>, StoreError>>()?;
            Ok(all.into_iter().filter(|(_, attributes)| !attributes.is_empty()).collect())
        })
    }
}

#[async_trait]
impl AttributeTransaction for RedbTransaction {
    async fn attributes(&mut self, owner: AttributeOwner) -> Result<Attributes, StoreError> {
        self.view().attributes(owner)
    }

    async fn attribute_rules(&mut self) -> Result<AttributeRules, StoreError> {
        let tenant: Option<Tenant> = self.view().get(&[])?;
        Ok(tenant.as_ref().map(Tenant::attribute_rules).unwrap_or_default())
    }
}

impl View<'_> {
    fn attributes(self, owner: AttributeOwner) -> Result<Attributes, StoreError> {
        let row: Option<AttributesRow> = self.get(&key(owner.as_uuid()))?;
        Ok(row.map(|row| row.attributes).unwrap_or_default())
    }

    /// Returns the users and organizations that pass a filter by an attribute. `None` without a filter: all pass.
    pub(super) fn having(self, filter: Option<&AttributeFilter>) -> Result<Option<Vec<Uuid>>, StoreError> {
        let Some(filter) = filter else { return Ok(None) };
        let found = self.select(|row: &AttributesRow| filter.matches(&row.attributes.indexed()))?;
        Ok(Some(found.into_iter().map(|row| row.owner).collect()))
    }
}

impl Draft<'_> {
    pub(super) fn write_attributes(self, owner: AttributeOwner, attributes: &Attributes) -> Result<(), StoreError> {
        let owner = owner.as_uuid();
        if attributes.is_empty() {
            return self.remove::<AttributesRow>(&key(owner)).map(drop);
        }
        self.put(AttributesRow { owner, attributes: attributes.clone() })
    }
}
