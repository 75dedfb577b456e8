use std::fmt;

use crate::caller::Actor;
use crate::error::{Conflict, Result};
use crate::iam::Inner;
use crate::work::UnitOfWork;

/// How much a tenant may have at most, so that one tenant cannot fill the disk that all tenants share. Soft-deleted
/// users and organizations count, because their rows are kept. Trusted code may exceed the quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Users in any status: 100,000.
    pub users: u64,
    /// Organizations in any status: 10,000.
    pub organizations: u64,
    /// Roles, including the built-in ones: 1,000.
    pub roles: u64,
    /// Role assignments, including expired ones that are not removed yet: 500,000.
    pub assignments: u64,
    /// Permissions, including the built-in ones: 1,000.
    pub permissions: u64,
}

impl Default for Quota {
    fn default() -> Self {
        Self { users: 100_000, organizations: 10_000, roles: 1_000, assignments: 500_000, permissions: 1_000 }
    }
}

/// How much a tenant has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Users in any status.
    pub users: u64,
    /// Organizations in any status.
    pub organizations: u64,
    /// Roles, including the built-in ones.
    pub roles: u64,
    /// Role assignments, including expired ones that are not removed yet.
    pub assignments: u64,
}

/// The kinds of rows that have a [`Quota`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuotaKind {
    /// Users.
    Users,
    /// Organizations.
    Organizations,
    /// Roles.
    Roles,
    /// Role assignments.
    Assignments,
    /// Permissions.
    Permissions,
}

impl fmt::Display for QuotaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Users => "users",
            Self::Organizations => "organizations",
            Self::Roles => "roles",
            Self::Assignments => "role assignments",
            Self::Permissions => "permissions",
        })
    }
}

impl Quota {
    fn of(self, kind: QuotaKind) -> u64 {
        match kind {
            QuotaKind::Users => self.users,
            QuotaKind::Organizations => self.organizations,
            QuotaKind::Roles => self.roles,
            QuotaKind::Assignments => self.assignments,
            QuotaKind::Permissions => self.permissions,
        }
    }
}

/// The distance to the quota from which units of work take the tenant's lock, so that they run one after the other.
/// Further away they do not need the lock, because no more than this many units of work run at the same time.
const MARGIN: u64 = 1_000;

/// Refuses to create `more` rows of a kind if the caller's tenant would then exceed its quota. Must be called before
/// the first write.
pub(crate) async fn hold_quota(iam: &Inner, work: &mut UnitOfWork<'_>, kind: QuotaKind, more: usize) -> Result<()> {
    if matches!(work.caller().actor(), Actor::System { .. }) {
        return Ok(());
    }
    let (limit, more) = (iam.settings.quota.of(kind), more as u64);
    if used(work, kind).await?.saturating_add(more) <= limit.saturating_sub(MARGIN) {
        return Ok(());
    }
    work.locks().lock_tenant().await?;
    if used(work, kind).await?.saturating_add(more) <= limit {
        Ok(())
    } else {
        Err(Conflict::QuotaExceeded(kind, limit).into())
    }
}

/// Returns how many rows of a kind the tenant has. Permissions have no stored count: they are few and rarely created,
/// so they are counted here.
async fn used(work: &mut UnitOfWork<'_>, kind: QuotaKind) -> Result<u64> {
    Ok(match kind {
        QuotaKind::Users => work.locks().usage().await?.users,
        QuotaKind::Organizations => work.locks().usage().await?.organizations,
        QuotaKind::Roles => work.locks().usage().await?.roles,
        QuotaKind::Assignments => work.locks().usage().await?.assignments,
        QuotaKind::Permissions => work.locks().permission_names().await?.len() as u64,
    })
}
