//! Access reviews.

pub(crate) const ACCESS_REVIEWS: &str = "Access reviews";
pub(crate) const NEW_REVIEW: &str = "New review";
pub(crate) const BEGIN_REVIEW: &str = "Begin the review";
pub(crate) const REVIEW_WHAT: &str = "A review lists the role assignments and the eligibilities of this moment. People decide about each of them \
     whether it stays. Nothing changes before the review is completed.";
pub(crate) const NO_REVIEWS: &str = "There is no such review.";
pub(crate) const SHOW_ALL_REVIEWS: &str = "Show all reviews";
pub(crate) const REVIEW_OPEN: &str = "Open";
pub(crate) const REVIEW_COMPLETED: &str = "Completed";
pub(crate) const REVIEW_CANCELLED: &str = "Cancelled";
pub(crate) const ALL_REVIEWS: &str = "All";
pub(crate) const DUE: &str = "Due";
pub(crate) const LATE: &str = "late";
pub(crate) const DUE_DAY: &str = "Due day";
pub(crate) const DUE_HINT: &str = "The review is due at the end of this day, in UTC. It stays open afterwards.";
pub(crate) const REVIEW_NAME_HINT: &str = "For example: Sales, spring";
pub(crate) const PROGRESS: &str = "Progress";
pub(crate) const DECIDED: &str = "decided";
pub(crate) const WHOLE_TENANT_OPTION: &str = "The whole tenant";
pub(crate) const WHERE_HINT: &str =
    "In an organization, the review is about the assignments in it and below it, and not about tenant-wide ones.";
pub(crate) const SEARCH_ORGANIZATIONS: &str = "Search organizations by name";
pub(crate) const MORE_ORGANIZATIONS: &str = "There are more. Type a part of the name to find another one.";
pub(crate) const ORGANIZATIONS_HIDDEN: &str = "You may not see the organizations.";
pub(crate) const WHICH_ROLES: &str = "Which roles";
pub(crate) const WHICH_ROLES_HINT: &str = "Without a choice, the review is about all roles.";
pub(crate) const ALL_ROLES: &str = "all roles";
pub(crate) const CHOICE_HIDDEN: &str = "You may not see the roles, so the review is about all of them.";
pub(crate) const MUST_DECIDE: &str = "must be to keep or to revoke";
pub(crate) const ABOUT_USERS: &str = "Users";
pub(crate) const BEGUN: &str = "Begun";
pub(crate) const CLOSED: &str = "Closed";
pub(crate) const OVERDUE: &str = "The review is late.";
pub(crate) const REVIEW_BEGUN: &str = "The review has begun. Decide about each item.";
pub(crate) const REVIEW_DECIDED: &str = "The decision is saved.";
pub(crate) const REVIEW_IS_COMPLETED: &str = "The review is completed. Each item shows what became of it.";
pub(crate) const REVIEW_IS_CANCELLED: &str = "The review is cancelled. Nothing was revoked.";
pub(crate) const ITEMS: &str = "Items";
pub(crate) const ALL_ITEMS: &str = "All";
pub(crate) const UNDECIDED: &str = "Undecided";
pub(crate) const KEEP: &str = "Keep";
pub(crate) const DECISION: &str = "Decision";
pub(crate) const REASON: &str = "Reason";
pub(crate) const GRANTED: &str = "Granted";
/// What the item of an eligibility says before the role.
pub(crate) const MAY_ASK_FOR: &str = "may ask for";
pub(crate) const ELIGIBLE_SINCE: &str = "Eligible since";
pub(crate) const BY: &str = "by";
pub(crate) const BY_THE_SERVICE: &str = "by the service itself";
pub(crate) const OWN_ITEM: &str =
    "This is your own role, or one for which you may ask. Another person must decide about it.";
pub(crate) const NO_ITEMS: &str = "No role assignment and no eligibility is in the scope of this review. Cancel it, and begin one with another scope.";
pub(crate) const NO_ITEM_MATCHES: &str = "No item matches.";
pub(crate) const SHOW_ALL_ITEMS: &str = "Show all items";
pub(crate) const AS_CSV: &str = "Download as CSV";
pub(crate) const DECISION_SAVED: &str = "Saved:";
pub(crate) const COMPLETE: &str = "Complete the review";
pub(crate) const COMPLETE_CONFIRM: &str = "Yes, complete it";
pub(crate) const CANCEL_REVIEW: &str = "Cancel the review";
pub(crate) const CANCEL_REVIEW_WHAT: &str =
    "Nothing is revoked. The review and its decisions stay, and cannot be changed any more.";
pub(crate) const CANCEL_CONFIRM: &str = "Yes, cancel it";
pub(crate) const DECISIONS_HIDDEN: &str = "You may see this review, and may not decide in it.";
pub(crate) const OUTCOME_KEPT: &str = "It stays.";
pub(crate) const OUTCOME_REVOKED: &str = "It is revoked.";
pub(crate) const OUTCOME_GONE: &str = "It had ended before.";

/// The effects of the completion of a review, or why it cannot be completed yet.
pub(crate) fn completion(undecided: u64, keep: u64, revoke: u64) -> String {
    match (undecided, revoke) {
        (0, 0) => format!("All items stay: {keep}. This cannot be undone."),
        (0, _) => {
            format!("Items that are revoked: {revoke}. Those that stay: {keep}. This cannot be undone.")
        }
        (1, _) => "One item has no decision yet. Decide about it before you complete the review.".to_owned(),
        _ => format!("{undecided} items have no decision yet. Decide about them before you complete the review."),
    }
}
