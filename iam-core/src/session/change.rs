use serde_json::json;
use uuid::Uuid;

use super::Session;
use crate::audit::{Attribution, Record, ResourceType, action};

/// A change of sessions.
#[derive(Clone, Debug)]
pub enum SessionChange {
    /// A login succeeded: the session begins, and that is when its user logged in last.
    Start(Session),
    /// A refresh token was exchanged: the session has another one and lives longer.
    Refresh(Session),
    /// The token just spent was presented again and got the same answer.
    RepeatRefresh(Session),
    /// Sessions that expired are removed.
    Forget(Vec<Session>),
    /// Sessions end, for one reason.
    End {
        /// What ends.
        sessions: Vec<Session>,
        /// Why.
        reason: EndReason,
    },
}

/// Why sessions end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// The user logged out.
    Logout,
    /// The user logged out everywhere.
    LogoutAll,
    /// The user has another password, which it did not choose in this session.
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
}

words! {
    EndReason {
        Logout = "LOGOUT",
        LogoutAll = "LOGOUT_ALL",
        PasswordChange = "PASSWORD_CHANGE",
        UserSuspended = "USER_SUSPENDED",
        UserDeleted = "USER_DELETED",
        TokenReuse = "TOKEN_REUSE",
        Terminated = "TERMINATED",
        TenantSuspended = "TENANT_SUSPENDED",
    }
}

impl SessionChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Start(session) => vec![of(session, action::LOGIN).by(session).with("method", "password")],
            Self::Refresh(session) => vec![of(session, action::TOKEN_REFRESH).by(session)],
            Self::RepeatRefresh(session) => {
                vec![of(session, action::TOKEN_REFRESH).by(session).with("repeated", true)]
            }
            // When they would be over was known from their last refresh.
            Self::Forget(_) => Vec::new(),
            Self::End { sessions, reason } => sessions.iter().map(|session| ended(session, *reason)).collect(),
        }
    }

    pub(crate) fn touched(&self) -> Vec<Uuid> {
        match self {
            Self::Start(_) => Vec::new(),
            // It lives longer: what was read before is asked for again when it seems to be over.
            Self::Refresh(_) | Self::RepeatRefresh(_) => Vec::new(),
            Self::Forget(sessions) | Self::End { sessions, .. } => {
                sessions.iter().map(|session| session.id.into()).collect()
            }
        }
    }
}

fn of(session: &Session, action: &'static str) -> Record {
    Record::new(action, ResourceType::SESSION, session.id)
}

impl Record {
    /// Done by the session's user, who was not known as the caller yet.
    fn by(self, session: &Session) -> Self {
        self.attributed(Attribution::User(session.user_id))
    }
}

fn ended(session: &Session, reason: EndReason) -> Record {
    let record = of(session, action::LOGOUT).with("targetUserId", json!(session.user_id));
    match reason {
        EndReason::Logout => record,
        // The caller is known by the token alone, which is the user's.
        EndReason::TokenReuse => record.by(session).with("reason", reason.as_str()),
        _ => record.with("reason", reason.as_str()),
    }
}
