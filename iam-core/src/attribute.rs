//! Attributes: what a tenant keeps of its users and organizations beside their fields (`docs/http-api.md#attributes`).

use std::sync::Arc;

pub use iam_model::attribute::{
    AttributeClaims, AttributeDefinition, AttributeDefinitions, AttributeFilter, AttributeOwner, AttributeRules,
    AttributeType, Attributes, AttributesPatch, ChangedAttributes, IndexedValue, OwnerRules, UnregisteredAttributes,
};
pub use iam_model::store::{AttributeStore, AttributeTransaction};

use iam_model::clock::monotonic_now;
use iam_model::error::Result;
use iam_model::id::{TenantId, UserId};
use iam_model::validate::{Fields, InvalidFields};
use serde_json::{Map, Value};

use crate::engine::{Engine, UnitOfWork};

/// The field with the attributes of a user or an organization.
pub(crate) const FIELD: &str = "attributes";

/// The parameter of lists that selects by an attribute.
pub(crate) const PARAMETER: &str = "attribute";

/// Returns the attributes of a new user or organization.
pub(crate) fn new_attributes(fields: &mut Fields, given: &Map<String, Value>, rules: OwnerRules<'_>) -> Attributes {
    let Some(patch) = AttributesPatch::check(fields, FIELD, given) else { return Attributes::default() };
    match patch.applied_to(&Attributes::default(), rules, FIELD) {
        Ok(attributes) => attributes,
        Err(InvalidFields(errors)) => {
            errors.into_iter().for_each(|error| fields.reject(&error.field, error.message));
            Attributes::default()
        }
    }
}

/// The facts for the decision about a change of attributes, as read under the lock of their owner.
pub(crate) struct AttributeFacts {
    owner: AttributeOwner,
    patch: AttributesPatch,
    before: Attributes,
    rules: AttributeRules,
}

impl AttributeFacts {
    /// Reads the facts. `None` if nothing of the attributes is to change.
    pub(crate) async fn read(
        work: &mut UnitOfWork<'_>,
        owner: impl Into<AttributeOwner>,
        patch: Option<AttributesPatch>,
    ) -> Result<Option<Self>> {
        let owner = owner.into();
        let Some(patch) = patch.filter(|patch| !patch.is_empty()) else { return Ok(None) };
        let before = work.reads().attributes(owner).await?;
        let rules = work.reads().attribute_rules().await?;
        Ok(Some(Self { owner, patch, before, rules }))
    }

    /// Decides about the change. `None` if it changes nothing.
    pub(crate) fn decide(self) -> Result<Option<Box<ChangedAttributes>>> {
        let Self { owner, patch, before, rules } = self;
        let after = patch.applied_to(&before, rules.of(owner), FIELD)?;
        Ok((after != before).then(|| Box::new(ChangedAttributes { before, after })))
    }
}

impl Engine {
    /// Returns the rules of a tenant for attributes, from the cache or from the store. A change by another replica may
    /// take effect here up to a second later.
    pub(crate) async fn attribute_rules(&self, tenant: TenantId) -> Result<Arc<AttributeRules>> {
        let asked = monotonic_now();
        if let Some(rules) = self.snapshots().attribute_rules(tenant, asked) {
            return Ok(rules);
        }
        let read_version = self.snapshots().read_version();
        let read = self.store.tenant(tenant).await?;
        let rules = read.map(|tenant| tenant.attribute_rules()).unwrap_or_default();
        Ok(self.snapshots().keep_attribute_rules(tenant, rules, read_version, asked))
    }

    /// Returns the same inside a unit of work, which must not wait for a second connection.
    async fn attribute_rules_in(&self, work: &mut UnitOfWork<'_>) -> Result<Arc<AttributeRules>> {
        let (tenant, asked) = (work.caller().tenant(), monotonic_now());
        if let Some(rules) = self.snapshots().attribute_rules(tenant, asked) {
            return Ok(rules);
        }
        let read_version = self.snapshots().read_version();
        let rules = work.reads().attribute_rules().await?;
        Ok(self.snapshots().keep_attribute_rules(tenant, rules, read_version, asked))
    }

    /// Returns the attributes that a new access token of a user has. Those of the user are read only in a tenant whose
    /// tokens have attributes.
    pub(crate) async fn attribute_claims(
        &self,
        work: &mut UnitOfWork<'_>,
        user: UserId,
    ) -> Result<Option<AttributeClaims>> {
        let rules = self.attribute_rules_in(work).await?;
        if !rules.are_in_tokens() {
            return Ok(None);
        }
        let attributes = work.reads().attributes(user.into()).await?;
        Ok(AttributeClaims::of(&rules, &attributes))
    }
}
