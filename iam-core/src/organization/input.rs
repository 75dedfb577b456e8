use iam_model::clock::Timestamp;
use iam_model::error::Result;
use iam_model::id::OrganizationId;
use iam_model::organization::{Organization, OrganizationStatus};
use iam_model::validate::{Fields, Name, Slug};

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

/// A change of an organization. A field that is `None` does not change.
#[derive(Clone, Debug, Default)]
pub struct OrganizationPatch {
    /// The name: 1–120 characters.
    pub name: Option<String>,
    /// The slug: `[a-z0-9]+(-[a-z0-9]+)*`, at most 63 characters, unique in the tenant.
    pub slug: Option<String>,
    /// The status, any of the three; see [`Organizations::update`](crate::organization::Organizations::update).
    pub status: Option<OrganizationStatus>,
    /// The new parent, to which the organization moves with everything below it; `Some(None)` makes it a root.
    pub parent: Option<Option<OrganizationId>>,
}

/// An [`OrganizationPatch`] whose fields are all valid.
pub(super) struct ValidPatch {
    name: Option<Name>,
    slug: Option<Slug>,
    status: Option<OrganizationStatus>,
    pub(super) parent: Option<Option<OrganizationId>>,
}

impl OrganizationPatch {
    pub(super) fn validate(&self) -> Result<ValidPatch> {
        let mut fields = Fields::default();
        let patch = ValidPatch {
            name: fields.check_optional("name", self.name.as_deref()),
            slug: fields.check_optional("slug", self.slug.as_deref()),
            status: self.status,
            parent: self.parent,
        };
        fields.finish()?;
        Ok(patch)
    }
}

impl ValidPatch {
    /// Returns the organization with the patch applied.
    pub(super) fn apply(self, before: &Organization, now: Timestamp) -> Organization {
        let mut after = before.clone();
        after.name = self.name.unwrap_or(after.name);
        after.slug = self.slug.unwrap_or(after.slug);
        after.status = self.status.unwrap_or(after.status);
        after.parent_id = self.parent.unwrap_or(after.parent_id);
        if after == *before { after } else { after.changed(now) }
    }
}
