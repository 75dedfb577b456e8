use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use iam_axum::{PathId, Problem};
use iam_core::organization::{
    OrganizationCounts, OrganizationFilter, OrganizationSort, OrganizationSortKey, OrganizationStatus,
    OrganizationWithDepth, ParentFilter,
};
use iam_core::page::{Page, SortOrder};
use iam_core::permission::{ORGANIZATIONS_CREATE, ORGANIZATIONS_READ, ORGANIZATIONS_UPDATE};
use iam_core::{Caller, Error, Iam, OrganizationId};
use serde::Deserialize;

use crate::assets::ASSETS;
use crate::attributes::{searchable, sought};
use crate::filters::{Chips, Filter, Head, order};
use crate::paging::{self, Pages};
use crate::picker::by_name;
use crate::problem::{if_allowed, is_for_part};
use crate::query::{Query, filter};
use crate::rights::held;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page, part, query};

/// How many organizations below those of a page are shown at once. Each of them shows up to [`paging::LIMIT`], and one
/// more is read of each, to know whether there are more.
const OPENED: u32 = paging::LIMIT * (paging::LIMIT + 1);

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

impl Params {
    fn is_filtered(&self) -> bool {
        let is_by_attribute = !self.attribute.is_empty() && !self.value.is_empty();
        !self.search.trim().is_empty() || !self.status.is_empty() || is_by_attribute
    }

    /// Returns the order of what a search finds. The tree has that of the names.
    fn sort(&self) -> Result<OrganizationSort, Error> {
        Ok(OrganizationSort {
            by: filter("sortBy", &self.sort_by)?.unwrap_or(OrganizationSortKey::Name),
            order: order(&self.sort_order)?.unwrap_or(SortOrder::Ascending),
        })
    }
}

#[derive(Template)]
#[template(path = "organizations.html")]
struct OrganizationsPage {
    frame: Frame,
    params: Params,
    notice: &'static str,
    may_create: bool,
    script: String,
    /// The keys of the searchable attributes.
    keys: Vec<String>,
    found: String,
    list: String,
}

/// Organizations at the same place of the tree, each of which can be opened.
#[derive(Template)]
#[template(path = "organization-branch.html")]
struct Branch {
    base: String,
    organizations: Vec<(OrganizationWithDepth, Line)>,
    /// Where the person reads on, and where the page loads more.
    more: Option<(String, String)>,
}

/// What a line of the tree has beside the organization.
struct Line {
    /// How many members it has, and how much is below it.
    counts: String,
    /// Whether there are others below it.
    has_more: bool,
    /// The [`Branch`] below it. Empty if the page loads it when the line is opened.
    below: String,
}

impl Line {
    fn of(counts: Option<&OrganizationCounts>, below: String) -> Self {
        Self {
            counts: counts.map(text::organization_counts).unwrap_or_default(),
            has_more: counts.is_some_and(|counts| counts.below > 0),
            below,
        }
    }
}

/// The top of the tree.
#[derive(Template)]
#[template(path = "organization-tree.html")]
struct Tree {
    base: String,
    branch: Branch,
    pages: Pages,
    may_create: bool,
    /// Whether the person may move an organization to the top.
    may_move: bool,
}

/// The result of a search.
#[derive(Template)]
#[template(path = "organization-list.html")]
struct Found {
    base: String,
    chips: Chips,
    heads: [Head; 4],
    /// Each with the names of the organizations above.
    organizations: Vec<(OrganizationWithDepth, String)>,
    pages: Pages,
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    headers: HeaderMap,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let caller = &signed_in.caller;
    let sort = params.sort()?;
    let [may_create, may_move] = held(&console.iam, caller, None, [ORGANIZATIONS_CREATE, ORGANIZATIONS_UPDATE]).await?;
    if params.is_filtered() {
        let (list, found) = search(&console, caller, &params, sort).await?;
        return respond(&console, &signed_in, &headers, params, may_create, (list, found)).await;
    }
    let (branch, pages) = top(&console, caller, params.page).await?;
    let tree = Tree { base: console.base().to_owned(), branch, pages, may_create, may_move };
    respond(&console, &signed_in, &headers, params, may_create, (tree, String::new())).await
}

