//! What a tenant has of the things that manifests name, as read under the tenant's lock.

use std::collections::{BTreeMap, HashMap, HashSet};

use iam_model::assignment::{Grant, by_user};
use iam_model::audit::ResourceType;
use iam_model::clock::Timestamp;
use iam_model::directory::Directory;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::{IdentityProviderId, OrganizationId, UserId};
use iam_model::organization::{Organization, OrganizationStatus};
use iam_model::permission::RegisteredPermission;
use iam_model::role::Role;
use iam_model::store::GrantQuery;
use iam_model::tenant::Tenant;
use iam_model::user::{User, UserStatus};
use iam_model::webhook::Webhook;
use uuid::Uuid;

use crate::engine::UnitOfWork;
use crate::manifest::document::{
    MAX_ITEMS, Manifest, ManifestAssignment, ManifestDirectory, ManifestOrganization, ManifestPermission, ManifestRole,
    ManifestServiceAccount, ManifestSettings, ManifestWebhook,
};

/// How many service accounts one query reads the assignments of.
const READ_AT_ONCE: usize = 500;

/// The present state of a tenant.
#[derive(Debug)]
pub(super) struct State {
    pub(super) tenant: Tenant,
    /// By name, with the built-in ones.
    pub(super) permissions: BTreeMap<String, RegisteredPermission>,
    /// By name, with the built-in ones.
    pub(super) roles: BTreeMap<String, Role>,
    /// Those that are not INACTIVE, by slug.
    pub(super) organizations: BTreeMap<String, Organization>,
    slugs: HashMap<OrganizationId, String>,
    /// Those that are not INACTIVE, by name. Several may have one name.
    pub(super) accounts: BTreeMap<String, Vec<User>>,
    /// The assignments of these accounts that have not expired.
    grants: HashMap<UserId, Vec<Grant>>,
    /// By address. Several may have one address.
    pub(super) webhooks: BTreeMap<String, Vec<Webhook>>,
    /// By service account.
    pub(super) directories: HashMap<UserId, Directory>,
    /// The identity providers, by slug.
    pub(super) providers: HashMap<String, IdentityProviderId>,
    /// What manifests have made.
    pub(super) made: HashSet<Uuid>,
    pub(super) now: Timestamp,
}

/// The rows of which a [`State`] is made.
pub(super) struct Rows {
    pub(super) tenant: Tenant,
    pub(super) permissions: Vec<RegisteredPermission>,
    pub(super) roles: Vec<Role>,
    pub(super) organizations: Vec<Organization>,
    pub(super) accounts: Vec<User>,
    pub(super) grants: Vec<Grant>,
    pub(super) webhooks: Vec<Webhook>,
    pub(super) directories: Vec<Directory>,
    /// The identity providers, with their slugs.
    pub(super) providers: Vec<(IdentityProviderId, String)>,
    pub(super) made: Vec<Uuid>,
}

impl State {
    /// Reads the state. To be called under the tenant's lock.
    pub(super) async fn read(work: &mut UnitOfWork<'_>) -> Result<Self> {
        let now = work.now();
        let tenant = work.reads().lock_tenant().await?.ok_or(Error::NotFound(ResourceType::TENANT))?;
        let accounts = work.reads().all_service_accounts().await?;
        let mut grants = Vec::new();
        let ids: Vec<UserId> = accounts.iter().map(|account| account.id).collect();
        for ids in ids.chunks(READ_AT_ONCE) {
            grants.extend(work.reads().grants(GrantQuery::OfUsers(ids)).await?);
        }
        let providers = work.reads().identity_providers().await?;
        let rows = Rows {
            tenant,
            permissions: work.reads().all_permissions().await?,
            roles: work.reads().all_roles().await?,
            organizations: work.reads().all_organizations().await?,
            accounts,
            grants,
            webhooks: work.reads().all_webhooks().await?,
            directories: work.reads().directories().await?,
            providers: providers.into_iter().map(|found| (found.id, found.slug.to_string())).collect(),
            made: work.reads().manifest_items().await?,
        };
        Ok(Self::new(rows, now))
    }

