//! Tenants: customers, each with its own data that no other tenant can see (`decisions.md` §2).

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

/// A customer with its own users, organizations, roles and audit log. No other tenant may see them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// Identifies the tenant.
    pub id: TenantId,
    /// A name for human readers.
    pub name: Name,
    /// A name for URLs and logins; unique among all tenants.
    pub slug: Slug,
    /// Whether the tenant is active or suspended.
    pub status: TenantStatus,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Whether the users of a tenant can log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TenantStatus {
    /// The users of the tenant can log in.
    Active,
    /// The operator has suspended the tenant: it has no sessions, and its users cannot log in.
    Suspended,
}

text_enum! { TenantStatus { Active = "ACTIVE", Suspended = "SUSPENDED" } }

/// The identifier and the names of a tenant, for use in other values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantSummary {
    /// Identifies the tenant.
    pub id: TenantId,
    /// A name for URLs and logins.
    pub slug: Slug,
    /// A name for human readers.
    pub name: Name,
}

impl Tenant {
    /// Returns the identifier and the names of the tenant, for use in other values.
    #[must_use]
    pub fn summary(&self) -> TenantSummary {
        TenantSummary { id: self.id, slug: self.slug.clone(), name: self.name.clone() }
    }

    fn audited(&self) -> Value {
        json!({ "name": self.name.as_str(), "slug": self.slug.as_str(), "status": self.status.as_str() })
    }
}

/// Changes of a tenant. A field that is `None` stays unchanged.
#[derive(Clone, Debug, Default)]
pub struct TenantPatch {
    /// 1–120 characters.
    pub name: Option<String>,
    /// `[a-z0-9]+(-[a-z0-9]+)*`, at most 63 characters.
    pub slug: Option<String>,
}

/// A [`TenantPatch`] with valid fields.
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
    /// Returns the tenant with the patch applied.
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
