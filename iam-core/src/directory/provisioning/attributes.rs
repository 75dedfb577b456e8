use std::collections::HashMap;

use iam_model::attribute::{AttributeRules, Attributes, AttributesPatch, ChangedAttributes};
use iam_model::directory::ProvisionedUser;
use iam_model::error::Result;
use iam_model::id::UserId;
use iam_model::validate::{Fields, InvalidFields};
use iam_scim::{CustomSchema, ScimError, ScimType};
use serde_json::{Map, Value};

use crate::attribute::FIELD;
use crate::caller::Caller;
use crate::directory::provisioning::{Provisioning, ProvisioningError};
use crate::engine::UnitOfWork;

/// The facts for the decision what a directory changes of the attributes of a user, as read under the lock of the user.
pub(super) struct CustomFacts {
    schema: CustomSchema,
    rules: AttributeRules,
    current: Attributes,
}

impl CustomFacts {
    /// Reads the facts about a user; `None` for a new one.
    pub(super) async fn read(work: &mut UnitOfWork<'_>, user: Option<UserId>) -> Result<Self> {
        let rules = work.reads().attribute_rules().await?;
        let schema = CustomSchema::of(&rules.users);
        let current = match user.filter(|_| !schema.is_empty()) {
            Some(user) => work.reads().attributes(user.into()).await?,
            None => Attributes::default(),
        };
        Ok(Self { schema, rules, current })
    }

    /// Returns the attributes that the directory sees: the current ones, or those after a change.
    pub(super) fn visible(&self, changed: Option<&ChangedAttributes>) -> Attributes {
        self.schema.select(changed.map_or(&self.current, |changed| &changed.after))
    }

    /// Decides what changes by what the directory says. `None` if nothing does.
    pub(super) fn decide(
        &self,
        stated: Option<&Map<String, Value>>,
    ) -> Result<Option<Box<ChangedAttributes>>, ScimError> {
        let Some(stated) = stated.filter(|_| !self.schema.is_empty()) else { return Ok(None) };
        let changes = self.schema.changes(stated, &self.current)?;
        let mut fields = Fields::default();
        let Some(patch) = AttributesPatch::check(&mut fields, FIELD, &changes) else {
            return Err(refused(&fields.into_error()));
        };
        let after = patch.applied_to(&self.current, self.rules.of_users(), FIELD).map_err(|error| refused(&error))?;
        let before = self.current.clone();
        Ok((after != before).then(|| Box::new(ChangedAttributes { before, after })))
    }
}

fn refused(InvalidFields(errors): &InvalidFields) -> ScimError {
    let texts: Vec<String> = errors.iter().map(|error| format!("{} {}", error.field, error.message)).collect();
    ScimError::bad_request(ScimType::InvalidValue, texts.join(", "))
}

impl Provisioning<'_> {
    /// Returns the extension of the schema of users that the directory of a caller has. Needs no permission. Empty for
    /// other callers.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store).
    pub async fn custom_schema(&self, caller: &Caller) -> Result<CustomSchema, ProvisioningError> {
        if self.acting(caller).await.is_err() {
            return Ok(CustomSchema::default());
        }
        let rules = self.0.attribute_rules(caller.tenant()).await?;
        Ok(CustomSchema::of(&rules.users))
    }

    /// Adds the attributes that the directory sees. They are read only if the tenant has some.
    pub(super) async fn add_attributes(&self, caller: &Caller, found: &mut [ProvisionedUser]) -> Result<()> {
        let rules = self.0.attribute_rules(caller.tenant()).await?;
        let schema = CustomSchema::of(&rules.users);
        if schema.is_empty() || found.is_empty() {
            return Ok(());
        }
        let users: Vec<UserId> = found.iter().map(|found| found.user.id).collect();
        let read = self.0.store.attributes_of(caller.tenant(), &users).await?;
        let read: HashMap<UserId, Attributes> = read.into_iter().collect();
        for found in found {
            found.attributes = read.get(&found.user.id).map(|attributes| schema.select(attributes)).unwrap_or_default();
        }
        Ok(())
    }
}
