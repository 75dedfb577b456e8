//! Roles side by side: which role has which permission, and what two roles have not in common.

use std::collections::BTreeSet;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use iam_axum::Problem;
use iam_core::access::PermissionPattern;
use iam_core::role::Role;
use iam_core::{Error, FieldError, RoleId};
use serde::Deserialize;

use crate::catalogue::Catalogue;
use crate::confirm::{at_fields, text_above};
use crate::picker;
use crate::problem::{collected, refused_in_place};
use crate::query::Query;
use crate::roles;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Field, Frame, page, query};

pub(crate) fn routes() -> Router<Console> {
    Router::new().route("/roles/matrix", get(show))
}

/// How many roles are shown side by side.
const MAX: usize = 8;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Params {
    /// The ids of the roles, with commas between them. Empty for the first ones.
    roles: String,
    /// The name or the id of one more role.
    add: String,
    /// The two roles that are compared, each by its id or its name. `None` in the matrix.
    left: Option<String>,
    right: Option<String>,
    /// Not empty if only the differences are shown.
    only: String,
}

/// The permissions of a resource.
struct Resource {
    /// Empty for the permission to do everything.
    name: String,
    rows: Vec<Row>,
}

/// A permission, or all of a resource.
struct Row {
    name: String,
    text: String,
    /// One for each role.
    cells: Vec<Cell>,
    /// Which of two roles has it alone. Empty if it is no difference.
    difference: String,
}

struct Cell {
    role: String,
    holding: Holding,
}

/// Whether a role has a permission.
#[derive(Debug, PartialEq, Eq)]
enum Holding {
    /// It names the permission.
    Named,
    /// It has a wildcard for the permission.
    By(String),
    Not,
}

impl Holding {
    fn of(role: &Role, pattern: &PermissionPattern) -> Self {
        if !role.permissions.covers(pattern) {
            return Self::Not;
        }
        if role.permissions.iter().any(|held| held == pattern) {
            return Self::Named;
        }
        let wildcard = role.permissions.iter().find(|held| held.covers(pattern));
        wildcard.map_or(Self::Not, |wildcard| Self::By(wildcard.as_str().to_owned()))
    }

    fn is_held(&self) -> bool {
        *self != Self::Not
    }
}

impl Row {
    fn of(name: String, text: String, roles: &[&Role]) -> Self {
        let pattern = name.parse::<PermissionPattern>();
        let holding = |role: &Role| pattern.as_ref().map_or(Holding::Not, |pattern| Holding::of(role, pattern));
        let cell = |role: &&Role| Cell { role: role.name.to_string(), holding: holding(role) };
        let cells: Vec<Cell> = roles.iter().map(cell).collect();
        let difference = match cells.as_slice() {
            [left, right] if left.holding.is_held() != right.holding.is_held() => {
                text::only_in(if left.holding.is_held() { &left.role } else { &right.role })
            }
            _ => String::new(),
        };
        Self { name, text, cells, difference }
    }

    fn is_held(&self) -> bool {
        self.cells.iter().any(|cell| cell.holding.is_held())
    }
}

/// Returns the permissions of the catalogue and the wildcards of these roles. Rows that are not wanted are left out.
fn rows(catalogue: &Catalogue, roles: &[&Role], is_wanted: impl Fn(&Row) -> bool) -> Vec<Resource> {
    let held: BTreeSet<String> =
        roles.iter().flat_map(|role| role.permissions.iter()).map(|pattern| pattern.as_str().to_owned()).collect();
    let resources = catalogue.listed(&held).into_iter().map(|group| {
        let rows = group.choices.into_iter().map(|choice| Row::of(choice.name, choice.text, roles));
        Resource { name: group.resource, rows: rows.filter(&is_wanted).collect() }
    });
    resources.filter(|resource| !resource.rows.is_empty()).collect()
}

/// Returns the role that a person has named by its id or its name.
fn named<'a>(all: &'a [Role], field: &str, text: &str) -> Result<&'a Role, Error> {
    let (id, name) = (text.trim().parse::<RoleId>().ok(), roles::name_of(text));
    let found = all.iter().find(|role| Some(role.id) == id || role.name.as_str() == name);
    found.ok_or_else(|| Error::field(field, text::t("no-such-role")))
}

