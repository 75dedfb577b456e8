use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::assignment::{AssignmentPatch, Grant};
use iam_core::audit::ResourceType;
use iam_core::permission::ACCESS_REQUESTS_READ;
use iam_core::{AssignmentId, Caller, Error, FieldError, Iam, UserId};
use serde::Deserialize;

use crate::confirm::{self, Attempt, Outcome, Pending, at_fields, text_above};
use crate::form::Form;
use crate::group_names::{GivenBy, GroupNames};
use crate::names::Names;
use crate::problem::refused_in_place;
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::{Time, typeable, typed};
use crate::view::{Field, Frame, page};

/// Addresses name the user, because assignments are found by their users.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Of {
    user: String,
}

#[derive(Template)]
#[template(path = "assignment.html")]
struct AssignmentPage {
    frame: Frame,
    error: String,
    grant: Grant,
    /// The name of the user on the page.
    user: String,
    /// Who has assigned the role. `None` for the service itself.
    granted_by: Option<String>,
    /// The group that gives the role. Then it cannot be changed here.
    given: Option<GivenBy>,
    moment: Field,
    /// Whether the user is the person of this page.
    is_own: bool,
}

impl AssignmentPage {
    /// Whether the person can see the access request that has given the role.
    fn shows_request(&self) -> bool {
        self.is_own || self.frame.may(&ACCESS_REQUESTS_READ)
    }
}

/// Returns an assignment that has not expired.
async fn find(iam: &Iam, caller: &Caller, id: AssignmentId, of: &Of) -> Result<Grant, Error> {
    let missing = || Error::NotFound(ResourceType::ROLE_ASSIGNMENT);
    let user: UserId = of.user.parse().map_err(|_| missing())?;
    let grants = iam.assignments().of_user(caller, user).await?;
    grants.into_iter().find(|grant| grant.assignment.id == id).ok_or_else(missing)
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    grant: Grant,
    (typed, errors): (Option<&str>, &[FieldError]),
) -> Result<AssignmentPage, Problem> {
    let (user, granted_by) = (grant.assignment.user_id, grant.assignment.created_by);
    let people = [Some(user), granted_by].into_iter().flatten();
    let names = Names::read(&console.iam, &signed_in.caller, people, []).await?;
    let group = grant.assignment.directory_group_id;
    let groups = GroupNames::read(console, &signed_in.caller, [group]).await?;
    let end = grant.assignment.expires_at.as_ref().map(typeable).unwrap_or_default();
    let moment = Field::text("until", text::t("until-moment")).with_hint(text::t("until-hint"));
    Ok(AssignmentPage {
        frame: signed_in.frame(console).await?,
        error: String::new(),
        user: names.user(user),
        granted_by: granted_by.map(|id| names.user(id)),
        given: group.map(|id| groups.of(&id)),
        moment: moment.filled(typed.unwrap_or(&end)).with_errors(errors),
        is_own: signed_in.caller.user() == Some(user),
        grant,
    })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AssignmentId>,
    Query(of): Query<Of>,
) -> Result<Response, Problem> {
    let grant = find(&console.iam, &signed_in.caller, id, &of).await?;
    page(StatusCode::OK, &page_of(&console, &signed_in, grant, (None, &[])).await?)
}

pub(super) async fn change_end(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AssignmentId>,
    Query(of): Query<Of>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let caller = &signed_in.caller;
    let grant = find(&console.iam, caller, id, &of).await?;
    if confirm::goes_back(&form) {
        let typed = (Some(form.get("until")), &[][..]);
        return page(StatusCode::OK, &page_of(&console, &signed_in, grant, typed).await?);
    }
    let attempt = Attempt::of(&console, &form);
    let outcome = match typed("until", form.get("until")) {
        Ok(end) => {
            let result = attempt.assignments().update(caller, id, AssignmentPatch { expires_at: Some(end) }).await;
            attempt.outcome(caller, result).await
        }
        Err(error) => Err(error),
    };
    match outcome {
        Ok(Outcome::Changed) => Ok(to_user(&console, &grant, "end-changed")),
        Ok(Outcome::Previewed(preview)) => {
            let user = grant.assignment.user_id;
            let names = Names::read(&console.iam, caller, [user], []).await?;
            let pending = Pending {
                title: text::change_end_of(grant.role.name.as_str(), &names.user(user)),
                note: "",
                button: text::t("save"),
                is_dangerous: false,
                action: format!("{}/assignments/{id}/end?user={user}", console.base()),
                back: format!("{}/users/{user}", console.base()),
                has_form: true,
            };
            confirm::ask(&console, &signed_in, form, pending, preview).await
        }
        Err(error) => {
            let typed = (Some(form.get("until")), &*at_fields(&error));
            let shown = page_of(&console, &signed_in, grant, typed).await?;
            let text = text_above(&error);
            refused_in_place(error, |_| AssignmentPage { error: text, ..shown })
        }
    }
}

pub(super) async fn revoke(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AssignmentId>,
    Query(of): Query<Of>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let caller = &signed_in.caller;
    let grant = find(&console.iam, caller, id, &of).await?;
    let attempt = Attempt::of(&console, &form);
    let result = attempt.assignments().delete(caller, id).await;
    let outcome = attempt.outcome(caller, result).await;
    let user = grant.assignment.user_id;
    let names = Names::read(&console.iam, caller, [user], []).await?;
    let pending = Pending {
        title: text::revoke_role(grant.role.name.as_str(), &names.user(user)),
        note: "",
        button: text::t("revoke"),
        is_dangerous: true,
        action: format!("{}/assignments/{id}/revoke?user={user}", console.base()),
        back: format!("{}/users/{user}", console.base()),
        has_form: false,
    };
    match outcome {
        Ok(Outcome::Changed) => Ok(to_user(&console, &grant, "revoked")),
        Ok(Outcome::Previewed(preview)) => confirm::ask(&console, &signed_in, form, pending, preview).await,
        Err(error) => confirm::refuse(&console, &signed_in, pending, error).await,
    }
}

fn to_user(console: &Console, grant: &Grant, done: &str) -> Response {
    Redirect::to(&format!("{}/users/{}?done={done}", console.base(), grant.assignment.user_id)).into_response()
}
