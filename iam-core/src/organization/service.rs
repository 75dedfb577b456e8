use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use iam_model::access::{HeldRole, Until, VisibleScope};
use iam_model::assignment::{AssignmentFilter, RevokeReason};
use iam_model::attribute::Attributes;
use iam_model::audit::ResourceType;
use iam_model::change::{ActivatedRoles, OrganizationChange, UserChange};
#[cfg(doc)]
use iam_model::error::Rule;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::OrganizationId;
use iam_model::organization::{
    AffectedTree, Ancestry, Hierarchy, Node, Organization, OrganizationCounts, OrganizationFilter, OrganizationSort,
    OrganizationStatus, OrganizationTree, OrganizationWithDepth, Position,
};
use iam_model::page::{Page, PageRequest};
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::random::suffix;
use iam_model::role::PlacedRole;
use iam_model::search::SearchWord;
use iam_model::store::GrantQuery;
use iam_model::tenant::QuotaKind;
use iam_model::user::User;
use iam_model::validate::{Fields, Name, Slug};
use iam_model::version::{Precondition, Version};
use serde_json::{Map, Value};

use crate::assignment::{of_groups, revoke};
use crate::attribute::{AttributeFacts, new_attributes};
use crate::caller::Caller;
use crate::distinct::distinct;
use crate::eligibility;
use crate::engine::{Engine, LockedRights, UnitOfWork, hold_quota, require_version};
use crate::idempotency::Idempotency;
use crate::organization::input::{ValidOrganization, ValidPatch};
use crate::organization::rules::{
    Decided, TreeFacts, Update, about_parent, check_childless, check_new_depth, not_found, permitted, permitted_parent,
    require,
};
use crate::organization::{NewOrganization, OrganizationPatch, OrganizationWithAttributes};

/// So many children of an organization are read without a turn for a long read.
const FEW_CHILDREN: u32 = 100;

/// The maximum number of organizations that [`Organizations::counts`] and [`Organizations::children_of`] are asked about
/// at once.
pub const MAX_ASKED: usize = 1_000;

/// If more assignments would have to be read, members are not counted.
const MAX_COUNTED: u32 = 50_000;

/// Makes, reads, changes, moves and deletes organizations; see [`Iam::organizations`](crate::iam::Iam::organizations).
///
/// A permission that is held in an organization also applies to everything below it. If the caller holds any role in an
/// organization, a missing permission is [`Error::Forbidden`]; otherwise it is [`Error::NotFound`].
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::organization::{NewOrganization, OrganizationPatch};
///
/// let new = |name: &str, parent| NewOrganization { name: name.into(), parent, ..NewOrganization::default() };
/// let north = iam.organizations().create(&ada, new("North", None)).await?.organization;
/// let south = iam.organizations().create(&ada, new("South", None)).await?.organization;
/// let harbour = iam.organizations().create(&ada, new("Harbour", Some(north.id))).await?.organization;
///
/// // It moves with everything below it, and with all roles that are held there.
/// let patch = OrganizationPatch { parent: Some(Some(south.id)), ..OrganizationPatch::default() };
/// iam.organizations().update(&ada, harbour.id, patch).await?;
/// let above = iam.organizations().ancestors(&ada, harbour.id).await?;
/// assert_eq!(above[0].organization.id, south.id);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Organizations<'a>(pub(crate) &'a Engine);

