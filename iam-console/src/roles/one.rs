use std::collections::BTreeSet;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::assignment::{AssignmentFilter, ListedAssignment};
use iam_core::eligibility::ListedEligibility;
use iam_core::page::{MAX_LIMIT, Page, PageRequest};
use iam_core::permission::{ELIGIBILITIES_CREATE, ELIGIBILITIES_READ, ROLES_CREATE, ROLES_DELETE, ROLES_UPDATE};
use iam_core::role::Role;
use iam_core::version::Precondition;
use iam_core::{Conflict, Error, RoleId};
use serde::Deserialize;

use crate::catalogue::{Catalogue, Group};
use crate::confirm::text_above;
use crate::eligible::{eligible_of, names_of, place_of};
use crate::form::Form;
use crate::paging::MAX_PAGES;
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

/// How many of the eligibilities that name the role are shown of each kind.
const ELIGIBILITIES: usize = 20;

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
    /// The eligibilities that name the role. `None` if the caller may not see them.
    named_by: Option<NamedBy>,
    /// Whether the person may let others ask for the role, in some places.
    may_let_ask: bool,
    /// Whether an eligibility keeps the role from being deleted.
    is_of_eligibility: bool,
}

/// The eligibilities that name a role and have not expired, each by its address and its text, the newest first.
struct NamedBy {
    /// Those about whose requests the holders of the role decide.
    deciding: Vec<(String, String)>,
    /// Those by which users ask for the role.
    asked: Vec<(String, String)>,
    has_more: bool,
}

impl NamedBy {
    fn is_empty(&self) -> bool {
        self.deciding.is_empty() && self.asked.is_empty()
    }

    /// Looks through all eligibilities that the person may see. A tenant has at most 1,000.
    async fn read(console: &Console, signed_in: &SignedIn, role: RoleId) -> Result<Option<Self>, Error> {
        let (iam, caller, now) = (&console.iam, &signed_in.caller, console.iam.now());
        let (mut deciding, mut asked) = (Vec::new(), Vec::new());
        for number in 1..=MAX_PAGES {
            let request = PageRequest::new(number, MAX_LIMIT)?;
            let Some(found) = if_allowed(iam.eligibilities().list(caller, request).await)? else { return Ok(None) };
            let has_next = found.has_next();
            for listed in found.items.into_iter().filter(|listed| listed.eligibility.is_live(now)) {
                if listed.eligibility.approvals > 0 && listed.eligibility.approver_role_id == Some(role) {
                    deciding.push(listed.clone());
                }
                if listed.eligibility.role_id == role {
                    asked.push(listed);
                }
            }
            if !has_next || (deciding.len() > ELIGIBILITIES && asked.len() > ELIGIBILITIES) {
                break;
            }
        }
        let has_more = deciding.len() > ELIGIBILITIES || asked.len() > ELIGIBILITIES;
        deciding.truncate(ELIGIBILITIES);
        asked.truncate(ELIGIBILITIES);
        let names = names_of(iam, caller, &asked).await?;
        let link = |listed: &ListedEligibility, named: &str| {
            let address = format!("{}/eligibilities/{}", console.base(), listed.eligibility.id);
            (address, format!("{named} · {}", place_of(listed)))
        };
        let deciding = deciding.iter().map(|listed| link(listed, listed.role.name.as_str()));
        let asked = asked.iter().map(|listed| link(listed, &eligible_of(&listed.eligibility, &names)));
        Ok(Some(Self { deciding: deciding.collect(), asked: asked.collect(), has_more }))
    }
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
    let sees_eligibilities = frame.may(&ELIGIBILITIES_READ);
    let named_by = if sees_eligibilities { NamedBy::read(console, signed_in, id).await? } else { None };
    Ok(RolePage {
        named_by,
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
