//! Organizations, roles and assignments, made by the host program itself: whose rights would allow it, and what it
//! would record as theirs, is no concern of a test that only needs them.

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

/// A role's name that no other role has.
fn fresh_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("ROLE_{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

impl TestApp {
    /// A root organization of the person's tenant.
    pub(crate) async fn organization(&self, person: &Person, slug: &str) -> OrganizationId {
        self.found(person, None, slug).await
    }

    /// An organization right below another.
    pub(crate) async fn below(&self, person: &Person, parent: OrganizationId, slug: &str) -> OrganizationId {
        self.found(person, Some(parent), slug).await
    }

    /// Organizations each right below the one before; the first is a root.
    pub(crate) async fn chain<const LENGTH: usize>(&self, person: &Person, slug: &str) -> [OrganizationId; LENGTH] {
        let mut chain: Vec<OrganizationId> = Vec::new();
        for number in 0..LENGTH {
            chain.push(self.found(person, chain.last().copied(), &format!("{slug}-{number}")).await);
        }
        chain.try_into().unwrap()
    }

    async fn found(&self, person: &Person, parent: Option<OrganizationId>, slug: &str) -> OrganizationId {
        let new = NewOrganization { name: format!("Organization {slug}"), slug: Some(slug.to_owned()), parent };
        self.iam.organizations().create(&host(person), new).await.unwrap().organization.id
    }

    /// A new role of the person's tenant with these permissions; tells its id.
    pub(crate) async fn role(&self, person: &Person, name: &str, permissions: &[&str]) -> String {
        self.role_of_scope(person, name, RoleScope::Any, permissions).await
    }

    /// The same for a role that can be assigned in these places only.
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

    /// Gives a user of the administrator's tenant a role; tells the assignment's id.
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

    /// Gives somebody a role of its own with these permissions, tenant-wide; tells the assignment's id.
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

    /// The same up to a moment.
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

    /// A new user with these permissions, logged in.
    pub(crate) async fn colleague_who_may(&self, administrator: &Person, email: &str, permissions: &[&str]) -> Person {
        let colleague = self.colleague(administrator, email).await;
        self.permit(&colleague, permissions).await;
        colleague
    }

    /// A new user with these permissions in an organization and nothing else, logged in.
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
