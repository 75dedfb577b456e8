#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod attestation;
mod authentication;
mod authenticator_data;
mod base64url;
mod cbor;
mod ceremony;
mod client_data;
mod credential;
mod public_key;
mod refusal;
mod registration;
mod relying_party;
mod response;

pub use authentication::Authenticated;
pub use ceremony::{Ceremony, TIMEOUT};
pub use credential::Credential;
pub use refusal::Refusal;
pub use registration::User;
pub use relying_party::{RelyingParty, RelyingPartyError};
pub use response::{AuthenticationResponse, RegistrationResponse};
