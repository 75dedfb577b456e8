//! The page of one entry, to which a link can lead.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::{PathId, Problem};
use iam_core::AuditEntryId;

use crate::audit::Entry;
use crate::audit::sentence::names_in;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page};

#[derive(Template)]
#[template(path = "audit-one.html")]
struct EntryPage {
    frame: Frame,
    base: String,
    shown: Entry,
    /// The number of the event, as webhooks and the feed have it. `None` if it has none yet.
    number: Option<u64>,
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AuditEntryId>,
) -> Result<Response, Problem> {
    let entry = console.iam.audit().get(&signed_in.caller, id).await?;
    // The page shows an entry also if the log cannot prove it.
    let number =
        console.iam.audit().prove_inclusion(&signed_in.caller, id, None).await.ok().map(|proof| proof.index + 1);
    let names = names_in(&console.iam, &signed_in.caller, std::slice::from_ref(&entry)).await?;
    let shown = Entry { is_open: true, ..Entry::of(entry, &names) };
    let frame = signed_in.frame(&console).await?;
    page(StatusCode::OK, &EntryPage { frame, base: console.base().to_owned(), shown, number })
}
