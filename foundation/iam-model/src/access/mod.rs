//! Access control: the rights of users, and the decisions that follow from them (`docs/http-api.md#access`).
//!
//! It consists of three parts, each in a small file:
//!
//! 1. An [`Authority`] is the sum of a user's role assignments. It answers whether a permission is held in a
//!    [`ResourceScope`] at a moment, by plain loops over values.
//! 2. [`Rights`] turns that answer into an error: 403 if the caller may know that the resource exists, otherwise 404.
//! 3. [`GrantedRights`] are the rights that a change would give to a user. The escalation check compares them with the
//!    rights of the author: a change gives no user more rights than its author holds. [`LeadingRoles`] adds those
//!    to which what the change gives leads.

mod authority;
mod decision;
mod escalation;
mod impersonation;
mod leading_roles;
mod rights;
mod scope;
mod snapshot;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use authority::{Authority, CountingGrant};
pub use decision::{DecidingGrant, Decision, Denial};
pub use escalation::{EscalationCheck, GrantedRights, HeldRole};
pub use leading_roles::{LeadingRole, LeadingRoles, LeadingRolesCheck};
pub use rights::{Coverage, Membership, Rights};
pub use scope::{CoveredBy, ResourceScope, Until, VisibleScope};
pub use snapshot::Snapshot;
