use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use iam_axum::Problem;
use iam_core::page::Page;
use iam_core::permission::{PERMISSIONS_CREATE, RegisteredPermission};
use iam_core::search::SearchWord;
use iam_core::{Caller, Error, Iam};
use serde::Deserialize;

use crate::catalogue;
use crate::paging::{self, Pages};
use crate::problem::is_for_part;
use crate::query::Query;
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
#[template(path = "permissions.html")]
struct PermissionsPage {
    frame: Frame,
    params: Params,
    notice: &'static str,
    found: String,
    list: PermissionList,
}

/// The part of the page that changes while a person types.
#[derive(Template)]
#[template(path = "permission-list.html")]
struct PermissionList {
    base: String,
    permissions: Vec<RegisteredPermission>,
    pages: Pages,
}

/// Returns a page of the permissions whose name or description has a text: first those of the application.
async fn find(iam: &Iam, caller: &Caller, params: &Params) -> Result<Page<RegisteredPermission>, Error> {
    let request = paging::request(params.page)?;
    SearchWord::check(Some(&params.search))?;
    let search = SearchWord::all(&params.search);
    let matches = |permission: &RegisteredPermission| {
        text::has_all(permission.name.as_str(), permission.description.as_str(), &search)
    };
    let mut found: Vec<_> = catalogue::all(iam, caller).await?.into_iter().filter(matches).collect();
    // The names keep their order.
    found.sort_by_key(|permission| permission.system);
    Ok(paging::page(found, request))
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
        format!("{base}/permissions?{}", query(&[("search", &*params.search), ("page", &*page)]))
    };
    let summary = text::permissions_found(found.total);
    let list = PermissionList { pages: Pages::of(&found, address), permissions: found.items, base };
    if is_for_part(&headers) {
        return part(&list, &summary);
    }
    let frame = signed_in.frame(&console).await?;
    let notice = if params.done == "deleted" { text::t("permission-deleted") } else { "" };
    page(StatusCode::OK, &PermissionsPage { frame, params, notice, found: summary, list })
}

impl PermissionsPage {
    fn may_create(&self) -> bool {
        self.frame.may_everywhere(&PERMISSIONS_CREATE)
    }
}
