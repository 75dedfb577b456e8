//! Tenants: the customers whose data is kept apart (`decisions.md` §2).

mod change;
mod quota;
mod registration;
mod service;
mod store;

pub use change::TenantChange;
pub(crate) use quota::hold_quota;
pub use quota::{Quota, QuotaKind, Usage};
pub use registration::{Founded, NewTenant, Registered, Registration};
pub use service::Tenants;
pub use store::{Directory, TenantStore, TenantTransaction};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::error::Result;
use crate::id::TenantId;
use crate::validate::{Fields, Name, Slug};

/// A customer whose users, organizations, roles and audit log nobody else may see.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// Names the tenant.
    pub id: TenantId,
    /// For people.
    pub name: Name,
    /// For URLs and logins; no two tenants have the same.
    pub slug: Slug,
    /// Whether the tenant is served.
    pub status: TenantStatus,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Whether a tenant is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TenantStatus {
    /// It is.
    Active,
    /// The operator has suspended it: it has no sessions, and its users cannot log in.
    Suspended,
}

words! { TenantStatus { Active = "ACTIVE", Suspended = "SUSPENDED" } }

/// What stands for a tenant inside something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantSummary {
    /// Names the tenant.
    pub id: TenantId,
    /// For URLs and logins.
    pub slug: Slug,
    /// For people.
    pub name: Name,
}

impl Tenant {
    /// What stands for it inside something else.
    #[must_use]
    pub fn summary(&self) -> TenantSummary {
        TenantSummary { id: self.id, slug: self.slug.clone(), name: self.name.clone() }
    }

    fn audited(&self) -> Value {
        json!({ "name": self.name.as_str(), "slug": self.slug.as_str(), "status": self.status.as_str() })
    }
}

/// What to change of a tenant; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct TenantPatch {
    /// 1–120 characters.
    pub name: Option<String>,
    /// `[a-z0-9]+(-[a-z0-9]+)*`, at most 63 characters.
    pub slug: Option<String>,
}

/// A [`TenantPatch`] whose every field was found good.
struct ValidPatch {
    name: Option<Name>,
    slug: Option<Slug>,
}

impl TenantPatch {
    fn validate(&self) -> Result<ValidPatch> {
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
    /// The tenant as the patch would have it.
    fn apply(self, before: &Tenant, now: Timestamp) -> Tenant {
        let mut after = before.clone();
        after.name = self.name.unwrap_or(after.name);
        after.slug = self.slug.unwrap_or(after.slug);
        if after != *before {
            after.updated_at = now;
        }
        after
    }
}
