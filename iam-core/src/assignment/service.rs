use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::access::{Coverage, Rights, Until, VisibleScope};
use iam_model::access_request::MAX_GIVEN;
use iam_model::assignment::{
    Assignment, AssignmentFilter, Grant, GrantContext, GrantOrganization, ListedAssignment, MAX_BULK, RevokeReason,
};
use iam_model::audit::ResourceType;
use iam_model::change::{AssignmentChange, ChangedAssignment};
use iam_model::clock::{Timestamp, cut};
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::{AccessRequestId, AssignmentId, UserId};
use iam_model::page::{Page, PageRequest, check_limit};
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::store::GrantQuery;
use iam_model::tenant::QuotaKind;
use iam_model::user::{User, UserStatus};
use iam_model::validate::Fields;

use crate::access::require_visible;
use crate::assignment::NewAssignment;
use crate::assignment::ending::{keep_an_administrator, revoke};
use crate::assignment::input::{Naming, check_expiries};
use crate::assignment::of_groups;
use crate::assignment::references::{References, check_place};
use crate::caller::Caller;
use crate::distinct::distinct;
use crate::engine::{Engine, LockedRights, UnitOfWork, hold_quota, hold_user_quota};
use crate::idempotency::Idempotency;

/// Assigns roles to users, and revokes them; see [`Iam::assignments`](crate::iam::Iam::assignments).
///
/// A role is held tenant-wide, or in an organization and everything below it. It is held without expiry, or until a
/// moment. A caller can give only rights that it holds itself, there and for as long.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::assignment::NewAssignment;
///
/// let grace = iam.users().create(&ada, person("grace@example.com")).await?;
/// let member = iam.roles().by_name(&ada, "MEMBER").await?.ok_or("it is built in")?;
/// let new = NewAssignment { user: grace.id, role: member.id, organization: None, expires_at: None };
/// let assignment = iam.assignments().create(&ada, new).await?;
/// assert_eq!(iam.assignments().of_user(&ada, grace.id).await?.len(), 1);
///
/// iam.assignments().delete(&ada, assignment.id).await?; // takes effect with her next request
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Assignments<'a>(pub(crate) &'a Engine);

