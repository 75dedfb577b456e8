//! Fields in which a person chooses a user or an organization: while the person types, the browser offers what matches.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use iam_axum::{Problem, Query};
use iam_core::organization::{OrganizationFilter, OrganizationSort, OrganizationSortKey};
use iam_core::page::{PageRequest, SortOrder};
use iam_core::user::{UserFilter, UserSort};
use iam_core::{Caller, Error, FieldError, Iam, OrganizationId, UserId};
use serde::Deserialize;

use crate::english;
use crate::problem::if_allowed;
use crate::session::SignedIn;
use crate::state::Console;
use crate::view::{Field, page};

/// How many are offered.
const OFFERED: u32 = 20;
/// Among how many that match the one is searched that a person has named exactly.
const SEARCHED: u32 = 100;

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/pick/users", get(offer_users)).route("/pick/organizations", get(offer_organizations))
}

/// A field in which a person chooses.
#[derive(Clone, Debug)]
pub(crate) struct Picker {
    pub(crate) field: Field,
    /// What it offers: `users` or `organizations`.
    pub(crate) kind: &'static str,
}

impl Picker {
    pub(crate) fn of_user(field: Field) -> Self {
        Self { field: field.with_hint(english::PICK_USER), kind: "users" }
    }

    pub(crate) fn of_organization(field: Field) -> Self {
        Self { field, kind: "organizations" }
    }

    /// The field for an organization, or for the whole tenant if it is empty.
    pub(crate) async fn of_place(iam: &Iam, caller: &Caller, text: &str, errors: &[FieldError]) -> Result<Self, Error> {
        let field = Field::text("organization", english::ORGANIZATION).optional();
        let shown = shown_organization(iam, caller, text).await?;
        Ok(Self::of_organization(field.with_hint(english::ORGANIZATION_OR_TENANT).filled(&shown).judged(errors)))
    }
}

/// What a person has typed, under the name of its field.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Typed {
    user: String,
    #[serde(alias = "parent")]
    organization: String,
}

#[derive(Template)]
#[template(path = "picker-options.html")]
struct Options {
    /// Each with the value that the field gets, and what the person sees beside it.
    options: Vec<(String, String)>,
}

async fn offer_users(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(typed): Query<Typed>,
) -> Result<Response, Problem> {
    let filter = UserFilter { search: Some(typed.user.trim().to_owned()), ..UserFilter::default() };
    let request = PageRequest::new(1, OFFERED).map_err(Error::from)?;
    let found = console.iam.users().list(&signed_in.caller, &filter, UserSort::default(), request).await;
    let users = if_allowed(found)?.map(|found| found.items).unwrap_or_default();
    let options = users.into_iter().map(|user| match user.service_name() {
        Some(name) => (user.id.to_string(), format!("{name} ({})", english::SERVICE_ACCOUNT)),
        None => (user.email.as_str().to_owned(), format!("{} {}", user.first_name, user.last_name)),
    });
    page(StatusCode::OK, &Options { options: options.collect() })
}

async fn offer_organizations(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(typed): Query<Typed>,
) -> Result<Response, Problem> {
    let filter = OrganizationFilter { search: Some(typed.organization.trim().to_owned()), ..Default::default() };
    let request = PageRequest::new(1, OFFERED).map_err(Error::from)?;
    let found = console.iam.organizations().list(&signed_in.caller, &filter, by_name(), request).await;
    let organizations = if_allowed(found)?.map(|found| found.items).unwrap_or_default();
    let options = organizations.into_iter().map(|found| found.organization);
    let options = options.map(|found| (found.slug.as_str().to_owned(), found.name.to_string())).collect();
    page(StatusCode::OK, &Options { options })
}

/// The order of organizations in which a person finds them.
pub(crate) fn by_name() -> OrganizationSort {
    OrganizationSort { by: OrganizationSortKey::Name, order: SortOrder::Ascending }
}

/// Returns the user that a person has named by its e-mail or its id.
pub(crate) async fn user(iam: &Iam, caller: &Caller, text: &str) -> Result<UserId, Error> {
    let text = text.trim();
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let filter = UserFilter { search: Some(text.to_owned()), ..UserFilter::default() };
    match iam.users().list(caller, &filter, UserSort::default(), PageRequest::new(1, SEARCHED)?).await {
        Ok(found) => {
            let mut named = found.items.into_iter().filter(|user| user.email.as_str().eq_ignore_ascii_case(text));
            named.next().map(|user| user.id).ok_or_else(|| Error::field("user", english::NO_SUCH_USER))
        }
        Err(Error::Forbidden(_)) => Err(Error::field("user", english::USER_BY_ID)),
        Err(error) => Err(error),
    }
}

/// Returns the organization that a person has named by its slug or its id. `None` if the text is empty.
pub(crate) async fn organization(
    iam: &Iam,
    caller: &Caller,
    field: &str,
    text: &str,
) -> Result<Option<OrganizationId>, Error> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(id) = text.parse() {
        return Ok(Some(id));
    }
    let filter = OrganizationFilter { search: Some(text.to_owned()), ..OrganizationFilter::default() };
    match iam.organizations().list(caller, &filter, by_name(), PageRequest::new(1, SEARCHED)?).await {
        Ok(found) => {
            let mut named = found.items.into_iter().map(|found| found.organization).filter(|o| o.slug.as_str() == text);
            let named = named.next().map(|organization| Some(organization.id));
            named.ok_or_else(|| Error::field(field, english::NO_SUCH_ORGANIZATION))
        }
        Err(Error::Forbidden(_)) => Err(Error::field(field, english::ORGANIZATION_BY_ID)),
        Err(error) => Err(error),
    }
}

/// Returns what a field shows of a user that a link names by its id: the e-mail, if there is one to see.
pub(crate) async fn shown_user(iam: &Iam, caller: &Caller, text: &str) -> Result<String, Error> {
    let Ok(id) = text.parse::<UserId>() else { return Ok(text.to_owned()) };
    let user = if_allowed(iam.users().get(caller, id).await)?.filter(|user| user.service_name().is_none());
    Ok(user.map_or_else(|| text.to_owned(), |user| user.email.as_str().to_owned()))
}

/// Returns what a field shows of an organization that a link names by its id: the slug, if the caller may see it.
pub(crate) async fn shown_organization(iam: &Iam, caller: &Caller, text: &str) -> Result<String, Error> {
    let Ok(id) = text.parse::<OrganizationId>() else { return Ok(text.to_owned()) };
    let found = if_allowed(iam.organizations().get(caller, id).await)?;
    let found = found.map(|found| found.organization).filter(|found| !found.status.is_inactive());
    Ok(found.map_or_else(|| text.to_owned(), |found| found.slug.as_str().to_owned()))
}
