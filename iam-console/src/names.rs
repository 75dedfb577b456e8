//! The names of users and organizations that other values mention by their ids.

use std::collections::{BTreeMap, BTreeSet};

use iam_core::user::User;
use iam_core::{Caller, Error, Iam, OrganizationId, UserId};

use crate::problem::if_allowed;

/// How many names are read for a page at most. What is beyond is shown by its id.
const MAX: usize = 30;

/// The names that the caller may see.
#[derive(Debug, Default)]
pub(crate) struct Names {
    users: BTreeMap<UserId, String>,
    organizations: BTreeMap<OrganizationId, String>,
}

impl Names {
    pub(crate) async fn read(
        iam: &Iam,
        caller: &Caller,
        users: impl IntoIterator<Item = UserId>,
        organizations: impl IntoIterator<Item = OrganizationId>,
    ) -> Result<Self, Error> {
        let mut names = Self::default();
        for id in first(users) {
            if let Some(user) = if_allowed(iam.users().get(caller, id).await)? {
                names.users.insert(id, label_of(&user));
            }
        }
        for id in first(organizations) {
            if let Some(found) = if_allowed(iam.organizations().get(caller, id).await)? {
                names.organizations.insert(id, found.organization.name.to_string());
            }
        }
        Ok(names)
    }

    /// Returns the name of a user, or its id if the caller may not see the user.
    pub(crate) fn user(&self, id: UserId) -> String {
        self.users.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// Returns the name of an organization, or its id if the caller may not see the organization.
    pub(crate) fn organization(&self, id: OrganizationId) -> String {
        self.organizations.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }
}

fn first<T: Ord>(ids: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    ids.into_iter().collect::<BTreeSet<T>>().into_iter().take(MAX)
}

/// Returns the e-mail of a person, or the name of a service account.
pub(crate) fn label_of(user: &User) -> String {
    user.service_name().map_or_else(|| user.email.as_str().to_owned(), ToString::to_string)
}
