use serde_json::json;
use uuid::Uuid;

use crate::access::{GrantedRights, Until};
use crate::assignment::Grant;
use crate::audit::{ACTOR, Attribution, Record, ResourceType, action};
use crate::clock::{Timestamp, shown};
use crate::factor::AuthenticationMethod;
use crate::session::{EndReason, Impersonation, Session};

/// A change of sessions.
#[derive(Clone, Debug)]
pub enum SessionChange {
    /// A login succeeded: the session begins, and sets the user's last login.
    Start(Session),
    /// Another user begins to act as the user of the session, which has the [impersonation](Session::impersonation). It
    /// is no login of its user.
    Impersonate {
        /// The session.
        session: Session,
        /// The role assignments of its user, whose rights the other user gets.
        grants: Vec<Grant>,
    },
    /// A refresh token was exchanged: the session gets a new one and expires later.
    Refresh(Session),
    /// The refresh token that was exchanged last was presented again and got the same successor.
    RepeatRefresh(Session),
    /// The user of a session has authenticated again, or has set up its first factor in it.
    StepUp {
        /// The session after it.
        session: Session,
        /// The method of this proof.
        method: AuthenticationMethod,
    },
    /// Expired sessions are removed.
    Forget(Vec<Session>),
    /// Sessions end for one reason.
    End {
        /// The sessions that end.
        sessions: Vec<Session>,
        /// Why they end.
        reason: EndReason,
    },
}

impl SessionChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Start(session) => {
                let record = of(session, action::LOGIN).by(session).with("method", session.methods.to_string());
                vec![match &session.provider {
                    Some(provider) => record.with("providerId", provider.provider_id.to_string()),
                    None => record,
                }]
            }
            Self::Impersonate { session, .. } => {
                let record = of_impersonation(session, action::IMPERSONATION_STARTED);
                vec![record.with("expiresAt", shown(session.expires_at))]
            }
            Self::Refresh(session) => vec![of(session, action::TOKEN_REFRESH).by(session)],
            Self::RepeatRefresh(session) => {
                vec![of(session, action::TOKEN_REFRESH).by(session).with("repeated", true)]
            }
            Self::StepUp { session, method } => {
                vec![of(session, action::UPDATE).with("method", method.as_str())]
            }
            // No entry: the expiry of these sessions was known since their last refresh.
            Self::Forget(_) => Vec::new(),
            Self::End { sessions, reason } => sessions.iter().map(|session| ended(session, *reason)).collect(),
        }
    }

    pub(crate) fn granted_rights(&self, now: Timestamp) -> Vec<GrantedRights<'_>> {
        match self {
            // At each request, it is asked again what the user may do then. So nothing outlives this moment.
            Self::Impersonate { grants, .. } => {
                let effective = grants.iter().filter(|grant| grant.is_effective(now));
                effective.map(|grant| GrantedRights { until: Until::Moment(now), ..GrantedRights::of(grant) }).collect()
            }
            // A session has the rights of its user, who proved its identity.
            Self::Start(_)
            | Self::Refresh(_)
            | Self::RepeatRefresh(_)
            | Self::StepUp { .. }
            | Self::Forget(_)
            | Self::End { .. } => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Start(_) | Self::Impersonate { .. } => Vec::new(),
            // The session expires later. A cached session that seems to have expired is read again.
            Self::Refresh(_) | Self::RepeatRefresh(_) => Vec::new(),
            // A factor ends the restriction of the session. The store is always asked when it has authenticated.
            Self::StepUp { session, .. } => vec![session.id.into()],
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
    /// Attributes the record to the session's user, because the caller is still anonymous.
    fn by(self, session: &Session) -> Self {
        self.attributed(Attribution::User(session.user_id))
    }
}

/// A record about a session in which another user acts. It names both, and why.
fn of_impersonation(session: &Session, action: &'static str) -> Record {
    let record = of(session, action).by(session);
    let Some(Impersonation { by, reason }) = &session.impersonation else { return record };
    record.with(ACTOR, json!(by.user)).with("reason", reason.as_str()).with("readOnly", by.is_read_only)
}

fn ended(session: &Session, reason: EndReason) -> Record {
    if session.impersonation.is_some() {
        let record = of_impersonation(session, action::IMPERSONATION_ENDED).with("cause", reason.as_str());
        return record.naming_person("endedBy");
    }
    let record = of(session, action::LOGOUT).with("targetUserId", json!(session.user_id));
    match reason {
        EndReason::Logout => record,
        // The caller is anonymous. Only the token identifies the user.
        EndReason::TokenReuse => record.by(session).with("reason", reason.as_str()),
        EndReason::ProviderLogout => {
            let provider = session.provider.as_ref().map(|by| by.provider_id.to_string());
            record.with("reason", reason.as_str()).with("providerId", json!(provider))
        }
        _ => record.with("reason", reason.as_str()),
    }
}
