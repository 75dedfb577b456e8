use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use iam_axum::Problem;
use iam_core::page::{Page, PageRequest};
use iam_core::user::{User, UserFilter, UserSort, UserSortKey, UserStatus};
use iam_core::{Error, InvalidFields};
use serde::Deserialize;

use crate::attributes::{searchable, sought};
use crate::english;
use crate::filters::{Chips, Filter, Head, order};
use crate::problem::is_for_part;
use crate::query::{Query, filter};
use crate::session::SignedIn;
use crate::state::Console;
use crate::time::Time;
use crate::view::{Frame, page, part, query};

/// How many users a page of the list has.
const LIMIT: u32 = 25;

#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Params {
    search: String,
    status: String,
    /// The key of a searchable attribute, and its value.
    attribute: String,
    value: String,
    sort_by: String,
    sort_order: String,
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
    chips: Chips,
    heads: [Head; 4],
    users: Page<User>,
}

impl UserList {
    fn is_filtered(&self) -> bool {
        !self.params.search.is_empty() || !self.params.status.is_empty() || !self.params.value.is_empty()
    }

    /// Returns the address of another page of the same list.
    fn address(&self, page: u64) -> String {
        let page = page.to_string();
        let Params { search, status, attribute, value, sort_by, sort_order, .. } = &self.params;
        let query = query(&[
            ("search", &**search),
            ("status", status),
            ("attribute", attribute),
            ("value", value),
            ("sortBy", sort_by),
            ("sortOrder", sort_order),
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
    let sort = UserSort {
        by: filter("sortBy", &params.sort_by)?.unwrap_or_default(),
        order: order(&params.sort_order)?.unwrap_or_default(),
    };
    let filter = UserFilter { search, status: filter("status", &params.status)?, attribute, ..UserFilter::default() };
    let request =
        PageRequest::new(params.page.unwrap_or(1), LIMIT).map_err(|invalid: InvalidFields| Error::from(invalid))?;
    let found = users.list(caller, &filter, sort, request).await?;
    let address = format!("{}/users", console.base());
    let filters = [
        ("search", &*params.search),
        ("status", &*params.status),
        ("attribute", &*params.attribute),
        ("value", &*params.value),
    ];
    let columns = [
        (UserSortKey::FirstName.as_str(), english::USER),
        (UserSortKey::Status.as_str(), english::STATUS),
        (UserSortKey::LastLoginAt.as_str(), english::LAST_LOGIN),
        (UserSortKey::CreatedAt.as_str(), english::CREATED),
    ];
    let chips = [
        Filter::typed("search", english::SEARCH, &params.search),
        Filter::of("status", english::STATUS, &params.status, filter.status.as_ref().map_or("", super::text_of)),
        Filter::attribute(&params.attribute, &params.value),
    ];
    let list = UserList {
        base: console.base().to_owned(),
        chips: Chips::of(&address, &chips, &[("sortBy", &*params.sort_by), ("sortOrder", &params.sort_order)]),
        heads: Head::all(&address, &filters, (sort.by.as_str(), sort.order), columns),
        params: params.clone(),
        users: found,
    };
    let found = english::users_found(list.users.total);
    if is_for_part(&headers) {
        return part(&list, &found);
    }
    let frame = signed_in.frame(&console).await?;
    let notice = if params.done == "created" { english::USER_CREATED } else { "" };
    let keys = searchable(&users.attribute_definitions(caller).await?);
    page(StatusCode::OK, &UsersPage { frame, params, notice, keys, found, list })
}
