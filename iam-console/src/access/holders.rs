use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::access::Holder;
use iam_core::clock::Timestamp;
use iam_core::page::PageRequest;
use iam_core::{Caller, Error, FieldError, OrganizationId};
use serde::Deserialize;

use crate::access::{Reason, Tabs, places};
use crate::confirm::{at_fields, text_above};
use crate::group_names::GroupNames;
use crate::names::Names;
use crate::paging::{self, Pages};
use crate::person::Person;
use crate::picker;
use crate::problem::refused_in_place;
use crate::query::Query;
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
    /// As above.
    permission: String,
    /// `None` before the person has asked; empty for the whole tenant.
    organization: Option<String>,
    at: String,
    page: Option<u64>,
}

impl Params {
    fn is_asked(&self) -> bool {
        self.organization.is_some() || !self.at.is_empty() || self.page.is_some()
    }

    fn typed(&self) -> [(&'static str, &str); 4] {
        let Self { user, permission, organization: _, at, page: _ } = self;
        [("user", user), ("permission", permission), ("organization", self.organization()), ("at", at)]
    }

    fn organization(&self) -> &str {
        self.organization.as_deref().unwrap_or_default()
    }
}

#[derive(Template)]
#[template(path = "access-holders.html")]
struct HoldersPage {
    frame: Frame,
    tabs: Tabs,
    /// What was typed on another of the pages.
    user: String,
    permission: String,
    error: String,
    organization: Field,
    moment: Field,
    answer: Option<Answer>,
}

/// The users who hold roles in a place.
struct Answer {
    summary: String,
    place: String,
    /// Whether roles can be inherited there.
    is_of_organization: bool,
    at: Option<Timestamp>,
    holders: Vec<Held>,
    pages: Pages,
}

/// A user with its roles.
struct Held {
    person: Person,
    /// The roles that are assigned in the place itself.
    own: Vec<Reason>,
    /// The roles that count there because they are held above, or in the whole tenant.
    inherited: Vec<Reason>,
    /// Whether there are too many roles to show all of them.
    is_cut: bool,
}

impl Held {
    fn of(
        base: &str,
        holder: Holder,
        organization: Option<OrganizationId>,
        names: &Names,
        groups: &GroupNames,
    ) -> Self {
        let (own, inherited): (Vec<_>, Vec<_>) =
            holder.grants.into_iter().partition(|grant| grant.organization == organization);
        let [own, inherited] =
            [own, inherited].map(|grants| grants.into_iter().map(|grant| Reason::of(grant, names, groups)).collect());
        Self { person: Person::of(base, &holder.user), own, inherited, is_cut: holder.truncated }
    }
}

impl Answer {
    async fn find(console: &Console, caller: &Caller, params: &Params, request: PageRequest) -> Result<Self, Error> {
        let (iam, base) = (&console.iam, console.base());
        let organization = picker::organization(iam, caller, "organization", params.organization()).await?;
        let at = typed("at", &params.at)?;
        let found = iam.access().role_holders(caller, organization, at, request).await?;
        let grants = || found.items.iter().flat_map(|holder| &holder.grants);
        let names = Names::read(iam, caller, [], places(grants()).into_iter().chain(organization)).await?;
        let groups = GroupNames::read(console, caller, grants().map(|grant| grant.directory_group)).await?;
        let address = |page: u64| {
            let page = page.to_string();
            format!("{base}/access/holders?{}", query(&[&params.typed()[..], &[("page", &*page)]].concat()))
        };
        let (summary, pages) = (text::users_found(found.total), Pages::of(&found, address));
        let holders = found.items.into_iter().map(|holder| Held::of(base, holder, organization, &names, &groups));
        Ok(Self {
            summary,
            place: organization.map_or_else(|| text::t("whole-tenant").to_owned(), |id| names.organization(id)),
            is_of_organization: organization.is_some(),
            at,
            holders: holders.collect(),
            pages,
        })
    }
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    params: &Params,
    errors: &[FieldError],
) -> Result<HoldersPage, Problem> {
    let moment = Field::text("at", text::t("at-moment")).with_hint(text::t("asked-moment-hint"));
    Ok(HoldersPage {
        frame: signed_in.frame(console).await?,
        tabs: Tabs::of(console.base(), &params.typed()),
        user: params.user.clone(),
        permission: params.permission.clone(),
        error: String::new(),
        organization: picker::of_place(console, &signed_in.caller, params.organization(), errors).await?,
        moment: moment.filled(&params.at).with_errors(errors),
        answer: None,
    })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    if !params.is_asked() {
        return page(StatusCode::OK, &page_of(&console, &signed_in, &params, &[]).await?);
    }
    match Answer::find(&console, &signed_in.caller, &params, paging::request(params.page)?).await {
        Ok(answer) => {
            let shown = page_of(&console, &signed_in, &params, &[]).await?;
            page(StatusCode::OK, &HoldersPage { answer: Some(answer), ..shown })
        }
        Err(error) => {
            let shown = page_of(&console, &signed_in, &params, &at_fields(&error)).await?;
            let text = text_above(&error);
            refused_in_place(error, |_| HoldersPage { error: text, ..shown })
        }
    }
}
