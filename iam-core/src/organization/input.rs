use iam_model::attribute::AttributesPatch;
use iam_model::error::Result;
use iam_model::id::OrganizationId;
use iam_model::organization::{Organization, OrganizationStatus};
use iam_model::validate::{Fields, Name, Slug};
use serde_json::{Map, Value};

use crate::patch::{attributes, patch, text, value};

/// The unchecked input for a new organization; see
/// [`Organizations::create`](crate::organization::Organizations::create).
#[derive(Clone, Debug, Default)]
pub struct NewOrganization {
    /// The name: 1–120 characters.
    pub name: String,
    /// The slug: `[a-z0-9]+(-[a-z0-9]+)*`, at most 63 characters, unique in the tenant. If it is `None`, it is made
    /// from the name.
    pub slug: Option<String>,
    /// The organization above; `None` for a root.
    pub parent: Option<OrganizationId>,
}

/// A [`NewOrganization`] whose fields are all valid.
pub(super) struct ValidOrganization {
    pub(super) name: Name,
    pub(super) slug: Option<Slug>,
    pub(super) parent: Option<OrganizationId>,
}

impl NewOrganization {
    pub(super) fn validate(&self) -> Result<ValidOrganization> {
        let mut fields = Fields::default();
        let name = fields.check("name", self.name.parse());
        let slug = fields.check_optional("slug", self.slug.as_deref());
        match name {
            Some(name) if fields.is_empty() => Ok(ValidOrganization { name, slug, parent: self.parent }),
            _ => Err(fields.into_error().into()),
        }
    }
}

patch! {
    /// Changes of an organization. A field that is `None` stays unchanged.
    OrganizationPatch of Organization with {
        /// Attributes by key: a value replaces that of its key, `null` removes the key, and other keys stay.
        attributes: Map<String, Value> => AttributesPatch = attributes("attributes"),
    } {
        /// 1–120 characters.
        name: String => name: Name = text("name"),
        /// `[a-z0-9]+(-[a-z0-9]+)*`, at most 63 characters, unique in the tenant.
        slug: String => slug: Slug = text("slug"),
        /// Any of the three statuses; see [`Organizations::update`](crate::organization::Organizations::update).
        status: OrganizationStatus => status: OrganizationStatus = value("status"),
        /// The new parent, to which the organization moves with everything below it; `Some(None)` makes it a root.
        parent: Option<OrganizationId> => parent_id: Option<OrganizationId> = value("parentId"),
    }
}
