use std::fmt;

use super::{Authority, PermissionPattern, PermissionSet, Place, Rights, Until};
use crate::assignment::GrantQuery;
use crate::caller::Actor;
use crate::clock::{Timestamp, shown};
use crate::error::{Forbidden, Result, Unauthenticated};
use crate::user::UserStatus;
use crate::work::UnitOfWork;

/// The caller's power to change anybody's rights, of this very moment.
///
/// Taking it locks the tenant: changes of rights, of the organizations' tree and of users' states happen one after the
/// other, and what is read under it stays true until the unit of work ends. The caller's own roles are read again, so
/// that a role which was taken away a moment ago gives nothing.
pub(crate) struct Power {
    authority: Authority,
    now: Timestamp,
}

/// Rights that somebody would get.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gain<'a> {
    /// Which.
    pub(crate) permissions: &'a PermissionSet,
    /// Where, as things stand before the change.
    pub(crate) place: Place<'a>,
    /// For how long.
    pub(crate) until: Until,
}

/// The proof that it was asked whether a change gives anybody more than its author holds. Changes that can raise rights
/// carry one.
///
/// It comes from `Power::cover`, to which whoever makes a change says what is gained by it, or nothing where it only
/// takes away. What needs no caller's rights at all says why at `Covered::no_gain`.
#[derive(Clone, Copy, Debug)]
pub struct Covered(());

impl Power {
    /// Locks the tenant and reads what the caller may do.
    pub(crate) async fn lock(work: &mut UnitOfWork<'_>) -> Result<Self> {
        work.locks().lock_tenant().await?;
        let authority = match work.caller().actor() {
            Actor::System { .. } => Authority::everything(),
            Actor::Anonymous => Authority::of([]),
            Actor::User { user, .. } => {
                let users = work.locks().users_by_id(&[*user]).await?;
                if users.first().is_none_or(|user| user.status != UserStatus::Active) {
                    return Err(Unauthenticated::InvalidToken.into());
                }
                Authority::of(&work.locks().grants(GrantQuery::OfUser(*user)).await?)
            }
        };
        Ok(Self { authority, now: work.now() })
    }

    /// What the caller may do.
    pub(crate) fn rights(&self) -> Rights<'_> {
        Rights::new(&self.authority, self.now)
    }

    /// The choke point: lets a change pass that gives somebody these rights, when the caller holds each of them
    /// itself, there, and for as long (`decisions.md` §4).
    ///
    /// Sets of permissions are compared, not ranks, and a wildcard is covered by a wildcard only.
    pub(crate) fn cover<'g>(&self, gains: impl IntoIterator<Item = Gain<'g>>) -> Result<Covered> {
        for Gain { permissions, place, until } in gains {
            for permission in permissions.iter() {
                let held = self.authority.holds_until(permission, place, self.now);
                if held < Some(until) {
                    return Err(Forbidden::Escalation(Shortfall::new(permission, held)).into());
                }
            }
        }
        Ok(Covered(()))
    }
}

impl Covered {
    /// For what can raise nobody's rights; whoever calls this says why that is so.
    pub(crate) const fn no_gain() -> Self {
        Self(())
    }

    /// Takes it for granted, for tests of stores.
    #[cfg(any(test, feature = "conformance"))]
    #[must_use]
    pub const fn assumed() -> Self {
        Self(())
    }
}

/// What the caller of a refused change lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shortfall {
    /// What would be given.
    pub permission: PermissionPattern,
    /// Until when the caller itself holds it there; `None` is not at all.
    pub held_until: Option<Timestamp>,
}

impl Shortfall {
    fn new(permission: &PermissionPattern, held: Option<Until>) -> Self {
        let held_until = match held {
            Some(Until::Moment(moment)) => Some(moment),
            Some(Until::Forever) | None => None,
        };
        Self { permission: permission.clone(), held_until }
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.held_until {
            Some(moment) => write!(f, "you hold {} there until {} only", self.permission, shown(moment)),
            None => write!(f, "you do not hold {} there", self.permission),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::testing::{Scene, at};
    use crate::error::Error;

    /// What the choke point says when somebody who holds one thing gives another.
    fn gives(authority: Authority, given: &str, place: Place<'_>, until: Until) -> Result<(), Shortfall> {
        let power = Power { authority, now: at(0) };
        let permissions: PermissionSet = [given.parse().unwrap()].into_iter().collect();
        match power.cover([Gain { permissions: &permissions, place, until }]) {
            Ok(_) => Ok(()),
            Err(Error::Forbidden(Forbidden::Escalation(shortfall))) => Err(shortfall),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn nobody_gives_more_than_they_hold_in_permissions_place_and_time() {
        let scene = Scene::new();
        let in_branch = || scene.holding("users:*", Some("branch"), Some(at(10)));
        let (branch, team, root) = (scene.place("branch"), scene.place("team"), scene.place("root"));
        let soon = Until::Moment(at(10));
        assert!(gives(in_branch(), "users:read", branch, soon).is_ok());
        assert!(gives(in_branch(), "users:*", team, soon).is_ok());
        for (given, place, until) in [
            ("*", branch, soon),
            ("roles:read", branch, soon),
            ("users:read", root, soon),
            ("users:read", scene.place("other"), soon),
            ("users:read", Place::Tenant, soon),
            ("users:read", branch, Until::Moment(at(11))),
            ("users:read", branch, Until::Forever),
        ] {
            assert!(gives(in_branch(), given, place, until).is_err(), "{given} {until:?}");
        }
    }

    #[test]
    fn what_is_missing_is_named_with_until_when_it_is_held() {
        let scene = Scene::new();
        let authority = scene.holding("users:read", None, Some(at(10)));
        let refused = gives(authority, "users:read", Place::Tenant, Until::Forever).unwrap_err();
        assert_eq!(refused.to_string(), "you hold users:read there until 1970-01-01T00:00:10.000Z only");
        let refused = gives(Authority::of([]), "users:*", Place::Tenant, Until::Moment(at(1))).unwrap_err();
        assert_eq!(refused.to_string(), "you do not hold users:* there");
    }

    #[test]
    fn nothing_gained_is_always_covered() {
        let power = Power { authority: Authority::of([]), now: at(0) };
        assert!(power.cover([]).is_ok());
        let none = PermissionSet::default();
        assert!(power.cover([Gain { permissions: &none, place: Place::Tenant, until: Until::Forever }]).is_ok());
    }
}
