use iam_model::clock::Timestamp;
use iam_model::error::Result;
use iam_model::tenant::Tenant;
use iam_model::validate::{Fields, Name, Slug};

/// Changes of a tenant. A field that is `None` stays unchanged.
#[derive(Clone, Debug, Default)]
pub struct TenantPatch {
    /// 1–120 characters.
    pub name: Option<String>,
    /// `[a-z0-9]+(-[a-z0-9]+)*`, at most 63 characters.
    pub slug: Option<String>,
}

/// A [`TenantPatch`] with valid fields.
pub(super) struct ValidPatch {
    name: Option<Name>,
    slug: Option<Slug>,
}

impl TenantPatch {
    pub(super) fn validate(&self) -> Result<ValidPatch> {
        let mut fields = Fields::default();
        let patch = ValidPatch {
            name: fields.check_optional("name", self.name.as_deref()),
            slug: fields.check_optional("slug", self.slug.as_deref()),
        };
        fields.finish()?;
        Ok(patch)
    }
}

impl ValidPatch {
    /// Returns the tenant with the patch applied.
    pub(super) fn apply(self, before: &Tenant, now: Timestamp) -> Tenant {
        let mut after = before.clone();
        after.name = self.name.unwrap_or(after.name);
        after.slug = self.slug.unwrap_or(after.slug);
        if after == *before { after } else { after.changed(now) }
    }
}
