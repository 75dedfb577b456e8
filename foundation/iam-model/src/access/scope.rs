use chrono::TimeDelta;

use crate::assignment::{Grant, GrantOrganization};
use crate::clock::Timestamp;
use crate::id::{AccessRequestId, OrganizationId};
use crate::organization::Position;

/// The resource scope of an action: the tenant as a whole, or an organization.
#[derive(Clone, Copy, Debug)]
pub enum ResourceScope<'a> {
    /// The tenant as a whole. Only grants that are tenant-wide count.
    Tenant,
    /// An organization. Grants in it, above it and tenant-wide count.
    Organization(Position<'a>),
    /// The organization of a grant. The same grants count. No grant is held in a deleted organization.
    OfGrant(&'a GrantOrganization),
}

impl ResourceScope<'_> {
    /// The organization; `None` for the tenant as a whole.
    pub(crate) fn organization(self) -> Option<OrganizationId> {
        match self {
            Self::Tenant => None,
            Self::Organization(position) => Some(position.id()),
            Self::OfGrant(organization) => Some(organization.id),
        }
    }

    /// The organizations in which grants count in the resource scope.
    pub(super) fn lineage(self) -> impl Iterator<Item = OrganizationId> {
        let (position, scope) = match self {
            Self::Tenant => (None, None),
            // In a deleted organization, only grants that are tenant-wide count.
            Self::Organization(position) => (Some(position).filter(|position| !position.is_inactive()), None),
            Self::OfGrant(scope) => (None, Some(scope)),
        };
        let of_grant = scope.into_iter().flat_map(|scope| scope.lineage.iter().copied());
        position.into_iter().flat_map(Position::lineage).chain(of_grant)
    }

    /// Whether grants in this organization count in the resource scope.
    pub(crate) fn is_within(self, organization: OrganizationId) -> bool {
        match self {
            Self::Tenant => false,
            // In a deleted organization, only grants that are tenant-wide count.
            Self::Organization(position) => !position.is_inactive() && position.is_within(organization),
            Self::OfGrant(scope) => scope.lineage.contains(&organization),
        }
    }
}

impl<'a> Position<'a> {
    /// The organization as a resource scope.
    #[must_use]
    pub fn scope(self) -> ResourceScope<'a> {
        ResourceScope::Organization(self)
    }
}

impl Grant {
    /// The resource scope of the grant. If its organization is not known, the scope is the tenant, so that a caller
    /// needs a right that is tenant-wide.
    #[must_use]
    pub fn scope(&self) -> ResourceScope<'_> {
        match (self.assignment.organization_id, &self.organization) {
            (Some(id), Some(organization)) if organization.id == id => ResourceScope::OfGrant(organization),
            _ => ResourceScope::Tenant,
        }
    }
}

/// The visible scope of a permission, for lists: the part of the organization tree in which it is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VisibleScope {
    /// The whole tenant.
    Tenant,
    /// These organizations, at least one, and everything below them. Those of a user are in ascending order.
    Organizations(Vec<OrganizationId>),
}

/// Which rights of an author can cover what its change gives (`docs/access-requests.md#what-is-given-by-an-elevation`).
/// What an elevation gives must end with it. So it covers only an assignment that has its mark, and what gives nothing
/// for any time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoveredBy {
    /// Its standing rights.
    #[default]
    Standing,
    /// Its standing rights, together with those of one access request.
    Elevation(AccessRequestId),
    /// All its rights.
    All,
}

/// When a grant ends. The order of the variants matters: every moment is before `Forever`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Until {
    /// The grant does not count from this instant on.
    Moment(Timestamp),
    /// The grant does not end by itself.
    Forever,
}

impl From<Option<Timestamp>> for Until {
    fn from(expires_at: Option<Timestamp>) -> Self {
        expires_at.map_or(Self::Forever, Self::Moment)
    }
}

impl Until {
    /// Returns the moment of the end; `None` if the grant does not end by itself.
    #[must_use]
    pub fn moment(self) -> Option<Timestamp> {
        match self {
            Self::Moment(moment) => Some(moment),
            Self::Forever => None,
        }
    }

    /// The same end so much later.
    pub(super) fn later_by(self, time: TimeDelta) -> Self {
        let later = |moment: Timestamp| moment.checked_add_signed(time);
        self.moment().and_then(later).map_or(Self::Forever, Self::Moment)
    }

    /// The same end so much earlier.
    pub(super) fn earlier_by(self, time: TimeDelta) -> Self {
        let earlier = |moment: Timestamp| moment.checked_sub_signed(time);
        match self {
            Self::Moment(moment) => Self::Moment(earlier(moment).unwrap_or(Timestamp::MIN_UTC)),
            Self::Forever => Self::Forever,
        }
    }

    pub(super) fn is_after(self, now: Timestamp) -> bool {
        self > Self::Moment(now)
    }
}
