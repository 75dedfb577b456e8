use futures_util::future::join_all;
use iam_model::access::{GrantedRights, Rights};
#[cfg(doc)]
use iam_model::error::{Conflict, Forbidden};
use iam_model::error::{Error, Result};
use iam_model::id::DomainId;
use iam_model::identity_provider::{IdentityProvider, Issuer};
use iam_model::permission;
use iam_model::permission::Permission;

use crate::caller::Caller;
use crate::engine::{Engine, LockedRights, UnitOfWork};
use crate::identity_provider::IdentityProviders;
use crate::manifest::document::{Manifest, ManifestSecret};
use crate::manifest::plan::plan;
use crate::manifest::run::{Run, within};
use crate::manifest::state::State;
use crate::manifest::step::PlannedChange;
use crate::trial::{Preview, Trial};

/// Makes a tenant what a manifest says, and writes its manifest; see [`Iam::manifests`](crate::iam::Iam::manifests).
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::manifest::{Manifest, ManifestRole};
///
/// let role = ManifestRole { name: "CLERK".into(), permissions: vec!["users:read".into()], ..ManifestRole::default() };
/// let manifest = Manifest { roles: vec![role], ..Manifest::default() };
/// let previewed = iam.manifests().preview(&ada, &manifest, false).await?;
/// assert!(previewed.preview.refusal.is_none() && previewed.changes.len() == 1);
///
/// assert_eq!(iam.manifests().apply(&ada, &manifest, false).await?.len(), 1);
/// assert!(iam.manifests().apply(&ada, &manifest, false).await?.is_empty(), "nothing is left to do");
/// assert_eq!(iam.manifests().export(&ada).await?.roles, manifest.roles);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Manifests<'a>(pub(crate) &'a Engine);

/// What a manifest would change, and what that would do to the rights of users.
#[derive(Debug)]
#[non_exhaustive]
pub struct ManifestPreview {
    /// The changes, in their order. There are none if the caller may not ask an identity provider of the manifest.
    pub changes: Vec<PlannedChange>,
    /// The rights that users would gain or lose, or the rule that would refuse a change.
    pub preview: Preview,
}

