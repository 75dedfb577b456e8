use async_trait::async_trait;
use iam_model::attribute::{AttributeFilter, AttributeOwner, AttributeRules, Attributes};
use iam_model::id::{TenantId, UserId};
use iam_model::store::{AttributeStore, AttributeTransaction};
use iam_model::store_error::StoreError;
use iam_model::tenant::Tenant;
use iam_model::user::User;

use crate::state::{MemoryStore, MemoryTransaction, TenantState};

#[async_trait]
impl AttributeStore for MemoryStore {
    async fn attributes(&self, tenant: TenantId, owner: AttributeOwner) -> Result<Attributes, StoreError> {
        Ok(self.tenant_state(tenant).attributes_of(owner))
    }

    async fn user_with_attributes(
        &self,
        tenant: TenantId,
        user: UserId,
    ) -> Result<Option<(User, Attributes)>, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(state.users.get(&user).map(|found| (found.clone(), state.attributes_of(user.into()))))
    }

    async fn attributes_of(&self, tenant: TenantId, users: &[UserId]) -> Result<Vec<(UserId, Attributes)>, StoreError> {
        let state = self.tenant_state(tenant);
        let of = |user: &UserId| Some((*user, state.attributes.get(&(*user).into())?.clone()));
        Ok(users.iter().filter_map(of).collect())
    }
}

#[async_trait]
impl AttributeTransaction for MemoryTransaction {
    async fn attributes(&mut self, owner: AttributeOwner) -> Result<Attributes, StoreError> {
        Ok(self.draft.attributes_of(owner))
    }

    async fn attribute_rules(&mut self) -> Result<AttributeRules, StoreError> {
        Ok(self.draft.tenant.as_ref().map(Tenant::attribute_rules).unwrap_or_default())
    }
}

impl TenantState {
    fn attributes_of(&self, owner: AttributeOwner) -> Attributes {
        self.attributes.get(&owner).cloned().unwrap_or_default()
    }

    /// Whether an owner passes a filter by an attribute, if there is one.
    pub(super) fn has_attribute(&self, owner: AttributeOwner, filter: Option<&AttributeFilter>) -> bool {
        let has = |filter: &AttributeFilter| {
            self.attributes.get(&owner).is_some_and(|attributes| filter.matches(&attributes.indexed()))
        };
        filter.is_none_or(has)
    }

    pub(super) fn write_attributes(&mut self, owner: AttributeOwner, attributes: &Attributes) {
        if attributes.is_empty() {
            self.attributes.remove(&owner);
        } else {
            self.attributes.insert(owner, attributes.clone());
        }
    }
}
