use std::collections::HashMap;
use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::access::{CoveredBy, GrantedRights, LeadingRole, LeadingRoles};
use iam_model::access_request::MAX_DELAY;
use iam_model::assignment::{GrantOrganization, OfferedRole};
use iam_model::clock::Timestamp;
use iam_model::eligibility::Eligibility;
use iam_model::error::{Error, Forbidden, Result};
use iam_model::id::RoleId;
use iam_model::organization::Hierarchy;
use iam_model::role::Role;
use iam_model::store::TransactionReads;

use crate::distinct::distinct;
use crate::engine::locked_rights::LockedRights;

/// The result of the escalation check of a change.
pub(super) struct Checked {
    /// The first of the rights that the author does not cover, by its number.
    pub(super) refused: Option<(usize, Error)>,
    /// Whether what the change gives leads users to the rights to change what protects the tenant.
    pub(super) offers_protections: bool,
}

impl Checked {
    /// The result for a change that gives nothing.
    pub(super) const NOTHING: Self = Self { refused: None, offers_protections: false };

    /// Does the escalation check for an author with the rights `grantor`.
    pub(super) fn of(grantor: &LockedRights, granted: &[GrantedRights<'_>], leading: &LeadingRoles) -> Self {
        let offers_protections = granted.iter().any(|granted| leading.change_protections(granted, grantor.now()));
        Self { refused: first_refused(grantor, granted, leading), offers_protections }
    }
}

/// Returns the first of these rights that an author with the rights `grantor` does not cover, by its number.
fn first_refused(
    grantor: &LockedRights,
    granted: &[GrantedRights<'_>],
    leading: &LeadingRoles,
) -> Option<(usize, Error)> {
    let kinds: Vec<CoveredBy> = distinct(granted.iter().map(|granted| granted.covered_by));
    let covering: Vec<LockedRights> = kinds.iter().map(|covered_by| grantor.covering(*covered_by)).collect();
    let checks = covering.iter().map(|covering| covering.rights().escalation_check());
    let mut checks: Vec<_> = kinds.iter().zip(checks).collect();
    let standing = grantor.standing();
    let (mut standing, mut leading) = (standing.rights().escalation_check(), leading.check());
    granted.iter().enumerate().find_map(|(number, granted)| {
        let check = checks.iter_mut().find(|(covered_by, _)| **covered_by == granted.covered_by);
        let checked = match check {
            Some((_, check)) => check.check(granted),
            None => Err(Error::internal("granted rights", "they are not compared")),
        };
        let escalation = |shortfall| Error::from(Forbidden::Escalation(shortfall));
        let checked = checked.and_then(|()| leading.check(&mut standing, granted).map_err(escalation));
        checked.err().map(|error| (number, error))
    })
}

/// Reads to which others these roles lead. To be called under the tenant's lock.
pub(super) async fn leading_roles(
    reads: &mut dyn TransactionReads,
    given: &[RoleId],
    now: Timestamp,
) -> Result<LeadingRoles> {
    let mut found = reads.eligibilities_led_to_by(given).await?;
    found.retain(|eligibility| eligibility.is_live(now));
    if found.is_empty() {
        return Ok(LeadingRoles::default());
    }
    let roles = reads.roles_by_id(&distinct(found.iter().map(|eligibility| eligibility.role_id))).await?;
    let roles: HashMap<RoleId, Arc<Role>> = roles.into_iter().map(|role| (role.id, Arc::new(role))).collect();
    let organizations = distinct(found.iter().filter_map(|eligibility| eligibility.organization_id));
    let hierarchy: Hierarchy = match organizations.is_empty() {
        true => Hierarchy::default(),
        false => reads.lineages(&organizations).await?.into_iter().collect(),
    };
    let mut leading = Vec::new();
    for eligibility in &found {
        let offered = offered(eligibility, &roles, &hierarchy)?;
        let one = |(role, goes_on)| LeadingRole { role, offered: offered.clone(), goes_on };
        leading.extend(leading_to(eligibility).map(one));
    }
    Ok(leading.into_iter().collect())
}

/// The roles that lead to the role of an eligibility, each with the time for which that one can go on after the leading
/// one has ended.
fn leading_to(eligibility: &Eligibility) -> impl Iterator<Item = (RoleId, TimeDelta)> {
    let longest = TimeDelta::seconds(eligibility.max_seconds.into());
    let held = eligibility.eligible.held_role().map(|role| (role, longest));
    // What its holders approve in the last moment can begin later.
    let approver = eligibility.approver_role_id.map(|role| (role, longest + MAX_DELAY));
    held.into_iter().chain(approver)
}

/// Returns the role of an eligibility in its place, until it expires.
fn offered(
    eligibility: &Eligibility,
    roles: &HashMap<RoleId, Arc<Role>>,
    hierarchy: &Hierarchy,
) -> Result<OfferedRole> {
    let missing = |what: &'static str| Error::internal("an eligibility", what);
    let role = roles.get(&eligibility.role_id).ok_or_else(|| missing("its role is missing"))?;
    let node = eligibility.organization_id.map(|id| hierarchy.node(id).ok_or_else(|| missing("its place is missing")));
    let organization = node.transpose()?.map(GrantOrganization::from);
    Ok(OfferedRole { role: Arc::clone(role), organization, expires_at: eligibility.expires_at })
}
