//! What has no operation of its own yet, put into the store beneath the service.

use std::sync::Arc;

use iam_core::assignment::Assignment;
use iam_core::clock::Timestamp;
use iam_core::conformance::World;
use iam_core::role::{Role, RoleChange, RoleScope};
use iam_core::tenant::Tenant;
use iam_core::{OrganizationId, RoleId};

use crate::app::TestApp;
use crate::people::Person;

impl TestApp {
    fn world(&self) -> World {
        let mut world = World::new(Arc::clone(&self.store));
        world.clock = self.clock.clone();
        world
    }

    async fn tenant_of(&self, person: &Person) -> Tenant {
        self.store.tenant(person.tenant.parse().unwrap()).await.unwrap().unwrap()
    }

    /// An organization of the person's tenant.
    pub(crate) async fn organization(&self, person: &Person, slug: &str) -> OrganizationId {
        self.world().organization(&self.tenant_of(person).await, slug).await.id
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
        let tenant = administrator.tenant.parse().unwrap();
        let role = self.store.role_by_name(tenant, role).await.unwrap().unwrap();
        let user = self.store.user(tenant, user.parse().unwrap()).await.unwrap().unwrap();
        let world = self.world();
        let assignment = Assignment { expires_at, ..world.new_assignment(&user, &role, organization) };
        world.assign(assignment, &role).await.id.to_string()
    }

    /// Gives somebody a role of its own with these permissions, tenant-wide.
    pub(crate) async fn permit(&self, person: &Person, permissions: &[&str]) {
        let world = self.world();
        let id: RoleId = world.id();
        let role = Role {
            id,
            tenant_id: person.tenant.parse().unwrap(),
            name: format!("ROLE_{}", id.as_uuid().simple()).to_uppercase(),
            description: String::new(),
            scope: RoleScope::Any,
            permissions: permissions.iter().map(|text| text.parse().unwrap()).collect(),
            system: false,
            created_at: world.now(),
            updated_at: world.now(),
        };
        let tenant = role.tenant_id;
        world.commit(tenant, RoleChange::CreateBuiltIn(vec![role.clone()])).await;
        self.assign(person, &person.user, &role.name, None, None).await;
    }

    /// A new user with these permissions, logged in.
    pub(crate) async fn colleague_who_may(&self, administrator: &Person, email: &str, permissions: &[&str]) -> Person {
        let colleague = self.colleague(administrator, email).await;
        self.permit(&colleague, permissions).await;
        colleague
    }
}
