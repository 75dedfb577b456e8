//! The role assignments that groups of directories give to their members (`docs/directories.md#what-a-group-gives`).
//!
//! A group gives a role in a place to a user if it is mapped to the role there, the user is a member, and no access
//! review has withheld the role since the user became one. An assignment names a group only while that group gives it.
//! A user who holds the role there by other means gets no second assignment from the group, which takes over when the
//! first one ends. What is held by an access request gives way at once.
//!
//! A group gives by the rights of the service account of its directory, or of an API key of the account if the directory
//! adds a member by it, and for no longer than the account holds them. Everything here happens under the tenant's lock.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use iam_model::access::Until;
use iam_model::assignment::{Assignment, Grant, GrantContext, OfferedRole, RevokeReason};
use iam_model::change::{AssignmentChange, ChangedAssignment, DirectoryGroupChange};
use iam_model::directory::DirectoryGroup;
use iam_model::error::{Conflict, Error, Forbidden, Result, Shortfall};
use iam_model::id::{DirectoryGroupId, DirectoryId, OrganizationId, UserId};
use iam_model::role::PlacedRole;
use iam_model::store::GrantQuery;
use iam_model::tenant::QuotaKind;
use iam_model::validate::Reason;

use crate::assignment::ending::{keep_another_administrator, revoke, revoke_saying};
use crate::engine::{Engine, LockedRights, UnitOfWork, hold_quota, hold_user_quota};

/// How many assignments begin and end at most by one change of groups. They are written and recorded in one
/// transaction, during which no other rights of the tenant change.
const MAX_CHANGED: usize = 5_000;

/// How many assignments are read, made or changed at once.
const AT_ONCE: usize = 500;

/// A group that gives roles, and by whose rights it gives them: those of the service account of its directory, or of a
/// key of the account.
pub(crate) struct Giver<'a> {
    pub(crate) group: DirectoryGroupId,
    pub(crate) rights: &'a LockedRights,
}

/// Returns what a group gives to a user by being mapped to a role.
pub(crate) fn context(user: UserId, grant: &PlacedRole) -> GrantContext {
    GrantContext { user, role: grant.role_id, organization: grant.organization_id }
}

/// Returns what a group gives to users by being mapped to roles.
pub(crate) fn contexts(users: &[UserId], grants: &[PlacedRole]) -> Vec<GrantContext> {
    users.iter().flat_map(|user| grants.iter().map(move |grant| context(*user, grant))).collect()
}

/// Returns these roles, each until the service account of a directory, or its key, holds all that it gives. `about` adds
/// the number of the role to an error.
///
/// # Errors
///
/// [`Forbidden::AccountEscalation`] for the first role that these rights do not cover.
pub(crate) async fn covered(
    work: &mut UnitOfWork<'_>,
    rights: &LockedRights,
    offered: Vec<OfferedRole>,
    about: impl Fn(usize, Error) -> Error,
) -> Result<Vec<OfferedRole>> {
    let held = work.held_until(rights, offered).await?;
    let covered = |(number, (offered, until)): (usize, (OfferedRole, Result<Until, Shortfall>))| match until {
        Ok(until) => Ok(OfferedRole { expires_at: until.moment(), ..offered }),
        Err(shortfall) => Err(about(number, Forbidden::AccountEscalation(shortfall).into())),
    };
    held.into_iter().enumerate().map(covered).collect()
}

