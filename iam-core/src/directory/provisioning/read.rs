use std::slice;

use iam_model::directory::{
    Condition, Directory, DirectoryRefusal, ProvisionedUser, TextOperator, UserSortField, UserTest, UserText,
};
use iam_model::id::UserId;
use iam_model::page::SortOrder;
use iam_model::permission;

use crate::caller::Caller;
use crate::directory::provisioning::{Provisioning, ProvisioningError, not_found};
use crate::engine::FAR;

/// The maximum length of the address of a request that is kept, in characters.
const MAX_REQUEST: usize = 100;

/// The maximum length of the reason of a refusal that is kept, in characters.
const MAX_DETAIL: usize = 300;

impl Provisioning<'_> {
    /// Returns the directory of the caller. Needs no permission.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NoDirectory`](iam_model::error::Forbidden::NoDirectory).
    pub async fn directory(&self, caller: &Caller) -> Result<Directory, ProvisioningError> {
        Ok(self.acting(caller).await?.1)
    }

    /// Returns a user of the directory, in any status. Needs `users:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](iam_model::error::Error::Forbidden);
    /// [`Error::NotFound`](iam_model::error::Error::NotFound), also for a user whom the directory has deleted, and for one
    /// that is not of the directory.
    pub async fn get(&self, caller: &Caller, id: UserId) -> Result<ProvisionedUser, ProvisioningError> {
        let (caller, directory) = self.acting(caller).await?;
        self.0.rights(&caller).require(&permission::USERS_READ)?;
        let found = self.0.store.provisioned_user(caller.tenant(), directory.id, id).await?;
        let mut found = found.ok_or_else(not_found)?;
        self.add_attributes(&caller, slice::from_mut(&mut found)).await?;
        Ok(found)
    }

    /// Returns the users of the directory that meet a condition, but not those whom it has deleted: `first` of them are
    /// skipped, and at most `limit` are returned, with the number of all of them. Those that are equal in the field are
    /// sorted by the time when the directory made them. Needs `users:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](iam_model::error::Error::Forbidden),
    /// [`Error::Overloaded`](iam_model::error::Error::Overloaded).
    pub async fn list(
        &self,
        caller: &Caller,
        condition: &Condition<UserTest>,
        sort: (UserSortField, SortOrder),
        first: u64,
        limit: u32,
    ) -> Result<(Vec<ProvisionedUser>, u64), ProvisioningError> {
        let iam = self.0;
        let (caller, directory) = self.acting(caller).await?;
        iam.rights(&caller).require(&permission::USERS_READ)?;
        // Directories look for one user before each change. Everything else makes the store look at many users.
        let is_short =
            names_one(condition) || (is_always(condition) && sort.0 == UserSortField::Created && first < FAR);
        let _turn = if is_short { None } else { Some(iam.long_read(&caller).await?) };
        let (mut found, total) =
            iam.store.provisioned_users(caller.tenant(), directory.id, condition, sort, first, limit).await?;
        self.add_attributes(&caller, &mut found).await?;
        Ok((found, total))
    }

    /// Keeps when a request of the directory arrived: its method and its path, for instance `POST /Users`. If it was
    /// refused, also the status code of the answer, and why, without anything about a person. Of the requests that were
    /// not refused, one a minute is kept. It is not audited, and needs no permission.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NoDirectory`](iam_model::error::Forbidden::NoDirectory).
    pub async fn record_request(
        &self,
        caller: &Caller,
        request: &str,
        refusal: Option<(u16, &str)>,
    ) -> Result<(), ProvisioningError> {
        let iam = self.0;
        let (caller, directory) = self.acting(caller).await?;
        let at = iam.now();
        let is_due = iam.directory_requests.is_due(directory.id, at);
        let cut = |text: &str, max: usize| -> String { text.chars().take(max).collect() };
        let refusal = refusal.map(|(status, detail)| DirectoryRefusal {
            at,
            request: cut(request, MAX_REQUEST),
            status,
            detail: cut(detail, MAX_DETAIL),
        });
        if is_due || refusal.is_some() {
            iam.store.record_directory_request(caller.tenant(), directory.id, at, refusal.as_ref()).await?;
        }
        Ok(())
    }
}

fn is_always(condition: &Condition<UserTest>) -> bool {
    *condition == Condition::always()
}

/// Whether a condition holds for one user at most, whom the store finds by an index.
fn names_one(condition: &Condition<UserTest>) -> bool {
    match condition {
        Condition::All(all) => all.iter().any(names_one),
        Condition::Test(UserTest::Text { field, operator: TextOperator::Equals, .. }) => {
            matches!(field, UserText::Id | UserText::ExternalId | UserText::UserName)
        }
        Condition::Any(_) | Condition::Not(_) | Condition::Test(_) => false,
    }
}
