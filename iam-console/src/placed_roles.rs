//! The rows of a form with roles that are given without an end, and where each is held.

use iam_core::role::PlacedRole;
use iam_core::{Error, FieldError};

use crate::form::Form;
use crate::picker;
use crate::problem::{collected, if_allowed};
use crate::roles;
use crate::rows;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::Field;

fn row(console: &Console, number: usize) -> [Field; 2] {
    let role = Field::text(rows::name("role", number), text::t("role")).optional();
    let organization = Field::text(rows::name("organization", number), text::t("organization")).optional();
    [
        picker::of_role(console, role),
        picker::of_organization(console, organization.with_hint(text::t("organization-or-tenant"))),
    ]
}

/// Returns the rows that a person has typed, at most `max`, with their errors.
pub(crate) fn typed_rows(console: &Console, (form, errors): (&Form, &[FieldError]), max: usize) -> Vec<Vec<Field>> {
    let shown = |number| row(console, number).map(|field| field.shown(form, errors)).into();
    (0..rows::number(form, max)).map(shown).collect()
}

/// Returns the rows of roles that are stored, or an empty row.
pub(crate) async fn stored_rows(
    console: &Console,
    signed_in: &SignedIn,
    stored: &[PlacedRole],
) -> Result<Vec<Vec<Field>>, Error> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    if stored.is_empty() {
        return Ok(vec![row(console, 0).into()]);
    }
    let named = if_allowed(roles::all(iam, caller).await)?.unwrap_or_default();
    let mut shown = Vec::new();
    for (number, placed) in stored.iter().enumerate() {
        let found = named.iter().find(|role| role.id == placed.role_id);
        let name = found.map_or_else(|| placed.role_id.to_string(), |role| role.name.to_string());
        let place = placed.organization_id.map(|id| id.to_string()).unwrap_or_default();
        let place = picker::shown_organization(iam, caller, &place).await?;
        let [role, organization] = row(console, number);
        shown.push(vec![role.filled(&name), organization.filled(&place)]);
    }
    Ok(shown)
}

/// Returns the roles of a form with at most `max` rows, and the row of each. A row that is wrong adds to the errors.
pub(crate) async fn typed(
    console: &Console,
    signed_in: &SignedIn,
    (form, max): (&Form, usize),
    errors: &mut Vec<FieldError>,
) -> Result<(Vec<PlacedRole>, Vec<usize>), Error> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let (mut roles, mut numbers) = (Vec::new(), Vec::new());
    for number in 0..rows::number(form, max) {
        let [role, organization] = ["role", "organization"].map(|field| rows::name(field, number));
        let typed_organization = form.given(&organization);
        let Some(typed_role) = form.given(&role) else {
            if typed_organization.is_some() {
                errors.push(FieldError::new(role, text::t("role-missing")));
            }
            continue;
        };
        let role_id = collected(picker::role(iam, caller, &role, &typed_role).await, errors)?;
        let typed = typed_organization.unwrap_or_default();
        let organization_id = picker::organization(iam, caller, &organization, &typed).await;
        let organization_id = collected(organization_id, errors)?.flatten();
        if let Some(role_id) = role_id {
            roles.push(PlacedRole { role_id, organization_id });
            numbers.push(number);
        }
    }
    Ok((roles, numbers))
}
