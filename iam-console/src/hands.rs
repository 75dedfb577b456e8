//! What needs a hand: what waits for a decision, ends soon or fails. The overview begins with it.
//!
//! Each part reads at most a hundred rows, in one or two statements.

use chrono::TimeDelta;
use iam_core::access_request::AccessRequestFilter;
use iam_core::access_review::{AccessReviewFilter, AccessReviewStatus, ListedAccessReview};
use iam_core::assignment::ListedAssignment;
use iam_core::clock::Timestamp;
use iam_core::factor::SecondFactorPolicy;
use iam_core::invitation::{InvitationFilter, InvitationStatus};
use iam_core::page::{MAX_LIMIT, PageRequest};
use iam_core::permission::USERS_UPDATE;
use iam_core::session::Me;
use iam_core::webhook::Webhook;
use iam_core::{Caller, Error, Iam, UserId};

use crate::names::{Names, label_of, label_of_summary};
use crate::problem::if_allowed;
use crate::text;

/// Something that needs a hand.
pub(crate) struct Hand {
    /// Names its element in the page.
    pub(crate) id: &'static str,
    /// What it is, with how many.
    pub(crate) text: String,
    /// The page where it is done, below the path of the console. Empty if each of the lines has its own, or the caller
    /// may not see it.
    pub(crate) address: &'static str,
    /// What it means; may be empty.
    pub(crate) hint: &'static str,
    /// The first few.
    pub(crate) lines: Vec<Line>,
}

impl Hand {
    /// The icon of what it is about.
    pub(crate) fn icon(&self) -> &'static str {
        match self.id {
            "directories" => "folder-sync",
            "webhooks" => "webhook",
            "requests" => "hand",
            "reviews" => "clipboard-check",
            "factors" => "fingerprint",
            "keys" => "key-round",
            "assignments" => "user-check",
            "invitations" => "mail",
            "linked" => "link",
            _ => "triangle-alert",
        }
    }
}

/// One of them.
pub(crate) struct Line {
    pub(crate) label: String,
    /// Its page, below the path of the console.
    pub(crate) address: String,
    /// More about it; may be empty.
    pub(crate) more: String,
    pub(crate) at: Option<Timestamp>,
}

/// The length of "soon" and of "the next days".
const SOON: TimeDelta = TimeDelta::days(30);
const NEXT: TimeDelta = TimeDelta::days(7);

/// The same for invitations, which live for seven days.
const SOON_FOR_INVITATIONS: TimeDelta = TimeDelta::days(2);

/// For how long a refused request of a directory needs a hand. The last refusals are kept for longer.
const RECENT: TimeDelta = TimeDelta::days(7);

/// How many are counted, and how many are shown.
const COUNTED: u32 = MAX_LIMIT;
const SHOWN: usize = 5;

/// Returns what needs a hand, as far as the caller may see it: first what fails, then what waits, then what ends.
pub(crate) async fn read(iam: &Iam, caller: &Caller, me: &Me) -> Result<Vec<Hand>, Error> {
    let parts = [
        directories(iam, caller).await?,
        webhooks(iam, caller).await?,
        access_requests(iam, caller).await?,
        access_reviews(iam, caller).await?,
        people_without_factor(iam, caller, me).await?,
        api_keys(iam, caller).await?,
        assignments(iam, caller).await?,
        invitations(iam, caller).await?,
        linked_holders(iam, caller).await?,
    ];
    Ok(parts.into_iter().flatten().collect())
}

/// The directories of which requests were refused.
async fn directories(iam: &Iam, caller: &Caller) -> Result<Option<Hand>, Error> {
    let Some(directories) = if_allowed(iam.directories().list(caller).await)? else { return Ok(None) };
    let since = iam.now() - RECENT;
    let lines: Vec<Line> = directories
        .into_iter()
        .filter_map(|(directory, activity)| {
            let recent = activity.refusals.iter().filter(|refusal| refusal.at >= since);
            let at = recent.clone().map(|refusal| refusal.at).max()?;
            Some(Line {
                label: directory.name.to_string(),
                address: format!("/directories/{}", directory.id),
                more: text::requests_refused(recent.count()),
                at: Some(at),
            })
        })
        .collect();
    let text = text::directories_refused(lines.len());
    Ok(listed("directories", text, "/directories", lines))
}

