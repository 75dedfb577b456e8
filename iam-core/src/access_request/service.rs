use std::collections::HashMap;

use iam_model::access_request::{
    AccessRequest, AccessRequestFilter, AccessRequestStatus, KEPT_CLOSED, LAPSE, ListedAccessRequest, MAX_OPEN,
};
use iam_model::assignment::RevokeReason;
use iam_model::audit::ResourceType;
use iam_model::change::{AccessRequestChange, AccessRequestEvent};
use iam_model::clock::Timestamp;
use iam_model::eligibility::Eligibility;
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::id::{AccessRequestId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::mail::MailKind;
use iam_model::organization::{Organization, OrganizationSummary};
use iam_model::page::{Page, PageRequest};
use iam_model::permission;
use iam_model::role::Role;
use iam_model::user::User;
use iam_model::version::Version;

use crate::access_request::NewAccessRequest;
use crate::access_request::activation::{Basis, Obstacle, held, is_eligible, offered, update};
use crate::access_request::closing::{end, settle};
use crate::access_request::found::{Found, not_found, version_of};
use crate::access_request::input::{ValidRequest, valid_reason};
use crate::access_request::notice::{Told, tell_unless_own};
use crate::caller::Caller;
use crate::distinct::distinct;
use crate::engine::{Engine, UnitOfWork};
use crate::idempotency::Idempotency;

/// Asks for roles for a time, and decides about what others ask for; see
/// [`Iam::access_requests`](crate::iam::Iam::access_requests).
///
/// A user asks by an [eligibility](crate::eligibility). Others approve or refuse. What a request gives ends by itself,
/// and does not count for everything: see `docs/access-requests.md`.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::access_request::{AccessRequestStatus, NewAccessRequest};
/// use iam_core::eligibility::NewEligibility;
/// use iam_core::version::Precondition;
///
/// let grace = iam.users().create(&ada, person("grace@example.com")).await?;
/// let auditor = iam.roles().by_name(&ada, "AUDITOR").await?.ok_or("it is built in")?;
/// let eligibility = iam.eligibilities().create(&ada, NewEligibility::of_user(auditor.id, grace.id)).await?;
/// # use iam_core::session::Login;
/// # let login = Login { email: "grace@example.com".into(), password: "Passw0rd!".into(), tenant: None };
/// # let login = iam.sessions().login(&RequestContext::default(), login).await?;
/// # let grace = iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await?;
///
/// // Grace asks, in her session.
/// let (eligibility, reason) = (eligibility.id, "The yearly audit.".to_owned());
/// let new = NewAccessRequest { eligibility, seconds: Some(3_600), reason, ticket: None, starts_at: None };
/// let request = iam.access_requests().create(&grace, new).await?;
///
/// // Ada agrees, and Grace has the role for an hour.
/// let approved = iam.access_requests().approve(&ada, request.id, None, &Precondition::Exists).await?;
/// assert_eq!(approved.request.status, AccessRequestStatus::Active);
/// iam.access_requests().end(&grace, request.id, None).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct AccessRequests<'a>(pub(crate) &'a Engine);

impl AccessRequests<'_> {
    /// Asks for the role of an eligibility, and tells those who decide by mail: at most 20 of them. If the eligibility
    /// needs no approval, the request is ACTIVE at once, or APPROVED if it is to begin later, and the administrators of
    /// the tenant are told. Each of them gets at most three messages about what the user asks by the eligibility within
    /// an hour. One more waits, and stands for the others.
    ///
    /// Needs a session that has authenticated recently, of a user who is eligible.
    ///
    /// # Errors
    ///
    /// [`Forbidden::ApiKey`], [`Forbidden::NotAUser`] for trusted code, [`Forbidden::Impersonator`],
    /// [`Forbidden::NotEligible`]; [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh),
    /// [`Error::Validation`] which names every invalid field; [`Error::About`] `eligibilityId` with
    /// [`Error::NotFound`]; [`Conflict::AccessRequestOpen`], [`Conflict::TooManyAccessRequests`],
    /// [`Conflict::RoleHeld`], [`Conflict::QuotaExceeded`].
    pub async fn create(&self, caller: &Caller, new: NewAccessRequest) -> Result<AccessRequest> {
        self.create_once(caller, new, None).await
    }

    /// Asks as [`create`](Self::create) does, at most once for an [idempotency key](crate::idempotency). `None` is for
    /// clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_once(
        &self,
        caller: &Caller,
        new: NewAccessRequest,
        idempotency: Option<&Idempotency>,
    ) -> Result<AccessRequest> {
        let iam = self.0;
        caller.refuse_impersonator()?;
        let (user, _) = caller.require_user()?;
        let id = new.eligibility;
        let new = new.validate()?;
        let unknown = || Error::NotFound(ResourceType::ELIGIBILITY).about("eligibilityId");
        let known = iam.store.eligibility(caller.tenant(), id).await?.ok_or_else(unknown)?;
        let told = Told::about(iam, caller.tenant(), &known, user).await?;
        let once = iam.once(caller, idempotency, &ResourceType::ACCESS_REQUEST);
        let mut work = iam.begin(caller).await?;
        if let Some(made) = once.find(&mut work).await? {
            return Ok(made);
        }
        work.lock_rights().await?;
        let eligibility = work.reads().eligibility(id).await?.ok_or_else(unknown)?;
        let basis = self.admit(&mut work, user, eligibility, new.starts_at).await?;
        let request = self.request(caller, new, &basis, work.now())?;
        let request = begin(iam, &mut work, request, basis).await?;
        work.apply(AccessRequestChange::RemoveOldest { user, kept: KEPT_CLOSED }).await?;
        once.keep(&mut work, &request).await?;
        told.queue(iam, &mut work, &request).await?;
        work.commit().await?;
        Ok(request)
    }

    /// Checks that a user may ask by an eligibility now. Writes what has happened to its open requests by itself.
    async fn admit(
        &self,
        work: &mut UnitOfWork<'_>,
        user: UserId,
        eligibility: Eligibility,
        starts_at: Option<Timestamp>,
    ) -> Result<Basis> {
        let offered = offered(work, eligibility.role_id, eligibility.organization_id).await?;
        let offered = offered.ok_or(Forbidden::NotEligible)?;
        if !is_eligible(work, &eligibility, &offered, user).await? {
            return Err(Forbidden::NotEligible.into());
        }
        work.require_fresh().await?;
        let mut open = 0;
        for request in work.reads().open_access_requests_of(user).await? {
            if !settle(self.0, work, &request).await? {
                continue;
            }
            if request.eligibility_id == eligibility.id {
                return Err(Conflict::AccessRequestOpen.into());
            }
            open += 1;
        }
        if open >= MAX_OPEN {
            return Err(Conflict::TooManyAccessRequests.into());
        }
        let now = work.now();
        let start = starts_at.map_or(now, |wanted| wanted.max(now));
        let (is_held, replaced) = held(work, &eligibility, user, start).await?;
        if is_held {
            return Err(Conflict::RoleHeld.into());
        }
        Ok(Basis::new(eligibility, offered, replaced))
    }

    fn request(&self, caller: &Caller, new: ValidRequest, basis: &Basis, now: Timestamp) -> Result<AccessRequest> {
        let (user, _) = caller.require_user()?;
        let eligibility = &basis.eligibility;
        let (seconds, starts_at) = new.times(eligibility, now)?;
        Ok(AccessRequest {
            id: self.0.next_id(),
            tenant_id: caller.tenant(),
            eligibility_id: eligibility.id,
            role_id: eligibility.role_id,
            role_name: basis.role_name().clone(),
            organization_id: eligibility.organization_id,
            requested_by: user,
            reason: new.reason,
            ticket: new.ticket,
            seconds,
            approvals_needed: eligibility.approvals,
            approver_role_id: eligibility.approver_role_id,
            decisions: Vec::new(),
            status: AccessRequestStatus::Pending,
            assignment_id: None,
            starts_at,
            ends_at: None,
            lapses_at: now + LAPSE,
            created_at: now,
            closed_at: None,
            closed_by: None,
            close_reason: None,
            cancel_cause: None,
            version: Version::FIRST,
        })
    }

    /// Returns a page of the requests that the caller sees and that pass a filter, newest first: its own, those in the
    /// places in which it holds `access-requests:read`, and those about which it may decide. With
    /// [`to_decide`](AccessRequestFilter::to_decide), those about which it can decide now.
    ///
    /// # Errors
    ///
    /// [`Error::Overloaded`].
    pub async fn list(
        &self,
        caller: &Caller,
        filter: &AccessRequestFilter,
        page: PageRequest,
    ) -> Result<Page<ListedAccessRequest>> {
        let (iam, tenant, now) = (self.0, caller.tenant(), self.0.now());
        let scope = iam.access_request_scope(caller);
        let decides = caller.impersonator().is_none() && !scope.deciding.is_empty();
        if filter.to_decide && !decides {
            return Ok(Page { items: Vec::new(), total: 0, request: page });
        }
        let _turn = iam.long_read(caller).await?;
        let Page { items, total, request } = iam.store.access_requests(tenant, filter, &scope, page, now).await?;
        Ok(Page { items: self.listed(tenant, items).await?, total, request })
    }

    /// Returns a request: one of the caller's own, one in a place in which it holds `access-requests:read`, or one
    /// about which it may decide.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: AccessRequestId) -> Result<ListedAccessRequest> {
        let request = self.0.store.access_request(caller.tenant(), id).await?.ok_or_else(not_found)?;
        if !self.0.sees_access_request(caller, &request).await? {
            return Err(not_found());
        }
        self.listed(caller.tenant(), vec![request]).await?.pop().ok_or_else(not_found)
    }

    /// Ends the elevation of an ACTIVE request before its time, with everything that was given by it. The user who has
    /// asked may do it in a session; others need `role-assignments:delete` in the place of the request, and the user is
    /// told by mail. The reason has at most 500 characters; `None` or blank for no reason.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a request that the caller neither sees nor may end, [`Error::Forbidden`],
    /// [`Error::Validation`] which names `reason`, [`Conflict::AccessRequestNotActive`].
    pub async fn end(&self, caller: &Caller, id: AccessRequestId, reason: Option<&str>) -> Result<ListedAccessRequest> {
        let reason = valid_reason(reason)?;
        let mut work = self.0.begin(caller).await?;
        let found = Found::lock(&mut work, id).await?;
        found.require_own_or_permission(&permission::ROLE_ASSIGNMENTS_DELETE)?;
        if found.request.status_at(work.now()) != AccessRequestStatus::Active {
            return Err(Conflict::AccessRequestNotActive.into());
        }
        end(self.0, &mut work, &found.request, RevokeReason::Ended, reason.as_ref()).await?;
        tell_unless_own(self.0, &mut work, MailKind::AccessEnded, &found.request).await?;
        work.commit().await?;
        self.read(caller, id).await
    }

    /// Takes back a request that is PENDING or APPROVED. The user who has asked may do it in a session; others need
    /// `access-requests:update` in the place of the request, by standing rights, and the user is told by mail. The
    /// reason has at most 500 characters; `None` or blank for no reason.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a request that the caller does not see, [`Error::Forbidden`], [`Error::Validation`] which
    /// names `reason`, [`Conflict::AccessRequestNotWaiting`].
    pub async fn cancel(
        &self,
        caller: &Caller,
        id: AccessRequestId,
        reason: Option<&str>,
    ) -> Result<ListedAccessRequest> {
        let reason = valid_reason(reason)?;
        let mut work = self.0.begin(caller).await?;
        let found = Found::lock(&mut work, id).await?;
        found.require_own_or_standing(&permission::ACCESS_REQUESTS_UPDATE)?;
        match found.request.status_at(work.now()) {
            AccessRequestStatus::Pending | AccessRequestStatus::Approved => {}
            _ => return Err(Conflict::AccessRequestNotWaiting.into()),
        }
        let after = found.request.closed(AccessRequestStatus::Cancelled, work.now(), caller.user());
        let after = after.with_close_reason(reason.as_ref());
        work.apply(update(&found.request, after, AccessRequestEvent::Cancelled(None))).await?;
        tell_unless_own(self.0, &mut work, MailKind::AccessDenied, &found.request).await?;
        work.commit().await?;
        self.read(caller, id).await
    }

    /// Does what the last approval of a PENDING request that the caller sees would do. Only for trials.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Conflict::AccessRequestNotPending`], [`Conflict::AccessRequestOutdated`],
    /// [`Conflict::RoleHeld`], [`Conflict::QuotaExceeded`].
    pub(crate) async fn try_activation(&self, caller: &Caller, id: AccessRequestId) -> Result<()> {
        if self.0.trial.is_none() {
            return Err(Error::internal("access request", "only a trial activates it without approvals"));
        }
        let mut work = self.0.begin(caller).await?;
        let found = Found::lock(&mut work, id).await?;
        found.require_visible()?;
        let (request, now) = (found.request, work.now());
        if request.status_at(now) != AccessRequestStatus::Pending {
            return Err(Conflict::AccessRequestNotPending.into());
        }
        let basis = Basis::of(&mut work, &request).await?.map_err(Obstacle::conflict)?;
        let approved = request.approved(now, &basis.eligibility);
        let approve = |active| update(&request, active, AccessRequestEvent::Approved);
        basis.activate(self.0, &mut work, &approved, approve).await?;
        work.commit().await
    }

    /// Returns what keeps a PENDING or APPROVED request that the caller sees from becoming effective, as it is now.
    /// `None` if nothing does, and for a request that does not wait. Only for trials.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub(crate) async fn obstacle(&self, caller: &Caller, id: AccessRequestId) -> Result<Option<Obstacle>> {
        let mut work = self.0.begin(caller).await?;
        let found = Found::lock(&mut work, id).await?;
        found.require_visible()?;
        match found.request.status_at(work.now()) {
            AccessRequestStatus::Pending | AccessRequestStatus::Approved => {
                Ok(Basis::of(&mut work, &found.request).await?.err())
            }
            _ => Ok(None),
        }
    }

    /// Returns a request as it is after a change by the caller.
    pub(super) async fn read(&self, caller: &Caller, id: AccessRequestId) -> Result<ListedAccessRequest> {
        let request = self.0.store.access_request(caller.tenant(), id).await?.ok_or_else(not_found)?;
        self.listed(caller.tenant(), vec![request]).await?.pop().ok_or_else(not_found)
    }

    /// Returns requests as they are seen now, with the names of what they are about.
    async fn listed(&self, tenant: TenantId, found: Vec<AccessRequest>) -> Result<Vec<ListedAccessRequest>> {
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let (store, now) = (&self.0.store, self.0.now());
        let users = distinct(found.iter().flat_map(|request| people_of(request).chain([request.requested_by])));
        let users = store.users_by_id(tenant, &users).await?.into_iter().map(|user| (user.id, user));
        let users: HashMap<UserId, User> = users.collect();
        let roles = found.iter().flat_map(|request| [Some(request.role_id), request.approver_role_id]);
        let roles = distinct(roles.flatten());
        let roles = store.roles_by_id(tenant, &roles).await?.into_iter().map(|role| (role.id, role));
        let roles: HashMap<RoleId, Role> = roles.collect();
        let organizations = distinct(found.iter().filter_map(|request| request.organization_id));
        let organizations = store.lineages(tenant, &organizations).await?.into_iter().map(|found| (found.id, found));
        let organizations: HashMap<OrganizationId, Organization> = organizations.collect();
        let person = |id: UserId| Some((id, users.get(&id)?.summary()));
        let listed = |request: AccessRequest| {
            let role = roles.get(&request.role_id);
            let organization = request.organization_id.and_then(|id| organizations.get(&id));
            Some(ListedAccessRequest {
                user: users.get(&request.requested_by)?.summary(),
                role: role.map(Role::summary),
                role_version: role.map(|role| role.version),
                organization: organization
                    .map(|found| OrganizationSummary { id: found.id, name: found.name.to_string() }),
                approver_role: request.approver_role_id.and_then(|id| roles.get(&id)).map(Role::summary),
                people: distinct(people_of(&request)).into_iter().filter_map(person).collect(),
                version: version_of(&request, role),
                request: request.seen_at(now),
            })
        };
        Ok(found.into_iter().filter_map(listed).collect())
    }
}

/// The users who have decided about a request, and the one who has closed it.
fn people_of(request: &AccessRequest) -> impl Iterator<Item = UserId> {
    request.decisions.iter().map(|decision| decision.user_id).chain(request.closed_by)
}

/// Writes a new request: PENDING, or with what it gives if it needs no approval. A trial shows what it would give in
/// any case.
async fn begin(iam: &Engine, work: &mut UnitOfWork<'_>, request: AccessRequest, basis: Basis) -> Result<AccessRequest> {
    let is_trial = iam.trial.is_some();
    if request.approvals_needed > 0 && !is_trial {
        work.apply(AccessRequestChange::Create(Box::new(request.clone()))).await?;
        return Ok(request);
    }
    let now = work.now();
    let approved = request.approved(now, &basis.eligibility);
    if approved.starts_at.is_some_and(|start| start > now) && !is_trial {
        work.apply(AccessRequestChange::Create(Box::new(approved.clone()))).await?;
        return Ok(approved);
    }
    basis.activate(iam, work, &approved, |active| AccessRequestChange::Create(Box::new(active))).await
}
