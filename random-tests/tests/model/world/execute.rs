//! Makes the changes of the steps.

use iam_core::assignment::{AssignmentPatch, NewAssignment};
use iam_core::directory::{DeletedUsers, NewDirectory};
use iam_core::federation::Finished;
use iam_core::organization::{NewOrganization, OrganizationPatch};
use iam_core::permission::NewPermission;
use iam_core::role::{NewRole, PlacedRole, RolePatch};
use iam_core::session::StepUp;
use iam_core::user::{NewServiceAccount, NewUser, UserPatch};
use iam_core::{Caller, Error};

use super::kept::{given, tenant_patch};
use super::{New, PASSWORD, Refused, World, organization_status, role_scope, template_user, user_status};
use crate::foresight::Services;
use crate::operation::{Item, Operation, Placed};

impl World<'_> {
    fn new_assignment(&self, item: &Item) -> NewAssignment {
        NewAssignment {
            user: self.user(item.user),
            role: self.role(item.role),
            organization: item.organization.map(|organization| self.organization(organization)),
            expires_at: self.expiry(item.until),
        }
    }

    pub(super) async fn execute(
        &mut self,
        tenant: usize,
        caller: &Caller,
        operation: &Operation,
    ) -> Result<New, Refused> {
        let iam = self.iam();
        Ok(match operation {
            operation if operation.has_preview() => self.attempt(iam, tenant, caller, operation).await?,
            Operation::Register { name } => {
                let new = NewPermission { name: (*name).to_owned(), description: None };
                New::Permission(iam.permissions().create(caller, new).await?.id)
            }
            Operation::Unregister { permission } => {
                let id = self.names[permission.tenant].permissions[permission.index];
                iam.permissions().delete(caller, id).await?;
                New::Nothing
            }
            Operation::CreateUser { email, home } => {
                let new = NewUser { email: email.clone(), ..template_user() };
                let home = home.map(|home| self.organization(home));
                New::User(iam.users().create_once(caller, new, home, None, None).await?.id)
            }
            Operation::VerifyEmail { user } => {
                // For trusted code only, whatever the rights of the caller are.
                let email = &self.states[tenant].users[*user].email;
                iam.users().verify_email(&self.system(tenant), email).await?;
                New::Nothing
            }
            Operation::LogIn { person } => self.log_in(tenant, person).await?,
            Operation::Link { person } => match self.come_back(tenant, Some(caller), person).await? {
                Finished::Linked(identity) => New::Identity(identity.id),
                other => panic!("{other:?}"),
            },
            Operation::Unlink { identity } => {
                let id = self.names[identity.tenant].identities[identity.index];
                iam.federation().unlink(caller, id).await?;
                New::Nothing
            }
            Operation::CreateAccount => {
                let new = NewServiceAccount { name: "Robot".to_owned() };
                New::User(iam.users().create_service_account(caller, new).await?.id)
            }
            Operation::CreateDirectory { account, adopts } => {
                let (name, service_account) = ("Directory".to_owned(), self.user(*account));
                let new = NewDirectory { name, service_account, identity_provider: None, adopt: *adopts };
                New::Directory(iam.directories().create(caller, new).await?.id)
            }
            Operation::DeleteDirectory { directory, suspends } => {
                let id = self.names[directory.tenant].directories[directory.index];
                let users = if *suspends { DeletedUsers::Suspend } else { DeletedUsers::Keep };
                iam.directories().delete(caller, id, users).await?;
                New::Nothing
            }
            Operation::Provision { provision, .. } => self.provision(caller, provision).await?,
            Operation::Review { user, kept } => self.review(tenant, caller, *user, *kept).await?,
            Operation::DefineAttributes { rules } => {
                iam.tenants().update(caller, self.ids[tenant], tenant_patch(rules)).await?;
                New::Nothing
            }
            Operation::ChangeOwn { patch } => {
                iam.users().update_own_attributes(caller, &given(patch)).await?;
                New::Nothing
            }
            Operation::PlaceHold { user } => {
                let user = user.map(|user| self.user(user));
                New::Hold(iam.legal_holds().place(caller, user, "Case 2026-17").await?.id)
            }
            Operation::ReleaseHold { hold } => {
                let id = self.names[hold.tenant].holds[hold.index];
                iam.legal_holds().release(caller, id, "The case is closed.").await?;
                New::Nothing
            }
            Operation::Erase { user } => {
                iam.audit().erase(caller, self.user(*user)).await?;
                New::Nothing
            }
            Operation::StepUp => {
                iam.sessions().step_up(caller, StepUp::Password(PASSWORD.into())).await?;
                New::Nothing
            }
            _ => New::Nothing,
        })
    }

    /// Makes a change that has a preview, or tries it out.
    pub(super) async fn attempt(
        &self,
        services: &impl Services,
        tenant: usize,
        caller: &Caller,
        operation: &Operation,
    ) -> Result<New, Error> {
        Ok(match operation {
            Operation::CreateRole { name, scope, permissions } => {
                let permissions = permissions.iter().map(ToString::to_string).collect();
                let new = NewRole { name: name.clone(), description: None, scope: role_scope(*scope), permissions };
                New::Role(services.roles().create(caller, new).await?.id)
            }
            Operation::PatchRole { role, name, scope, permissions } => {
                let patch = RolePatch {
                    name: name.clone(),
                    scope: scope.map(role_scope),
                    permissions: permissions.as_ref().map(|all| all.iter().map(ToString::to_string).collect()),
                    ..RolePatch::default()
                };
                services.roles().update(caller, self.role(*role), patch).await?;
                New::Nothing
            }
            Operation::DeleteRole { role } => {
                services.roles().delete(caller, self.role(*role)).await?;
                New::Nothing
            }
            Operation::Assign { item } => {
                let made = services.assignments().create(caller, self.new_assignment(item)).await?;
                assert_eq!(made.tenant_id, self.ids[tenant]);
                New::Assignments(vec![made.id])
            }
            Operation::AssignAll { items } => {
                let new: Vec<_> = items.iter().map(|item| self.new_assignment(item)).collect();
                let made = services.assignments().create_all(caller, &new).await?;
                New::Assignments(made.into_iter().map(|made| made.id).collect())
            }
            Operation::Revoke { assignment } => {
                services.assignments().delete(caller, self.assignment(*assignment)).await?;
                New::Nothing
            }
            Operation::Expire { assignment, until } => {
                let patch = AssignmentPatch { expires_at: Some(self.expiry(*until)) };
                services.assignments().update(caller, self.assignment(*assignment), patch).await?;
                New::Nothing
            }
            Operation::CreateOrganization { name, slug, parent } => {
                let parent = parent.map(|parent| self.organization(parent));
                let new = NewOrganization { name: name.clone(), slug: slug.clone(), parent };
                New::Organization(services.organizations().create(caller, new).await?.organization.id)
            }
            Operation::PatchOrganization { organization, patch } => {
                let patch = OrganizationPatch {
                    name: patch.name.clone(),
                    slug: patch.slug.clone(),
                    status: patch.status.map(organization_status),
                    parent: patch.parent.map(|parent| parent.map(|parent| self.organization(parent))),
                    ..OrganizationPatch::default()
                };
                services.organizations().update(caller, self.organization(*organization), patch).await?;
                New::Nothing
            }
            Operation::DeleteOrganization { organization } => {
                services.organizations().delete(caller, self.organization(*organization)).await?;
                New::Nothing
            }
            Operation::PatchUser { user, patch } => {
                let patch = UserPatch {
                    email: patch.email.clone(),
                    first_name: patch.first_name.clone(),
                    status: patch.status.map(user_status),
                    home: patch.home.map(|home| home.map(|home| self.organization(home))),
                    attributes: patch.attributes.as_ref().map(given),
                    ..UserPatch::default()
                };
                services.users().update(caller, self.user(*user), patch).await?;
                New::Nothing
            }
            Operation::Suspend { user } => {
                services.users().suspend(caller, self.user(*user)).await?;
                New::Nothing
            }
            Operation::Reactivate { user } => {
                services.users().reactivate(caller, self.user(*user)).await?;
                New::Nothing
            }
            Operation::DeleteUser { user } => {
                services.users().delete(caller, self.user(*user)).await?;
                New::Nothing
            }
            Operation::SetGrants { group, grants } => {
                let placed = |placed: &Placed| PlacedRole {
                    role_id: self.role(placed.role),
                    organization_id: placed.organization.map(|organization| self.organization(organization)),
                };
                let grants: Vec<PlacedRole> = grants.iter().map(placed).collect();
                let names = &self.names[group.tenant];
                let directory = names.directories[self.states[group.tenant].groups[group.index].directory];
                services.directories().set_grants(caller, directory, names.groups[group.index], grants).await?;
                New::Nothing
            }
            _ => New::Nothing,
        })
    }
}
