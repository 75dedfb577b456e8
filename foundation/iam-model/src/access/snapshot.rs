use std::collections::HashMap;
use std::sync::Arc;

use crate::access::{Authority, Decision, Denial, ResourceScope};
use crate::clock::Timestamp;
use crate::id::{OrganizationId, UserId};
use crate::organization::{Ancestry, Hierarchy, Position};
use crate::permission::Permission;
use crate::user::UserStatus;

/// Users with their rights, and the organizations in which they hold them. It answers many questions without a query to
/// the store.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    users: HashMap<UserId, Subject>,
    ancestry: Arc<Ancestry>,
}

#[derive(Clone, Debug)]
struct Subject {
    status: UserStatus,
    authority: Authority,
}

impl Snapshot {
    /// A snapshot of these organizations, without users.
    #[must_use]
    pub fn new(hierarchy: Hierarchy) -> Self {
        Self::over(Arc::new(hierarchy.into_ancestry()))
    }

    /// As [`new`](Self::new), with organizations that other values share.
    pub fn over(ancestry: Arc<Ancestry>) -> Self {
        Self { users: HashMap::new(), ancestry }
    }

    /// Adds a user.
    pub fn insert(&mut self, user: UserId, status: UserStatus, authority: Authority) {
        self.users.insert(user, Subject { status, authority });
    }

    /// Whether a user may do something in an organization, or tenant-wide. Returns `false` for a user or an
    /// organization that is not in the snapshot.
    #[must_use]
    pub fn allows(
        &self,
        user: UserId,
        permission: &Permission,
        organization: Option<OrganizationId>,
        now: Timestamp,
    ) -> bool {
        self.subject_and_scope(user, organization).is_some_and(|(subject, scope)| {
            subject.status == UserStatus::Active && subject.authority.allows(permission, scope, now)
        })
    }

    /// As [`allows`](Self::allows), with the reason. Returns `None` for a user or an organization that is not in the
    /// snapshot.
    #[must_use]
    pub fn explain(
        &self,
        user: UserId,
        permission: &Permission,
        organization: Option<OrganizationId>,
        now: Timestamp,
    ) -> Option<Decision> {
        let (subject, scope) = self.subject_and_scope(user, organization)?;
        Some(match subject.status {
            UserStatus::Active => subject.authority.explain(permission, scope, now),
            status => Decision::denied(Denial::UserNotActive(status)),
        })
    }

    /// Whether a user holds a permission there, also if the user is not ACTIVE.
    pub fn holds(
        &self,
        user: UserId,
        permission: &Permission,
        organization: Option<OrganizationId>,
        now: Timestamp,
    ) -> bool {
        let found = self.subject_and_scope(user, organization);
        found.is_some_and(|(subject, scope)| subject.authority.allows(permission, scope, now))
    }

    /// The rights of a user. Returns `None` for one that is not in the snapshot or not ACTIVE, who may do nothing.
    #[must_use]
    pub fn authority(&self, user: UserId) -> Option<&Authority> {
        let subject = self.users.get(&user).filter(|subject| subject.status == UserStatus::Active)?;
        Some(&subject.authority)
    }

    /// The resource scope of an organization, or the tenant if no organization is given. Returns `None` for an
    /// organization that is not in the snapshot.
    pub fn scope(&self, organization: Option<OrganizationId>) -> Option<ResourceScope<'_>> {
        match organization {
            None => Some(ResourceScope::Tenant),
            Some(id) => self.ancestry.position(id).map(Position::scope),
        }
    }

    fn subject_and_scope(
        &self,
        user: UserId,
        organization: Option<OrganizationId>,
    ) -> Option<(&Subject, ResourceScope<'_>)> {
        Some((self.users.get(&user)?, self.scope(organization)?))
    }
}
