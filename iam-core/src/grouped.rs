//! Users whose assignments are read together, so that neither the memory nor the time for one read is long.

use std::collections::HashMap;

use iam_model::clock::Timestamp;
use iam_model::id::{TenantId, UserId};
use iam_model::store_error::StoreError;

use crate::engine::Engine;

/// How many users are counted at once.
const COUNTED_AT_ONCE: usize = 5_000;

/// How many assignments are read at once.
const READ_AT_ONCE: u64 = 10_000;

/// The number of users who are read without counting their assignments first. Each may have a thousand.
const FEW: usize = 10;

/// Divides users into groups that follow each other, each with at most 10,000 assignments, or one user.
pub(crate) async fn grouped<'u>(
    iam: &Engine,
    tenant: TenantId,
    users: &'u [UserId],
) -> Result<Vec<&'u [UserId]>, StoreError> {
    if users.len() <= FEW {
        return Ok(if users.is_empty() { Vec::new() } else { vec![users] });
    }
    let mut all = Vec::new();
    for users in users.chunks(COUNTED_AT_ONCE) {
        // Also those that have expired.
        let counts = iam.store.live_assignments(tenant, users, Timestamp::UNIX_EPOCH).await?;
        all.extend(groups(users, &counts.into_iter().collect()));
    }
    Ok(all)
}

fn groups<'u>(users: &'u [UserId], counts: &HashMap<UserId, u64>) -> Vec<&'u [UserId]> {
    let (mut left, mut groups) = (users, Vec::new());
    while !left.is_empty() {
        let mut assignments = 0;
        let fits = |user: &&UserId| {
            assignments += counts.get(*user).copied().unwrap_or(0);
            assignments <= READ_AT_ONCE
        };
        let count = left.iter().take_while(fits).count().max(1);
        let (group, rest) = left.split_at(count.min(left.len()));
        groups.push(group);
        left = rest;
    }
    groups
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_group_of_users_has_few_assignments_or_one_user() {
        let users: Vec<UserId> = (0..7).map(|number| Uuid::from_u128(number).into()).collect();
        let counts = users.iter().copied().zip([4_000, 6_000, 1, 99_000, 10_000, 0]).collect();
        let sizes: Vec<usize> = groups(&users, &counts).into_iter().map(<[UserId]>::len).collect();
        assert_eq!(sizes, [2, 1, 1, 3]);
        assert!(groups(&[], &counts).is_empty());
    }
}
