//! Sessions: one for each login, kept alive by refresh tokens (`decisions.md` §2).
//!
//! A store holds only sessions that have not ended. A session that ends is removed, and stays in the audit log.

mod cache;
mod change;
mod ended;
mod login;
mod refresh;
mod service;
mod store;

use std::net::IpAddr;
use std::time::Duration;

pub(crate) use cache::{ReadVersion, SessionCache, Snapshot};
pub use change::{EndReason, SessionChange};
pub(crate) use ended::EndedSessions;
pub use login::Login;
pub(crate) use login::open_session;
pub(crate) use refresh::{NextSecret, refresh_token};
pub use refresh::{RefreshState, SpentToken};
pub use service::Sessions;
pub(crate) use service::{end_all_sessions, end_sessions};
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
    /// Identifies the session; the `sid` claim of its access tokens.
    pub id: SessionId,
    /// The tenant of the session.
    pub tenant_id: TenantId,
    /// The user who logged in.
    pub user_id: UserId,
    /// The address from which the user logged in.
    pub ip_address: Option<IpAddr>,
    /// The user agent with which the user logged in.
    pub user_agent: Option<UserAgent>,
    /// When the user logged in.
    pub created_at: Timestamp,
    /// When the session was last refreshed, or when it began.
    pub last_used_at: Timestamp,
    /// When the session expires, unless it is refreshed before.
    pub expires_at: Timestamp,
    /// The state of its refresh tokens.
    pub refresh: RefreshState,
}

impl Session {
    /// Whether the session has not expired.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

/// A pair of tokens.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tokens {
    /// Proves the session for a short time.
    pub access: AccessToken,
    /// Is exchanged once for the next pair.
    pub refresh: RefreshToken,
    /// How long the access token is valid.
    pub expires_in: Duration,
}

/// A successful login.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoggedIn {
    /// The user who logged in.
    pub user: User,
    /// The session's first tokens.
    pub tokens: Tokens,
}

/// The caller with its tenant, session and grants; see [`Sessions::me`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Me {
    /// The caller.
    pub user: User,
    /// The caller's tenant.
    pub tenant: Tenant,
    /// The caller's session.
    pub session: Session,
    /// The caller's role assignments that have not expired.
    pub grants: Vec<Grant>,
}
