use iam_model::access::Coverage;
use iam_model::assignment::{EffectivePermissions, Grant};
use iam_model::audit::ResourceType;
use iam_model::change::{ChallengeChange, LinkChange, SessionChange};
use iam_model::clock::Timestamp;
use iam_model::context::{Actor, Impersonator, RequestContext};
use iam_model::error::{Error, Forbidden, Result, Unauthenticated};
use iam_model::id::{ApiKeyId, SessionId, TenantId, UserId};
use iam_model::link::LinkPurpose;
use iam_model::permission;
use iam_model::secret::RefreshToken;
use iam_model::session::{EndReason, Session};
use iam_model::store::SessionDetails;
use iam_model::tenant::TenantStatus;
use iam_model::user::User;
use iam_model::validate::Fields;

use crate::access::{Subject, require_visible};
use crate::caller::Caller;
use crate::distinct::distinct;
use crate::engine::{Engine, UnitOfWork};
use crate::link::{OF_USERS, end_new_address};
use crate::session::refresh::{ParsedRefreshToken, RefreshOutcome};
use crate::session::tokens::tokens_for;
use crate::session::{AuthenticatedBy, Me, Tokens, refresh};

/// Begins, refreshes, lists and ends sessions; see [`Iam::sessions`](crate::iam::Iam::sessions).
///
/// A login begins a session and returns two tokens: the access token for
/// [`Iam::authenticate`](crate::iam::Iam::authenticate), and the refresh token, which is exchanged once for the next
/// pair. A refresh token that is presented again later ends the session, because it was probably stolen.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::session::Login;
///
/// let context = RequestContext::default();
/// let login = Login { email: "ada@example.com".into(), password: "Passw0rd!".into(), tenant: None };
/// let login = iam.sessions().login(&context, login).await?;
/// let tokens = iam.sessions().refresh(&context, &login.tokens.refresh).await?;
///
/// let caller = iam.authenticate(tokens.access.expose(), context.clone()).await?;
/// assert_eq!(iam.sessions().me(&caller).await?.user.email.as_str(), "ada@example.com");
/// assert_eq!(iam.sessions().list(&caller, login.user.id).await?.len(), 2); // the registration began one, too
///
/// iam.sessions().logout(&caller).await?;
/// assert!(iam.authenticate(tokens.access.expose(), context).await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Sessions<'a>(pub(crate) &'a Engine);