impl Assignments<'_> {
    /// Gives a role to a user, tenant-wide or in an organization. Needs `role-assignments:create` there, and
    /// all permissions of the role, there and for as long. If it needs what the caller holds by an access request, the
    /// assignment has the mark of that request, and ends with its elevation. If the user holds the role there by an
    /// access request, this elevation ends, and the assignment takes its place if it lasts as long.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation), [`Error::Validation`]
    /// for an expiry that is not in the future; [`Error::About`] with [`Error::NotFound`] for a user, a role or an
    /// organization that does not exist, with [`Error::Rule`] for a role of another scope; [`Conflict::UserInactive`],
    /// [`Conflict::OrganizationInactive`], [`Conflict::RoleHeld`].
    pub async fn create(&self, caller: &Caller, new: NewAssignment) -> Result<Assignment> {
        self.create_once(caller, new, None).await
    }

    /// Gives a role as [`create`](Self::create) does, at most once for an [idempotency key](crate::idempotency). `None`
    /// is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_once(
        &self,
        caller: &Caller,
        new: NewAssignment,
        idempotency: Option<&Idempotency>,
    ) -> Result<Assignment> {
        let made = self.assign(caller, &[new], Naming::One, idempotency).await?;
        made.into_iter().next().ok_or_else(|| Error::internal("role assignment", "none was made"))
    }

    /// Gives 1–500 roles to users, all or none. Each item is checked like a single assignment.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create), in an [`Error::About`] that names the item (`assignments[3].roleId`).
    pub async fn create_all(&self, caller: &Caller, new: &[NewAssignment]) -> Result<Vec<Assignment>> {
        self.create_all_once(caller, new, None).await
    }

    /// Gives roles as [`create_all`](Self::create_all) does, at most once for an [idempotency key](crate::idempotency).
    /// `None` is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create_all`](Self::create_all), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_all_once(
        &self,
        caller: &Caller,
        new: &[NewAssignment],
        idempotency: Option<&Idempotency>,
    ) -> Result<Vec<Assignment>> {
        self.assign(caller, new, Naming::Bulk, idempotency).await
    }

    async fn assign(
        &self,
        caller: &Caller,
        new: &[NewAssignment],
        naming: Naming,
        idempotency: Option<&Idempotency>,
    ) -> Result<Vec<Assignment>> {
        self.0.rights(caller).require_anywhere(&permission::ROLE_ASSIGNMENTS_CREATE)?;
        if !(1..=MAX_BULK).contains(&new.len()) {
            return Err(Error::field("assignments", format!("must have 1 to {MAX_BULK} items")));
        }
        let once = self.0.once(caller, idempotency, &ResourceType::ROLE_ASSIGNMENT);
        let mut work = self.0.begin(caller).await?;
        new.iter().for_each(|new| work.invalidate(new.user));
        if let Some(made) = once.find(&mut work).await? {
            return Ok(made);
        }
        let grantor = work.lock_rights().await?;
        let made = self.assign_in(&mut work, &grantor, new, naming).await?;
        once.keep(&mut work, &made).await?;
        work.commit().await?;
        Ok(made)
    }

    /// Gives roles as [`create_all`](Self::create_all) does, in a unit of work that has read the rights of its caller.
    pub(crate) async fn create_all_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        new: &[NewAssignment],
    ) -> Result<Vec<Assignment>> {
        self.assign_in(work, grantor, new, Naming::Bulk).await
    }

    async fn assign_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        new: &[NewAssignment],
        naming: Naming,
    ) -> Result<Vec<Assignment>> {
        grantor.rights().require_anywhere(&permission::ROLE_ASSIGNMENTS_CREATE)?;
        let (caller, now) = (work.caller(), work.now());
        let new: Vec<NewAssignment> =
            new.iter().map(|new| NewAssignment { expires_at: new.expires_at.map(cut), ..*new }).collect();
        let expiries = new.iter().enumerate().map(|(number, new)| (naming.field(number, "expiresAt"), new.expires_at));
        check_expiries(expiries, now)?;
        let roles = new.iter().map(|new| new.role);
        let references = References::load(work, roles, new.iter().filter_map(|new| new.organization)).await?;
        let users = work.reads().users_by_id(&distinct(new.iter().map(|new| new.user))).await?;
        let users: HashMap<UserId, User> = users.into_iter().map(|user| (user.id, user)).collect();
        let mut grants = Vec::with_capacity(new.len());
        for (number, new) in new.iter().enumerate() {
            let assignment = self.assignment(caller, new, now);
            let grant = grant(&references, &users, grantor.rights(), assignment, |name| naming.field(number, name))
                .map_err(|error| naming.in_item(number, error))?;
            grants.push(grant);
        }
        let (grants, refused) = work.mark_grants(grants).await?;
        if let Some((number, error)) = refused {
            return Err(naming.in_item(number, error));
        }
        // The unit of work checks all grants together. Here, the error names the item.
        let (grants, refused) = work.check_grants(grants).await?;
        if let Some((number, error)) = refused {
            return Err(naming.in_item(number, error));
        }
        check_given(work, &grants).await?;
        check_not_held(work, &grants, naming).await?;
        hold_user_quota(&self.0.settings.quota, work, &grants, |number, error| naming.in_item(number, error)).await?;
        hold_quota(&self.0.settings.quota, work, QuotaKind::Assignments, grants.len()).await?;
        let made: Vec<Assignment> = grants.iter().map(|grant| grant.assignment.clone()).collect();
        work.apply(AssignmentChange::Create(grants)).await?;
        Ok(made)
    }

    fn assignment(&self, caller: &Caller, new: &NewAssignment, now: Timestamp) -> Assignment {
        Assignment {
            id: self.0.next_id(),
            tenant_id: caller.tenant(),
            user_id: new.user,
            role_id: new.role,
            organization_id: new.organization,
            expires_at: new.expires_at,
            created_at: now,
            created_by: caller.user(),
            directory_group_id: None,
            access_request_id: None,
        }
    }

    /// A page of the assignments that pass a filter, newest first. Needs `role-assignments:read`. If this permission is
    /// held in organizations, the list is limited to them and everything below.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn list(
        &self,
        caller: &Caller,
        filter: &AssignmentFilter,
        page: PageRequest,
    ) -> Result<Page<ListedAssignment>> {
        let visible_scope = self.0.rights(caller).visible_scope(&permission::ROLE_ASSIGNMENTS_READ)?;
        let is_filtered = filter.user.is_some()
            || filter.role.is_some()
            || filter.organization.is_some()
            || filter.ends_before.is_some();
        let _turn = self.0.long_list(caller, is_filtered, &visible_scope, page).await?;
        Ok(self.0.store.assignments(caller.tenant(), &cut_end(filter), &visible_scope, page, self.0.now()).await?)
    }

    /// The assignments that expire within this time, earliest expiry first: at most `limit` (1–100). Needs
    /// `role-assignments:read`. If this permission is held in organizations, the result contains only the assignments
    /// in them and below.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] which names `limit`.
    pub async fn expiring(&self, caller: &Caller, within: TimeDelta, limit: u32) -> Result<Vec<ListedAssignment>> {
        let visible_scope = self.0.rights(caller).visible_scope(&permission::ROLE_ASSIGNMENTS_READ)?;
        let mut fields = Fields::default();
        check_limit(&mut fields, limit);
        fields.finish()?;
        let now = self.0.now();
        Ok(self.0.store.expiring_assignments(caller.tenant(), &visible_scope, now, now + within, limit).await?)
    }

    /// The assignments of a user that have not expired, newest first. A caller can always read its own assignments.
    /// Those of another user need `role-assignments:read`. If this permission is held in organizations, the result
    /// contains only the assignments in them and below.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`] for a user who does not exist or is outside the visible scope.
    pub async fn of_user(&self, caller: &Caller, user: UserId) -> Result<Vec<Grant>> {
        let visible_scope =
            require_visible(self.0, caller, user, &permission::ROLE_ASSIGNMENTS_READ, Coverage::Part).await?;
        let _turn = self.0.long_read(caller).await?;
        let now = self.0.now();
        let mut grants = self.0.store.grants_of(caller.tenant(), &[user]).await?;
        grants.retain(|grant| {
            let is_within = match &visible_scope {
                VisibleScope::Tenant => true,
                VisibleScope::Organizations(covered) => grant.is_within(covered),
            };
            grant.assignment.is_live(now) && is_within
        });
        Ok(grants)
    }

    /// Changes when an assignment expires; `None` removes the expiry. Needs `role-assignments:update` in the resource
    /// scope of the assignment. A later expiry also needs all permissions of the role, there and until then. What a
    /// group of a directory or an access request gives does not change here; but what the groups of a directory give
    /// ends no later than the rights of its service account, if these end earlier now. A patch that changes nothing
    /// records nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation), [`Error::NotFound`],
    /// [`Error::Validation`] for an expiry that is not in the future, [`Error::Rule`] for an expired assignment whose
    /// role has got another scope, [`Conflict::AssignmentOfGroup`], [`Conflict::AssignmentOfAccessRequest`],
    /// [`Conflict::LastAdministrator`], [`Conflict::TooManyGroupAssignments`].
    pub async fn update(&self, caller: &Caller, id: AssignmentId, patch: AssignmentPatch) -> Result<Assignment> {
        self.0.rights(caller).require_anywhere(&permission::ROLE_ASSIGNMENTS_UPDATE)?;
        let mut work = self.0.begin(caller).await?;
        let grantor = work.lock_rights().await?;
        let assignment = self.update_in(&mut work, &grantor, id, patch).await?;
        work.commit().await?;
        Ok(assignment)
    }

    /// Changes an assignment in a unit of work that has read the rights of its caller.
    pub(crate) async fn update_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        id: AssignmentId,
        patch: AssignmentPatch,
    ) -> Result<Assignment> {
        let grant = locate(work, id).await?;
        require(grantor.rights(), &permission::ROLE_ASSIGNMENTS_UPDATE, &grant)?;
        let before = &grant.assignment;
        let after =
            Assignment { expires_at: patch.expires_at.map_or(before.expires_at, |to| to.map(cut)), ..before.clone() };
        if after == *before {
            return Ok(after);
        }
        require_by_hand(&grant)?;
        if !grant.assignment.is_standing() {
            return Err(Conflict::AssignmentOfAccessRequest.into());
        }
        check_expiries([("expiresAt".to_owned(), after.expires_at)], work.now())?;
        if after.expires_at.is_some() {
            keep_an_administrator(work, before.user_id, std::slice::from_ref(&grant)).await?;
        }
        if Until::from(after.expires_at) > before.expires_at.into() {
            // The role may have got another scope while the assignment was expired.
            grant.role.scope.check(before.organization_id.is_some())?;
        }
        if !before.is_live(work.now()) {
            // It has not counted for the quota of the user.
            let renewed = Grant { assignment: after.clone(), ..grant.clone() };
            hold_user_quota(&self.0.settings.quota, work, &[renewed], |_, error| error).await?;
        }
        let is_shorter = Until::from(after.expires_at) < before.expires_at.into();
        work.apply(AssignmentChange::Update(vec![ChangedAssignment { grant, after: after.clone() }])).await?;
        if is_shorter {
            of_groups::shorten(work, &after).await?;
        }
        Ok(after)
    }

    /// Revokes a role. Needs `role-assignments:delete` in the resource scope of the assignment. With the assignment of
    /// an elevation, its access request ends, and so does everything that was given by it. If a group of a directory
    /// gives the role too, the user keeps it, and the assignment becomes one of that group. What only a group gives is
    /// not revoked here.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::AssignmentOfGroup`], [`Conflict::LastAdministrator`].
    pub async fn delete(&self, caller: &Caller, id: AssignmentId) -> Result<()> {
        self.0.rights(caller).require_anywhere(&permission::ROLE_ASSIGNMENTS_DELETE)?;
        let mut work = self.0.begin(caller).await?;
        let grantor = work.lock_rights().await?;
        self.delete_in(&mut work, &grantor, id).await?;
        work.commit().await
    }

    /// Revokes a role in a unit of work that has read the rights of its caller.
    pub(crate) async fn delete_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        id: AssignmentId,
    ) -> Result<()> {
        let grant = locate(work, id).await?;
        require(grantor.rights(), &permission::ROLE_ASSIGNMENTS_DELETE, &grant)?;
        require_by_hand(&grant)?;
        of_groups::end_or_hand_over(self.0, work, vec![grant], None, None, None).await
    }
}