/// Gives roles of a group, which the giver covers (see [`covered`]), to users who do not hold them yet. Returns how
/// many assignments begin.
///
/// # Errors
///
/// [`Conflict::TooManyGroupAssignments`], [`Conflict::QuotaExceeded`].
pub(crate) async fn begin(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    giver: &Giver<'_>,
    gifts: &[(UserId, &OfferedRole)],
) -> Result<usize> {
    let (now, by) = (work.now(), work.caller().user());
    let (mut new, mut replaced) = (Vec::new(), Vec::new());
    for gifts in gifts.chunks(AT_ONCE) {
        let contexts: Vec<GrantContext> = gifts.iter().map(|(user, role)| context(*user, &role.placed())).collect();
        let found = work.reads().grants(GrantQuery::At(&contexts)).await?;
        let stays = |grant: &Grant| grant.assignment.is_live(now) && grant.assignment.is_standing();
        let (held, over): (Vec<_>, Vec<_>) = found.into_iter().partition(stays);
        let held: HashSet<GrantContext> = held.iter().map(|grant| grant.assignment.context()).collect();
        replaced.extend(over);
        for ((user, role), context) in gifts.iter().zip(&contexts) {
            if !held.contains(context) {
                let granted = OfferedRole::clone(role).granted(iam.next_id(), (*user, by), now);
                let assignment = Assignment { directory_group_id: Some(giver.group), ..granted.assignment };
                new.push(Grant { assignment, ..granted });
            }
        }
        check_number(new.len())?;
    }
    if new.is_empty() {
        // A tenant beyond its quota may lose assignments.
        return Ok(0);
    }
    hold_user_quota(&iam.settings.quota, work, &new, |_, error| error).await?;
    hold_quota(&iam.settings.quota, work, QuotaKind::Assignments, new.len()).await?;
    revoke(work, replaced, RevokeReason::Ended).await?;
    give(work, giver.rights, &new).await?;
    Ok(new.len())
}

/// Ends what a group gives in these contexts, in which it gives nothing any more. What another group gives too goes on
/// as an assignment of that group. `begun` assignments begin by the same change.
///
/// # Errors
///
/// [`Conflict::TooManyGroupAssignments`], [`Conflict::LastAdministrator`].
pub(crate) async fn end(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    group: DirectoryGroupId,
    contexts: &[GrantContext],
    begun: usize,
) -> Result<()> {
    let mut ending = Vec::new();
    for contexts in contexts.chunks(AT_ONCE) {
        let found = work.reads().grants(GrantQuery::At(contexts)).await?;
        ending.extend(found.into_iter().filter(|grant| grant.assignment.directory_group_id == Some(group)));
        check_number(begun + ending.len())?;
    }
    end_or_hand_over(iam, work, ending, Some(group), Some(RevokeReason::DirectoryGroup), None).await
}

/// Ends assignments as [`revoke`] does, apart from those that a group gives too and that have not expired: they go on
/// as assignments of that group, under the same identifier. In place of one that has expired, or that an access request
/// gives, the group gives a new one. The group `except` does not count. `said` is what the caller says about the end of
/// the elevations among them.
///
/// # Errors
///
/// [`Conflict::LastAdministrator`].
pub(crate) async fn end_or_hand_over(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    ending: Vec<Grant>,
    except: Option<DirectoryGroupId>,
    reason: Option<RevokeReason>,
    said: Option<&Reason>,
) -> Result<()> {
    let now = work.now();
    let mut covers = Covers::default();
    let mut successors = successors(work, &mut covers, &ending, except).await?;
    let (mut handed_over, mut ended, mut renewed) = (Vec::new(), Vec::new(), Vec::new());
    for grant in ending {
        match successors.remove(&grant.assignment.context()) {
            Some(successor) if grant.assignment.is_live(now) && grant.assignment.is_standing() => {
                let after = successor.taking_over(&grant.assignment);
                handed_over.push(ChangedAssignment { grant, after });
            }
            Some(successor) => {
                renewed.push((successor, grant.clone()));
                ended.push(grant);
            }
            None => ended.push(grant),
        }
    }
    let shortened = handed_over.iter().filter(|changed| changed.after.expires_at.is_some());
    let losing: Vec<&Grant> = ended.iter().chain(shortened.map(|changed| &changed.grant)).collect();
    keep_another_administrator(work, &losing).await?;
    update(work, &handed_over).await?;
    revoke_saying(work, ended, reason, said).await?;
    renew(iam, work, &covers, renewed).await
}

/// Makes assignments of groups in place of those that have ended.
async fn renew(iam: &Engine, work: &mut UnitOfWork<'_>, covers: &Covers, ended: Vec<(Successor, Grant)>) -> Result<()> {
    let (now, by) = (work.now(), work.caller().user());
    let mut new: HashMap<DirectoryId, Vec<Grant>> = HashMap::new();
    for (successor, grant) in ended {
        let assignment = Assignment {
            id: iam.next_id(),
            expires_at: successor.until.moment(),
            created_at: now,
            created_by: by,
            directory_group_id: Some(successor.group),
            access_request_id: None,
            ..grant.assignment
        };
        new.entry(successor.directory).or_default().push(Grant { assignment, ..grant });
    }
    for (directory, account) in &covers.accounts {
        give(work, account, new.get(directory).map_or(&[][..], Vec::as_slice)).await?;
    }
    Ok(())
}

