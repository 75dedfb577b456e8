//! Access reviews: people decide about role assignments and eligibilities, one by one, whether they stay
//! (`docs/http-api.md#access-reviews`).
//!
//! A review freezes what it is about when it begins. Later changes of an assignment or of an eligibility, of its role
//! or of its organization do not change the items.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clock::{Timestamp, shown};
use crate::eligibility::{Eligibility, Eligible};
use crate::id::{
    AccessReviewId, AccessReviewItemId, AssignmentId, DirectoryGroupId, EligibilityId, OrganizationId, RoleId,
    TenantId, UserId,
};
use crate::organization::OrganizationSummary;
use crate::role::RoleSummary;
use crate::user::UserSummary;
use crate::validate::{Name, Reason};

/// The maximum number of items of a review.
pub const MAX_ITEMS: u64 = 10_000;

/// The maximum number of roles, and of users, to which a review is restricted.
pub const MAX_RESTRICTIONS: usize = 100;

/// A review of role assignments and eligibilities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessReview {
    /// Identifies the review.
    pub id: AccessReviewId,
    /// The tenant.
    pub tenant_id: TenantId,
    /// A name for people.
    pub name: Name,
    /// The review is about what is held in this organization and below it; `None` for the whole tenant.
    pub organization_id: Option<OrganizationId>,
    /// The review is about these roles. Empty if it is about all roles.
    pub role_ids: Vec<RoleId>,
    /// The review is about these users. Empty if it is about all users.
    pub user_ids: Vec<UserId>,
    /// Until when the decisions are due. The review stays OPEN afterwards.
    pub due_at: Timestamp,
    /// Whether the review is in progress.
    pub status: AccessReviewStatus,
    /// When the review began, and its items were frozen.
    pub created_at: Timestamp,
    /// The user who began it; `None` for trusted code.
    pub created_by: Option<UserId>,
    /// When the review was completed or cancelled; `None` while it is OPEN.
    pub closed_at: Option<Timestamp>,
    /// The user who completed or cancelled it; `None` while it is OPEN, and for trusted code.
    pub closed_by: Option<UserId>,
}

/// Whether a review is in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessReviewStatus {
    /// People decide about its items.
    Open,
    /// What was to be revoked is revoked.
    Completed,
    /// It was given up. Nothing was revoked.
    Cancelled,
}

text_enum! { AccessReviewStatus { Open = "OPEN", Completed = "COMPLETED", Cancelled = "CANCELLED" } }

impl AccessReview {
    /// Returns the review after it was closed with a status at a moment.
    #[must_use]
    pub fn closed(&self, status: AccessReviewStatus, at: Timestamp, by: Option<UserId>) -> Self {
        Self { status, closed_at: Some(at), closed_by: by, ..self.clone() }
    }

    /// Whether a new review freezes an assignment of a role to a user, if it is in the right place and has not expired;
    /// for stores that filter in memory.
    #[must_use]
    pub fn is_about(&self, role: RoleId, user: UserId) -> bool {
        (self.role_ids.is_empty() || self.role_ids.contains(&role))
            && (self.user_ids.is_empty() || self.user_ids.contains(&user))
    }

    /// Whether a new review freezes an eligibility, if it is in the right place and has not expired; for stores that
    /// filter in memory. A review of some users is about the eligibilities that name one of them.
    #[must_use]
    pub fn is_about_eligibility(&self, eligibility: &Eligibility) -> bool {
        (self.role_ids.is_empty() || self.role_ids.contains(&eligibility.role_id))
            && (self.user_ids.is_empty()
                || eligibility.eligible.user().is_some_and(|user| self.user_ids.contains(&user)))
    }

    /// Returns the fields that the audit log records.
    pub(crate) fn audited(&self) -> Value {
        json!({
            "name": self.name.as_str(),
            "organizationId": self.organization_id,
            "roleIds": self.role_ids,
            "userIds": self.user_ids,
            "dueAt": shown(self.due_at),
            "status": self.status.as_str(),
        })
    }
}

/// How many items of a review are decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewProgress {
    /// All items.
    pub total: u64,
    /// The items without a decision.
    pub undecided: u64,
    /// The items of which the assignment or the eligibility stays.
    pub keep: u64,
    /// The items of which it is revoked when the review is completed.
    pub revoke: u64,
}

impl ReviewProgress {
    /// Returns the progress of a review that has just begun.
    #[must_use]
    pub fn of_new(total: u64) -> Self {
        Self { total, undecided: total, ..Self::default() }
    }

    /// Returns the progress with these numbers of decided items.
    #[must_use]
    pub fn of(total: u64, keep: u64, revoke: u64) -> Self {
        Self { total, undecided: total.saturating_sub(keep).saturating_sub(revoke), keep, revoke }
    }

