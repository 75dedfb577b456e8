use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::Problem;
use iam_core::organization::{NewOrganization, OrganizationWithDepth};
use iam_core::{Caller, Error, FieldError, Iam};
use serde::Deserialize;

use crate::confirm::{at_fields, text_above};
use crate::form::Form;
use crate::picker;
use crate::problem::refused_in_place;
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Field, Frame, page};

#[derive(Template)]
#[template(path = "organization-new.html")]
struct NewPage {
    frame: Frame,
    error: String,
    fields: Vec<Field>,
}

/// The values of a link, or the typed ones.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Values {
    name: String,
    slug: String,
    parent: String,
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    values: &Values,
    errors: &[FieldError],
) -> Result<NewPage, Problem> {
    let slug = Field::text("slug", text::t("slug")).optional().with_hint(text::t("new-slug-hint"));
    let shown = picker::shown_organization(&console.iam, &signed_in.caller, &values.parent).await?;
    let parent = Field::text("parent", text::t("parent")).optional().with_hint(text::t("parent-or-top"));
    Ok(NewPage {
        frame: signed_in.frame(console).await?,
        error: String::new(),
        fields: vec![
            Field::text("name", text::t("name")).filled(&values.name).with_errors(errors),
            slug.filled(&values.slug).with_errors(errors),
            picker::of_organization(console, parent.filled(&shown).with_errors(errors)),
        ],
    })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(values): Query<Values>,
) -> Result<Response, Problem> {
    page(StatusCode::OK, &page_of(&console, &signed_in, &values, &[]).await?)
}

pub(super) async fn create(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let value = |name| form.get(name).trim().to_owned();
    let values = Values { name: value("name"), slug: value("slug"), parent: value("parent") };
    match make(&console.iam, &signed_in.caller, &values).await {
        Ok(made) => {
            let address = format!("{}/organizations/{}?done=created", console.base(), made.organization.id);
            Ok(Redirect::to(&address).into_response())
        }
        Err(error) => {
            let shown = page_of(&console, &signed_in, &values, &at_fields(&error)).await?;
            let text = text_above(&error);
            refused_in_place(error, |_| NewPage { error: text, ..shown })
        }
    }
}

async fn make(iam: &Iam, caller: &Caller, values: &Values) -> Result<OrganizationWithDepth, Error> {
    let parent = picker::organization(iam, caller, "parent", &values.parent).await?;
    let slug = Some(values.slug.clone()).filter(|slug| !slug.is_empty());
    iam.organizations().create(caller, NewOrganization { name: values.name.clone(), slug, parent }).await
}
