//! Credentials: passwords, and the lockout that limits guesses (`docs/http-api.md#locks`).

mod service;

pub use crate::credential::service::Credentials;
pub use crate::hashing::HashingCost;
pub use crate::password::BreachedPasswords;
pub use iam_model::change::{CredentialChange, LoginFailure};
pub use iam_model::credential::{Account, GuardedAccount, Lockout, LoginAttempts, LoginCandidate, LoginCandidates};
pub use iam_model::store::{CredentialStore, CredentialTransaction};

pub(crate) use crate::credential::service::replace_password;
