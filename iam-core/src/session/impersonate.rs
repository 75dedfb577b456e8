//! A user acts as another one, in a session of that one (`docs/http-api.md#acting-as-another`).

use chrono::TimeDelta;
use iam_model::audit::ResourceType;
use iam_model::change::SessionChange;
use iam_model::clock::Timestamp;
use iam_model::context::Impersonator;
use iam_model::error::{Conflict, Error, Forbidden, Result, Unauthenticated};
use iam_model::id::{SessionId, UserId};
use iam_model::mail::MailKind;
use iam_model::permission;
use iam_model::secret::AccessToken;
use iam_model::session::{EndReason, Impersonation, Session};
use iam_model::user::{UserKind, UserStatus};
use iam_model::validate::{Fields, Reason};
use serde::{Deserialize, Serialize};

use crate::access::Subject;
use crate::caller::Caller;
use crate::idempotency::Idempotency;
use crate::session::open::surplus;
use crate::session::service::end_sessions;
use crate::session::tokens::access_token;
use crate::session::{Sessions, refresh};

/// How a user wants to act as another one; see [`Sessions::impersonate`].
#[derive(Clone, Debug)]
pub struct NewImpersonation {
    /// Why: 1–500 characters, which the other user and the audit log see.
    pub reason: String,
    /// For how long: [one minute](Impersonation::MIN) to [one hour](Impersonation::MAX).
    pub duration: TimeDelta,
    /// Whether it can change nothing.
    pub read_only: bool,
}

/// A session in which a user acts as another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StartedImpersonation {
    /// The session.
    pub session_id: SessionId,
    /// Its user.
    pub user_id: UserId,
    /// The user who acts in it.
    pub actor_id: UserId,
    /// Why.
    pub reason: Reason,
    /// Whether it can change nothing.
    pub read_only: bool,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ends at the latest. Its access token expires then.
    pub expires_at: Timestamp,
}

/// A valid [`NewImpersonation`].
struct Checked {
    reason: Reason,
    duration: TimeDelta,
    is_read_only: bool,
}

impl NewImpersonation {
    fn validate(self) -> Result<Checked> {
        let mut fields = Fields::default();
        let reason = fields.check("reason", self.reason.parse());
        let (min, max) = (Impersonation::MIN, Impersonation::MAX);
        if self.duration < min || self.duration > max {
            fields.reject("seconds", format!("must be from {} to {}", min.num_seconds(), max.num_seconds()));
        }
        match reason {
            Some(reason) if fields.is_empty() => {
                Ok(Checked { reason, duration: self.duration, is_read_only: self.read_only })
            }
            _ => Err(fields.into_error().into()),
        }
    }
}

