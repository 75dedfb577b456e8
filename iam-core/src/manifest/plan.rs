//! The difference between a manifest and a tenant, as a plain function of both.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::str::FromStr;

use iam_model::assignment::Grant;
use iam_model::audit::EventPattern;
use iam_model::clock::{Timestamp, cut};
use iam_model::directory::Directory;
use iam_model::domain::Domain;
use iam_model::error::{Error, Result};
use iam_model::factor::GraceDays;
use iam_model::id::{
    AssignmentId, DirectoryId, DomainId, IdentityProviderId, OrganizationId, PermissionId, RoleId, UserId, WebhookId,
};
use iam_model::identity_provider::{ClientId, IdentityProvider, Issuer};
use iam_model::manifest::{ManifestAction, ManifestItemKind};
use iam_model::organization::{Organization, OrganizationStatus};
use iam_model::permission::{Permission, PermissionPattern, PermissionSet};
use iam_model::user::{User, UserStatus};
use iam_model::validate::{Description, DomainName, Fields, Invalid, InvalidFields, Name, PersonName, RoleName, Slug};
use iam_model::webhook::{Webhook, WebhookUrl};
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::directory::DirectoryPatch;
use crate::identity_provider::{IdentityProviderPatch, NewIdentityProvider};
use crate::manifest::document::{
    MAX_CHANGES, MAX_ITEMS, Manifest, ManifestAssignment, ManifestDirectory, ManifestIdentityProvider,
    ManifestOrganization, ManifestPermission, ManifestProvidedRole, ManifestRole, ManifestSecret,
    ManifestServiceAccount, ManifestSettings, ManifestWebhook,
};
use crate::manifest::state::{State, is_by_hand, permission, role, webhook};
use crate::organization::OrganizationPatch;
use crate::permission::NewPermission;
use crate::role::{NewRole, RolePatch};
use crate::tenant::TenantPatch;
use crate::webhook::{NewWebhook, WebhookPatch};

/// How many errors of a manifest are reported.
const MAX_ERRORS: usize = 100;

/// The field of a secret.
const CLIENT_SECRET: &str = "clientSecret";

/// A change that a manifest makes, or would make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlannedChange {
    /// What is done.
    pub action: ManifestAction,
    /// To what kind of item.
    pub kind: ManifestItemKind,
    /// The name of the item, for people: that of a permission, a role or a service account, the slug of an organization,
    /// the address of a webhook, the slug of an identity provider, the service account of a directory. A role of a
    /// service account has the names of both, and the slug of the organization. Empty for the settings.
    pub name: String,
    /// The identifier of the item; `None` for the settings. That of an item that a preview would make exists nowhere
    /// else.
    pub id: Option<Uuid>,
    /// The fields that change, as they are; all fields of an item that is removed. A secret is never shown: `(former
    /// secret)` stands in its place, and here below `(new secret)`.
    pub before: Map<String, Value>,
    /// The fields that change, as they become; all fields of an item that is made.
    pub after: Map<String, Value>,
}

/// The changes of a manifest, in the order in which they can be made.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// What manifests have made, and is gone.
    pub(super) gone: Vec<Uuid>,
}

/// A change with what it needs.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) change: PlannedChange,
    /// The field of the manifest that asks for it.
    pub(super) at: String,
    pub(super) operation: Operation,
}