/// A change of an assignment. A field that is `None` does not change.
#[derive(Clone, Copy, Debug, Default)]
pub struct AssignmentPatch {
    /// The new expiry; `Some(None)` for no expiry.
    pub expires_at: Option<Option<Timestamp>>,
}

/// Returns the grant of a new assignment, if the caller may make assignments there. `field` returns the name of a field
/// in errors.
fn grant(
    references: &References,
    users: &HashMap<UserId, User>,
    rights: Rights<'_>,
    new: Assignment,
    field: impl Fn(&str) -> String,
) -> Result<Grant> {
    let node = references.node(rights, &permission::ROLE_ASSIGNMENTS_CREATE, new.organization_id, &field)?;
    let role = references.role(new.role_id, &field)?;
    let user = users.get(&new.user_id).ok_or_else(|| Error::NotFound(ResourceType::USER).about(field("userId")))?;
    check_place(role, node, &field)?;
    if user.status == UserStatus::Inactive {
        return Err(Conflict::UserInactive.into());
    }
    Ok(Grant { assignment: new, role: Arc::clone(role), organization: node.map(GrantOrganization::from) })
}

/// Refuses more assignments by one access request than it may give.
async fn check_given(work: &mut UnitOfWork<'_>, grants: &[Grant]) -> Result<()> {
    let mark = |grant: &Grant| grant.assignment.access_request_id;
    for request in distinct(grants.iter().filter_map(mark)) {
        let given = work.reads().grants(GrantQuery::OfAccessRequests(&[request])).await?.len();
        let new = grants.iter().filter(|grant| mark(grant) == Some(request)).count();
        if given + new > MAX_GIVEN {
            return Err(Conflict::TooManyGivenByRequest(MAX_GIVEN).into());
        }
    }
    Ok(())
}

