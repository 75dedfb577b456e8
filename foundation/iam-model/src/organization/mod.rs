//! Organizations: the parts of a tenant in which roles can apply. They form a tree (`docs/http-api.md#organizations`).

mod ancestry;
mod hierarchy;
mod rules;
mod tree;

pub use ancestry::{Ancestry, Position};
pub use hierarchy::{Hierarchy, Node, OrganizationWithDepth};
pub use rules::{Activation, AffectedTree, check_depth, height};
pub use tree::OrganizationTree;

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::attribute::AttributeFilter;
use crate::clock::Timestamp;
use crate::id::{OrganizationId, TenantId};
use crate::page::SortOrder;
use crate::search::SearchWord;
use crate::text::folded;
use crate::validate::{Name, Slug};
use crate::version::Version;

/// A part of a tenant. Organizations form a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Organization {
    /// The identifier of the organization.
    pub id: OrganizationId,
    /// The tenant it belongs to.
    pub tenant_id: TenantId,
    /// The name, for people to read.
    pub name: Name,
    /// The slug, for URLs; unique among the tenant's organizations that are not INACTIVE.
    pub slug: Slug,
    /// Whether roles held in it count.
    pub status: OrganizationStatus,
    /// The organization above; `None` for a root.
    pub parent_id: Option<OrganizationId>,
    /// When the organization was made.
    pub created_at: Timestamp,
    /// When the organization was last changed.
    pub updated_at: Timestamp,
    /// The version of the row. The move of an ancestor does not change it.
    #[serde(default)]
    pub version: Version,
}

/// Whether roles held in an organization count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OrganizationStatus {
    /// Roles count, if all ancestors are ACTIVE, too.
    Active,
    /// Roles held in the organization and in everything below it do not count for a while.
    Suspended,
    /// The organization was deleted. Its record is kept.
    Inactive,
}

text_enum! { OrganizationStatus { Active = "ACTIVE", Suspended = "SUSPENDED", Inactive = "INACTIVE" } }

impl OrganizationStatus {
    /// Whether the organization was deleted.
    #[must_use]
    pub fn is_inactive(self) -> bool {
        self == Self::Inactive
    }
}

impl Organization {
    /// Returns the organization after a change at this moment. The store raises the version by the same step.
    #[must_use]
    pub fn changed(self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.next(), ..self }
    }

    /// The fields that the audit log records.
    pub(crate) fn audited(&self) -> Value {
        json!({
            "name": self.name.as_str(),
            "slug": self.slug.as_str(),
            "status": self.status.as_str(),
            "parentId": self.parent_id,
        })
    }
}

/// A short form of an organization, for use inside other values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OrganizationSummary {
    /// The identifier of the organization.
    pub id: OrganizationId,
    /// The name, for people to read.
    pub name: String,
}

/// How many members an organization has, and how much is below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrganizationCounts {
    /// The organization.
    pub id: OrganizationId,
    /// The number of organizations below it, at any depth, that are not INACTIVE.
    pub below: u64,
    /// Its members. `None` if they were not counted.
    pub members: Option<MemberCounts>,
}

/// How many users hold a role in an organization, by an assignment that has not expired. A user who holds several roles
/// counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberCounts {
    /// The users who hold a role in the organization itself.
    pub own: u64,
    /// The users who hold a role in one of the organizations below it. Some of them may be among `own`, too.
    pub below: u64,
}

/// Which organizations a list shows; every part that is set must match.
#[derive(Clone, Debug, Default)]
pub struct OrganizationFilter {
    /// Only organizations directly below this one, or only roots.
    pub parent: Option<ParentFilter>,
    /// Only organizations with this status. By default, all that are not INACTIVE.
    pub status: Option<OrganizationStatus>,
    /// Only organizations with all words of this text, each as a part of the name or the slug; see [`SearchWord`]. A
    /// service accepts [at most 8](crate::search::MAX_WORDS).
    pub search: Option<String>,
    /// Only organizations with exactly this value of an attribute.
    pub attribute: Option<AttributeFilter>,
}

/// Selects organizations by their parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParentFilter {
    /// The organization is a root.
    Root,
    /// The organization is directly below this one.
    Of(OrganizationId),
}

impl OrganizationFilter {
    /// Whether an organization passes, apart from the attribute; for stores that filter in memory.
    #[must_use]
    pub fn matches(&self, organization: &Organization) -> bool {
        let name = folded(organization.name.as_str());
        let found = |word: &SearchWord| word.is_in(&name) || word.is_in(organization.slug.as_str());
        let is_in_state = match self.status {
            Some(status) => organization.status == status,
            None => organization.status != OrganizationStatus::Inactive,
        };
        let is_below = match self.parent {
            Some(ParentFilter::Root) => organization.parent_id.is_none(),
            Some(ParentFilter::Of(parent)) => organization.parent_id == Some(parent),
            None => true,
        };
        is_in_state && is_below && SearchWord::all(self.search.as_deref().unwrap_or_default()).iter().all(found)
    }
}

/// How a list of organizations is sorted. Equal ones are sorted by identifier, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrganizationSort {
    /// The field to sort by.
    pub by: OrganizationSortKey,
    /// The direction.
    pub order: SortOrder,
}

/// The fields by which organizations can be sorted. Names sort without regard to case, by Unicode code point:
/// as [`folded`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrganizationSortKey {
    /// The name.
    Name,
    /// When the organization was made.
    #[default]
    CreatedAt,
    /// When the organization was last changed.
    UpdatedAt,
}

text_enum! { OrganizationSortKey { Name = "name", CreatedAt = "createdAt", UpdatedAt = "updatedAt" } }

impl OrganizationSort {
    /// Compares two organizations; for stores that sort in memory.
    #[must_use]
    pub fn compare(self, a: &Organization, b: &Organization) -> Ordering {
        let ascending = match self.by {
            OrganizationSortKey::Name => folded(a.name.as_str()).cmp(&folded(b.name.as_str())),
            OrganizationSortKey::CreatedAt => a.created_at.cmp(&b.created_at),
            OrganizationSortKey::UpdatedAt => a.updated_at.cmp(&b.updated_at),
        };
        self.order.directed(ascending).then(a.id.cmp(&b.id))
    }
}
