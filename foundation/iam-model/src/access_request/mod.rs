//! Access requests: users ask for a role for a time, and others agree (`docs/access-requests.md#requests`).
//!
//! What a request gives is its *elevation*: an assignment with the mark of the request. Everything that is given by the
//! rights of the elevation has the same mark, and ends with it.

mod list;

pub use list::{AccessRequestFilter, AccessRequestScope, ApproverPlace, ListedAccessRequest};

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clock::{Timestamp, shown};
use crate::eligibility::Eligibility;
use crate::id::{AccessRequestId, AssignmentId, EligibilityId, OrganizationId, RoleId, TenantId, UserId};
use crate::validate::{Description, Reason, RoleName};
use crate::version::Version;

/// How long a request waits for its approvals: 72 hours.
pub const LAPSE: TimeDelta = TimeDelta::hours(72);

/// How far the wanted start can be in the future: 30 days.
pub const MAX_DELAY: TimeDelta = TimeDelta::days(30);

/// For how many seconds a user asks at least.
pub const MIN_SECONDS: u32 = 60;

/// The maximum length of [`ticket`](AccessRequest::ticket), in characters.
pub const MAX_TICKET: usize = 200;

/// How many requests of one user are open at most.
pub const MAX_OPEN: u64 = 20;

/// How many assignments the elevation of a request gives at most. They all end with it, in one transaction.
pub const MAX_GIVEN: usize = 1_000;

/// How many closed requests of one user are kept. The audit log keeps all of them.
pub const KEPT_CLOSED: u32 = 100;

/// A user asks for the role of an eligibility.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessRequest {
    /// Identifies the request.
    pub id: AccessRequestId,
    /// The tenant.
    pub tenant_id: TenantId,
    /// The eligibility by which the user asks. It may be gone since.
    pub eligibility_id: EligibilityId,
    /// The role of the eligibility.
    pub role_id: RoleId,
    /// The name of the role when the user asked. The role may be gone since, or have another name.
    pub role_name: RoleName,
    /// The place of the eligibility; `None` for tenant-wide.
    pub organization_id: Option<OrganizationId>,
    /// The user who asks.
    pub requested_by: UserId,
    /// Why, in its own words: 1–500 characters.
    pub reason: Reason,
    /// What another system calls the reason: at most [`MAX_TICKET`] characters.
    pub ticket: Option<Description>,
    /// For how many seconds the user asks.
    pub seconds: u32,
    /// How many others have to approve, as the eligibility said when the user asked.
    pub approvals_needed: u8,
    /// The role of those who decide, as the eligibility said when the user asked. `None` for the holders of
    /// `access-requests:update`.
    pub approver_role_id: Option<RoleId>,
    /// The last decision of each user, oldest first. Not all of them [count](AccessDecision::counts_for).
    pub decisions: Vec<AccessDecision>,
    /// The status, as it is stored; see [`status_at`](Self::status_at).
    pub status: AccessRequestStatus,
    /// The assignment of the elevation; `None` before it begins. It may have ended since.
    pub assignment_id: Option<AssignmentId>,
    /// PENDING: when it is to begin at the earliest; `None` for the last approval. Afterwards: when it begins.
    pub starts_at: Option<Timestamp>,
    /// When it ends at the latest; `None` as long as approvals are missing.
    pub ends_at: Option<Timestamp>,
    /// Until when the approvals must be there.
    pub lapses_at: Timestamp,
    /// When the user asked.
    pub created_at: Timestamp,
    /// When it was closed; `None` while it is open.
    pub closed_at: Option<Timestamp>,
    /// The user who closed it; `None` while it is open, and if the service or trusted code closed it.
    pub closed_by: Option<UserId>,
    /// The reason that this user has given.
    pub close_reason: Option<Reason>,
    /// Why the service has cancelled it; `None` if a user did.
    pub cancel_cause: Option<CancelCause>,
    /// The version of the row.
    pub version: Version,
}

/// A decision about a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessDecision {
    /// The user who decided.
    pub user_id: UserId,
    /// The decision.
    pub decision: AccessVerdict,
    /// The reason, for people.
    pub reason: Option<Reason>,
    /// When.
    pub at: Timestamp,
    /// The version that the role of the request had; `None` if the role was gone.
    pub role_version: Option<Version>,
}

impl AccessDecision {
    /// Whether it counts while the role of the request has this version; `None` for one that is gone. What a user
    /// approved before the role changed is not what the role permits now.
    #[must_use]
    pub fn counts_for(&self, role: Option<Version>) -> bool {
        role.is_some() && self.role_version == role
    }
}

