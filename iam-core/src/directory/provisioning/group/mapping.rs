use iam_model::access::Rights;
use iam_model::assignment::OfferedRole;
use iam_model::directory::DirectoryGroup;
use iam_model::error::Result;
use iam_model::permission::Permission;
use iam_model::role::PlacedRole;

use crate::assignment::References;
use crate::engine::UnitOfWork;

/// The roles to which people have mapped a group, with their places as they are now.
pub(super) struct Mapping<'a> {
    grants: &'a [PlacedRole],
    references: References,
}

impl<'a> Mapping<'a> {
    pub(super) async fn of(work: &mut UnitOfWork<'_>, group: &'a DirectoryGroup) -> Result<Self> {
        let grants = group.grants.as_slice();
        let roles = grants.iter().map(|grant| grant.role_id);
        let organizations = grants.iter().filter_map(|grant| grant.organization_id);
        Ok(Self { grants, references: References::load(work, roles, organizations).await? })
    }

    /// Requires a permission in the places of all roles.
    pub(super) fn require(&self, rights: Rights<'_>, needed: &Permission) -> Result<()> {
        self.grants.iter().try_for_each(|grant| {
            let place = self.references.node(rights, needed, grant.organization_id, &str::to_owned);
            place.map(|_| ())
        })
    }

    /// Returns the roles that new members get.
    pub(super) fn offered(&self) -> Vec<OfferedRole> {
        let offered = self.grants.iter();
        offered.filter_map(|grant| self.references.offer_freely(grant.role_id, grant.organization_id)).collect()
    }
}
