use chrono::Datelike as _;
use iam_model::access_review::{MAX_RESTRICTIONS, ReviewDecision};
use iam_model::clock::{Timestamp, cut};
use iam_model::error::Result;
use iam_model::id::{OrganizationId, RoleId, UserId};
use iam_model::validate::{Fields, Name, Reason};

/// The input for a new review, as typed; see
/// [`AccessReviews::create`](crate::access_review::AccessReviews::create).
#[derive(Clone, Debug)]
pub struct NewAccessReview {
    /// 1–120 characters.
    pub name: String,
    /// Restricts the review to the assignments in this organization and below it; `None` for the whole tenant.
    pub organization: Option<OrganizationId>,
    /// Restricts the review to assignments of these roles, at most 100. Empty for all roles.
    pub roles: Vec<RoleId>,
    /// Restricts the review to assignments of these users, at most 100. Empty for all users.
    pub users: Vec<UserId>,
    /// Until when the decisions are due. It must be in the future.
    pub due_at: Timestamp,
}

/// The valid fields of a new review.
pub(super) struct ValidAccessReview {
    pub(super) name: Name,
    pub(super) roles: Vec<RoleId>,
    pub(super) users: Vec<UserId>,
    pub(super) due_at: Timestamp,
}

impl NewAccessReview {
    /// Checks every field at a moment.
    pub(super) fn validate(self, now: Timestamp) -> Result<ValidAccessReview> {
        let mut fields = Fields::default();
        let name = fields.check("name", self.name.parse());
        check_number(&mut fields, "roleIds", self.roles.len());
        check_number(&mut fields, "userIds", self.users.len());
        let due_at = cut(self.due_at);
        if due_at <= now {
            fields.reject("dueAt", "must be in the future");
        } else if due_at.year() > 9999 {
            fields.reject("dueAt", "must be before the year 10000");
        }
        match name {
            Some(name) if fields.is_empty() => {
                Ok(ValidAccessReview { name, roles: self.roles, users: self.users, due_at })
            }
            _ => Err(fields.into_error().into()),
        }
    }
}

fn check_number(fields: &mut Fields, field: &str, number: usize) {
    if number > MAX_RESTRICTIONS {
        fields.reject(field, format!("must have at most {MAX_RESTRICTIONS} items"));
    }
}

/// The input for a decision, as typed; see [`AccessReviews::decide`](crate::access_review::AccessReviews::decide).
#[derive(Clone, Debug)]
pub struct NewDecision {
    /// Whether the assignment stays.
    pub decision: ReviewDecision,
    /// At most 500 characters; `None` or blank for no reason.
    pub reason: Option<String>,
}

impl NewDecision {
    /// Returns the valid reason.
    pub(super) fn valid_reason(&self) -> Result<Option<Reason>> {
        let mut fields = Fields::default();
        let reason = fields.check_unless_blank("reason", self.reason.as_deref());
        fields.finish()?;
        Ok(reason)
    }
}
