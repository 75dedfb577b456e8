use std::collections::HashMap;

use iam_model::access::ResourceScope;
use iam_model::assignment::OfferedRole;
use iam_model::audit::ResourceType;
use iam_model::change::EligibilityChange;
use iam_model::eligibility::{Eligibility, Eligible};
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::id::{EligibilityId, OrganizationId, RoleId, TenantId};
use iam_model::invitation::InvitedRole;
use iam_model::organization::{Organization, OrganizationSummary, Position};
use iam_model::page::{Page, PageRequest};
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::role::{Role, RoleSummary};
use iam_model::user::{UserKind, UserStatus};
use iam_model::version::{Precondition, Version};

use crate::access_request::deciders;
use crate::assignment::{References, check_expiries};
use crate::caller::Caller;
use crate::distinct::distinct;
use crate::eligibility::removal::remove;
use crate::eligibility::{EligibilityPatch, NewEligibility};
use crate::engine::{Engine, LockedRights, UnitOfWork, require_version};
use crate::idempotency::Idempotency;

/// Lets users ask for roles for a time; see [`Iam::eligibilities`](crate::iam::Iam::eligibilities).
///
/// A permission that is held in an organization is for the eligibilities of that organization and of those below it.
/// Making, changing and removing them needs standing rights: those that a caller holds by an access request do not
/// count.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::eligibility::{EligibilityPatch, NewEligibility};
///
/// let grace = iam.users().create(&ada, person("grace@example.com")).await?;
/// let auditor = iam.roles().by_name(&ada, "AUDITOR").await?.ok_or("it is built in")?;
/// let new = NewEligibility { max_seconds: Some(3_600), ..NewEligibility::of_user(auditor.id, grace.id) };
/// let eligibility = iam.eligibilities().create(&ada, new).await?;
/// assert_eq!(eligibility.approvals, 1);
///
/// let patch = EligibilityPatch { approvals: Some(2), ..EligibilityPatch::default() };
/// iam.eligibilities().update(&ada, eligibility.id, patch).await?;
/// iam.eligibilities().delete(&ada, eligibility.id).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Eligibilities<'a>(pub(crate) &'a Engine);

/// An eligibility with the names of its role and its organization.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedEligibility {
    /// The eligibility.
    pub eligibility: Eligibility,
    /// The role for which users may ask.
    pub role: RoleSummary,
    /// The organization, when it is not tenant-wide.
    pub organization: Option<OrganizationSummary>,
}

