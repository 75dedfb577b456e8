//! Access reviews: people decide about role assignments, one by one, whether they stay
//! (`docs/http-api.md#access-reviews`).
//!
//! A review freezes the role assignments that it is about when it begins. Later changes of an assignment, of its role
//! or of its organization do not change the items.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clock::{Timestamp, shown};
use crate::id::{AccessReviewId, AssignmentId, DirectoryGroupId, OrganizationId, RoleId, TenantId, UserId};
use crate::organization::OrganizationSummary;
use crate::role::RoleSummary;
use crate::user::UserSummary;
use crate::validate::{Description, Name};

/// The maximum number of items of a review.
pub const MAX_ITEMS: u64 = 10_000;

/// The maximum number of roles, and of users, to which a review is restricted.
pub const MAX_RESTRICTIONS: usize = 100;

/// A review of role assignments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessReview {
    /// Identifies the review.
    pub id: AccessReviewId,
    /// The tenant.
    pub tenant_id: TenantId,
    /// A name for people.
    pub name: Name,
    /// The review is about the assignments in this organization and below it; `None` for the whole tenant.
    pub organization_id: Option<OrganizationId>,
    /// The review is about assignments of these roles. Empty if it is about all roles.
    pub role_ids: Vec<RoleId>,
    /// The review is about assignments of these users. Empty if it is about all users.
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
    /// The assignments that were to be revoked are revoked.
    Completed,
    /// It was given up. No assignment was revoked.
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
    /// The items whose assignments stay.
    pub keep: u64,
    /// The items whose assignments are revoked when the review is completed.
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

/// An item of a review: an assignment as it was when the review began, and the decision about it.
///
/// An item has the identifier of its assignment, because a review has each assignment once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessReviewItem {
    /// The review.
    pub review_id: AccessReviewId,
    /// The assignment. It may have ended since.
    pub assignment_id: AssignmentId,
    /// The user who holds the role.
    pub user_id: UserId,
    /// The role, with its name at that time.
    pub role: RoleSummary,
    /// The organization, with its name at that time; `None` for tenant-wide.
    pub organization: Option<OrganizationSummary>,
    /// When the assignment expires; `None` for no expiry.
    pub expires_at: Option<Timestamp>,
    /// When the assignment was made.
    pub assignment_created_at: Timestamp,
    /// The user who made the assignment; `None` for trusted code.
    pub granted_by: Option<UserId>,
    /// The group of a directory that gave the role at that time.
    pub directory_group_id: Option<DirectoryGroupId>,
    /// When the user had last logged in; `None` means never.
    pub last_login_at: Option<Timestamp>,
    /// The decision; `None` before it.
    pub decided: Option<Decided>,
    /// The result of the decision at the completion of the review; `None` if the review is not COMPLETED.
    pub outcome: Option<ReviewOutcome>,
}

/// The decision about an item, and its author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// The decision.
    pub decision: ReviewDecision,
    /// The reason, for people.
    pub reason: Option<Description>,
    /// The user who has decided; `None` for trusted code.
    pub decided_by: Option<UserId>,
    /// When it was decided.
    pub decided_at: Timestamp,
}

/// A decision about an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReviewDecision {
    /// The assignment stays.
    Keep,
    /// The assignment is revoked when the review is completed.
    Revoke,
}

text_enum! { ReviewDecision { Keep = "KEEP", Revoke = "REVOKE" } }

/// The result of a decision at the completion of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReviewOutcome {
    /// It left the assignment as it was.
    Kept,
    /// It revoked the assignment.
    Revoked,
    /// The assignment was to be revoked, and had ended before.
    Gone,
}

text_enum! { ReviewOutcome { Kept = "KEPT", Revoked = "REVOKED", Gone = "GONE" } }

impl AccessReviewItem {
    /// Returns the decision.
    #[must_use]
    pub fn decision(&self) -> Option<ReviewDecision> {
        self.decided.as_ref().map(|decided| decided.decision)
    }

    /// Returns the item after the completion of its review. `is_gone` tells whether its assignment had ended before; for
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
            "reason": reason.map(Description::as_str),
        })
    }
}

/// An item as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedReviewItem {
    /// The item.
    pub item: AccessReviewItem,
    /// Its user, as it is now.
    pub user: UserSummary,
}

/// Which items a list shows, by their decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReviewItemFilter {
    /// Items whose assignments stay.
    Keep,
    /// Items whose assignments are to be revoked.
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

    #[test]
    fn progress_counts_each_item_once() {
        let decisions = [Some(ReviewDecision::Keep), None, Some(ReviewDecision::Revoke), Some(ReviewDecision::Keep)];
        let expected = ReviewProgress { total: 4, undecided: 1, keep: 2, revoke: 1 };
        assert_eq!(ReviewProgress::count(decisions), expected);
        assert_eq!(ReviewProgress::of(4, 2, 1), expected);
        assert_eq!(ReviewProgress::of_new(7), ReviewProgress { total: 7, undecided: 7, keep: 0, revoke: 0 });
    }
}
