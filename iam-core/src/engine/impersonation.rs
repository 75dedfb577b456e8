//! Whether the user who acts in a session of another one may do so now (`docs/http-api.md#acting-as-another`).

use std::borrow::Cow;
use std::sync::Arc;

use iam_model::access::{Authority, Rights, Until};
use iam_model::assignment::Grant;
use iam_model::change::SessionChange;
use iam_model::clock::Timestamp;
use iam_model::context::{Impersonator, RequestContext};
use iam_model::error::{Error, Forbidden, Result, Unauthenticated};
use iam_model::id::{SessionId, TenantId, UserId};
use iam_model::session::EndReason;

use crate::cache::CachedSession;
use crate::caller::Caller;
use crate::engine::Engine;
use crate::engine::computing::{CHECKED_AT_ONCE, Computing};

/// A session that is accepted at this moment.
pub(crate) struct Admitted {
    pub(crate) session: Arc<CachedSession>,
    /// Whether the person in the session must first authenticate by a second factor.
    pub(crate) restriction: Result<(), Forbidden>,
}

/// Returns until when the holder of rights may act as the user with these role assignments, as [`Rights::act_as`] does.
/// A long comparison runs beside the async threads.
pub(super) async fn act_as(
    computing: &Computing,
    tenant: TenantId,
    rights: &Arc<Authority>,
    grants: &Arc<[Grant]>,
    now: Timestamp,
) -> Result<Until> {
    let patterns: usize = grants.iter().map(|grant| grant.role.permissions.iter().count()).sum();
    let is_short = patterns + rights.patterns() <= CHECKED_AT_ONCE;
    let (rights, grants) = (Arc::clone(rights), Arc::clone(grants));
    let compare = move || Rights::new(&rights, now).act_as(&grants);
    if is_short { compare() } else { computing.run(tenant, move |_| compare()).await? }
}

impl Engine {
    /// Checks that a session whose state was read is accepted now. Where another user acts in it, that user must be
    /// able to: its own session goes on, and it holds all rights of the user of this one. Otherwise this session ends.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::InvalidToken`].
    pub(crate) async fn admit(
        &self,
        (tenant, id, user): (TenantId, SessionId, UserId),
        session: Arc<CachedSession>,
        context: &RequestContext,
    ) -> Result<Admitted> {
        let now = self.now();
        if !session.admits(user, now) {
            return Err(Unauthenticated::InvalidToken.into());
        }
        let Some(by) = session.impersonator else {
            let restriction = session.require_factor(now);
            return Ok(Admitted { session, restriction });
        };
        if let Some(restriction) = self.restriction_of(tenant, &session, by).await? {
            return Ok(Admitted { session, restriction });
        }
        // What is cached may be older than what another replica has given to the user who acts.
        self.snapshots().invalidate(&[id.into(), by.session.into()]);
        let read = self.session_snapshot(tenant, id, now).await?.filter(|session| session.admits(user, now));
        if let Some(session) = read
            && let Some(restriction) = self.restriction_of(tenant, &session, by).await?
        {
            return Ok(Admitted { session, restriction });
        }
        self.end_impersonation(tenant, id, context).await?;
        Err(Unauthenticated::InvalidToken.into())
    }

    /// Returns whether the user who acts in a session of another one must first authenticate by a second factor. `None`
    /// if it may not act as that one now.
    async fn restriction_of(
        &self,
        tenant: TenantId,
        session: &Arc<CachedSession>,
        by: Impersonator,
    ) -> Result<Option<Result<(), Forbidden>>> {
        let now = self.now();
        let own = self.session_snapshot(tenant, by.session, now).await?;
        let Some(own) = own.filter(|own| own.impersonator.is_none() && own.admits(by.user, now)) else {
            return Ok(None);
        };
        if !session.is_covered_by(&own, now) {
            let rights = match own.authority.standing() {
                Cow::Borrowed(_) => Arc::clone(&own.authority),
                Cow::Owned(standing) => Arc::new(standing),
            };
            match act_as(&self.computing, tenant, &rights, &session.grants, now).await {
                Ok(until) => session.keep_covered(&own, until),
                Err(Error::Forbidden(_)) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(Some(own.require_factor(now)))
    }

    /// Ends a session in which a user acts who may not do so any more. In the log, the request that has found it stands
    /// for the end.
    async fn end_impersonation(&self, tenant: TenantId, id: SessionId, context: &RequestContext) -> Result<()> {
        let caller = Caller::anonymous(tenant, context.clone());
        let mut work = self.begin(&caller).await?;
        if let Some(session) = work.reads().lock_session(id).await? {
            work.apply(SessionChange::End { sessions: vec![session], reason: EndReason::ActorRights }).await?;
        }
        work.commit().await
    }
}
