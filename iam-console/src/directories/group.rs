use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{Kind, Problem};
use iam_core::directory::{Directory, DirectoryGroup};
use iam_core::version::Precondition;
use iam_core::{DirectoryGroupId, DirectoryId, Error, ExternalId, FieldError, Forbidden};
use serde::Deserialize;

use crate::confirm::{self, Attempt, Outcome, Pending};
use crate::directories::{names_of, texts_of};
use crate::form::Form;
use crate::placed_roles;
use crate::problem::refused_form;
use crate::query::Query;
use crate::rows;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Field, Frame, errors_of_list, page};

/// The list of roles in the input of the service.
const GRANTS: &str = "grants";

#[derive(Template)]
#[template(path = "directory-group.html")]
struct GroupPage {
    frame: Frame,
    notice: &'static str,
    error: String,
    directory: Directory,
    group: DirectoryGroup,
    /// The version that the person has seen: a form that is shown again must not replace values that it does not show.
    version: String,
    /// Each role that it gives, with where.
    grants: Vec<String>,
    /// The fields of each role.
    rows: Vec<Vec<Field>>,
    rows_error: String,
}

impl GroupPage {
    fn address(&self) -> String {
        address(&self.frame.base, &self.group)
    }

    fn external_id(&self) -> &str {
        self.group.external_id.as_ref().map_or("", ExternalId::as_str)
    }
}

fn address(base: &str, group: &DirectoryGroup) -> String {
    format!("{base}/directories/{}/groups/{}", group.directory_id, group.id)
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Done {
    done: String,
}

/// The ids of a directory and of a group in the path of a request.
type Ids = Path<(String, String)>;

async fn find(
    console: &Console,
    signed_in: &SignedIn,
    Path((directory, group)): Ids,
) -> Result<DirectoryGroup, Problem> {
    let (Ok(directory), Ok(group)) = (directory.parse::<DirectoryId>(), group.parse::<DirectoryGroupId>()) else {
        return Err(Problem::new(Kind::NotFound));
    };
    Ok(console.iam.directories().group(&signed_in.caller, directory, group).await?)
}

/// Returns the page of a group, with the typed roles instead of those of the group.
async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    group: DirectoryGroup,
    (form, errors): (Option<&Form>, &[FieldError]),
) -> Result<GroupPage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let names = names_of(iam, caller, &group.grants).await?;
    Ok(GroupPage {
        frame: signed_in.frame(console).await?,
        notice: "",
        error: String::new(),
        directory: iam.directories().get(caller, group.directory_id).await?.0,
        version: form.map_or_else(|| group.version.to_string(), |form| form.get("version").to_owned()),
        grants: texts_of(&group.grants, &names),
        rows: match form {
            Some(form) => placed_roles::typed_rows(console, (form, errors), DirectoryGroup::MAX_GRANTS),
            None => placed_roles::stored_rows(console, signed_in, &group.grants).await?,
        },
        rows_error: errors_of_list(GRANTS, text::t("group-grants"), &[], errors),
        group,
    })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    ids: Ids,
    Query(Done { done }): Query<Done>,
) -> Result<Response, Problem> {
    let group = find(&console, &signed_in, ids).await?;
    let shown = page_of(&console, &signed_in, group, (None, &[])).await?;
    let notice = if done == "saved" { text::t("saved") } else { "" };
    page(StatusCode::OK, &GroupPage { notice, ..shown })
}

/// Changes the roles of a group. A page first shows who gains and who loses what.
pub(super) async fn update(
    State(console): State<Console>,
    signed_in: SignedIn,
    ids: Ids,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let group = find(&console, &signed_in, ids).await?;
    if form.has("more") || confirm::goes_back(&form) {
        return page(StatusCode::OK, &page_of(&console, &signed_in, group, (Some(&form), &[])).await?);
    }
    let address = address(console.base(), &group);
    match try_change(&console, &signed_in, &group, &form).await {
        Ok(Outcome::Changed) => Ok(Redirect::to(&format!("{address}?done=saved")).into_response()),
        Ok(Outcome::Previewed(preview)) => {
            let pending = Pending {
                title: text::change_grants_of(group.display_name.as_str()),
                note: text::t("group-grants-note"),
                button: text::t("save"),
                is_dangerous: false,
                action: address.clone(),
                back: address,
                has_form: true,
            };
            confirm::ask(&console, &signed_in, form, pending, preview).await
        }
        Err(error) => {
            let is_late = matches!(error, Error::PreconditionFailed);
            let shortfall = shortfall_of_account(&error);
            refused_form(error, async |errors: Vec<FieldError>, error: String| {
                let (errors, error) = match shortfall {
                    _ if is_late => (errors, text::t("group-changed-meanwhile").to_owned()),
                    None => (errors, error),
                    Some(why) if errors.is_empty() => (errors, why),
                    Some(why) => {
                        let said = |error: FieldError| FieldError { message: why.clone(), ..error };
                        (errors.into_iter().map(said).collect(), error)
                    }
                };
                let shown = page_of(&console, &signed_in, group, (Some(&form), &errors)).await?;
                Ok(GroupPage { error, ..shown })
            })
            .await
        }
    }
}

async fn try_change(
    console: &Console,
    signed_in: &SignedIn,
    group: &DirectoryGroup,
    form: &Form,
) -> Result<Outcome, Error> {
    let (caller, mut errors) = (&signed_in.caller, Vec::new());
    let read = placed_roles::typed(console, signed_in, (form, DirectoryGroup::MAX_GRANTS), &mut errors);
    let (grants, numbers) = read.await?;
    if !errors.is_empty() {
        return Err(Error::Validation(errors));
    }
    // Without another role, no user gains or loses a right.
    let is_same = grants == group.grants;
    let attempt = Attempt::confirmed_if(console, is_same || confirm::is_confirmed(form));
    let precondition = Precondition::OneOf(form.get("version").parse().into_iter().collect());
    let directories = attempt.directories();
    let result = directories.set_grants_if(caller, group.directory_id, group.id, grants, &precondition).await;
    attempt.outcome(caller, result).await.map_err(|error| rows::as_typed(error, GRANTS, &numbers))
}

/// Says what the service account of the directory lacks, if a change is refused because of that. The text of the error
/// speaks to the account.
fn shortfall_of_account(error: &Error) -> Option<String> {
    match error {
        Error::About { error, .. } => shortfall_of_account(error),
        Error::Forbidden(Forbidden::AccountEscalation(shortfall)) => {
            Some(text::account_lacks(shortfall.permission.as_str()))
        }
        _ => None,
    }
}
