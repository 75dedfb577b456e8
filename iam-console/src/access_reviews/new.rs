use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use chrono::{NaiveDate, NaiveTime, TimeDelta};
use iam_axum::Problem;
use iam_core::access_review::NewAccessReview;
use iam_core::clock::Timestamp;
use iam_core::organization::{OrganizationFilter, OrganizationWithDepth};
use iam_core::page::{Page, PageRequest};
use iam_core::role::Role;
use iam_core::{Caller, Error, FieldError, Iam, InvalidFields, OrganizationId, RoleId};
use serde::Deserialize;

use crate::form::Form;
use crate::picker::by_name;
use crate::problem::{if_allowed, refused_form};
use crate::query::Query;
use crate::roles;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Field, Frame, page, part};

/// How many organizations are offered at once.
const OFFERED: u32 = 20;

#[derive(Template)]
#[template(path = "access-review-new.html")]
struct NewReviewPage {
    frame: Frame,
    error: String,
    fields: Vec<Field>,
    search: String,
    organizations: Organizations,
    /// `None` if the caller may not see them.
    roles: Option<Vec<Role>>,
    chosen: Vec<RoleId>,
    roles_error: String,
}

impl NewReviewPage {
    fn is_chosen(&self, role: &Role) -> bool {
        self.chosen.contains(&role.id)
    }
}

/// The part of the page that changes while a person types the name of an organization.
#[derive(Template)]
#[template(path = "organization-choice.html")]
struct Organizations {
    /// `None` if the caller may not see any.
    found: Option<Page<OrganizationWithDepth>>,
    chosen: Option<OrganizationWithDepth>,
}

impl Organizations {
    async fn read(iam: &Iam, caller: &Caller, search: &str, chosen: &str) -> Result<Self, Error> {
        let chosen = match chosen.parse::<OrganizationId>() {
            Ok(id) => if_allowed(iam.organizations().get(caller, id).await)?,
            Err(_) => None,
        };
        let search = Some(search.trim().to_owned()).filter(|search| !search.is_empty());
        let filter = OrganizationFilter { search, ..OrganizationFilter::default() };
        let found = iam.organizations().list(caller, &filter, by_name(), first_page(OFFERED)?).await;
        Ok(Self { found: if_allowed(found)?, chosen })
    }

    fn is_chosen(&self, id: &OrganizationId) -> bool {
        self.chosen.as_ref().is_some_and(|chosen| chosen.organization.id == *id)
    }

    /// The chosen organization, if it is not among those that are found.
    fn other(&self) -> Option<&OrganizationWithDepth> {
        let is_found = |id| self.found.iter().flat_map(|page| &page.items).any(|item| item.organization.id == id);
        self.chosen.as_ref().filter(|chosen| !is_found(chosen.organization.id))
    }
}

fn first_page(limit: u32) -> Result<PageRequest, Error> {
    PageRequest::new(1, limit).map_err(|invalid: InvalidFields| Error::from(invalid))
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    form: &Form,
    errors: &[FieldError],
) -> Result<NewReviewPage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let due = Field { kind: "date", ..Field::text("dueAt", text::t("due-day")) }.with_hint(text::t("due-hint"));
    let fields = [Field::text("name", text::t("name")).with_hint(text::t("review-name-hint")), due];
    let roles_error = errors.iter().find(|error| error.field == "roleIds");
    Ok(NewReviewPage {
        frame: signed_in.frame(console).await?,
        error: String::new(),
        fields: fields.map(|field| field.shown(form, errors)).into(),
        search: form.get("search").to_owned(),
        organizations: Organizations::read(iam, caller, form.get("search"), form.get("organizationId")).await?,
        roles: if_allowed(roles::all(iam, caller).await)?,
        chosen: form.all("roleIds").filter_map(|id| id.parse().ok()).collect(),
        roles_error: roles_error.map_or_else(String::new, |error| text::about(text::t("roles"), &error.message)),
    })
}

pub(super) async fn show(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    page(StatusCode::OK, &page_of(&console, &signed_in, &Form::default(), &[]).await?)
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Search {
    search: String,
    #[serde(rename = "organizationId")]
    chosen: String,
}

/// Returns the organizations whose names have a text in them, as a part of the page.
pub(super) async fn organizations(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(params): Query<Search>,
) -> Result<Response, Problem> {
    let organizations = Organizations::read(&console.iam, &signed_in.caller, &params.search, &params.chosen).await?;
    let found = organizations.found.as_ref().map_or(0, |found| found.total);
    part(&organizations, &text::organizations_found(found))
}

pub(super) async fn create(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    if form.has("find") {
        // Without a script, this is how a person searches for an organization. The button of the search is the first one,
        // so that the key Enter begins no review.
        return page(StatusCode::OK, &page_of(&console, &signed_in, &form, &[]).await?);
    }
    let created = match read(&form) {
        Ok(new) => console.iam.access_reviews().create(&signed_in.caller, new).await,
        Err(errors) => Err(Error::Validation(errors)),
    };
    match created {
        Ok(made) => {
            let path = format!("{}/access-reviews/{}?done=begun", console.base(), made.review.id);
            Ok(Redirect::to(&path).into_response())
        }
        Err(error) => {
            refused_form(error, async |errors, error| {
                Ok(NewReviewPage { error, ..page_of(&console, &signed_in, &form, &errors).await? })
            })
            .await
        }
    }
}

/// Reads a new review.
fn read(form: &Form) -> Result<NewAccessReview, Vec<FieldError>> {
    let invalid = |field: &str, message: &str| FieldError { field: field.to_owned(), message: message.to_owned() };
    let mut errors = Vec::new();
    let organization = match form.given("organizationId").map(|id| id.parse()) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => {
            errors.push(invalid("organizationId", text::t("choose-again")));
            None
        }
    };
    let roles: Result<Vec<RoleId>, _> = form.all("roleIds").map(str::parse).collect();
    let roles = roles.unwrap_or_else(|_| {
        errors.push(invalid("roleIds", text::t("choose-again")));
        Vec::new()
    });
    match (form.get("dueAt").trim().parse(), errors.is_empty()) {
        (Ok(day), true) => {
            let name = form.get("name").to_owned();
            Ok(NewAccessReview { name, organization, roles, users: Vec::new(), due_at: end_of(day) })
        }
        (due, _) => {
            if due.is_err() {
                errors.push(invalid("dueAt", text::t("must-be-day")));
            }
            Err(errors)
        }
    }
}

/// Returns the last moment of a day, in UTC.
fn end_of(day: NaiveDate) -> Timestamp {
    day.and_time(NaiveTime::MIN).and_utc() + (TimeDelta::days(1) - TimeDelta::milliseconds(1))
}
