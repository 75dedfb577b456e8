use std::collections::HashMap;
use std::sync::Arc;

use iam_model::access::{Authority, DecidingGrant, Decision, ResourceScope};
use iam_model::assignment::{Grant, by_user};
use iam_model::clock::Timestamp;
use iam_model::error::{Error, Result};
use iam_model::history::Versions;
use iam_model::id::{OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::{Ancestry, Position};
use iam_model::page::{Page, PageRequest};
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::store::HolderQuery;
use iam_model::user::User;

use crate::access::service::{Access, require_there};
use crate::caller::Caller;
use crate::grouped::grouped;
use crate::history;

/// A user who holds a permission, or any role, in a place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The user.
    pub user: User,
    /// The assignments that grant the permission, each of which is enough by itself; or all that count in the place.
    pub grants: Vec<DecidingGrant>,
    /// Whether these are more than [`Decision::MAX_GRANTS`], so that some are not named.
    pub truncated: bool,
}

impl Access<'_> {
    /// A page of the users who may do something in an organization, or tenant-wide if none is given, with the
    /// assignments that let them: those for whom [`check`](Self::check) allows it. The order is that of their ids.
    ///
    /// Needs `role-assignments:read` there. `at` is a moment; `None` for now. A future moment asks who will be allowed
    /// as things stand now. An earlier moment also needs `audit-logs:read` tenant-wide.
    ///
    /// ```
    #[doc = doctest_setup!()]
    /// use iam_core::page::PageRequest;
    ///
    /// let holders = iam.access().who(&ada, "users:delete".parse()?, None, None, PageRequest::default()).await?;
    /// assert_eq!(holders.items[0].user.email.as_str(), "ada@example.com");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]; [`Error::Validation`] naming `at` for a moment before the history of the tenant begins;
    /// [`Error::About`] `organizationId` with [`Error::NotFound`] for an organization that does not exist or in which
    /// the caller holds nothing.
    pub async fn who(
        &self,
        caller: &Caller,
        permission: Permission,
        organization: Option<OrganizationId>,
        at: Option<Timestamp>,
        page: PageRequest,
    ) -> Result<Page<Holder>> {
        self.holders(caller, Some(&permission), organization, at, page).await
    }

    /// A page of the ACTIVE users who hold a role that counts in an organization, or tenant-wide if none is given, with
    /// all such assignments: those of the organization itself, those of an organization above it, and tenant-wide ones.
    /// The order is that of the ids of the users. Rights and moments are those of [`who`](Self::who).
    ///
    /// ```
    #[doc = doctest_setup!()]
    /// use iam_core::page::PageRequest;
    ///
    /// let holders = iam.access().role_holders(&ada, None, None, PageRequest::default()).await?;
    /// assert_eq!(holders.items[0].grants[0].role_name.as_str(), "TENANT_ADMIN");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`who`](Self::who).
    pub async fn role_holders(
        &self,
        caller: &Caller,
        organization: Option<OrganizationId>,
        at: Option<Timestamp>,
        page: PageRequest,
    ) -> Result<Page<Holder>> {
        self.holders(caller, None, organization, at, page).await
    }

    /// A page of the users who hold a permission in a place; any role if no permission is given.
    async fn holders(
        &self,
        caller: &Caller,
        permission: Option<&Permission>,
        organization: Option<OrganizationId>,
        at: Option<Timestamp>,
        page: PageRequest,
    ) -> Result<Page<Holder>> {
        let now = self.0.now();
        let moment = match at {
            Some(at) if at < now => Moment::Past(at),
            at => Moment::Present(at.unwrap_or(now)),
        };
        let ancestry = self.may_list_holders(caller, organization, moment).await?;
        let _turn = self.0.long_read(caller).await?;
        let position = organization.map(|id| ancestry.position(id));
        // The organization did not exist at that moment.
        let Some(position) = position.map_or(Some(None), |position| position.map(Some)) else {
            return Ok(Page { items: Vec::new(), total: 0, request: page });
        };
        let roles = match permission {
            Some(permission) => Some(self.roles_allowing(caller.tenant(), permission, moment).await?),
            None => None,
        };
        let query = HolderQuery { roles, organizations: counting_in(position), at: moment.at() };
        let Page { items: ids, total, request } = self.0.store.holders(caller.tenant(), &query, page, now).await?;
        let scope = position.map_or(ResourceScope::Tenant, Position::scope);
        let mut counting = HashMap::new();
        for users in grouped(self.0, caller.tenant(), &ids).await? {
            for (user, held) in self.grants_of(caller.tenant(), users, &query, moment).await? {
                counting.insert(user, named(&Authority::of(&held), permission, scope, moment.at()));
            }
        }
        let users = self.0.store.users_by_id(caller.tenant(), &ids).await?;
        let mut users: HashMap<UserId, User> = users.into_iter().map(|user| (user.id, user)).collect();
        let holder = |id: UserId| {
            let (grants, truncated) = counting.remove(&id)?;
            // Empty if the user has lost the permission, or all roles, since the page was read.
            (!grants.is_empty()).then_some(Holder { user: users.remove(&id)?, grants, truncated })
        };
        Ok(Page { items: ids.into_iter().filter_map(holder).collect(), total, request })
    }

    /// Returns the tree above the organization at the moment, if the caller may see there who holds what.
    async fn may_list_holders(
        &self,
        caller: &Caller,
        organization: Option<OrganizationId>,
        moment: Moment,
    ) -> Result<Arc<Ancestry>> {
        let rights = self.0.rights(caller);
        let ancestry = self.0.lineages(caller.tenant(), organization).await?;
        let about_place = |error: Error| error.about_what_it_names("organizationId".to_owned());
        require_there(rights, &permission::ROLE_ASSIGNMENTS_READ, organization, &ancestry).map_err(about_place)?;
        let Moment::Past(at) = moment else { return Ok(ancestry) };
        history::may_look_back(self.0, caller, "at", at).await?;
        let organizations = organization.into_iter().collect();
        let versions = history::organizations(self.0, caller.tenant(), organizations, at).await?;
        Ok(Arc::new(versions.all_at(at).collect()))
    }

    /// Returns the roles that contain the permission.
    async fn roles_allowing(&self, tenant: TenantId, permission: &Permission, moment: Moment) -> Result<Vec<RoleId>> {
        let current = self.0.store.roles_allowing(tenant, permission).await?;
        let ended = match moment {
            Moment::Present(_) => Vec::new(),
            Moment::Past(at) => self.0.store.past_roles(tenant, None, at).await?,
        };
        let versions = Versions::new(current, ended);
        let roles = versions.all_at(moment.at()).filter(|role| role.permissions.allows(permission));
        Ok(roles.map(|role| role.id).collect())
    }

    /// Returns the assignments of users, or only those that can decide: a user may have a thousand others.
    async fn grants_of(
        &self,
        tenant: TenantId,
        users: &[UserId],
        query: &HolderQuery,
        moment: Moment,
    ) -> Result<HashMap<UserId, Vec<Grant>>> {
        let held = match moment {
            Moment::Present(_) => self.0.store.deciding_grants(tenant, users, query).await?,
            Moment::Past(at) => history::read(self.0, tenant, users, &[], at).await?.grants_at(at),
        };
        Ok(by_user(held))
    }
}

