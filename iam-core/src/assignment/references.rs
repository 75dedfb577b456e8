use std::collections::HashMap;
use std::sync::Arc;

use iam_model::access::{EscalationCheck, GrantedRights, Rights};
use iam_model::assignment::{GrantOrganization, OfferedRole};
use iam_model::audit::ResourceType;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::{OrganizationId, RoleId};
use iam_model::invitation::InvitedRole;
use iam_model::organization::{Hierarchy, Node};
use iam_model::permission::Permission;
use iam_model::role::Role;

use crate::distinct::distinct;
use crate::engine::UnitOfWork;

/// The roles and organizations to which new assignments or an invitation refer, as far as they exist.
pub(crate) struct References {
    roles: HashMap<RoleId, Arc<Role>>,
    hierarchy: Hierarchy,
}

impl References {
    pub(crate) async fn load(
        work: &mut UnitOfWork<'_>,
        roles: impl Iterator<Item = RoleId>,
        organizations: impl Iterator<Item = OrganizationId>,
    ) -> Result<Self> {
        Ok(Self { roles: work.roles_of(roles).await?, hierarchy: work.hierarchy_of(&distinct(organizations)).await? })
    }

    /// Returns an organization that the input names, if the permission is held there; `None` for tenant-wide.
    pub(crate) fn node(
        &self,
        rights: Rights<'_>,
        needed: &Permission,
        organization: Option<OrganizationId>,
        field: &impl Fn(&str) -> String,
    ) -> Result<Option<Node<'_>>> {
        let node = self.find(organization, field)?;
        match node {
            None => rights.require(needed)?,
            Some(node) => rights
                .require_at(needed, node.scope(), ResourceType::ORGANIZATION)
                .map_err(|error| error.about_what_it_names(field("organizationId")))?,
        }
        Ok(node)
    }

    pub(crate) fn role(&self, id: RoleId, field: &impl Fn(&str) -> String) -> Result<&Arc<Role>> {
        self.roles.get(&id).ok_or_else(|| Error::NotFound(ResourceType::ROLE).about(field("roleId")))
    }

    /// Returns a role that the input names, if it can be held in an organization, or tenant-wide. Whether the caller may
    /// give it is not checked.
    pub(crate) fn place(
        &self,
        role: RoleId,
        organization: Option<OrganizationId>,
        field: &impl Fn(&str) -> String,
    ) -> Result<&Arc<Role>> {
        let role = self.role(role, field)?;
        check_place(role, self.find(organization, field)?, field)?;
        Ok(role)
    }

    /// Returns a role in an organization, or tenant-wide, as trusted code offers it. `None` if it cannot be held there.
    pub(crate) fn offer_freely(&self, role: RoleId, organization: Option<OrganizationId>) -> Option<OfferedRole> {
        let field = |name: &str| name.to_owned();
        let role = self.place(role, organization, &field).ok()?;
        let node = self.find(organization, &field).ok()?;
        let organization = node.map(GrantOrganization::from);
        Some(OfferedRole { role: Arc::clone(role), organization, expires_at: None })
    }

    /// Returns an organization that the input names; `None` for tenant-wide.
    fn find(&self, organization: Option<OrganizationId>, field: &impl Fn(&str) -> String) -> Result<Option<Node<'_>>> {
        let unknown = || Error::NotFound(ResourceType::ORGANIZATION).about(field("organizationId"));
        organization.map(|id| self.hierarchy.node(id).ok_or_else(unknown)).transpose()
    }

    /// Returns the role that an invitation offers, or that a group of a directory is to give, if a user with these
    /// rights may offer it. `check` is the escalation check of that user. `field` returns the name of a field in
    /// errors.
    pub(crate) fn offer(
        &self,
        (rights, check): (Rights<'_>, &mut EscalationCheck<'_>),
        needed: &Permission,
        offered: &InvitedRole,
        field: impl Fn(&str) -> String,
    ) -> Result<OfferedRole> {
        let node = self.node(rights, needed, offered.organization_id, &field)?;
        let role = self.role(offered.role_id, &field)?;
        check_place(role, node, &field)?;
        let organization = node.map(GrantOrganization::from);
        let offered = OfferedRole { role: Arc::clone(role), organization, expires_at: offered.expires_at };
        // The unit of work checks all roles together. Here, the error names the item.
        check.check(&GrantedRights::of_offered(&offered))?;
        Ok(offered)
    }
}

/// Checks that a role can be held in an organization, or tenant-wide.
pub(super) fn check_place(role: &Role, node: Option<Node<'_>>, field: &impl Fn(&str) -> String) -> Result<()> {
    role.scope.check(node.is_some()).map_err(|rule| Error::from(rule).about(field("organizationId")))?;
    if node.is_some_and(|node| node.organization.status.is_inactive()) {
        return Err(Conflict::OrganizationInactive.into());
    }
    Ok(())
}