impl Manifests<'_> {
    /// Makes the caller's tenant what a manifest says, by all changes or by none. Returns the changes; an empty list if
    /// the tenant was so already. With `prune`, what manifests have made and this one does not name is removed.
    ///
    /// Needs `tenants:read`, the permission to read each kind of items that the manifest names (with `prune`, of all
    /// kinds), and everything that the changes need when they are made one by one: their permissions, and the rights
    /// that they give. One manifest of the tenant is applied or previewed at a time in this process, and the others wait
    /// for up to five seconds.
    ///
    /// Identity providers that are new, or get another issuer, are asked for their discovery documents first, as by
    /// [`IdentityProviders::create`]. A secret that is the present one changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names the fields of the manifest that are invalid, at most 100, or `$` if it has too
    /// many items or changes; [`Error::Forbidden`], [`Error::FederationOff`], [`Error::Overloaded`]; the errors of the
    /// changes, in an [`Error::About`] that names the field, for instance `roles[3]` with [`Forbidden::Escalation`], or
    /// [`Conflict::TooManyRevocations`] if they end too many role assignments together.
    pub async fn apply(&self, caller: &Caller, manifest: &Manifest, prune: bool) -> Result<Vec<PlannedChange>> {
        let (changes, outcome) = self.run(caller, manifest, prune).await?;
        outcome?;
        Ok(changes)
    }

    /// Returns what [`apply`](Self::apply) would do. All changes are made in a unit of work that is rolled back, so that
    /// each is decided after those before it. It counts as one of the two previews of the tenant before it waits for
    /// anything.
    ///
    /// # Errors
    ///
    /// Those of [`apply`](Self::apply), unless a rule would refuse a change, and
    /// [`Conflict::PreviewsRunning`].
    pub async fn preview(&self, caller: &Caller, manifest: &Manifest, prune: bool) -> Result<ManifestPreview> {
        require(self.0.rights(caller), &needed(manifest, prune))?;
        let permit = self.0.computing.admit_preview(caller.tenant())?;
        let trial = Trial(self.0.on_trial());
        let (changes, outcome) = Manifests(&trial.0).run(caller, manifest, prune).await?;
        let preview = trial.preview_by(caller, outcome, Some(permit)).await?;
        Ok(ManifestPreview { changes, preview })
    }

    /// Returns the manifest of the caller's tenant: it names all settings, the permissions and roles that are not built
    /// in, the organizations and service accounts that are not INACTIVE with the roles that these hold by hand, the
    /// webhooks, the identity providers without their secrets, and the directories. Needs `tenants:read`,
    /// `permissions:read`, `roles:read`, `organizations:read`, `users:read`, `role-assignments:read`, `webhooks:read`,
    /// `directories:read`, `identity-providers:read` and `domains:read`.
    ///
    /// To apply it changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Conflict::ServiceAccountsNamedAlike`], [`Conflict::WebhooksAlike`],
    /// [`Conflict::TooManyManifestItems`].
    pub async fn export(&self, caller: &Caller) -> Result<Manifest> {
        require(self.0.rights(caller), &ALL)?;
        let domains = self.domains(caller).await?;
        let _turn = self.0.long_read(caller).await?;
        let mut work = self.0.begin(caller).await?;
        let grantor = work.lock_rights().await?;
        require(grantor.rights(), &ALL)?;
        State::read(&mut work, domains).await?.manifest()
    }

    /// Makes the changes, or tries them out. If a change is refused, the error comes with all changes.
    async fn run(&self, caller: &Caller, manifest: &Manifest, prune: bool) -> Result<(Vec<PlannedChange>, Result<()>)> {
        let needed = needed(manifest, prune);
        require(self.0.rights(caller), &needed)?;
        // Not the turn of a long read: other reads of the tenant must not wait for a provider.
        let _manifest_turn = self.0.manifests.acquire(caller.tenant()).await?;
        // A unit of work must not wait for a provider, nor for a second connection while it holds one.
        if let Err(error) = self.discover(caller, manifest).await {
            return Ok((Vec::new(), Err(error)));
        }
        let domains =
            if needed.contains(&&permission::DOMAINS_READ) { self.domains(caller).await? } else { Vec::new() };
        let log_size = match manifest.webhooks.as_slice() {
            [] => 0,
            _ => self.0.log_head(caller.tenant()).await?.frontier.size(),
        };
        // A unit of work on trial has a turn of its own.
        let _turn = if self.0.trial.is_none() { Some(self.0.long_read(caller).await?) } else { None };
        let mut work = self.0.begin(caller).await?;
        work.write_on_trial();
        let grantor = work.lock_rights().await?;
        require(grantor.rights(), &needed)?;
        let mut state = State::read(&mut work, domains).await?;
        self.read_secrets(&mut work, &grantor, manifest, &mut state).await?;
        let mut plan = plan(&state, manifest, prune)?;
        let outcome = Run::new(self.0, grantor, &state, log_size).execute(&mut work, &mut plan).await;
        let outcome = match outcome {
            Ok(()) => work.commit().await,
            Err(error) => Err(error),
        };
        Ok((plan.steps.into_iter().map(|step| step.change).collect(), outcome))
    }

    /// Asks the providers that the manifest makes, or that get another issuer, as the service for providers does.
    ///
    /// A provider that changes between this and the unit of work had an issuer that was asked then.
    async fn discover(&self, caller: &Caller, manifest: &Manifest) -> Result<()> {
        let wanted = &manifest.identity_providers;
        if wanted.len() > IdentityProvider::MAX {
            let message = format!("must have at most {} items", IdentityProvider::MAX);
            return Err(Error::field("identityProviders", message));
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let known = self.0.store.identity_providers(caller.tenant()).await?;
        let mut to_ask = Vec::with_capacity(wanted.len());
        for (number, wanted) in wanted.iter().enumerate() {
            // The plan refuses one that is invalid.
            let Ok(issuer) = wanted.issuer.parse::<Issuer>() else { continue };
            let permission = match known.iter().find(|known| known.slug.as_str() == wanted.slug) {
                None => permission::IDENTITY_PROVIDERS_CREATE,
                Some(known) if known.issuer != issuer => permission::IDENTITY_PROVIDERS_UPDATE,
                Some(_) => continue,
            };
            let at = format!("identityProviders[{number}]");
            let allowed = IdentityProviders(self.0).require_everything(caller, &permission).await;
            allowed.map_err(|error| within(error, &at))?;
            to_ask.push((at, issuer));
        }
        let answers = join_all(to_ask.iter().map(|(at, issuer)| self.ask(at, issuer))).await;
        let mut refused = Vec::new();
        for answer in answers {
            match answer {
                Err(Error::Validation(errors)) => refused.extend(errors),
                other => other?,
            }
        }
        if refused.is_empty() { Ok(()) } else { Err(Error::Validation(refused)) }
    }

    async fn ask(&self, at: &str, issuer: &Issuer) -> Result<()> {
        self.0.discover(issuer).await.map(drop).map_err(|error| within(error, at))
    }

    async fn domains(&self, caller: &Caller) -> Result<Vec<(DomainId, String)>> {
        let domains = self.0.store.domains(caller.tenant()).await?;
        Ok(domains.into_iter().map(|domain| (domain.id, domain.name.to_string())).collect())
    }

    /// Reads the present secrets at the providers for which the manifest gives one. A caller that may not change them,
    /// as by an API key or in a session that has authenticated too long ago, must not learn whether it has guessed one:
    /// for it every secret is another one, and the change is refused.
    async fn read_secrets(
        &self,
        work: &mut UnitOfWork<'_>,
        grantor: &LockedRights,
        manifest: &Manifest,
        state: &mut State,
    ) -> Result<()> {
        let given = manifest.identity_providers.iter().filter(|wanted| wanted.client_secret.is_some());
        let given: Vec<_> = given.collect();
        if given.is_empty() || grantor.standing().rights().check_escalation([GrantedRights::everything()]).is_err() {
            return Ok(());
        }
        match work.require_fresh().await {
            Ok(()) => {}
            Err(Error::Forbidden(_) | Error::Unauthenticated(_)) => return Ok(()),
            Err(error) => return Err(error),
        }
        for wanted in given {
            let Some(found) = state.providers.get(&wanted.slug) else { continue };
            if let Some(secret) = self.0.identity_provider_secret(found)? {
                state.secrets.insert(found.id, ManifestSecret(secret));
            }
        }
        Ok(())
    }
}

