use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use iam_axum::{PathId, Problem};
use iam_core::DirectoryId;
use iam_core::directory::{Directory, DirectoryGroup};
use iam_core::role::PlacedRole;
use serde::Deserialize;

use crate::directories::{names_of, texts_of};
use crate::filters::{Chips, Filter};
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
}

#[derive(Template)]
#[template(path = "directory-groups.html")]
struct GroupsPage {
    frame: Frame,
    directory: Directory,
    params: Params,
    found: String,
    list: GroupList,
}

/// The part of the page that changes while a person types.
#[derive(Template)]
#[template(path = "directory-group-list.html")]
struct GroupList {
    /// The address of the list.
    address: String,
    is_filtered: bool,
    chips: Chips,
    groups: Vec<Listed>,
    pages: Pages,
}

struct Listed {
    group: DirectoryGroup,
    /// Each role that it gives, with where.
    grants: Vec<String>,
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<DirectoryId>,
    headers: HeaderMap,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let search = Some(params.search.trim()).filter(|search| !search.is_empty());
    let found = iam.directories().groups(caller, id, search, paging::request(params.page)?).await?;
    let grants: Vec<PlacedRole> = found.items.iter().flat_map(|group| group.grants.iter().copied()).collect();
    let names = names_of(iam, caller, &grants).await?;
    let address = format!("{}/directories/{id}/groups", console.base());
    let page_at = |page: u64| {
        let page = page.to_string();
        format!("{address}?{}", query(&[("search", &*params.search), ("page", &*page)]))
    };
    let (summary, pages) = (text::groups_found(found.total), Pages::of(&found, page_at));
    let listed = |group: DirectoryGroup| Listed { grants: texts_of(&group.grants, &names), group };
    let groups = found.items.into_iter().map(listed).collect();
    let chips = Chips::of(&address, &[Filter::typed("search", text::t("search"), &params.search)], &[]);
    let list = GroupList { is_filtered: search.is_some(), chips, groups, pages, address };
    if is_for_part(&headers) {
        return part(&list, &summary);
    }
    let (directory, _) = iam.directories().get(caller, id).await?;
    let frame = signed_in.frame(&console).await?;
    page(StatusCode::OK, &GroupsPage { frame, directory, params, found: summary, list })
}
