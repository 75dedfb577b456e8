use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::organization::{OrganizationPatch, OrganizationWithDepth};
use iam_core::version::Precondition;
use iam_core::{Caller, Error, FieldError, OrganizationId};

use crate::confirm::{self, Attempt, Outcome, Pending, at_fields, text_above};
use crate::form::Form;
use crate::picker;
use crate::problem::refused_in_place;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Field, Frame, page};

const TOP: &str = "top";

#[derive(Template)]
#[template(path = "organization-move.html")]
struct MovePage {
    frame: Frame,
    error: String,
    organization: OrganizationWithDepth,
    /// The version that the person has seen.
    version: String,
    is_to_top: bool,
    parent: Field,
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    organization: OrganizationWithDepth,
    (form, errors): (Option<&Form>, &[FieldError]),
) -> Result<MovePage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let above = organization.organization.parent_id.map(|id| id.to_string()).unwrap_or_default();
    let parent = picker::shown_organization(iam, caller, form.map_or(&above, |form| form.get("parent"))).await?;
    let field = Field::text("parent", text::t("new-parent")).optional().with_hint(text::t("pick-organization"));
    Ok(MovePage {
        frame: signed_in.frame(console).await?,
        error: String::new(),
        version: form.map_or_else(|| organization.version().to_string(), |form| form.get("version").to_owned()),
        is_to_top: form.is_some_and(|form| form.get("place") == TOP),
        parent: picker::of_organization(console, field.filled(&parent).with_errors(errors)),
        organization,
    })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<OrganizationId>,
) -> Result<Response, Problem> {
    let organization = console.iam.organizations().get(&signed_in.caller, id).await?;
    page(StatusCode::OK, &page_of(&console, &signed_in, organization, (None, &[])).await?)
}

pub(super) async fn move_to(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<OrganizationId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let organization = console.iam.organizations().get(&signed_in.caller, id).await?;
    if confirm::goes_back(&form) {
        return page(StatusCode::OK, &page_of(&console, &signed_in, organization, (Some(&form), &[])).await?);
    }
    let attempt = Attempt::of(&console, &form);
    let address = format!("{}/organizations/{id}", console.base());
    match try_move(&console, &signed_in.caller, &attempt, id, &form).await {
        Ok(Outcome::Changed) => Ok(Redirect::to(&format!("{address}?done=moved")).into_response()),
        Ok(Outcome::Previewed(preview)) => {
            let name = organization.organization.name.as_str();
            let title = if form.get("place") == TOP {
                text::move_to_top(name)
            } else {
                let parent = named(&console, &signed_in.caller, form.get("parent")).await?;
                text::move_below(name, &parent)
            };
            let pending = Pending {
                title,
                note: text::t("move-note"),
                button: text::t("move"),
                is_dangerous: false,
                action: format!("{address}/move"),
                back: address,
                has_form: true,
            };
            confirm::ask(&console, &signed_in, form, pending, preview).await
        }
        Err(error) => {
            let typed = (Some(&form), &*at_fields(&error));
            let shown = page_of(&console, &signed_in, organization, typed).await?;
            let text = text_above(&error);
            refused_in_place(error, |_| MovePage { error: text, ..shown })
        }
    }
}

async fn try_move(
    console: &Console,
    caller: &Caller,
    attempt: &Attempt,
    id: OrganizationId,
    form: &Form,
) -> Result<Outcome, Error> {
    let parent = if form.get("place") == TOP {
        None
    } else {
        let parent = picker::organization(&console.iam, caller, "parent", form.get("parent")).await?;
        Some(parent.ok_or_else(|| Error::field("parent", text::t("must-be-chosen")))?)
    };
    let patch = OrganizationPatch { parent: Some(parent), ..OrganizationPatch::default() };
    let precondition = Precondition::OneOf(form.get("version").parse().into_iter().collect());
    let result = attempt.organizations().update_if(caller, id, patch, &precondition).await;
    attempt.outcome(caller, result).await
}

/// Returns the name of the organization that a form names.
async fn named(console: &Console, caller: &Caller, text: &str) -> Result<String, Error> {
    match picker::organization(&console.iam, caller, "parent", text).await? {
        Some(id) => Ok(console.iam.organizations().get(caller, id).await?.organization.name.to_string()),
        None => Ok(text.to_owned()),
    }
}
