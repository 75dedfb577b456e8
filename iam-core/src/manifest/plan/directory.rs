use std::collections::HashSet;

use iam_model::directory::Directory;
use iam_model::manifest::ManifestItemKind;
use iam_model::validate::{Name, PersonName};

use crate::directory::DirectoryPatch;
use crate::manifest::document::{Manifest, ManifestDirectory};
use crate::manifest::plan::planner::{Planner, differing};
use crate::manifest::step::Operation;

impl Planner<'_> {
    pub(super) fn directories(&mut self, manifest: &Manifest) {
        let (state, mut seen) = (self.state, HashSet::new());
        let slugs: HashSet<&str> = manifest.identity_providers.iter().map(|named| named.slug.as_str()).collect();
        let named = manifest.service_accounts.iter().filter_map(|named| named.name.parse::<PersonName>().ok());
        let named: HashSet<String> = named.map(|name| name.to_string()).collect();
        for (number, wanted) in manifest.directories.iter().enumerate() {
            let at = format!("directories[{number}]");
            let name: Option<Name> = self.check(&at, "name", &wanted.name);
            let account: Option<PersonName> = self.check(&at, "serviceAccount", &wanted.service_account);
            if let Some(slug) = wanted.identity_provider.as_deref().filter(|slug| !slugs.contains(slug)) {
                let found = state.providers.get(slug).map(|found| found.id.into());
                self.check_known(&at, "identityProvider", "an identity provider", found);
            }
            let (Some(name), Some(account)) = (name, account) else { continue };
            if !self.is_first(&mut seen, &at, "serviceAccount", account.as_str()) {
                continue;
            }
            let accounts = state.accounts.get(account.as_str()).map_or(&[][..], Vec::as_slice);
            if accounts.len() > 1 {
                self.fields.reject(&format!("{at}.serviceAccount"), "is the name of several service accounts");
                continue;
            }
            let existing = accounts.first();
            if !named.contains(account.as_str()) {
                let found = existing.map(|found| found.id.into());
                self.check_known(&at, "serviceAccount", "a service account", found);
            }
            let wanted =
                ManifestDirectory { service_account: account.to_string(), name: name.to_string(), ..wanted.clone() };
            match existing.and_then(|account| state.directories.get(&account.id)) {
                None => {
                    let operation = Operation::CreateDirectory {
                        account: wanted.service_account.clone(),
                        name: wanted.name.clone(),
                        provider: wanted.identity_provider.clone(),
                        adopt: wanted.adopt,
                    };
                    self.create(ManifestItemKind::Directory, &wanted.service_account, at, &wanted, operation);
                }
                Some(existing) => self.directory(at, &wanted, existing),
            }
        }
    }

    fn directory(&mut self, at: String, wanted: &ManifestDirectory, existing: &Directory) {
        self.named.insert(existing.id.into());
        let before = self.state.directory(&wanted.service_account, existing);
        let patch = DirectoryPatch {
            name: differing(Some(wanted.name.clone()), before.name.clone()),
            identity_provider: None,
            adopt: differing(Some(wanted.adopt), existing.adopt),
        };
        let provider = differing(Some(wanted.identity_provider.clone()), before.identity_provider.clone());
        let (id, operation) = (existing.id.into(), Operation::UpdateDirectory { id: existing.id, patch, provider });
        self.update(ManifestItemKind::Directory, id, (&wanted.service_account, at), &before, wanted, operation);
    }
}