/// What a user decides about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessVerdict {
    /// The user agrees.
    Approve,
    /// The user refuses, which ends the request.
    Deny,
}

text_enum! { AccessVerdict { Approve = "APPROVE", Deny = "DENY" } }

/// The status of a request. The first three are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessRequestStatus {
    /// Approvals are missing.
    Pending,
    /// It is approved, and begins later.
    Approved,
    /// The user holds the role.
    Active,
    /// The user has held the role.
    Ended,
    /// It was refused.
    Denied,
    /// It was taken back, or what it needs was gone.
    Cancelled,
    /// The approvals did not come in time, or the approved time passed before it could begin.
    Lapsed,
}

text_enum! {
    AccessRequestStatus {
        Pending = "PENDING",
        Approved = "APPROVED",
        Active = "ACTIVE",
        Ended = "ENDED",
        Denied = "DENIED",
        Cancelled = "CANCELLED",
        Lapsed = "LAPSED",
    }
}

impl AccessRequestStatus {
    /// Whether a request with this status is open.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Approved | Self::Active)
    }
}

/// Why a request was cancelled, if no person did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CancelCause {
    /// The eligibility is gone, has expired or was narrowed, or its role cannot be held there any more, or has changed
    /// since the approvals.
    Outdated,
    /// The user is not eligible any more.
    NotEligible,
    /// The user still holds the role there by other means when the elevation would begin.
    RoleHeld,
    /// The user was suspended.
    UserSuspended,
    /// The user was deleted.
    UserDeleted,
}

text_enum! {
    CancelCause {
        Outdated = "OUTDATED",
        NotEligible = "NOT_ELIGIBLE",
        RoleHeld = "ROLE_HELD",
        UserSuspended = "USER_SUSPENDED",
        UserDeleted = "USER_DELETED",
    }
}

impl AccessRequest {
    /// Returns the status at a moment, whether or not it is written yet: a request lapses and an elevation ends at
    /// their instant.
    #[must_use]
    pub fn status_at(&self, now: Timestamp) -> AccessRequestStatus {
        let has_ended = || self.ends_at.is_some_and(|end| end <= now);
        match self.status {
            AccessRequestStatus::Pending if self.lapses_at <= now => AccessRequestStatus::Lapsed,
            AccessRequestStatus::Approved if has_ended() => AccessRequestStatus::Lapsed,
            AccessRequestStatus::Active if has_ended() => AccessRequestStatus::Ended,
            status => status,
        }
    }

    /// Returns the request as callers see it at a moment.
    #[must_use]
    pub fn seen_at(self, now: Timestamp) -> Self {
        Self { status: self.status_at(now), ..self }
    }

    /// Whether the request is PENDING, APPROVED or ACTIVE at a moment.
    #[must_use]
    pub fn is_open_at(&self, now: Timestamp) -> bool {
        self.status_at(now).is_open()
    }

    /// Returns when the stored status is to change by itself: a PENDING request lapses, an APPROVED one begins, and an
    /// ACTIVE one ends. `None` for a closed one.
    #[must_use]
    pub fn due_at(&self) -> Option<Timestamp> {
        match self.status {
            AccessRequestStatus::Pending => Some(self.lapses_at),
            AccessRequestStatus::Approved => self.starts_at,
            AccessRequestStatus::Active => self.ends_at,
            AccessRequestStatus::Ended
            | AccessRequestStatus::Denied
            | AccessRequestStatus::Cancelled
            | AccessRequestStatus::Lapsed => None,
        }
    }

    /// Returns when the elevation of a request that has not begun can begin, seen from a moment: then, or at the wanted
    /// start if that is later.
    #[must_use]
    pub fn start_at(&self, now: Timestamp) -> Timestamp {
        self.starts_at.map_or(now, |wanted| wanted.max(now))
    }

    /// Whether an eligibility, as it is at a moment, still allows what the user asked for: it does not expire before the
    /// elevation can begin, and was not narrowed below that.
    #[must_use]
    pub fn is_allowed_by(&self, eligibility: &Eligibility, now: Timestamp) -> bool {
        eligibility.id == self.eligibility_id
            && eligibility.is_live(self.start_at(now))
            && eligibility.max_seconds >= self.seconds
            && eligibility.approvals <= self.approvals_needed
            && eligibility.approver_role_id == self.approver_role_id
    }