/// What an export reads.
const ALL: [&Permission; 10] = [
    &permission::TENANTS_READ,
    &permission::PERMISSIONS_READ,
    &permission::ROLES_READ,
    &permission::ORGANIZATIONS_READ,
    &permission::USERS_READ,
    &permission::ROLE_ASSIGNMENTS_READ,
    &permission::WEBHOOKS_READ,
    &permission::DIRECTORIES_READ,
    &permission::IDENTITY_PROVIDERS_READ,
    &permission::DOMAINS_READ,
];

/// The permissions to read what a manifest is compared with.
fn needed(manifest: &Manifest, prune: bool) -> Vec<&'static Permission> {
    let Manifest { permissions, roles, organizations, service_accounts, webhooks, .. } = manifest;
    let (has_accounts, has_directories) = (!service_accounts.is_empty(), !manifest.directories.is_empty());
    let has_providers = !manifest.identity_providers.is_empty();
    let is_needed = [
        true,
        !permissions.is_empty(),
        !roles.is_empty() || has_accounts || has_providers,
        !organizations.is_empty() || has_accounts || has_providers,
        has_accounts || has_directories,
        has_accounts,
        !webhooks.is_empty(),
        has_directories,
        has_directories || has_providers,
        has_providers,
    ];
    let all = ALL.into_iter().zip(is_needed);
    all.filter(|(_, is_needed)| *is_needed || prune).map(|(permission, _)| permission).collect()
}

fn require(rights: Rights<'_>, permissions: &[&Permission]) -> Result<()> {
    permissions.iter().try_for_each(|permission| rights.require(permission))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use iam_model::error::Conflict;
    use iam_store_memory::MemoryStore;

    use super::*;
    use crate::hashing::HashingCost;
    use crate::iam::Iam;
    use crate::manifest::ManifestIdentityProvider;
    use crate::settings::Settings;

    /// A service that reaches no provider, a caller, and a manifest with a provider that would be asked.
    async fn asking() -> (Iam, Caller, Manifest) {
        let hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
        let settings = Settings { hashing_cost, ..Settings::default() };
        let iam = Iam::builder(Arc::new(MemoryStore::new())).settings(settings).build().await.unwrap();
        let caller = Caller::system(iam.0.next_id(), "test");
        let provider = ManifestIdentityProvider {
            slug: "entra".to_owned(),
            issuer: "https://login.example.com".to_owned(),
            ..ManifestIdentityProvider::default()
        };
        (iam, caller, Manifest { identity_providers: vec![provider], ..Manifest::default() })
    }

    #[tokio::test]
    async fn a_third_preview_of_a_tenant_asks_and_waits_for_nothing() {
        let (iam, caller, manifest) = asking().await;
        let admit = || iam.0.computing.admit_preview(caller.tenant()).unwrap();
        let running = [admit(), admit()];
        let refused = iam.manifests().preview(&caller, &manifest, false).await;
        assert!(matches!(refused, Err(Error::Conflict(Conflict::PreviewsRunning))), "{refused:?}");
        drop(running);
        let asked = iam.manifests().preview(&caller, &manifest, false).await;
        assert!(matches!(asked, Err(Error::FederationOff)), "{asked:?}");
        // One that failed has given its place back.
        drop([admit(), admit()]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_manifest_of_a_tenant_waits_for_another_one_before_it_asks() {
        let (iam, caller, manifest) = asking().await;
        let running = iam.0.manifests.acquire(caller.tenant()).await.unwrap();
        let refused = iam.manifests().apply(&caller, &manifest, false).await;
        assert!(matches!(refused, Err(Error::Overloaded { .. })), "{refused:?}");
        let refused = iam.manifests().preview(&caller, &manifest, false).await;
        assert!(matches!(refused, Err(Error::Overloaded { .. })), "{refused:?}");
        drop(running);
        let asked = iam.manifests().apply(&caller, &manifest, false).await;
        assert!(matches!(asked, Err(Error::FederationOff)), "{asked:?}");
    }
}