    pub(super) fn new(rows: Rows, now: Timestamp) -> Self {
        let Rows {
            tenant,
            permissions,
            roles,
            organizations,
            accounts,
            mut grants,
            webhooks,
            directories,
            providers,
            made,
        } = rows;
        let slugs = organizations.iter().map(|found| (found.id, found.slug.to_string())).collect();
        let mut by_name: BTreeMap<String, Vec<User>> = BTreeMap::new();
        for account in accounts {
            by_name.entry(account.first_name.to_string()).or_default().push(account);
        }
        let mut by_address: BTreeMap<String, Vec<Webhook>> = BTreeMap::new();
        for webhook in webhooks {
            by_address.entry(webhook.url.to_string()).or_default().push(webhook);
        }
        grants.retain(|grant| grant.assignment.is_live(now));
        grants.sort_by_cached_key(|grant| (grant.role.name.to_string(), grant.assignment.id));
        Self {
            tenant,
            permissions: permissions.into_iter().map(|found| (found.name.to_string(), found)).collect(),
            roles: roles.into_iter().map(|found| (found.name.to_string(), found)).collect(),
            organizations: organizations.into_iter().map(|found| (found.slug.to_string(), found)).collect(),
            slugs,
            accounts: by_name,
            grants: by_user(grants),
            webhooks: by_address,
            directories: directories.into_iter().map(|found| (found.service_account_id, found)).collect(),
            providers: providers.into_iter().map(|(id, slug)| (slug, id)).collect(),
            made: made.into_iter().collect(),
            now,
        }
    }

    /// The assignments of a service account that have not expired.
    pub(super) fn grants_of(&self, account: UserId) -> &[Grant] {
        self.grants.get(&account).map_or(&[], Vec::as_slice)
    }

    /// The slug of an organization that is not INACTIVE.
    pub(super) fn slug(&self, id: OrganizationId) -> Option<&str> {
        self.slugs.get(&id).map(String::as_str)
    }

    /// The slug of the organization of an assignment.
    pub(super) fn place(&self, grant: &Grant) -> Option<&str> {
        grant.assignment.organization_id.and_then(|id| self.slug(id))
    }

    /// All settings that a manifest can name.
    pub(super) fn settings(&self) -> ManifestSettings {
        let tenant = &self.tenant;
        ManifestSettings {
            name: Some(tenant.name.to_string()),
            password_policy: Some(tenant.password_policy),
            second_factor: Some(tenant.second_factor),
            second_factor_grace_days: Some(tenant.second_factor_grace_days.into()),
            password_login: Some(tenant.password_login),
            email_login: Some(tenant.email_login),
            authzen_identifiers: Some(tenant.authzen_identifiers),
        }
    }

    /// An organization as a manifest names it. Without a status, it is ACTIVE.
    pub(super) fn organization(&self, found: &Organization) -> ManifestOrganization {
        ManifestOrganization {
            slug: found.slug.to_string(),
            name: found.name.to_string(),
            parent: found.parent_id.and_then(|parent| self.slug(parent)).map(str::to_owned),
            status: Some(found.status).filter(|status| *status != OrganizationStatus::Active),
        }
    }

    /// A service account as a manifest names it, without its roles. Without a status, it is ACTIVE.
    pub(super) fn account(&self, found: &User) -> ManifestServiceAccount {
        ManifestServiceAccount {
            name: found.first_name.to_string(),
            home: found.home_organization_id.and_then(|home| self.slug(home)).map(str::to_owned),
            status: Some(found.status).filter(|status| *status != UserStatus::Active),
            assignments: Vec::new(),
        }
    }

