//! Eligibilities: who may ask for a role for a time, and who has to agree (`docs/access-requests.md#eligibilities`).
//!
//! An eligibility is a sleeping assignment. It gives nothing by itself, but its maker must hold what its role permits,
//! as if the role were given.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::access::{Authority, ResourceScope, Until};
use crate::clock::{Timestamp, shown};
use crate::id::{EligibilityId, OrganizationId, RoleId, TenantId, UserId};
use crate::version::Version;

/// Lets users ask for a role in a place, for a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Eligibility {
    /// Identifies the eligibility.
    pub id: EligibilityId,
    /// The tenant.
    pub tenant_id: TenantId,
    /// The role for which users may ask.
    pub role_id: RoleId,
    /// Where they may hold it; `None` for tenant-wide.
    pub organization_id: Option<OrganizationId>,
    /// Who may ask.
    pub eligible: Eligible,
    /// For how many seconds at most: [`MIN_SECONDS`](Self::MIN_SECONDS) to [`MAX_SECONDS`](Self::MAX_SECONDS).
    pub max_seconds: u32,
    /// How many others have to approve: at most [`MAX_APPROVALS`](Self::MAX_APPROVALS). With none, a request is
    /// effective at once.
    pub approvals: u8,
    /// The holders of this role decide. `None` for the holders of `access-requests:update`.
    pub approver_role_id: Option<RoleId>,
    /// The instant from which on no user may ask, and at which what begins before ends at the latest; `None` for no
    /// expiry.
    pub expires_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// The user who made it; `None` for trusted code.
    pub created_by: Option<UserId>,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// The version of the row.
    pub version: Version,
}

/// Who may ask by an eligibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Eligible {
    /// This user.
    User(UserId),
    /// Every user who holds this role in the place of the eligibility, or above it, by an assignment that no access
    /// request gives.
    HoldersOf(RoleId),
}

impl Eligible {
    /// Returns the user, if one is named.
    #[must_use]
    pub fn user(self) -> Option<UserId> {
        match self {
            Self::User(user) => Some(user),
            Self::HoldersOf(_) => None,
        }
    }

    /// Returns the role whose holders may ask, if no user is named.
    #[must_use]
    pub fn held_role(self) -> Option<RoleId> {
        match self {
            Self::User(_) => None,
            Self::HoldersOf(role) => Some(role),
        }
    }
}

impl Eligibility {
    /// The maximum number of eligibilities of a tenant, also expired ones.
    pub const MAX: u64 = 1_000;

    /// The least that [`max_seconds`](Self::max_seconds) can be: five minutes.
    pub const MIN_SECONDS: u32 = 300;

    /// The most that [`max_seconds`](Self::max_seconds) can be: thirty days.
    pub const MAX_SECONDS: u32 = 2_592_000;

    /// What [`max_seconds`](Self::max_seconds) is if nothing else is said: eight hours.
    pub const DEFAULT_SECONDS: u32 = 28_800;

    /// The most that [`approvals`](Self::approvals) can be.
    pub const MAX_APPROVALS: u8 = 2;

    /// What [`approvals`](Self::approvals) is if nothing else is said.
    pub const DEFAULT_APPROVALS: u8 = 1;