impl Organizations<'_> {
    /// Makes an ACTIVE organization. Needs `organizations:create` in the parent, or tenant-wide for a root.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`], [`Error::About`] `parentId` with [`Error::NotFound`],
    /// [`Rule::Depth`] or [`Conflict::OrganizationInactive`]; [`Conflict::SlugTaken`].
    pub async fn create(&self, caller: &Caller, new: NewOrganization) -> Result<OrganizationWithDepth> {
        self.create_once(caller, new, None).await
    }

    /// Makes an organization as [`create`](Self::create) does, at most once for an [idempotency
    /// key](crate::idempotency). `None` is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_once(
        &self,
        caller: &Caller,
        new: NewOrganization,
        idempotency: Option<&Idempotency>,
    ) -> Result<OrganizationWithDepth> {
        Ok(self.create_with(caller, new, &Map::new(), idempotency).await?.placed)
    }

    /// Makes an organization as [`create_once`](Self::create_once) does, also with attributes, as typed.
    ///
    /// # Errors
    ///
    /// Those of [`create_once`](Self::create_once); [`Error::Validation`] also names attributes.
    pub async fn create_with(
        &self,
        caller: &Caller,
        new: NewOrganization,
        attributes: &Map<String, Value>,
        idempotency: Option<&Idempotency>,
    ) -> Result<OrganizationWithAttributes> {
        let needed = &permission::ORGANIZATIONS_CREATE;
        match new.parent {
            None => self.0.rights(caller).require(needed)?,
            Some(parent) => drop(self.read_permitted(caller, parent, needed).await.map_err(about_parent)?),
        }
        let new = new.validate()?;
        let once = self.0.once(caller, idempotency, &ResourceType::ORGANIZATION);
        let mut work = self.0.begin(caller).await?;
        if let Some(created) = once.find(&mut work).await? {
            return Ok(created);
        }
        let grantor = work.lock_rights().await?;
        let attributes = match attributes.is_empty() {
            true => Attributes::default(),
            false => {
                let rules = work.reads().attribute_rules().await?;
                let mut fields = Fields::default();
                let attributes = new_attributes(&mut fields, attributes, rules.of_organizations());
                fields.finish()?;
                attributes
            }
        };
        let placed = self.create_valid(&mut work, &grantor, new, attributes.clone()).await?;
        let created = OrganizationWithAttributes::new(placed, attributes);
        once.keep(&mut work, &created).await?;
        work.commit().await?;
        Ok(created)
    }

    /// Makes an organization in a unit of work that has read the rights of its caller.
    pub(crate) async fn create_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        new: &NewOrganization,
    ) -> Result<OrganizationWithDepth> {
        self.create_valid(work, grantor, new.validate()?, Attributes::default()).await
    }

    async fn create_valid(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        new: ValidOrganization,
        attributes: Attributes,
    ) -> Result<OrganizationWithDepth> {
        let needed = &permission::ORGANIZATIONS_CREATE;
        let hierarchy = work.hierarchy_of(new.parent.as_slice()).await?;
        let depth = match new.parent {
            None => {
                grantor.rights().require(needed)?;
                0
            }
            Some(id) => permitted_parent(&hierarchy, grantor.rights(), needed, id)?.depth() + 1,
        };
        check_new_depth(depth, 0, self.0.settings.max_organization_depth)?;
        let slug = match new.slug {
            Some(slug) => slug,
            None => self.free_slug(work, &new.name).await?,
        };
        let now = work.now();
        let organization = Organization {
            id: self.0.next_id(),
            tenant_id: work.caller().tenant(),
            name: new.name,
            slug,
            status: OrganizationStatus::Active,
            parent_id: new.parent,
            created_at: now,
            updated_at: now,
            version: Version::FIRST,
        };
        hold_quota(&self.0.settings.quota, work, QuotaKind::Organizations, 1).await?;
        work.apply(OrganizationChange::Create { organization: organization.clone(), attributes }).await?;
        Ok(OrganizationWithDepth { organization, depth })
    }

    /// Makes a slug from a name, with a suffix if the slug is taken.
    async fn free_slug(&self, work: &mut UnitOfWork<'_>, name: &Name) -> Result<Slug> {
        let mut slug = Slug::from_name(name.as_str(), "organization", None);
        while work.reads().is_organization_slug_taken(&slug).await? {
            slug = Slug::from_name(name.as_str(), "organization", Some(&suffix(&*self.0.random)));
        }
        Ok(slug)
    }

    /// One organization. Needs `organizations:read` in it, or tenant-wide if it is INACTIVE.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`].
    pub async fn get(&self, caller: &Caller, id: OrganizationId) -> Result<OrganizationWithDepth> {
        Ok(self
            .read_permitted(caller, id, &permission::ORGANIZATIONS_READ)
            .await?
            .node(id)
            .ok_or_else(not_found)?
            .into())
    }

    /// A page of the organizations that pass a filter. Needs `organizations:read`. If this permission is held in
    /// organizations, the list is limited to them and everything below.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn list(
        &self,
        caller: &Caller,
        filter: &OrganizationFilter,
        sort: OrganizationSort,
        page: PageRequest,
    ) -> Result<Page<OrganizationWithDepth>> {
        let visible_scope = self.0.rights(caller).visible_scope(&permission::ORGANIZATIONS_READ)?;
        SearchWord::check(filter.search.as_deref())?;
        if filter.status == Some(OrganizationStatus::Inactive) && visible_scope != VisibleScope::Tenant {
            return Ok(Page { items: Vec::new(), total: 0, request: page });
        }
        let tenant = caller.tenant();
        let is_filtered = filter.search.is_some() || filter.parent.is_some() || filter.attribute.is_some();
        let _turn = self.0.long_list(caller, is_filtered, &visible_scope, page).await?;
        let Page { items, total, request } =
            self.0.store.organizations(tenant, filter, &visible_scope, sort, page).await?;
        let ids: Vec<OrganizationId> = items.iter().map(|organization| organization.id).collect();
        let hierarchy: Hierarchy = self.0.store.lineages(tenant, &ids).await?.into_iter().collect();
        // Taken from the second query, so that parent and depth are consistent if an organization moves in between.
        let items = ids.into_iter().filter_map(|id| hierarchy.node(id)).map(OrganizationWithDepth::from).collect();
        Ok(Page { items, total, request })
    }

    /// Returns the organization with this slug that is not INACTIVE. Needs `organizations:read` in it; one that the caller
    /// may not read counts as absent.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] when the caller has the permission nowhere.
    pub async fn by_slug(&self, caller: &Caller, slug: &str) -> Result<Option<Organization>> {
        let rights = self.0.rights(caller);
        rights.require_anywhere(&permission::ORGANIZATIONS_READ)?;
        let Ok(slug) = slug.parse::<Slug>() else { return Ok(None) };
        let Some(found) = self.0.store.organizations_by_slug(caller.tenant(), &[slug]).await?.pop() else {
            return Ok(None);
        };
        let lineage = self.0.lineages(caller.tenant(), [found.id]).await?;
        let position = lineage.position(found.id).ok_or_else(not_found)?;
        Ok(require(rights, &permission::ORGANIZATIONS_READ, position).is_ok().then_some(found))
    }

    /// An organization with everything below it that is not INACTIVE. Needs `organizations:read` in it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], also for an INACTIVE organization; [`Error::Forbidden`].
    pub async fn tree(&self, caller: &Caller, id: OrganizationId) -> Result<OrganizationTree> {
        let hierarchy = self.read_permitted(caller, id, &permission::ORGANIZATIONS_READ).await?;
        let depth = hierarchy.node(id).ok_or_else(not_found)?.depth();
        let _turn = self.0.long_read(caller).await?;
        let mut below = self.0.store.subtree(caller.tenant(), id).await?;
        let is_root = |organization: &Organization| organization.id == id;
        let root = below.iter().position(is_root).map(|position| below.remove(position));
        let root = root.filter(|root| !root.status.is_inactive()).ok_or_else(not_found)?;
        Ok(OrganizationTree::build(root, below, depth))
    }

    /// The organizations directly below an organization that are not INACTIVE, newest first. Needs `organizations:read`
    /// in it. There are none below an INACTIVE organization.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`].
    pub async fn children(&self, caller: &Caller, id: OrganizationId) -> Result<Vec<Organization>> {
        let lineage = self.0.lineages(caller.tenant(), [id]).await?;
        let position = lineage.position(id).ok_or_else(not_found)?;
        require(self.0.rights(caller), &permission::ORGANIZATIONS_READ, position)?;
        let few = self.0.store.children(caller.tenant(), id, FEW_CHILDREN).await?;
        if few.len() < FEW_CHILDREN as usize {
            return Ok(few);
        }
        let _turn = self.0.long_read(caller).await?;
        Ok(self.0.store.children(caller.tenant(), id, u32::MAX).await?)
    }

    /// The organizations directly below any of these that are not INACTIVE, by name: at most the first `each` of each
    /// parent, and of those at most the first `limit`. Parents in which the caller does not hold `organizations:read`
    /// count as absent.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] when the caller has the permission nowhere; [`Error::Validation`] which names `parents`, if
    /// there are more than [`MAX_ASKED`].
    pub async fn children_of(
        &self,
        caller: &Caller,
        parents: &[OrganizationId],
        each: u32,
        limit: u32,
    ) -> Result<Vec<OrganizationWithDepth>> {
        let (ancestry, parents) = self.readable(caller, "parents", parents).await?;
        if parents.is_empty() {
            return Ok(Vec::new());
        }
        let _turn = self.0.long_read(caller).await?;
        let children = self.0.store.children_of(caller.tenant(), &parents, each, limit).await?;
        let placed = children.into_iter().filter_map(|organization| {
            let depth = ancestry.position(organization.parent_id?)?.depth() + 1;
            Some(OrganizationWithDepth { organization, depth })
        });
        Ok(placed.collect())
    }

    /// The counts of organizations: what is below them, and their members. Needs `organizations:read` in each
    /// organization, and `role-assignments:read` for its members. Organizations that the caller may not read count as
    /// absent, and members that it may not see, or that are too many, are not counted.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] when the caller has `organizations:read` nowhere; [`Error::Validation`] which names
    /// `organizations`, if there are more than [`MAX_ASKED`].
    pub async fn counts(
        &self,
        caller: &Caller,
        organizations: &[OrganizationId],
    ) -> Result<BTreeMap<OrganizationId, OrganizationCounts>> {
        let (ancestry, organizations) = self.readable(caller, "organizations", organizations).await?;
        if organizations.is_empty() {
            return Ok(BTreeMap::new());
        }
        let (rights, now) = (self.0.rights(caller), self.0.now());
        let _turn = self.0.long_read(caller).await?;
        let counts = self.0.store.organization_counts(caller.tenant(), &organizations, now, MAX_COUNTED).await?;
        let visible = counts.into_iter().map(|counts| {
            let position = ancestry.position(counts.id);
            let sees_members = position.is_some_and(|it| rights.holds(&permission::ROLE_ASSIGNMENTS_READ, it.scope()));
            (counts.id, OrganizationCounts { members: counts.members.filter(|_| sees_members), ..counts })
        });
        Ok(visible.collect())
    }

    /// Returns those of these organizations that the caller may read, each once, and where they are.
    async fn readable(
        &self,
        caller: &Caller,
        field: &str,
        organizations: &[OrganizationId],
    ) -> Result<(Arc<Ancestry>, Vec<OrganizationId>)> {
        let rights = self.0.rights(caller);
        rights.require_anywhere(&permission::ORGANIZATIONS_READ)?;
        if organizations.len() > MAX_ASKED {
            return Err(Error::field(field, format!("must have at most {MAX_ASKED} items")));
        }
        let mut organizations = distinct(organizations.iter().copied());
        let ancestry = self.0.lineages(caller.tenant(), organizations.iter().copied()).await?;
        let may_read = |position: Position<'_>| require(rights, &permission::ORGANIZATIONS_READ, position).is_ok();
        organizations.retain(|id| ancestry.position(*id).is_some_and(may_read));
        Ok((ancestry, organizations))
    }

    /// The ancestors of an organization that the caller may read, from the root down. Needs `organizations:read` in the
    /// organization.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`].
    pub async fn ancestors(&self, caller: &Caller, id: OrganizationId) -> Result<Vec<OrganizationWithDepth>> {
        let hierarchy = self.read_permitted(caller, id, &permission::ORGANIZATIONS_READ).await?;
        let rights = self.0.rights(caller);
        let above = hierarchy.node(id).into_iter().flat_map(Node::upwards).skip(1);
        let mut above: Vec<OrganizationWithDepth> = above
            .filter(|node| require(rights, &permission::ORGANIZATIONS_READ, **node).is_ok())
            .map(OrganizationWithDepth::from)
            .collect();
        above.reverse();
        Ok(above)
    }

    /// Checks that the end of an organization revokes a limited number of role assignments, before any is read. A few
    /// more may be made until the change has the lock.
    async fn check_revocations(&self, caller: &Caller, id: OrganizationId) -> Result<()> {
        let filter = AssignmentFilter { organization: Some(id), include_expired: true, ..AssignmentFilter::default() };
        let (scope, page, most) = (VisibleScope::Tenant, PageRequest::new(1, 1)?, self.0.settings.max_revocations);
        let held = self.0.store.assignments(caller.tenant(), &filter, &scope, page, self.0.now()).await?.total;
        if held > most { Err(Conflict::TooManyRevocations(most).into()) } else { Ok(()) }
    }

    /// Returns an organization and its ancestors, if the caller holds a permission in it.
    ///
    /// A change checks the permission again under the tenant's lock. This first check keeps callers without the
    /// permission from taking the lock.
    async fn read_permitted(&self, caller: &Caller, id: OrganizationId, permission: &Permission) -> Result<Hierarchy> {
        let hierarchy: Hierarchy = self.0.store.lineages(caller.tenant(), &[id]).await?.into_iter().collect();
        permitted(&hierarchy, self.0.rights(caller), permission, id)?;
        Ok(hierarchy)
    }

    /// Changes, moves, suspends, deletes or restores an organization. Needs `organizations:update` in it. A move also
    /// needs it in the new parent, or tenant-wide if the organization becomes a root. The status INACTIVE also needs
    /// `organizations:delete`. A patch that changes nothing records nothing.
    ///
    /// Roles may begin to count by the change, because the organization gets new ancestors or becomes ACTIVE again. The
    /// caller must then hold the permissions of these roles, there and for as long.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`], [`Error::Validation`], [`Conflict::SlugTaken`];
    /// [`Error::About`] `parentId` with [`Error::NotFound`], [`Rule::CircularParent`], [`Rule::Depth`] or
    /// [`Conflict::OrganizationInactive`]; [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation);
    /// [`Conflict::OrganizationHasChildren`], [`Conflict::OrganizationTooDeep`], [`Conflict::TooManyHomes`].
    pub async fn update(
        &self,
        caller: &Caller,
        id: OrganizationId,
        patch: OrganizationPatch,
    ) -> Result<OrganizationWithDepth> {
        self.update_if(caller, id, patch, &Precondition::Exists).await
    }

    /// Changes an organization as [`update`](Self::update) does, if a precondition holds. It is checked under the lock
    /// of the change.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update), [`Error::PreconditionFailed`].
    pub async fn update_if(
        &self,
        caller: &Caller,
        id: OrganizationId,
        patch: OrganizationPatch,
        precondition: &Precondition,
    ) -> Result<OrganizationWithDepth> {
        self.read_permitted(caller, id, &permission::ORGANIZATIONS_UPDATE).await?;
        let patch = patch.validate()?;
        if patch.status == Some(OrganizationStatus::Inactive) {
            self.check_revocations(caller, id).await?;
        }
        let mut work = self.0.begin(caller).await?;
        let grantor = work.lock_rights().await?;
        let organization = self.update_valid(&mut work, &grantor, id, patch, precondition).await?;
        work.commit().await?;
        Ok(organization)
    }

    /// Changes an organization in a unit of work that has read the rights of its caller.
    pub(crate) async fn update_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        id: OrganizationId,
        patch: &OrganizationPatch,
    ) -> Result<OrganizationWithDepth> {
        self.update_valid(work, grantor, id, patch.validate()?, &Precondition::Exists).await
    }

    async fn update_valid(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        id: OrganizationId,
        patch: ValidPatch,
        precondition: &Precondition,
    ) -> Result<OrganizationWithDepth> {
        work.invalidate(id);
        let update = load_update(work, id, patch).await?;
        let max_depth = self.0.settings.max_organization_depth;
        let Decided { organization, change } = update.decide(grantor.rights(), precondition, max_depth)?;
        let Some(change) = change else { return Ok(organization) };
        let is_inactive = organization.organization.status.is_inactive();
        let at_home = if is_inactive { lock_at_home(work, id).await? } else { Vec::new() };
        work.apply(change).await?;
        if is_inactive {
            move_homes(work, at_home, organization.organization.parent_id).await?;
            revoke_in(work, id).await?;
        }
        Ok(organization)
    }

    /// Deletes an organization softly: it becomes INACTIVE, the roles held in it end, the groups of directories give
    /// none there any more, its slug becomes free, and its record stays. Users whose home it was get the organization
    /// above as home. Needs `organizations:delete` in it. Does nothing if the organization is INACTIVE already.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`], [`Conflict::OrganizationHasChildren`], [`Conflict::TooManyHomes`].
    pub async fn delete(&self, caller: &Caller, id: OrganizationId) -> Result<()> {
        self.delete_if(caller, id, &Precondition::Exists).await
    }

    /// Deletes an organization as [`delete`](Self::delete) does, if a precondition holds. It is checked under the lock
    /// of the change.
    ///
    /// # Errors
    ///
    /// Those of [`delete`](Self::delete), [`Error::PreconditionFailed`].
    pub async fn delete_if(&self, caller: &Caller, id: OrganizationId, precondition: &Precondition) -> Result<()> {
        self.read_permitted(caller, id, &permission::ORGANIZATIONS_DELETE).await?;
        self.check_revocations(caller, id).await?;
        let mut work = self.0.begin(caller).await?;
        let grantor = work.lock_rights().await?;
        self.delete_in(&mut work, &grantor, id, precondition).await?;
        work.commit().await
    }

    /// Deletes an organization in a unit of work that has read the rights of its caller. The caller of this function
    /// limits how many role assignments that revokes.
    pub(crate) async fn delete_in(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        id: OrganizationId,
        precondition: &Precondition,
    ) -> Result<()> {
        let hierarchy = work.hierarchy_of(&[id]).await?;
        let node = permitted(&hierarchy, grantor.rights(), &permission::ORGANIZATIONS_DELETE, id)?;
        work.invalidate(id);
        require_version(precondition, OrganizationWithDepth::from(node).version())?;
        let before = node.organization.clone();
        if before.status.is_inactive() {
            return Ok(());
        }
        check_childless(&work.reads().subtree(id).await?)?;
        let at_home = lock_at_home(work, id).await?;
        let after = Organization { status: OrganizationStatus::Inactive, ..before.clone() }.changed(work.now());
        let parent = after.parent_id;
        work.apply(OrganizationChange::Delete { before, after }).await?;
        move_homes(work, at_home, parent).await?;
        revoke_in(work, id).await
    }
}

