//! Previews of changes that affect many users.

use std::sync::Arc;

use iam_conformance::World;
use iam_core::role::RolePatch;
use iam_core::{Caller, Conflict, Error, Iam, MAX_PREVIEW_ROWS};
use iam_model::role::Role;
use iam_model::tenant::Tenant;
use iam_store_memory::MemoryStore;

/// How many permissions the role has.
const PERMISSIONS: usize = 100;

struct Fixture {
    world: World,
    iam: Iam,
    tenant: Tenant,
    role: Role,
}

impl Fixture {
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

/// The previews begin one after the other, and are polled in one task: none ends before the last one has begun.
#[tokio::test]
async fn a_tenant_computes_two_previews_at_a_time() {
    let fixture = Fixture::new().await;
    fixture.give_to(0..1).await;
    let caller = Caller::system(fixture.tenant.id, "test");
    let patch = || RolePatch { permissions: Some(Vec::new()), ..RolePatch::default() };
    let trials = [fixture.iam.trial(), fixture.iam.trial(), fixture.iam.trial()];
    let [first, second, third] = &trials;
    let mut outcomes = Vec::new();
    for trial in &trials {
        outcomes.push(trial.roles().update(&caller, fixture.role.id, patch()).await);
    }
    let mut next = || outcomes.pop().unwrap();
    let (first, second, third) =
        tokio::join!(first.preview(&caller, next()), second.preview(&caller, next()), third.preview(&caller, next()));
    assert_eq!([first, second].map(|preview| preview.unwrap().users), [1, 1]);
    assert!(matches!(third, Err(Error::Conflict(Conflict::PreviewsRunning))), "{third:?}");
    assert_eq!(fixture.preview().await.0, 1);
}

#[tokio::test]
async fn a_preview_is_truncated_after_10_000_rows() {
    let fixture = Fixture::new().await;
    let most = MAX_PREVIEW_ROWS / PERMISSIONS;
    fixture.give_to(0..most).await;
    assert_eq!(fixture.preview().await, (most as u64, MAX_PREVIEW_ROWS, false));
    fixture.give_to(most..most + 2).await;
    assert_eq!(fixture.preview().await, (most as u64 + 2, MAX_PREVIEW_ROWS, true));
}
