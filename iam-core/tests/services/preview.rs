//! Previews of changes that affect many users.

use std::sync::Arc;

use iam_conformance::World;
use iam_core::role::RolePatch;
use iam_core::{Caller, Iam, MAX_PREVIEW_ROWS};
use iam_model::role::Role;
use iam_model::tenant::Tenant;
use iam_store_memory::MemoryStore;

/// How many permissions the role has.
const PERMISSIONS: usize = 100;

struct Scene {
    world: World,
    iam: Iam,
    tenant: Tenant,
    role: Role,
}

impl Scene {
    async fn new() -> Self {
        let world = World::new(Arc::new(MemoryStore::new()));
        let (tenant, iam) = (world.tenant("acme").await, world.iam().await);
        let names: Vec<String> = (0..PERMISSIONS).map(|number| format!("orders:do-{number}")).collect();
        for name in &names {
            world.permission(&tenant, name).await;
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let role = world.role(&tenant, "CLERK", &names).await;
        Self { world, iam, tenant, role }
    }

    async fn give_to(&self, emails: impl Iterator<Item = usize>) {
        for number in emails {
            let user = self.world.user(&self.tenant, &format!("user{number}@example.com")).await;
            self.world.give(&user, &self.role, None).await;
        }
    }

    /// Previews that the role loses its permissions. Returns the numbers of users and of rows, and whether there are
    /// more rows.
    async fn preview(&self) -> (u64, usize, bool) {
        let (caller, trial) = (Caller::system(self.tenant.id, "test"), self.iam.trial());
        let patch = RolePatch { permissions: Some(Vec::new()), ..RolePatch::default() };
        let outcome = trial.roles().update(&caller, self.role.id, patch).await;
        let preview = trial.preview(&caller, outcome).await.unwrap();
        assert!(preview.refusal.is_none());
        (preview.users, preview.changes.len(), preview.truncated)
    }
}

#[tokio::test]
async fn a_preview_is_truncated_after_10_000_rows() {
    let scene = Scene::new().await;
    let most = MAX_PREVIEW_ROWS / PERMISSIONS;
    scene.give_to(0..most).await;
    assert_eq!(scene.preview().await, (most as u64, MAX_PREVIEW_ROWS, false));
    scene.give_to(most..most + 2).await;
    assert_eq!(scene.preview().await, (most as u64 + 2, MAX_PREVIEW_ROWS, true));
}
