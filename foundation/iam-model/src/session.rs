//! Sessions: one for each login, kept alive by refresh tokens (`docs/http-api.md#sessions`).
//!
//! A store holds only sessions that have not ended. A session that ends is removed, and stays in the audit log.

use std::fmt;
use std::net::IpAddr;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::context::{Impersonator, UserAgent};
use crate::factor::AuthenticationMethods;
use crate::id::{IdentityProviderId, SessionId, TenantId, UserId};
use crate::validate::Reason;

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
    /// By which methods the user has authenticated, at the login and again later. If another user acts in the session,
    /// the methods of that user.
    pub methods: AuthenticationMethods,
    /// When the user has authenticated last: at the login, or again later. If another user acts in the session, the
    /// user has not: the beginning of 1970.
    pub authenticated_at: Timestamp,
    /// When the user logged in.
    pub created_at: Timestamp,
    /// When the session was last refreshed, or when it began.
    pub last_used_at: Timestamp,
    /// When the session expires, unless it is refreshed before.
    pub expires_at: Timestamp,
    /// The state of its refresh tokens.
    pub refresh: RefreshState,
    /// The session at the identity provider by which the user logged in. `None` for another login.
    pub provider: Option<ProviderSession>,
    /// The user who acts in the session, and why. `None` for a login of the user itself.
    pub impersonation: Option<Impersonation>,
}

/// Who acts in a session of another user, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impersonation {
    /// The user who acts.
    pub by: Impersonator,
    /// Why, in its own words: 1–500 characters.
    pub reason: Reason,
}

impl Impersonation {
    /// The shortest time for which a user acts as another one.
    pub const MIN: TimeDelta = TimeDelta::minutes(1);
    /// The longest time for which a user acts as another one.
    pub const MAX: TimeDelta = TimeDelta::hours(1);
}

/// A session of a person at an identity provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderSession {
    /// The provider.
    pub provider_id: IdentityProviderId,
    /// The session, as the provider names it (`sid`, Back-Channel Logout 1.0, section 2.1): at most
    /// [`MAX_LENGTH`](Self::MAX_LENGTH) characters. `None` if it does not.
    pub session: Option<String>,
}

impl ProviderSession {
    /// The maximum length of the name of a session, in characters.
    pub const MAX_LENGTH: usize = 255;
}

impl Session {
    /// Whether the session has not expired.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// The user who acts in the session, if that is another one than its own.
    #[must_use]
    pub fn impersonator(&self) -> Option<Impersonator> {
        self.impersonation.as_ref().map(|impersonation| impersonation.by)
    }
}

/// Why sessions end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// The user logged out.
    Logout,
    /// The user logged out everywhere.
    LogoutAll,
    /// The user's password was changed, but not in this session.
    PasswordChange,
    /// The user was suspended.
    UserSuspended,
    /// The user was deleted.
    UserDeleted,
    /// A spent refresh token was used again.
    TokenReuse,
    /// An administrator or the operator ended the session.
    Terminated,
    /// The operator suspended the tenant.
    TenantSuspended,
    /// An administrator or the operator removed the user's second factors.
    FactorsRemoved,
    /// The identity provider by which the user had logged in has logged the user out.
    ProviderLogout,
    /// A person was linked to the account by its address, and no person could log in to it before.
    IdentityLinked,
    /// The session of the user who acted in this one has ended.
    ActorSession,
    /// The user who acted in this session may not act as its user any more.
    ActorRights,
}

text_enum! {
    EndReason {
        Logout = "LOGOUT",
        LogoutAll = "LOGOUT_ALL",
        PasswordChange = "PASSWORD_CHANGE",
        UserSuspended = "USER_SUSPENDED",
        UserDeleted = "USER_DELETED",
        TokenReuse = "TOKEN_REUSE",
        Terminated = "TERMINATED",
        TenantSuspended = "TENANT_SUSPENDED",
        FactorsRemoved = "FACTORS_REMOVED",
        ProviderLogout = "PROVIDER_LOGOUT",
        IdentityLinked = "IDENTITY_LINKED",
        ActorSession = "ACTOR_SESSION",
        ActorRights = "ACTOR_RIGHTS",
    }
}

/// The state of a session's refresh tokens. It contains no token.
#[derive(Clone, PartialEq, Eq)]
pub struct RefreshState {
    /// Makes the tags of this session's tokens.
    pub tag_key: [u8; 32],
    /// SHA-256 of the valid secret.
    pub current: [u8; 32],
    /// The token that was exchanged last.
    pub spent: Option<SpentToken>,
}

/// The refresh token that was exchanged last.
#[derive(Clone, PartialEq, Eq)]
pub struct SpentToken {
    /// SHA-256 of its secret.
    pub hash: [u8; 32],
    /// Makes its successor, together with its secret.
    pub nonce: [u8; 32],
    /// When it was exchanged.
    pub at: Timestamp,
}

impl fmt::Debug for RefreshState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RefreshState([REDACTED])")
    }
}

impl fmt::Debug for SpentToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpentToken([REDACTED])")
    }
}
