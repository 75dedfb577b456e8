//! Directories, what they say of their users, and their groups.

mod condition;
mod group;
mod row;
mod user;

pub use condition::DirectorySearch;
pub use group::list as list_groups;
pub use row::{
    DirectoryGroupRow, DirectoryRow, DirectoryUserRow, GivingGroupRow, GrantContextRow, ListedDirectoryRow,
    ProvisionedUserRow, stored_attributes, stored_refusal, stored_search,
};
pub use user::list as list_users;

use iam_model::store_error::StoreError;

use crate::column::not_negative;
use crate::page::Counted;

/// Reads users or groups of a directory. `read` executes the statement of [`list_users`] or of [`list_groups`], which
/// skips so many of them and returns at most so many.
///
/// # Errors
///
/// Those of `read`; [`StoreError::Corrupt`] when a row is not valid.
pub async fn read_list<T, R, F>(
    first: u64,
    limit: u32,
    read: impl Fn(u64, u32) -> F,
) -> Result<(Vec<T>, u64), StoreError>
where
    T: TryFrom<R, Error = StoreError>,
    F: Future<Output = Result<Vec<Counted<R>>, StoreError>>,
{
    let rows = if limit > 0 { read(first, limit).await? } else { Vec::new() };
    let total = match rows.first() {
        // Without a row there is no total, so the first one is read for it.
        None if first > 0 || limit == 0 => read(0, 1).await?.first().map_or(0, |row| row.total),
        row => row.map_or(0, |row| row.total),
    };
    let found = rows.into_iter().map(|counted| T::try_from(counted.row)).collect::<Result<_, _>>()?;
    Ok((found, not_negative(total)))
}
