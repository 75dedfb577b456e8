//! Who may do what: permissions, sets of them, and what a caller holds.
//!
//! Everything here is a plain function over values; what is loaded, and when, is not its business.

pub mod permission;

use std::collections::{BTreeMap, BTreeSet};

pub use permission::{Permission, PermissionPattern};

use crate::assignment::Grant;
use crate::clock::Timestamp;
use crate::id::OrganizationId;

/// A set of permission patterns, as a role or a caller holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionSet(BTreeSet<PermissionPattern>);

impl PermissionSet {
    /// Whether one of the patterns covers the permission.
    ///
    /// ```
    /// use iam_core::access::{PermissionSet, permission};
    ///
    /// let held: PermissionSet = ["users:*".parse()?, "roles:read".parse()?].into_iter().collect();
    /// assert!(held.allows(&permission::USERS_DELETE));
    /// assert!(!held.allows(&permission::TENANTS_READ));
    /// # Ok::<(), iam_core::Invalid>(())
    /// ```
    #[must_use]
    pub fn allows(&self, permission: &Permission) -> bool {
        self.0.iter().any(|pattern| pattern.covers(permission))
    }

    /// The patterns in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = &PermissionPattern> {
        self.0.iter()
    }
}

impl FromIterator<PermissionPattern> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = PermissionPattern>>(patterns: I) -> Self {
        Self(patterns.into_iter().collect())
    }
}

impl Extend<PermissionPattern> for PermissionSet {
    fn extend<I: IntoIterator<Item = PermissionPattern>>(&mut self, patterns: I) {
        self.0.extend(patterns);
    }
}

/// What a caller holds: tenant-wide, and in single organizations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    tenant: PermissionSet,
    organizations: BTreeMap<OrganizationId, PermissionSet>,
}

impl Grants {
    /// Every permission, tenant-wide: for trusted code.
    pub(crate) fn everything() -> Self {
        Self { tenant: [PermissionPattern::everything()].into_iter().collect(), organizations: BTreeMap::new() }
    }

    /// What these grants amount to at a moment: an expired one grants nothing from its very instant on.
    #[must_use]
    pub fn at(now: Timestamp, grants: &[Grant]) -> Self {
        let mut held = Self::default();
        for grant in grants.iter().filter(|grant| grant.assignment.is_live(now)) {
            let set = match grant.assignment.organization_id {
                None => &mut held.tenant,
                Some(organization) => held.organizations.entry(organization).or_default(),
            };
            set.extend(grant.role.permissions.iter().cloned());
        }
        held
    }

    /// Whether the permission is held tenant-wide.
    #[must_use]
    pub fn allow(&self, permission: &Permission) -> bool {
        self.tenant.allows(permission)
    }

    /// What is held tenant-wide.
    #[must_use]
    pub fn tenant(&self) -> &PermissionSet {
        &self.tenant
    }

    /// What is held in single organizations, beyond what is held tenant-wide.
    #[must_use]
    pub fn organizations(&self) -> &BTreeMap<OrganizationId, PermissionSet> {
        &self.organizations
    }
}
