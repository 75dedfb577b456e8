use iam_model::attribute::{AttributeDefinitions, AttributeFilter};
#[cfg(doc)]
use iam_model::error::Error;
use iam_model::error::Result;
use iam_model::id::OrganizationId;
use iam_model::permission;
use iam_model::validate::Fields;

use crate::attribute::PARAMETER;
use crate::caller::Caller;
use crate::organization::{OrganizationWithAttributes, Organizations};

impl Organizations<'_> {
    /// Returns one organization with its attributes, as [`get`](Self::get) does.
    ///
    /// # Errors
    ///
    /// Those of [`get`](Self::get).
    pub async fn get_with_attributes(&self, caller: &Caller, id: OrganizationId) -> Result<OrganizationWithAttributes> {
        let placed = self.get(caller, id).await?;
        // After the organization: with an older version, a client that changes what it has read is refused, and reads
        // again.
        let attributes = self.0.store.attributes(caller.tenant(), id.into()).await?;
        Ok(OrganizationWithAttributes::new(placed, attributes))
    }

    /// Returns the attributes that the tenant has defined for organizations. Needs `organizations:read`, as their values
    /// do.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn attribute_definitions(&self, caller: &Caller) -> Result<AttributeDefinitions> {
        self.0.rights(caller).require_anywhere(&permission::ORGANIZATIONS_READ)?;
        Ok(self.0.attribute_rules(caller.tenant()).await?.organizations.clone())
    }

    /// Reads a filter by an attribute, `key:value`, for [`list`](Self::list). Needs `organizations:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]; [`Error::Validation`] which names `attribute`, if the key is not one that the tenant has
    /// made searchable, or if the value is not of its type.
    pub async fn attribute_filter(&self, caller: &Caller, text: &str) -> Result<AttributeFilter> {
        self.0.rights(caller).visible_scope(&permission::ORGANIZATIONS_READ)?;
        let rules = self.0.attribute_rules(caller.tenant()).await?;
        let mut fields = Fields::default();
        let filter = AttributeFilter::parse(&mut fields, PARAMETER, text, &rules.organizations);
        filter.ok_or_else(|| fields.into_error().into())
    }
}
