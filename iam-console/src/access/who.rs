use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::access::Holder;
use iam_core::assignment::AssignmentFilter;
use iam_core::clock::Timestamp;
use iam_core::page::{MAX_LIMIT, Page, PageRequest};
use iam_core::permission::Permission;
use iam_core::role::{Role, RoleScope};
use iam_core::{Caller, Error, FieldError, Iam, RoleId};
use serde::Deserialize;

use crate::access::{Reason, Tabs, meaning_of, permission, places};
use crate::catalogue::described_permissions;
use crate::confirm::{at_fields, text_above};
use crate::group_names::GroupNames;
use crate::names::Names;
use crate::paging::{self, Pages};
use crate::person::Person;
use crate::picker;
use crate::problem::{if_allowed, refused_in_place};
use crate::query::Query;
use crate::roles;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::{Time, typed};
use crate::view::{Field, Frame, page, query};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    /// Only kept for the other pages.
    user: String,
    permission: String,
    organization: String,
    at: String,
    page: Option<u64>,
}

impl Params {
    fn typed(&self) -> [(&'static str, &str); 4] {
        let Self { user, permission, organization, at, page: _ } = self;
        [("user", user), ("permission", permission), ("organization", organization), ("at", at)]
    }
}

#[derive(Template)]
#[template(path = "access-who.html")]
struct WhoPage {
    frame: Frame,
    tabs: Tabs,
    /// The user that was typed on another of the pages.
    user: String,
    error: String,
    permission: Field,
    permissions: Vec<(String, String)>,
    organization: Field,
    moment: Field,
    answer: Option<Answer>,
}

/// The users who may do it.
struct Answer {
    summary: String,
    /// The question, as it was understood.
    permission: String,
    meaning: String,
    place: String,
    /// Whether the question is about the whole tenant.
    is_whole: bool,
    at: Option<Timestamp>,
    holders: Vec<(Person, Vec<Reason>)>,
    /// The roles with the permission that are held in single organizations: these holders are not among those of the
    /// whole tenant. `None` for a question about one organization or about another moment, and if the roles are hidden.
    below: Option<Vec<(RoleId, String)>>,
    pages: Pages,
}

impl Answer {
    async fn find(
        console: &Console,
        caller: &Caller,
        described: &[(String, String)],
        params: &Params,
        request: PageRequest,
    ) -> Result<Self, Error> {
        let (iam, base) = (&console.iam, console.base());
        let permission = permission(described, &params.permission)?;
        let (name, meaning) = (permission.as_str().to_owned(), meaning_of(described, &permission));
        let organization = picker::organization(iam, caller, "organization", &params.organization).await?;
        let at = typed("at", &params.at)?;
        let found: Page<Holder> = iam.access().who(caller, permission.clone(), organization, at, request).await?;
        let is_whole = organization.is_none();
        let below = if is_whole && at.is_none() { roles_below(iam, caller, &permission).await? } else { None };
        let places = places(found.items.iter().flat_map(|holder| &holder.grants));
        let names = Names::read(iam, caller, [], places.into_iter().chain(organization)).await?;
        let place = organization.map_or_else(|| text::t("whole-tenant").to_owned(), |id| names.organization(id));
        let address = |page: u64| {
            let page = page.to_string();
            format!("{base}/access/who?{}", query(&[&params.typed()[..], &[("page", &*page)]].concat()))
        };
        let (summary, pages) = (text::users_found(found.total), Pages::of(&found, address));
        // The page does not say who has assigned a role.
        let groups = GroupNames::default();
        let holders = found.items.into_iter().map(|holder| {
            let reasons = holder.grants.into_iter().map(|grant| Reason::of(grant, &names, &groups)).collect();
            (Person::of(base, &holder.user), reasons)
        });
        Ok(Self { summary, permission: name, meaning, place, is_whole, at, holders: holders.collect(), below, pages })
    }
}

/// Of how many roles the assignments are read. Of the other ones, a page says no more than that they can be held.
const MOST_ROLES: usize = 20;

/// Returns the roles with the permission that users hold in single organizations. `None` if the caller may not see the
/// roles.
async fn roles_below(
    iam: &Iam,
    caller: &Caller,
    permission: &Permission,
) -> Result<Option<Vec<(RoleId, String)>>, Error> {
    let Some(all) = if_allowed(roles::all(iam, caller).await)? else { return Ok(None) };
    let is_meant = |role: &Role| role.scope != RoleScope::Tenant && role.permissions.allows(permission);
    let meant: Vec<Role> = all.into_iter().filter(is_meant).collect();
    let mut found = Vec::new();
    for (number, role) in meant.into_iter().enumerate() {
        if number >= MOST_ROLES || is_held_below(iam, caller, role.id).await? {
            found.push((role.id, role.name.to_string()));
        }
    }
    Ok(Some(found))
}

/// Whether users hold the role in single organizations, or can: of many assignments, only the newest are read.
async fn is_held_below(iam: &Iam, caller: &Caller, role: RoleId) -> Result<bool, Error> {
    let filter = AssignmentFilter { role: Some(role), ..AssignmentFilter::default() };
    let held = iam.assignments().list(caller, &filter, PageRequest::new(1, MAX_LIMIT)?).await?;
    Ok(held.has_next() || held.items.iter().any(|held| held.assignment.organization_id.is_some()))
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    described: Vec<(String, String)>,
    params: &Params,
    errors: &[FieldError],
) -> Result<WhoPage, Problem> {
    let caller = &signed_in.caller;
    let permission = Field::text("permission", text::t("permission")).with_hint(text::t("permission-hint"));
    let moment = Field::text("at", text::t("at-moment")).with_hint(text::t("asked-moment-hint"));
    Ok(WhoPage {
        frame: signed_in.frame(console).await?,
        tabs: Tabs::of(console.base(), &params.typed()),
        user: params.user.clone(),
        error: String::new(),
        permission: permission.filled(&params.permission).with_errors(errors),
        permissions: described,
        organization: picker::of_place(console, caller, &params.organization, errors).await?,
        moment: moment.filled(&params.at).with_errors(errors),
        answer: None,
    })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let described = described_permissions(&console.iam, &signed_in.caller).await?;
    if params.permission.is_empty() {
        return page(StatusCode::OK, &page_of(&console, &signed_in, described, &params, &[]).await?);
    }
    let request = paging::request(params.page)?;
    match Answer::find(&console, &signed_in.caller, &described, &params, request).await {
        Ok(answer) => {
            let shown = page_of(&console, &signed_in, described, &params, &[]).await?;
            page(StatusCode::OK, &WhoPage { answer: Some(answer), ..shown })
        }
        Err(error) => {
            let shown = page_of(&console, &signed_in, described, &params, &at_fields(&error)).await?;
            let text = text_above(&error);
            refused_in_place(error, |_| WhoPage { error: text, ..shown })
        }
    }
}
