//! What a user did, and what was done to it.

use std::cmp::Reverse;

use iam_core::assignment::Grant;
use iam_core::audit::{AuditEntry, AuditFilter};
use iam_core::clock::Timestamp;
use iam_core::{Caller, Error, Iam, UserId};

use crate::audit::sentence::said;
use crate::problem::if_allowed;

/// How many entries of the log are shown.
const SHOWN: u32 = 20;

/// The entries about how many of the roles that the user holds are read. Each needs a read of its own, because the log
/// finds entries by their actor and by their resource.
const ROLES: usize = 10;

/// Returns the newest entries of the log whose actor is the user, or which are about the user or a role that it holds.
/// `None` if the caller may not read the log.
pub(super) async fn read(
    iam: &Iam,
    caller: &Caller,
    user: UserId,
    grants: &[Grant],
) -> Result<Option<Vec<(String, Timestamp)>>, Error> {
    let by_user = AuditFilter { user_id: Some(user), ..AuditFilter::default() };
    let Some(found) = if_allowed(iam.audit().list(caller, by_user, None, SHOWN).await)? else { return Ok(None) };
    let mut entries: Vec<AuditEntry> = found.entries;
    let assignments = grants.iter().take(ROLES).map(|grant| grant.assignment.id.to_string());
    let targets: Vec<String> = [user.to_string()].into_iter().chain(assignments).collect();
    for target in targets {
        let about = AuditFilter { resource_id: Some(target), ..AuditFilter::default() };
        entries.extend(iam.audit().list(caller, about, None, SHOWN).await?.entries);
    }
    entries.sort_by_key(|entry| Reverse((entry.created_at, entry.id)));
    // A change of the user by itself was found twice.
    entries.dedup_by_key(|entry| entry.id);
    entries.truncate(SHOWN as usize);
    said(iam, caller, &entries).await.map(Some)
}
