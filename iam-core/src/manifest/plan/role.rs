use std::collections::HashSet;

use iam_model::manifest::ManifestItemKind;
use iam_model::permission::{PermissionPattern, PermissionSet};
use iam_model::validate::{Description, RoleName};

use crate::manifest::document::ManifestRole;
use crate::manifest::plan::planner::{Planner, differing};
use crate::manifest::state::role;
use crate::manifest::step::Operation;
use crate::role::{NewRole, RolePatch};

impl Planner<'_> {
    pub(super) fn roles(&mut self, wanted: &[ManifestRole]) {
        let mut seen = HashSet::new();
        for (number, wanted) in wanted.iter().enumerate() {
            let at = format!("roles[{number}]");
            let name: Option<RoleName> = self.check(&at, "name", &wanted.name);
            let description: Option<Description> = self.check(&at, "description", &wanted.description);
            let mut patterns: Vec<PermissionPattern> = Vec::with_capacity(wanted.permissions.len());
            for (number, pattern) in wanted.permissions.iter().enumerate() {
                let pattern: Option<PermissionPattern> = self.check(&at, &format!("permissions[{number}]"), pattern);
                patterns.extend(pattern);
            }
            let (Some(name), Some(description)) = (name, description) else { continue };
            if patterns.len() < wanted.permissions.len() || !self.is_first(&mut seen, &at, "name", name.as_str()) {
                continue;
            }
            let given = wanted.permissions.clone();
            let permissions: PermissionSet = patterns.into_iter().collect();
            let wanted = ManifestRole {
                name: name.to_string(),
                description: description.to_string(),
                scope: wanted.scope,
                permissions: permissions.iter().map(ToString::to_string).collect(),
            };
            let Some(existing) = self.state.roles.get(name.as_str()) else {
                // As given, so that an error names the item of the list.
                let new = NewRole {
                    name: wanted.name.clone(),
                    description: Some(wanted.description.clone()),
                    scope: wanted.scope,
                    permissions: given,
                };
                self.create(ManifestItemKind::Role, &wanted.name, at, &wanted, Operation::CreateRole(new));
                continue;
            };
            self.named.insert(existing.id.into());
            let patch = RolePatch {
                name: None,
                description: (existing.description != description).then(|| wanted.description.clone()),
                scope: differing(Some(wanted.scope), existing.scope),
                permissions: (existing.permissions != permissions).then_some(given),
            };
            let (id, operation) = (existing.id.into(), Operation::UpdateRole(existing.id, patch));
            self.update(ManifestItemKind::Role, id, (&wanted.name, at), &role(existing), &wanted, operation);
        }
    }
}
