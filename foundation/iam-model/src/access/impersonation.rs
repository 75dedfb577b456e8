//! Whether a user may act as another one (`docs/http-api.md#acting-as-another`).

use crate::access::{EscalationCheck, GrantedRights, ResourceScope, Rights, Until};
use crate::assignment::Grant;
use crate::error::{Forbidden, Result, Shortfall};
use crate::permission::{IMPERSONATIONS_CREATE, PermissionPattern};

impl Rights<'_> {
    /// Checks that the caller may act as the user with these role assignments at this moment: it holds
    /// `impersonations:create` tenant-wide and everything that the user holds, and the user holds no role with all
    /// permissions. Returns until when this stays so, unless the roles of one of them change before.
    ///
    /// # Errors
    ///
    /// [`Forbidden::Permission`], [`Forbidden::NotImpersonable`], [`Forbidden::HigherRights`].
    pub fn act_as(self, grants: &[Grant]) -> Result<Until> {
        self.require(&IMPERSONATIONS_CREATE)?;
        let everything = PermissionPattern::everything();
        let holds_everything =
            |grant: &Grant| grant.assignment.is_live(self.now) && grant.role.permissions.covers(&everything);
        if grants.iter().any(holds_everything) {
            return Err(Forbidden::NotImpersonable.into());
        }
        let permitted = PermissionPattern::from(&IMPERSONATIONS_CREATE);
        let permitted = self.authority.holds_until(&permitted, ResourceScope::Tenant, self.now);
        let covered = self.escalation_check().covers_until(grants).map_err(Forbidden::HigherRights)?;
        // The end of the permission is known: it is held.
        Ok(permitted.map_or(covered, |permitted| permitted.min(covered)))
    }
}

impl EscalationCheck<'_> {
    /// Returns until when the caller holds everything that these grants of another user permit at this moment, in the
    /// same resource scopes.
    fn covers_until(&mut self, grants: &[Grant]) -> Result<Until, Shortfall> {
        let now = self.now();
        let effective = grants.iter().filter(|grant| grant.is_effective(now));
        effective.map(GrantedRights::of).try_fold(Until::Forever, |until, granted| {
            let held = self.holds_all_until(&granted.permissions, granted.scope)?;
            Ok(until.min(held))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Authority;
    use crate::access::testing::{TestTree, at};
    use crate::error::Error;

    type Held<'a> = (&'a str, Option<&'a str>, Option<i64>);

    /// Whether a user with `actor` may act at second 5 as a user with `user`: until when, or why not.
    fn act_as(actor: &[Held<'_>], user: &[Held<'_>]) -> Result<Until, String> {
        let tree = TestTree::new();
        let grants = |held: &[Held<'_>]| -> Vec<Grant> {
            held.iter().map(|(pattern, place, end)| tree.grant(pattern, *place, end.map(at))).collect()
        };
        let authority = Authority::of(&grants(actor));
        Rights::new(&authority, at(5)).act_as(&grants(user)).map_err(|error| match error {
            Error::Forbidden(Forbidden::Permission(permission)) => format!("lacks {permission}"),
            Error::Forbidden(Forbidden::HigherRights(shortfall)) => format!("does not cover {}", shortfall.permission),
            Error::Forbidden(Forbidden::NotImpersonable) => "holds everything".to_owned(),
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn who_acts_as_a_user_holds_all_that_the_user_holds() {
        const MAY: Held<'static> = ("impersonations:create", None, None);
        const ALL: Held<'static> = ("*", None, None);
        let until = |end| Ok(Until::Moment(at(end)));
        let no = |why: &str| Err(why.to_owned());
        type Case<'a> = (&'a [Held<'a>], &'a [Held<'a>], Result<Until, String>);
        let cases: &[Case<'_>] = &[
            (&[MAY], &[], Ok(Until::Forever)),
            (&[ALL], &[("users:*", None, None)], Ok(Until::Forever)),
            // The permission, tenant-wide, and by itself: other wildcards do not contain it.
            (&[("users:*", None, None)], &[], no("lacks impersonations:create")),
            (&[("impersonations:create", Some("root"), None)], &[], no("lacks impersonations:create")),
            (&[("impersonations:create", None, Some(5))], &[], no("lacks impersonations:create")),
            (&[("impersonations:*", None, None)], &[], Ok(Until::Forever)),
            // The same permissions, in the same places.
            (&[MAY], &[("users:read", None, None)], no("does not cover users:read")),
            (&[MAY, ("users:read", None, None)], &[("users:*", None, None)], no("does not cover users:*")),
            (&[MAY, ("users:read", Some("branch"), None)], &[("users:read", Some("team"), None)], Ok(Until::Forever)),
            (
                &[MAY, ("users:read", Some("team"), None)],
                &[("users:read", Some("branch"), None)],
                no("does not cover users:read"),
            ),
            // At this moment: not for as long, and nothing that does not count now.
            (&[MAY, ("users:read", None, Some(9))], &[("users:read", None, None)], until(9)),
            (&[("impersonations:create", None, Some(7)), ("users:read", None, None)], &[], until(7)),
            (&[MAY], &[("users:read", None, Some(5))], Ok(Until::Forever)),
            (&[MAY], &[("users:read", Some("asleep"), None)], Ok(Until::Forever)),
            // A holder of everything, in any place, is acted as by none, not even by one who holds it too.
            (&[ALL], &[ALL], no("holds everything")),
            (&[ALL], &[("*", Some("team"), Some(6))], no("holds everything")),
            (&[ALL], &[("*", Some("asleep"), None)], no("holds everything")),
            (&[ALL], &[("*", Some("team"), Some(5))], Ok(Until::Forever)),
        ];
        for (actor, user, expected) in cases {
            assert_eq!(act_as(actor, user), *expected, "{actor:?} as {user:?}");
        }
    }
}