/// The webhooks of which the last attempt has failed.
async fn webhooks(iam: &Iam, caller: &Caller) -> Result<Option<Hand>, Error> {
    let Some(webhooks) = if_allowed(iam.webhooks().failing(caller).await)? else { return Ok(None) };
    let line = |webhook: &Webhook| Line {
        label: webhook.url.as_str().to_owned(),
        address: format!("/webhooks/{}", webhook.id),
        more: if webhook.enabled { String::new() } else { text::t("is-switched-off").to_owned() },
        at: None,
    };
    let lines: Vec<Line> = webhooks.iter().map(line).collect();
    Ok(listed("webhooks", text::webhooks_fail(lines.len()), "/webhooks", lines))
}

/// The access requests that wait for the decision of the person.
async fn access_requests(iam: &Iam, caller: &Caller) -> Result<Option<Hand>, Error> {
    let to_decide = AccessRequestFilter { to_decide: true, ..AccessRequestFilter::default() };
    let found = iam.access_requests().list(caller, &to_decide, PageRequest::new(1, 1)?).await?.total;
    let (text, address) = (text::requests_wait(found), "/access-requests?show=to-decide");
    Ok((found > 0).then(|| Hand { id: "requests", text, address, hint: "", lines: Vec::new() }))
}

/// The access reviews that are due soon, or late, and have undecided items.
async fn access_reviews(iam: &Iam, caller: &Caller) -> Result<Option<Hand>, Error> {
    let open = AccessReviewFilter { status: Some(AccessReviewStatus::Open) };
    let found = iam.access_reviews().list(caller, &open, PageRequest::new(1, COUNTED)?).await;
    let Some(found) = if_allowed(found)? else { return Ok(None) };
    let until = iam.now() + NEXT;
    let mut due = found.items;
    due.retain(|listed| listed.review.due_at <= until && listed.progress.undecided > 0);
    due.sort_by_key(|listed| listed.review.due_at);
    let line = |listed: &ListedAccessReview| Line {
        label: listed.review.name.to_string(),
        address: format!("/access-reviews/{}", listed.review.id),
        more: text::items_undecided(listed.progress.undecided),
        at: Some(listed.review.due_at),
    };
    let lines: Vec<Line> = due.iter().map(line).collect();
    Ok(listed("reviews", text::reviews_due(lines.len()), "/access-reviews?status=OPEN", lines))
}

/// The people without a second factor, where the tenant requires one.
async fn people_without_factor(iam: &Iam, caller: &Caller, me: &Me) -> Result<Option<Hand>, Error> {
    if me.tenant.second_factor != SecondFactorPolicy::Required {
        return Ok(None);
    }
    let Some(counted) = if_allowed(iam.factors().count_people(caller).await)? else { return Ok(None) };
    let without = counted.without_factor().filter(|without| *without > 0);
    let may_list = me
        .grants
        .iter()
        .any(|grant| grant.assignment.organization_id.is_none() && grant.role.permissions.allows(&USERS_UPDATE));
    Ok(without.map(|without| Hand {
        id: "factors",
        text: text::have_no_factor(without, counted.people),
        address: if may_list { "/users?status=ACTIVE&hasFactor=false" } else { "" },
        hint: text::t("have-no-factor-what"),
        lines: Vec::new(),
    }))
}

/// The API keys that end soon: those of all users, or those of the person alone.
async fn api_keys(iam: &Iam, caller: &Caller) -> Result<Option<Hand>, Error> {
    let now = iam.now();
    let all = if_allowed(iam.api_keys().expiring(caller, SOON, COUNTED).await)?;
    let are_all = all.is_some();
    let keys = match (all, caller.user()) {
        (Some(keys), _) => keys,
        (None, Some(user)) => {
            let mut keys = iam.api_keys().list(caller, user).await?;
            keys.retain(|key| now < key.expires_at && key.expires_at <= now + SOON);
            keys.sort_by_key(|key| key.expires_at);
            keys
        }
        (None, None) => Vec::new(),
    };
    if keys.is_empty() {
        return Ok(None);
    }
    let users: Vec<UserId> = keys.iter().take(SHOWN).map(|key| key.user_id).collect();
    let names = Names::read(iam, caller, users, []).await?;
    let lines = keys.iter().take(SHOWN).map(|key| Line {
        label: key.name.to_string(),
        address: if caller.user() == Some(key.user_id) {
            "/account".to_owned()
        } else {
            format!("/users/{}", key.user_id)
        },
        more: if are_all { names.user(key.user_id) } else { String::new() },
        at: Some(key.expires_at),
    });
    let text = text::keys_end(keys.len(), COUNTED as usize, are_all);
    Ok(Some(Hand { id: "keys", text, address: "", hint: "", lines: lines.collect() }))
}

