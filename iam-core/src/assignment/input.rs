use std::collections::HashSet;

use chrono::Datelike as _;
use iam_model::clock::Timestamp;
use iam_model::error::{Error, Result};
use iam_model::id::{OrganizationId, RoleId, UserId};
use iam_model::validate::Fields;

/// The input for a new assignment; see [`Assignments::create`](crate::assignment::Assignments::create).
#[derive(Clone, Copy, Debug)]
pub struct NewAssignment {
    /// The user who gets the role.
    pub user: UserId,
    /// The role.
    pub role: RoleId,
    /// The organization; `None` for tenant-wide.
    pub organization: Option<OrganizationId>,
    /// The instant from which on the assignment grants nothing; `None` for no expiry. It must be in the future.
    pub expires_at: Option<Timestamp>,
}

/// How errors name the fields of an input.
#[derive(Clone, Copy, Debug)]
pub(super) enum Naming {
    /// By the name of the field: there is one input.
    One,
    /// With the number of the item: `assignments[3].roleId`.
    Bulk,
}

impl Naming {
    pub(super) fn field(self, number: usize, name: &str) -> String {
        match self {
            Self::One => name.to_owned(),
            Self::Bulk => format!("assignments[{number}].{name}"),
        }
    }

    /// Adds the number of the item to an error about the whole item. An error about a field already has it.
    pub(super) fn in_item(self, number: usize, error: Error) -> Error {
        match (self, &error) {
            (Self::Bulk, Error::Forbidden(_) | Error::Conflict(_)) => error.about(format!("assignments[{number}]")),
            _ => error,
        }
    }
}

/// Refuses expiries that are not in the future, or are beyond the years that ISO 8601 writes with four digits. The
/// error names each such field.
pub(crate) fn check_expiries(
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
    Ok(fields.finish()?)
}

/// Checks the list of an input that offers roles: at most so many, each once in an organization or tenant-wide.
pub(crate) fn check_places(
    fields: &mut Fields,
    list: &str,
    places: impl ExactSizeIterator<Item = (RoleId, Option<OrganizationId>)>,
    max: usize,
) {
    if places.len() > max {
        fields.reject(list, format!("must have at most {max} items"));
    }
    let mut seen = HashSet::new();
    for (number, place) in places.enumerate() {
        if !seen.insert(place) {
            fields.reject(&format!("{list}[{number}].roleId"), "is the same as in an item before it");
        }
    }
}

/// Returns the name of a field of an offered role in errors.
pub(crate) fn role_field(number: usize, name: &str) -> String {
    format!("roles[{number}].{name}")
}
