use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::directory::{DeletedUsers, Directory, DirectoryActivity, DirectoryPatch};
use iam_core::page::PageRequest;
use iam_core::version::Precondition;
use iam_core::{DirectoryId, Error, FieldError};
use serde::Deserialize;

use crate::confirm::{self, Attempt, Outcome, Pending};
use crate::directories::{Fields, PROVIDER, typed_provider};
use crate::form::Form;
use crate::names::Names;
use crate::problem::refused_form;
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Copied, Field, Frame, page};

#[derive(Template)]
#[template(path = "directory.html")]
struct DirectoryPage {
    frame: Frame,
    notice: &'static str,
    error: String,
    directory: Directory,
    activity: DirectoryActivity,
    /// The version that the person has seen: a form that is shown again must not replace values that it does not show.
    version: String,
    fields: Fields,
    /// The name of its service account, or its id if the caller may not see it.
    account: String,
    /// How many groups it has, as a text.
    groups: String,
    /// The address to enter at the provider; none if it is not known.
    addresses: Vec<Copied>,
    /// What is wrong with the choice of a removal.
    users_error: String,
}

impl DirectoryPage {
    /// Returns how the page names the provider of the directory; `None` if it has none.
    fn provider(&self) -> Option<String> {
        let id = self.directory.identity_provider_id?;
        let known = self.fields.providers.iter().flatten().find(|provider| provider.id == id);
        Some(known.map_or_else(|| id.to_string(), |provider| provider.name.to_string()))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Done {
    done: String,
}

impl Done {
    fn notice(&self) -> &'static str {
        match &*self.done {
            "created" => text::t("directory-created"),
            "without-key" => text::t("directory-without-key"),
            "saved" => text::t("saved"),
            _ => "",
        }
    }
}

/// A directory with what it has sent last.
type Found = (Directory, DirectoryActivity);

async fn find(console: &Console, signed_in: &SignedIn, id: DirectoryId) -> Result<Found, Problem> {
    Ok(console.iam.directories().get(&signed_in.caller, id).await?)
}

/// Returns the page of a directory, with the typed values instead of those of the directory.
async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    parts: &Parts,
    (directory, activity): Found,
    (form, errors): (Option<&Form>, &[FieldError]),
) -> Result<DirectoryPage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let frame = signed_in.frame(console).await?;
    let names = Names::read(iam, caller, [directory.service_account_id], []).await?;
    let counted = PageRequest::new(1, 1).map_err(Error::from)?;
    let groups = iam.directories().groups(caller, directory.id, None, counted).await?.total;
    let address = console.settings.scim_url(parts);
    let address = address.map(|text| Copied { id: "scim-url", label: text::t("scim-url"), text });
    Ok(DirectoryPage {
        notice: "",
        error: String::new(),
        version: form.map_or_else(|| directory.version.to_string(), |form| form.get("version").to_owned()),
        fields: Fields::of(console, signed_in, &frame, Some(&directory), (form, errors)).await?,
        account: names.user(directory.service_account_id),
        groups: text::groups_found(groups),
        addresses: address.into_iter().collect(),
        users_error: Field::text("users", text::t("users-of-directory")).with_errors(errors).error,
        directory,
        activity,
        frame,
    })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<DirectoryId>,
    Query(done): Query<Done>,
    parts: Parts,
) -> Result<Response, Problem> {
    let found = find(&console, &signed_in, id).await?;
    let shown = page_of(&console, &signed_in, &parts, found, (None, &[])).await?;
    page(StatusCode::OK, &DirectoryPage { notice: done.notice(), ..shown })
}

pub(super) async fn update(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<DirectoryId>,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let found = find(&console, &signed_in, id).await?;
    match change(&console, &signed_in, &found.0, &form).await {
        Ok(()) => Ok(Redirect::to(&format!("{}/directories/{id}?done=saved", console.base())).into_response()),
        Err(error) => {
            let is_late = matches!(error, Error::PreconditionFailed);
            refused_form(error, async |errors, error| {
                let error = if is_late { text::t("directory-changed-meanwhile").to_owned() } else { error };
                let shown = page_of(&console, &signed_in, &parts, found, (Some(&form), &errors)).await?;
                Ok(DirectoryPage { error, ..shown })
            })
            .await
        }
    }
}

/// Changes only what differs: a call that names more than the name may need more rights.
async fn change(console: &Console, signed_in: &SignedIn, directory: &Directory, form: &Form) -> Result<(), Error> {
    let name = form.get("name").trim();
    let provider = typed_provider(form)?;
    // A form without the providers changes none.
    let is_other = form.has(PROVIDER) && provider != directory.identity_provider_id;
    let patch = DirectoryPatch {
        name: Some(name.to_owned()).filter(|name| name != directory.name.as_str()),
        identity_provider: is_other.then_some(provider),
        adopt: Some(form.has("adopt")).filter(|adopt| *adopt != directory.adopt),
    };
    let directories = console.iam.directories();
    directories.update_if(&signed_in.caller, directory.id, patch, &precondition(form)).await.map(|_| ())
}

/// The change is made only if the directory is as the form shows it.
fn precondition(form: &Form) -> Precondition {
    Precondition::OneOf(form.get("version").parse().into_iter().collect())
}

/// Returns what happens to the users of the directory, as the person has chosen it.
fn chosen(form: &Form) -> Result<DeletedUsers, Error> {
    match form.get("users") {
        "keep" => Ok(DeletedUsers::Keep),
        "suspend" => Ok(DeletedUsers::Suspend),
        _ => Err(Error::field("users", text::t("must-be-chosen"))),
    }
}

pub(super) async fn delete(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<DirectoryId>,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let caller = &signed_in.caller;
    let found = find(&console, &signed_in, id).await?;
    let attempt = Attempt::of(&console, &form);
    let outcome = match chosen(&form) {
        Ok(users) => {
            let result = attempt.directories().delete_if(caller, id, users, &precondition(&form)).await;
            attempt.outcome(caller, result).await
        }
        Err(error) => Err(error),
    };
    let address = format!("{}/directories/{id}", console.base());
    match outcome {
        Ok(Outcome::Changed) => {
            Ok(Redirect::to(&format!("{}/directories?done=removed", console.base())).into_response())
        }
        Ok(Outcome::Previewed(preview)) => {
            let suspends = form.get("users") == "suspend";
            let pending = Pending {
                title: text::remove_directory(found.0.name.as_str()),
                note: if suspends { text::t("removal-suspends") } else { text::t("removal-keeps") },
                button: text::t("remove-directory"),
                is_dangerous: true,
                action: format!("{address}/delete"),
                back: address,
                has_form: false,
            };
            confirm::ask(&console, &signed_in, form, pending, preview).await
        }
        Err(error) => {
            let is_late = matches!(error, Error::PreconditionFailed);
            refused_form(error, async |errors, error| {
                let error = if is_late { text::t("directory-changed-meanwhile").to_owned() } else { error };
                let shown = page_of(&console, &signed_in, &parts, found, (None, &errors)).await?;
                Ok(DirectoryPage { error, ..shown })
            })
            .await
        }
    }
}
