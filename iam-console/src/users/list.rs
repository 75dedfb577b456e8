use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use iam_axum::Problem;
use iam_core::Error;
use iam_core::page::Page;
use iam_core::permission::{ROLE_ASSIGNMENTS_CREATE, SESSIONS_DELETE, USERS_UPDATE};
use iam_core::user::{User, UserFilter, UserKind, UserSort, UserSortKey, UserStatus};
use serde::Deserialize;

use crate::attributes::{searchable, sought};
use crate::filters::{Chips, Filter, Head, order};
use crate::paging::{self, LONG};
use crate::person::Person;
use crate::problem::is_for_part;
use crate::query::{Query, filter};
use crate::runs;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page, part, query};

#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Params {
    search: String,
    status: String,
    kind: String,
    /// The key of a searchable attribute, and its value.
    attribute: String,
    value: String,
    has_factor: String,
    sort_by: String,
    sort_order: String,
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
    /// Whether the person can do something with many of the users.
    selects: bool,
    users: Page<User>,
}

impl UserList {
    fn is_filtered(&self) -> bool {
        !self.chips.shown.is_empty()
    }

    /// Returns the address of another page of the same list.
    fn address(&self, page: u64) -> String {
        self.address_of(page, &self.params.lines)
    }

    fn address_of(&self, page: u64, lines: &str) -> String {
        let page = page.to_string();
        let Params { search, status, kind, attribute, value, has_factor, sort_by, sort_order, .. } = &self.params;
        let query = query(&[
            ("search", &**search),
            ("status", status),
            ("kind", kind),
            ("attribute", attribute),
            ("value", value),
            ("hasFactor", has_factor),
            ("sortBy", sort_by),
            ("sortOrder", sort_order),
            ("page", &page),
            ("lines", lines),
        ]);
        format!("{}/users?{query}", self.base)
    }

    /// Returns the address of the same list with longer pages, on which more can be selected.
    fn longer(&self) -> Option<String> {
        let is_offered = self.selects && paging::can_be_longer(self.users.total, &self.params.lines);
        is_offered.then(|| self.address_of(1, LONG))
    }
}

fn kind_text(kind: &UserKind) -> &'static str {
    match kind {
        UserKind::Human => text::t("people"),
        UserKind::Service => text::t("service-accounts"),
    }
}

impl UsersPage {
    /// The choices of the filter by second factors: the value, the text, and whether it is in force.
    fn factor_choices(&self) -> [(&'static str, &'static str, bool); 3] {
        let choices = [("", text::t("factor-any")), ("true", text::t("factor-yes")), ("false", text::t("factor-no"))];
        choices.map(|(value, text)| (value, text, value == self.params.has_factor))
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
    let attribute = match sought(&params.attribute, &params.value) {
        Some(text) => Some(users.attribute_filter(caller, &text).await?),
        None => None,
    };
    let sort = UserSort {
        by: filter("sortBy", &params.sort_by)?.unwrap_or_default(),
        order: order(&params.sort_order)?.unwrap_or_default(),
    };
    let (has_factor, shown_factor) = match &*params.has_factor {
        "" => (None, ""),
        "true" => (Some(true), text::t("factor-yes")),
        "false" => (Some(false), text::t("factor-no")),
        _ => return Err(Error::field("hasFactor", text::t("one-of-the-list")).into()),
    };
    let (status, kind) = (filter("status", &params.status)?, filter("kind", &params.kind)?);
    let filter = UserFilter { search, status, kind, attribute, has_factor, ..UserFilter::default() };
    let request = paging::request_of(params.page, &params.lines)?;
    let found = users.list(caller, &filter, sort, request).await?;
    let address = format!("{}/users", console.base());
    let selects = runs::offers(&console.iam, caller, &[USERS_UPDATE, SESSIONS_DELETE, ROLE_ASSIGNMENTS_CREATE]);
    let filters = [
        ("search", &*params.search),
        ("status", &*params.status),
        ("kind", &*params.kind),
        ("attribute", &*params.attribute),
        ("value", &*params.value),
        ("hasFactor", &*params.has_factor),
        ("lines", &*params.lines),
    ];
    let columns = [
        (UserSortKey::FirstName.as_str(), text::t("user")),
        (UserSortKey::Status.as_str(), text::t("status")),
        (UserSortKey::LastLoginAt.as_str(), text::t("last-login")),
        (UserSortKey::CreatedAt.as_str(), text::t("created")),
    ];
    let chips = [
        Filter::typed("search", text::t("search"), &params.search),
        Filter::of("status", text::t("status"), &params.status, filter.status.as_ref().map_or("", super::text_of)),
        Filter::of("kind", text::t("kind"), &params.kind, filter.kind.as_ref().map_or("", kind_text)),
        Filter::attribute(&params.attribute, &params.value),
        Filter::of("hasFactor", text::t("factor"), &params.has_factor, shown_factor),
    ];
    let kept = [("sortBy", &*params.sort_by), ("sortOrder", &*params.sort_order), ("lines", &*params.lines)];
    let list = UserList {
        base: console.base().to_owned(),
        chips: Chips::of(&address, &chips, &kept),
        heads: Head::all(&address, &filters, (sort.by.as_str(), sort.order), columns),
        params: params.clone(),
        selects,
        users: found,
    };
    let found = text::users_found(list.users.total);
    if is_for_part(&headers) {
        return part(&list, &found);
    }
    let frame = signed_in.frame(&console).await?;
    let notice = if params.done == "created" { text::t("user-created") } else { "" };
    let keys = searchable(&users.attribute_definitions(caller).await?);
    page(StatusCode::OK, &UsersPage { frame, params, notice, keys, found, list })
}