/// A change. What the same manifest makes is named, because it has no identifier yet.
#[derive(Debug)]
pub(super) enum Operation {
    Settings(TenantPatch),
    CreatePermission(NewPermission),
    CreateRole(NewRole),
    UpdateRole(RoleId, RolePatch),
    CreateOrganization {
        slug: String,
        name: String,
        parent: Option<String>,
        is_suspended: bool,
    },
    UpdateOrganization {
        id: OrganizationId,
        /// Without the parent.
        patch: OrganizationPatch,
        parent: Option<Option<String>>,
    },
    CreateAccount {
        name: String,
        home: Option<String>,
        is_suspended: bool,
    },
    UpdateAccount {
        id: UserId,
        home: Option<Option<String>>,
        status: Option<UserStatus>,
    },
    Assign {
        account: String,
        role: String,
        organization: Option<String>,
        expires_at: Option<Timestamp>,
    },
    SetExpiry(AssignmentId, Option<Timestamp>),
    Revoke(AssignmentId),
    CreateWebhook(NewWebhook),
    UpdateWebhook(WebhookId, WebhookPatch),
    RemoveWebhook(WebhookId),
    CreateProvider {
        /// Without the roles.
        new: Box<NewIdentityProvider>,
        roles: Vec<ManifestProvidedRole>,
    },
    UpdateProvider {
        id: IdentityProviderId,
        /// Without the roles.
        patch: Box<IdentityProviderPatch>,
        roles: Option<Vec<ManifestProvidedRole>>,
    },
    RemoveProvider(IdentityProviderId),
    CreateDirectory {
        account: String,
        name: String,
        provider: Option<String>,
        adopt: bool,
    },
    UpdateDirectory {
        id: DirectoryId,
        /// Without the provider.
        patch: DirectoryPatch,
        provider: Option<Option<String>>,
    },
    RemoveDirectory(DirectoryId),
    RemoveAccount(UserId),
    RemoveOrganization(OrganizationId),
    RemoveRole(RoleId),
    RemovePermission(PermissionId),
}

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

struct Planner<'a> {
    state: &'a State,
    prune: bool,
    fields: Fields,
    steps: Vec<Step>,
    /// What the manifest names and the tenant has.
    named: HashSet<Uuid>,
}