/// Reads the facts for the decision about a patch. The subtree and the roles are read only if the parent or the status
/// changes.
async fn load_update(work: &mut UnitOfWork<'_>, id: OrganizationId, mut patch: ValidPatch) -> Result<Update> {
    let now = work.now();
    let attributes = AttributeFacts::read(work, id, patch.attributes.take()).await?;
    let ids: Vec<OrganizationId> = [Some(id), patch.parent.flatten()].into_iter().flatten().collect();
    let hierarchy = work.hierarchy_of(&ids).await?;
    let update = Update::new(id, patch, hierarchy, now).with_attributes(attributes);
    let Some((hierarchy, after)) = update.needs_tree() else { return Ok(update) };
    let subtree = work.reads().subtree(id).await?;
    let tree = AffectedTree::new(hierarchy, &subtree);
    // `None`: there is no such parent, and the decision refuses the move.
    let activations = tree.activations(after).unwrap_or_default();
    let organizations: Vec<OrganizationId> = activations.iter().map(|activation| activation.held_in).collect();
    let roles = if organizations.is_empty() { Vec::new() } else { roles_in(work, &organizations).await? };
    let activated = ActivatedRoles::new(tree, organizations, roles);
    Ok(update.with_tree(TreeFacts { subtree, activated }))
}

