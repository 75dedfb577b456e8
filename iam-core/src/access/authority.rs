use std::sync::Arc;

use super::decision::{DecidingGrant, Decision, Denial};
use super::{Permission, PermissionPattern};
use crate::assignment::Grant;
use crate::clock::Timestamp;
use crate::id::{AssignmentId, OrganizationId};
use crate::organization::Position;
use crate::role::Role;

/// Where something happens: in the tenant as a whole, or in an organization.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// In the tenant as a whole; only what is held tenant-wide counts.
    Tenant,
    /// In an organization; what is held there, above it or tenant-wide counts.
    Organization(Position<'a>),
}

/// How far a permission reaches, for lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Everywhere in the tenant.
    Tenant,
    /// In these organizations, at least one, and everything below them.
    Organizations(Vec<OrganizationId>),
}

/// Until when something is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Until {
    /// From this instant on it is not.
    Moment(Timestamp),
    /// It does not end by itself.
    Forever,
}

impl From<Option<Timestamp>> for Until {
    fn from(expires_at: Option<Timestamp>) -> Self {
        expires_at.map_or(Self::Forever, Self::Moment)
    }
}

impl Until {
    fn is_after(self, now: Timestamp) -> bool {
        self > Self::Moment(now)
    }
}

/// What somebody may do, where, and until when.
///
/// All that a decision needs of a user, in one piece of memory, and nothing computed for a question in advance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// Trusted code.
    Everything,
    /// A user's roles.
    Held(Box<[Held]>),
}

/// A role that is held in a place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    organization: Option<OrganizationId>,
    until: Until,
    /// Whether the organization and everything above it is ACTIVE.
    is_awake: bool,
    role: Arc<Role>,
    assignment: AssignmentId,
}

impl Held {
    fn is_live(&self, now: Timestamp) -> bool {
        self.is_awake && self.until.is_after(now)
    }

    fn covers(&self, place: Place<'_>) -> bool {
        match (self.organization, place) {
            (None, _) => true,
            (Some(_), Place::Tenant) => false,
            // A deleted organization is no place of its own any more: only what is held tenant-wide counts there.
            (Some(organization), Place::Organization(position)) => {
                !position.is_inactive() && position.is_within(organization)
            }
        }
    }
}

impl Authority {
    /// Everything, everywhere, for ever: for trusted code.
    pub(crate) const fn everything() -> Self {
        Self(Kind::Everything)
    }

