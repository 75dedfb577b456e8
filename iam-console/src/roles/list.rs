use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use iam_axum::Problem;
use iam_core::page::Page;
use iam_core::permission::ROLES_CREATE;
use iam_core::role::Role;
use iam_core::search::SearchWord;
use iam_core::{Caller, Error, Iam};
use serde::Deserialize;

use crate::filters::{Chips, Filter};
use crate::paging::{self, Pages};
use crate::problem::is_for_part;
use crate::query::Query;
use crate::rights::held;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Frame, page, part, query};

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    search: String,
    page: Option<u64>,
    done: String,
}

#[derive(Template)]
#[template(path = "roles.html")]
struct RolesPage {
    frame: Frame,
    params: Params,
    notice: &'static str,
    may_create: bool,
    found: String,
    list: RoleList,
}

/// The part of the page that changes while a person types.
#[derive(Template)]
#[template(path = "role-list.html")]
struct RoleList {
    base: String,
    is_filtered: bool,
    chips: Chips,
    roles: Vec<Role>,
    pages: Pages,
}

/// Returns a page of the roles whose name or description has a text.
async fn find(iam: &Iam, caller: &Caller, params: &Params) -> Result<Page<Role>, Error> {
    let request = paging::request(params.page)?;
    SearchWord::check(Some(&params.search))?;
    let search = SearchWord::all(&params.search);
    if search.is_empty() {
        return iam.roles().list(caller, request).await;
    }
    let matches = |role: &Role| text::has_all(role.name.as_str(), role.description.as_str(), &search);
    Ok(paging::page(super::all(iam, caller).await?.into_iter().filter(matches).collect(), request))
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    headers: HeaderMap,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let found = find(&console.iam, &signed_in.caller, &params).await?;
    let base = console.base().to_owned();
    let address = |page: u64| {
        let page = page.to_string();
        format!("{base}/roles?{}", query(&[("search", &*params.search), ("page", &*page)]))
    };
    let summary = text::roles_found(found.total);
    let list = RoleList {
        is_filtered: !params.search.is_empty(),
        chips: Chips::of(&format!("{base}/roles"), &[Filter::typed("search", text::t("search"), &params.search)], &[]),
        pages: Pages::of(&found, address),
        roles: found.items,
        base: base.clone(),
    };
    if is_for_part(&headers) {
        return part(&list, &summary);
    }
    let [may_create] = held(&console.iam, &signed_in.caller, None, [ROLES_CREATE]).await?;
    let frame = signed_in.frame(&console).await?;
    let notice = if params.done == "deleted" { text::t("role-deleted") } else { "" };
    page(StatusCode::OK, &RolesPage { frame, params, notice, may_create, found: summary, list })
}