impl Sessions<'_> {
    /// Exchanges a refresh token for a new pair of tokens.
    ///
    /// For ten seconds, the spent token may be presented again and gets the same successor. So a lost answer or two
    /// concurrent browser tabs do no harm. Presenting a token that was spent earlier ends the session.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::RefreshToken`]; [`Error::Validation`] when the token is empty.
    pub async fn refresh(&self, context: &RequestContext, token: &RefreshToken) -> Result<Tokens> {
        let iam = self.0;
        let mut fields = Fields::default();
        fields.require("refreshToken", token.expose());
        fields.finish()?;
        let presented = ParsedRefreshToken::parse(token).ok_or(Unauthenticated::RefreshToken)?;
        let session = iam.store.session(presented.tenant, presented.session).await?;
        if !session.is_some_and(|session| refresh::is_genuine(&session.refresh, &presented)) {
            // Refused without a lock: a client with invented tokens must not block other writers.
            return Err(Unauthenticated::RefreshToken.into());
        }
        let snapshot = iam.session_snapshot(presented.tenant, presented.session, iam.now()).await?;
        if snapshot.is_none_or(|snapshot| snapshot.tenant_status != TenantStatus::Active) {
            return Err(Unauthenticated::RefreshToken.into());
        }
        iam.refresh_keys().await?;
        let caller = Caller::anonymous(presented.tenant, context.clone());
        let mut work = iam.begin(&caller).await?;
        let session = work.reads().lock_session(presented.session).await?;
        let now = work.now();
        let session = session.filter(|session| session.is_live(now)).ok_or(Unauthenticated::RefreshToken)?;
        let times = (now, iam.settings.refresh_grace);
        let outcome = refresh::exchange(&session.refresh, &presented, times, &iam.keys.refresh, &*iam.random);
        let (session, change, secret) = match outcome {
            RefreshOutcome::Exchange(refresh, secret) => {
                let expires_at = iam.settings.session_expiry(session.created_at, now);
                let session = Session { refresh, last_used_at: now, expires_at, ..session };
                (session.clone(), SessionChange::Refresh(session), secret)
            }
            RefreshOutcome::Repeat(secret) => (session.clone(), SessionChange::RepeatRefresh(session), secret),
            RefreshOutcome::Unknown => return Err(Unauthenticated::RefreshToken.into()),
            RefreshOutcome::Reused => {
                // Another unit of work, because sessions are locked after what else ends with them.
                drop(work);
                let mut work = iam.begin(&caller).await?;
                let id = session.id;
                end_sessions_of(&mut work, session.user_id, EndReason::TokenReuse, |session| session.id == id).await?;
                work.commit().await?;
                return Err(Unauthenticated::RefreshToken.into());
            }
        };
        let attributes = iam.attribute_claims(&mut work, session.user_id).await?;
        let tokens = tokens_for(iam, &session, &secret, attributes.as_ref(), now)?;
        work.apply(change).await?;
        work.commit().await?;
        Ok(tokens)
    }

    /// Ends the caller's session.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotAUser`](iam_model::error::Forbidden::NotAUser) for trusted code.
    pub async fn logout(&self, caller: &Caller) -> Result<()> {
        let (user, session) = caller.require_user()?;
        let mut work = self.0.begin(caller).await?;
        work.invalidate(session);
        // First, so that it does not begin to act as another one meanwhile.
        work.reads().lock_user(user).await?;
        let sessions = work.reads().lock_session_with_impersonations(session).await?;
        end_selected(&mut work, (user, sessions), EndReason::Logout, |_| true).await?;
        work.commit().await
    }

    /// Ends all of the caller's sessions.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::NotFresh`], [`Forbidden::NotAUser`](iam_model::error::Forbidden::NotAUser) for trusted code.
    pub async fn logout_all(&self, caller: &Caller) -> Result<()> {
        let (user, _) = caller.require_user()?;
        self.0.require_fresh(caller).await?;
        let mut work = self.0.begin(caller).await?;
        work.invalidate(user);
        end_sessions_of(&mut work, user, EndReason::LogoutAll, |_| true).await?;
        work.commit().await
    }

    /// Ends all sessions of a user. The caller may always end its own. For another user it needs `sessions:delete`. If
    /// it has that permission only in organizations, the user must have its home there and hold no role elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`] for an unknown user, [`Unauthenticated::NotFresh`].
    pub async fn logout_user(&self, caller: &Caller, user: UserId) -> Result<()> {
        let is_own = caller.is_in_session_of(user);
        if !is_own {
            self.0.rights(caller).require_anywhere(&permission::SESSIONS_DELETE)?;
        }
        // A missing permission is told before a missing authentication.
        let freshness = self.0.require_fresh(caller).await;
        let mut work = self.0.begin(caller).await?;
        if !is_own {
            Subject::lock_in_any_status(&mut work, user, &permission::SESSIONS_DELETE, false).await?;
        }
        freshness?;
        work.invalidate(user);
        end_sessions_of(&mut work, user, EndReason::LogoutAll, |_| true).await?;
        work.commit().await
    }

    /// Ends all sessions of the caller's tenant, and returns how many. Only trusted code may call this, for instance
    /// after a key that signs access tokens has leaked together with the database. An interrupted call can be
    /// repeated.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`](iam_model::error::Forbidden::NotTrusted) for a user.
    pub async fn end_all(&self, caller: &Caller) -> Result<u64> {
        if !matches!(caller.actor(), Actor::System { .. }) {
            return Err(Forbidden::NotTrusted.into());
        }
        end_all_sessions(self.0, caller, EndReason::Terminated).await
    }

    /// Ends all sessions of the user with this e-mail, and returns how many. Only trusted code may call this.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`](iam_model::error::Forbidden::NotTrusted) for a user, [`Error::Validation`] naming
    /// `email`, [`Error::NotFound`].
    pub async fn end_all_with_email(&self, caller: &Caller, email: &str) -> Result<u64> {
        let user = self.0.user_with_email(caller, email).await?.id;
        let mut work = self.0.begin(caller).await?;
        work.invalidate(user);
        let ended = end_sessions_of(&mut work, user, EndReason::Terminated, |_| true).await?;
        work.commit().await?;
        Ok(ended)
    }

    /// Returns the live sessions of a user, newest first. The caller may always list its own. For another user it
    /// needs `sessions:read`. If it has that permission only in organizations, the user must have its home there and
    /// hold no role elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`] for an unknown user.
    pub async fn list(&self, caller: &Caller, user: UserId) -> Result<Vec<Session>> {
        require_visible(self.0, caller, user, &permission::SESSIONS_READ, Coverage::Whole).await?;
        let _turn = self.0.long_read(caller).await?;
        let now = self.0.now();
        let mut sessions = self.0.store.sessions_of(caller.tenant(), user).await?;
        sessions.retain(|session| session.is_live(now));
        Ok(sessions)
    }

    /// Returns the same as [`list`](Self::list), with the users who act in these sessions, if others than their own do.
    ///
    /// # Errors
    ///
    /// Those of [`list`](Self::list).
    pub async fn list_with_actors(&self, caller: &Caller, user: UserId) -> Result<Vec<(Session, Option<User>)>> {
        let sessions = self.list(caller, user).await?;
        let actors = distinct(sessions.iter().filter_map(|session| session.impersonator().map(|by| by.user)));
        let actors = match actors.as_slice() {
            [] => Vec::new(),
            actors => self.0.store.users_by_id(caller.tenant(), actors).await?,
        };
        let with_actor = |session: Session| {
            let by = session.impersonator().map(|by| by.user);
            let actor = actors.iter().find(|actor| Some(actor.id) == by).cloned();
            (session, actor)
        };
        Ok(sessions.into_iter().map(with_actor).collect())
    }

    /// Ends one session. The caller may always end its own, and one in which it acts as another user. For another
    /// session of another user it needs `sessions:delete`; without it, the answer does not reveal whether the session
    /// exists. If it has that permission only in organizations, the user must have its home there and hold no role
    /// elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Unauthenticated::NotFresh`] for another session than that of the
    /// caller and those in which it acts as another user.
    pub async fn terminate(&self, caller: &Caller, id: SessionId) -> Result<()> {
        let session = self.0.store.session(caller.tenant(), id).await?;
        let impersonator = session.as_ref().and_then(Session::impersonator);
        let is_itself = caller.impersonator().is_none();
        let acts_in_it = is_itself && impersonator.is_some_and(|by| caller.is_in_session_of(by.user));
        let is_current = caller.require_user().is_ok_and(|(_, current)| current == id);
        // A missing permission is told before a missing authentication.
        let freshness = if is_current || acts_in_it { Ok(()) } else { self.0.require_fresh(caller).await };
        let not_found = || Error::NotFound(ResourceType::SESSION);
        let user = session.map(|session| session.user_id);
        let is_own = acts_in_it || user.is_some_and(|user| caller.is_in_session_of(user));
        if !is_own {
            self.0.rights(caller).require_anywhere(&permission::SESSIONS_DELETE)?;
        }
        let mut work = self.0.begin(caller).await?;
        work.invalidate(id);
        let user = user.ok_or_else(not_found)?;
        if !is_own {
            let subject = Subject::lock_in_any_status(&mut work, user, &permission::SESSIONS_DELETE, false);
            subject.await.map_err(|error| match error {
                Error::NotFound(_) => not_found(),
                other => other,
            })?;
        }
        // A user who acts as another one begins nothing there that would have to end with the session.
        let ended = if is_current || impersonator.is_some() {
            work.reads().lock_user(user).await?;
            let sessions = work.reads().lock_session_with_impersonations(id).await?;
            end_selected(&mut work, (user, sessions), EndReason::Terminated, |_| true).await?
        } else {
            end_sessions_of(&mut work, user, EndReason::Terminated, |session| session.id == id).await?
        };
        if ended == 0 {
            return Err(not_found());
        }
        freshness?;
        work.commit().await
    }

    /// Returns the caller with its tenant, its session or API key, and its grants.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotAUser`](iam_model::error::Forbidden::NotAUser) for trusted code.
    pub async fn me(&self, caller: &Caller) -> Result<Me> {
        if let Actor::ApiKey { key, .. } = *caller.actor() {
            return self.me_by_key(caller, key).await;
        }
        let (_, id) = caller.require_user()?;
        let now = self.0.now();
        // A session that is missing here has ended since the token was checked.
        let gone = || Error::from(Unauthenticated::InvalidToken);
        let details = self.0.store.session_details(caller.tenant(), id).await?.ok_or_else(gone)?;
        let snapshot = self.0.session_snapshot(caller.tenant(), id, now).await?.ok_or_else(gone)?;
        let SessionDetails { session, user, tenant } = details;
        let (grants, permissions) = self.held(tenant.id, &snapshot.grants, now).await?;
        let impersonator = match session.impersonator() {
            Some(by) => Some(self.0.store.user(tenant.id, by.user).await?.ok_or_else(gone)?),
            None => None,
        };
        let rules = tenant.attribute_rules();
        let attributes = match rules.are_seen_by_persons() {
            true => Some(rules.seen_by_person(&self.0.store.attributes(tenant.id, user.id.into()).await?)),
            false => None,
        };
        let (by, enrol_by) = (AuthenticatedBy::Session(session), snapshot.enrol_by);
        Ok(Me { user, attributes, tenant, by, impersonator, grants, permissions, enrol_by })
    }

    async fn me_by_key(&self, caller: &Caller, id: ApiKeyId) -> Result<Me> {
        let (iam, tenant, now) = (self.0, caller.tenant(), self.0.now());
        // A key that is missing here was revoked since it was verified.
        let gone = || Error::from(Unauthenticated::ApiKey);
        let snapshot = iam.api_key_snapshot(tenant, id).await?.ok_or_else(gone)?;
        let user = iam.store.user(tenant, snapshot.key.user_id).await?.ok_or_else(gone)?;
        let tenant = iam.store.tenant(tenant).await?.ok_or_else(gone)?;
        let (grants, permissions) = self.held(tenant.id, &snapshot.grants, now).await?;
        let by = AuthenticatedBy::ApiKey(snapshot.key.clone());
        // A key of the user may not do what the user may do to itself.
        Ok(Me { user, attributes: None, tenant, by, impersonator: None, grants, permissions, enrol_by: None })
    }

    /// Returns the assignments that have not expired, with their permissions. Many are put together beside the async
    /// threads.
    async fn held(
        &self,
        tenant: TenantId,
        grants: &[Grant],
        now: Timestamp,
    ) -> Result<(Vec<Grant>, EffectivePermissions)> {
        let grants: Vec<Grant> = grants.iter().filter(|grant| grant.assignment.is_live(now)).cloned().collect();
        let patterns: usize = grants.iter().map(|grant| grant.role.permissions.iter().count()).sum();
        let held = move || {
            let permissions = EffectivePermissions::at(now, &grants);
            (grants, permissions)
        };
        if patterns <= ADDED_AT_ONCE { Ok(held()) } else { self.0.compute(tenant, held).await }
    }
}

