//! Invitations: people are asked by mail to become users, with the roles that they get
//! (`docs/http-api.md#invitations`).

mod accept;
mod home;
mod input;
mod service;

pub use crate::invitation::accept::Acceptance;
pub(crate) use crate::invitation::accept::offered_by_inviter;
pub(crate) use crate::invitation::home::home_of;
pub use crate::invitation::input::NewInvitation;
pub(crate) use crate::invitation::service::pending_at;
pub use crate::invitation::service::{InvitationDetails, Invitations};
pub use iam_model::change::InvitationChange;
pub use iam_model::invitation::{Invitation, InvitationFilter, InvitationStatus, InvitedRole, LIFETIME, MAX_ROLES};
pub use iam_model::store::{InvitationStore, InvitationTransaction};