async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let all = roles::all(&console.iam, &signed_in.caller).await?;
    match (&params.left, &params.right) {
        (None, None) => matrix(&console, &signed_in, &all, &params).await,
        (left, right) => {
            let texts = [left, right].map(|text| text.as_deref().unwrap_or_default().trim());
            differences(&console, &signed_in, &all, (texts, !params.only.is_empty())).await
        }
    }
}

#[derive(Template)]
#[template(path = "role-matrix.html")]
struct MatrixPage {
    frame: Frame,
    error: String,
    /// Whether the link names a role that does not exist.
    is_incomplete: bool,
    columns: Vec<Column>,
    resources: Vec<Resource>,
    /// The ids of the roles, as the link has them.
    ids: String,
    /// `None` if no more roles can be shown.
    add: Option<Field>,
}

/// A role of the matrix.
struct Column {
    role: RoleId,
    name: String,
    /// The address of the matrix without this role. Empty for the only one.
    without: String,
}

/// Returns the ids as a link has them.
fn linked<'a>(roles: impl IntoIterator<Item = &'a RoleId>) -> String {
    roles.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Returns the roles of a link, and whether it names one that does not exist.
fn chosen<'a>(all: &'a [Role], ids: &str) -> Result<(Vec<&'a Role>, bool), Error> {
    if ids.is_empty() {
        return Ok((all.iter().take(MAX).collect(), false));
    }
    let parsed: Result<Vec<RoleId>, _> = ids.split(',').map(str::parse::<RoleId>).collect();
    let mut ids = parsed.map_err(|_| Error::field("roles", text::t("must-be-roles")))?;
    let mut seen = BTreeSet::new();
    ids.retain(|id| seen.insert(*id));
    if ids.len() > MAX {
        return Err(Error::field("roles", text::t("must-be-roles")));
    }
    let found: Vec<&Role> = ids.iter().filter_map(|id| all.iter().find(|role| role.id == *id)).collect();
    let is_incomplete = found.len() < ids.len();
    Ok((found, is_incomplete))
}

async fn matrix(console: &Console, signed_in: &SignedIn, all: &[Role], params: &Params) -> Result<Response, Problem> {
    let address = |ids: &str| format!("{}/roles/matrix?{}", console.base(), query(&[("roles", ids)]));
    let (roles, is_incomplete) = chosen(all, &params.roles)?;
    let mut ids: Vec<RoleId> = roles.iter().map(|role| role.id).collect();
    let added = if params.add.trim().is_empty() { None } else { Some(named(all, "add", &params.add)) };
    let refusal = match added {
        None => None,
        Some(Ok(_)) if ids.len() >= MAX => Some(Error::field("add", text::t("matrix-is-full"))),
        Some(Ok(role)) => {
            if !ids.contains(&role.id) {
                ids.push(role.id);
            }
            return Ok(Redirect::to(&address(&linked(&ids))).into_response());
        }
        Some(Err(error)) => Some(error),
    };
    let errors = refusal.as_ref().map(at_fields).unwrap_or_default();
    let add = Field::text("add", text::t("one-more-role")).filled(params.add.trim()).with_errors(&errors);
    let without = |id: RoleId| {
        let others: Vec<&RoleId> = ids.iter().filter(|other| **other != id).collect();
        if others.is_empty() { String::new() } else { address(&linked(others)) }
    };
    let column = |role: &&Role| Column { role: role.id, name: role.name.to_string(), without: without(role.id) };
    let columns: Vec<Column> = roles.iter().map(column).collect();
    let catalogue = Catalogue::read(&console.iam, &signed_in.caller).await?;
    let is_full = ids.len() >= MAX && errors.is_empty();
    let shown = MatrixPage {
        frame: signed_in.frame(console).await?,
        error: refusal.as_ref().map(text_above).unwrap_or_default(),
        is_incomplete,
        columns,
        resources: rows(&catalogue, &roles, |_| true),
        ids: linked(&ids),
        add: (!is_full).then(|| picker::of_role(console, add)),
    };
    match refusal {
        None => page(StatusCode::OK, &shown),
        Some(error) => refused_in_place(error, |_| shown),
    }
}