async fn give(work: &mut UnitOfWork<'_>, rights: &LockedRights, grants: &[Grant]) -> Result<()> {
    for grants in grants.chunks(AT_ONCE) {
        work.give_by_directory(rights, grants.to_vec()).await?;
    }
    Ok(())
}

async fn update(work: &mut UnitOfWork<'_>, changed: &[ChangedAssignment]) -> Result<()> {
    for changed in changed.chunks(AT_ONCE) {
        work.apply(AssignmentChange::Update(changed.to_vec())).await?;
    }
    Ok(())
}

/// Withholds from users what groups give them in these assignments, which a review ends: they stay members.
pub(crate) async fn withhold(work: &mut UnitOfWork<'_>, ending: &[Grant]) -> Result<()> {
    for grants in ending.chunks(AT_ONCE) {
        let contexts: Vec<GrantContext> = grants.iter().map(|grant| grant.assignment.context()).collect();
        let given = work.reads().giving_groups(&contexts, None).await?;
        if !given.is_empty() {
            let given = given.into_iter().map(|(context, _)| context).collect();
            work.apply(DirectoryGroupChange::Withhold(given)).await?;
        }
    }
    Ok(())
}

/// Returns the assignments that the groups of a directory give.
///
/// # Errors
///
/// [`Conflict::TooManyGroupAssignments`] if they are more than one change ends.
pub(crate) async fn given_by(work: &mut UnitOfWork<'_>, directory: DirectoryId) -> Result<Vec<Grant>> {
    let given = work.reads().grants(GrantQuery::OfDirectory(directory)).await?;
    check_number(given.len())?;
    Ok(given)
}

/// Ends the assignments that the groups of a directory give. A user belongs to one directory, so no other group gives
/// them.
///
/// # Errors
///
/// [`Conflict::LastAdministrator`].
pub(crate) async fn end_all(work: &mut UnitOfWork<'_>, given: Vec<Grant>) -> Result<()> {
    keep_another_administrator(work, &given.iter().collect::<Vec<_>>()).await?;
    revoke(work, given, RevokeReason::DirectoryGroup).await
}

/// Ends what the groups of a directory give no later than the rights of its service account, one of whose assignments
/// has changed and ends earlier. A role that the account does not cover any more stays as it is.
///
/// # Errors
///
/// [`Conflict::TooManyGroupAssignments`], [`Conflict::LastAdministrator`].
pub(crate) async fn shorten(work: &mut UnitOfWork<'_>, changed: &Assignment) -> Result<()> {
    let directories = work.reads().directories().await?;
    let of_account = directories.into_iter().find(|directory| directory.service_account_id == changed.user_id);
    let Some(directory) = of_account.map(|directory| directory.id) else { return Ok(()) };
    let mut held = work.reads().grants(GrantQuery::OfUser(changed.user_id)).await?;
    // A trial has written nothing.
    for grant in held.iter_mut().filter(|grant| grant.assignment.id == changed.id) {
        grant.assignment = changed.clone();
    }
    let mut covers = Covers::default();
    covers.accounts.insert(directory, work.rights_by(&held));
    let (now, mut shortened) = (work.now(), Vec::new());
    for grant in work.reads().grants(GrantQuery::OfDirectory(directory)).await? {
        let until = covers.until(work, directory, &grant).await?;
        let is_too_long = |until: &Until| *until < grant.assignment.expires_at.into();
        if let Some(until) = until.filter(|until| grant.assignment.is_live(now) && is_too_long(until)) {
            let after = Assignment { expires_at: until.moment(), ..grant.assignment.clone() };
            shortened.push(ChangedAssignment { grant, after });
        }
    }
    check_number(shortened.len())?;
    keep_another_administrator(work, &shortened.iter().map(|changed| &changed.grant).collect::<Vec<_>>()).await?;
    update(work, &shortened).await
}

/// Removes a user, whose assignments end, from all groups.
pub(crate) async fn leave(work: &mut UnitOfWork<'_>, user: UserId) -> Result<()> {
    let now = work.now();
    for before in work.reads().groups_of_member(user).await? {
        let after = DirectoryGroup { members: before.members.saturating_sub(1), ..before.clone() }.changed(now);
        work.apply(giving_less(before, after, vec![user])).await?;
    }
    Ok(())
}

