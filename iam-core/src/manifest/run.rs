//! Makes the changes of a plan in one unit of work, by the services of the items.

use std::collections::HashMap;
use std::mem;

use iam_model::assignment::MAX_BULK;
use iam_model::change::ManifestChange;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::{IdentityProviderId, OrganizationId, RoleId, UserId};
use iam_model::organization::OrganizationStatus;
use iam_model::role::PlacedRole;
use iam_model::store::GrantQuery;
use iam_model::user::UserStatus;
use iam_model::validate::FieldError;
use iam_model::version::Precondition;
use uuid::Uuid;

use crate::assignment::{AssignmentPatch, Assignments, NewAssignment};
use crate::directory::{DeletedUsers, Directories, DirectoryPatch, NewDirectory};
use crate::engine::{Engine, LockedRights, UnitOfWork};
use crate::identity_provider::{IdentityProviderPatch, IdentityProviders, NewIdentityProvider};
use crate::manifest::document::ManifestProvidedRole;
use crate::manifest::state::State;
use crate::manifest::step::{Operation, Plan, Step};
use crate::organization::{NewOrganization, OrganizationPatch, Organizations};
use crate::permission::Permissions;
use crate::role::Roles;
use crate::tenant::Tenants;
use crate::user::{NewServiceAccount, Users};
use crate::webhook::Webhooks;

/// Makes the changes of a plan.
pub(super) struct Run<'a> {
    iam: &'a Engine,
    grantor: LockedRights,
    /// The identifiers of what the tenant has, and of what the run has made, by name.
    roles: HashMap<String, RoleId>,
    organizations: HashMap<String, OrganizationId>,
    accounts: HashMap<String, UserId>,
    providers: HashMap<String, IdentityProviderId>,
    /// New webhooks send the events from after this number on.
    log_size: u64,
    made: Vec<Uuid>,
    gone: Vec<Uuid>,
}

impl<'a> Run<'a> {
    pub(super) fn new(iam: &'a Engine, grantor: LockedRights, state: &State, log_size: u64) -> Self {
        // The plan refuses a name of several accounts.
        let accounts = state.accounts.iter().filter_map(|(name, found)| Some((name.clone(), found.first()?.id)));
        Self {
            iam,
            grantor,
            roles: state.roles.iter().map(|(name, found)| (name.clone(), found.id)).collect(),
            organizations: state.organizations.iter().map(|(slug, found)| (slug.clone(), found.id)).collect(),
            accounts: accounts.collect(),
            providers: state.providers.iter().map(|(slug, found)| (slug.clone(), found.id)).collect(),
            log_size,
            made: Vec::new(),
            gone: Vec::new(),
        }
    }

    /// Makes the changes, and records what was made and what is gone. What is made gets its identifier in the plan.
    ///
    /// # Errors
    ///
    /// Those of the services. They name the field of the manifest.
    pub(super) async fn execute(mut self, work: &mut UnitOfWork<'_>, plan: &mut Plan) -> Result<()> {
        self.gone.clone_from(&plan.gone);
        let mut assigned = Vec::new();
        for step in &mut plan.steps {
            if matches!(step.operation, Operation::Assign { .. }) {
                assigned.push(step);
                if assigned.len() == MAX_BULK {
                    self.assign(work, mem::take(&mut assigned)).await?;
                }
                continue;
            }
            self.assign(work, mem::take(&mut assigned)).await?;
            self.change(work, step).await.map_err(|error| within(error, &step.at))?;
            self.check_revocations(work, 0).map_err(|error| within(error, &step.at))?;
        }
        self.assign(work, assigned).await?;
        let Self { made, gone, .. } = self;
        if !(made.is_empty() && gone.is_empty()) {
            work.apply(ManifestChange::Apply { made, gone }).await?;
        }
        Ok(())
    }