#[derive(Template)]
#[template(path = "role-differences.html")]
struct DifferencesPage {
    frame: Frame,
    error: String,
    left: Field,
    right: Field,
    is_only: bool,
    /// `None` until both roles are chosen.
    compared: Option<Compared>,
}

/// Two roles side by side.
struct Compared {
    names: [(RoleId, String); 2],
    summary: String,
    resources: Vec<Resource>,
    /// The address of the same page with all permissions, or else with the differences only.
    switch: String,
}

async fn differences(
    console: &Console,
    signed_in: &SignedIn,
    all: &[Role],
    ([left, right], is_only): ([&str; 2], bool),
) -> Result<Response, Problem> {
    let mut errors: Vec<FieldError> = Vec::new();
    let mut found = Vec::new();
    for (field, text) in [("left", left), ("right", right)] {
        if !text.is_empty() {
            found.extend(collected(named(all, field, text), &mut errors)?);
        }
    }
    let address = |[left, right]: [&Role; 2], is_only: bool| {
        let (left, right) = (left.id.to_string(), right.id.to_string());
        let params = [("left", &*left), ("right", &*right), ("only", if is_only { "1" } else { "" })];
        format!("{}/roles/matrix?{}", console.base(), query(&params))
    };
    let both = match found.as_slice() {
        [one, other] => Some([*one, *other]),
        _ => None,
    };
    // A link with the ids stays right when a role gets another name.
    if let Some([one, other]) = both
        && [(one, left), (other, right)].iter().any(|(role, text)| role.id.to_string() != *text)
    {
        return Ok(Redirect::to(&address([one, other], is_only)).into_response());
    }
    let field = |name: &'static str, label: &'static str, text: &str| {
        let role = named(all, name, text).ok();
        let shown = role.map_or_else(|| text.to_owned(), |role| role.name.to_string());
        picker::of_role(console, Field::text(name, label).filled(&shown).with_errors(&errors))
    };
    let compared = match both {
        None => None,
        Some(roles) => {
            let catalogue = Catalogue::read(&console.iam, &signed_in.caller).await?;
            let is_wanted = |row: &Row| if is_only { !row.difference.is_empty() } else { row.is_held() };
            let resources = rows(&catalogue, &roles, is_wanted);
            let all_rows = resources.iter().flat_map(|resource| &resource.rows);
            let count = all_rows.filter(|row| !row.difference.is_empty()).count();
            let names = roles.map(|role| (role.id, role.name.to_string()));
            let (summary, switch) = (text::differences_found(count), address(roles, !is_only));
            Some(Compared { names, summary, resources, switch })
        }
    };
    let refusal = (!errors.is_empty()).then(|| Error::Validation(errors.clone()));
    let shown = DifferencesPage {
        error: refusal.as_ref().map(text_above).unwrap_or_default(),
        left: field("left", text::t("first-role"), left),
        right: field("right", text::t("second-role"), right),
        frame: signed_in.frame(console).await?,
        is_only,
        compared,
    };
    match refusal {
        None => page(StatusCode::OK, &shown),
        Some(error) => refused_in_place(error, |_| shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_names_each_role_once_and_at_most_eight() {
        assert!(chosen(&[], "").is_ok_and(|(roles, is_incomplete)| roles.is_empty() && !is_incomplete));
        let id = |number: u32| format!("019bb3f0-0000-7000-8000-{number:012}");
        let ids = |count: u32| (0..count).map(id).collect::<Vec<_>>().join(",");
        assert!(chosen(&[], &ids(8)).is_ok_and(|(_, is_incomplete)| is_incomplete));
        assert!(chosen(&[], &format!("{},{}", ids(8), id(0))).is_ok());
        assert!(chosen(&[], &ids(9)).is_err());
        assert!(chosen(&[], "nothing").is_err());
    }
}
