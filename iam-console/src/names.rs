//! The names of users, organizations and roles that other values mention by their ids.

use std::collections::{BTreeMap, BTreeSet};

use iam_core::organization::OrganizationSummary;
use iam_core::user::{User, UserSummary};
use iam_core::{Caller, Error, Iam, OrganizationId, RoleId, UserId};

use crate::problem::if_allowed;

/// How many organizations and how many roles are read for a page at most. The names of others are their ids.
pub(crate) const MAX: usize = 30;

/// The names that the caller may see.
#[derive(Debug, Default)]
pub(crate) struct Names {
    users: BTreeMap<UserId, String>,
    organizations: BTreeMap<OrganizationId, String>,
    roles: BTreeMap<RoleId, String>,
}

impl Names {
    pub(crate) async fn read(
        iam: &Iam,
        caller: &Caller,
        users: impl IntoIterator<Item = UserId>,
        organizations: impl IntoIterator<Item = OrganizationId>,
    ) -> Result<Self, Error> {
        let users = self::users(iam, caller, users).await?.into_iter().map(|user| (user.id, label_of(&user))).collect();
        let mut names = Self { users, ..Self::default() };
        for id in organizations.into_iter().collect::<BTreeSet<_>>().into_iter().take(MAX) {
            if let Some(found) = if_allowed(iam.organizations().get(caller, id).await)? {
                names.organizations.insert(id, found.organization.name.to_string());
            }
        }
        Ok(names)
    }

    /// Adds the names of roles.
    pub(crate) async fn with_roles(
        mut self,
        iam: &Iam,
        caller: &Caller,
        roles: impl IntoIterator<Item = RoleId>,
    ) -> Result<Self, Error> {
        for id in roles.into_iter().collect::<BTreeSet<_>>().into_iter().take(MAX) {
            if let Some(found) = if_allowed(iam.roles().get(caller, id).await)? {
                self.roles.insert(id, found.name.to_string());
            }
        }
        Ok(self)
    }

    /// Adds the names that these have in addition. They belong to something that the caller sees.
    pub(crate) fn or(mut self, known: &Self) -> Self {
        for (id, name) in &known.users {
            self.users.entry(*id).or_insert_with(|| name.clone());
        }
        for (id, name) in &known.organizations {
            self.organizations.entry(*id).or_insert_with(|| name.clone());
        }
        self
    }

    /// Adds the name of a user.
    pub(crate) fn with_user(mut self, id: UserId, name: String) -> Self {
        self.users.insert(id, name);
        self
    }

    /// Adds the name of an organization, if there is one.
    pub(crate) fn with_organization(mut self, organization: Option<&OrganizationSummary>) -> Self {
        self.organizations.extend(organization.map(|found| (found.id, found.name.clone())));
        self
    }

    /// Returns the name of a user; `None` if the caller may not see the user.
    pub(crate) fn known_user(&self, id: UserId) -> Option<&str> {
        self.users.get(&id).map(String::as_str)
    }

    /// Returns the page of a user, below the path of the console; `None` if the caller may not see the user.
    pub(crate) fn page_of_user(&self, id: UserId) -> Option<String> {
        self.users.contains_key(&id).then(|| format!("/users/{id}"))
    }

    /// Returns the page of an organization, in the same way.
    pub(crate) fn page_of_organization(&self, id: OrganizationId) -> Option<String> {
        self.organizations.contains_key(&id).then(|| format!("/organizations/{id}"))
    }

    /// Returns the page of a role, in the same way.
    pub(crate) fn page_of_role(&self, id: RoleId) -> Option<String> {
        self.roles.contains_key(&id).then(|| format!("/roles/{id}"))
    }

    /// Returns the name of a user, or its id if the caller may not see the user.
    pub(crate) fn user(&self, id: UserId) -> String {
        self.users.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// Returns the name of an organization, or its id if the caller may not see the organization.
    pub(crate) fn organization(&self, id: OrganizationId) -> String {
        self.organizations.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// Returns the name of a role, or its id if the caller may not see the role.
    pub(crate) fn role(&self, id: RoleId) -> String {
        self.roles.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }
}

/// Reads those of the users of a page whom the caller may see.
pub(crate) async fn users(
    iam: &Iam,
    caller: &Caller,
    ids: impl IntoIterator<Item = UserId>,
) -> Result<Vec<User>, Error> {
    let ids: Vec<UserId> = ids.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    Ok(if_allowed(iam.users().by_ids(caller, &ids).await)?.unwrap_or_default())
}

/// Returns the e-mail of a person, or the name of a service account.
pub(crate) fn label_of(user: &User) -> String {
    user.service_name().map_or_else(|| user.email.as_str().to_owned(), ToString::to_string)
}

/// Returns the same of a user that is mentioned by something else.
pub(crate) fn label_of_summary(user: &UserSummary) -> String {
    user.service_name.as_ref().map_or_else(|| user.email.as_str().to_owned(), ToString::to_string)
}
