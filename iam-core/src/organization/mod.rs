//! Organizations: the places in a tenant where roles can apply (`interface.md` §2.4).

mod change;

pub use change::OrganizationChange;

use crate::clock::Timestamp;
use crate::id::{OrganizationId, TenantId};
use crate::validate::{Name, Slug};

/// A part of a tenant; organizations nest into a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Organization {
    /// Names the organization.
    pub id: OrganizationId,
    /// The tenant it belongs to.
    pub tenant_id: TenantId,
    /// For people.
    pub name: Name,
    /// For URLs; unique in the tenant.
    pub slug: Slug,
    /// The organization above; `None` is a root.
    pub parent_id: Option<OrganizationId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// What stands for an organization inside something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrganizationSummary {
    /// Names the organization.
    pub id: OrganizationId,
    /// For people.
    pub name: String,
}
