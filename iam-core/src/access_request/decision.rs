use iam_model::access_request::{
    AccessDecision, AccessRequest, AccessRequestStatus, AccessVerdict, ListedAccessRequest,
};
use iam_model::change::AccessRequestEvent;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::AccessRequestId;
use iam_model::mail::MailKind;
use iam_model::version::Precondition;

use crate::access_request::AccessRequests;
use crate::access_request::activation::{Basis, update};
use crate::access_request::closing::cancel;
use crate::access_request::found::Found;
use crate::access_request::input::valid_reason;
use crate::access_request::notice::tell_of_closing;
use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork, require_version};

impl AccessRequests<'_> {
    /// Approves a request of another user. With the last approval that it needs, it becomes ACTIVE in the same commit,
    /// or APPROVED if it is to begin later, and its user is told by mail. The reason has at most 500 characters; `None`
    /// or blank for no reason.
    ///
    /// Needs the approver role of the eligibility in the place of the request or above, or, if it has none,
    /// `access-requests:update` there: both by standing rights, and in a session that has authenticated recently, and
    /// not by a message to the address of the user. The precondition is about the
    /// [version](ListedAccessRequest::version) of the request with its role: a decision is about what the role permits.
    /// After a change of the role, the approval does not count any more, and the caller may give it again. Earlier
    /// approvals of users who may not decide about the request any more are removed from it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a request that the caller does not see, [`Error::Forbidden`],
    /// [`Forbidden::OwnRequest`](iam_model::error::Forbidden::OwnRequest),
    /// [`Forbidden::NotApprover`](iam_model::error::Forbidden::NotApprover),
    /// [`Forbidden::ApiKey`](iam_model::error::Forbidden::ApiKey),
    /// [`Forbidden::Impersonator`](iam_model::error::Forbidden::Impersonator),
    /// [`Forbidden::NotAUser`](iam_model::error::Forbidden::NotAUser) for trusted code,
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh),
    /// [`Unauthenticated::ByEmail`](iam_model::error::Unauthenticated::ByEmail), [`Error::Validation`] which names
    /// `reason`, [`Error::PreconditionFailed`], [`Conflict::AccessRequestNotPending`], [`Conflict::DecidedBefore`],
    /// [`Conflict::QuotaExceeded`]. [`Conflict::AccessRequestOutdated`] and [`Conflict::RoleHeld`] if the request
    /// cannot become effective any more: then it is CANCELLED.
    pub async fn approve(
        &self,
        caller: &Caller,
        id: AccessRequestId,
        reason: Option<&str>,
        precondition: &Precondition,
    ) -> Result<ListedAccessRequest> {
        self.decide(caller, id, (AccessVerdict::Approve, reason), precondition).await
    }

    /// Refuses a request of another user, which ends it: its user is told by mail. Needs what
    /// [`approve`](Self::approve) needs.
    ///
    /// # Errors
    ///
    /// Those of [`approve`](Self::approve), apart from those about a request that cannot become effective.
    pub async fn deny(
        &self,
        caller: &Caller,
        id: AccessRequestId,
        reason: Option<&str>,
        precondition: &Precondition,
    ) -> Result<ListedAccessRequest> {
        self.decide(caller, id, (AccessVerdict::Deny, reason), precondition).await
    }

    async fn decide(
        &self,
        caller: &Caller,
        id: AccessRequestId,
        (decision, reason): (AccessVerdict, Option<&str>),
        precondition: &Precondition,
    ) -> Result<ListedAccessRequest> {
        let iam = self.0;
        caller.refuse_impersonator()?;
        let (user_id, _) = caller.require_user()?;
        let reason = valid_reason(reason)?;
        let mut work = iam.begin(caller).await?;
        let found = Found::lock(&mut work, id).await?;
        found.require_decider()?;
        work.require_fresh_and_not_by_email().await?;
        require_version(precondition, found.version())?;
        let role_version = found.role_version();
        let (before, now) = (found.request, work.now());
        if before.status_at(now) != AccessRequestStatus::Pending {
            return Err(Conflict::AccessRequestNotPending.into());
        }
        if before.is_decided_by(user_id, role_version) {
            return Err(Conflict::DecidedBefore.into());
        }
        let own = AccessDecision { user_id, decision, reason, at: now, role_version };
        match decision {
            AccessVerdict::Deny => {
                let after = before.with_decision(own).closed(AccessRequestStatus::Denied, now, Some(user_id));
                work.apply(update(&before, after, AccessRequestEvent::Denied)).await?;
                tell_requester(iam, &mut work, &before, MailKind::AccessDenied).await?;
            }
            AccessVerdict::Approve => {
                let basis = match Basis::of(&mut work, &before).await? {
                    Ok(basis) => basis,
                    Err(obstacle) => {
                        cancel(&mut work, &before, obstacle.cause()).await?;
                        tell_of_closing(iam, &mut work, std::slice::from_ref(&before)).await?;
                        work.commit().await?;
                        return Err(obstacle.conflict().into());
                    }
                };
                let decided = basis.with_valid_approvals(&mut work, &before).await?.with_decision(own);
                approve(iam, &mut work, &before, decided, basis).await?;
            }
        }
        work.commit().await?;
        self.read(caller, id).await
    }
}

/// Writes an approval, which may be the last one.
async fn approve(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    before: &AccessRequest,
    decided: AccessRequest,
    basis: Basis,
) -> Result<()> {
    let now = work.now();
    if !decided.has_approvals(basis.role_version()) {
        return work.apply(update(before, decided, AccessRequestEvent::Approved)).await;
    }
    let approved = decided.approved(now, &basis.eligibility);
    if approved.starts_at.is_some_and(|start| start > now) {
        work.apply(update(before, approved, AccessRequestEvent::Approved)).await?;
    } else {
        basis.activate(iam, work, &approved, |active| update(before, active, AccessRequestEvent::Approved)).await?;
    }
    tell_requester(iam, work, before, MailKind::AccessApproved).await
}

/// Tells the user who has asked. To be called after everything else that takes a lock.
async fn tell_requester(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    request: &AccessRequest,
    kind: MailKind,
) -> Result<()> {
    let user = work.reads().users_by_id(&[request.requested_by]).await?.pop();
    let user = user.ok_or_else(|| Error::internal("access request", "its user is missing"))?;
    iam.queue_access_notice(work, kind, &user, request).await
}
