use std::fmt;

use super::{Authority, PermissionPattern, PermissionSet, ResourceScope, Rights, Until};
use crate::assignment::GrantQuery;
use crate::caller::Actor;
use crate::clock::{Timestamp, shown};
use crate::error::{Forbidden, Result, Unauthenticated};
use crate::user::UserStatus;
use crate::work::UnitOfWork;

/// The grant authority of the caller: what it may grant to others at this moment.
///
/// [`lock`](Self::lock) locks the tenant. So changes of rights, of the organization tree and of users' states are
/// serialized, and everything that is read under the lock stays true until the unit of work ends. The caller's own
/// roles are read again, so that a role that was revoked a moment ago has no effect.
pub(crate) struct GrantAuthority {
    authority: Authority,
    now: Timestamp,
}

/// Rights that a change would give to a user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrantedRights<'a> {
    /// The permissions.
    pub(crate) permissions: &'a PermissionSet,
    /// The resource scope, in the organization tree before the change.
    pub(crate) scope: ResourceScope<'a>,
    /// When the rights end.
    pub(crate) until: Until,
}

/// The proof that a change passed the escalation check: it gives no user more rights than its author holds. Every
/// change that can raise rights carries one.
///
/// `GrantAuthority::cover` returns it. The code that makes a change passes the granted rights to it, or none if the change only
/// takes rights away. A change that needs no check calls `Covered::no_gain` instead, and a comment there says why.
#[derive(Clone, Copy, Debug)]
pub struct Covered(());

impl GrantAuthority {
    /// Locks the tenant and reads the caller's rights.
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

    /// The caller's rights.
    pub(crate) fn rights(&self) -> Rights<'_> {
        Rights::new(&self.authority, self.now)
    }

    /// Does the escalation check for a change that gives these rights. The check passes if the caller holds each of
    /// them itself, in the same resource scope and for at least as long (`decisions.md` §4).
    ///
    /// It compares sets of permissions, not ranks of roles. Only a wildcard covers a wildcard.
    pub(crate) fn cover<'g>(&self, gains: impl IntoIterator<Item = GrantedRights<'g>>) -> Result<Covered> {
        for GrantedRights { permissions, scope, until } in gains {
            for permission in permissions.iter() {
                let held = self.authority.holds_until(permission, scope, self.now);
                if held < Some(until) {
                    return Err(Forbidden::Escalation(Shortfall::new(permission, held)).into());
                }
            }
        }
        Ok(Covered(()))
    }
}

impl Covered {
    /// For a change that cannot raise the rights of any user. A comment at each call says why that is so.
    pub(crate) const fn no_gain() -> Self {
        Self(())
    }

    /// Skips the check, for tests of stores.
    #[cfg(any(test, feature = "conformance"))]
    #[must_use]
    pub const fn assumed() -> Self {
        Self(())
    }
}

/// A permission that the caller of a refused change lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shortfall {
    /// The permission that the change would give.
    pub permission: PermissionPattern,
    /// The time until which the caller itself holds it there; `None` if the caller does not hold it there.
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

    /// Does the escalation check for a caller with the rights `authority` that gives the permission `given`.
    fn gives(authority: Authority, given: &str, scope: ResourceScope<'_>, until: Until) -> Result<(), Shortfall> {
        let grantor = GrantAuthority { authority, now: at(0) };
        let permissions: PermissionSet = [given.parse().unwrap()].into_iter().collect();
        match grantor.cover([GrantedRights { permissions: &permissions, scope, until }]) {
            Ok(_) => Ok(()),
            Err(Error::Forbidden(Forbidden::Escalation(shortfall))) => Err(shortfall),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_caller_grants_no_more_than_it_holds() {
        let scene = Scene::new();
        let in_branch = || scene.holding("users:*", Some("branch"), Some(at(10)));
        let (branch, team, root) = (scene.scope("branch"), scene.scope("team"), scene.scope("root"));
        let soon = Until::Moment(at(10));
        assert!(gives(in_branch(), "users:read", branch, soon).is_ok());
        assert!(gives(in_branch(), "users:*", team, soon).is_ok());
        for (given, scope, until) in [
            ("*", branch, soon),
            ("roles:read", branch, soon),
            ("users:read", root, soon),
            ("users:read", scene.scope("other"), soon),
            ("users:read", ResourceScope::Tenant, soon),
            ("users:read", branch, Until::Moment(at(11))),
            ("users:read", branch, Until::Forever),
        ] {
            assert!(gives(in_branch(), given, scope, until).is_err(), "{given} {until:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_missing_permission_and_its_end() {
        let scene = Scene::new();
        let authority = scene.holding("users:read", None, Some(at(10)));
        let refused = gives(authority, "users:read", ResourceScope::Tenant, Until::Forever).unwrap_err();
        assert_eq!(refused.to_string(), "you hold users:read there until 1970-01-01T00:00:10.000Z only");
        let refused = gives(Authority::of([]), "users:*", ResourceScope::Tenant, Until::Moment(at(1))).unwrap_err();
        assert_eq!(refused.to_string(), "you do not hold users:* there");
    }

    #[test]
    fn a_change_without_granted_rights_passes_the_check() {
        let grantor = GrantAuthority { authority: Authority::of([]), now: at(0) };
        assert!(grantor.cover([]).is_ok());
        let none = PermissionSet::default();
        assert!(
            grantor
                .cover([GrantedRights { permissions: &none, scope: ResourceScope::Tenant, until: Until::Forever }])
                .is_ok()
        );
    }
}