    /// Whether a user has decided about it, by a decision that counts while its role has this version.
    #[must_use]
    pub fn is_decided_by(&self, user: UserId, role: Option<Version>) -> bool {
        self.decisions.iter().any(|decision| decision.user_id == user && decision.counts_for(role))
    }

    /// The users whose approvals count while its role has this version, in the order of their decisions.
    pub fn approvers(&self, role: Option<Version>) -> impl Iterator<Item = UserId> {
        let approves =
            move |decision: &&AccessDecision| decision.decision == AccessVerdict::Approve && decision.counts_for(role);
        self.decisions.iter().filter(approves).map(|approval| approval.user_id)
    }

    /// Whether it has all approvals, by decisions that count while its role has this version.
    #[must_use]
    pub fn has_approvals(&self, role: Option<Version>) -> bool {
        self.approvers(role).count() >= usize::from(self.approvals_needed)
    }

    /// Returns the request with one more decision. It takes the place of an earlier one by the same user, which was
    /// about another version of the role: so the decisions stay few, however often the role changes.
    #[must_use]
    pub fn with_decision(&self, decision: AccessDecision) -> Self {
        let mut after = self.clone();
        after.decisions.retain(|earlier| earlier.user_id != decision.user_id);
        after.decisions.push(decision);
        after
    }

    /// Returns the request without the decisions of some users, who may not decide about it any more. Once they may
    /// again, they can decide anew.
    #[must_use]
    pub fn without_decisions_of(&self, users: &[UserId]) -> Self {
        let mut after = self.clone();
        after.decisions.retain(|decision| !users.contains(&decision.user_id));
        after
    }

    /// Returns the request as it is after the last approval, which comes at a moment: APPROVED. The time of the
    /// elevation runs from then, or from the wanted start if that is later, and not beyond the end of the eligibility.
    #[must_use]
    pub fn approved(&self, now: Timestamp, eligibility: &Eligibility) -> Self {
        let start = self.start_at(now);
        let end = start + TimeDelta::seconds(self.seconds.into());
        Self { status: AccessRequestStatus::Approved, starts_at: Some(start), ends_at: Some(end), ..self.clone() }
            .limited_by(eligibility)
    }

    /// Returns an APPROVED request whose elevation does not go beyond the end of the eligibility, which may have been
    /// moved since the approval.
    #[must_use]
    pub fn limited_by(&self, eligibility: &Eligibility) -> Self {
        let ends_at = self.ends_at.into_iter().chain(eligibility.expires_at).min();
        Self { ends_at, ..self.clone() }
    }

    /// Returns the request whose elevation has begun by this assignment.
    #[must_use]
    pub fn active(&self, assignment: AssignmentId) -> Self {
        Self { status: AccessRequestStatus::Active, assignment_id: Some(assignment), ..self.clone() }
    }

    /// Returns the request after it was closed with a status at a moment.
    #[must_use]
    pub fn closed(&self, status: AccessRequestStatus, at: Timestamp, by: Option<UserId>) -> Self {
        Self { status, closed_at: Some(at), closed_by: by, ..self.clone() }
    }

    /// Returns the request after the service has cancelled it for a cause at a moment. No user has closed it, also if a
    /// call of a user has made the service look.
    #[must_use]
    pub fn cancelled_for(&self, cause: CancelCause, at: Timestamp) -> Self {
        Self { cancel_cause: Some(cause), ..self.closed(AccessRequestStatus::Cancelled, at, None) }
    }

    /// Returns the request with the reason that the user who closes it gives.
    #[must_use]
    pub fn with_close_reason(&self, reason: Option<&Reason>) -> Self {
        Self { close_reason: reason.cloned(), ..self.clone() }
    }

    /// Returns the request after one change of other fields. The store raises the version by the same step.
    #[must_use]
    pub fn changed(self) -> Self {
        Self { version: self.version.next(), ..self }
    }

    /// Returns the version of the request with that of its role: a decision is about what the role permits.
    #[must_use]
    pub fn version_with_role(&self, role: Version) -> Version {
        self.version.with_part(role)
    }