/// The role assignments that end soon.
async fn assignments(iam: &Iam, caller: &Caller) -> Result<Option<Hand>, Error> {
    let Some(mut found) = if_allowed(iam.assignments().expiring(caller, SOON, COUNTED).await)? else { return Ok(None) };
    let read = found.len();
    // The person has asked for that end, and it stands among its access for a time.
    found.retain(|listed| {
        listed.assignment.access_request_id.is_none() || caller.user() != Some(listed.assignment.user_id)
    });
    let counted = COUNTED as usize - (read - found.len());
    let next = iam.now() + NEXT;
    let is_next = |listed: &&ListedAssignment| listed.assignment.expires_at.is_some_and(|end| end <= next);
    let text = text::ending(found.iter().filter(is_next).count(), found.len(), counted);
    let line = |listed: &ListedAssignment| {
        let place = listed.organization.as_ref().map_or(text::t("whole-tenant"), |organization| &organization.name);
        Line {
            label: label_of_summary(&listed.user),
            address: format!("/users/{}", listed.assignment.user_id),
            more: format!("{} · {place}", listed.role.name),
            at: listed.assignment.expires_at,
        }
    };
    Ok(listed("assignments", text, "/assignments?ends=30", found.iter().map(line).collect()))
}

/// The invitations that end soon.
async fn invitations(iam: &Iam, caller: &Caller) -> Result<Option<Hand>, Error> {
    let pending = InvitationFilter { status: Some(InvitationStatus::Pending), ..InvitationFilter::default() };
    let first = iam.invitations().list(caller, &pending, PageRequest::new(1, COUNTED)?).await;
    let Some(first) = if_allowed(first)? else { return Ok(None) };
    // The newest come first, and end last.
    let last = first.total.div_ceil(COUNTED.into());
    let (found, are_all) = if last > 1 {
        (iam.invitations().list(caller, &pending, PageRequest::new(last, COUNTED)?).await?, false)
    } else {
        (first, true)
    };
    let until = iam.now() + SOON_FOR_INVITATIONS;
    let count = found.items.iter().filter(|invitation| invitation.expires_at <= until).count();
    let (text, address) = (text::invitations_end(count, are_all), "/invitations?status=PENDING");
    Ok((count > 0).then(|| Hand { id: "invitations", text, address, hint: "", lines: Vec::new() }))
}

/// The holders of all permissions whom an identity provider can sign in.
async fn linked_holders(iam: &Iam, caller: &Caller) -> Result<Option<Hand>, Error> {
    let Some(found) = if_allowed(iam.federation().linked_holders(caller).await)? else { return Ok(None) };
    if found.holders.is_empty() && !found.truncated {
        return Ok(None);
    }
    let lines = found.holders.iter().map(|(user, providers)| Line {
        label: label_of(user),
        address: format!("/users/{}", user.id),
        more: providers.iter().map(|provider| provider.name.as_str()).collect::<Vec<_>>().join(", "),
        at: None,
    });
    let text = text::linked_holders(found.holders.len());
    let hint = if found.truncated { text::t("linked-holders-cut") } else { text::t("linked-holders-what") };
    Ok(Some(Hand { id: "linked", text, address: "", hint, lines: lines.collect() }))
}

/// Returns what needs a hand with the first few lines; `None` if there are none.
fn listed(id: &'static str, text: String, address: &'static str, mut lines: Vec<Line>) -> Option<Hand> {
    lines.truncate(SHOWN);
    (!lines.is_empty()).then_some(Hand { id, text, address, hint: "", lines })
}