impl Planner<'_> {
    fn settings(&mut self, wanted: &ManifestSettings) {
        let tenant = &self.state.tenant;
        let name: Option<Name> = self.fields.check_optional("settings.name", wanted.name.as_deref());
        let days = wanted
            .second_factor_grace_days
            .and_then(|days| self.fields.check("settings.secondFactorGraceDays", GraceDays::try_from(days)));
        let patch = TenantPatch {
            name: name.filter(|name| *name != tenant.name).map(|name| name.to_string()),
            slug: None,
            password_policy: differing(wanted.password_policy, tenant.password_policy),
            second_factor: differing(wanted.second_factor, tenant.second_factor),
            second_factor_grace_days: differing(days, tenant.second_factor_grace_days).map(i64::from),
            password_login: differing(wanted.password_login, tenant.password_login),
            email_login: differing(wanted.email_login, tenant.email_login),
            authzen_identifiers: differing(wanted.authzen_identifiers, tenant.authzen_identifiers),
        };
        let after = ManifestSettings {
            name: patch.name.clone(),
            password_policy: patch.password_policy,
            second_factor: patch.second_factor,
            second_factor_grace_days: patch.second_factor_grace_days,
            password_login: patch.password_login,
            email_login: patch.email_login,
            authzen_identifiers: patch.authzen_identifiers,
        };
        if after.is_empty() {
            return;
        }
        let (mut before, after) = (map(&self.state.settings()), map(&after));
        before.retain(|field, _| after.contains_key(field));
        let change = PlannedChange {
            action: ManifestAction::Update,
            kind: ManifestItemKind::Settings,
            name: String::new(),
            id: None,
            before,
            after,
        };
        self.steps.push(Step { change, at: "settings".to_owned(), operation: Operation::Settings(patch) });
    }

    fn permissions(&mut self, wanted: &[ManifestPermission]) {
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

    fn roles(&mut self, wanted: &[ManifestRole]) {
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

    fn organizations(&mut self, wanted: &[ManifestOrganization]) {
        let (mut seen, mut valid) = (HashSet::new(), Vec::new());
        for (number, wanted) in wanted.iter().enumerate() {
            let at = format!("organizations[{number}]");
            let slug: Option<Slug> = self.check(&at, "slug", &wanted.slug);
            let name: Option<Name> = self.check(&at, "name", &wanted.name);
            if wanted.status == Some(OrganizationStatus::Inactive) {
                self.fields.reject(&format!("{at}.status"), "must be ACTIVE or SUSPENDED");
            }
            let (Some(slug), Some(name)) = (slug, name) else { continue };
            if self.is_first(&mut seen, &at, "slug", slug.as_str()) {
                let (slug, name) = (slug.to_string(), name.to_string());
                valid.push((at, ManifestOrganization { slug, name, ..wanted.clone() }));
            }
        }
        let slugs = seen.iter().map(String::as_str).collect();
        for (at, wanted) in &valid {
            self.check_place(&slugs, at, "parent", wanted.parent.as_deref());
        }
        let tree = Tree::of(self.state, valid.iter().map(|(_, wanted)| wanted));
        let circular = tree.circular();
        for (at, wanted) in valid.iter().filter(|(_, wanted)| circular.contains(wanted.slug.as_str())) {
            let circle = format!("is below the organization {}: the parents form a circle", wanted.slug);
            self.fields.reject(&format!("{at}.parent"), circle);
        }
        if !circular.is_empty() {
            return;
        }
        // Each organization comes after its parent, also if both change.
        let depths = tree.depths();
        let mut ordered: Vec<_> = valid.iter().collect();
        ordered.sort_by_key(|(_, wanted)| depths.get(wanted.slug.as_str()).copied());
        for (at, wanted) in ordered {
            self.organization(at.clone(), wanted);
        }
    }

    fn organization(&mut self, at: String, wanted: &ManifestOrganization) {
        let state = self.state;
        let Some(existing) = state.organizations.get(&wanted.slug) else {
            let operation = Operation::CreateOrganization {
                slug: wanted.slug.clone(),
                name: wanted.name.clone(),
                parent: wanted.parent.clone(),
                is_suspended: wanted.status == Some(OrganizationStatus::Suspended),
            };
            self.create(ManifestItemKind::Organization, &wanted.slug, at, wanted, operation);
            return;
        };
        self.named.insert(existing.id.into());
        let before = state.organization(existing);
        let status = differing(wanted.status, existing.status);
        let after = ManifestOrganization {
            status: Some(status.unwrap_or(existing.status)).filter(|status| *status != OrganizationStatus::Active),
            ..wanted.clone()
        };
        let name = (before.name != after.name).then(|| after.name.clone());
        let parent = (before.parent != after.parent).then(|| after.parent.clone());
        let patch = OrganizationPatch { name, status, ..OrganizationPatch::default() };
        let operation = Operation::UpdateOrganization { id: existing.id, patch, parent };
        let id = existing.id.into();
        self.update(ManifestItemKind::Organization, id, (&wanted.slug, at), &before, &after, operation);
    }

    fn accounts(&mut self, manifest: &Manifest) {
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

    fn webhooks(&mut self, wanted: &[ManifestWebhook]) {
        let (state, mut seen) = (self.state, HashSet::new());
        for (number, wanted) in wanted.iter().enumerate() {
            let at = format!("webhooks[{number}]");
            let url: Option<WebhookUrl> = self.check(&at, "url", &wanted.url);
            let description: Option<Description> = self.check(&at, "description", &wanted.description);
            let mut types: Vec<EventPattern> = Vec::with_capacity(wanted.types.len());
            for (number, pattern) in wanted.types.iter().enumerate() {
                let pattern: Option<EventPattern> = self.check(&at, &format!("types[{number}]"), pattern);
                types.extend(pattern);
            }
            let (Some(url), Some(description)) = (url, description) else { continue };
            if types.len() < wanted.types.len() || !self.is_first(&mut seen, &at, "url", url.as_str()) {
                continue;
            }
            let wanted = ManifestWebhook {
                url: url.to_string(),
                types: types.iter().map(ToString::to_string).collect(),
                format: wanted.format,
                description: description.to_string(),
                enabled: wanted.enabled,
            };
            match state.webhooks.get(url.as_str()).map(Vec::as_slice) {
                None | Some([]) => {
                    let new = NewWebhook {
                        url: wanted.url.clone(),
                        types: wanted.types.clone(),
                        format: wanted.format,
                        description: wanted.description.clone(),
                        enabled: wanted.enabled.unwrap_or(true),
                    };
                    self.create(ManifestItemKind::Webhook, &wanted.url, at, &wanted, Operation::CreateWebhook(new));
                }
                Some([existing]) => self.webhook(at, &wanted, existing),
                Some(_) => self.fields.reject(&format!("{at}.url"), "is the address of several webhooks"),
            }
        }
    }

    fn webhook(&mut self, at: String, wanted: &ManifestWebhook, existing: &Webhook) {
        self.named.insert(existing.id.into());
        let before = webhook(existing);
        let enabled = differing(wanted.enabled, existing.enabled);
        let after = ManifestWebhook {
            enabled: Some(enabled.unwrap_or(existing.enabled)).filter(|enabled| !enabled),
            ..wanted.clone()
        };
        let patch = WebhookPatch {
            url: None,
            types: differing(Some(after.types.clone()), before.types.clone()),
            format: differing(Some(after.format), before.format),
            description: differing(Some(after.description.clone()), before.description.clone()),
            enabled,
        };
        let (id, operation) = (existing.id.into(), Operation::UpdateWebhook(existing.id, patch));
        self.update(ManifestItemKind::Webhook, id, (&after.url, at), &before, &after, operation);
    }

    fn providers(&mut self, manifest: &Manifest) {
        let slugs: HashSet<&str> = manifest.organizations.iter().map(|named| named.slug.as_str()).collect();
        let roles: HashSet<&str> = manifest.roles.iter().map(|named| named.name.as_str()).collect();
        let (state, mut seen) = (self.state, HashSet::new());
        for (number, given) in manifest.identity_providers.iter().enumerate() {
            let at = format!("identityProviders[{number}]");
            let slug: Option<Slug> = self.check(&at, "slug", &given.slug);
            let name: Option<Name> = self.check(&at, "name", &given.name);
            let issuer: Option<Issuer> = self.check(&at, "issuer", &given.issuer);
            let client_id: Option<ClientId> = self.check(&at, "clientId", &given.client_id);
            let (mut domains, domain_ids) =
                self.domains(&at, &given.domains).into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
            for (number, provided) in given.roles.iter().enumerate() {
                let at = format!("{at}.roles[{number}]");
                let role = provided.role.as_str();
                if !roles.contains(role) {
                    self.check_known(&at, "role", "a role", state.roles.get(role).map(|found| found.id.into()));
                }
                self.check_place(&slugs, &at, "organization", provided.organization.as_deref());
            }
            let (Some(slug), Some(name), Some(issuer), Some(client_id)) = (slug, name, issuer, client_id) else {
                continue;
            };
            if !self.is_first(&mut seen, &at, "slug", slug.as_str()) {
                continue;
            }
            domains.sort_unstable();
            let mut roles = given.roles.clone();
            roles.sort_unstable();
            let wanted = ManifestIdentityProvider {
                slug: slug.to_string(),
                name: name.to_string(),
                issuer: issuer.as_str().to_owned(),
                client_id: client_id.as_str().to_owned(),
                domains,
                roles,
                ..given.clone()
            };
            match state.providers.get(slug.as_str()) {
                None => self.new_provider(at, &wanted, domain_ids, given.roles.clone()),
                Some(existing) => self.provider(at, &wanted, (domain_ids, given.roles.clone()), existing),
            }
        }
    }

    /// Returns the domains with these names, in their order.
    fn domains(&mut self, at: &str, names: &[String]) -> Vec<(String, DomainId)> {
        if names.len() > Domain::MAX {
            self.fields.reject(&format!("{at}.domains"), format!("must have at most {} items", Domain::MAX));
            return Vec::new();
        }
        let mut domains = Vec::with_capacity(names.len());
        for (number, name) in names.iter().enumerate() {
            let field = format!("domains[{number}]");
            let name: Option<DomainName> = self.check(at, &field, name);
            let Some(name) = name else { continue };
            match self.state.domains.get(name.as_str()) {
                Some(id) => domains.push((name.to_string(), *id)),
                None => self.fields.reject(&format!("{at}.{field}"), "must be a domain of the tenant"),
            }
        }
        domains
    }

    fn new_provider(
        &mut self,
        at: String,
        wanted: &ManifestIdentityProvider,
        domains: Vec<DomainId>,
        roles: Vec<ManifestProvidedRole>,
    ) {
        let new = NewIdentityProvider {
            name: wanted.name.clone(),
            slug: Some(wanted.slug.clone()),
            issuer: wanted.issuer.clone(),
            client_id: wanted.client_id.clone(),
            client_secret: wanted.client_secret.clone().map(|ManifestSecret(secret)| secret),
            scopes: Some(wanted.scopes.clone()),
            domains,
            trusts_email: wanted.trusts_email,
            subject_claim: wanted.subject_claim,
            provisioning: wanted.provisioning,
            roles: Vec::new(),
            factor_is_trusted: wanted.factor_is_trusted,
            enabled: wanted.enabled.unwrap_or(true),
        };
        let operation = Operation::CreateProvider { new: Box::new(new), roles };
        self.create(ManifestItemKind::IdentityProvider, &wanted.slug, at, wanted, operation);
        if wanted.client_secret.is_some() {
            self.show_secret(false);
        }
    }

    fn provider(
        &mut self,
        at: String,
        wanted: &ManifestIdentityProvider,
        (domain_ids, given_roles): (Vec<DomainId>, Vec<ManifestProvidedRole>),
        existing: &IdentityProvider,
    ) {
        self.named.insert(existing.id.into());
        let before = self.state.provider(existing);
        let enabled = differing(wanted.enabled, existing.enabled);
        let secret = wanted.client_secret.clone().filter(|given| self.state.secrets.get(&existing.id) != Some(given));
        let after = ManifestIdentityProvider {
            client_secret: secret.clone(),
            enabled: Some(enabled.unwrap_or(existing.enabled)).filter(|enabled| !enabled),
            ..wanted.clone()
        };
        // What is gone is left out before.
        let has_gone_domains = before.domains.len() < existing.domain_ids.len();
        let has_gone_roles = before.roles.len() < existing.roles.len();
        let is_secret_new = secret.is_some();
        let patch = IdentityProviderPatch {
            name: differing(Some(after.name.clone()), before.name.clone()),
            slug: None,
            issuer: differing(Some(after.issuer.clone()), before.issuer.clone()),
            client_id: differing(Some(after.client_id.clone()), before.client_id.clone()),
            client_secret: secret.map(|ManifestSecret(secret)| Some(secret)),
            scopes: differing(Some(after.scopes.clone()), before.scopes.clone()),
            domains: (has_gone_domains || before.domains != after.domains).then_some(domain_ids),
            trusts_email: differing(Some(after.trusts_email), before.trusts_email),
            subject_claim: differing(Some(after.subject_claim), before.subject_claim),
            provisioning: differing(Some(after.provisioning), before.provisioning),
            roles: None,
            factor_is_trusted: differing(Some(after.factor_is_trusted), before.factor_is_trusted),
            enabled,
        };
        let roles = (has_gone_roles || before.roles != after.roles).then_some(given_roles);
        let operation = Operation::UpdateProvider { id: existing.id, patch: Box::new(patch), roles };
        let id = existing.id.into();
        self.update(ManifestItemKind::IdentityProvider, id, (&after.slug, at), &before, &after, operation);
        if is_secret_new {
            self.show_secret(existing.client_secret.is_some());
        }
    }

    /// Says in the change that was planned last that a secret is given, and whether it takes the place of another one.
    fn show_secret(&mut self, replaces: bool) {
        let Some(Step { change, .. }) = self.steps.last_mut() else { return };
        if replaces {
            change.before.insert(CLIENT_SECRET.to_owned(), "(former secret)".into());
        }
        change.after.insert(CLIENT_SECRET.to_owned(), "(new secret)".into());
    }

    fn directories(&mut self, manifest: &Manifest) {
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

    /// Removes what manifests have made and this one does not name: what refers to other items before these.
    fn removals(&mut self) {
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
        organizations.sort_by_key(|found| std::cmp::Reverse(depths.get(found.slug.as_str()).copied()));
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

    fn create(&mut self, kind: ManifestItemKind, name: &str, at: String, after: &impl Serialize, operation: Operation) {
        let (action, name) = (ManifestAction::Create, name.to_owned());
        let change = PlannedChange { action, kind, name, id: None, before: Map::new(), after: map(after) };
        self.steps.push(Step { change, at, operation });
    }

    /// Plans a change if something differs.
    fn update<T: Serialize + PartialEq>(
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
    fn remove(&mut self, kind: ManifestItemKind, id: Uuid, name: &str, before: &impl Serialize, operation: Operation) {
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
    fn check<T: FromStr<Err = Invalid>>(&mut self, at: &str, field: &str, text: &str) -> Option<T> {
        self.check_with(at, field, text.parse())
    }

    fn check_with<T>(&mut self, at: &str, field: &str, parsed: Result<T, Invalid>) -> Option<T> {
        parsed.map_err(|Invalid(message)| self.fields.reject(&format!("{at}.{field}"), message)).ok()
    }

    /// Refuses a name that an item before has.
    fn is_first(&mut self, seen: &mut HashSet<String>, at: &str, field: &str, name: &str) -> bool {
        let is_first = seen.insert(name.to_owned());
        if !is_first {
            self.fields.reject(&format!("{at}.{field}"), "is the same as in an item before it");
        }
        is_first
    }

    /// Refuses an organization that neither the manifest has, by these slugs, nor the tenant.
    fn check_place(&mut self, slugs: &HashSet<&str>, at: &str, field: &str, place: Option<&str>) {
        if let Some(place) = place.filter(|place| !slugs.contains(place)) {
            let found = self.state.organizations.get(place).map(|found| found.id.into());
            self.check_known(at, field, "an organization", found);
        }
    }

    /// Refuses an item that the manifest does not have, unless the tenant has it and keeps it.
    fn check_known(&mut self, at: &str, field: &str, what: &str, found: Option<Uuid>) {
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

/// The parents of the organizations after the changes, by slug.
struct Tree<'a>(BTreeMap<&'a str, Option<&'a str>>);

impl<'a> Tree<'a> {
    fn of(state: &'a State, wanted: impl IntoIterator<Item = &'a ManifestOrganization>) -> Self {
        let parent = |found: &Organization| found.parent_id.and_then(|id| state.slug(id));
        let present = state.organizations.iter().map(|(slug, found)| (slug.as_str(), parent(found)));
        let wanted = wanted.into_iter().map(|wanted| (wanted.slug.as_str(), wanted.parent.as_deref()));
        Self(present.chain(wanted).collect())
    }

    fn parent(&self, slug: &str) -> Option<&'a str> {
        self.0.get(slug).copied().flatten()
    }

    /// The organizations that are below themselves. Each is visited once.
    fn circular(&self) -> HashSet<&'a str> {
        let (mut circular, mut finished) = (HashSet::new(), HashSet::new());
        for start in self.0.keys() {
            let (mut way, mut places) = (Vec::new(), HashMap::new());
            let mut next = Some(*start);
            while let Some(slug) = next.filter(|slug| !finished.contains(slug)) {
                if let Some(first) = places.insert(slug, way.len()) {
                    circular.extend(way.iter().skip(first).copied());
                    break;
                }
                way.push(slug);
                next = self.parent(slug);
            }
            finished.extend(way);
        }
        circular
    }

    /// How many organizations are above each one. There must be no circle. Each is visited once.
    fn depths(&self) -> HashMap<&'a str, usize> {
        let mut depths: HashMap<&'a str, usize> = HashMap::with_capacity(self.0.len());
        for start in self.0.keys() {
            let mut way = Vec::new();
            let mut next = Some(*start);
            while let Some(slug) = next.filter(|slug| !depths.contains_key(slug)) {
                way.push(slug);
                next = self.parent(slug);
            }
            let above = next.and_then(|slug| depths.get(slug)).map_or(0, |depth| depth + 1);
            depths.extend(way.into_iter().rev().enumerate().map(|(number, slug)| (slug, above + number)));
        }
        depths
    }
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

/// The name of a role of a service account, for people.
fn assignment_name(account: &str, assignment: &ManifestAssignment) -> String {
    match &assignment.organization {
        Some(organization) => format!("{account}: {} in {organization}", assignment.role),
        None => format!("{account}: {}", assignment.role),
    }
}

/// The wanted value, if it differs.
fn differing<T: PartialEq>(wanted: Option<T>, current: T) -> Option<T> {
    wanted.filter(|wanted| *wanted != current)
}

/// The fields of a value.
fn map(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}
