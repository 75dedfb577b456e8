use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::assignment::{AssignmentFilter, ListedAssignment};
use iam_core::audit::AuditFilter;
use iam_core::clock::Timestamp;
use iam_core::organization::{
    OrganizationPatch, OrganizationStatus, OrganizationWithAttributes, OrganizationWithDepth,
};
use iam_core::page::{Page, PageRequest};
use iam_core::permission::{ORGANIZATIONS_CREATE, ORGANIZATIONS_DELETE, ORGANIZATIONS_UPDATE};
use iam_core::version::Precondition;
use iam_core::{Error, FieldError, OrganizationId};
use serde::Deserialize;

use crate::attributes::{self, AttributeFields};
use crate::audit::sentence::said;
use crate::confirm::{self, Attempt, Outcome, Pending, at_fields, text_above};
use crate::form::Form;
use crate::organizations::tree::below;
use crate::paging::Pages;
use crate::problem::{if_allowed, refused_in_place};
use crate::query::Query;
use crate::rights::held;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Field, Frame, page};

/// How many assignments and entries of the log are shown.
const SHOWN: u32 = 10;

#[derive(Template)]
#[template(path = "organization.html")]
struct OrganizationPage {
    frame: Frame,
    notice: &'static str,
    error: String,
    organization: OrganizationWithDepth,
    /// The version that the person has seen.
    version: String,
    above: Vec<OrganizationWithDepth>,
    fields: Vec<Field>,
    attributes: AttributeFields,
    below: Vec<OrganizationWithDepth>,
    pages: Pages,
    /// `None` if the caller may not see them.
    members: Option<Page<ListedAssignment>>,
    /// The sentences of the audit log, and their moments. `None` if the caller may not read it.
    entries: Option<Vec<(String, Timestamp)>>,
    now: Timestamp,
    may_create: bool,
    may_update: bool,
    may_delete: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    page: Option<u64>,
    done: String,
}

impl Params {
    fn notice(&self) -> &'static str {
        match &*self.done {
            "created" => text::t("organization-created"),
            "saved" => text::t("saved"),
            "moved" => text::t("organization-moved"),
            "ACTIVE" => text::t("organization-active"),
            "SUSPENDED" => text::t("organization-suspended"),
            _ => "",
        }
    }
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    organization: OrganizationWithAttributes,
    number: Option<u64>,
    (form, errors): (Option<&Form>, &[FieldError]),
) -> Result<OrganizationPage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let OrganizationWithAttributes { placed: organization, attributes, .. } = organization;
    let defined = iam.organizations().attribute_definitions(caller).await?;
    let id = organization.organization.id;
    let field = |field: Field, value: &str| {
        let typed = form.map_or(value, |form| form.get(&field.name)).to_owned();
        field.filled(&typed).with_errors(errors)
    };
    let children = below(iam, caller, id, number).await?;
    let address = format!("{}/organizations/{id}", console.base());
    let pages = Pages::of(&children, |page| format!("{address}?page={page}#below"));
    let in_it = AssignmentFilter { organization: Some(id), ..AssignmentFilter::default() };
    let about_it = AuditFilter { organization_id: Some(id), ..AuditFilter::default() };
    let entries = if_allowed(iam.audit().list(caller, about_it, None, SHOWN).await)?.map(|found| found.entries);
    let request = PageRequest::new(1, SHOWN).map_err(Error::from)?;
    let needed = [ORGANIZATIONS_CREATE, ORGANIZATIONS_UPDATE, ORGANIZATIONS_DELETE];
    let [may_create, may_update, may_delete] = held(iam, caller, Some(id), needed).await?;
    Ok(OrganizationPage {
        frame: signed_in.frame(console).await?,
        notice: "",
        error: String::new(),
        version: form.map_or_else(|| organization.version().to_string(), |form| form.get("version").to_owned()),
        above: iam.organizations().ancestors(caller, id).await?,
        fields: vec![
            field(Field::text("name", text::t("name")), organization.organization.name.as_str()),
            field(
                Field::text("slug", text::t("slug")).with_hint(text::t("slug-hint")),
                organization.organization.slug.as_str(),
            ),
        ],
        attributes: AttributeFields::of(&defined, &attributes, (form, errors)),
        below: children.items,
        pages,
        members: if_allowed(iam.assignments().list(caller, &in_it, request).await)?,
        entries: match entries {
            Some(entries) => Some(said(iam, caller, &entries).await?),
            None => None,
        },
        now: iam.now(),
        may_create,
        may_update,
        may_delete,
        organization,
    })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<OrganizationId>,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let organization = console.iam.organizations().get_with_attributes(&signed_in.caller, id).await?;
    let shown = page_of(&console, &signed_in, organization, params.page, (None, &[])).await?;
    page(StatusCode::OK, &OrganizationPage { notice: params.notice(), ..shown })
}