/// The number of permissions of assignments that are put together on an async thread.
const ADDED_AT_ONCE: usize = 5_000;

/// The maximum number of sessions of a tenant that end in one unit of work.
const ENDED_AT_ONCE: u32 = 500;

/// Ends all sessions of the caller's tenant, and the logins and links that a thief of one of them may have begun; see
/// [`end_sessions_of`]. Also ends the links that verify an address, set a new password or log in, and returns how many
/// sessions have ended. The permission must be checked before.
///
/// Challenges end first, so that none of them begins another session, and links last, so that no session asks for
/// another one. Each is a unit of work of its own, because it locks rows of many users.
pub(crate) async fn end_all_sessions(iam: &Engine, caller: &Caller, reason: EndReason) -> Result<u64> {
    let mut work = iam.begin(caller).await?;
    work.apply(ChallengeChange::EndAllOfTenant).await?;
    work.commit().await?;
    let mut ended = 0;
    loop {
        let mut work = iam.begin(caller).await?;
        let sessions = work.reads().lock_sessions(ENDED_AT_ONCE).await?;
        if sessions.is_empty() {
            break;
        }
        ended += end_sessions(&mut work, sessions, reason).await?;
        work.commit().await?;
    }
    for purpose in OF_USERS {
        let mut work = iam.begin(caller).await?;
        work.apply(LinkChange::EndAll { purpose }).await?;
        work.commit().await?;
    }
    Ok(ended)
}

