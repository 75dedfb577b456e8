use std::fmt;

use crate::caller::Actor;
use crate::error::{Conflict, Result};
use crate::iam::Inner;
use crate::work::UnitOfWork;

/// How much a tenant may have at most, so that one tenant cannot fill the disk of all. What is deleted softly counts, since
/// it is kept. Trusted code may exceed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Users, whatever their status: 100,000.
    pub users: u64,
    /// Organizations, whatever their status: 10,000.
    pub organizations: u64,
    /// Roles, with the built-in ones: 1,000.
    pub roles: u64,
    /// Role assignments, with expired ones that are not removed yet: 500,000.
    pub assignments: u64,
    /// Permissions, with the built-in ones: 1,000.
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
    /// Users, whatever their status.
    pub users: u64,
    /// Organizations, whatever their status.
    pub organizations: u64,
    /// Roles, with the built-in ones.
    pub roles: u64,
    /// Role assignments, with expired ones that are not removed yet.
    pub assignments: u64,
}

/// What has a [`Quota`].
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

/// So close to the quota units of work take the tenant's lock, one after the other. Further away they need not: no more than
/// this many run at the same moment.
const MARGIN: u64 = 1_000;

/// Refuses to make so many more than the quota of the caller's tenant lets there be. To be called before anything is written.
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

/// How much the tenant has. Permissions are few and seldom made, so they are counted.
async fn used(work: &mut UnitOfWork<'_>, kind: QuotaKind) -> Result<u64> {
    Ok(match kind {
        QuotaKind::Users => work.locks().usage().await?.users,
        QuotaKind::Organizations => work.locks().usage().await?.organizations,
        QuotaKind::Roles => work.locks().usage().await?.roles,
        QuotaKind::Assignments => work.locks().usage().await?.assignments,
        QuotaKind::Permissions => work.locks().permission_names().await?.len() as u64,
    })
}