impl Eligibilities<'_> {
    /// Lets a user, or the holders of a role, ask for a role. Needs `eligibilities:create` in the place of the role,
    /// all permissions of the role, there and until the eligibility expires, and a session that has authenticated
    /// recently.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Forbidden::Escalation`], [`Forbidden::ApiKey`] for a caller by an API key,
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh), [`Error::Validation`] which names
    /// every invalid field, also `userId` for a service account; [`Error::About`] with [`Error::NotFound`] for a role,
    /// an organization or a user that does not exist, with [`Error::Rule`] for a role of another scope;
    /// [`Conflict::OrganizationInactive`], [`Conflict::UserInactive`], [`Conflict::TooManyEligibilities`].
    pub async fn create(&self, caller: &Caller, new: NewEligibility) -> Result<Eligibility> {
        self.create_once(caller, new, None).await
    }

    /// Makes an eligibility as [`create`](Self::create) does, at most once for an [idempotency
    /// key](crate::idempotency). `None` is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_once(
        &self,
        caller: &Caller,
        new: NewEligibility,
        idempotency: Option<&Idempotency>,
    ) -> Result<Eligibility> {
        let iam = self.0;
        iam.standing(caller).rights().require_anywhere(&permission::ELIGIBILITIES_CREATE)?;
        caller.refuse_api_key()?;
        caller.refuse_impersonator()?;
        let valid = new.validate()?;
        let once = iam.once(caller, idempotency, &ResourceType::ELIGIBILITY);
        let mut work = iam.begin(caller).await?;
        if let Some(made) = once.find(&mut work).await? {
            return Ok(made);
        }
        let grantor = work.lock_rights().await?.standing();
        let now = work.now();
        check_expiries([("expiresAt".to_owned(), valid.expires_at)], now)?;
        let named = [Some(new.role), new.held_role, new.approver_role].into_iter().flatten();
        let references = References::load(&mut work, named, new.organization.into_iter()).await?;
        let eligibility = Eligibility {
            id: iam.next_id(),
            tenant_id: caller.tenant(),
            role_id: new.role,
            organization_id: new.organization,
            eligible: valid.eligible,
            max_seconds: valid.max_seconds,
            approvals: valid.approvals,
            approver_role_id: new.approver_role,
            expires_at: valid.expires_at,
            created_at: now,
            created_by: caller.user(),
            updated_at: now,
            version: Version::FIRST,
        };
        let offered = offer(&references, &grantor, &permission::ELIGIBILITIES_CREATE, &eligibility)?;
        check_eligible(&mut work, &references, eligibility.eligible).await?;
        check_approver(&references, eligibility.approver_role_id)?;
        work.require_fresh().await?;
        if work.reads().all_eligibilities().await?.len() as u64 >= Eligibility::MAX {
            return Err(Conflict::TooManyEligibilities.into());
        }
        let create = EligibilityChange::Create { eligibility: eligibility.clone(), offered: Box::new(offered) };
        work.apply(create).await?;
        once.keep(&mut work, &eligibility).await?;
        work.commit().await?;
        Ok(eligibility)
    }

    /// Returns a page of the eligibilities, also expired ones, newest first. Needs `eligibilities:read`. If the
    /// permission is held in organizations, the list is limited to those in these and below.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn list(&self, caller: &Caller, page: PageRequest) -> Result<Page<ListedEligibility>> {
        let (iam, tenant) = (self.0, caller.tenant());
        let visible_scope = iam.rights(caller).visible_scope(&permission::ELIGIBILITIES_READ)?;
        let _turn = iam.long_list(caller, false, &visible_scope, page).await?;
        let Page { items, total, request } = iam.store.eligibilities(tenant, &visible_scope, page).await?;
        Ok(Page { items: self.listed(tenant, items).await?, total, request })
    }

    /// Returns an eligibility, also an expired one. Needs `eligibilities:read` in its place.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: EligibilityId) -> Result<ListedEligibility> {
        let rights = self.0.rights(caller);
        rights.require_anywhere(&permission::ELIGIBILITIES_READ)?;
        let found = self.0.store.eligibility(caller.tenant(), id).await?.ok_or_else(not_found)?;
        let ancestry = self.0.lineages(caller.tenant(), found.organization_id).await?;
        let scope = match found.organization_id {
            None => ResourceScope::Tenant,
            Some(organization) => ancestry.position(organization).ok_or_else(not_found)?.scope(),
        };
        rights.require_at(&permission::ELIGIBILITIES_READ, scope, ResourceType::ELIGIBILITY)?;
        self.listed(caller.tenant(), vec![found]).await?.pop().ok_or_else(not_found)
    }

    /// Returns the eligibilities by which the caller can ask now, newest first.
    ///
    /// # Errors
    ///
    /// [`Forbidden::ApiKey`], [`Forbidden::NotAUser`] for trusted code.
    pub async fn own(&self, caller: &Caller) -> Result<Vec<ListedEligibility>> {
        let (user, _) = caller.require_user()?;
        let (iam, tenant, now) = (self.0, caller.tenant(), self.0.now());
        let held = distinct(caller.authority().places_of(now).map(|(role, _)| role.id));
        let mut found = iam.store.eligibilities_of(tenant, user, &held).await?;
        let ancestry = iam.lineages(tenant, found.iter().filter_map(|eligibility| eligibility.organization_id)).await?;
        found.retain(|eligibility| {
            let position = eligibility.organization_id.map(|id| ancestry.position(id));
            let scope = match position {
                None => Some(ResourceScope::Tenant),
                Some(position) => position.filter(|position| !position.is_inactive()).map(Position::scope),
            };
            scope.is_some_and(|scope| eligibility.is_for(user, caller.authority(), scope, now))
        });
        self.listed(tenant, found).await
    }

    /// Returns how many other persons can decide now about a request of the caller by an eligibility by which it can
    /// ask. Of more than 20, only some are counted: at least 20.
    ///
    /// # Errors
    ///
    /// Those of [`own`](Self::own), [`Forbidden::NotEligible`], [`Error::Overloaded`].
    pub async fn count_deciders(&self, caller: &Caller, id: EligibilityId) -> Result<usize> {
        let (user, _) = caller.require_user()?;
        let own = self.own(caller).await?;
        let own = own.into_iter().find(|listed| listed.eligibility.id == id).ok_or(Forbidden::NotEligible)?;
        let _turn = self.0.long_read(caller).await?;
        Ok(deciders(self.0, caller.tenant(), &own.eligibility, user).await?.len())
    }

    /// Changes an eligibility. Needs `eligibilities:update` in its place. A change that gives more also needs what
    /// [`create`](Self::create) needs; see [`Eligibility::is_narrowed_to`]. A patch that changes nothing records
    /// nothing.
    ///
    /// Requests that wait and for which the eligibility is too narrow then are cancelled when they are to be decided or
    /// to begin. What has begun goes on.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create) for what the patch has, [`Error::NotFound`].
    pub async fn update(&self, caller: &Caller, id: EligibilityId, patch: EligibilityPatch) -> Result<Eligibility> {
        self.update_if(caller, id, patch, &Precondition::Exists).await
    }

    /// Changes an eligibility as [`update`](Self::update) does, if a precondition holds. It is checked under the lock
    /// of the change.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update), [`Error::PreconditionFailed`].
    pub async fn update_if(
        &self,
        caller: &Caller,
        id: EligibilityId,
        patch: EligibilityPatch,
        precondition: &Precondition,
    ) -> Result<Eligibility> {
        self.0.standing(caller).rights().require_anywhere(&permission::ELIGIBILITIES_UPDATE)?;
        caller.refuse_impersonator()?;
        let patch = patch.validate()?;
        let mut work = self.0.begin(caller).await?;
        let (grantor, before) = lock(&mut work, id, &permission::ELIGIBILITIES_UPDATE).await?;
        require_version(precondition, before.version)?;
        let now = work.now();
        let after = patch.apply(&before, now);
        if after == before {
            return Ok(before);
        }
        if let Some(expires_at) = patch.expires_at {
            check_expiries([("expiresAt".to_owned(), expires_at)], now)?;
        }
        let named = [Some(after.role_id), patch.approver_role.flatten()].into_iter().flatten();
        let references = References::load(&mut work, named, after.organization_id.into_iter()).await?;
        check_approver(&references, patch.approver_role.flatten())?;
        let offered = if before.is_narrowed_to(&after) {
            None
        } else {
            caller.refuse_api_key()?;
            let offered = offer(&references, &grantor, &permission::ELIGIBILITIES_UPDATE, &after)?;
            work.require_fresh().await?;
            Some(Box::new(offered))
        };
        let before = Box::new(before);
        work.apply(EligibilityChange::Update { before, after: after.clone(), offered }).await?;
        work.commit().await?;
        Ok(after)
    }

    /// Removes an eligibility. Needs `eligibilities:delete` in its place. Requests that wait are cancelled when they
    /// are to be decided or to begin. What has begun goes on.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn delete(&self, caller: &Caller, id: EligibilityId) -> Result<()> {
        self.delete_if(caller, id, &Precondition::Exists).await
    }

    /// Removes an eligibility as [`delete`](Self::delete) does, if a precondition holds. It is checked under the lock
    /// of the change.
    ///
    /// # Errors
    ///
    /// Those of [`delete`](Self::delete), [`Error::PreconditionFailed`].
    pub async fn delete_if(&self, caller: &Caller, id: EligibilityId, precondition: &Precondition) -> Result<()> {
        self.0.standing(caller).rights().require_anywhere(&permission::ELIGIBILITIES_DELETE)?;
        let mut work = self.0.begin(caller).await?;
        let (_, eligibility) = lock(&mut work, id, &permission::ELIGIBILITIES_DELETE).await?;
        require_version(precondition, eligibility.version)?;
        remove(&mut work, &[eligibility], None).await?;
        work.commit().await
    }

    /// Adds the names of the roles and organizations.
    async fn listed(&self, tenant: TenantId, found: Vec<Eligibility>) -> Result<Vec<ListedEligibility>> {
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let store = &self.0.store;
        let roles = distinct(found.iter().map(|eligibility| eligibility.role_id));
        let roles = store.roles_by_id(tenant, &roles).await?.into_iter().map(|role| (role.id, role));
        let roles: HashMap<RoleId, Role> = roles.collect();
        let organizations = distinct(found.iter().filter_map(|eligibility| eligibility.organization_id));
        let organizations = store.lineages(tenant, &organizations).await?.into_iter().map(|found| (found.id, found));
        let organizations: HashMap<OrganizationId, Organization> = organizations.collect();
        let listed = |eligibility: Eligibility| {
            let organization = eligibility.organization_id.and_then(|id| organizations.get(&id));
            let organization =
                organization.map(|found| OrganizationSummary { id: found.id, name: found.name.to_string() });
            Some(ListedEligibility { role: roles.get(&eligibility.role_id)?.summary(), organization, eligibility })
        };
        Ok(found.into_iter().filter_map(listed).collect())
    }
}

