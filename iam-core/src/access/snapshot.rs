use std::collections::HashMap;
use std::sync::Arc;

use super::{Authority, Decision, Denial, Permission, Place};
use crate::clock::Timestamp;
use crate::id::{OrganizationId, UserId};
use crate::organization::{Ancestry, Hierarchy, Position};
use crate::user::UserStatus;

/// Users with what they hold, and the organizations in which they hold it: what many questions are answered from
/// without asking a store.
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
    /// Nobody yet, and these organizations.
    #[must_use]
    pub fn new(hierarchy: Hierarchy) -> Self {
        Self::over(Arc::new(hierarchy.into_ancestry()))
    }

    /// The same, where others share them.
    pub(super) fn over(ancestry: Arc<Ancestry>) -> Self {
        Self { users: HashMap::new(), ancestry }
    }

    /// Adds a user.
    pub fn insert(&mut self, user: UserId, status: UserStatus, authority: Authority) {
        self.users.insert(user, Subject { status, authority });
    }

    /// Whether a user may do something in an organization, or tenant-wide; nobody may who is not there, and nobody
    /// anything in an organization that is not there.
    #[must_use]
    pub fn allows(
        &self,
        user: UserId,
        permission: &Permission,
        organization: Option<OrganizationId>,
        now: Timestamp,
    ) -> bool {
        self.subject_and_place(user, organization).is_some_and(|(subject, place)| {
            subject.status == UserStatus::Active && subject.authority.allows(permission, place, now)
        })
    }

    /// The same with the reason; `None` where the user or the organization is not there.
    #[must_use]
    pub fn explain(
        &self,
        user: UserId,
        permission: &Permission,
        organization: Option<OrganizationId>,
        now: Timestamp,
    ) -> Option<Decision> {
        let (subject, place) = self.subject_and_place(user, organization)?;
        Some(match subject.status {
            UserStatus::Active => subject.authority.explain(permission, place, now),
            status => Decision::denied(Denial::UserNotActive(status)),
        })
    }

    /// Whether a user holds a permission there, be the user ACTIVE or not.
    pub(super) fn holds(
        &self,
        user: UserId,
        permission: &Permission,
        organization: Option<OrganizationId>,
        now: Timestamp,
    ) -> bool {
        let found = self.subject_and_place(user, organization);
        found.is_some_and(|(subject, place)| subject.authority.allows(permission, place, now))
    }

    /// The organization, or the tenant where none is given; `None` where the organization is not there.
    pub(super) fn place(&self, organization: Option<OrganizationId>) -> Option<Place<'_>> {
        match organization {
            None => Some(Place::Tenant),
            Some(id) => self.ancestry.position(id).map(Position::place),
        }
    }

    fn subject_and_place(&self, user: UserId, organization: Option<OrganizationId>) -> Option<(&Subject, Place<'_>)> {
        Some((self.users.get(&user)?, self.place(organization)?))
    }
}