/// Ends the sessions of a user that `ends` selects, and the logins and links that a thief of one of them may have
/// begun. Returns how many have ended. Every session that ends otherwise than by its own logout, or to make room for
/// another one, ends here.
///
/// The account is locked before all else, as in every unit of work that locks challenges, links and sessions of a user.
/// So these units of work cannot deadlock.
pub(crate) async fn end_sessions_of(
    work: &mut UnitOfWork<'_>,
    user: UserId,
    reason: EndReason,
    ends: impl Fn(&Session) -> bool + Send,
) -> Result<u64> {
    let Some(user) = work.reads().lock_user(user).await? else { return Ok(0) };
    match reason {
        // A login that waits for a factor fails, and says that the user is suspended.
        EndReason::UserSuspended => end_new_address(work, &user).await?,
        _ => end_begun(work, &user).await?,
    }
    let sessions = work.reads().lock_sessions_of(user.id).await?;
    end_selected(work, (user.id, sessions), reason, ends).await
}

/// Ends those of these sessions of a user that `ends` selects, and returns how many. Those in which the user acts as
/// another one because of them end too.
pub(super) async fn end_selected(
    work: &mut UnitOfWork<'_>,
    (user, sessions): (UserId, Vec<Session>),
    reason: EndReason,
    ends: impl Fn(&Session) -> bool + Send,
) -> Result<u64> {
    let (own, acting): (Vec<_>, Vec<_>) = sessions.into_iter().partition(|session| session.user_id == user);
    let ending: Vec<Session> = own.into_iter().filter(ends).collect();
    let is_over = |by: Impersonator| ending.iter().any(|session| session.id == by.session);
    let acting = acting.into_iter().filter(|session| session.impersonator().is_some_and(is_over)).collect();
    end_sessions(work, acting, EndReason::ActorSession).await?;
    end_sessions(work, ending, reason).await
}

/// Ends the logins and links that a person in a session of a user, or one who knows its password or reads its mail, may
/// have begun: logins that wait for a second factor, the link that would give the user another address, and the one
/// that logs in. The account must be locked before.
pub(crate) async fn end_begun(work: &mut UnitOfWork<'_>, user: &User) -> Result<()> {
    work.apply(ChallengeChange::EndAll(user.id)).await?;
    end_new_address(work, user).await?;
    work.apply(LinkChange::End { purpose: LinkPurpose::Login, subject: user.id.as_uuid() }).await
}

/// Ends sessions, and returns how many. Expired sessions are removed without an audit entry, and are not counted.
pub(super) async fn end_sessions(work: &mut UnitOfWork<'_>, sessions: Vec<Session>, reason: EndReason) -> Result<u64> {
    let now = work.now();
    let (live, over): (Vec<_>, Vec<_>) = sessions.into_iter().partition(|session| session.is_live(now));
    let ended = live.len() as u64;
    if !live.is_empty() {
        work.apply(SessionChange::End { sessions: live, reason }).await?;
    }
    if !over.is_empty() {
        work.apply(SessionChange::Forget(over)).await?;
    }
    Ok(ended)
}