/// Refuses a role that the user already holds there, or that the input contains twice. Then removes the expired
/// assignments with which the new ones would conflict, and ends what the user holds there by an access request, if a
/// standing assignment that lasts as long takes its place. By a shorter one, a caller who may not revoke roles would end
/// the elevation.
async fn check_not_held(work: &mut UnitOfWork<'_>, grants: &[Grant], naming: Naming) -> Result<()> {
    let contexts: Vec<GrantContext> = grants.iter().map(|grant| grant.assignment.context()).collect();
    let now = work.now();
    let existing = work.reads().grants(GrantQuery::At(&contexts)).await?;
    let until = |grant: &Grant| Until::from(grant.assignment.expires_at);
    let standing = grants.iter().filter(|grant| grant.assignment.is_standing());
    let standing: HashMap<GrantContext, Until> =
        standing.map(|grant| (grant.assignment.context(), until(grant))).collect();
    let stays = |grant: &Grant| {
        let lasts = |new: &Until| *new >= until(grant);
        let is_replaced =
            !grant.assignment.is_standing() && standing.get(&grant.assignment.context()).is_some_and(lasts);
        grant.assignment.is_live(now) && !is_replaced
    };
    let (held, replaced): (Vec<_>, Vec<_>) = existing.into_iter().partition(stays);
    let mut taken: HashSet<GrantContext> = held.iter().map(|grant| grant.assignment.context()).collect();
    let ending: HashSet<Option<AccessRequestId>> = replaced
        .iter()
        .filter(|grant| !grant.assignment.is_standing())
        .map(|grant| grant.assignment.access_request_id)
        .collect();
    // What is given by an elevation cannot end it.
    let ends = |grant: &Grant| ending.contains(&grant.assignment.access_request_id);
    let refused = grants.iter().zip(&contexts).position(|(grant, context)| !taken.insert(*context) || ends(grant));
    if let Some(number) = refused {
        return Err(naming.in_item(number, Conflict::RoleHeld.into()));
    }
    revoke(work, replaced, RevokeReason::Ended).await
}