    /// An assignment as a manifest names it.
    pub(super) fn assignment(&self, grant: &Grant) -> ManifestAssignment {
        ManifestAssignment {
            role: grant.role.name.to_string(),
            organization: self.place(grant).map(str::to_owned),
            expires_at: grant.assignment.expires_at,
        }
    }

    /// A directory as a manifest names it, with the name of its service account.
    pub(super) fn directory(&self, account: &str, found: &Directory) -> ManifestDirectory {
        let provider = self.providers.iter().find(|(_, id)| found.identity_provider_id == Some(**id));
        ManifestDirectory {
            service_account: account.to_owned(),
            name: found.name.to_string(),
            identity_provider: provider.map(|(slug, _)| slug.clone()),
            adopt: found.adopt,
        }
    }

    /// The directories whose service accounts are not INACTIVE, with the names of these, in their order.
    pub(super) fn named_directories(&self) -> impl Iterator<Item = (&str, &Directory)> {
        let accounts = self.accounts.iter().flat_map(|(name, accounts)| accounts.iter().map(move |one| (name, one)));
        accounts.filter_map(move |(name, account)| Some((name.as_str(), self.directories.get(&account.id)?)))
    }

    /// Returns the manifest that names everything that the tenant has.
    pub(super) fn manifest(&self) -> Result<Manifest> {
        let mut service_accounts = Vec::with_capacity(self.accounts.len());
        for (name, accounts) in &self.accounts {
            let [account] = accounts.as_slice() else {
                return Err(Conflict::ServiceAccountsNamedAlike(name.clone()).into());
            };
            let by_hand = self.grants_of(account.id).iter().filter(|grant| is_by_hand(grant));
            let mut assignments: Vec<ManifestAssignment> = by_hand.map(|grant| self.assignment(grant)).collect();
            assignments.sort_by(|one, other| (&one.role, &one.organization).cmp(&(&other.role, &other.organization)));
            service_accounts.push(ManifestServiceAccount { assignments, ..self.account(account) });
        }
        let mut webhooks = Vec::with_capacity(self.webhooks.len());
        for (address, found) in &self.webhooks {
            let [one] = found.as_slice() else { return Err(Conflict::WebhooksAlike(address.clone()).into()) };
            webhooks.push(webhook(one));
        }
        let manifest = Manifest {
            settings: self.settings(),
            permissions: self.permissions.values().filter(|found| !found.system).map(permission).collect(),
            roles: self.roles.values().filter(|found| !found.system).map(role).collect(),
            organizations: self.organizations.values().map(|found| self.organization(found)).collect(),
            service_accounts,
            webhooks,
            directories: self.named_directories().map(|(account, found)| self.directory(account, found)).collect(),
        };
        if manifest.items() > MAX_ITEMS {
            return Err(Conflict::TooManyManifestItems(MAX_ITEMS).into());
        }
        Ok(manifest)
    }
}

/// A permission as a manifest names it.
pub(super) fn permission(found: &RegisteredPermission) -> ManifestPermission {
    ManifestPermission { name: found.name.to_string(), description: found.description.to_string() }
}

/// A webhook as a manifest names it.
pub(super) fn webhook(found: &Webhook) -> ManifestWebhook {
    ManifestWebhook {
        url: found.url.to_string(),
        types: found.types.iter().map(ToString::to_string).collect(),
        format: found.format,
        description: found.description.to_string(),
        enabled: Some(found.enabled).filter(|enabled| !enabled),
    }
}

/// A role as a manifest names it.
pub(super) fn role(found: &Role) -> ManifestRole {
    ManifestRole {
        name: found.name.to_string(),
        description: found.description.to_string(),
        scope: found.scope,
        permissions: found.permissions.iter().map(ToString::to_string).collect(),
    }
}

/// Whether an assignment stands by itself, and no group of a directory gives it.
pub(super) fn is_by_hand(grant: &Grant) -> bool {
    grant.assignment.directory_group_id.is_none() && grant.assignment.is_standing()
}