/// Returns a list, within the page or without it.
async fn respond(
    console: &Console,
    signed_in: &SignedIn,
    headers: &HeaderMap,
    params: Params,
    may_create: bool,
    (list, found): (impl Template, String),
) -> Result<Response, Problem> {
    if is_for_part(headers) {
        return part(&list, &found);
    }
    let list = list.render().map_err(|error| Error::internal("the list of organizations", error))?;
    let frame = signed_in.frame(console).await?;
    let script = format!("{}{}", frame.base, ASSETS.tree.path);
    let notice = if params.done == "deleted" { text::t("organization-deleted") } else { "" };
    let keys = searchable(&console.iam.organizations().attribute_definitions(&signed_in.caller).await?);
    page(StatusCode::OK, &OrganizationsPage { frame, params, notice, may_create, script, keys, found, list })
}

/// Returns the topmost organizations that the caller may see.
async fn top(console: &Console, caller: &Caller, number: Option<u64>) -> Result<(Branch, Pages), Error> {
    let iam = &console.iam;
    let request = paging::request(number)?;
    let [sees_all] = held(iam, caller, None, [ORGANIZATIONS_READ]).await?;
    let found = if sees_all {
        let filter = OrganizationFilter { parent: Some(ParentFilter::Root), ..OrganizationFilter::default() };
        iam.organizations().list(caller, &filter, by_name(), request).await?
    } else {
        paging::page(own(iam, caller).await?, request)
    };
    let base = console.base().to_owned();
    let pages = Pages::of(&found, |page| format!("{base}/organizations?page={page}"));
    Ok((opened(console, caller, found.items).await?, pages))
}

/// Returns organizations, each with those directly below it.
async fn opened(
    console: &Console,
    caller: &Caller,
    organizations: Vec<OrganizationWithDepth>,
) -> Result<Branch, Error> {
    let service = console.iam.organizations();
    let ids = ids_of(&organizations);
    let children = service.children_of(caller, &ids, paging::LIMIT + 1, OPENED).await?;
    let counts = service.counts(caller, &[ids, ids_of(&children)].concat()).await?;
    let mut below: BTreeMap<Option<OrganizationId>, Vec<OrganizationWithDepth>> = BTreeMap::new();
    for child in children {
        below.entry(child.organization.parent_id).or_default().push(child);
    }
    let base = console.base().to_owned();
    let mut lines = Vec::new();
    for organization in organizations {
        let id = organization.organization.id;
        let mut children = below.remove(&Some(id)).unwrap_or_default();
        let has_next = children.len() > paging::LIMIT as usize;
        children.truncate(paging::LIMIT as usize);
        let shown = if children.is_empty() {
            String::new()
        } else {
            let organizations = closed(children, &counts);
            let branch = Branch { base: base.clone(), organizations, more: has_next.then(|| next(&base, id, 2)) };
            branch.render().map_err(|error| Error::internal("a branch of organizations", error))?
        };
        lines.push((organization, Line::of(counts.get(&id), shown)));
    }
    Ok(Branch { base, organizations: lines, more: None })
}

/// Returns organizations without those below them.
fn closed(
    organizations: Vec<OrganizationWithDepth>,
    counts: &BTreeMap<OrganizationId, OrganizationCounts>,
) -> Vec<(OrganizationWithDepth, Line)> {
    let line = |found: &OrganizationWithDepth| Line::of(counts.get(&found.organization.id), String::new());
    let lines: Vec<Line> = organizations.iter().map(line).collect();
    organizations.into_iter().zip(lines).collect()
}

/// Returns where the person reads on below an organization, and where the page loads more.
fn next(base: &str, id: OrganizationId, page: u64) -> (String, String) {
    let address = format!("{base}/organizations/{id}");
    (format!("{address}?page={page}#below"), format!("{address}/below?page={page}"))
}

pub(super) fn ids_of(organizations: &[OrganizationWithDepth]) -> Vec<OrganizationId> {
    organizations.iter().map(|found| found.organization.id).collect()
}

