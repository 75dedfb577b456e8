//! What a manifest changes, as text for people.

use std::collections::HashMap;

use iam_core::access::Until;
use iam_core::clock::shown;
use iam_core::manifest::{ManifestAction, ManifestItemKind, ManifestPreview, PlannedChange};
use iam_core::{Caller, Iam, OrganizationId, UserId};
use serde_json::{Map, Value};

/// How many rights are shown one by one.
const SHOWN: usize = 200;

/// The lines of changes: what is done to which item, and its fields.
pub(super) fn changes(changes: &[PlannedChange]) -> Vec<String> {
    changes.iter().flat_map(change).collect()
}

fn change(change: &PlannedChange) -> Vec<String> {
    let kind = change.kind.as_str().to_lowercase().replace('_', " ");
    let mut lines = vec![format!("{} {kind} {}", change.action, change.name).trim_end().to_owned()];
    match change.action {
        ManifestAction::Create => {
            lines.extend(change.after.iter().map(|(field, value)| format!("    {field}: {value}")))
        }
        ManifestAction::Update => lines.extend(differences(&change.before, &change.after)),
        ManifestAction::Remove => {}
    }
    lines
}

/// The lines of the fields that an update changes.
fn differences(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<String> {
    let fields = before.keys().chain(after.keys().filter(|field| !before.contains_key(*field)));
    let value = |fields: &Map<String, Value>, field: &str| {
        fields.get(field).map_or_else(|| absent(field).to_owned(), Value::to_string)
    };
    fields.map(|field| format!("    {field}: {} -> {}", value(before, field), value(after, field))).collect()
}

/// What it means that an item has no such field.
fn absent(field: &str) -> &'static str {
    match field {
        "enabled" => "true",
        "status" => "\"ACTIVE\"",
        "adopt" | "trustsEmail" | "factorIsTrusted" => "false",
        "description" => "\"\"",
        "permissions" | "domains" | "roles" => "[]",
        _ => "nothing",
    }
}

/// The numbers of changes, such as `2 to create, 1 to update, 0 to remove`.
pub(super) fn numbers(changes: &[PlannedChange]) -> String {
    let count = |action| changes.iter().filter(|change| change.action == action).count();
    format!(
        "{} to create, {} to update, {} to remove",
        count(ManifestAction::Create),
        count(ManifestAction::Update),
        count(ManifestAction::Remove)
    )
}

/// What ends with items that are removed, without a change of its own. `None` if no such item is.
pub(super) fn consequences(changes: &[PlannedChange]) -> Option<&'static str> {
    let ends_more = |change: &PlannedChange| {
        let has_more = matches!(change.kind, ManifestItemKind::ServiceAccount | ManifestItemKind::Organization);
        has_more && change.action == ManifestAction::Remove
    };
    changes.iter().any(ends_more).then_some(
        "A service account is removed with its API keys and all its roles, an organization with all roles in it.",
    )
}

/// The lines of a preview: who would gain and lose which right.
pub(super) async fn rights(iam: &Iam, caller: &Caller, preview: &ManifestPreview) -> Vec<String> {
    let rows = &preview.preview.changes;
    let names = Names::read(iam, caller, preview).await;
    let mut lines = vec![format!("Users who would gain or lose a right: {}.", preview.preview.users)];
    for row in rows.iter().take(SHOWN) {
        let place = match row.organization {
            Some(id) => format!("in {}", names.organization(id)),
            None => "tenant-wide".to_owned(),
        };
        let until = match row.until {
            Until::Moment(moment) => format!(" until {}", shown(moment)),
            Until::Forever => String::new(),
        };
        lines.push(format!("{} {} {place}: {}{until}", row.direction, row.permission, names.user(row.user)));
    }
    let more = rows.len().saturating_sub(SHOWN);
    if more > 0 || preview.preview.truncated {
        let at_least = if preview.preview.truncated { "at least " } else { "" };
        lines.push(format!("And {at_least}{more} more."));
    }
    lines
}

/// The names of the users and organizations of a preview, as far as the caller may read them.
struct Names {
    users: HashMap<UserId, String>,
    organizations: HashMap<OrganizationId, String>,
}

impl Names {
    async fn read(iam: &Iam, caller: &Caller, preview: &ManifestPreview) -> Self {
        let rows = preview.preview.changes.iter().take(SHOWN);
        let mut names = Self { users: HashMap::new(), organizations: HashMap::new() };
        for change in &preview.changes {
            match (change.kind, change.id) {
                (ManifestItemKind::ServiceAccount, Some(id)) => {
                    names.users.insert(id.into(), change.name.clone());
                }
                (ManifestItemKind::Organization, Some(id)) => {
                    names.organizations.insert(id.into(), change.name.clone());
                }
                _ => {}
            }
        }
        let mut ids: Vec<UserId> = rows.clone().map(|row| row.user).collect();
        ids.retain(|id| !names.users.contains_key(id));
        ids.sort_unstable();
        ids.dedup();
        for user in iam.users().by_ids(caller, &ids).await.unwrap_or_default() {
            let name = user.service_name().map_or_else(|| user.email.to_string(), ToString::to_string);
            names.users.insert(user.id, name);
        }
        for id in rows.filter_map(|row| row.organization) {
            if !names.organizations.contains_key(&id)
                && let Ok(found) = iam.organizations().get(caller, id).await
            {
                names.organizations.insert(id, found.organization.slug.to_string());
            }
        }
        names
    }

    fn user(&self, id: UserId) -> String {
        self.users.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    fn organization(&self, id: OrganizationId) -> String {
        self.organizations.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_shows_what_absent_fields_mean() {
        let fields = |value: Value| value.as_object().cloned().unwrap();
        let before = fields(json!({ "enabled": false, "home": "north" }));
        let after = fields(json!({ "status": "SUSPENDED" }));
        let expected =
            ["    enabled: false -> true", "    home: \"north\" -> nothing", "    status: \"ACTIVE\" -> \"SUSPENDED\""];
        assert_eq!(differences(&before, &after), expected);
    }
}