/// Ends the mappings of groups to roles in an organization, in which all assignments end.
pub(crate) async fn unmap(work: &mut UnitOfWork<'_>, organization: OrganizationId) -> Result<()> {
    let now = work.now();
    for before in work.reads().mapped_groups(&[], &[organization]).await? {
        let mut grants = before.grants.clone();
        grants.retain(|grant| grant.organization_id != Some(organization));
        let after = DirectoryGroup { grants, ..before.clone() }.changed(now);
        work.apply(giving_less(before, after, Vec::new())).await?;
    }
    Ok(())
}

fn giving_less(before: DirectoryGroup, after: DirectoryGroup, removed: Vec<UserId>) -> DirectoryGroupChange {
    let (before, added, given) = (Box::new(before), Vec::new(), Vec::new());
    DirectoryGroupChange::Update { before, after, added, removed, given }
}

fn check_number(changed: usize) -> Result<()> {
    if changed > MAX_CHANGED {
        return Err(Conflict::TooManyGroupAssignments(MAX_CHANGED as u64).into());
    }
    Ok(())
}

/// A group that gives a role to a user, of a directory whose account covers that until a moment.
struct Successor {
    group: DirectoryGroupId,
    directory: DirectoryId,
    until: Until,
}

impl Successor {
    /// Returns an assignment as one of this group. It ends no later than before.
    fn taking_over(&self, assignment: &Assignment) -> Assignment {
        let until = self.until.min(assignment.expires_at.into());
        Assignment { directory_group_id: Some(self.group), expires_at: until.moment(), ..assignment.clone() }
    }
}

/// Finds the groups that give what these assignments give, by the contexts of the assignments. What the account of the
/// directory does not cover has no successor.
async fn successors(
    work: &mut UnitOfWork<'_>,
    covers: &mut Covers,
    grants: &[Grant],
    except: Option<DirectoryGroupId>,
) -> Result<HashMap<GrantContext, Successor>> {
    let mut found = HashMap::new();
    for grants in grants.chunks(AT_ONCE) {
        let contexts: Vec<GrantContext> = grants.iter().map(|grant| grant.assignment.context()).collect();
        let giving = work.reads().giving_groups(&contexts, except).await?;
        let giving: HashMap<GrantContext, DirectoryGroup> = giving.into_iter().collect();
        for grant in grants {
            let context = grant.assignment.context();
            let Some(DirectoryGroup { id, directory_id, .. }) = giving.get(&context) else { continue };
            if let Some(until) = covers.until(work, *directory_id, grant).await? {
                found.insert(context, Successor { group: *id, directory: *directory_id, until });
            }
        }
    }
    Ok(found)
}

/// What the service accounts of directories cover. Each role is compared once in each place, however many users hold
/// it.
#[derive(Default)]
struct Covers {
    accounts: HashMap<DirectoryId, LockedRights>,
    until: HashMap<(DirectoryId, PlacedRole), Option<Until>>,
}

impl Covers {
    /// Returns until when the account of a directory holds all that the role of a grant gives; `None` if it does not.
    async fn until(
        &mut self,
        work: &mut UnitOfWork<'_>,
        directory: DirectoryId,
        grant: &Grant,
    ) -> Result<Option<Until>> {
        let (role, organization) = (Arc::clone(&grant.role), grant.organization.clone());
        let offered = OfferedRole { role, organization, expires_at: None };
        let place = (directory, offered.placed());
        if let Some(known) = self.until.get(&place) {
            return Ok(*known);
        }
        let account = self.account(work, directory).await?;
        let held = work.held_until(&account, vec![offered]).await?;
        let until = held.into_iter().next().and_then(|(_, until)| until.ok());
        self.until.insert(place, until);
        Ok(until)
    }

    async fn account(&mut self, work: &mut UnitOfWork<'_>, directory: DirectoryId) -> Result<LockedRights> {
        if let Some(known) = self.accounts.get(&directory) {
            return Ok(known.clone());
        }
        let all = work.reads().directories().await?;
        let found = all.into_iter().find(|found| found.id == directory);
        let found = found.ok_or_else(|| Error::internal("group of a directory", "the directory is missing"))?;
        let account = work.rights_of(found.service_account_id).await?;
        self.accounts.insert(directory, account.clone());
        Ok(account)
    }
}
