use std::collections::HashSet;
use std::str::FromStr;

use iam_model::error::Result;
use iam_model::manifest::{ManifestAction, ManifestItemKind};
use iam_model::validate::{Fields, Invalid};
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::manifest::state::State;
use crate::manifest::step::{Operation, PlannedChange, Step};

/// Collects the changes of a plan, and the errors of the manifest.
pub(super) struct Planner<'a> {
    pub(super) state: &'a State,
    pub(super) prune: bool,
    pub(super) fields: Fields,
    pub(super) steps: Vec<Step>,
    /// What the manifest names and the tenant has.
    pub(super) named: HashSet<Uuid>,
}

impl Planner<'_> {
    /// Plans a new item.
    pub(super) fn create(
        &mut self,
        kind: ManifestItemKind,
        name: &str,
        at: String,
        after: &impl Serialize,
        operation: Operation,
    ) {
        let (action, name) = (ManifestAction::Create, name.to_owned());
        let change = PlannedChange { action, kind, name, id: None, before: Map::new(), after: map(after) };
        self.steps.push(Step { change, at, operation });
    }

    /// Plans a change if something differs.
    pub(super) fn update<T: Serialize + PartialEq>(
        &mut self,
        kind: ManifestItemKind,
        id: Uuid,
        (name, at): (&str, String),
        before: &T,
        after: &T,
        operation: Operation,
    ) {
        if before == after {
            return;
        }
        let (mut before, mut after) = (map(before), map(after));
        let kept: Vec<String> = before
            .iter()
            .filter(|(field, value)| after.get(*field) == Some(value))
            .map(|(field, _)| field.clone())
            .collect();
        for field in kept {
            before.remove(&field);
            after.remove(&field);
        }
        let (action, name) = (ManifestAction::Update, name.to_owned());
        let change = PlannedChange { action, kind, name, id: Some(id), before, after };
        self.steps.push(Step { change, at, operation });
    }

    /// Plans a removal if a manifest has made the item and this one does not name it.
    pub(super) fn remove(
        &mut self,
        kind: ManifestItemKind,
        id: Uuid,
        name: &str,
        before: &impl Serialize,
        operation: Operation,
    ) {
        if !self.state.made.contains(&id) || self.named.contains(&id) {
            return;
        }
        let list = match kind {
            ManifestItemKind::Permission => "permissions",
            ManifestItemKind::Role => "roles",
            ManifestItemKind::Organization => "organizations",
            ManifestItemKind::Webhook => "webhooks",
            ManifestItemKind::IdentityProvider => "identityProviders",
            ManifestItemKind::Directory => "directories",
            _ => "serviceAccounts",
        };
        let (action, before, name) = (ManifestAction::Remove, map(before), name.to_owned());
        let at = format!("{list}.{name}");
        let change = PlannedChange { action, kind, name, id: Some(id), before, after: Map::new() };
        self.steps.push(Step { change, at, operation });
    }

    /// Parses a field of an item.
    pub(super) fn check<T: FromStr<Err = Invalid>>(&mut self, at: &str, field: &str, text: &str) -> Option<T> {
        self.check_with(at, field, text.parse())
    }

    /// Returns the parsed field of an item, or adds its error.
    pub(super) fn check_with<T>(&mut self, at: &str, field: &str, parsed: Result<T, Invalid>) -> Option<T> {
        parsed.map_err(|Invalid(message)| self.fields.reject(&format!("{at}.{field}"), message)).ok()
    }

    /// Refuses a name that an item before has.
    pub(super) fn is_first(&mut self, seen: &mut HashSet<String>, at: &str, field: &str, name: &str) -> bool {
        let is_first = seen.insert(name.to_owned());
        if !is_first {
            self.fields.reject(&format!("{at}.{field}"), "is the same as in an item before it");
        }
        is_first
    }

    /// Refuses an organization that neither the manifest has, by these slugs, nor the tenant.
    pub(super) fn check_place(&mut self, slugs: &HashSet<&str>, at: &str, field: &str, place: Option<&str>) {
        if let Some(place) = place.filter(|place| !slugs.contains(place)) {
            let found = self.state.organizations.get(place).map(|found| found.id.into());
            self.check_known(at, field, "an organization", found);
        }
    }

    /// Refuses an item that the manifest does not have, unless the tenant has it and keeps it.
    pub(super) fn check_known(&mut self, at: &str, field: &str, what: &str, found: Option<Uuid>) {
        let message = match found {
            None => format!("must be {what} of this manifest or of the tenant"),
            Some(id) if self.prune && self.state.made.contains(&id) => {
                format!("is {what} that is removed, because this manifest does not have it")
            }
            Some(_) => return,
        };
        self.fields.reject(&format!("{at}.{field}"), message);
    }
}

/// The wanted value, if it differs.
pub(super) fn differing<T: PartialEq>(wanted: Option<T>, current: T) -> Option<T> {
    wanted.filter(|wanted| *wanted != current)
}

/// The fields of a value.
pub(super) fn map(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}
