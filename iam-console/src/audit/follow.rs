//! Entries that a page does not show yet, for a script that follows the log.

use std::time::Duration;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::Error;
use iam_core::audit::AuditEntry;
use serde::Deserialize;

use crate::audit::sentence::names_in;
use crate::audit::{Entry, LIMIT, Params};
use crate::query::Queries;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::page;

/// How many entries one answer looks at. A script that is behind asks again at once.
const LOOKED_AT: u32 = 100;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct FollowQuery {
    after: Option<u64>,
}

#[derive(Template)]
#[template(path = "audit-news.html")]
struct NewEntries {
    base: String,
    entries: Vec<Entry>,
    /// From which number in the sequence on the next answer looks.
    after: u64,
    has_more: bool,
}

/// Returns the entries that match the filter and were sequenced after a number, newest first. Without a number, it
/// returns the newest entries: those that came after a page was loaded are among them, or the page is reloaded.
pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Queries(params, follow): Queries<Params, FollowQuery>,
) -> Result<Response, Problem> {
    let (audit, caller) = (console.iam.audit(), &signed_in.caller);
    let filter = params.filter(&console.iam, caller).await?.by_stored_names();
    let (entries, after, has_more): (Vec<AuditEntry>, u64, bool) = match follow.after {
        None => {
            // The state comes first, so that an entry that is sequenced meanwhile is not missed.
            let after = audit.checkpoint(caller).await?.signed.checkpoint.size;
            (audit.list(caller, filter, None, LIMIT).await?.entries, after, false)
        }
        Some(after) => match audit.follow(caller, Some(after), LOOKED_AT).next_within(Duration::ZERO).await {
            Ok(found) => {
                let has_more = found.events.len() == LOOKED_AT as usize;
                let entries = found.events.into_iter().map(|event| event.entry);
                let matching = entries.filter(|entry| filter.matches(entry)).rev();
                (matching.collect(), found.next, has_more)
            }
            Err(Error::EventsRemoved { first }) => (Vec::new(), first.saturating_sub(1), true),
            Err(error) => return Err(error.into()),
        },
    };
    let names = names_in(&console.iam, caller, &entries).await?;
    let entries = entries.into_iter().map(|entry| Entry::of(entry, &names)).collect();
    page(StatusCode::OK, &NewEntries { base: console.base().to_owned(), entries, after, has_more })
}
