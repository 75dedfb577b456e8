#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod authorization;
mod claims;
mod expectations;
mod fault;
mod id_token;
mod keys;
mod logout_token;
mod metadata;
mod pkce;
mod token;

pub use authorization::{AuthorizationRequest, AuthorizationResponse, ResponseFault};
pub use expectations::Expectations;
pub use fault::{Cause, Fault};
pub use id_token::{IdToken, verify_id_token};
pub use keys::{InvalidKeys, ProviderKeys};
pub use logout_token::{LogoutToken, verify_logout_token};
pub use metadata::{ClientAuthentication, InvalidMetadata, ProviderMetadata};
pub use pkce::code_challenge;
pub use token::{InvalidTokenResponse, TokenRequest, TokenResponse};