/// Returns the roles that users hold in these organizations, or can hold: when they accept their invitations, become
/// members of groups of directories, or ask by their eligibilities.
async fn roles_in(work: &mut UnitOfWork<'_>, organizations: &[OrganizationId]) -> Result<Vec<HeldRole>> {
    let now = work.now();
    let mut held = work.reads().roles_held_in(organizations, now).await?;
    let offered = work.reads().roles_offered_in(organizations, now).await?;
    let roles = work.roles_of(offered.iter().map(|offered| offered.role_id)).await?;
    let offered = offered.into_iter().filter_map(|offered| {
        let (role, organization) = (Arc::clone(roles.get(&offered.role_id)?), offered.organization_id?);
        Some(HeldRole { role, organization, until: Until::from(offered.expires_at) })
    });
    held.extend(offered.filter(|offered| offered.until > Until::Moment(now)));
    let groups = work.reads().mapped_groups(&[], organizations).await?;
    let mapped: HashSet<PlacedRole> = groups.into_iter().flat_map(|group| group.grants).collect();
    let roles = work.roles_of(mapped.iter().map(|grant| grant.role_id)).await?;
    let given = mapped.into_iter().filter_map(|grant| {
        let (role, organization) = (Arc::clone(roles.get(&grant.role_id)?), grant.organization_id?);
        Some(HeldRole { role, organization, until: Until::Forever })
    });
    held.extend(given.filter(|given| organizations.contains(&given.organization)));
    let mut eligibilities = work.reads().all_eligibilities().await?;
    eligibilities.retain(|eligibility| {
        eligibility.is_live(now) && eligibility.organization_id.is_some_and(|id| organizations.contains(&id))
    });
    let roles = work.roles_of(eligibilities.iter().map(|eligibility| eligibility.role_id)).await?;
    held.extend(eligibilities.iter().filter_map(|eligibility| {
        let (role, organization) = (Arc::clone(roles.get(&eligibility.role_id)?), eligibility.organization_id?);
        Some(HeldRole { role, organization, until: eligibility.until() })
    }));
    Ok(held)
}

