use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::eligibility::ListedEligibility;
use serde::Deserialize;

use crate::eligible::{eligible_of, names_of, place_of};
use crate::names;
use crate::paging::{self, Pages};
use crate::person::Person;
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page, query};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    page: Option<u64>,
    done: String,
}

#[derive(Template)]
#[template(path = "eligibilities.html")]
struct EligibilitiesPage {
    frame: Frame,
    notice: &'static str,
    eligibilities: Vec<Row>,
    pages: Pages,
}

/// An eligibility, as a person reads it.
struct Row {
    listed: ListedEligibility,
    place: String,
    eligible: String,
    /// The only user who may ask, if the person may see it.
    person: Option<Person>,
    time: String,
    has_ended: bool,
    /// The name of the role whose holders decide.
    approver: Option<String>,
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let found = iam.eligibilities().list(caller, paging::request(params.page)?).await?;
    let names = names_of(iam, caller, &found.items).await?;
    let address = |page: u64| format!("{}/eligibilities?{}", console.base(), query(&[("page", &*page.to_string())]));
    let pages = Pages::of(&found, address);
    let users = found.items.iter().filter_map(|listed| listed.eligibility.eligible.user());
    let users = names::users(iam, caller, users).await?;
    let person_of = |listed: &ListedEligibility| {
        let user = listed.eligibility.eligible.user()?;
        users.iter().find(|found| found.id == user).map(|user| Person::of(console.base(), user))
    };
    let now = iam.now();
    let row = |listed: ListedEligibility| Row {
        has_ended: !listed.eligibility.is_live(now),
        place: place_of(&listed).to_owned(),
        eligible: eligible_of(&listed.eligibility, &names),
        person: person_of(&listed),
        time: text::duration(listed.eligibility.max_seconds),
        approver: listed.eligibility.approver_role_id.map(|role| names.role(role)),
        listed,
    };
    let eligibilities = found.items.into_iter().map(row).collect();
    let frame = signed_in.frame(&console).await?;
    let notice = if params.done == "removed" { text::t("eligibility-removed") } else { "" };
    page(StatusCode::OK, &EligibilitiesPage { frame, notice, eligibilities, pages })
}