/// Returns a filter whose moment is as exact as the moments that stores keep, so that all stores compare it alike.
pub(super) fn cut_end(filter: &AssignmentFilter) -> AssignmentFilter {
    AssignmentFilter { ends_before: filter.ends_before.map(cut), ..filter.clone() }
}

async fn locate(work: &mut UnitOfWork<'_>, id: AssignmentId) -> Result<Grant> {
    work.invalidate(id);
    work.reads().grants(GrantQuery::One(id)).await?.pop().ok_or_else(not_found)
}

/// Requires the permission in the resource scope of a grant.
fn require(rights: Rights<'_>, permission: &Permission, grant: &Grant) -> Result<()> {
    rights.require_at(permission, grant.scope(), ResourceType::ROLE_ASSIGNMENT)
}

/// Refuses an assignment that a group of a directory gives: it would make the assignment again.
fn require_by_hand(grant: &Grant) -> Result<()> {
    if grant.assignment.directory_group_id.is_some() {
        return Err(Conflict::AssignmentOfGroup.into());
    }
    Ok(())
}

/// Checks that a caller with these rights may revoke an assignment, and that the tenant keeps an administrator.
pub(crate) async fn check_revocation(work: &mut UnitOfWork<'_>, rights: Rights<'_>, grant: &Grant) -> Result<()> {
    require(rights, &permission::ROLE_ASSIGNMENTS_DELETE, grant)?;
    keep_an_administrator(work, grant.assignment.user_id, std::slice::from_ref(grant)).await
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::ROLE_ASSIGNMENT)
}
