use iam_model::access::{Authority, ResourceScope};
use iam_model::access_request::{AccessRequest, CancelCause};
use iam_model::assignment::{Grant, GrantContext, OfferedRole, RevokeReason};
use iam_model::change::{AccessRequestChange, AccessRequestEvent, AssignmentChange};
use iam_model::clock::Timestamp;
use iam_model::eligibility::Eligibility;
use iam_model::error::{Conflict, Result};
use iam_model::id::{OrganizationId, RoleId, UserId};
use iam_model::store::GrantQuery;
use iam_model::tenant::QuotaKind;
use iam_model::user::UserStatus;
use iam_model::validate::RoleName;
use iam_model::version::Version;

use crate::access_request::found::decides;
use crate::assignment::{References, revoke};
use crate::engine::{Engine, UnitOfWork, hold_quota, hold_user_quota};

/// What keeps a request from becoming effective, for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Its eligibility is gone, or expires before the role can be given.
    EligibilityEnded,
    /// Its eligibility allows less time now.
    TooLong {
        /// The seconds that it allows.
        at_most: u32,
    },
    /// Its eligibility needs more approvals now, or those of others.
    OtherDecisions,
    /// The role cannot be held there any more.
    RoleNotOffered,
    /// The user is not ACTIVE, or may not ask any more.
    NotEligible,
    /// The user holds the role there by other means.
    RoleHeld,
}

impl Obstacle {
    /// Why a request that meets it is cancelled.
    pub(super) fn cause(self) -> CancelCause {
        match self {
            Self::EligibilityEnded | Self::TooLong { .. } | Self::OtherDecisions | Self::RoleNotOffered => {
                CancelCause::Outdated
            }
            Self::NotEligible => CancelCause::NotEligible,
            Self::RoleHeld => CancelCause::RoleHeld,
        }
    }

    /// The conflict of a call by which a request is cancelled.
    pub(super) fn conflict(self) -> Conflict {
        match self {
            Self::RoleHeld => Conflict::RoleHeld,
            _ => Conflict::AccessRequestOutdated,
        }
    }
}

/// What a request needs to become effective, as it is now.
pub(super) struct Basis {
    pub(super) eligibility: Eligibility,
    offered: OfferedRole,
    /// Assignments of the same role there that give way to the new one.
    replaced: Vec<Grant>,
}

impl Basis {
    /// Checks what the last approval and the start of a request need: the eligibility still allows it, the user is
    /// ACTIVE and eligible, and does not hold the role there when it begins. Otherwise returns what keeps the request
    /// from that. To be called under the tenant's lock.
    pub(super) async fn of(work: &mut UnitOfWork<'_>, request: &AccessRequest) -> Result<Result<Self, Obstacle>> {
        let now = work.now();
        let eligibility = work.reads().eligibility(request.eligibility_id).await?;
        let live = eligibility.filter(|eligibility| eligibility.is_live(request.start_at(now)));
        let Some(eligibility) = live else { return Ok(Err(Obstacle::EligibilityEnded)) };
        if !request.is_allowed_by(&eligibility, now) {
            let is_too_long = request.seconds > eligibility.max_seconds;
            let at_most = Obstacle::TooLong { at_most: eligibility.max_seconds };
            return Ok(Err(if is_too_long { at_most } else { Obstacle::OtherDecisions }));
        }
        let Some(offered) = offered(work, eligibility.role_id, eligibility.organization_id).await? else {
            return Ok(Err(Obstacle::RoleNotOffered));
        };
        let users = work.reads().users_by_id(&[request.requested_by]).await?;
        let is_active = users.first().is_some_and(|user| user.status == UserStatus::Active);
        if !is_active || !is_eligible(work, &eligibility, &offered, request.requested_by).await? {
            return Ok(Err(Obstacle::NotEligible));
        }
        let (held, replaced) = held(work, &eligibility, request.requested_by, request.start_at(now)).await?;
        if held {
            return Ok(Err(Obstacle::RoleHeld));
        }
        Ok(Ok(Self { eligibility, offered, replaced }))
    }

    /// The present name of the role.
    pub(super) fn role_name(&self) -> &RoleName {
        &self.offered.role.name
    }

    /// The version of the role, for which approvals count.
    pub(super) fn role_version(&self) -> Option<Version> {
        Some(self.offered.role.version)
    }

    /// Returns a request without the approvals of users who may not decide about it any more: they are not ACTIVE, or
    /// have lost the approver role or the permission there. To be called under the tenant's lock.
    pub(super) async fn with_valid_approvals(
        &self,
        work: &mut UnitOfWork<'_>,
        request: &AccessRequest,
    ) -> Result<AccessRequest> {
        let scope = scope_of(&self.offered);
        let mut lost = Vec::new();
        for approver in request.approvers(self.role_version()) {
            if !decides(&work.rights_of(approver).await?, request, scope) {
                lost.push(approver);
            }
        }
        Ok(request.without_decisions_of(&lost))
    }