/// The maximum number of users who get another home because an organization is deleted.
const MAX_MOVED_HOMES: u32 = 2_000;

/// How many of them change at once. Between these steps, the thread does other work.
const HOMES_AT_ONCE: usize = 500;

/// Locks the users who get another home if an organization is deleted.
async fn lock_at_home(work: &mut UnitOfWork<'_>, id: OrganizationId) -> Result<Vec<User>> {
    let users = work.reads().lock_users_at_home(id, MAX_MOVED_HOMES + 1).await?;
    if users.len() > MAX_MOVED_HOMES as usize {
        return Err(Conflict::TooManyHomes(MAX_MOVED_HOMES).into());
    }
    Ok(users)
}

/// Gives users whose home was deleted the organization above it as home.
async fn move_homes(work: &mut UnitOfWork<'_>, users: Vec<User>, home: Option<OrganizationId>) -> Result<()> {
    let at = work.now();
    for users in users.chunks(HOMES_AT_ONCE) {
        work.apply(UserChange::MoveHomes { before: users.to_vec(), home, at }).await?;
    }
    Ok(())
}

/// Ends the assignments in a deleted organization, the mappings of groups to roles there, and the eligibilities.
async fn revoke_in(work: &mut UnitOfWork<'_>, id: OrganizationId) -> Result<()> {
    of_groups::unmap(work, id).await?;
    eligibility::removed_in(work, id).await?;
    let grants = work.reads().grants(GrantQuery::In(id)).await?;
    revoke(work, grants, RevokeReason::OrganizationDeleted).await
}
