use std::collections::BTreeSet;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::assignment::{AssignmentFilter, ListedAssignment};
use iam_core::page::{Page, PageRequest};
use iam_core::permission::{ELIGIBILITIES_CREATE, ROLES_CREATE, ROLES_DELETE, ROLES_UPDATE};
use iam_core::role::Role;
use iam_core::version::Precondition;
use iam_core::{Conflict, Error, RoleId};
use serde::Deserialize;

use crate::catalogue::{Catalogue, Group};
use crate::confirm::text_above;
use crate::form::Form;
use crate::problem::{if_allowed, refused_in_place};
use crate::query::Query;
use crate::rights::held;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page};

/// How many of the users who hold the role are shown.
const HOLDERS: u32 = 10;

#[derive(Template)]
#[template(path = "role.html")]
struct RolePage {
    frame: Frame,
    notice: &'static str,
    error: String,
    role: Role,
    groups: Vec<Group>,
    /// `None` if the caller may not see them.
    holders: Option<Page<ListedAssignment>>,
    may_create: bool,
    may_update: bool,
    may_delete: bool,
    /// Whether the person may let others ask for the role, in some places.
    may_let_ask: bool,
    /// Whether an eligibility keeps the role from being deleted.
    is_of_eligibility: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Done {
    done: String,
}

async fn page_of(console: &Console, signed_in: &SignedIn, id: RoleId) -> Result<RolePage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let role = iam.roles().get(caller, id).await?;
    let chosen: BTreeSet<String> = role.permissions.iter().map(ToString::to_string).collect();
    let filter = AssignmentFilter { role: Some(id), ..AssignmentFilter::default() };
    let request = PageRequest::new(1, HOLDERS).map_err(Error::from)?;
    let needed = [ROLES_CREATE, ROLES_UPDATE, ROLES_DELETE];
    let [may_create, may_update, may_delete] = held(iam, caller, None, needed).await?;
    let frame = signed_in.frame(console).await?;
    Ok(RolePage {
        may_let_ask: frame.may(&ELIGIBILITIES_CREATE),
        is_of_eligibility: false,
        frame,
        notice: "",
        error: String::new(),
        groups: Catalogue::read(iam, caller).await?.chosen(&chosen),
        holders: if_allowed(iam.assignments().list(caller, &filter, request).await)?,
        may_create,
        may_update: may_update && !role.system,
        may_delete: may_delete && !role.system,
        role,
    })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<RoleId>,
    Query(Done { done }): Query<Done>,
) -> Result<Response, Problem> {
    let notice = match &*done {
        "created" => text::t("role-created"),
        "saved" => text::t("saved"),
        _ => "",
    };
    page(StatusCode::OK, &RolePage { notice, ..page_of(&console, &signed_in, id).await? })
}

pub(super) async fn delete(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<RoleId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let precondition = Precondition::OneOf(form.get("version").parse().into_iter().collect());
    match console.iam.roles().delete_if(&signed_in.caller, id, &precondition).await {
        Ok(()) => Ok(Redirect::to(&format!("{}/roles?done=deleted", console.base())).into_response()),
        Err(error) => {
            let shown = page_of(&console, &signed_in, id).await?;
            let text = text_above(&error);
            let is_of_eligibility = matches!(error, Error::Conflict(Conflict::RoleOfEligibility));
            refused_in_place(error, |_| RolePage { error: text, is_of_eligibility, ..shown })
        }
    }
}
