//! Groups of directories: what they give to their members, by whose rights, and until when.

mod bound;
mod cover;
mod end;
mod mapping;
mod member;
mod resource;
mod review;

use std::fmt::Debug;

use iam_core::assignment::{Assignment, NewAssignment};
use iam_core::clock::Timestamp;
use iam_core::directory::{DirectoryGroup, GroupResource, ProvisioningError, ScimError};
use iam_core::organization::NewOrganization;
use iam_core::page::PageRequest;
use iam_core::role::{NewRole, PlacedRole};
use iam_core::{AssignmentId, Conflict, DirectoryGroupId, Error, Forbidden, OrganizationId, Result, RoleId, UserId};
use serde_json::{Value, json};

use crate::company::{Company, Staff};

/// What the account of a directory may do here, unless a test says more: write users and groups, give and revoke roles,
/// and read roles, which is what its groups give.
const ACCOUNT: [&str; 3] = ["users:*", "role-assignments:*", "roles:read"];

fn tenant_wide(role_id: RoleId) -> PlacedRole {
    PlacedRole { role_id, organization_id: None }
}

fn placed(role_id: RoleId, organization: OrganizationId) -> PlacedRole {
    PlacedRole { role_id, organization_id: Some(organization) }
}

/// The resource of a group with these members.
fn group_named(name: &str, members: &[UserId]) -> GroupResource {
    let members = Some(members.iter().map(UserId::to_string).collect());
    GroupResource { display_name: name.to_owned(), external_id: None, members }
}

/// The message of PATCH by which members come and go.
fn moving(added: &[UserId], removed: &[UserId]) -> Value {
    let listed = |ids: &[UserId]| ids.iter().map(|id| json!({ "value": id })).collect::<Vec<_>>();
    json!({ "Operations": [
        { "op": "add", "path": "members", "value": listed(added) },
        { "op": "remove", "path": "members", "value": listed(removed) },
    ] })
}

/// The error about a field, without the field.
fn about<T: Debug>(field: &str, result: Result<T>) -> Error {
    match result {
        Err(Error::About { field: about, error }) if about == field => *error,
        other => panic!("{field}: {other:?}"),
    }
}

/// The error with which the resource or the change of a directory was refused.
fn scim<T: Debug>(result: Result<T, ProvisioningError>) -> ScimError {
    match result {
        Err(ProvisioningError::Scim(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn is_missing(needed: &str, error: &Error) -> bool {
    matches!(error, Error::Forbidden(Forbidden::Permission(missing)) if missing.to_string() == needed)
}

fn is_uncovered(error: &Error) -> bool {
    matches!(error, Error::Forbidden(Forbidden::AccountEscalation(_)))
}

fn is_last_administrator(error: &Error) -> bool {
    matches!(error, Error::Conflict(Conflict::LastAdministrator))
}

impl Company {
    /// A role with these permissions.
    async fn role(&self, permissions: &[&str]) -> RoleId {
        let number = self.iam.roles().list(&self.system, PageRequest::default()).await.unwrap().total;
        let permissions = permissions.iter().map(|text| (*text).to_owned()).collect();
        let new = NewRole { name: format!("OF_GROUP_{number}"), permissions, ..NewRole::default() };
        self.iam.roles().create(&self.system, new).await.unwrap().id
    }

    async fn administration(&self) -> PlacedRole {
        let role = self.iam.roles().by_name(&self.system, "TENANT_ADMIN").await.unwrap().unwrap();
        tenant_wide(role.id)
    }

    async fn organization(&self, name: &str) -> OrganizationId {
        let new = NewOrganization { name: name.to_owned(), slug: None, parent: None };
        self.iam.organizations().create(&self.system, new).await.unwrap().organization.id
    }

    /// A user of a directory.
    async fn member(&self, staff: &Staff, name: &str) -> UserId {
        self.made(staff, name).await.user.id
    }

    /// A group that gives nothing yet.
    async fn group(&self, staff: &Staff, name: &str, members: &[UserId]) -> DirectoryGroupId {
        let resource = group_named(name, members);
        self.iam.provisioning().create_group(&staff.entra, &resource).await.unwrap().id
    }

    /// A group that gives roles to its members.
    async fn mapped(&self, staff: &Staff, name: &str, members: &[UserId], grants: &[PlacedRole]) -> DirectoryGroupId {
        let group = self.group(staff, name, members).await;
        self.map(staff, group, grants).await.unwrap();
        group
    }

    /// Maps a group to roles, in place of others.
    async fn map(&self, staff: &Staff, group: DirectoryGroupId, grants: &[PlacedRole]) -> Result<DirectoryGroup> {
        self.iam.directories().set_grants(&self.ada, staff.directory.id, group, grants.to_vec()).await
    }

    async fn move_members(
        &self,
        staff: &Staff,
        group: DirectoryGroupId,
        added: &[UserId],
        removed: &[UserId],
    ) -> Result<DirectoryGroup, ProvisioningError> {
        self.iam.provisioning().patch_group(&staff.entra, group, &moving(added, removed), None).await
    }

    async fn stored_group(&self, staff: &Staff, group: DirectoryGroupId) -> DirectoryGroup {
        self.iam.directories().group(&self.ada, staff.directory.id, group).await.unwrap()
    }

    async fn by_hand(&self, user: UserId, grant: PlacedRole, expires_at: Option<Timestamp>) -> AssignmentId {
        let new = NewAssignment { user, role: grant.role_id, organization: grant.organization_id, expires_at };
        self.iam.assignments().create(&self.system, new).await.unwrap().id
    }

    /// Ends all assignments of a user.
    async fn strip(&self, user: UserId) {
        for held in self.held(user).await {
            self.iam.assignments().delete(&self.system, held.id).await.unwrap();
        }
    }

    /// The assignments of a user that have not expired, newest first.
    async fn held(&self, user: UserId) -> Vec<Assignment> {
        let held = self.iam.assignments().of_user(&self.ada, user).await.unwrap();
        held.into_iter().map(|grant| grant.assignment).collect()
    }

    /// The one assignment of a user.
    async fn only(&self, user: UserId) -> Assignment {
        let held = self.held(user).await;
        assert_eq!(held.len(), 1, "{held:?}");
        held.into_iter().next().unwrap()
    }

    /// The groups that give the assignments of a user.
    async fn given(&self, user: UserId) -> Vec<Option<DirectoryGroupId>> {
        self.held(user).await.into_iter().map(|held| held.directory_group_id).collect()
    }

    /// The metadata of the last entry about an assignment.
    async fn last_of(&self, assignment: AssignmentId) -> Value {
        json!(self.entries(assignment).await.pop().unwrap().metadata)
    }
}
