use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use iam_axum::{Problem, Query};
use iam_core::assignment::{AssignmentFilter, ListedAssignment};
use iam_core::page::{Page, PageRequest};
use iam_core::role::Role;
use iam_core::{Caller, Error, FieldError, Iam};
use serde::Deserialize;

use crate::confirm::{at_fields, text_above};
use crate::english;
use crate::paging::{self, Pages};
use crate::picker;
use crate::problem::{if_allowed, is_for_part, refused_in_place};
use crate::roles;
use crate::session::SignedIn;
use crate::state::Console;
use crate::time::{Time, typed};
use crate::view::{Field, Frame, page, part, query};

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    user: String,
    role: String,
    organization: String,
    at: String,
    page: Option<u64>,
}

impl Wanted {
    fn is_filtered(&self) -> bool {
        [&self.user, &self.role, &self.organization, &self.at].iter().any(|text| !text.is_empty())
    }

    fn query(&self, page: u64) -> String {
        query(&[
            ("user", &*self.user),
            ("role", &self.role),
            ("organization", &self.organization),
            ("at", &self.at),
            ("page", &page.to_string()),
        ])
    }
}

#[derive(Template)]
#[template(path = "assignments.html")]
struct AssignmentsPage {
    frame: Frame,
    wanted: Wanted,
    error: String,
    user: Field,
    organization: Field,
    moment: Field,
    /// Empty if the caller may not see roles.
    roles: Vec<Role>,
    found: String,
    /// `None` if the filter is wrong.
    list: Option<AssignmentList>,
}

/// The part of the page that changes with the filter.
#[derive(Template)]
#[template(path = "assignment-list.html")]
struct AssignmentList {
    base: String,
    is_filtered: bool,
    /// Whether the list shows what is held now, and not at another moment.
    is_present: bool,
    assignments: Vec<ListedAssignment>,
    pages: Pages,
}

async fn find(
    iam: &Iam,
    caller: &Caller,
    wanted: &Wanted,
    request: PageRequest,
) -> Result<Page<ListedAssignment>, Error> {
    let user = match wanted.user.trim() {
        "" => None,
        text => Some(picker::user(iam, caller, text).await?),
    };
    let role = match wanted.role.trim() {
        "" => None,
        text => Some(text.parse().map_err(|_| Error::field("role", english::ONE_OF_THE_LIST))?),
    };
    let organization = picker::organization(iam, caller, "organization", &wanted.organization).await?;
    let filter = AssignmentFilter { user, role, organization, include_expired: false };
    match typed("at", &wanted.at)? {
        None => iam.assignments().list(caller, &filter, request).await,
        Some(at) => iam.assignments().list_at(caller, &filter, at, request).await,
    }
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    headers: HeaderMap,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Problem> {
    let base = console.base().to_owned();
    let list = |found: Page<ListedAssignment>| AssignmentList {
        is_filtered: wanted.is_filtered(),
        is_present: wanted.at.is_empty(),
        pages: Pages::of(&found, |page| format!("{base}/assignments?{}", wanted.query(page))),
        assignments: found.items,
        base: base.clone(),
    };
    let found = find(&console.iam, &signed_in.caller, &wanted, paging::request(wanted.page)?).await;
    if is_for_part(&headers) {
        let found = found?;
        let summary = english::assignments_found(found.total);
        return part(&list(found), &summary);
    }
    match found {
        Ok(found) => {
            let shown = page_of(&console, &signed_in, &wanted, &[]).await?;
            let summary = english::assignments_found(found.total);
            page(StatusCode::OK, &AssignmentsPage { found: summary, list: Some(list(found)), ..shown })
        }
        // Without the permission, there is nothing to see with another filter.
        Err(error @ Error::Forbidden(_)) if wanted.at.is_empty() => Err(error.into()),
        Err(error) => {
            let shown = page_of(&console, &signed_in, &wanted, &at_fields(&error)).await?;
            let text = text_above(&error);
            refused_in_place(error, |_| AssignmentsPage { error: text, ..shown })
        }
    }
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    wanted: &Wanted,
    errors: &[FieldError],
) -> Result<AssignmentsPage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let user = Field::text("user", english::USER).optional();
    let user = user.filled(&picker::shown_user(iam, caller, &wanted.user).await?).judged(errors);
    let organization = Field::text("organization", english::ORGANIZATION).optional();
    let shown = picker::shown_organization(iam, caller, &wanted.organization).await?;
    let organization = organization.with_hint(english::PICK_ORGANIZATION).filled(&shown).judged(errors);
    let moment = Field::text("at", english::AS_OF).with_hint(english::AS_OF_HINT);
    Ok(AssignmentsPage {
        frame: signed_in.frame(console).await?,
        error: String::new(),
        user: picker::of_user(console, user),
        organization: picker::of_organization(console, organization),
        moment: moment.filled(&wanted.at).judged(errors),
        roles: if_allowed(roles::all(iam, caller).await)?.unwrap_or_default(),
        wanted: wanted.clone(),
        found: String::new(),
        list: None,
    })
}

impl AssignmentsPage {
    fn is_wanted(&self, role: &Role) -> bool {
        self.wanted.role == role.id.to_string()
    }
}
