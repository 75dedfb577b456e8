use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use iam_axum::Problem;
use iam_core::page::{Page, PageRequest};
use iam_core::user::{User, UserFilter, UserSort, UserStatus};
use iam_core::{Error, InvalidFields};
use serde::Deserialize;

use crate::attributes::{searchable, sought};
use crate::english;
use crate::problem::is_for_part;
use crate::query::{Query, filter};
use crate::session::SignedIn;
use crate::state::Console;
use crate::time::Time;
use crate::view::{Frame, page, part, query};

/// How many users a page of the list has.
const LIMIT: u32 = 25;

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    search: String,
    status: String,
    /// The key of a searchable attribute, and its value.
    attribute: String,
    value: String,
    page: Option<u64>,
    done: String,
}

#[derive(Template)]
#[template(path = "users.html")]
struct UsersPage {
    frame: Frame,
    params: Params,
    notice: &'static str,
    /// The keys of the searchable attributes.
    keys: Vec<String>,
    found: String,
    list: UserList,
}

/// The part of the page that changes while a person types.
#[derive(Template)]
#[template(path = "user-list.html")]
struct UserList {
    base: String,
    params: Params,
    users: Page<User>,
}

impl UserList {
    fn is_filtered(&self) -> bool {
        !self.params.search.is_empty() || !self.params.status.is_empty() || !self.params.value.is_empty()
    }

    /// Returns the address of another page of the same list.
    fn address(&self, page: u64) -> String {
        let page = page.to_string();
        let query = query(&[
            ("search", &*self.params.search),
            ("status", &self.params.status),
            ("attribute", &self.params.attribute),
            ("value", &self.params.value),
            ("page", &page),
        ]);
        format!("{}/users?{query}", self.base)
    }
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    headers: HeaderMap,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let (users, caller) = (console.iam.users(), &signed_in.caller);
    let search = Some(params.search.trim().to_owned()).filter(|search| !search.is_empty());
    let attribute = match sought(&params.attribute, &params.value)? {
        Some(text) => Some(users.attribute_filter(caller, &text).await?),
        None => None,
    };
    let filter = UserFilter { search, status: filter("status", &params.status)?, attribute, ..UserFilter::default() };
    let request =
        PageRequest::new(params.page.unwrap_or(1), LIMIT).map_err(|invalid: InvalidFields| Error::from(invalid))?;
    let found = users.list(caller, &filter, UserSort::default(), request).await?;
    let list = UserList { base: console.base().to_owned(), params: params.clone(), users: found };
    let found = english::users_found(list.users.total);
    if is_for_part(&headers) {
        return part(&list, &found);
    }
    let frame = signed_in.frame(&console).await?;
    let notice = if params.done == "created" { english::USER_CREATED } else { "" };
    let keys = searchable(&users.attribute_definitions(caller).await?);
    page(StatusCode::OK, &UsersPage { frame, params, notice, keys, found, list })
}