/// Returns the topmost organizations in which the caller itself may see the tree.
pub(super) async fn own(iam: &Iam, caller: &Caller) -> Result<Vec<OrganizationWithDepth>, Error> {
    let grants = iam.sessions().me(caller).await?.grants;
    let sees = grants.iter().filter(|grant| grant.role.permissions.allows(&ORGANIZATIONS_READ));
    let places: Vec<_> = sees.filter_map(|grant| grant.organization.as_ref()).collect();
    if places.is_empty() {
        // The service says which permission is missing.
        let filter = OrganizationFilter::default();
        return Ok(iam.organizations().list(caller, &filter, by_name(), paging::request(None)?).await?.items);
    }
    let is_top =
        |lineage: &[OrganizationId]| !places.iter().any(|place| lineage.iter().skip(1).any(|above| *above == place.id));
    let mut ids: Vec<OrganizationId> =
        places.iter().filter(|place| is_top(&place.lineage)).map(|place| place.id).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut found = Vec::new();
    for id in ids {
        found.extend(if_allowed(iam.organizations().get(caller, id).await)?);
    }
    found.sort_by(|one, other| one.organization.name.as_str().cmp(other.organization.name.as_str()));
    Ok(found)
}

async fn search(
    console: &Console,
    caller: &Caller,
    params: &Params,
    sort: OrganizationSort,
) -> Result<(Found, String), Error> {
    let organizations = console.iam.organizations();
    let search = Some(params.search.trim().to_owned()).filter(|search| !search.is_empty());
    let attribute = match sought(&params.attribute, &params.value) {
        Some(text) => Some(organizations.attribute_filter(caller, &text).await?),
        None => None,
    };
    let status = filter("status", &params.status)?;
    let filter = OrganizationFilter { search, status, attribute, ..OrganizationFilter::default() };
    let found = organizations.list(caller, &filter, sort, paging::request(params.page)?).await?;
    let base = console.base().to_owned();
    let address = format!("{base}/organizations");
    let chips = [
        Filter::typed("search", text::t("search"), &params.search),
        Filter::of("status", text::t("status"), &params.status, filter.status.as_ref().map_or("", super::text_of)),
        Filter::attribute(&params.attribute, &params.value),
    ];
    let chips = Chips::of(&address, &chips, &[("sortBy", &*params.sort_by), ("sortOrder", &params.sort_order)]);
    let columns = [
        (OrganizationSortKey::Name.as_str(), text::t("organization")),
        ("", text::t("above")),
        ("", text::t("status")),
        (OrganizationSortKey::CreatedAt.as_str(), text::t("created")),
    ];
    let filters = [
        ("search", &*params.search),
        ("status", &*params.status),
        ("attribute", &*params.attribute),
        ("value", &*params.value),
    ];
    let heads = Head::all(&address, &filters, (sort.by.as_str(), sort.order), columns);
    let pages = Pages::of(&found, |page| {
        let page = page.to_string();
        let fields = [
            ("search", &*params.search),
            ("status", &*params.status),
            ("attribute", &*params.attribute),
            ("value", &*params.value),
            ("sortBy", &*params.sort_by),
            ("sortOrder", &*params.sort_order),
            ("page", &*page),
        ];
        format!("{address}?{}", query(&fields))
    });
    let (total, mut shown) = (found.total, Vec::new());
    for organization in found.items {
        let above = if_allowed(organizations.ancestors(caller, organization.organization.id).await)?;
        let above: Vec<String> = above.into_iter().flatten().map(|above| above.organization.name.to_string()).collect();
        shown.push((organization, above.join(" › ")));
    }
    Ok((Found { base, chips, heads, organizations: shown, pages }, text::organizations_found(total)))
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Numbered {
    page: Option<u64>,
}

/// Returns the organizations directly below another one, for the page that shows the tree.
pub(super) async fn show_below(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<OrganizationId>,
    Query(Numbered { page: number }): Query<Numbered>,
) -> Result<Response, Problem> {
    let found = below(&console.iam, &signed_in.caller, id, number).await?;
    let counts = console.iam.organizations().counts(&signed_in.caller, &ids_of(&found.items)).await?;
    let base = console.base().to_owned();
    let more = found.has_next().then(|| next(&base, id, found.request.page().saturating_add(1)));
    page(StatusCode::OK, &Branch { base, organizations: closed(found.items, &counts), more })
}

/// Returns a page of the organizations directly below another one.
pub(super) async fn below(
    iam: &Iam,
    caller: &Caller,
    id: OrganizationId,
    number: Option<u64>,
) -> Result<Page<OrganizationWithDepth>, Error> {
    // Only of an organization that the caller may see.
    iam.organizations().get(caller, id).await?;
    let filter = OrganizationFilter { parent: Some(ParentFilter::Of(id)), ..OrganizationFilter::default() };
    iam.organizations().list(caller, &filter, by_name(), paging::request(number)?).await
}