pub(super) async fn update(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<OrganizationId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let (organizations, caller) = (console.iam.organizations(), &signed_in.caller);
    let before = organizations.get_with_attributes(caller, id).await?;
    let attempt = async {
        let defined = organizations.attribute_definitions(caller).await?;
        let patch = OrganizationPatch {
            name: Some(form.get("name").trim().to_owned()),
            slug: Some(form.get("slug").trim().to_owned()),
            attributes: attributes::changes(&defined, &before.attributes, &form)?,
            ..OrganizationPatch::default()
        };
        organizations.update_if(caller, id, patch, &seen(&form)).await
    };
    match attempt.await {
        Ok(_) => Ok(back(&console, id, "saved")),
        Err(error) => {
            let typed = (Some(&form), &*at_fields(&error));
            let shown = page_of(&console, &signed_in, before, None, typed).await?;
            let text = text_above(&error);
            refused_in_place(error, |_| OrganizationPage { error: text, ..shown })
        }
    }
}

/// Suspends an organization, or makes it active again.
pub(super) async fn change_status(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<OrganizationId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let caller = &signed_in.caller;
    let before = console.iam.organizations().get(caller, id).await?;
    let suspends = form.get("status") == OrganizationStatus::Suspended.as_str();
    let status = if suspends { OrganizationStatus::Suspended } else { OrganizationStatus::Active };
    let attempt = Attempt::of(&console, &form);
    let patch = OrganizationPatch { status: Some(status), ..OrganizationPatch::default() };
    let result = attempt.organizations().update_if(caller, id, patch, &seen(&form)).await;
    let name = before.organization.name.as_str();
    let pending = Pending {
        title: if suspends { text::suspend(name) } else { text::reactivate(name) },
        note: if suspends { text::t("suspend-organization-what") } else { text::t("reactivate-organization-what") },
        button: if suspends { text::t("suspend") } else { text::t("reactivate") },
        is_dangerous: suspends,
        action: format!("{}/organizations/{id}/status", console.base()),
        back: format!("{}/organizations/{id}", console.base()),
        has_form: false,
    };
    match attempt.outcome(caller, result).await {
        Ok(Outcome::Changed) => Ok(back(&console, id, status.as_str())),
        Ok(Outcome::Previewed(preview)) => confirm::ask(&console, &signed_in, form, pending, preview).await,
        Err(error) => confirm::refuse(&console, &signed_in, pending, error).await,
    }
}

pub(super) async fn delete(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<OrganizationId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let caller = &signed_in.caller;
    let before = console.iam.organizations().get(caller, id).await?;
    let attempt = Attempt::of(&console, &form);
    let result = attempt.organizations().delete_if(caller, id, &seen(&form)).await;
    let pending = Pending {
        title: text::delete(before.organization.name.as_str()),
        note: text::t("delete-organization-what"),
        button: text::t("delete"),
        is_dangerous: true,
        action: format!("{}/organizations/{id}/delete", console.base()),
        back: format!("{}/organizations/{id}", console.base()),
        has_form: false,
    };
    match attempt.outcome(caller, result).await {
        Ok(Outcome::Changed) => {
            Ok(Redirect::to(&format!("{}/organizations?done=deleted", console.base())).into_response())
        }
        Ok(Outcome::Previewed(preview)) => confirm::ask(&console, &signed_in, form, pending, preview).await,
        Err(error) => confirm::refuse(&console, &signed_in, pending, error).await,
    }
}

/// The version that the person has seen.
fn seen(form: &Form) -> Precondition {
    Precondition::OneOf(form.get("version").parse().into_iter().collect())
}

fn back(console: &Console, id: OrganizationId, done: &str) -> Response {
    Redirect::to(&format!("{}/organizations/{id}?done={done}", console.base())).into_response()
}
