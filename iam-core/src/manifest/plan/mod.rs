//! The difference between a manifest and a tenant, as a plain function of both.

mod account;
mod directory;
mod identity_provider;
mod organization;
mod permission;
mod planner;
mod removal;
mod role;
mod settings;
mod tree;
mod webhook;

use std::collections::HashSet;

use iam_model::error::{Error, Result};
use iam_model::id::AssignmentId;
use iam_model::validate::{Fields, InvalidFields};
use uuid::Uuid;

use crate::manifest::document::{MAX_CHANGES, MAX_ITEMS, Manifest};
use crate::manifest::plan::planner::Planner;
use crate::manifest::state::State;
use crate::manifest::step::{Operation, Plan, Step};

/// How many errors of a manifest are reported.
const MAX_ERRORS: usize = 100;

/// Returns how a tenant becomes what a manifest says. With `prune`, what manifests have made and this one does not name
/// is removed.
///
/// # Errors
///
/// [`Error::Validation`] which names the invalid fields, or the number of the changes if there are too many.
pub(super) fn plan(state: &State, manifest: &Manifest, prune: bool) -> Result<Plan> {
    if manifest.items() > MAX_ITEMS {
        return Err(Error::field("$", format!("must have at most {MAX_ITEMS} items; it has {}", manifest.items())));
    }
    let (fields, steps, named) = (Fields::default(), Vec::new(), HashSet::new());
    let mut planner = Planner { state, prune, fields, steps, named };
    planner.settings(&manifest.settings);
    planner.permissions(&manifest.permissions);
    planner.roles(&manifest.roles);
    planner.organizations(&manifest.organizations);
    planner.accounts(manifest);
    planner.webhooks(&manifest.webhooks);
    planner.providers(manifest);
    planner.directories(manifest);
    if prune {
        planner.removals();
    }
    let Planner { fields, steps, .. } = planner;
    if !fields.is_empty() {
        let InvalidFields(mut errors) = fields.into_error();
        errors.truncate(MAX_ERRORS);
        return Err(Error::Validation(errors));
    }
    let changes = number_of_changes(state, &steps);
    if changes > MAX_CHANGES {
        let message = format!(
            "must change at most {MAX_CHANGES} items at once; it changes {changes}. Name more of the items that it \
             removes, or remove some of them one by one first"
        );
        return Err(Error::field("$", message));
    }
    Ok(Plan { steps, gone: gone(state) })
}

/// The number of items that are made, changed and removed, without the settings. A service account that is removed
/// loses its roles, also those that no step revokes.
fn number_of_changes(state: &State, steps: &[Step]) -> usize {
    let revoked = steps.iter().filter_map(|step| match &step.operation {
        Operation::Revoke(id) => Some(*id),
        _ => None,
    });
    let revoked: HashSet<AssignmentId> = revoked.collect();
    let changes = steps.iter().map(|step| match &step.operation {
        Operation::Settings(_) => 0,
        Operation::RemoveAccount(id) => {
            let others = state.grants_of(*id).iter().filter(|grant| !revoked.contains(&grant.assignment.id));
            1 + others.count()
        }
        _ => 1,
    });
    changes.sum()
}

/// What manifests have made, and the tenant does not have any more.
fn gone(state: &State) -> Vec<Uuid> {
    let accounts = state.accounts.values().flatten();
    let grants = accounts.clone().flat_map(|account| state.grants_of(account.id));
    let present: HashSet<Uuid> = grants
        .map(|grant| Uuid::from(grant.assignment.id))
        .chain(accounts.map(|found| Uuid::from(found.id)))
        .chain(state.organizations.values().map(|found| Uuid::from(found.id)))
        .chain(state.webhooks.values().flatten().map(|found| Uuid::from(found.id)))
        .chain(state.providers.values().map(|found| Uuid::from(found.id)))
        .chain(state.directories.values().map(|found| Uuid::from(found.id)))
        .chain(state.roles.values().map(|found| Uuid::from(found.id)))
        .chain(state.permissions.values().map(|found| Uuid::from(found.id)))
        .collect();
    let mut gone: Vec<Uuid> = state.made.difference(&present).copied().collect();
    gone.sort_unstable();
    gone
}
