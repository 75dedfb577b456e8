//! Federation: people log in by an account that they have at an identity provider (`docs/federation.md#the-flow`).
//!
//! A login begins at a client ([`Federation::start`]), goes to the provider, comes back to the router
//! ([`Federation::callback`]), which sends the browser to the client with a code, and ends at the client
//! ([`Federation::finish`]). Until then, nothing of an account changes: only the client that began can finish.

mod account;
mod callback;
mod discover;
mod exchange;
mod finish;
mod identities;
mod logout;
mod redirect;
mod start;
mod state;

pub use crate::federation::callback::CallbackOutcome;
pub use crate::federation::discover::{Discovered, ProviderSummary};
pub use crate::federation::finish::Finished;
pub use crate::federation::identities::LinkedHolders;
pub use crate::federation::start::{StartFederation, StartedFederation};
pub use iam_model::change::IdentityChange;
pub use iam_model::error::FederatedLogin;
pub use iam_model::identity::Identity;
pub use iam_model::store::{IdentityStore, IdentityTransaction};
pub use iam_openid::code_challenge;

use crate::engine::Engine;

/// Logs people in by their accounts at identity providers; see [`Iam::federation`](crate::iam::Iam::federation).
#[derive(Clone, Copy)]
pub struct Federation<'a>(pub(crate) &'a Engine);
