use std::collections::BTreeSet;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::permission::PermissionPattern;
use iam_core::role::{NewRole, Role, RolePatch, RoleScope};
use iam_core::version::Precondition;
use iam_core::{Error, FieldError, RoleId};
use serde::Deserialize;

use crate::catalogue::{Catalogue, Group};
use crate::confirm::{self, Attempt, Outcome, Pending, at_fields, text_above};
use crate::form::Form;
use crate::problem::{if_allowed, refused_in_place};
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Field, Frame, page};

const SCOPES: [RoleScope; 3] = [RoleScope::Any, RoleScope::Tenant, RoleScope::Organization];

#[derive(Template)]
#[template(path = "role-edit.html")]
struct EditPage {
    frame: Frame,
    /// `None` for a new role.
    edited: Option<Edited>,
    error: String,
    name: Field,
    description: Field,
    scope: Field,
    groups: Vec<Group>,
    permissions_error: String,
}

/// The role that is changed.
struct Edited {
    id: RoleId,
    /// Its present name.
    stored_name: String,
    /// The version that the person has seen.
    version: String,
}

impl Edited {
    fn of(role: &Role, version: String) -> Self {
        Self { id: role.id, stored_name: role.name.to_string(), version }
    }
}

/// The first values of the form, or the typed ones.
struct Values {
    name: String,
    description: String,
    scope: String,
    permissions: BTreeSet<String>,
}

impl Values {
    fn of(role: &Role) -> Self {
        Self {
            name: role.name.to_string(),
            description: role.description.as_str().to_owned(),
            scope: role.scope.as_str().to_owned(),
            permissions: role.permissions.iter().map(ToString::to_string).collect(),
        }
    }

    fn empty() -> Self {
        let scope = RoleScope::default().as_str().to_owned();
        Self { name: String::new(), description: String::new(), scope, permissions: BTreeSet::new() }
    }

    fn typed(form: &Form) -> Self {
        Self {
            name: super::name_of(form.get("name")),
            description: form.get("description").trim().to_owned(),
            scope: form.get("scope").to_owned(),
            permissions: form.all("permission").map(str::to_owned).collect(),
        }
    }

    /// Chooses a permission that a link names, beside the others.
    fn with(mut self, permission: String) -> Self {
        if permission.parse::<PermissionPattern>().is_ok() {
            self.permissions.insert(permission);
        }
        self
    }

    fn scope(&self) -> Result<RoleScope, Error> {
        self.scope.parse().map_err(|_| Error::field("scope", text::t("one-of-the-list")))
    }

    fn permissions(&self) -> Vec<String> {
        self.permissions.iter().cloned().collect()
    }
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    edited: Option<Edited>,
    values: Values,
    errors: &[FieldError],
) -> Result<EditPage, Problem> {
    let named = |error: &FieldError| {
        let number: usize = error.field.strip_prefix("permissions[")?.strip_suffix(']')?.parse().ok()?;
        let name = values.permissions.iter().nth(number)?;
        Some(text::about(name, &error.message))
    };
    let permissions_error: Vec<String> = errors.iter().filter_map(named).collect();
    let name = Field::text("name", text::t("name")).with_hint(text::t("role-name-hint"));
    let description = Field::text("description", text::t("description")).optional();
    Ok(EditPage {
        frame: signed_in.frame(console).await?,
        edited,
        error: String::new(),
        name: name.filled(&values.name).with_errors(errors),
        description: description.filled(&values.description).with_errors(errors),
        groups: Catalogue::read(&console.iam, &signed_in.caller).await?.choices(&values.permissions),
        scope: Field::text("scope", text::t("held-where")).filled(&values.scope).with_errors(errors),
        permissions_error: permissions_error.join(" "),
    })
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Source {
    from: String,
    permission: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Given {
    permission: String,
}

/// Shows the form of a new role, with the permissions of another role and a further one if the link names them.
pub(super) async fn show_new(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(source): Query<Source>,
) -> Result<Response, Problem> {
    let given = source.permission;
    let source = match source.from.parse() {
        Ok(id) => if_allowed(console.iam.roles().get(&signed_in.caller, id).await)?,
        Err(_) => None,
    };
    let values = source.map_or_else(Values::empty, |role| Values { name: String::new(), ..Values::of(&role) });
    page(StatusCode::OK, &page_of(&console, &signed_in, None, values.with(given), &[]).await?)
}

pub(super) async fn create(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let typed = Values::typed(&form);
    let result = match typed.scope() {
        Ok(scope) => {
            let permissions = typed.permissions();
            let description = Some(typed.description.clone());
            let new = NewRole { name: typed.name.clone(), description, scope, permissions };
            console.iam.roles().create(&signed_in.caller, new).await
        }
        Err(error) => Err(error),
    };
    match result {
        Ok(role) => Ok(Redirect::to(&format!("{}/roles/{}?done=created", console.base(), role.id)).into_response()),
        Err(error) => refuse(&console, &signed_in, None, typed, error).await,
    }
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<RoleId>,
    Query(Given { permission }): Query<Given>,
) -> Result<Response, Problem> {
    let role = console.iam.roles().get(&signed_in.caller, id).await?;
    if role.system {
        return Ok(Redirect::to(&format!("{}/roles/{id}", console.base())).into_response());
    }
    let edited = Some(Edited::of(&role, role.version.to_string()));
    page(StatusCode::OK, &page_of(&console, &signed_in, edited, Values::of(&role).with(permission), &[]).await?)
}

pub(super) async fn update(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<RoleId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let caller = &signed_in.caller;
    let before = console.iam.roles().get(caller, id).await?;
    let (typed, seen) = (Values::typed(&form), form.get("version").to_owned());
    if confirm::goes_back(&form) {
        let edited = Some(Edited::of(&before, seen));
        return page(StatusCode::OK, &page_of(&console, &signed_in, edited, typed, &[]).await?);
    }
    // No user gains or loses a right by another name.
    let is_harmless = Values::of(&before).permissions == typed.permissions;
    let attempt = Attempt::confirmed_if(&console, is_harmless || confirm::is_confirmed(&form));
    let outcome = match typed.scope() {
        Ok(scope) => {
            let patch = RolePatch {
                name: Some(typed.name.clone()),
                description: Some(typed.description.clone()),
                scope: Some(scope),
                permissions: Some(typed.permissions()),
            };
            let precondition = Precondition::OneOf(seen.parse().into_iter().collect());
            let result = attempt.roles().update_if(caller, id, patch, &precondition).await;
            attempt.outcome(caller, result).await
        }
        Err(error) => Err(error),
    };
    let address = format!("{}/roles/{id}", console.base());
    match outcome {
        Ok(Outcome::Changed) => Ok(Redirect::to(&format!("{address}?done=saved")).into_response()),
        Ok(Outcome::Previewed(preview)) => {
            let pending = Pending {
                title: text::change_role(before.name.as_str()),
                note: "",
                button: text::t("save"),
                is_dangerous: false,
                action: format!("{address}/edit"),
                back: address,
                has_form: true,
            };
            confirm::ask(&console, &signed_in, form, pending, preview).await
        }
        Err(error) => refuse(&console, &signed_in, Some(Edited::of(&before, seen)), typed, error).await,
    }
}

async fn refuse(
    console: &Console,
    signed_in: &SignedIn,
    edited: Option<Edited>,
    typed: Values,
    error: Error,
) -> Result<Response, Problem> {
    let shown = page_of(console, signed_in, edited, typed, &at_fields(&error)).await?;
    let text = text_above(&error);
    refused_in_place(error, |_| EditPage { error: text, ..shown })
}
