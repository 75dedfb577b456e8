use std::collections::HashSet;

use iam_model::access::VisibleScope;
use iam_model::assignment::{GrantContext, OfferedRole};
use iam_model::audit::ResourceType;
use iam_model::change::DirectoryGroupChange;
use iam_model::directory::{Condition, DirectoryGroup, GroupSortField, GroupTest, GroupText, TextOperator};
#[cfg(doc)]
use iam_model::error::Conflict;
use iam_model::error::{Error, Result};
use iam_model::id::{DirectoryGroupId, DirectoryId, UserId};
use iam_model::invitation::InvitedRole;
use iam_model::page::{Page, PageRequest, SortOrder};
use iam_model::permission;
use iam_model::role::PlacedRole;
use iam_model::search::SearchWord;
use iam_model::validate::Fields;
use iam_model::version::Precondition;

use crate::assignment::of_groups::{self, Giver};
use crate::assignment::{References, check_places};
use crate::caller::Caller;
use crate::directory::Directories;
use crate::directory::service::{find, not_found};
use crate::engine::{LockedRights, UnitOfWork, require_version};

/// The name of the list in errors.
const GRANTS: &str = "grants";

impl Directories<'_> {
    /// Returns a page of the groups of a directory, by name. A search shows those whose names contain all its words,
    /// without regard to case. Needs `directories:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Error::Validation`] for a search of more than eight words,
    /// [`Error::Overloaded`].
    pub async fn groups(
        &self,
        caller: &Caller,
        directory: DirectoryId,
        search: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<DirectoryGroup>> {
        let (iam, tenant) = (self.0, caller.tenant());
        iam.rights(caller).require(&permission::DIRECTORIES_READ)?;
        iam.store.directory(tenant, directory).await?.ok_or_else(not_found)?;
        SearchWord::check(search)?;
        let condition = Condition::All(search.unwrap_or_default().split_whitespace().map(named).collect());
        let _turn = iam.long_list(caller, condition != Condition::always(), &VisibleScope::Tenant, page).await?;
        let sort = (GroupSortField::Text(GroupText::DisplayName), SortOrder::Ascending);
        let (first, limit) = (page.offset(), page.limit());
        let (items, total) = iam.store.directory_groups(tenant, directory, &condition, sort, first, limit).await?;
        Ok(Page { items, total, request: page })
    }

    /// Returns a group of a directory. Needs `directories:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn group(&self, caller: &Caller, directory: DirectoryId, id: DirectoryGroupId) -> Result<DirectoryGroup> {
        self.0.rights(caller).require(&permission::DIRECTORIES_READ)?;
        self.0.store.directory_group(caller.tenant(), directory, id).await?.ok_or_else(group_not_found)
    }

    /// Maps a group to roles, each in an organization or tenant-wide, in place of those to which it was mapped. Its
    /// members get the new roles, and lose those that are left out. A member from whom an access review has withheld a
    /// role does not get it. A mapping that changes nothing records nothing.
    ///
    /// Needs `directories:update` by standing rights. For each new role, also `role-assignments:create` and all
    /// permissions of the role, there and without an end, and a session that has authenticated recently if the role can
    /// change what protects the tenant. The service account of the directory must hold all permissions of the role
    /// there, too. The members hold the role for no longer than the account does.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] for more than 20 roles or one that is there twice,
    /// [`Error::NotFound`]; [`Error::About`] with the number of the role (`grants[2]`, `grants[2].roleId`): with
    /// [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation) or
    /// [`Forbidden::AccountEscalation`](iam_model::error::Forbidden::AccountEscalation) for a role that the caller or
    /// the account does not cover, with [`Error::NotFound`], [`Error::Rule`] or [`Conflict::OrganizationInactive`];
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh),
    /// [`Forbidden::ApiKey`](iam_model::error::Forbidden::ApiKey), [`Conflict::TooManyGroupAssignments`],
    /// [`Conflict::QuotaExceeded`], [`Conflict::LastAdministrator`].
    pub async fn set_grants(
        &self,
        caller: &Caller,
        directory: DirectoryId,
        group: DirectoryGroupId,
        grants: Vec<PlacedRole>,
    ) -> Result<DirectoryGroup> {
        self.set_grants_if(caller, directory, group, grants, &Precondition::Exists).await
    }

    /// Maps a group to roles as [`set_grants`](Self::set_grants) does, if a precondition holds. It is checked under the
    /// lock of the change.
    ///
    /// # Errors
    ///
    /// Those of [`set_grants`](Self::set_grants), [`Error::PreconditionFailed`].
    pub async fn set_grants_if(
        &self,
        caller: &Caller,
        directory: DirectoryId,
        group: DirectoryGroupId,
        grants: Vec<PlacedRole>,
        precondition: &Precondition,
    ) -> Result<DirectoryGroup> {
        let iam = self.0;
        iam.standing(caller).rights().require(&permission::DIRECTORIES_UPDATE)?;
        check_input(&grants)?;
        let mut work = iam.begin(caller).await?;
        let grantor = work.lock_rights().await?.standing();
        grantor.rights().require(&permission::DIRECTORIES_UPDATE)?;
        let directory = find(&mut work, directory).await?;
        let before = work.reads().directory_group(directory.id, group).await?.ok_or_else(group_not_found)?;
        require_version(precondition, before.version)?;
        let is_new = |(_, grant): &(usize, PlacedRole)| !before.grants.contains(grant);
        let new: Vec<(usize, PlacedRole)> = grants.iter().copied().enumerate().filter(is_new).collect();
        let gone: Vec<PlacedRole> = before.grants.iter().copied().filter(|grant| !grants.contains(grant)).collect();
        if new.is_empty() && gone.is_empty() {
            return Ok(before);
        }
        let given = offer(&mut work, &grantor, &new).await?;
        let account = work.rights_of(directory.service_account_id).await?;
        let about = |number: usize, error| match new.get(number) {
            Some((number, _)) => in_item(*number, error),
            None => error,
        };
        let covered = of_groups::covered(&mut work, &account, given.clone(), about).await?;
        let members = work.reads().members_of_group(group).await?;
        let withheld: HashSet<GrantContext> = work.reads().withheld_in_group(group).await?.into_iter().collect();
        let after = DirectoryGroup { grants, ..before.clone() }.changed(work.now());
        let (before, added, removed) = (Box::new(before), Vec::new(), Vec::new());
        work.apply(DirectoryGroupChange::Update { before, after: after.clone(), added, removed, given }).await?;
        let gifts = members.iter().flat_map(|user| covered.iter().map(move |role| (*user, role)));
        let is_kept =
            |(user, role): &(UserId, &OfferedRole)| !withheld.contains(&of_groups::context(*user, &role.placed()));
        let gifts: Vec<(UserId, &OfferedRole)> = gifts.filter(is_kept).collect();
        let giver = Giver { group, rights: &account };
        let begun = of_groups::begin(iam, &mut work, &giver, &gifts).await?;
        of_groups::end(iam, &mut work, group, &of_groups::contexts(&members, &gone), begun).await?;
        work.commit().await?;
        Ok(after)
    }
}

