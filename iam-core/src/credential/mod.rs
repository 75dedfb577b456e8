//! Credentials: passwords and the guard against guessing them (`interface.md` §2.1, §5.4, `decisions.md` §2).

mod attempts;
mod change;
mod guard;
mod hasher;
mod policy;
mod service;
mod store;
mod stored;
mod workers;

pub use attempts::{Lockout, LoginAttempts};
pub use change::{CredentialChange, LoginFailure};
pub(crate) use guard::{Attempt, Outcome};
pub use hasher::HashingCost;
pub(crate) use hasher::PasswordHasher;
pub(crate) use policy::{AcceptedPassword, accept_password};
pub use service::Credentials;
pub use store::{CredentialStore, CredentialTransaction};
pub(crate) use stored::accept_hash;

use crate::secret::PasswordHash;
use crate::user::User;

/// A user with its password's hash, as login needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// The user.
    pub user: User,
    /// Its password's hash.
    pub password: PasswordHash,
}

/// What is known of an e-mail in a tenant when somebody claims it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GuardedAccount {
    /// Whose it is, if anybody's.
    pub account: Option<Account>,
    /// The logins with it that failed, also where it is nobody's.
    pub attempts: LoginAttempts,
}
