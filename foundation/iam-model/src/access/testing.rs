//! A small organization tree for tests: `root` is above `branch`, and `branch` above `team`. `other` and `asleep` are
//! also roots; `asleep` is suspended.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::new_without_default,
    missing_docs,
    reason = "the values are literals in tests"
)]

use std::sync::Arc;

use chrono::{DateTime, TimeDelta};

use crate::access::{Authority, ResourceScope};
use crate::assignment::{Assignment, Grant};
use crate::clock::Timestamp;
use crate::id::{OrganizationId, TenantId};
use crate::organization::{Hierarchy, Organization, OrganizationStatus};
use crate::role::{Role, RoleScope};
use crate::version::Version;

/// The moment this many seconds after the Unix epoch.
pub fn at(seconds: i64) -> Timestamp {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
}

/// A different identifier for each text.
pub fn id<T: From<uuid::Uuid>>(text: &str) -> T {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(text.bytes()).for_each(|(to, byte)| *to = byte);
    uuid::Uuid::from_bytes(bytes).into()
}

pub fn organization(name: &str, parent: Option<&str>, status: OrganizationStatus) -> Organization {
    Organization {
        id: id(name),
        tenant_id: TenantId::NONE,
        name: name.parse().unwrap(),
        slug: name.parse().unwrap(),
        status,
        parent_id: parent.map(id),
        created_at: at(0),
        updated_at: at(0),
        version: Version::FIRST,
    }
}

pub struct TestTree {
    pub hierarchy: Hierarchy,
}

impl TestTree {
    pub fn new() -> Self {
        use OrganizationStatus::{Active, Suspended};
        let hierarchy = [
            organization("team", Some("branch"), Active),
            organization("root", None, Active),
            organization("branch", Some("root"), Active),
            organization("other", None, Active),
            organization("asleep", None, Suspended),
        ];
        Self { hierarchy: hierarchy.into_iter().collect() }
    }

    pub fn scope(&self, name: &str) -> ResourceScope<'_> {
        self.hierarchy.node(id(name)).unwrap().scope()
    }

    /// The rights of a user who holds a role with one permission.
    pub fn holding(&self, pattern: &str, organization: Option<&str>, expires_at: Option<Timestamp>) -> Authority {
        self.holding_all(&[(pattern, organization, expires_at)])
    }

    pub fn holding_all(&self, held: &[(&str, Option<&str>, Option<Timestamp>)]) -> Authority {
        let grants: Vec<Grant> =
            held.iter().map(|(pattern, scope, expiry)| self.grant(pattern, *scope, *expiry)).collect();
        Authority::of(&grants)
    }

    pub fn grant(&self, pattern: &str, organization: Option<&str>, expires_at: Option<Timestamp>) -> Grant {
        let organization_id: Option<OrganizationId> = organization.map(id);
        let role = Role {
            id: id(pattern),
            tenant_id: TenantId::NONE,
            name: "TESTER".parse().unwrap(),
            description: "".parse().unwrap(),
            scope: RoleScope::Any,
            permissions: [pattern.parse().unwrap()].into_iter().collect(),
            system: false,
            created_at: at(0),
            updated_at: at(0),
            version: Version::FIRST,
        };
        let assignment = Assignment {
            id: id("assignment"),
            tenant_id: TenantId::NONE,
            user_id: id("user"),
            role_id: role.id,
            organization_id,
            expires_at,
            created_at: at(0),
            created_by: None,
            directory_group_id: None,
            access_request_id: None,
        };
        let organization = organization_id.map(|id| self.hierarchy.node(id).unwrap().into());
        Grant { assignment, role: Arc::new(role), organization }
    }
}
