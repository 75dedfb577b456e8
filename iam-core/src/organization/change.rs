use serde_json::json;

use super::Organization;
use crate::audit::{Record, ResourceType, action};

/// A change of organizations.
#[derive(Clone, Debug)]
pub enum OrganizationChange {
    /// A new organization.
    Create(Organization),
}

impl OrganizationChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Create(organization) => {
                vec![Record::new(action::CREATE, ResourceType::ORGANIZATION, organization.id).creating(&json!({
                    "name": organization.name.as_str(),
                    "slug": organization.slug.as_str(),
                    "parentId": organization.parent_id,
                }))]
            }
        }
    }
}
