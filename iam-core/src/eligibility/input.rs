use iam_model::clock::{Timestamp, cut};
use iam_model::eligibility::{Eligibility, Eligible};
use iam_model::error::Result;
use iam_model::id::{OrganizationId, RoleId, UserId};
use iam_model::validate::Fields;

use crate::bounded::bounded;

/// The input for a new eligibility, as typed; see
/// [`Eligibilities::create`](crate::eligibility::Eligibilities::create).
#[derive(Clone, Copy, Debug)]
pub struct NewEligibility {
    /// The role for which users may ask.
    pub role: RoleId,
    /// Where they may hold it; `None` for tenant-wide.
    pub organization: Option<OrganizationId>,
    /// The user who may ask. Exactly one of this and [`held_role`](Self::held_role) is set.
    pub user: Option<UserId>,
    /// The role whose holders may ask, there or above.
    pub held_role: Option<RoleId>,
    /// For how many seconds at most: 300 to 2,592,000. `None` for 28,800.
    pub max_seconds: Option<i64>,
    /// How many others have to approve: 0 to 2. `None` for 1.
    pub approvals: Option<i64>,
    /// The role whose holders decide; `None` for the holders of `access-requests:update`.
    pub approver_role: Option<RoleId>,
    /// The instant from which on no user may ask, and at which what begins before ends at the latest; `None` for no
    /// expiry.
    pub expires_at: Option<Timestamp>,
}

impl NewEligibility {
    /// Returns the input for an eligibility of a user, tenant-wide, with the defaults.
    #[must_use]
    pub fn of_user(role: RoleId, user: UserId) -> Self {
        Self {
            role,
            organization: None,
            user: Some(user),
            held_role: None,
            max_seconds: None,
            approvals: None,
            approver_role: None,
            expires_at: None,
        }
    }

    /// Checks every field but the expiry, which depends on the moment.
    pub(super) fn validate(&self) -> Result<ValidEligibility> {
        let mut fields = Fields::default();
        let eligible = match (self.user, self.held_role) {
            (Some(user), None) => Some(Eligible::User(user)),
            (None, Some(role)) => Some(Eligible::HoldersOf(role)),
            (Some(_), Some(_)) => {
                fields.reject("heldRoleId", "must be left out if userId is there");
                None
            }
            (None, None) => {
                fields.reject("userId", "must be there, or heldRoleId in its place");
                None
            }
        };
        let max_seconds = max_seconds(&mut fields, self.max_seconds.unwrap_or(Eligibility::DEFAULT_SECONDS.into()));
        let approvals = approvals(&mut fields, self.approvals.unwrap_or(Eligibility::DEFAULT_APPROVALS.into()));
        match (eligible, max_seconds, approvals) {
            (Some(eligible), Some(max_seconds), Some(approvals)) => {
                Ok(ValidEligibility { eligible, max_seconds, approvals, expires_at: self.expires_at.map(cut) })
            }
            _ => Err(fields.into_error().into()),
        }
    }
}

/// The valid fields of a new eligibility.
pub(super) struct ValidEligibility {
    pub(super) eligible: Eligible,
    pub(super) max_seconds: u32,
    pub(super) approvals: u8,
    pub(super) expires_at: Option<Timestamp>,
}

/// A change of an eligibility. A field that is `None` does not change.
#[derive(Clone, Copy, Debug, Default)]
pub struct EligibilityPatch {
    /// See [`NewEligibility::max_seconds`].
    pub max_seconds: Option<i64>,
    /// See [`NewEligibility::approvals`].
    pub approvals: Option<i64>,
    /// The new role of those who decide; `Some(None)` for the holders of `access-requests:update`.
    pub approver_role: Option<Option<RoleId>>,
    /// The new expiry; `Some(None)` for no expiry.
    pub expires_at: Option<Option<Timestamp>>,
}

/// A valid [`EligibilityPatch`].
pub(super) struct ValidPatch {
    max_seconds: Option<u32>,
    approvals: Option<u8>,
    pub(super) approver_role: Option<Option<RoleId>>,
    pub(super) expires_at: Option<Option<Timestamp>>,
}

impl EligibilityPatch {
    pub(super) fn validate(self) -> Result<ValidPatch> {
        let mut fields = Fields::default();
        let patch = ValidPatch {
            max_seconds: self.max_seconds.and_then(|given| max_seconds(&mut fields, given)),
            approvals: self.approvals.and_then(|given| approvals(&mut fields, given)),
            approver_role: self.approver_role,
            expires_at: self.expires_at.map(|expiry| expiry.map(cut)),
        };
        fields.finish()?;
        Ok(patch)
    }
}

impl ValidPatch {
    /// Returns the eligibility with the patch applied.
    pub(super) fn apply(&self, before: &Eligibility, now: Timestamp) -> Eligibility {
        let after = Eligibility {
            max_seconds: self.max_seconds.unwrap_or(before.max_seconds),
            approvals: self.approvals.unwrap_or(before.approvals),
            approver_role_id: self.approver_role.unwrap_or(before.approver_role_id),
            expires_at: self.expires_at.unwrap_or(before.expires_at),
            ..before.clone()
        };
        if after == *before { after } else { after.changed(now) }
    }
}

fn max_seconds(fields: &mut Fields, given: i64) -> Option<u32> {
    bounded(fields, "maxSeconds", given, (Eligibility::MIN_SECONDS, Eligibility::MAX_SECONDS))
}

fn approvals(fields: &mut Fields, given: i64) -> Option<u8> {
    bounded(fields, "approvals", given, (0, Eligibility::MAX_APPROVALS))
}

#[cfg(test)]
mod tests {
    use iam_model::access::testing::id;
    use iam_model::error::Error;

    use super::*;

    fn fields<T>(valid: Result<T>) -> Vec<String> {
        match valid {
            Ok(_) => Vec::new(),
            Err(Error::Validation(errors)) => errors.into_iter().map(|error| error.field).collect(),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_new_eligibility_names_a_user_or_a_role_and_has_bounds() {
        let new = NewEligibility::of_user(id("role"), id("user"));
        let valid = new.validate().unwrap();
        assert_eq!((valid.max_seconds, valid.approvals), (28_800, 1));
        let held = Some(id("held"));
        for (new, expected) in [
            (NewEligibility { user: None, held_role: held, ..new }, vec![]),
            (NewEligibility { held_role: held, ..new }, vec!["heldRoleId"]),
            (NewEligibility { user: None, ..new }, vec!["userId"]),
            (NewEligibility { max_seconds: Some(300), approvals: Some(0), ..new }, vec![]),
            (NewEligibility { max_seconds: Some(2_592_000), approvals: Some(2), ..new }, vec![]),
            (NewEligibility { max_seconds: Some(299), approvals: Some(-1), ..new }, vec!["maxSeconds", "approvals"]),
            (
                NewEligibility { max_seconds: Some(2_592_001), approvals: Some(3), ..new },
                vec!["maxSeconds", "approvals"],
            ),
            (NewEligibility { user: None, max_seconds: Some(i64::MAX), ..new }, vec!["userId", "maxSeconds"]),
        ] {
            assert_eq!(fields(new.validate()), expected, "{new:?}");
        }
        let patch = EligibilityPatch { max_seconds: Some(1), approvals: Some(9), ..EligibilityPatch::default() };
        assert_eq!(fields(patch.validate()), ["maxSeconds", "approvals"]);
    }
}
