use std::collections::BTreeSet;

use iam_core::assignment::AssignmentFilter;
use iam_core::eligibility::{Eligibility, Eligible};
use iam_core::organization::OrganizationStatus;
use iam_core::page::{MAX_LIMIT, PageRequest};
use iam_core::permission::{ACCESS_REQUESTS_UPDATE, ORGANIZATIONS_READ, ROLE_ASSIGNMENTS_READ, USERS_READ};
use iam_core::user::{UserKind, UserStatus};
use iam_core::{Caller, Error, Iam, OrganizationId, RoleId, UserId};

use crate::problem::if_allowed;
use crate::view::Frame;

/// How many persons are named.
const FEW: usize = 5;

/// The persons whom an eligibility reaches now.
#[derive(Default)]
pub(super) struct Reach {
    /// Those who can ask. `None` if the person may not see all of them, or if they are many.
    asking: Option<BTreeSet<UserId>>,
    /// Those who can decide. `None` as above, and if no approval is needed.
    deciding: Option<BTreeSet<UserId>>,
}

impl Reach {
    /// Reads at most a page of assignments for each of the two.
    pub(super) async fn read(
        iam: &Iam,
        caller: &Caller,
        frame: &Frame,
        eligibility: &Eligibility,
    ) -> Result<Self, Error> {
        let needed = [ROLE_ASSIGNMENTS_READ, USERS_READ, ORGANIZATIONS_READ];
        // A list that is limited to a branch would count too few.
        if !needed.iter().all(|permission| frame.may_everywhere(permission)) {
            return Ok(Self::default());
        }
        Ok(if_allowed(Self::of(iam, caller, eligibility).await)?.unwrap_or_default())
    }

    async fn of(iam: &Iam, caller: &Caller, eligibility: &Eligibility) -> Result<Self, Error> {
        let place = eligibility.organization_id;
        let asking = match eligibility.eligible {
            Eligible::User(user) => Some(active(iam, caller, &[user]).await?),
            Eligible::HoldersOf(role) => holders(iam, caller, role, place).await?,
        };
        let deciding = match eligibility.approver_role_id {
            _ if eligibility.approvals == 0 => None,
            Some(role) => holders(iam, caller, role, place).await?,
            None => deciding_by_permission(iam, caller, place).await?,
        };
        Ok(Self { asking, deciding })
    }

    pub(super) fn asking(&self) -> Option<usize> {
        self.asking.as_ref().map(BTreeSet::len)
    }

    pub(super) fn deciding(&self) -> Option<usize> {
        self.deciding.as_ref().map(BTreeSet::len)
    }

    /// Those who can decide, if they are few.
    pub(super) fn few_deciding(&self) -> Vec<UserId> {
        let few = self.deciding.as_ref().filter(|users| users.len() <= FEW);
        few.into_iter().flatten().copied().collect()
    }

    /// Whether no request can get all approvals: no user decides about its own.
    pub(super) fn lacks_deciders(&self, approvals: u8) -> bool {
        let Some(deciding) = &self.deciding else { return false };
        let others = |user: &UserId| deciding.iter().filter(|decider| *decider != user).count();
        let most = match &self.asking {
            Some(asking) if !asking.is_empty() => asking.iter().map(others).max().unwrap_or_default(),
            _ => deciding.len(),
        };
        most < usize::from(approvals)
    }
}

/// Returns those of these users who are persons that can sign in.
async fn active(iam: &Iam, caller: &Caller, users: &[UserId]) -> Result<BTreeSet<UserId>, Error> {
    let users = iam.users().by_ids(caller, users).await?.into_iter();
    let active = users.filter(|user| user.kind == UserKind::Human && user.status == UserStatus::Active);
    Ok(active.map(|user| user.id).collect())
}

/// Returns the persons who hold a role in a place or above it, by themselves. `None` if the role has too many holders.
async fn holders(
    iam: &Iam,
    caller: &Caller,
    role: RoleId,
    place: Option<OrganizationId>,
) -> Result<Option<BTreeSet<UserId>>, Error> {
    let filter = AssignmentFilter { role: Some(role), ..AssignmentFilter::default() };
    let found = iam.assignments().list(caller, &filter, PageRequest::new(1, MAX_LIMIT)?).await?;
    if found.has_next() {
        return Ok(None);
    }
    let line = line_of(iam, caller, place).await?;
    let held = found.items.into_iter().map(|listed| listed.assignment).filter(|assignment| {
        assignment.is_standing() && assignment.organization_id.is_none_or(|organization| line.contains(&organization))
    });
    let users: Vec<UserId> = held.map(|assignment| assignment.user_id).collect();
    active(iam, caller, &users).await.map(Some)
}

/// Returns the persons who may decide about requests in a place by a permission. `None` if there are too many.
async fn deciding_by_permission(
    iam: &Iam,
    caller: &Caller,
    place: Option<OrganizationId>,
) -> Result<Option<BTreeSet<UserId>>, Error> {
    let request = PageRequest::new(1, MAX_LIMIT)?;
    let found = iam.access().who(caller, ACCESS_REQUESTS_UPDATE, place, None, request).await?;
    if found.has_next() {
        return Ok(None);
    }
    let standing = found.items.into_iter().filter(|holder| {
        holder.user.kind == UserKind::Human && holder.grants.iter().any(|grant| grant.access_request.is_none())
    });
    Ok(Some(standing.map(|holder| holder.user.id).collect()))
}

/// Returns the organizations in which a role counts for a place: the place and those above it, from the root down, as far
/// as they are ACTIVE.
async fn line_of(iam: &Iam, caller: &Caller, place: Option<OrganizationId>) -> Result<Vec<OrganizationId>, Error> {
    let Some(id) = place else { return Ok(Vec::new()) };
    let mut line = iam.organizations().ancestors(caller, id).await?;
    line.push(iam.organizations().get(caller, id).await?);
    let organizations = line.into_iter().map(|found| found.organization);
    let active = organizations.take_while(|organization| organization.status == OrganizationStatus::Active);
    Ok(active.map(|organization| organization.id).collect())
}
