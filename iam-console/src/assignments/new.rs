use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::Problem;
use iam_core::assignment::NewAssignment;
use iam_core::role::{Role, RoleScope};
use iam_core::{Caller, Error, FieldError, Iam};
use serde::Deserialize;

use crate::confirm::{self, About, Attempt, Outcome, Pending, at_fields, text_above};
use crate::form::Form;
use crate::names::Names;
use crate::picker;
use crate::problem::{collected, if_allowed, refused_in_place};
use crate::query::Query;
use crate::roles;
use crate::session::SignedIn;
use crate::state::Console;
use crate::suspended;
use crate::text;
use crate::time::typed;
use crate::view::{Field, Frame, page};

#[derive(Template)]
#[template(path = "assignment-new.html")]
struct NewPage {
    frame: Frame,
    error: String,
    user: Field,
    role: Field,
    organization: Field,
    moment: Field,
    /// `None` if the caller may not see roles.
    roles: Option<Vec<Role>>,
}

/// The values of a link, or the typed ones.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Values {
    user: String,
    role: String,
    organization: String,
    until: String,
}

impl Values {
    fn typed(form: &Form) -> Self {
        let value = |name| form.get(name).trim().to_owned();
        Self { user: value("user"), role: value("role"), organization: value("organization"), until: value("until") }
    }

    /// Finds the resources that the values name.
    async fn find(&self, iam: &Iam, caller: &Caller) -> Result<NewAssignment, Error> {
        let mut errors = Vec::new();
        let user = collected(picker::user(iam, caller, &self.user).await, &mut errors)?;
        let role = self.role.parse().map_err(|_| Error::field("role", text::t("one-of-the-list")));
        let role = collected(role, &mut errors)?;
        let organization = picker::organization(iam, caller, "organization", &self.organization).await;
        let organization = collected(organization, &mut errors)?;
        let expires_at = collected(typed("until", &self.until), &mut errors)?;
        match (user, role, organization, expires_at) {
            (Some(user), Some(role), Some(organization), Some(expires_at)) => {
                Ok(NewAssignment { user, role, organization, expires_at })
            }
            _ => Err(Error::Validation(errors)),
        }
    }
}

impl NewPage {
    fn is_chosen(&self, role: &Role) -> bool {
        self.role.value == role.id.to_string()
    }

    /// Returns where a role can be held, if not everywhere.
    fn place_of(&self, role: &Role) -> &'static str {
        match role.scope {
            RoleScope::Tenant => text::t("only-tenant"),
            RoleScope::Organization => text::t("only-organization"),
            RoleScope::Any => "",
        }
    }
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    values: &Values,
    errors: &[FieldError],
) -> Result<NewPage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let user = Field::text("user", text::t("user"));
    let user = user.filled(&picker::shown_user(iam, caller, &values.user).await?).with_errors(errors);
    let moment = Field::text("until", text::t("until-moment")).with_hint(text::t("until-hint"));
    Ok(NewPage {
        frame: signed_in.frame(console).await?,
        error: String::new(),
        user: picker::of_user(console, user),
        role: Field::text("role", text::t("role")).filled(&values.role).with_errors(errors),
        organization: picker::of_place(console, caller, &values.organization, errors).await?,
        moment: moment.filled(&values.until).with_errors(errors),
        roles: if_allowed(roles::all(iam, caller).await)?,
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
    let values = Values::typed(&form);
    if confirm::goes_back(&form) {
        return page(StatusCode::OK, &page_of(&console, &signed_in, &values, &[]).await?);
    }
    let (iam, caller, attempt) = (&console.iam, &signed_in.caller, Attempt::of(&console, &form));
    match try_assign(iam, caller, &attempt, &values).await {
        Ok((new, Outcome::Changed)) => {
            Ok(Redirect::to(&format!("{}/users/{}?done=assigned", console.base(), new.user)).into_response())
        }
        Ok((new, Outcome::Previewed(preview))) => {
            let names = Names::read(iam, caller, [new.user], new.organization).await?;
            let names = names.with_roles(iam, caller, [new.role]).await?;
            let place = new.organization.map(|id| names.organization(id));
            let pending = Pending {
                title: text::assign_role(&names.role(new.role), &names.user(new.user), place.as_deref()),
                note: "",
                button: text::t("assign"),
                is_dangerous: false,
                action: format!("{}/assignments/new", console.base()),
                back: format!("{}/users/{}", console.base(), new.user),
                has_form: true,
            };
            let warning = suspended::warning(iam, caller, new.organization).await?.to_owned();
            let about = About { warning, ..About::default() };
            confirm::ask_about(&console, &signed_in, form, pending, about, preview).await
        }
        Err(error) => {
            let shown = page_of(&console, &signed_in, &values, &at_fields(&error)).await?;
            let text = text_above(&error);
            refused_in_place(error, |_| NewPage { error: text, ..shown })
        }
    }
}

async fn try_assign(
    iam: &Iam,
    caller: &Caller,
    attempt: &Attempt,
    values: &Values,
) -> Result<(NewAssignment, Outcome), Error> {
    let new = values.find(iam, caller).await?;
    let result = attempt.assignments().create(caller, new).await;
    Ok((new, attempt.outcome(caller, result).await?))
}