    async fn change(&mut self, work: &mut UnitOfWork<'_>, step: &mut Step) -> Result<()> {
        let Step { change, operation, .. } = step;
        match operation {
            Operation::Settings(patch) => {
                Tenants(self.iam).update_in(work, &self.grantor, patch).await?;
            }
            Operation::CreatePermission(new) => {
                let made = Permissions(self.iam).create_in(work, &self.grantor, new.clone()).await?;
                change.id = self.record(made.id);
            }
            Operation::CreateRole(new) => {
                let made = Roles(self.iam).create_in(work, &self.grantor, new.clone()).await?;
                self.roles.insert(made.name.to_string(), made.id);
                change.id = self.record(made.id);
            }
            Operation::UpdateRole(id, patch) => {
                Roles(self.iam).update_in(work, &self.grantor, *id, patch).await?;
            }
            Operation::CreateOrganization { slug, name, parent, is_suspended } => {
                let parent = self.organization(parent.as_deref())?;
                let new = NewOrganization { name: name.clone(), slug: Some(slug.clone()), parent };
                let id = Organizations(self.iam).create_in(work, &self.grantor, &new).await?.organization.id;
                self.organizations.insert(slug.clone(), id);
                change.id = self.record(id);
                if *is_suspended {
                    let status = Some(OrganizationStatus::Suspended);
                    let patch = OrganizationPatch { status, ..OrganizationPatch::default() };
                    Organizations(self.iam).update_in(work, &self.grantor, id, &patch).await?;
                }
            }
            Operation::UpdateOrganization { id, patch, parent } => {
                let parent = match parent {
                    Some(parent) => Some(self.organization(parent.as_deref())?),
                    None => None,
                };
                let patch = OrganizationPatch { parent, ..patch.clone() };
                Organizations(self.iam).update_in(work, &self.grantor, *id, &patch).await?;
            }
            Operation::CreateAccount { name, home, is_suspended } => {
                let home = self.organization(home.as_deref())?;
                let new = NewServiceAccount { name: name.clone() };
                let id = Users(self.iam).create_service_account_in(work, &self.grantor, &new, home).await?.id;
                self.accounts.insert(name.clone(), id);
                change.id = self.record(id);
                if *is_suspended {
                    let changed = (None, Some(UserStatus::Suspended));
                    Users(self.iam).update_service_account_in(work, id, changed).await?;
                }
            }
            Operation::UpdateAccount { id, home, status } => {
                let home = match home {
                    Some(home) => Some(self.organization(home.as_deref())?),
                    None => None,
                };
                Users(self.iam).update_service_account_in(work, *id, (home, *status)).await?;
            }
            // Given together; see `assign`.
            Operation::Assign { .. } => {}
            Operation::SetExpiry(id, expires_at) => {
                let patch = AssignmentPatch { expires_at: Some(*expires_at) };
                Assignments(self.iam).update_in(work, &self.grantor, *id, patch).await?;
            }
            Operation::Revoke(id) => {
                Assignments(self.iam).delete_in(work, &self.grantor, *id).await?;
                self.gone.push((*id).into());
            }
            Operation::CreateWebhook(new) => {
                let made = Webhooks(self.iam).create_in(work, new.clone(), self.log_size).await?;
                change.id = self.record(made.id);
            }
            Operation::UpdateWebhook(id, patch) => {
                Webhooks(self.iam).update_in(work, *id, patch.clone()).await?;
            }
            Operation::RemoveWebhook(id) => {
                Webhooks(self.iam).delete_in(work, *id, &Precondition::Exists).await?;
                self.gone.push((*id).into());
            }
            Operation::CreateProvider { new, roles } => {
                let new = NewIdentityProvider { roles: self.placed(roles)?, ..(**new).clone() };
                let made = IdentityProviders(self.iam).create_in(work, &self.grantor, new).await?;
                self.providers.insert(made.slug.to_string(), made.id);
                change.id = self.record(made.id);
            }
            Operation::UpdateProvider { id, patch, roles } => {
                let roles = match roles {
                    Some(roles) => Some(self.placed(roles)?),
                    None => None,
                };
                let patch = IdentityProviderPatch { roles, ..(**patch).clone() };
                IdentityProviders(self.iam).update_in(work, &self.grantor, *id, patch).await?;
            }
            Operation::RemoveProvider(id) => {
                IdentityProviders(self.iam).delete_in(work, &self.grantor, *id, &Precondition::Exists).await?;
                self.gone.push((*id).into());
            }
            Operation::CreateDirectory { account, name, provider, adopt } => {
                let (name, service_account) = (name.clone(), known(&self.accounts, account)?);
                let identity_provider = self.provider(provider.as_deref())?;
                let new = NewDirectory { name, service_account, identity_provider, adopt: *adopt };
                let made = Directories(self.iam).create_in(work, &new).await?;
                change.id = self.record(made.id);
            }
            Operation::UpdateDirectory { id, patch, provider } => {
                let identity_provider = match provider {
                    Some(provider) => Some(self.provider(provider.as_deref())?),
                    None => None,
                };
                let patch = DirectoryPatch { identity_provider, ..patch.clone() };
                Directories(self.iam).update_in(work, *id, &patch).await?;
            }
            Operation::RemoveDirectory(id) => {
                Directories(self.iam).delete_in(work, *id, DeletedUsers::Keep, &Precondition::Exists).await?;
                self.gone.push((*id).into());
            }
            Operation::RemoveAccount(id) => {
                Users(self.iam).delete_in(work, *id, &Precondition::Exists).await?;
                self.gone.push((*id).into());
            }
            Operation::RemoveOrganization(id) => {
                let held = work.reads().grants(GrantQuery::In(*id)).await?;
                self.check_revocations(work, held.len())?;
                Organizations(self.iam).delete_in(work, &self.grantor, *id, &Precondition::Exists).await?;
                self.gone.push((*id).into());
            }
            Operation::RemoveRole(id) => {
                Roles(self.iam).delete_in(work, &self.grantor, *id, &Precondition::Exists).await?;
                self.gone.push((*id).into());
            }
            Operation::RemovePermission(id) => {
                Permissions(self.iam).delete_in(work, &self.grantor, *id).await?;
                self.gone.push((*id).into());
            }
        }
        Ok(())
    }

