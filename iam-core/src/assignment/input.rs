use chrono::Datelike as _;

use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::id::{OrganizationId, RoleId, UserId};
use crate::validate::Fields;

/// A role for a user, to be assigned; see [`Assignments::create`](super::Assignments::create).
#[derive(Clone, Copy, Debug)]
pub struct NewAssignment {
    /// Who gets it.
    pub user: UserId,
    /// Which role.
    pub role: RoleId,
    /// Where; `None` is tenant-wide.
    pub organization: Option<OrganizationId>,
    /// From this instant on it grants nothing; `None` is never. It must be in the future.
    pub expires_at: Option<Timestamp>,
}

/// How the fields of an input are called in errors.
#[derive(Clone, Copy, Debug)]
pub(super) enum Naming {
    /// By their names: there is one input.
    One,
    /// With the number of their item: `assignments[3].roleId`.
    Bulk,
}

impl Naming {
    pub(super) fn field(self, number: usize, name: &str) -> String {
        match self {
            Self::One => name.to_owned(),
            Self::Bulk => format!("assignments[{number}].{name}"),
        }
    }

    /// An error that is about a whole item, by the item's number; one about a field names that already.
    pub(super) fn in_item(self, number: usize, error: Error) -> Error {
        match (self, &error) {
            (Self::Bulk, Error::Forbidden(_) | Error::Conflict(_)) => error.about(format!("assignments[{number}]")),
            _ => error,
        }
    }
}

/// Refuses expiries that are not in the future or beyond the years that ISO 8601 writes with four digits, each by its
/// name.
pub(super) fn check_expiries(
    expiries: impl IntoIterator<Item = (String, Option<Timestamp>)>,
    now: Timestamp,
) -> Result<()> {
    let mut fields = Fields::default();
    for (field, expires_at) in expiries {
        if expires_at.is_some_and(|expiry| expiry <= now) {
            fields.reject(&field, "must be in the future");
        } else if expires_at.is_some_and(|expiry| expiry.year() > 9999) {
            fields.reject(&field, "must be before the year 10000; leave it out for no expiry");
        }
    }
    fields.finish()
}