    /// Counts the decisions of items; for stores that count in memory.
    #[must_use]
    pub fn count(decisions: impl IntoIterator<Item = Option<ReviewDecision>>) -> Self {
        decisions.into_iter().fold(Self::default(), |counted, decision| {
            let Self { total, undecided, keep, revoke } = counted;
            match decision {
                None => Self { total: total + 1, undecided: undecided + 1, ..counted },
                Some(ReviewDecision::Keep) => Self { total: total + 1, keep: keep + 1, ..counted },
                Some(ReviewDecision::Revoke) => Self { total: total + 1, revoke: revoke + 1, ..counted },
            }
        })
    }
}

/// A review with its progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedAccessReview {
    /// The review.
    pub review: AccessReview,
    /// How many of its items are decided.
    pub progress: ReviewProgress,
}

/// Which reviews a list shows. Every field that is set must match.
#[derive(Clone, Copy, Debug, Default)]
pub struct AccessReviewFilter {
    /// Reviews with this status.
    pub status: Option<AccessReviewStatus>,
}

impl AccessReviewFilter {
    /// Whether a review passes; for stores that filter in memory.
    #[must_use]
    pub fn matches(&self, review: &AccessReview) -> bool {
        self.status.is_none_or(|status| status == review.status)
    }
}

/// An item of a review: an assignment or an eligibility as it was when the review began, and the decision about it.
///
/// An item has the [identifier](Self::id) of its subject, because a review has each one once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessReviewItem {
    /// The review.
    pub review_id: AccessReviewId,
    /// What it is about. It may have ended since.
    pub subject: ReviewSubject,
    /// The role, with its name at that time.
    pub role: RoleSummary,
    /// The organization, with its name at that time; `None` for tenant-wide.
    pub organization: Option<OrganizationSummary>,
    /// When it expires; `None` for no expiry.
    pub expires_at: Option<Timestamp>,
    /// When it was made.
    pub granted_at: Timestamp,
    /// The user who made it; `None` for trusted code.
    pub granted_by: Option<UserId>,
    /// When the user had last logged in; `None` means never, and for an eligibility that names no user.
    pub last_login_at: Option<Timestamp>,
    /// The decision; `None` before it.
    pub decided: Option<Decided>,
    /// The result of the decision at the completion of the review; `None` if the review is not COMPLETED.
    pub outcome: Option<ReviewOutcome>,
}

/// What an item is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReviewSubject {
    /// A role assignment.
    Assignment {
        /// The assignment.
        id: AssignmentId,
        /// The user who holds the role.
        user: UserId,
        /// The group of a directory that gave the role at that time.
        directory_group: Option<DirectoryGroupId>,
    },
    /// An eligibility.
    Eligibility {
        /// The eligibility.
        id: EligibilityId,
        /// Who could ask for the role.
        eligible: Eligible,
    },
}

/// The kind of what an item is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReviewItemKind {
    /// A role assignment.
    Assignment,
    /// An eligibility.
    Eligibility,
}

text_enum! { ReviewItemKind { Assignment = "ASSIGNMENT", Eligibility = "ELIGIBILITY" } }

impl ReviewSubject {
    /// Returns the identifier of the item.
    #[must_use]
    pub fn item_id(self) -> AccessReviewItemId {
        match self {
            Self::Assignment { id, .. } => id.into(),
            Self::Eligibility { id, .. } => id.into(),
        }
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(self) -> ReviewItemKind {
        match self {
            Self::Assignment { .. } => ReviewItemKind::Assignment,
            Self::Eligibility { .. } => ReviewItemKind::Eligibility,
        }
    }

    /// Returns the user; `None` for an eligibility of the holders of a role.
    #[must_use]
    pub fn user(self) -> Option<UserId> {
        match self {
            Self::Assignment { user, .. } => Some(user),
            Self::Eligibility { eligible, .. } => eligible.user(),
        }
    }

    /// Returns the assignment; `None` for an eligibility.
    #[must_use]
    pub fn assignment(self) -> Option<AssignmentId> {
        match self {
            Self::Assignment { id, .. } => Some(id),
            Self::Eligibility { .. } => None,
        }
    }

    /// Returns the eligibility; `None` for an assignment.
    #[must_use]
    pub fn eligibility(self) -> Option<EligibilityId> {
        match self {
            Self::Assignment { .. } => None,
            Self::Eligibility { id, .. } => Some(id),
        }
    }

    /// Returns the group of a directory that gave the role.
    #[must_use]
    pub fn directory_group(self) -> Option<DirectoryGroupId> {
        match self {
            Self::Assignment { directory_group, .. } => directory_group,
            Self::Eligibility { .. } => None,
        }
    }
}

/// The decision about an item, and its author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// The decision.
    pub decision: ReviewDecision,
    /// The reason, for people.
    pub reason: Option<Reason>,
    /// The user who has decided; `None` for trusted code.
    pub decided_by: Option<UserId>,
    /// When it was decided.
    pub decided_at: Timestamp,
}

