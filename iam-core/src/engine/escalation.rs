use std::collections::HashMap;
use std::sync::Arc;

use iam_model::access::{CoveredBy, GrantedRights, RoleForHolders, RolesForHolders};
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
    /// Whether users can ask for the rights to change what protects the tenant because of what the change gives.
    pub(super) offers_protections: bool,
}

impl Checked {
    /// The result for a change that gives nothing.
    pub(super) const NOTHING: Self = Self { refused: None, offers_protections: false };

    /// Does the escalation check for an author with the rights `grantor`.
    pub(super) fn of(grantor: &LockedRights, granted: &[GrantedRights<'_>], for_holders: &RolesForHolders) -> Self {
        let offers_protections = granted.iter().any(|granted| for_holders.change_protections(granted, grantor.now()));
        Self { refused: first_refused(grantor, granted, for_holders), offers_protections }
    }
}

/// Returns the first of these rights that an author with the rights `grantor` does not cover, by its number.
fn first_refused(
    grantor: &LockedRights,
    granted: &[GrantedRights<'_>],
    for_holders: &RolesForHolders,
) -> Option<(usize, Error)> {
    let kinds: Vec<CoveredBy> = distinct(granted.iter().map(|granted| granted.covered_by));
    let covering: Vec<LockedRights> = kinds.iter().map(|covered_by| grantor.covering(*covered_by)).collect();
    let checks = covering.iter().map(|covering| covering.rights().escalation_check());
    let mut checks: Vec<_> = kinds.iter().zip(checks).collect();
    let standing = grantor.standing();
    let (mut standing, mut for_holders) = (standing.rights().escalation_check(), for_holders.check());
    granted.iter().enumerate().find_map(|(number, granted)| {
        let check = checks.iter_mut().find(|(covered_by, _)| **covered_by == granted.covered_by);
        let checked = match check {
            Some((_, check)) => check.check(granted),
            None => Err(Error::internal("granted rights", "they are not compared")),
        };
        let escalation = |shortfall| Error::from(Forbidden::Escalation(shortfall));
        let checked = checked.and_then(|()| for_holders.check(&mut standing, granted).map_err(escalation));
        checked.err().map(|error| (number, error))
    })
}

/// Reads the roles for which the holders of these roles may ask. To be called under the tenant's lock.
pub(super) async fn roles_for_holders(
    reads: &mut dyn TransactionReads,
    held: &[RoleId],
    now: Timestamp,
) -> Result<RolesForHolders> {
    let mut found = reads.eligibilities_for_holders_of(held).await?;
    found.retain(|eligibility| eligibility.is_live(now));
    if found.is_empty() {
        return Ok(RolesForHolders::default());
    }
    let roles = reads.roles_by_id(&distinct(found.iter().map(|eligibility| eligibility.role_id))).await?;
    let roles: HashMap<RoleId, Arc<Role>> = roles.into_iter().map(|role| (role.id, Arc::new(role))).collect();
    let organizations = distinct(found.iter().filter_map(|eligibility| eligibility.organization_id));
    let hierarchy: Hierarchy = match organizations.is_empty() {
        true => Hierarchy::default(),
        false => reads.lineages(&organizations).await?.into_iter().collect(),
    };
    let for_holders = found.iter().filter_map(|eligibility| {
        let held = eligibility.eligible.held_role()?;
        Some(offered(eligibility, &roles, &hierarchy).map(|offered| RoleForHolders {
            held,
            offered,
            max_seconds: eligibility.max_seconds,
        }))
    });
    for_holders.collect()
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
