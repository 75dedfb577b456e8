//! What a tenant has of the things that manifests name, as read under the tenant's lock.

use std::collections::{BTreeMap, HashMap, HashSet};

use iam_model::assignment::{Grant, by_user};
use iam_model::audit::ResourceType;
use iam_model::clock::Timestamp;
use iam_model::directory::Directory;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::{DomainId, IdentityProviderId, OrganizationId, RoleId, UserId};
use iam_model::identity_provider::{IdentityProvider, Scope};
use iam_model::organization::{Organization, OrganizationStatus};
use iam_model::permission::RegisteredPermission;
use iam_model::role::{PlacedRole, Role};
use iam_model::store::GrantQuery;
use iam_model::tenant::Tenant;
use iam_model::user::{User, UserStatus};
use iam_model::webhook::Webhook;
use uuid::Uuid;

use crate::engine::UnitOfWork;
use crate::manifest::document::{
    MAX_ITEMS, Manifest, ManifestAssignment, ManifestDirectory, ManifestIdentityProvider, ManifestOrganization,
    ManifestPermission, ManifestProvidedRole, ManifestRole, ManifestSecret, ManifestServiceAccount, ManifestSettings,
    ManifestWebhook,
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
    /// By slug.
    pub(super) providers: BTreeMap<String, IdentityProvider>,
    /// By name.
    pub(super) domains: HashMap<String, DomainId>,
    /// The secrets at the identity providers, as far as they are compared with those of a manifest.
    pub(super) secrets: HashMap<IdentityProviderId, ManifestSecret>,
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
    pub(super) providers: Vec<IdentityProvider>,
    /// The domains, with their names.
    pub(super) domains: Vec<(DomainId, String)>,
    pub(super) made: Vec<Uuid>,
}

impl State {
    /// Reads the state except for the domains. To be called under the tenant's lock.
    pub(super) async fn read(work: &mut UnitOfWork<'_>, domains: Vec<(DomainId, String)>) -> Result<Self> {
        let now = work.now();
        let tenant = work.reads().lock_tenant().await?.ok_or(Error::NotFound(ResourceType::TENANT))?;
        let accounts = work.reads().all_service_accounts().await?;
        let mut grants = Vec::new();
        let ids: Vec<UserId> = accounts.iter().map(|account| account.id).collect();
        for ids in ids.chunks(READ_AT_ONCE) {
            grants.extend(work.reads().grants(GrantQuery::OfUsers(ids)).await?);
        }
        let rows = Rows {
            tenant,
            permissions: work.reads().all_permissions().await?,
            roles: work.reads().all_roles().await?,
            organizations: work.reads().all_organizations().await?,
            accounts,
            grants,
            webhooks: work.reads().all_webhooks().await?,
            directories: work.reads().directories().await?,
            providers: work.reads().identity_providers().await?,
            domains,
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
            domains,
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
            providers: providers.into_iter().map(|found| (found.slug.to_string(), found)).collect(),
            domains: domains.into_iter().map(|(id, name)| (name, id)).collect(),
            secrets: HashMap::new(),
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
            user_attributes: Some(tenant.user_attributes.clone().into()),
            organization_attributes: Some(tenant.organization_attributes.clone().into()),
            unregistered_attributes: Some(tenant.unregistered_attributes),
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

    /// An identity provider as a manifest names it, without its secret. Domains, roles and organizations that are gone
    /// are left out.
    pub(super) fn provider(&self, found: &IdentityProvider) -> ManifestIdentityProvider {
        let names: HashMap<DomainId, &String> = self.domains.iter().map(|(name, id)| (*id, name)).collect();
        let named = found.domain_ids.iter().filter_map(|id| names.get(id));
        let mut domains: Vec<String> = named.map(|name| (*name).clone()).collect();
        domains.sort_unstable();
        let names: HashMap<RoleId, &String> = self.roles.iter().map(|(name, role)| (role.id, name)).collect();
        let place = |placed: &PlacedRole| {
            let organization = match placed.organization_id {
                Some(id) => Some(self.slug(id)?.to_owned()),
                None => None,
            };
            Some(ManifestProvidedRole { role: (*names.get(&placed.role_id)?).clone(), organization })
        };
        let mut roles: Vec<ManifestProvidedRole> = found.roles.iter().filter_map(place).collect();
        roles.sort_unstable();
        ManifestIdentityProvider {
            slug: found.slug.to_string(),
            name: found.name.to_string(),
            issuer: found.issuer.as_str().to_owned(),
            client_id: found.client_id.as_str().to_owned(),
            client_secret: None,
            scopes: found.scopes.iter().map(Scope::as_str).map(str::to_owned).collect(),
            domains,
            trusts_email: found.trusts_email,
            subject_claim: found.subject_claim,
            provisioning: found.provisioning,
            roles,
            factor_is_trusted: found.factor_is_trusted,
            enabled: Some(found.enabled).filter(|enabled| !enabled),
        }
    }

    /// A directory as a manifest names it, with the name of its service account.
    pub(super) fn directory(&self, account: &str, found: &Directory) -> ManifestDirectory {
        let provider = self.providers.values().find(|provider| found.identity_provider_id == Some(provider.id));
        ManifestDirectory {
            service_account: account.to_owned(),
            name: found.name.to_string(),
            identity_provider: provider.map(|provider| provider.slug.to_string()),
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
            identity_providers: self.providers.values().map(|found| self.provider(found)).collect(),
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
