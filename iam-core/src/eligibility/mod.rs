//! Eligibilities: who may ask for which role for a time, and who has to agree
//! (`docs/access-requests.md#eligibilities`).

mod input;
mod removal;
mod service;
mod sleeping;

pub use crate::eligibility::input::{EligibilityPatch, NewEligibility};
pub use crate::eligibility::service::{Eligibilities, ListedEligibility};
pub use iam_model::change::EligibilityChange;
pub use iam_model::eligibility::{Eligibility, Eligible};
pub use iam_model::store::{EligibilityStore, EligibilityTransaction};

pub(crate) use crate::eligibility::removal::{remove, removed_in, removed_of};
pub(crate) use crate::eligibility::sleeping::with_sleeping;
