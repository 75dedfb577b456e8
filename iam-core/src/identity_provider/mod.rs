//! Identity providers: OpenID Connect providers by which the people of a tenant log in (`docs/federation.md#providers`).
//!
//! Without a [`ProviderClient`], no provider is made and nobody logs in by one: such calls fail with
//! [`Error::FederationOff`](crate::Error::FederationOff).

mod discovery;
mod input;
mod service;

pub use crate::identity_provider::input::{IdentityProviderPatch, NewIdentityProvider};
pub use crate::identity_provider::service::IdentityProviders;
pub use iam_model::change::IdentityProviderChange;
pub use iam_model::identity_provider::*;
pub use iam_model::store::{IdentityProviderStore, IdentityProviderTransaction};