    /// Whether it has not expired.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|expiry| now < expiry)
    }

    /// Until when it gives its role to those who ask.
    #[must_use]
    pub fn until(&self) -> Until {
        self.expires_at.into()
    }

    /// Whether it names a role: as that for which users may ask, as that of those who may, or as that of those who
    /// decide.
    #[must_use]
    pub fn names_role(&self, role: RoleId) -> bool {
        self.role_id == role || self.is_led_to_by(role)
    }

    /// Whether the holders of a role may ask by it, or decide about its requests. For the first, see also
    /// [`is_for`](Self::is_for), for the second [`lets_decide`](Self::lets_decide).
    #[must_use]
    pub fn is_led_to_by(&self, role: RoleId) -> bool {
        self.eligible.held_role() == Some(role) || self.approver_role_id == Some(role)
    }

    /// Whether a user with these rights may ask by it at a moment. `scope` is the place of the eligibility.
    #[must_use]
    pub fn is_for(&self, user: UserId, rights: &Authority, scope: ResourceScope<'_>, now: Timestamp) -> bool {
        let is_eligible = match self.eligible {
            Eligible::User(named) => named == user,
            Eligible::HoldersOf(role) => rights.standing().holds_role(role, scope, now),
        };
        is_eligible && self.is_live(now)
    }

    /// Whether it lets a user with these rights decide about its requests at a moment, by the approver role. `scope` is
    /// the place of the eligibility.
    #[must_use]
    pub fn lets_decide(&self, rights: &Authority, scope: ResourceScope<'_>, now: Timestamp) -> bool {
        let holds = |role| rights.standing().holds_role(role, scope, now);
        self.is_live(now) && self.approver_role_id.is_some_and(holds)
    }

    /// Whether `after` gives no more than this: for no longer, with as many approvals, of the same approvers. Such a
    /// change needs not be covered like giving the role.
    #[must_use]
    pub fn is_narrowed_to(&self, after: &Self) -> bool {
        let place = |eligibility: &Self| (eligibility.role_id, eligibility.organization_id, eligibility.eligible);
        place(self) == place(after)
            && after.max_seconds <= self.max_seconds
            && after.approvals >= self.approvals
            && after.approver_role_id == self.approver_role_id
            && after.until() <= self.until()
    }

    /// Returns the eligibility after a change of other fields at a moment. The store raises the version by the same
    /// step.
    #[must_use]
    pub fn changed(self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.next(), ..self }
    }

    /// Returns the fields that the audit log records.
    pub(crate) fn audited(&self) -> Value {
        json!({
            "roleId": self.role_id,
            "organizationId": self.organization_id,
            "userId": self.eligible.user(),
            "heldRoleId": self.eligible.held_role(),
            "maxSeconds": self.max_seconds,
            "approvals": self.approvals,
            "approverRoleId": self.approver_role_id,
            "expiresAt": self.expires_at.map(shown),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::access::testing::{TestTree, at, id};
    use crate::assignment::Grant;

    /// A user may ask for a role in `branch` for an hour, until second 100.
    pub(crate) fn eligibility() -> Eligibility {
        Eligibility {
            id: id("eligibility"),
            tenant_id: TenantId::NONE,
            role_id: id("users:read"),
            organization_id: Some(id("branch")),
            eligible: Eligible::User(id("user")),
            max_seconds: 3_600,
            approvals: 1,
            approver_role_id: None,
            expires_at: Some(at(100)),
            created_at: at(0),
            created_by: None,
            updated_at: at(0),
            version: Version::FIRST,
        }
    }

    #[test]
    fn only_less_of_the_same_narrows_an_eligibility() {
        let before = eligibility();
        let with = |change: fn(&mut Eligibility)| {
            let mut after = eligibility();
            change(&mut after);
            before.is_narrowed_to(&after)
        };
        assert!(with(|_| {}));
        assert!(with(|after| after.max_seconds = 300) && !with(|after| after.max_seconds = 3_601));
        assert!(with(|after| after.approvals = 2) && !with(|after| after.approvals = 0));
        assert!(with(|after| after.expires_at = Some(at(99))) && !with(|after| after.expires_at = Some(at(101))));
        assert!(!with(|after| after.expires_at = None));
        assert!(!with(|after| after.approver_role_id = Some(id("approver"))));
        assert!(!with(|after| after.role_id = id("*")) && !with(|after| after.organization_id = None));
        assert!(!with(|after| after.eligible = Eligible::User(id("other"))));
    }

    #[test]
    fn a_role_makes_eligible_there_and_below_by_a_standing_assignment_that_counts() {
        let test_tree = TestTree::new();
        let for_holders = Eligibility { eligible: Eligible::HoldersOf(id("roles:read")), ..eligibility() };
        let scope = test_tree.scope("branch");
        for (held, place, expiry, expected) in [
            ("roles:read", None, None, true),
            ("roles:read", Some("root"), None, true),
            ("roles:read", Some("branch"), Some(at(11)), true),
            ("roles:read", Some("branch"), Some(at(10)), false),
            ("roles:read", Some("team"), None, false),
            ("roles:*", None, None, false),
        ] {
            let standing = test_tree.grant(held, place, expiry);
            let is_for =
                |grant: &Grant, now: Timestamp| for_holders.is_for(id("user"), &Authority::of([grant]), scope, now);
            assert_eq!(is_for(&standing, at(10)), expected, "{held} {place:?}");
            let mut elevation = standing;
            elevation.assignment.access_request_id = Some(id("request"));
            assert!(!is_for(&elevation, at(10)), "{held} {place:?}");
        }
        let none = Authority::of([]);
        assert!(eligibility().is_for(id("user"), &none, scope, at(99)));
        assert!(!eligibility().is_for(id("user"), &none, scope, at(100)));
        assert!(!eligibility().is_for(id("other"), &none, scope, at(0)));
    }

    #[test]
    fn those_decide_who_hold_the_approver_role_there_or_above_by_a_standing_assignment_that_counts() {
        let test_tree = TestTree::new();
        let by_role = Eligibility { approver_role_id: Some(id("roles:read")), ..eligibility() };
        let scope = test_tree.scope("branch");
        let decides = |eligibility: &Eligibility, grant: &Grant, now: Timestamp| {
            eligibility.lets_decide(&Authority::of([grant]), scope, now)
        };
        for (held, place, expected) in [
            ("roles:read", None, true),
            ("roles:read", Some("root"), true),
            ("roles:read", Some("team"), false),
            ("roles:*", None, false),
        ] {
            let standing = test_tree.grant(held, place, Some(at(200)));
            assert_eq!(decides(&by_role, &standing, at(99)), expected, "{held} {place:?}");
            assert!(!decides(&by_role, &standing, at(100)), "{held} {place:?}");
            assert!(!decides(&eligibility(), &standing, at(99)), "{held} {place:?}");
            let mut elevation = standing;
            elevation.assignment.access_request_id = Some(id("request"));
            assert!(!decides(&by_role, &elevation, at(99)), "{held} {place:?}");
        }
    }

    #[test]
    fn an_eligibility_names_three_roles() {
        let [role, held, approver] = ["users:read", "held", "approver"].map(id::<RoleId>);
        let all =
            Eligibility { eligible: Eligible::HoldersOf(held), approver_role_id: Some(approver), ..eligibility() };
        assert!([role, held, approver].into_iter().all(|role| all.names_role(role)));
        assert!(!all.is_led_to_by(role) && all.is_led_to_by(held) && all.is_led_to_by(approver));
        assert!(!all.names_role(id("other")) && !eligibility().names_role(held));
    }
}
