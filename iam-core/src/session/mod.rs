//! Sessions: one for each login, kept alive by refresh tokens (`docs/http-api.md#sessions`).
//!
//! A store holds only sessions that have not ended. A session that ends is removed, and stays in the audit log.

mod impersonate;
mod login;
mod open;
#[cfg(feature = "passkeys")]
mod passkey;
mod refresh;
mod second_factor;
mod service;
mod step_up;
mod tokens;

pub use crate::guard::FactorProof;
pub use crate::session::impersonate::{NewImpersonation, StartedImpersonation};
pub use crate::session::login::Login;
pub use crate::session::service::Sessions;
pub use crate::session::step_up::{FRESH, StepUp};
pub use iam_model::change::SessionChange;
pub use iam_model::session::{EndReason, Impersonation, ProviderSession, RefreshState, Session, SpentToken};
pub use iam_model::store::{SessionDetails, SessionSnapshot, SessionStore, SessionTransaction};

pub(crate) use crate::session::login::{MAX_CANDIDATES, NO_TENANT, unknown_tenant};
pub(crate) use crate::session::open::{Proof, open_session};
pub(crate) use crate::session::second_factor::{begin_second_factor, refuse};
pub(crate) use crate::session::service::{end_all_sessions, end_begun, end_sessions_of};
pub(crate) use crate::session::step_up::require_proof_by_factor;

use std::time::Duration;

use iam_model::api_key::ApiKey;
use iam_model::assignment::{EffectivePermissions, Grant};
use iam_model::attribute::Attributes;
use iam_model::clock::Timestamp;
use iam_model::secret::{AccessToken, RefreshToken};
use iam_model::tenant::Tenant;
use iam_model::user::User;

/// The credential of a caller.
#[derive(Clone, Debug)]
pub enum AuthenticatedBy {
    /// The user has logged in.
    Session(Session),
    /// A program sends an API key of the user.
    ApiKey(ApiKey),
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
    /// Until when the session is not restricted, if its tenant requires a second factor and it has authenticated by
    /// none. Afterwards it can only be used to set one up, or to authenticate by one.
    pub enrol_by: Option<Timestamp>,
}

/// The caller with its tenant, its session or API key, and its grants; see [`Sessions::me`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Me {
    /// The caller.
    pub user: User,
    /// The attributes of the caller that it sees itself. `None` if the tenant shows none to persons, and for an API key.
    pub attributes: Option<Attributes>,
    /// The caller's tenant.
    pub tenant: Tenant,
    /// The caller's session or API key.
    pub by: AuthenticatedBy,
    /// The user who acts in the session as the caller; `None` if the caller itself does.
    pub impersonator: Option<User>,
    /// The caller's role assignments that have not expired. For an API key, those of its user that it has.
    pub grants: Vec<Grant>,
    /// The permissions that these give.
    pub permissions: EffectivePermissions,
    /// Until when the session is not restricted; see [`LoggedIn::enrol_by`].
    pub enrol_by: Option<Timestamp>,
}
