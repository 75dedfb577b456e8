use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use iam_axum::{Problem, Query};
use iam_core::Error;
use iam_core::invitation::{Invitation, InvitationFilter};
use iam_core::page::{Page, PageRequest};
use serde::Deserialize;

use crate::english;
use crate::problem::is_for_part;
use crate::session::SignedIn;
use crate::state::Console;
use crate::time::Time;
use crate::view::{Frame, page, query};

/// How many invitations a page of the list has.
const LIMIT: u32 = 25;

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    status: String,
    page: Option<u64>,
}

#[derive(Template)]
#[template(path = "invitations.html")]
struct InvitationsPage {
    frame: Frame,
    wanted: Wanted,
    list: InvitationList,
}

/// The part of the page that changes with the filter.
#[derive(Template)]
#[template(path = "invitation-list.html")]
struct InvitationList {
    base: String,
    wanted: Wanted,
    invitations: Page<Invitation>,
}

impl InvitationList {
    /// Returns the address of another page of the same list.
    fn address(&self, page: u64) -> String {
        let page = page.to_string();
        format!("{}/invitations?{}", self.base, query(&[("status", &*self.wanted.status), ("page", &*page)]))
    }
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    headers: HeaderMap,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Problem> {
    // Another word is a mistake in the address, and shows all invitations.
    let filter = InvitationFilter { status: wanted.status.parse().ok(), ..InvitationFilter::default() };
    let request = PageRequest::new(wanted.page.unwrap_or(1), LIMIT).map_err(Error::from)?;
    let invitations = console.iam.invitations().list(&signed_in.caller, &filter, request).await?;
    let list = InvitationList { base: console.base().to_owned(), wanted: wanted.clone(), invitations };
    if is_for_part(&headers) {
        return page(StatusCode::OK, &list);
    }
    let frame = signed_in.frame(&console).await?;
    page(StatusCode::OK, &InvitationsPage { frame, wanted, list })
}
