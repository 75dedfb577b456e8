//! The directories of the tenant: a list, a page for each with what it has sent last, a form for a new one, and the
//! groups of each with the roles that they give.

mod group;
mod groups;
mod list;
mod new;
mod one;

use axum::Router;
use axum::routing::{get, post};
use iam_core::directory::Directory;
use iam_core::identity_provider::IdentityProvider;
use iam_core::permission::{DIRECTORIES_UPDATE, USERS_UPDATE};
use iam_core::role::PlacedRole;
use iam_core::{Caller, Error, FieldError, Iam, IdentityProviderId};

use crate::form::Form;
use crate::names::Names;
use crate::problem::if_allowed;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Field, Frame};

/// The field of forms with the provider of a directory.
const PROVIDER: &str = "identityProviderId";

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/directories", get(list::show))
        .route("/directories/new", get(new::show).post(new::create))
        .route("/directories/{id}", get(one::show).post(one::update))
        .route("/directories/{id}/key", get(new::show_key))
        .route("/directories/{id}/delete", post(one::delete))
        .route("/directories/{id}/groups", get(groups::show))
        .route("/directories/{id}/groups/{group}", get(group::show).post(group::update))
}

/// The fields of a directory in a form, except for its service account.
struct Fields {
    name: Field,
    /// The providers to choose from; `None` if the caller may not see them.
    providers: Option<Vec<IdentityProvider>>,
    /// The id of the chosen provider; empty for none.
    provider: String,
    provider_error: String,
    adopts: bool,
    /// Whether the form has the choice.
    shows_adopt: bool,
}

impl Fields {
    /// Returns the fields with the typed values or, without a form, with those of the directory.
    async fn of(
        console: &Console,
        signed_in: &SignedIn,
        frame: &Frame,
        directory: Option<&Directory>,
        (form, errors): (Option<&Form>, &[FieldError]),
    ) -> Result<Self, Error> {
        let stored = directory.map_or("", |directory| directory.name.as_str());
        let provider = directory.and_then(|directory| directory.identity_provider_id);
        let adopts = directory.is_some_and(|directory| directory.adopt);
        let typed = form.map_or(stored, |form| form.get("name"));
        Ok(Self {
            name: Field::text("name", text::t("name")).filled(typed).with_errors(errors),
            providers: if_allowed(console.iam.identity_providers().list(&signed_in.caller).await)?,
            provider: match form {
                Some(form) => form.get(PROVIDER).to_owned(),
                None => provider.map(|id| id.to_string()).unwrap_or_default(),
            },
            provider_error: Field::text(PROVIDER, text::t("identity-provider")).with_errors(errors).error,
            adopts: form.map_or(adopts, |form| form.has("adopt")),
            // To turn it off takes no more than another change.
            shows_adopt: adopts || (frame.may_everywhere(&DIRECTORIES_UPDATE) && frame.may_everywhere(&USERS_UPDATE)),
        })
    }

    fn is_chosen(&self, provider: &IdentityProvider) -> bool {
        self.provider == provider.id.to_string()
    }
}

/// Returns the provider that a form names.
fn typed_provider(form: &Form) -> Result<Option<IdentityProviderId>, Error> {
    let parsed = form.given(PROVIDER).map(|text| text.parse()).transpose();
    parsed.map_err(|_| Error::field(PROVIDER, text::t("choose-again")))
}

/// Reads the names of roles and of the organizations in which they are given.
async fn names_of(iam: &Iam, caller: &Caller, grants: &[PlacedRole]) -> Result<Names, Error> {
    let places = grants.iter().filter_map(|grant| grant.organization_id);
    let names = Names::read(iam, caller, [], places).await?;
    names.with_roles(iam, caller, grants.iter().map(|grant| grant.role_id)).await
}

/// Returns the text of each role with where it is given.
fn texts_of(grants: &[PlacedRole], names: &Names) -> Vec<String> {
    let text = |grant: &PlacedRole| {
        let place =
            grant.organization_id.map_or_else(|| text::t("whole-tenant").to_owned(), |id| names.organization(id));
        text::role_in(&names.role(grant.role_id), &place)
    };
    grants.iter().map(text).collect()
}
