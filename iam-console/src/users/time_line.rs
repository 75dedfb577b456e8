//! What a user did, and what was done to it.

use std::cmp::Reverse;

use iam_core::access_request::AccessRequestFilter;
use iam_core::assignment::Grant;
use iam_core::audit::{AuditEntry, AuditFilter, action};
use iam_core::page::{MAX_LIMIT, PageRequest};
use iam_core::user::User;
use iam_core::{Caller, Error, Iam};
use serde_json::Value;

use crate::audit::sentence::{Said, said_with_links};
use crate::problem::if_allowed;

/// How many entries of the log are shown.
const SHOWN: u32 = 20;

/// The entries about how many of the roles that the user holds are read. Each needs a read of its own, because the log
/// finds entries by their actor and by their resource.
const ROLES: usize = 10;

/// The same for its newest access requests.
const REQUESTS: u32 = 5;

/// What is said of a day in UTC.
pub(super) struct Day {
    pub(super) date: String,
    pub(super) said: Vec<Said>,
}

/// Returns the newest entries of the log whose actor is the user, or which are about the user, a role that it holds, an
/// access request of it or a failed sign-in with its e-mail. `None` if the caller may not read the log.
pub(super) async fn read(iam: &Iam, caller: &Caller, user: &User, grants: &[Grant]) -> Result<Option<Vec<Day>>, Error> {
    let by_user = AuditFilter { user_id: Some(user.id), ..AuditFilter::default() };
    let Some(found) = if_allowed(iam.audit().list(caller, by_user, None, SHOWN).await)? else { return Ok(None) };
    let mut entries: Vec<AuditEntry> = found.entries;
    let assignments = grants.iter().take(ROLES).map(|grant| grant.assignment.id.to_string());
    let of_user = AccessRequestFilter { user: Some(user.id), ..AccessRequestFilter::default() };
    let requests = iam.access_requests().list(caller, &of_user, PageRequest::new(1, REQUESTS)?).await?.items;
    let requests = requests.iter().map(|listed| listed.request.id.to_string());
    let targets: Vec<String> = [user.id.to_string()].into_iter().chain(assignments).chain(requests).collect();
    for target in targets {
        let about = AuditFilter { resource_id: Some(target), ..AuditFilter::default() };
        entries.extend(iam.audit().list(caller, about, None, SHOWN).await?.entries);
    }
    entries.extend(failed_sign_ins(iam, caller, user).await?);
    entries.sort_by_key(|entry| Reverse((entry.created_at, entry.id)));
    // A change of the user by itself was found twice.
    entries.dedup_by_key(|entry| entry.id);
    entries.truncate(SHOWN as usize);
    let mut days: Vec<Day> = Vec::new();
    for said in said_with_links(iam, caller, &entries, &format!("/users/{}", user.id)).await? {
        let date = said.at.format("%Y-%m-%d").to_string();
        match days.last_mut() {
            Some(day) if day.date == date => day.said.push(said),
            _ => days.push(Day { date, said: vec![said] }),
        }
    }
    Ok(Some(days))
}

/// Returns the failed sign-ins with the e-mail of the user, among the newest of the tenant: their entries name no
/// resource.
async fn failed_sign_ins(iam: &Iam, caller: &Caller, user: &User) -> Result<Vec<AuditEntry>, Error> {
    let failed = AuditFilter { action: Some(action::LOGIN_FAILURE.to_owned()), ..AuditFilter::default() };
    let mut entries = iam.audit().list(caller, failed, None, MAX_LIMIT).await?.entries;
    entries.retain(|entry| entry.metadata.get("email").and_then(Value::as_str) == Some(user.email.as_str()));
    Ok(entries)
}