    /// Checks that the run, with `more` role assignments to end, ends as many as the end of one organization may.
    fn check_revocations(&self, work: &UnitOfWork<'_>, more: usize) -> Result<()> {
        let (ended, most) = (work.ended_assignments() + more, self.iam.settings.max_revocations);
        if ended as u64 > most { Err(Conflict::TooManyRevocations(most).into()) } else { Ok(()) }
    }

    /// Gives the roles of these steps together.
    async fn assign(&mut self, work: &mut UnitOfWork<'_>, steps: Vec<&mut Step>) -> Result<()> {
        let mut new = Vec::with_capacity(steps.len());
        for step in &steps {
            let Operation::Assign { account, role, organization, expires_at } = &step.operation else { continue };
            new.push(NewAssignment {
                user: known(&self.accounts, account)?,
                role: known(&self.roles, role)?,
                organization: self.organization(organization.as_deref())?,
                expires_at: *expires_at,
            });
        }
        if new.is_empty() {
            return Ok(());
        }
        let made = Assignments(self.iam).create_all_in(work, &self.grantor, &new).await;
        let at = |number: usize| steps.get(number).map(|step| step.at.as_str());
        let made = made.map_err(|error| in_bulk(error, at))?;
        for (step, made) in steps.into_iter().zip(made) {
            step.change.id = self.record(made.id);
        }
        Ok(())
    }

    fn record(&mut self, id: impl Into<Uuid>) -> Option<Uuid> {
        let id = id.into();
        self.made.push(id);
        Some(id)
    }

    /// The roles of an identity provider.
    fn placed(&self, roles: &[ManifestProvidedRole]) -> Result<Vec<PlacedRole>> {
        let place = |named: &ManifestProvidedRole| -> Result<PlacedRole> {
            let organization_id = self.organization(named.organization.as_deref())?;
            Ok(PlacedRole { role_id: known(&self.roles, &named.role)?, organization_id })
        };
        roles.iter().map(place).collect()
    }

    fn provider(&self, slug: Option<&str>) -> Result<Option<IdentityProviderId>> {
        slug.map(|slug| known(&self.providers, slug)).transpose()
    }

    fn organization(&self, slug: Option<&str>) -> Result<Option<OrganizationId>> {
        slug.map(|slug| known(&self.organizations, slug)).transpose()
    }
}

/// Returns the identifier of an item that the plan names.
fn known<T: Copy>(items: &HashMap<String, T>, name: &str) -> Result<T> {
    items.get(name).copied().ok_or_else(|| Error::internal("a plan of a manifest", format!("it names no item {name}")))
}

