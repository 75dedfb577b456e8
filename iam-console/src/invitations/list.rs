use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use iam_axum::Problem;
use iam_core::Error;
use iam_core::invitation::{Invitation, InvitationFilter};
use iam_core::page::{Page, PageRequest};
use serde::Deserialize;

use crate::filters::{Chips, Filter};
use crate::problem::is_for_part;
use crate::query::{Query, filter};
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page, query};

/// How many invitations a page of the list has.
const LIMIT: u32 = 25;

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    status: String,
    page: Option<u64>,
}

#[derive(Template)]
#[template(path = "invitations.html")]
struct InvitationsPage {
    frame: Frame,
    params: Params,
    list: InvitationList,
}

/// The part of the page that changes with the filter.
#[derive(Template)]
#[template(path = "invitation-list.html")]
struct InvitationList {
    base: String,
    params: Params,
    chips: Chips,
    invitations: Page<Invitation>,
}

impl InvitationList {
    /// Returns the address of another page of the same list.
    fn address(&self, page: u64) -> String {
        let page = page.to_string();
        format!("{}/invitations?{}", self.base, query(&[("status", &*self.params.status), ("page", &*page)]))
    }
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    headers: HeaderMap,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let filter = InvitationFilter { status: filter("status", &params.status)?, ..InvitationFilter::default() };
    let request = PageRequest::new(params.page.unwrap_or(1), LIMIT).map_err(Error::from)?;
    let invitations = console.iam.invitations().list(&signed_in.caller, &filter, request).await?;
    let status = filter.status.as_ref().map_or("", super::text_of);
    let chips = [Filter::of("status", text::t("status"), &params.status, status)];
    let chips = Chips::of(&format!("{}/invitations", console.base()), &chips, &[]);
    let list = InvitationList { base: console.base().to_owned(), params: params.clone(), chips, invitations };
    if is_for_part(&headers) {
        return page(StatusCode::OK, &list);
    }
    let frame = signed_in.frame(&console).await?;
    page(StatusCode::OK, &InvitationsPage { frame, params, list })
}