/// Reads the caller's standing rights under the tenant's lock, and returns an eligibility for which it holds the
/// permission.
async fn lock(
    work: &mut UnitOfWork<'_>,
    id: EligibilityId,
    needed: &Permission,
) -> Result<(LockedRights, Eligibility)> {
    let grantor = work.lock_rights().await?.standing();
    grantor.rights().require_anywhere(needed)?;
    let found = work.reads().eligibility(id).await?.ok_or_else(not_found)?;
    let hierarchy = work.hierarchy_of(found.organization_id.as_slice()).await?;
    let scope = match found.organization_id {
        None => ResourceScope::Tenant,
        Some(organization) => hierarchy.node(organization).ok_or_else(not_found)?.scope(),
    };
    grantor.rights().require_at(needed, scope, ResourceType::ELIGIBILITY)?;
    Ok((grantor, found))
}

/// Returns the role of an eligibility in its place, if the caller holds the permission and covers the role there.
fn offer(
    references: &References,
    grantor: &LockedRights,
    needed: &Permission,
    eligibility: &Eligibility,
) -> Result<OfferedRole> {
    let Eligibility { role_id, organization_id, expires_at, .. } = *eligibility;
    let mut check = grantor.rights().escalation_check();
    let offered = InvitedRole { role_id, organization_id, expires_at };
    references.offer((grantor.rights(), &mut check), needed, &offered, str::to_owned)
}

async fn check_eligible(work: &mut UnitOfWork<'_>, references: &References, eligible: Eligible) -> Result<()> {
    let user = match eligible {
        Eligible::User(user) => user,
        Eligible::HoldersOf(role) => return references.role(role, &|_: &str| "heldRoleId".to_owned()).map(|_| ()),
    };
    let found = work.reads().users_by_id(&[user]).await?.pop();
    let found = found.ok_or_else(|| Error::NotFound(ResourceType::USER).about("userId"))?;
    if found.kind == UserKind::Service {
        return Err(Error::field("userId", "must be a person: a service account does not log in"));
    }
    if found.status == UserStatus::Inactive {
        return Err(Conflict::UserInactive.into());
    }
    Ok(())
}

fn check_approver(references: &References, role: Option<RoleId>) -> Result<()> {
    match role {
        Some(role) => references.role(role, &|_: &str| "approverRoleId".to_owned()).map(|_| ()),
        None => Ok(()),
    }
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::ELIGIBILITY)
}
