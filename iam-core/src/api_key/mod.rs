//! API keys: how programs act as a user (`docs/http-api.md#api-keys`).

mod input;
mod service;

pub use crate::api_key::input::{ApiKeyPatch, NewApiKey};
pub(crate) use crate::api_key::service::revoke_keys_known_to_owner;
pub use crate::api_key::service::{ApiKeys, IssuedApiKey};
pub use iam_model::api_key::{ApiKey, ApiKeySecret, FormerSecret};
pub use iam_model::change::ApiKeyChange;
pub use iam_model::store::{ApiKeySnapshot, ApiKeyStore, ApiKeyTransaction};
