use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::Problem;
use iam_core::invitation::{InvitedRole, MAX_ROLES, NewInvitation};
use iam_core::{Error, FieldError, InvitationId};

use crate::day::end_of_day;
use crate::form::Form;
use crate::picker;
use crate::problem::{collected, refused_form};
use crate::rows;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Field, Frame, page};

#[derive(Template)]
#[template(path = "invitation-new.html")]
struct NewInvitationPage {
    frame: Frame,
    error: String,
    sends_mail: bool,
    fields: Vec<Field>,
    /// The fields of each role.
    roles: Vec<Vec<Field>>,
}

fn role_fields(console: &Console, number: usize) -> [Field; 3] {
    let organization = Field::text(rows::name("organization", number), text::t("organization"));
    [
        picker::of_role(console, Field::text(rows::name("role", number), text::t("role"))),
        picker::of_organization(console, organization.with_hint(text::t("organization-or-tenant"))),
        Field { kind: "date", ..Field::text(rows::name("until", number), text::t("last-day")) }
            .with_hint(text::t("invited-until")),
    ]
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    number_of_roles: usize,
    (form, errors, error): (&Form, &[FieldError], String),
) -> Result<NewInvitationPage, Problem> {
    let fields = [
        Field::email().completed_as("off"),
        Field::text("firstName", text::t("first-name")).optional().with_hint(text::t("invited-name")),
        Field::text("lastName", text::t("last-name")).optional(),
    ];
    let shown = |number| role_fields(console, number).map(|field| field.optional().shown(form, errors)).into();
    let roles = (0..number_of_roles).map(shown);
    Ok(NewInvitationPage {
        frame: signed_in.frame(console).await?,
        error,
        sends_mail: console.iam.sends_mail(),
        fields: fields.map(|field| field.shown(form, errors)).into(),
        roles: roles.collect(),
    })
}

pub(super) async fn show(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    page(StatusCode::OK, &page_of(&console, &signed_in, 1, (&Form::default(), &[], String::new())).await?)
}

pub(super) async fn create(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let number = rows::number(&form, MAX_ROLES);
    if form.has("more") {
        return page(StatusCode::OK, &page_of(&console, &signed_in, number, (&form, &[], String::new())).await?);
    }
    match invite(&console, &signed_in, &form).await {
        Ok(id) => Ok(Redirect::to(&format!("{}/invitations/{id}?done=invited", console.base())).into_response()),
        Err(error) => {
            let shown = async |errors: Vec<FieldError>, text| {
                page_of(&console, &signed_in, number, (&form, &errors, text)).await
            };
            refused_form(error, shown).await
        }
    }
}

async fn invite(console: &Console, signed_in: &SignedIn, form: &Form) -> Result<InvitationId, Error> {
    let (mut roles, mut numbers, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..rows::number(form, MAX_ROLES) {
        let [role, organization, until] = ["role", "organization", "until"].map(|field| rows::name(field, number));
        let typed = (form.given(&role), form.given(&organization), form.given(&until));
        let (Some(typed_role), typed_organization, typed_until) = typed else {
            if typed.1.is_some() || typed.2.is_some() {
                errors.push(FieldError::new(role, text::t("role-missing")));
            }
            continue;
        };
        let (iam, caller, typed) = (&console.iam, &signed_in.caller, typed_organization.unwrap_or_default());
        let role_id = collected(picker::role(iam, caller, &role, &typed_role).await, &mut errors)?;
        let organization_id = picker::organization(iam, caller, &organization, &typed).await;
        let organization_id = collected(organization_id, &mut errors)?.flatten();
        let expires_at = collected(end_of_day(&until, typed_until), &mut errors)?.flatten();
        if let Some(role_id) = role_id {
            roles.push(InvitedRole { role_id, organization_id, expires_at });
            numbers.push(number);
        }
    }
    if !errors.is_empty() {
        return Err(Error::Validation(errors));
    }
    let new = NewInvitation {
        email: form.get("email").to_owned(),
        first_name: form.given("firstName"),
        last_name: form.given("lastName"),
        roles,
    };
    let invitation = console.iam.invitations().create(&signed_in.caller, new).await;
    Ok(invitation.map_err(|error| rows::as_typed(error, "roles", &numbers))?.id)
}
