use iam_model::access::ResourceScope;
use iam_model::access_request::{AccessRequest, AccessRequestScope, ApproverPlace};
use iam_model::audit::ResourceType;
use iam_model::context::Actor;
use iam_model::error::{Error, Forbidden, Result};
use iam_model::id::{AccessRequestId, OrganizationId};
use iam_model::organization::{Hierarchy, Position};
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::role::Role;
use iam_model::version::Version;

use crate::caller::Caller;
use crate::distinct::distinct;
use crate::engine::{Engine, LockedRights, UnitOfWork};

/// A request under the tenant's lock, with what decides about the caller.
pub(super) struct Found {
    pub(super) request: AccessRequest,
    /// The role; `None` if it is gone.
    role: Option<Role>,
    rights: LockedRights,
    hierarchy: Hierarchy,
    /// Whether the user asks itself, in a session.
    is_own: bool,
}

impl Found {
    /// Reads the caller's rights under the tenant's lock, and a request, whether or not the caller may see it.
    pub(super) async fn lock(work: &mut UnitOfWork<'_>, id: AccessRequestId) -> Result<Self> {
        let rights = work.lock_rights().await?;
        let request = work.reads().access_requests_by_id(&[id]).await?.pop().ok_or_else(not_found)?;
        let hierarchy = work.hierarchy_of(request.organization_id.as_slice()).await?;
        let role = work.reads().roles_by_id(&[request.role_id]).await?.pop();
        let is_own = work.caller().is_in_session_of(request.requested_by);
        Ok(Self { request, role, rights, hierarchy, is_own })
    }

    /// The version of the request with that of its role.
    pub(super) fn version(&self) -> Version {
        version_of(&self.request, self.role.as_ref())
    }

    /// The version of the role; `None` if it is gone.
    pub(super) fn role_version(&self) -> Option<Version> {
        self.role.as_ref().map(|role| role.version)
    }

    /// Requires that the caller may decide about the request: it holds the approver role there or above, or, without
    /// such a role, `access-requests:update`. An elevation does not count.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a caller that does not see the request, [`Forbidden::OwnRequest`],
    /// [`Forbidden::NotApprover`], [`Forbidden::Permission`].
    pub(super) fn require_decider(&self) -> Result<()> {
        if self.is_own {
            return Err(Forbidden::OwnRequest.into());
        }
        if self.decides()? {
            return Ok(());
        }
        Err(self.refusal(match self.request.approver_role_id {
            Some(_) => Forbidden::NotApprover,
            None => Forbidden::Permission(permission::ACCESS_REQUESTS_UPDATE),
        })?)
    }

    /// Requires that the caller asks itself, or holds a permission in the place of the request by its standing rights.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a caller that does not see the request, [`Forbidden::Permission`].
    pub(super) fn require_own_or_standing(&self, needed: &Permission) -> Result<()> {
        self.require_own_or(&self.rights.standing(), needed)
    }

    /// Requires the same, also by an elevation.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a caller that does not see the request, [`Forbidden::Permission`].
    pub(super) fn require_own_or_permission(&self, needed: &Permission) -> Result<()> {
        self.require_own_or(&self.rights, needed)
    }

    /// Requires that the caller sees the request.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub(super) fn require_visible(&self) -> Result<()> {
        if self.is_visible()? { Ok(()) } else { Err(not_found()) }
    }

    fn require_own_or(&self, rights: &LockedRights, needed: &Permission) -> Result<()> {
        if self.is_own || rights.rights().holds(needed, self.scope()?) {
            Ok(())
        } else {
            Err(self.refusal(Forbidden::Permission(needed.clone()))?)
        }
    }

    fn is_visible(&self) -> Result<bool> {
        let is_read = self.rights.rights().holds(&permission::ACCESS_REQUESTS_READ, self.scope()?);
        Ok(self.is_own || is_read || self.decides()?)
    }

    fn decides(&self) -> Result<bool> {
        Ok(decides(&self.rights.standing(), &self.request, self.scope()?))
    }

    /// The refusal for a caller that may not do something: only one that sees the request learns that it exists.
    fn refusal(&self, forbidden: Forbidden) -> Result<Error> {
        Ok(if self.is_visible()? { forbidden.into() } else { not_found() })
    }

    fn scope(&self) -> Result<ResourceScope<'_>> {
        match self.request.organization_id {
            None => Ok(ResourceScope::Tenant),
            Some(organization) => Ok(self.hierarchy.node(organization).ok_or_else(not_found)?.scope()),
        }
    }
}

/// Whether the holder of these standing rights decides about requests like this one, of others. `scope` is the place of
/// the request.
pub(super) fn decides(standing: &LockedRights, request: &AccessRequest, scope: ResourceScope<'_>) -> bool {
    match request.approver_role_id {
        Some(role) => standing.rights().holds_role(role, scope),
        None => standing.rights().holds(&permission::ACCESS_REQUESTS_UPDATE, scope),
    }
}

/// The version of a request with that of its role; of a request whose role is gone, that of the request.
pub(super) fn version_of(request: &AccessRequest, role: Option<&Role>) -> Version {
    role.map_or(request.version, |role| request.version_with_role(role.version))
}

impl Engine {
    /// Returns which requests a caller sees. One by an API key decides about none, and asks for nothing.
    pub(super) fn access_request_scope(&self, caller: &Caller) -> AccessRequestScope {
        let read = self.rights(caller).visible_scope(&permission::ACCESS_REQUESTS_READ).ok();
        let Actor::User { user, .. } = *caller.actor() else {
            return AccessRequestScope { user: None, read, deciding: Vec::new() };
        };
        let standing = caller.authority().standing();
        let mut deciding = Vec::new();
        for (role, organization) in standing.places_of(self.now()) {
            deciding.push(ApproverPlace { role: Some(role.id), organization });
            if role.permissions.allows(&permission::ACCESS_REQUESTS_UPDATE) {
                deciding.push(ApproverPlace { role: None, organization });
            }
        }
        AccessRequestScope { user: Some(user), read, deciding: distinct(deciding) }
    }

    /// Whether a caller sees a request.
    pub(super) async fn sees_access_request(&self, caller: &Caller, request: &AccessRequest) -> Result<bool> {
        let ancestry = self.lineages(caller.tenant(), request.organization_id).await?;
        let is_within = |below: OrganizationId, above: OrganizationId| {
            ancestry.position(below).into_iter().flat_map(Position::lineage).any(|id| id == above)
        };
        Ok(self.access_request_scope(caller).shows(request, is_within))
    }
}

pub(super) fn not_found() -> Error {
    Error::NotFound(ResourceType::ACCESS_REQUEST)
}
