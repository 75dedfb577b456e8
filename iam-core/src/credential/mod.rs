//! Credentials: passwords, and the lockout that limits guesses (`interface.md` §2.1, §5.4, `decisions.md` §2).

mod attempts;
mod change;
mod guard;
mod hasher;
mod policy;
mod service;
mod share;
mod store;
mod stored;
mod timing;
mod workers;

pub use attempts::{Lockout, LoginAttempts};
pub use change::{CredentialChange, LoginFailure};
pub(crate) use guard::{Attempt, Claim, Proven, Refusal, Scope, WhenLocked, in_time, rehash};
pub use hasher::HashingCost;
pub(crate) use hasher::PasswordHasher;
pub(crate) use policy::{AcceptedPassword, accept_password};
pub use service::Credentials;
pub(crate) use share::Share;
pub use store::{CredentialStore, CredentialTransaction};
pub(crate) use stored::accept_hash;

use std::cmp::Reverse;

use crate::secret::PasswordHash;
use crate::tenant::Tenant;
use crate::user::{User, UserStatus};

/// A user with its password hash, as a login needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// The user.
    pub user: User,
    /// The hash of the user's password.
    pub password: PasswordHash,
}

/// The account with an e-mail in a tenant, and the failed logins with that e-mail.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GuardedAccount {
    /// The account with this e-mail. `None` where no user of the tenant has it.
    pub account: Option<Account>,
    /// The failed logins with this e-mail. They are counted also where no user has it.
    pub attempts: LoginAttempts,
    /// Whether logins with this e-mail that named no tenant have failed. These are also counted under
    /// [`TenantId::NONE`](crate::TenantId::NONE).
    pub has_unnamed_failures: bool,
}

/// The accounts that a login without a tenant may mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoginCandidates {
    /// The failed logins with this e-mail that named no tenant.
    pub attempts: LoginAttempts,
    /// The accounts with this e-mail.
    pub accounts: Vec<LoginCandidate>,
}

/// An account that a login without a tenant may mean.
#[derive(Clone, Debug, PartialEq)]
pub struct LoginCandidate {
    /// The tenant of the account.
    pub tenant: Tenant,
    /// The account.
    pub account: Account,
    /// The failed logins with its e-mail in the tenant.
    pub attempts: LoginAttempts,
}

impl From<LoginCandidate> for GuardedAccount {
    fn from(candidate: LoginCandidate) -> Self {
        Self { account: Some(candidate.account), attempts: candidate.attempts, has_unnamed_failures: false }
    }
}

impl LoginCandidate {
    /// Returns the sort key of candidates (`decisions.md` §2), for stores that sort in memory.
    ///
    /// Accounts that are not INACTIVE come first. Among equals, accounts with a verified e-mail come first, then
    /// accounts with a later last login, then older accounts.
    #[must_use]
    pub fn order(&self) -> impl Ord + use<> {
        let user = &self.account.user;
        let is_inactive = user.status == UserStatus::Inactive;
        let is_unverified = user.email_verified_at.is_none();
        (is_inactive, is_unverified, Reverse(user.last_login_at), user.created_at, self.tenant.id)
    }
}