    /// Returns the basis of a new request, which was checked.
    pub(super) fn new(eligibility: Eligibility, offered: OfferedRole, replaced: Vec<Grant>) -> Self {
        Self { eligibility, offered, replaced }
    }

    /// Gives the role to the user of an APPROVED request, by the change that `change` makes of the request with its
    /// assignment. Returns that request. The elevation does not go beyond the present end of the eligibility.
    ///
    /// # Errors
    ///
    /// [`Conflict::QuotaExceeded`].
    pub(super) async fn activate(
        self,
        iam: &Engine,
        work: &mut UnitOfWork<'_>,
        approved: &AccessRequest,
        change: impl FnOnce(AccessRequest) -> AccessRequestChange,
    ) -> Result<AccessRequest> {
        let approved = approved.limited_by(&self.eligibility);
        let approved_by: Vec<UserId> = approved.approvers(self.role_version()).collect();
        // Who has given it is the last one who approved, also if it begins later.
        let given_by = approved_by.last().copied().unwrap_or(approved.requested_by);
        let offered = OfferedRole { expires_at: approved.ends_at, ..self.offered };
        let mut grant = offered.granted(iam.next_id(), (approved.requested_by, Some(given_by)), work.now());
        grant.assignment.access_request_id = Some(approved.id);
        // What gives way leaves its room, also in a trial, which does not remove it. Expired assignments count for the
        // tenant alone.
        let now = work.now();
        if !self.replaced.iter().any(|grant| grant.assignment.is_live(now)) {
            hold_user_quota(&iam.settings.quota, work, std::slice::from_ref(&grant), |_, error| error).await?;
        }
        if self.replaced.is_empty() {
            hold_quota(&iam.settings.quota, work, QuotaKind::Assignments, 1).await?;
        }
        revoke(work, self.replaced, RevokeReason::Ended).await?;
        let active = approved.active(grant.assignment.id);
        work.apply(change(active.clone())).await?;
        work.apply(AssignmentChange::Activate { grant: Box::new(grant), approved_by }).await?;
        Ok(active)
    }
}

/// Returns the role of an eligibility in its place; `None` if it cannot be held there any more.
pub(super) async fn offered(
    work: &mut UnitOfWork<'_>,
    role: RoleId,
    organization: Option<OrganizationId>,
) -> Result<Option<OfferedRole>> {
    let references = References::load(work, [role].into_iter(), organization.into_iter()).await?;
    Ok(references.offer_freely(role, organization))
}

/// Whether a user may ask by an eligibility, whose role is offered in its place.
pub(super) async fn is_eligible(
    work: &mut UnitOfWork<'_>,
    eligibility: &Eligibility,
    offered: &OfferedRole,
    user: UserId,
) -> Result<bool> {
    let grants = work.reads().grants(GrantQuery::OfUser(user)).await?;
    Ok(eligibility.is_for(user, &Authority::of(&grants), scope_of(offered), work.now()))
}

/// The place in which a role is offered.
fn scope_of(offered: &OfferedRole) -> ResourceScope<'_> {
    offered.organization.as_ref().map_or(ResourceScope::Tenant, ResourceScope::OfGrant)
}

/// Returns whether a user still holds the role of an eligibility in its place at the start of an elevation, and the
/// assignments of it that give way to the elevation now: those that have expired, and those that are given by another
/// elevation, which may end at any moment.
pub(super) async fn held(
    work: &mut UnitOfWork<'_>,
    eligibility: &Eligibility,
    user: UserId,
    start: Timestamp,
) -> Result<(bool, Vec<Grant>)> {
    let (role, organization, now) = (eligibility.role_id, eligibility.organization_id, work.now());
    let found = work.reads().grants(GrantQuery::At(&[GrantContext { user, role, organization }])).await?;
    let mut replaced = Vec::new();
    for grant in found {
        if !grant.assignment.is_live(now) || is_given_by_elevation(work, &grant).await? {
            replaced.push(grant);
        } else if grant.assignment.is_live(start) {
            return Ok((true, Vec::new()));
        }
    }
    Ok((false, replaced))
}

/// Whether an assignment was given by the rights of an elevation, and is not the elevation itself.
async fn is_given_by_elevation(work: &mut UnitOfWork<'_>, grant: &Grant) -> Result<bool> {
    let Some(request) = grant.assignment.access_request_id else { return Ok(false) };
    let request = work.reads().access_requests_by_id(&[request]).await?.pop();
    Ok(request.is_none_or(|request| request.assignment_id != Some(grant.assignment.id)))
}

/// The change of a request to its state after an event.
pub(super) fn update(before: &AccessRequest, after: AccessRequest, event: AccessRequestEvent) -> AccessRequestChange {
    AccessRequestChange::Update { before: Box::new(before.clone()), after: Box::new(after.changed()), event }
}