/// Returns an error of a service as one about a part of the manifest.
pub(super) fn within(error: Error, at: &str) -> Error {
    match error {
        Error::Validation(errors) => {
            let named = |error: FieldError| FieldError::new(join(at, &error.field), error.message);
            Error::Validation(errors.into_iter().map(named).collect())
        }
        Error::About { field, error } => Error::About { field: join(at, &field), error },
        Error::Forbidden(_) | Error::NotFound(_) | Error::Rule(_) | Error::Conflict(_) => error.about(at),
        other => other,
    }
}

/// Returns an error about roles that were given together as one about the parts of the manifest.
fn in_bulk<'s>(error: Error, at: impl Fn(usize) -> Option<&'s str>) -> Error {
    let place = |field: &str| {
        let (number, field) = field.strip_prefix("assignments[")?.split_once(']')?;
        let at = at(number.parse().ok()?)?;
        Some(field.strip_prefix('.').map_or_else(|| at.to_owned(), |field| join(at, field)))
    };
    match error {
        Error::Validation(errors) => {
            let named = |error: FieldError| {
                let field = place(&error.field);
                FieldError { field: field.unwrap_or(error.field), message: error.message }
            };
            Error::Validation(errors.into_iter().map(named).collect())
        }
        Error::About { field, error } => Error::About { field: place(&field).unwrap_or(field), error },
        other => other,
    }
}

/// The field of an item, as the manifest calls it.
fn join(at: &str, field: &str) -> String {
    if let Some(number) = field.strip_prefix("domainIds") {
        return format!("{at}.domains{number}");
    }
    let (list, name) = field.rsplit_once('.').map_or(("", field), |(list, name)| (list, name));
    let name = match name {
        "parentId" => "parent",
        "homeOrganizationId" => "home",
        "roleId" => "role",
        "organizationId" => "organization",
        "serviceAccountId" => "serviceAccount",
        "identityProviderId" => "identityProvider",
        other => other,
    };
    if list.is_empty() { format!("{at}.{name}") } else { format!("{at}.{list}.{name}") }
}

#[cfg(test)]
mod tests {
    use iam_model::audit::ResourceType;
    use iam_model::error::Rule;

    use super::*;

    fn described(error: Error) -> String {
        match error {
            Error::About { field, error } => format!("{field}: {error}"),
            Error::Validation(errors) => {
                let errors = errors.iter().map(|error| format!("{}: {}", error.field, error.message));
                errors.collect::<Vec<_>>().join("; ")
            }
            other => other.to_string(),
        }
    }

    #[test]
    fn an_error_names_the_field_of_the_manifest() {
        let at = "organizations[2]";
        for (error, expected) in [
            (Error::from(Conflict::SlugTaken), "organizations[2]: This slug is already taken."),
            (
                Error::from(Rule::Depth(5)).about("parentId"),
                "organizations[2].parent: Maximum hierarchy depth of 5 exceeded.",
            ),
            (Error::field("name", "is wrong"), "organizations[2].name: is wrong"),
            (Error::field("roles[3].roleId", "is wrong"), "organizations[2].roles[3].role: is wrong"),
            (Error::field("domainIds[4]", "is wrong"), "organizations[2].domains[4]: is wrong"),
            (Error::PreconditionFailed, "The resource has changed since it was read."),
        ] {
            assert_eq!(described(within(error, at)), expected);
        }
    }

    #[test]
    fn an_error_about_one_of_several_roles_names_its_account() {
        let places = ["serviceAccounts[0].assignments[0]", "serviceAccounts[4].assignments[1]"];
        let at = |number: usize| places.get(number).copied();
        let missing = || Error::NotFound(ResourceType::ROLE);
        for (error, expected) in [
            (missing().about("assignments[1].roleId"), "serviceAccounts[4].assignments[1].role: Role not found."),
            (
                Error::from(Conflict::RoleHeld).about("assignments[0]"),
                "serviceAccounts[0].assignments[0]: The user already holds this role in this organization, or tenant-wide.",
            ),
            (
                Error::field("assignments[0].expiresAt", "is wrong"),
                "serviceAccounts[0].assignments[0].expiresAt: is wrong",
            ),
            (missing().about("assignments[7].roleId"), "assignments[7].roleId: Role not found."),
            (Error::field("assignments", "is wrong"), "assignments: is wrong"),
        ] {
            assert_eq!(described(in_bulk(error, at)), expected);
        }
    }
}
