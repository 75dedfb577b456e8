use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use iam_axum::Problem;
use iam_core::page::Page;
use iam_core::permission::{ROLE_ASSIGNMENTS_CREATE, SESSIONS_DELETE, USERS_UPDATE};
use iam_core::user::{User, UserFilter, UserSort, UserStatus};
use serde::Deserialize;

use crate::english;
use crate::paging::{self, LONG};
use crate::problem::is_for_part;
use crate::query::{Query, filter};
use crate::runs;
use crate::session::SignedIn;
use crate::state::Console;
use crate::time::Time;
use crate::view::{Frame, page, part, query};

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    search: String,
    status: String,
    page: Option<u64>,
    /// See [`paging::request_of`].
    lines: String,
    done: String,
}

#[derive(Template)]
#[template(path = "users.html")]
struct UsersPage {
    frame: Frame,
    params: Params,
    notice: &'static str,
    found: String,
    list: UserList,
}

/// The part of the page that changes while a person types.
#[derive(Template)]
#[template(path = "user-list.html")]
struct UserList {
    base: String,
    params: Params,
    /// Whether the person can do something with many of the users.
    selects: bool,
    users: Page<User>,
}

impl UserList {
    fn is_filtered(&self) -> bool {
        !self.params.search.is_empty() || !self.params.status.is_empty()
    }

    /// Returns the address of another page of the same list.
    fn address(&self, page: u64) -> String {
        self.address_of(page, &self.params.lines)
    }

    fn address_of(&self, page: u64, lines: &str) -> String {
        let Params { search, status, .. } = &self.params;
        let page = page.to_string();
        let query = query(&[("search", &**search), ("status", &**status), ("page", &*page), ("lines", lines)]);
        format!("{}/users?{query}", self.base)
    }

    /// Returns the address of the same list with longer pages, on which more can be selected.
    fn longer(&self) -> Option<String> {
        let is_offered = self.selects && paging::can_be_longer(self.users.total, &self.params.lines);
        is_offered.then(|| self.address_of(1, LONG))
    }
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    headers: HeaderMap,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let search = Some(params.search.trim().to_owned()).filter(|search| !search.is_empty());
    let filter = UserFilter { search, status: filter("status", &params.status)?, ..UserFilter::default() };
    let request = paging::request_of(params.page, &params.lines)?;
    let users = console.iam.users().list(&signed_in.caller, &filter, UserSort::default(), request).await?;
    let selects =
        runs::offers(&console.iam, &signed_in.caller, &[USERS_UPDATE, SESSIONS_DELETE, ROLE_ASSIGNMENTS_CREATE]);
    let list = UserList { base: console.base().to_owned(), params: params.clone(), selects, users };
    let found = english::users_found(list.users.total);
    if is_for_part(&headers) {
        return part(&list, &found);
    }
    let frame = signed_in.frame(&console).await?;
    let notice = if params.done == "created" { english::USER_CREATED } else { "" };
    page(StatusCode::OK, &UsersPage { frame, params, notice, found, list })
}
