use super::{Organization, OrganizationStatus};
use crate::clock::Timestamp;
use crate::error::Result;
use crate::id::OrganizationId;
use crate::validate::{Fields, Name, Slug};

/// An organization to be made, as somebody typed it; see [`Organizations::create`](super::Organizations::create).
#[derive(Clone, Debug, Default)]
pub struct NewOrganization {
    /// 1–120 characters.
    pub name: String,
    /// `[a-z0-9]+(-[a-z0-9]+)*`, at most 63 characters, unique in the tenant; made from the name where it is `None`.
    pub slug: Option<String>,
    /// The organization above; `None` makes a root.
    pub parent: Option<OrganizationId>,
}

/// A [`NewOrganization`] whose every field was found good.
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
            _ => Err(fields.into_error()),
        }
    }
}

/// What to change of an organization; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct OrganizationPatch {
    /// 1–120 characters.
    pub name: Option<String>,
    /// `[a-z0-9]+(-[a-z0-9]+)*`, at most 63 characters, unique in the tenant.
    pub slug: Option<String>,
    /// Any of the three states; see [`Organizations::update`](super::Organizations::update).
    pub status: Option<OrganizationStatus>,
    /// Below which organization it moves, with everything below it; `Some(None)` makes it a root.
    pub parent: Option<Option<OrganizationId>>,
}

/// An [`OrganizationPatch`] whose every field was found good.
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
    /// The organization as the patch would have it.
    pub(super) fn apply(self, before: &Organization, now: Timestamp) -> Organization {
        let mut after = before.clone();
        after.name = self.name.unwrap_or(after.name);
        after.slug = self.slug.unwrap_or(after.slug);
        after.status = self.status.unwrap_or(after.status);
        after.parent_id = self.parent.unwrap_or(after.parent_id);
        if after != *before {
            after.updated_at = now;
        }
        after
    }
}
