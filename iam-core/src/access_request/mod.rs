//! Access requests: users ask for a role for a time, and others agree (`docs/access-requests.md#requests`).
//!
//! A request goes by an [eligibility](crate::eligibility). What it gives is its *elevation*: an assignment with the
//! mark of the request, which ends by itself. Everything here happens under the tenant's lock.

mod activation;
mod closing;
mod decision;
mod found;
mod input;
mod notice;
mod of_user;
mod service;
mod sweep;

pub use crate::access_request::activation::Obstacle;
pub use crate::access_request::input::NewAccessRequest;
pub use crate::access_request::service::AccessRequests;
pub use iam_model::access_request::{
    AccessDecision, AccessRequest, AccessRequestFilter, AccessRequestScope, AccessRequestStatus, AccessVerdict,
    ApproverPlace, CancelCause, ListedAccessRequest, MAX_DELAY, MAX_GIVEN, MAX_OPEN, MAX_TICKET, MIN_SECONDS,
};
pub use iam_model::change::{AccessRequestChange, AccessRequestEvent};
pub use iam_model::store::{AccessRequestStore, AccessRequestTransaction};

pub(crate) use crate::access_request::notice::deciders;
pub(crate) use crate::access_request::of_user::end_of_user;
