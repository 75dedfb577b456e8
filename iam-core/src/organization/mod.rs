//! Organizations: the parts of a tenant in which roles can apply. They form a tree (`docs/http-api.md#organizations`).

mod attributes;
mod details;
mod input;
mod rules;
mod service;

pub use crate::organization::details::OrganizationWithAttributes;
pub use crate::organization::input::{NewOrganization, OrganizationPatch};
pub use crate::organization::service::{MAX_ASKED, Organizations};
pub use iam_model::change::OrganizationChange;
pub use iam_model::organization::{
    Hierarchy, MemberCounts, Node, Organization, OrganizationCounts, OrganizationFilter, OrganizationSort,
    OrganizationSortKey, OrganizationStatus, OrganizationSummary, OrganizationTree, OrganizationWithDepth,
    ParentFilter, Position,
};
pub use iam_model::store::{OrganizationStore, OrganizationTransaction};
