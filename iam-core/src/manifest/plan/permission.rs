use std::collections::HashSet;

use iam_model::manifest::ManifestItemKind;
use iam_model::permission::Permission;
use iam_model::validate::Description;

use crate::manifest::document::ManifestPermission;
use crate::manifest::plan::planner::Planner;
use crate::manifest::step::Operation;
use crate::permission::NewPermission;

impl Planner<'_> {
    pub(super) fn permissions(&mut self, wanted: &[ManifestPermission]) {
        let mut seen = HashSet::new();
        for (number, wanted) in wanted.iter().enumerate() {
            let at = format!("permissions[{number}]");
            let name = self.check_with(&at, "name", Permission::of_application(&wanted.name));
            let description: Option<Description> = self.check(&at, "description", &wanted.description);
            let (Some(name), Some(description)) = (name, description) else { continue };
            if !self.is_first(&mut seen, &at, "name", name.as_str()) {
                continue;
            }
            let wanted = ManifestPermission { name: name.to_string(), description: description.to_string() };
            match self.state.permissions.get(name.as_str()) {
                None => {
                    let new =
                        NewPermission { name: wanted.name.clone(), description: Some(wanted.description.clone()) };
                    self.create(
                        ManifestItemKind::Permission,
                        &wanted.name,
                        at,
                        &wanted,
                        Operation::CreatePermission(new),
                    );
                }
                Some(existing) if existing.system => {
                    self.fields.reject(&format!("{at}.name"), "is a built-in permission")
                }
                Some(existing) => {
                    self.named.insert(existing.id.into());
                    if !wanted.description.is_empty() && existing.description != description {
                        let message = format!("cannot change; it is {:?}", existing.description.as_str());
                        self.fields.reject(&format!("{at}.description"), message);
                    }
                }
            }
        }
    }
}
