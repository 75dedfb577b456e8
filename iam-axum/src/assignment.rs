//! Role assignments as `/auth/me` shows them (`decisions.md` §2).

use std::collections::BTreeMap;

use iam_core::access::{Grants, PermissionSet};
use iam_core::assignment::Grant;
use iam_core::clock::Timestamp;
use iam_core::organization::OrganizationSummary;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::time::Time;

/// A role that the caller holds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HeldRole {
    assignment_id: Uuid,
    role: Named,
    /// Absent when the role is held tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    organization: Option<Named>,
    /// Null is never.
    #[schema(required)]
    expires_at: Option<Time>,
}

/// Something that is embedded with its name.
#[derive(Serialize, ToSchema)]
pub(crate) struct Named {
    id: Uuid,
    name: String,
}

impl From<OrganizationSummary> for Named {
    fn from(organization: OrganizationSummary) -> Self {
        Self { id: organization.id.as_uuid(), name: organization.name }
    }
}

impl From<Grant> for HeldRole {
    fn from(grant: Grant) -> Self {
        Self {
            assignment_id: grant.assignment.id.as_uuid(),
            role: Named { id: grant.role.id.as_uuid(), name: grant.role.name },
            organization: grant.organization.map(Named::from),
            expires_at: grant.assignment.expires_at.map(Time),
        }
    }
}

/// What the caller may do, tenant-wide and beyond that in single organizations.
#[derive(Serialize, ToSchema)]
pub(crate) struct HeldPermissions {
    #[schema(example = json!(["users:read"]))]
    tenant: Vec<String>,
    organizations: Vec<OrganizationPermissions>,
}

/// What the caller may do in an organization.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrganizationPermissions {
    organization_id: Uuid,
    permissions: Vec<String>,
}

impl HeldPermissions {
    pub(crate) fn at(now: Timestamp, grants: &[Grant]) -> Self {
        let grants = Grants::at(now, grants);
        let organizations: &BTreeMap<_, _> = grants.organizations();
        let in_organization = |(id, set): (&iam_core::OrganizationId, &PermissionSet)| OrganizationPermissions {
            organization_id: id.as_uuid(),
            permissions: names(set),
        };
        Self { tenant: names(grants.tenant()), organizations: organizations.iter().map(in_organization).collect() }
    }
}

fn names(set: &PermissionSet) -> Vec<String> {
    set.iter().map(|pattern| pattern.as_str().to_owned()).collect()
}
