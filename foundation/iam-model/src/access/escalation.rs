use crate::access::{Authority, ResourceScope, Until};
use crate::clock::Timestamp;
use crate::error::{Error, Forbidden, Shortfall};
use crate::permission::PermissionSet;

/// Rights that a change would give to a user.
#[derive(Clone, Copy, Debug)]
pub struct GrantedRights<'a> {
    /// The permissions.
    pub permissions: &'a PermissionSet,
    /// The resource scope, in the organization tree before the change.
    pub scope: ResourceScope<'a>,
    /// When the rights end.
    pub until: Until,
}

/// The proof that a change passed the escalation check: it gives no user more rights than its author holds. Every
/// change that can raise rights carries one.
///
/// The code that makes a change passes the granted rights to [`check`](Self::check), or none if the change only takes
/// rights away. A change that needs no check calls [`no_gain`](Self::no_gain) instead, and a comment there says why.
#[derive(Clone, Copy, Debug)]
pub struct Covered(());

impl Covered {
    /// Does the escalation check for a change that gives these rights at a moment. The check passes if the author's
    /// authority holds each of them itself, in the same resource scope and for at least as long (`decisions.md` §4).
    ///
    /// It compares sets of permissions, not ranks of roles. Only a wildcard covers a wildcard.
    ///
    /// # Errors
    ///
    /// [`Forbidden::Escalation`], which names the first permission that the author lacks.
    pub fn check<'g>(
        authority: &Authority,
        gains: impl IntoIterator<Item = GrantedRights<'g>>,
        now: Timestamp,
    ) -> Result<Self, Error> {
        for GrantedRights { permissions, scope, until } in gains {
            for permission in permissions.iter() {
                let held = authority.holds_until(permission, scope, now);
                if held < Some(until) {
                    let held_until = match held {
                        Some(Until::Moment(moment)) => Some(moment),
                        Some(Until::Forever) | None => None,
                    };
                    return Err(Forbidden::Escalation(Shortfall::new(permission.clone(), held_until)).into());
                }
            }
        }
        Ok(Self(()))
    }

    /// For a change that cannot raise the rights of any user. A comment at each call says why that is so.
    #[must_use]
    pub const fn no_gain() -> Self {
        Self(())
    }

    /// Skips the check, for tests of stores.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub const fn assumed() -> Self {
        Self(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::testing::{Scene, at};

    /// Does the escalation check for a caller with the rights `authority` that gives the permission `given`.
    fn gives(authority: Authority, given: &str, scope: ResourceScope<'_>, until: Until) -> Result<(), Shortfall> {
        let permissions: PermissionSet = [given.parse().unwrap()].into_iter().collect();
        match Covered::check(&authority, [GrantedRights { permissions: &permissions, scope, until }], at(0)) {
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
        let nobody = Authority::of([]);
        assert!(Covered::check(&nobody, [], at(0)).is_ok());
        let none = PermissionSet::default();
        let nothing = GrantedRights { permissions: &none, scope: ResourceScope::Tenant, until: Until::Forever };
        assert!(Covered::check(&nobody, [nothing], at(0)).is_ok());
    }
}
