use iam_model::attribute::Attributes;
use iam_model::organization::OrganizationWithDepth;
use serde::{Deserialize, Serialize};

/// An organization with its depth and its attributes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OrganizationWithAttributes {
    /// The organization.
    #[serde(flatten)]
    pub placed: OrganizationWithDepth,
    /// The attributes of the organization.
    #[serde(default, skip_serializing_if = "Attributes::is_empty")]
    pub attributes: Attributes,
}

impl OrganizationWithAttributes {
    pub(super) fn new(placed: OrganizationWithDepth, attributes: Attributes) -> Self {
        Self { placed, attributes }
    }
}