    /// What these assignments of one user amount to.
    pub fn of<'a>(grants: impl IntoIterator<Item = &'a Grant>) -> Self {
        let held = |grant: &Grant| Held {
            organization: grant.assignment.organization_id,
            until: grant.assignment.expires_at.into(),
            is_awake: grant.is_awake(),
            role: Arc::clone(&grant.role),
            assignment: grant.assignment.id,
        };
        Self(Kind::Held(grants.into_iter().map(held).collect()))
    }

    /// About how many bytes it takes, with its roles, whoever else shares them.
    pub(crate) fn size(&self) -> usize {
        let held = self.held().unwrap_or_default();
        let mut roles: Vec<&Arc<Role>> = held.iter().map(|held| &held.role).collect();
        roles.sort_unstable_by_key(|role| Arc::as_ptr(role));
        roles.dedup_by(|one, other| Arc::ptr_eq(one, other));
        size_of::<Self>() + size_of_val(held) + roles.into_iter().map(|role| role.size()).sum::<usize>()
    }

    /// Whether the permission is held in a place at a moment.
    #[must_use]
    pub fn allows(&self, permission: &Permission, place: Place<'_>, now: Timestamp) -> bool {
        let allows = |held: &Held| held.covers(place) && held.is_live(now) && held.role.permissions.allows(permission);
        self.held().is_none_or(|held| held.iter().any(allows))
    }

    /// Whether anything at all is held in a place: then its existence is no secret, also while what is held sleeps.
    #[must_use]
    pub fn sees(&self, place: Place<'_>, now: Timestamp) -> bool {
        self.held().is_none_or(|held| held.iter().any(|held| held.covers(place) && held.until.is_after(now)))
    }

    /// How far a permission reaches; `None` is nowhere.
    #[must_use]
    pub fn reach(&self, permission: &Permission, now: Timestamp) -> Option<Reach> {
        let Some(held) = self.held() else { return Some(Reach::Tenant) };
        let mut organizations = Vec::new();
        for held in held.iter().filter(|held| held.is_live(now) && held.role.permissions.allows(permission)) {
            match held.organization {
                None => return Some(Reach::Tenant),
                Some(organization) => organizations.push(organization),
            }
        }
        organizations.sort_unstable();
        organizations.dedup();
        (!organizations.is_empty()).then_some(Reach::Organizations(organizations))
    }

    /// Until when everything that a pattern covers is held in a place; `None` is not at all.
    ///
    /// It is the longest of the single roles: each covers the pattern alone, and which actions a wildcard will cover
    /// tomorrow no sum of others knows.
    pub(super) fn holds_until(&self, pattern: &PermissionPattern, place: Place<'_>, now: Timestamp) -> Option<Until> {
        let Some(held) = self.held() else { return Some(Until::Forever) };
        let covers = |held: &&Held| held.covers(place) && held.is_live(now) && held.role.permissions.covers(pattern);
        held.iter().filter(covers).map(|held| held.until).max()
    }

    /// Whether the permission is held in a place, by which roles, or what is missing.
    #[must_use]
    pub fn explain(&self, permission: &Permission, place: Place<'_>, now: Timestamp) -> Decision {
        let Some(held) = self.held() else { return Decision::allowed(Vec::new()) };
        let with_permission: Vec<&Held> = held.iter().filter(|held| held.role.permissions.allows(permission)).collect();
        let here = || with_permission.iter().filter(|held| held.covers(place));
        let deciding: Vec<DecidingGrant> = here()
            .filter(|held| held.is_live(now))
            .map(|held| DecidingGrant::new(held.assignment, &held.role, held.organization, place))
            .collect();
        if !deciding.is_empty() {
            return Decision::allowed(deciding);
        }
        Decision::denied(if here().any(|held| !held.until.is_after(now)) {
            Denial::Expired
        } else if here().any(|held| !held.is_awake) {
            Denial::OrganizationNotActive
        } else if with_permission.iter().any(|held| held.until.is_after(now)) {
            Denial::HeldElsewhere
        } else {
            Denial::NotHeld
        })
    }

    /// The roles that are held; `None` is trusted code.
    fn held(&self) -> Option<&[Held]> {
        match &self.0 {
            Kind::Everything => None,
            Kind::Held(held) => Some(held),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::permission;
    use crate::access::testing::{Scene, at};

    #[test]
    fn a_role_counts_where_it_is_held_and_below() {
        let scene = Scene::new();
        let authority = scene.holding("users:read", Some("branch"), None);
        let allows = |place| authority.allows(&permission::USERS_READ, place, at(0));
        assert!(allows(scene.place("branch")) && allows(scene.place("team")));
        assert!(!allows(scene.place("root")) && !allows(scene.place("other")) && !allows(Place::Tenant));
        let everywhere = scene.holding("users:read", None, None);
        assert!(everywhere.allows(&permission::USERS_READ, scene.place("team"), at(0)));
        assert!(everywhere.allows(&permission::USERS_READ, Place::Tenant, at(0)));
    }

    #[test]
    fn a_role_that_is_held_several_times_takes_its_place_once() {
        let grant = Scene::new().grant("users:read", None, None);
        let size = |grants: &[Grant]| Authority::of(grants).size();
        let (none, one) = (size(&[]), size(std::slice::from_ref(&grant)));
        assert_eq!(one, none + size_of::<Held>() + grant.role.size());
        assert_eq!(size(&vec![grant; 3]), one + 2 * size_of::<Held>());
    }

    #[test]
    fn a_role_counts_until_the_instant_of_its_expiry() {
        let scene = Scene::new();
        let authority = scene.holding("users:read", None, Some(at(10)));
        assert!(authority.allows(&permission::USERS_READ, Place::Tenant, at(9)));
        assert!(!authority.allows(&permission::USERS_READ, Place::Tenant, at(10)));
        assert_eq!(authority.reach(&permission::USERS_READ, at(10)), None);
        assert!(!authority.sees(Place::Tenant, at(10)));
    }

    #[test]
    fn a_role_that_sleeps_grants_nothing_and_shows_that_its_place_exists() {
        let scene = Scene::new();
        let authority = scene.holding("users:read", Some("asleep"), Some(at(10)));
        let place = scene.place("asleep");
        assert!(!authority.allows(&permission::USERS_READ, place, at(0)));
        assert!(authority.sees(place, at(9)) && !authority.sees(place, at(10)));
        assert!(!authority.sees(scene.place("other"), at(0)));
    }

    #[test]
    fn what_is_missing_is_said() {
        let scene = Scene::new();
        let denial = |authority: &Authority, place| authority.explain(&permission::USERS_READ, place, at(10)).denial;
        let tenant = Place::Tenant;
        assert_eq!(denial(&scene.holding("users:read", None, Some(at(10))), tenant), Some(Denial::Expired));
        assert_eq!(denial(&scene.holding("users:read", Some("other"), None), tenant), Some(Denial::HeldElsewhere));
        assert_eq!(denial(&scene.holding("roles:read", None, None), tenant), Some(Denial::NotHeld));
        let asleep = scene.holding("users:read", Some("asleep"), None);
        assert_eq!(denial(&asleep, scene.place("asleep")), Some(Denial::OrganizationNotActive));
        assert_eq!(denial(&scene.holding("users:*", Some("root"), None), scene.place("team")), None);
    }

    #[test]
    fn a_wildcard_is_held_by_a_wildcard_only_and_for_the_longest_of_the_roles() {
        let scene = Scene::new();
        let all: PermissionPattern = "users:*".parse().unwrap();
        let read: PermissionPattern = "users:read".parse().unwrap();
        let authority = scene.holding_all(&[("users:read", None, None), ("users:*", None, Some(at(10)))]);
        let until = |pattern| authority.holds_until(pattern, Place::Tenant, at(0));
        assert_eq!(until(&all), Some(Until::Moment(at(10))));
        assert_eq!(until(&read), Some(Until::Forever));
        assert!(Until::Forever > Until::Moment(at(i64::from(u32::MAX))));
    }
}