    /// Returns the fields that the audit log records.
    pub(crate) fn audited(&self) -> Value {
        json!({
            "eligibilityId": self.eligibility_id,
            "roleId": self.role_id,
            "organizationId": self.organization_id,
            "seconds": self.seconds,
            "approvalsNeeded": self.approvals_needed,
            "approverRoleId": self.approver_role_id,
            "status": self.status.as_str(),
            "assignmentId": self.assignment_id,
            "startsAt": self.starts_at.map(shown),
            "endsAt": self.ends_at.map(shown),
            "lapsesAt": shown(self.lapses_at),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::access::testing::{at, id};
    use crate::eligibility::tests::eligibility;
    use AccessRequestStatus::{Active, Approved, Cancelled, Denied, Ended, Lapsed, Pending};

    /// A user asks by [`eligibility`] for a minute, until second 50 for an approval.
    pub(crate) fn request() -> AccessRequest {
        AccessRequest {
            id: id("request"),
            tenant_id: TenantId::NONE,
            eligibility_id: eligibility().id,
            role_id: eligibility().role_id,
            role_name: "READER".parse().unwrap(),
            organization_id: eligibility().organization_id,
            requested_by: id("user"),
            reason: "The disk is full.".parse().unwrap(),
            ticket: Some("OPS-7".parse().unwrap()),
            seconds: 60,
            approvals_needed: 1,
            approver_role_id: None,
            decisions: Vec::new(),
            status: Pending,
            assignment_id: None,
            starts_at: None,
            ends_at: None,
            lapses_at: at(50),
            created_at: at(0),
            closed_at: None,
            closed_by: None,
            close_reason: None,
            cancel_cause: None,
            version: Version::FIRST,
        }
    }

    pub(crate) fn decision(user: &str, decision: AccessVerdict) -> AccessDecision {
        AccessDecision { user_id: id(user), decision, reason: None, at: at(1), role_version: Some(Version::FIRST) }
    }

    #[test]
    fn a_request_is_open_until_it_is_closed() {
        let active = request().active(id("assignment"));
        assert_eq!((active.status, active.assignment_id), (Active, Some(id("assignment"))));
        let closed = active.closed(Ended, at(9), Some(id("user")));
        assert_eq!((closed.status, closed.closed_at, closed.closed_by), (Ended, Some(at(9)), Some(id("user"))));
        let cancelled = request().cancelled_for(CancelCause::RoleHeld, at(9));
        assert_eq!((cancelled.status, cancelled.closed_at, cancelled.closed_by), (Cancelled, Some(at(9)), None));
        assert_eq!((cancelled.cancel_cause, cancelled.close_reason), (Some(CancelCause::RoleHeld), None));
        for status in [Pending, Approved, Active] {
            assert!(status.is_open(), "{status:?}");
        }
        for status in [Ended, Denied, Cancelled, Lapsed] {
            assert!(!status.is_open(), "{status:?}");
        }
    }

    #[test]
    fn a_request_lapses_and_ends_at_its_instant() {
        let with = |status, starts, ends: Option<i64>| AccessRequest {
            status,
            starts_at: Some(at(starts)),
            ends_at: ends.map(at),
            ..request()
        };
        for (request, moment, expected) in [
            (with(Pending, 10, None), 49, Pending),
            (with(Pending, 10, None), 50, Lapsed),
            // A request whose start is near does not wait for its approval for less time.
            (with(Pending, 10, None), 20, Pending),
            (with(Approved, 60, Some(70)), 60, Approved),
            (with(Approved, 60, Some(70)), 70, Lapsed),
            (with(Active, 60, Some(70)), 69, Active),
            (with(Active, 60, Some(70)), 70, Ended),
            (with(Denied, 60, Some(70)), 70, Denied),
            (with(Cancelled, 60, Some(70)), 70, Cancelled),
        ] {
            assert_eq!(request.status_at(at(moment)), expected, "{moment}");
            assert_eq!(request.is_open_at(at(moment)), expected.is_open());
            assert_eq!(request.clone().seen_at(at(moment)).status, expected);
        }
        let due = |request: AccessRequest| request.due_at();
        assert_eq!(due(with(Pending, 10, None)), Some(at(50)));
        assert_eq!(due(with(Approved, 60, Some(70))), Some(at(60)));
        assert_eq!(due(with(Active, 60, Some(70))), Some(at(70)));
        for closed in [Ended, Denied, Cancelled, Lapsed] {
            assert_eq!(due(with(closed, 60, Some(70))), None);
        }
    }

    #[test]
    fn time_runs_from_the_last_approval_or_from_the_wanted_start_and_not_beyond_the_eligibility() {
        for (seconds, wanted, expiry, expected) in [
            (60, None, None, (10, 70)),
            (60, Some(5), None, (10, 70)),
            (60, Some(30), None, (30, 90)),
            (60, None, Some(100), (10, 70)),
            (600, None, Some(100), (10, 100)),
            (60, Some(80), Some(100), (80, 100)),
        ] {
            let request = AccessRequest { seconds, starts_at: wanted.map(at), ..request() };
            let eligibility = Eligibility { expires_at: expiry.map(at), ..eligibility() };
            let approved = request.approved(at(10), &eligibility);
            assert_eq!(approved.status, Approved);
            assert_eq!((approved.starts_at, approved.ends_at), (Some(at(expected.0)), Some(at(expected.1))));
        }
    }

    #[test]
    fn a_narrowed_eligibility_does_not_allow_the_request_any_more() {
        let allows = |change: fn(&mut Eligibility)| {
            let mut eligibility = eligibility();
            change(&mut eligibility);
            request().is_allowed_by(&eligibility, at(10))
        };
        assert!(allows(|_| {}));
        assert!(allows(|now| now.max_seconds = 60) && !allows(|now| now.max_seconds = 59));
        assert!(allows(|now| now.approvals = 0) && !allows(|now| now.approvals = 2));
        assert!(!allows(|now| now.approver_role_id = Some(id("approver"))));
        assert!(!allows(|now| now.expires_at = Some(at(10))) && allows(|now| now.expires_at = None));
        assert!(!allows(|now| now.id = id("other")));
        // It must not have expired at the wanted start.
        let later = AccessRequest { starts_at: Some(at(80)), ..request() };
        let until = |expiry| Eligibility { expires_at: Some(at(expiry)), ..eligibility() };
        assert!(later.is_allowed_by(&until(81), at(10)) && !later.is_allowed_by(&until(80), at(10)));
    }

    #[test]
    fn only_approvals_count_and_each_user_decides_once() {
        let (two, role) = (AccessRequest { approvals_needed: 2, ..request() }, Some(Version::FIRST));
        let one = two.with_decision(decision("ada", AccessVerdict::Approve));
        assert!(!one.has_approvals(role) && one.is_decided_by(id("ada"), role) && !one.is_decided_by(id("bob"), role));
        let denied = one.with_decision(decision("bob", AccessVerdict::Deny));
        assert!(!denied.has_approvals(role) && denied.is_decided_by(id("bob"), role));
        let both = one.with_decision(decision("bob", AccessVerdict::Approve));
        assert!(both.has_approvals(role));
        assert_eq!(both.approvers(role).collect::<Vec<UserId>>(), [id("ada"), id("bob")]);
        let rest = both.without_decisions_of(&[id("ada"), id("other")]);
        assert_eq!(rest, two.with_decision(decision("bob", AccessVerdict::Approve)));
        assert!(AccessRequest { approvals_needed: 0, ..request() }.has_approvals(role));
    }

    #[test]
    fn an_approval_counts_only_while_the_role_has_the_same_version() {
        let (first, second) = (Some(Version::FIRST), Some(Version::FIRST.next()));
        let by = |user, role_version| AccessDecision { role_version, ..decision(user, AccessVerdict::Approve) };
        let two = AccessRequest { approvals_needed: 2, ..request() };
        let both = two.with_decision(by("ada", first)).with_decision(by("bob", first));
        assert!(both.has_approvals(first) && !both.has_approvals(second) && !both.is_decided_by(id("ada"), second));
        let mixed = two.with_decision(by("ada", first)).with_decision(by("bob", second));
        assert!(!mixed.has_approvals(first) && !mixed.has_approvals(second));
        assert_eq!(mixed.approvers(second).collect::<Vec<UserId>>(), [id("bob")]);
        // The same user approves again.
        let again = mixed.with_decision(by("ada", second));
        assert!(again.has_approvals(second) && !again.has_approvals(first));
        assert_eq!(again.approvers(second).collect::<Vec<UserId>>(), [id("bob"), id("ada")]);
        assert_eq!(again.decisions.len(), 2);
        // For a role that is gone, none counts.
        let gone = two.with_decision(by("ada", None)).with_decision(by("bob", None));
        assert!(!gone.has_approvals(None) && !gone.is_decided_by(id("ada"), None) && !both.has_approvals(None));
    }

    #[test]
    fn the_version_of_a_request_changes_with_its_role() {
        let request = AccessRequest { version: Version::from(3), ..request() };
        let shown = |role: i64| request.version_with_role(Version::from(role)).to_string();
        assert_eq!((shown(1), shown(2)), ("3-1".to_owned(), "3-2".to_owned()));
        assert_eq!(request.clone().changed().version_with_role(Version::from(1)).to_string(), "4-1");
    }
}
