//! Sessions: one for each login, kept alive by refresh tokens (`decisions.md` §2).
//!
//! A store keeps live sessions only: one that ends is removed, and the audit log remembers it.

mod change;
mod ended;
mod login;
mod refresh;
mod service;
mod snapshots;
mod store;

use std::net::IpAddr;
use std::time::Duration;

pub use change::{EndReason, SessionChange};
pub(crate) use ended::EndedSessions;
pub use login::Login;
pub(crate) use login::open_session;
pub(crate) use refresh::NextSecret;
pub use refresh::{RefreshState, SpentToken};
pub use service::Sessions;
pub(crate) use service::{end_all_sessions, end_sessions};
pub(crate) use snapshots::{Snapshot, Snapshots, Ticket};
pub use store::{SessionDetails, SessionSnapshot, SessionStore, SessionTransaction};

use crate::assignment::Grant;
use crate::caller::UserAgent;
use crate::clock::Timestamp;
use crate::id::{SessionId, TenantId, UserId};
use crate::secret::{AccessToken, RefreshToken};
use crate::tenant::Tenant;
use crate::user::User;

/// A login that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Names the session; the `sid` claim of its access tokens.
    pub id: SessionId,
    /// The tenant it belongs to.
    pub tenant_id: TenantId,
    /// Who logged in.
    pub user_id: UserId,
    /// From where.
    pub ip_address: Option<IpAddr>,
    /// With what.
    pub user_agent: Option<UserAgent>,
    /// When the user logged in.
    pub created_at: Timestamp,
    /// When the session was last refreshed, or began.
    pub last_used_at: Timestamp,
    /// From this instant on it is over, unless it is refreshed before.
    pub expires_at: Timestamp,
    /// Which refresh token is next.
    pub refresh: RefreshState,
}

impl Session {
    /// Whether it is not over yet.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

/// A pair of tokens.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tokens {
    /// Proves the session for a short while.
    pub access: AccessToken,
    /// Gets the next pair, once.
    pub refresh: RefreshToken,
    /// How long the access token is valid.
    pub expires_in: Duration,
}

/// A successful login.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoggedIn {
    /// Who logged in.
    pub user: User,
    /// The session's first tokens.
    pub tokens: Tokens,
}

/// Who the caller is and what it may do; see [`Sessions::me`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Me {
    /// The caller.
    pub user: User,
    /// Its tenant.
    pub tenant: Tenant,
    /// The session in which it calls.
    pub session: Session,
    /// Its assignments that have not expired.
    pub grants: Vec<Grant>,
}
