//! Credentials: passwords and the guard against guessing them (`interface.md` §2.1, §5.4, `decisions.md` §2).

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
    /// The account that has it, if there is one.
    pub account: Option<Account>,
    /// The logins with it that failed, also where no user has it.
    pub attempts: LoginAttempts,
    /// Whether logins with it have failed that named no tenant. These are counted under [`TenantId::NONE`](crate::TenantId::NONE), too.
    pub has_unnamed_failures: bool,
}

/// The accounts that a login without a tenant may mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoginCandidates {
    /// The logins with this e-mail that failed and named no tenant.
    pub attempts: LoginAttempts,
    /// The accounts.
    pub accounts: Vec<LoginCandidate>,
}

/// An account that a login without a tenant may mean.
#[derive(Clone, Debug, PartialEq)]
pub struct LoginCandidate {
    /// The tenant it belongs to.
    pub tenant: Tenant,
    /// The account.
    pub account: Account,
    /// The logins with its e-mail that failed in the tenant.
    pub attempts: LoginAttempts,
}

impl From<LoginCandidate> for GuardedAccount {
    fn from(candidate: LoginCandidate) -> Self {
        Self { account: Some(candidate.account), attempts: candidate.attempts, has_unnamed_failures: false }
    }
}

impl LoginCandidate {
    /// What decides the order of candidates (`decisions.md` §2); for stores that sort in memory. First come accounts that
    /// are not INACTIVE; of these, those whose address is verified; of these, those that logged in last; then the oldest.
    #[must_use]
    pub fn order(&self) -> impl Ord + use<> {
        let user = &self.account.user;
        let is_inactive = user.status == UserStatus::Inactive;
        let is_unverified = user.email_verified_at.is_none();
        (is_inactive, is_unverified, Reverse(user.last_login_at), user.created_at, self.tenant.id)
    }
}
