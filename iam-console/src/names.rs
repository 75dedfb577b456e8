//! The names of users, for pages that have only their ids.

use std::collections::{BTreeMap, BTreeSet};

use iam_core::{Caller, Error, Iam, UserId};

use crate::problem::if_allowed;

/// The e-mails of persons and the names of service accounts, as far as the caller may see the users.
pub(crate) struct Names(BTreeMap<UserId, String>);

impl Names {
    /// Reads the names of all these users at once.
    pub(crate) async fn read(iam: &Iam, caller: &Caller, ids: impl IntoIterator<Item = UserId>) -> Result<Self, Error> {
        let ids: Vec<UserId> = ids.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        let users = if_allowed(iam.users().by_ids(caller, &ids).await)?.unwrap_or_default();
        let named = users.into_iter().map(|user| {
            let name = user.service_name().map_or_else(|| user.email.as_str().to_owned(), ToString::to_string);
            (user.id, name)
        });
        Ok(Self(named.collect()))
    }

    /// Returns the name of a user, or its id if the caller may not see the user.
    pub(crate) fn of(&self, id: UserId) -> String {
        self.0.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }
}