/// A decision about an assignment or an eligibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReviewDecision {
    /// It stays.
    Keep,
    /// It is revoked when the review is completed: an eligibility is removed.
    Revoke,
}

text_enum! { ReviewDecision { Keep = "KEEP", Revoke = "REVOKE" } }

/// The result of a decision at the completion of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReviewOutcome {
    /// It left the assignment or the eligibility as it was.
    Kept,
    /// It revoked the assignment, or removed the eligibility.
    Revoked,
    /// That was to be revoked, and had ended before.
    Gone,
}

text_enum! { ReviewOutcome { Kept = "KEPT", Revoked = "REVOKED", Gone = "GONE" } }

impl AccessReviewItem {
    /// Returns the identifier of the item.
    #[must_use]
    pub fn id(&self) -> AccessReviewItemId {
        self.subject.item_id()
    }

    /// Returns the decision.
    #[must_use]
    pub fn decision(&self) -> Option<ReviewDecision> {
        self.decided.as_ref().map(|decided| decided.decision)
    }

    /// Returns the item after the completion of its review. `is_gone` tells whether its subject had ended before; for
    /// stores that compute this in memory.
    #[must_use]
    pub fn completed(self, is_gone: bool) -> Self {
        let outcome = match self.decision() {
            Some(ReviewDecision::Revoke) if is_gone => ReviewOutcome::Gone,
            Some(ReviewDecision::Revoke) => ReviewOutcome::Revoked,
            Some(ReviewDecision::Keep) | None => ReviewOutcome::Kept,
        };
        Self { outcome: Some(outcome), ..self }
    }

    /// Returns the decision as the audit log records it.
    pub(crate) fn audited_decision(&self) -> Value {
        let reason = self.decided.as_ref().and_then(|decided| decided.reason.as_ref());
        json!({
            "decision": self.decision().map(ReviewDecision::as_str),
            "reason": reason.map(Reason::as_str),
        })
    }
}

/// An item as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedReviewItem {
    /// The item.
    pub item: AccessReviewItem,
    /// Its user, as it is now; `None` for an eligibility of the holders of a role.
    pub user: Option<UserSummary>,
}

/// Which items a list shows, by their decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReviewItemFilter {
    /// Items of which the assignment or the eligibility stays.
    Keep,
    /// Items of which it is to be revoked.
    Revoke,
    /// Items without a decision.
    Undecided,
}

text_enum! { ReviewItemFilter { Keep = "KEEP", Revoke = "REVOKE", Undecided = "UNDECIDED" } }

impl ReviewItemFilter {
    /// Returns the decision of the items that pass; `None` for items without a decision.
    #[must_use]
    pub fn decision(self) -> Option<ReviewDecision> {
        match self {
            Self::Keep => Some(ReviewDecision::Keep),
            Self::Revoke => Some(ReviewDecision::Revoke),
            Self::Undecided => None,
        }
    }

    /// Whether an item passes; for stores that filter in memory.
    #[must_use]
    pub fn matches(self, item: &AccessReviewItem) -> bool {
        self.decision() == item.decision()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::testing::{at, id};

    #[test]
    fn a_review_of_users_is_about_the_eligibilities_that_name_them() {
        let review = |roles: &[RoleId], users: &[UserId]| AccessReview {
            id: id("review"),
            tenant_id: TenantId::NONE,
            name: "Spring".parse().unwrap(),
            organization_id: None,
            role_ids: roles.to_vec(),
            user_ids: users.to_vec(),
            due_at: at(9),
            status: AccessReviewStatus::Open,
            created_at: at(0),
            created_by: None,
            closed_at: None,
            closed_by: None,
        };
        let named = crate::eligibility::tests::eligibility();
        let of_holders = Eligibility { eligible: Eligible::HoldersOf(id("held")), ..named.clone() };
        for (roles, users, expected) in [
            (&[][..], &[][..], [true, true]),
            (&[named.role_id][..], &[][..], [true, true]),
            (&[id("held")][..], &[][..], [false, false]),
            (&[][..], &[id("user")][..], [true, false]),
            (&[][..], &[id("other")][..], [false, false]),
        ] {
            let review = review(roles, users);
            assert_eq!([&named, &of_holders].map(|found| review.is_about_eligibility(found)), expected);
        }
    }

    #[test]
    fn progress_counts_each_item_once() {
        let decisions = [Some(ReviewDecision::Keep), None, Some(ReviewDecision::Revoke), Some(ReviewDecision::Keep)];
        let expected = ReviewProgress { total: 4, undecided: 1, keep: 2, revoke: 1 };
        assert_eq!(ReviewProgress::count(decisions), expected);
        assert_eq!(ReviewProgress::of(4, 2, 1), expected);
        assert_eq!(ReviewProgress::of_new(7), ReviewProgress { total: 7, undecided: 7, keep: 0, revoke: 0 });
    }
}
