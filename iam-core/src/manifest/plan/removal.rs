use std::cmp::Reverse;

use iam_model::manifest::ManifestItemKind;

use crate::manifest::plan::account::assignment_name;
use crate::manifest::plan::planner::Planner;
use crate::manifest::plan::tree::Tree;
use crate::manifest::state::{is_by_hand, permission, role, webhook};
use crate::manifest::step::Operation;

impl Planner<'_> {
    /// Removes what manifests have made and this one does not name: what refers to other items before these.
    pub(super) fn removals(&mut self) {
        let state = self.state;
        for found in state.webhooks.values().flatten() {
            let (id, before) = (found.id, webhook(found));
            self.remove(ManifestItemKind::Webhook, id.into(), &before.url, &before, Operation::RemoveWebhook(id));
        }
        for (account, found) in state.named_directories() {
            let (id, before) = (found.id, state.directory(account, found));
            self.remove(ManifestItemKind::Directory, id.into(), account, &before, Operation::RemoveDirectory(id));
        }
        for found in state.providers.values() {
            let (id, before) = (found.id, state.provider(found));
            let operation = Operation::RemoveProvider(id);
            self.remove(ManifestItemKind::IdentityProvider, id.into(), &before.slug, &before, operation);
        }
        for accounts in state.accounts.values() {
            for account in accounts {
                for grant in state.grants_of(account.id).iter().filter(|grant| is_by_hand(grant)) {
                    let (id, before) = (grant.assignment.id, state.assignment(grant));
                    let name = assignment_name(account.first_name.as_str(), &before);
                    self.remove(ManifestItemKind::RoleAssignment, id.into(), &name, &before, Operation::Revoke(id));
                }
            }
        }
        for account in state.accounts.values().flatten() {
            let (id, before) = (account.id, state.account(account));
            let operation = Operation::RemoveAccount(id);
            self.remove(ManifestItemKind::ServiceAccount, id.into(), &before.name, &before, operation);
        }
        let tree = Tree::of(state, []);
        let depths = tree.depths();
        let mut organizations: Vec<_> = state.organizations.values().collect();
        // Those below come first.
        organizations.sort_by_key(|found| Reverse(depths.get(found.slug.as_str()).copied()));
        for found in organizations {
            let (id, before) = (found.id, state.organization(found));
            let operation = Operation::RemoveOrganization(id);
            self.remove(ManifestItemKind::Organization, id.into(), &before.slug, &before, operation);
        }
        for found in state.roles.values() {
            let (id, before) = (found.id, role(found));
            self.remove(ManifestItemKind::Role, id.into(), &before.name, &before, Operation::RemoveRole(id));
        }
        for found in state.permissions.values() {
            let (id, before) = (found.id, permission(found));
            let operation = Operation::RemovePermission(id);
            self.remove(ManifestItemKind::Permission, id.into(), &before.name, &before, operation);
        }
    }
}