impl Sessions<'_> {
    /// Begins a session of another user, in which the caller acts as that user, and tells the user by mail. Returns it
    /// with its access token. It cannot be refreshed.
    ///
    /// Needs `impersonations:create` tenant-wide, a session that has authenticated within the last ten minutes, and
    /// everything that the user may do, all by standing rights. The last is asked for again at each request. The user
    /// is an ACTIVE person who holds no role with all permissions.
    ///
    /// The session is never fresh, and cannot make every change: see
    /// [`Change::check_impersonator`](iam_model::change::Change::check_impersonator). It ends with the caller's
    /// session. Of the sessions in which the caller acts as others, only as many go on as a user may have
    /// ([`Settings::max_sessions_of_user`](crate::Settings::max_sessions_of_user)).
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], also for a caller by an API key; [`Forbidden::NotImpersonable`],
    /// [`Forbidden::HigherRights`], [`Forbidden::Impersonator`] for a caller that acts as another user already;
    /// [`Error::Validation`] which names `reason` or `seconds`, [`Error::NotFound`], [`Conflict::UserInactive`],
    /// [`Conflict::UserNotActive`], [`Unauthenticated::NotFresh`].
    pub async fn impersonate(
        &self,
        caller: &Caller,
        user: UserId,
        new: NewImpersonation,
    ) -> Result<(StartedImpersonation, AccessToken)> {
        let (started, token) = self.impersonate_once(caller, user, new, None).await?;
        let token = token.ok_or_else(|| Error::internal("session", "a request that is not repeated has no token"))?;
        Ok((started, token))
    }

    /// Begins a session as [`impersonate`](Self::impersonate) does, at most once for an [idempotency
    /// key](crate::idempotency). `None` is for clients that may leave out the key. The token is `None` in the answer to
    /// a repeated request: only the first answer has it.
    ///
    /// # Errors
    ///
    /// Those of [`impersonate`](Self::impersonate), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn impersonate_once(
        &self,
        caller: &Caller,
        user: UserId,
        new: NewImpersonation,
        idempotency: Option<&Idempotency>,
    ) -> Result<(StartedImpersonation, Option<AccessToken>)> {
        let iam = self.0;
        caller.refuse_impersonator()?;
        let (actor, own) = caller.require_user()?;
        iam.standing(caller).rights().require(&permission::IMPERSONATIONS_CREATE)?;
        let new = new.validate()?;
        iam.refresh_keys().await?;
        let once = iam.once(caller, idempotency, &ResourceType::SESSION);
        let mut work = iam.begin(caller).await?;
        if let Some(started) = once.find(&mut work).await? {
            return Ok((started, None));
        }
        let Subject { user, grants, grantor, .. } =
            Subject::lock_by_standing(&mut work, user, &permission::IMPERSONATIONS_CREATE).await?;
        if user.id == actor || user.kind != UserKind::Human {
            return Err(Forbidden::NotImpersonable.into());
        }
        if user.status != UserStatus::Active {
            return Err(Conflict::UserNotActive.into());
        }
        let rights = grantor.ok_or_else(|| Error::internal("session", "the caller's rights were not locked"))?;
        work.require_to_act_as(&rights, &grants).await?;
        // The account and all sessions of the caller before its own one: every unit of work locks them in this order.
        work.reads().lock_user(actor).await?;
        let sessions = work.reads().lock_sessions_of(actor).await?;
        work.require_fresh().await?;
        let (own, others): (Vec<_>, Vec<_>) = sessions.into_iter().partition(|session| session.id == own);
        let own = own.into_iter().next().ok_or(Unauthenticated::InvalidToken)?;
        let now = work.now();
        let impersonation = Impersonation {
            by: Impersonator { user: actor, session: own.id, is_read_only: new.is_read_only },
            reason: new.reason,
        };
        let session = Session {
            id: iam.next_id(),
            tenant_id: user.tenant_id,
            user_id: user.id,
            ip_address: caller.context().ip_address,
            user_agent: caller.context().user_agent.clone(),
            methods: own.methods.clone(),
            // Its user has not authenticated: no service may take the session for fresh.
            authenticated_at: Timestamp::UNIX_EPOCH,
            created_at: now,
            last_used_at: now,
            expires_at: (now + new.duration).min(own.expires_at),
            // No token is issued with which it could be refreshed.
            refresh: refresh::start(&*iam.random).0,
            provider: None,
            impersonation: Some(impersonation.clone()),
        };
        let started = StartedImpersonation {
            session_id: session.id,
            user_id: user.id,
            actor_id: actor,
            reason: impersonation.reason,
            read_only: impersonation.by.is_read_only,
            created_at: session.created_at,
            expires_at: session.expires_at,
        };
        let attributes = iam.attribute_claims(&mut work, user.id).await?;
        let (token, _) = access_token(iam, &session, session.expires_at, attributes.as_ref(), now)?;
        let acting = others.into_iter().filter(|session| session.impersonator().is_some_and(|by| by.user == actor));
        let surplus = surplus(acting.collect(), iam.settings.max_sessions_of_user);
        end_sessions(&mut work, surplus, EndReason::Terminated).await?;
        work.apply(SessionChange::Impersonate { session, grants }).await?;
        once.keep(&mut work, &started).await?;
        iam.queue_notice(&mut work, MailKind::ImpersonationStarted, &user).await?;
        work.commit().await?;
        Ok((started, Some(token)))
    }
}
