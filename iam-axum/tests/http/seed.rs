//! Functions that create organizations, roles and assignments as the host program. So a test that only needs them
//! does not depend on the rights of a user, and finds no audit entries of a user for them.

use std::sync::atomic::{AtomicU32, Ordering};

use iam_core::assignment::NewAssignment;
use iam_core::clock::Timestamp;
use iam_core::organization::NewOrganization;
use iam_core::role::{NewRole, RoleScope};
use iam_core::{Caller, OrganizationId};

use crate::app::TestApp;
use crate::people::Person;

fn host(person: &Person) -> Caller {
    Caller::system(person.tenant.parse().unwrap(), "test")
}

/// A role name that no other role has.
fn fresh_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("ROLE_{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

impl TestApp {
    /// Creates a root organization in the person's tenant.
    pub(crate) async fn organization(&self, person: &Person, slug: &str) -> OrganizationId {
        self.create_organization(person, None, slug).await
    }

    /// Creates a child of an organization.
    pub(crate) async fn below(&self, person: &Person, parent: OrganizationId, slug: &str) -> OrganizationId {
        self.create_organization(person, Some(parent), slug).await
    }

    /// Creates a chain of organizations. The first is a root, and each of the others is a child of the one before.
    pub(crate) async fn chain<const LENGTH: usize>(&self, person: &Person, slug: &str) -> [OrganizationId; LENGTH] {
        let mut chain: Vec<OrganizationId> = Vec::new();
        for number in 0..LENGTH {
            chain.push(self.create_organization(person, chain.last().copied(), &format!("{slug}-{number}")).await);
        }
        chain.try_into().unwrap()
    }

    async fn create_organization(&self, person: &Person, parent: Option<OrganizationId>, slug: &str) -> OrganizationId {
        let new = NewOrganization { name: format!("Organization {slug}"), slug: Some(slug.to_owned()), parent };
        self.iam.organizations().create(&host(person), new).await.unwrap().organization.id
    }

    /// Creates a role with these permissions in the person's tenant. Returns its id.
    pub(crate) async fn role(&self, person: &Person, name: &str, permissions: &[&str]) -> String {
        self.role_of_scope(person, name, RoleScope::Any, permissions).await
    }

    /// The same for a role that can be assigned only in this scope.
    pub(crate) async fn role_of_scope(
        &self,
        person: &Person,
        name: &str,
        scope: RoleScope,
        permissions: &[&str],
    ) -> String {
        let permissions = permissions.iter().map(|text| (*text).to_owned()).collect();
        let new = NewRole { name: name.to_owned(), description: None, scope, permissions };
        self.iam.roles().create(&host(person), new).await.unwrap().id.to_string()
    }

    /// The id of the role with this name.
    pub(crate) async fn role_id(&self, person: &Person, name: &str) -> String {
        let role = self.store.role_by_name(person.tenant.parse().unwrap(), name).await.unwrap().unwrap();
        role.id.to_string()
    }

    /// Assigns a role to a user of the administrator's tenant. Returns the id of the assignment.
    pub(crate) async fn assign(
        &self,
        administrator: &Person,
        user: &str,
        role: &str,
        organization: Option<OrganizationId>,
        expires_at: Option<Timestamp>,
    ) -> String {
        let role = self.role_id(administrator, role).await.parse().unwrap();
        let new = NewAssignment { user: user.parse().unwrap(), role, organization, expires_at };
        self.iam.assignments().create(&host(administrator), new).await.unwrap().id.to_string()
    }

    /// Assigns a new role with these permissions to a user, tenant-wide. Returns the id of the assignment.
    pub(crate) async fn permit(&self, person: &Person, permissions: &[&str]) -> String {
        self.permit_until(person, permissions, None, None).await
    }

    /// The same in an organization.
    pub(crate) async fn permit_in(
        &self,
        person: &Person,
        organization: OrganizationId,
        permissions: &[&str],
    ) -> String {
        self.permit_until(person, permissions, Some(organization), None).await
    }

    /// The same, tenant-wide or in an organization, and without end or until a time.
    pub(crate) async fn permit_until(
        &self,
        person: &Person,
        permissions: &[&str],
        organization: Option<OrganizationId>,
        expires_at: Option<Timestamp>,
    ) -> String {
        let name = fresh_name();
        self.role(person, &name, permissions).await;
        self.assign(person, &person.user, &name, organization, expires_at).await
    }

    /// Creates a user with these permissions, tenant-wide, and logs it in.
    pub(crate) async fn colleague_who_may(&self, administrator: &Person, email: &str, permissions: &[&str]) -> Person {
        let colleague = self.colleague(administrator, email).await;
        self.permit(&colleague, permissions).await;
        colleague
    }

    /// Creates a user with only these permissions, in an organization, and logs it in.
    pub(crate) async fn colleague_in(
        &self,
        administrator: &Person,
        organization: OrganizationId,
        email: &str,
        permissions: &[&str],
    ) -> Person {
        let colleague = self.colleague(administrator, email).await;
        self.permit_in(&colleague, organization, permissions).await;
        colleague
    }
}
