use std::collections::{HashMap, HashSet};

use iam_model::assignment::Grant;
use iam_model::clock::cut;
use iam_model::manifest::ManifestItemKind;
use iam_model::user::{User, UserStatus};
use iam_model::validate::PersonName;

use crate::manifest::document::{Manifest, ManifestAssignment, ManifestServiceAccount};
use crate::manifest::plan::planner::{Planner, differing};
use crate::manifest::state::is_by_hand;
use crate::manifest::step::Operation;

impl Planner<'_> {
    pub(super) fn accounts(&mut self, manifest: &Manifest) {
        let slugs: HashSet<&str> = manifest.organizations.iter().map(|named| named.slug.as_str()).collect();
        let roles: HashSet<&str> = manifest.roles.iter().map(|named| named.name.as_str()).collect();
        let (state, mut seen, mut assigned) = (self.state, HashSet::new(), Vec::new());
        for (number, wanted) in manifest.service_accounts.iter().enumerate() {
            let at = format!("serviceAccounts[{number}]");
            let name: Option<PersonName> = self.check(&at, "name", &wanted.name);
            if wanted.status == Some(UserStatus::Inactive) {
                self.fields.reject(&format!("{at}.status"), "must be ACTIVE or SUSPENDED");
            }
            self.check_place(&slugs, &at, "home", wanted.home.as_deref());
            for (number, assignment) in wanted.assignments.iter().enumerate() {
                let at = format!("{at}.assignments[{number}]");
                let role = assignment.role.as_str();
                if !roles.contains(role) {
                    self.check_known(&at, "role", "a role", state.roles.get(role).map(|found| found.id.into()));
                }
                self.check_place(&slugs, &at, "organization", assignment.organization.as_deref());
            }
            let Some(name) = name.filter(|name| self.is_first(&mut seen, &at, "name", name.as_str())) else {
                continue;
            };
            let wanted = ManifestServiceAccount { name: name.to_string(), ..wanted.clone() };
            let existing = match state.accounts.get(&wanted.name).map(Vec::as_slice) {
                None | Some([]) => None,
                Some([one]) => Some(one),
                Some(_) => {
                    self.fields.reject(&format!("{at}.name"), "is the name of several service accounts");
                    continue;
                }
            };
            self.account(at.clone(), &wanted, existing);
            assigned.push((at, wanted, existing));
        }
        // Roles are given when all accounts are there.
        for (at, wanted, existing) in assigned {
            self.assignments(&at, &wanted, existing);
        }
    }

    fn account(&mut self, at: String, wanted: &ManifestServiceAccount, existing: Option<&User>) {
        let wanted = ManifestServiceAccount { assignments: Vec::new(), ..wanted.clone() };
        let Some(existing) = existing else {
            let operation = Operation::CreateAccount {
                name: wanted.name.clone(),
                home: wanted.home.clone(),
                is_suspended: wanted.status == Some(UserStatus::Suspended),
            };
            self.create(ManifestItemKind::ServiceAccount, &wanted.name, at, &wanted, operation);
            return;
        };
        self.named.insert(existing.id.into());
        let before = self.state.account(existing);
        let status = differing(wanted.status, existing.status);
        let after = ManifestServiceAccount {
            status: Some(status.unwrap_or(existing.status)).filter(|status| *status != UserStatus::Active),
            ..wanted
        };
        let home = (before.home != after.home).then(|| after.home.clone());
        let operation = Operation::UpdateAccount { id: existing.id, home, status };
        let id = existing.id.into();
        self.update(ManifestItemKind::ServiceAccount, id, (&after.name, at), &before, &after, operation);
    }

    fn assignments(&mut self, at: &str, account: &ManifestServiceAccount, existing: Option<&User>) {
        let state = self.state;
        let held = existing.map_or(&[][..], |account| state.grants_of(account.id));
        let held: HashMap<(&str, Option<&str>), &Grant> =
            held.iter().map(|grant| ((grant.role.name.as_str(), state.place(grant)), grant)).collect();
        let mut seen = HashSet::new();
        for (number, wanted) in account.assignments.iter().enumerate() {
            let at = format!("{at}.assignments[{number}]");
            let place = (wanted.role.as_str(), wanted.organization.as_deref());
            if !seen.insert(place) {
                self.fields.reject(&format!("{at}.role"), "is the same as in an item before it");
                continue;
            }
            let wanted = ManifestAssignment { expires_at: wanted.expires_at.map(cut), ..wanted.clone() };
            let is_over = wanted.expires_at.is_some_and(|expiry| expiry <= state.now);
            let name = assignment_name(&account.name, &wanted);
            match held.get(&place) {
                // What has expired gives nothing.
                None if is_over => {}
                None => {
                    let operation = Operation::Assign {
                        account: account.name.clone(),
                        role: wanted.role.clone(),
                        organization: wanted.organization.clone(),
                        expires_at: wanted.expires_at,
                    };
                    self.create(ManifestItemKind::RoleAssignment, &name, at, &wanted, operation);
                }
                Some(grant) => {
                    self.named.insert(grant.assignment.id.into());
                    if is_by_hand(grant) {
                        let before = state.assignment(grant);
                        let (id, expires_at) = (grant.assignment.id, wanted.expires_at);
                        let operation = Operation::SetExpiry(id, expires_at);
                        let kind = ManifestItemKind::RoleAssignment;
                        self.update(kind, id.into(), (&name, at), &before, &wanted, operation);
                    }
                }
            }
        }
    }
}

/// The name of a role of a service account, for people.
pub(super) fn assignment_name(account: &str, assignment: &ManifestAssignment) -> String {
    match &assignment.organization {
        Some(organization) => format!("{account}: {} in {organization}", assignment.role),
        None => format!("{account}: {}", assignment.role),
    }
}