/// Returns the assignments that grant a permission in a resource scope, or all that count there, and whether there are
/// more than are named.
fn named(
    authority: &Authority,
    permission: Option<&Permission>,
    scope: ResourceScope<'_>,
    at: Timestamp,
) -> (Vec<DecidingGrant>, bool) {
    if let Some(permission) = permission {
        let Decision { grants, truncated, .. } = authority.explain(permission, scope, at);
        return (grants, truncated);
    }
    let mut counting = authority.counting_grants(scope, at);
    let grants = counting.by_ref().take(Decision::MAX_GRANTS).collect();
    (grants, counting.next().is_some())
}

/// The moment of a question.
#[derive(Clone, Copy)]
enum Moment {
    /// Now or later: the current assignments, roles and statuses decide.
    Present(Timestamp),
    /// Earlier: those of that moment decide.
    Past(Timestamp),
}

impl Moment {
    fn at(self) -> Timestamp {
        match self {
            Self::Present(at) | Self::Past(at) => at,
        }
    }
}

/// The organizations in which an assignment counts at a position. Tenant-wide assignments count everywhere.
pub(crate) fn counting_in(position: Option<Position<'_>>) -> Vec<OrganizationId> {
    let Some(position) = position.filter(|position| !position.is_inactive()) else { return Vec::new() };
    position.upwards().filter(|above| above.is_lineage_active()).map(Position::id).collect()
}
