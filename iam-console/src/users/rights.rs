//! What a user may do: the roles that it holds at each place, those that it has there from above, and the permissions
//! behind each role.

use std::collections::{BTreeMap, BTreeSet};

use iam_core::assignment::Grant;
use iam_core::permission::{PatternKind, PermissionPattern};
use iam_core::{Caller, Error, OrganizationId, UserId};

use crate::catalogue::Catalogue;
use crate::group_names::{GivenBy, GroupNames};
use crate::names::Names;
use crate::problem::if_allowed;
use crate::state::Console;
use crate::text;
use crate::view::query;

/// How many roles of a user the page shows. The list of assignments has all.
const ROLES: usize = 100;

/// How many permissions of a role the page shows. The page of the role has all.
const PERMISSIONS: usize = 50;

/// How many roles from above the page names at each place.
const INHERITED: usize = 10;

/// What a user may do.
pub(super) struct UserRights {
    /// The whole tenant first, then organizations by name.
    pub(super) places: Vec<Place>,
    /// How many roles are not shown.
    pub(super) left_out: usize,
}

/// The roles of a user at one place.
pub(super) struct Place {
    /// `None` for the whole tenant.
    pub(super) organization: Option<String>,
    /// Whether the roles have an effect here.
    pub(super) is_active: bool,
    pub(super) roles: Vec<HeldRole>,
    /// The roles that the user holds in organizations above, each with the name of its place.
    pub(super) inherited: Vec<(String, String)>,
}

/// A role that a user holds.
pub(super) struct HeldRole {
    pub(super) grant: Grant,
    pub(super) granted_by: String,
    /// The group that gives the role, if one does.
    pub(super) given: Option<GivenBy>,
    /// `None` if the caller may not see what a role allows.
    pub(super) permissions: Option<Vec<HeldPermission>>,
    /// How many permissions are not shown.
    pub(super) left_out: usize,
}

/// A permission, or a pattern of permissions, of a role.
pub(super) struct HeldPermission {
    pub(super) name: String,
    pub(super) text: String,
    /// The address of the question why the user holds it here. Empty for a pattern, about which no question can be asked.
    pub(super) why: String,
}

/// What the page of a role needs to be shown, beside the role.
struct Context<'a> {
    console: &'a Console,
    names: Names,
    groups: GroupNames,
    catalogue: Option<Catalogue>,
}

impl UserRights {
    /// Reads what is shown beside the role assignments of a user.
    pub(super) async fn read(
        console: &Console,
        caller: &Caller,
        user: UserId,
        mut grants: Vec<Grant>,
    ) -> Result<Self, Error> {
        let iam = &console.iam;
        let left_out = grants.len().saturating_sub(ROLES);
        grants.truncate(ROLES);
        // Each person sees what its own roles allow. Who may read one role may read all.
        let sees_roles = match grants.first() {
            Some(grant) if caller.user() != Some(user) => {
                if_allowed(iam.roles().get(caller, grant.role.id).await)?.is_some()
            }
            _ => true,
        };
        let catalogue = if sees_roles && !grants.is_empty() { Some(Catalogue::read(iam, caller).await?) } else { None };
        let people: Vec<UserId> = grants.iter().filter_map(|grant| grant.assignment.created_by).collect();
        let groups: Vec<_> = grants.iter().map(|grant| grant.assignment.directory_group_id).collect();
        let context = Context {
            console,
            names: Names::read(iam, caller, people, []).await?,
            groups: GroupNames::read(console, caller, groups).await?,
            catalogue,
        };
        let mut places: BTreeMap<Option<(String, OrganizationId)>, Vec<Grant>> = BTreeMap::new();
        for grant in &grants {
            let organization =
                grant.organization.as_ref().map(|organization| (organization.name.clone(), organization.id));
            // An organization that is not known is named by its id.
            let unknown = || grant.assignment.organization_id.map(|id| (id.to_string(), id));
            places.entry(organization.or_else(unknown)).or_default().push(grant.clone());
        }
        let place = |(place, held): (Option<(String, OrganizationId)>, Vec<Grant>)| Place {
            organization: place.map(|(name, _)| name),
            is_active: held.iter().all(Grant::is_lineage_active),
            inherited: inherited(&held, &grants),
            roles: held.into_iter().map(|grant| context.held(grant)).collect(),
        };
        Ok(Self { places: places.into_iter().map(place).collect(), left_out })
    }
}

/// Returns the roles that a user has at the place of some grants because it holds them in an organization above.
fn inherited(held: &[Grant], all: &[Grant]) -> Vec<(String, String)> {
    let organization = held.first().and_then(|grant| grant.organization.as_ref());
    let Some(above) = organization.and_then(|organization| organization.lineage.get(1..)) else { return Vec::new() };
    let from_above = all.iter().filter_map(|grant| {
        let place = grant.organization.as_ref().filter(|place| above.contains(&place.id))?;
        Some((grant.role.name.to_string(), place.name.clone()))
    });
    from_above.take(INHERITED).collect()
}

impl Context<'_> {
    fn held(&self, grant: Grant) -> HeldRole {
        let granted_by = grant.assignment.created_by;
        HeldRole {
            granted_by: granted_by.map_or_else(|| text::t("the-service").to_owned(), |id| self.names.user(id)),
            given: grant.assignment.directory_group_id.map(|id| self.groups.of(&id)),
            permissions: self.catalogue.as_ref().map(|catalogue| self.permissions(catalogue, &grant)),
            left_out: grant.role.permissions.iter().count().saturating_sub(PERMISSIONS),
            grant,
        }
    }

    fn permissions(&self, catalogue: &Catalogue, grant: &Grant) -> Vec<HeldPermission> {
        let patterns = grant.role.permissions.iter().take(PERMISSIONS);
        let names: BTreeSet<String> = patterns.map(ToString::to_string).collect();
        let permission =
            |name: String| HeldPermission { text: catalogue.sentence(&name), why: self.why(&name, grant), name };
        names.into_iter().map(permission).collect()
    }

    fn why(&self, name: &str, grant: &Grant) -> String {
        let pattern = name.parse::<PermissionPattern>();
        if !pattern.is_ok_and(|pattern| matches!(pattern.kind(), PatternKind::Exact(_))) {
            return String::new();
        }
        let (user, place) = (grant.assignment.user_id.to_string(), grant.assignment.organization_id);
        let place = place.map(|id| id.to_string()).unwrap_or_default();
        let question = query(&[("user", &*user), ("permission", name), ("organization", &*place)]);
        format!("{}/access?{question}", self.console.base())
    }
}
