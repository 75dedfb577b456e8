use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::Problem;
use iam_core::FieldError;

use crate::form::Form;
use crate::picker;
use crate::problem::refused_form;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::users::HOME;
use crate::view::{Field, Frame, page};

#[derive(Template)]
#[template(path = "user-new.html")]
struct NewUserPage {
    frame: Frame,
    error: String,
    fields: Vec<Field>,
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    form: &Form,
    errors: &[FieldError],
) -> Result<NewUserPage, Problem> {
    let me = console.iam.sessions().me(&signed_in.caller).await?;
    let rule = text::password_hint(me.tenant.password_policy, me.tenant.min_password_length());
    let home = Field::text(HOME, text::t("home")).optional().with_hint(text::t("home-or-tenant"));
    let fields = [
        Field::text("firstName", text::t("first-name")),
        Field::text("lastName", text::t("last-name")),
        Field::email().completed_as("off"),
        Field::password("new-password").with_hint(rule),
        picker::of_organization(console, home),
    ];
    let fields = fields.map(|field| field.shown(form, errors));
    let frame = signed_in.frame_for(console, &me);
    Ok(NewUserPage { frame, error: String::new(), fields: fields.into() })
}

pub(super) async fn show(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    page(StatusCode::OK, &page_of(&console, &signed_in, &Form::default(), &[]).await?)
}

pub(super) async fn create(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let attempt = async {
        let home = picker::organization(&console.iam, &signed_in.caller, HOME, form.get(HOME)).await?;
        console.iam.users().create_once(&signed_in.caller, form.new_user(), home, None, None).await
    };
    match attempt.await {
        Ok(user) => Ok(Redirect::to(&format!("{}/users/{}?done=created", console.base(), user.id)).into_response()),
        Err(error) => {
            refused_form(error, async |errors, error| {
                Ok(NewUserPage { error, ..page_of(&console, &signed_in, &form, &errors).await? })
            })
            .await
        }
    }
}