/// Groups whose names contain a word.
fn named(word: &str) -> Condition<GroupTest> {
    let (field, operator, value) = (GroupText::DisplayName, TextOperator::Contains, word.to_owned());
    Condition::Test(GroupTest::Text { field, operator, value })
}

fn check_input(grants: &[PlacedRole]) -> Result<()> {
    let mut fields = Fields::default();
    let places = grants.iter().map(|grant| (grant.role_id, grant.organization_id));
    check_places(&mut fields, GRANTS, places, DirectoryGroup::MAX_GRANTS);
    Ok(fields.finish()?)
}

/// Returns the roles to which a group is newly mapped, each with its number in the input, if the caller may give them.
async fn offer(
    work: &mut UnitOfWork<'_>,
    grantor: &LockedRights,
    new: &[(usize, PlacedRole)],
) -> Result<Vec<OfferedRole>> {
    let roles = new.iter().map(|(_, grant)| grant.role_id);
    let references = References::load(work, roles, new.iter().filter_map(|(_, grant)| grant.organization_id)).await?;
    let (needed, mut check) = (&permission::ROLE_ASSIGNMENTS_CREATE, grantor.rights().escalation_check());
    let offer = |(number, grant): &(usize, PlacedRole)| {
        let PlacedRole { role_id, organization_id } = *grant;
        let offered = InvitedRole { role_id, organization_id, expires_at: None };
        let field = |name: &str| format!("{GRANTS}[{number}].{name}");
        let offered = references.offer((grantor.rights(), &mut check), needed, &offered, field);
        offered.map_err(|error| in_item(*number, error))
    };
    new.iter().map(offer).collect()
}

/// Adds the number of the item to an error about the whole item. An error about a field already has it.
fn in_item(number: usize, error: Error) -> Error {
    match error {
        Error::Forbidden(_) | Error::Conflict(_) => error.about(format!("{GRANTS}[{number}]")),
        error => error,
    }
}

fn group_not_found() -> Error {
    Error::NotFound(ResourceType::DIRECTORY_GROUP)
}
