//! Concurrent sequencing, beside tasks that write, erase, apply retention and verify: real tasks over one store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::TimeDelta;
use iam_core::{Caller, Iam};
use iam_model::audit::AuditEntry;
use iam_model::id::TenantId;
use iam_model::store::Store;
use iam_model::user::{User, UserStatus};
use serde_json::json;
use tokio::task::JoinSet;

use crate::log::{all, fields, request};
use crate::world::World;

/// If several tasks sequence while others write, each log gets one sequence with every entry once. A concurrent
/// verification has no findings.
pub async fn a_log_gets_one_sequence_during_writes(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenants = [world.tenant("acme").await, world.tenant("other").await, world.tenant("third").await];
    let sequencers = Background::start(&world, 4, sequence).await;
    let watched = tenants[0].id;
    let verifiers = Background::start(&world, 1, move |iam| verify(iam, watched)).await;
    let mut writers = JoinSet::new();
    for number in 0..6 {
        let (world, tenant) = (Arc::clone(&world), tenants[number % 3].id);
        writers.spawn(async move {
            for length in 1..16 {
                world.record(world.new_entries(tenant, length)).await;
                world.tick();
            }
        });
    }
    writers.join_all().await;
    verifiers.stop().await;
    sequencers.stop().await;
    world.sequence().await;
    for tenant in tenants {
        world.assert_sequenced(tenant.id).await;
        assert_eq!(world.head(tenant.id).await.leaves, 1 + 2 * 120);
    }
}

/// Several tasks sequence the same entries, also of a log without leaves. Every entry is sequenced by one of them.
pub async fn an_entry_is_sequenced_once_by_concurrent_tasks(store: Arc<dyn Store>) {
    let world = World::new(store);
    let mut services = Vec::new();
    for _ in 0..4 {
        services.push(world.iam().await);
    }
    let old = world.tenant("old").await.id;
    world.sequence().await;
    for round in 1..15 {
        let fresh = world.tenant(&format!("fresh-{round}")).await.id;
        world.record(world.new_entries(old, 3)).await;
        world.record(world.new_entries(fresh, 2)).await;
        world.tick();
        let mut sequencers = JoinSet::new();
        for iam in services.clone() {
            sequencers.spawn(async move { iam.sequence_audit_logs().await.unwrap().entries });
        }
        let sequenced = sequencers.join_all().await;
        assert_eq!(sequenced.iter().sum::<usize>(), 6, "{sequenced:?}");
        assert_eq!([world.head(old).await.leaves, world.head(fresh).await.leaves], [1 + 3 * round, 3]);
        world.assert_sequenced(fresh).await;
    }
    world.assert_sequenced(old).await;
}

/// Sequencing and erasure do not interfere: every entry is sequenced, and no personal data is left.
pub async fn sequencing_and_erasure_do_not_interfere(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let mut users: Vec<User> = Vec::new();
    for number in 0..6 {
        let user = world.new_user(&tenant, &format!("user{number}@example.com"));
        users.push(world.add(User { status: UserStatus::Inactive, ..user }).await);
    }
    let sequencers = Background::start(&world, 2, sequence).await;
    let watched = tenant.id;
    let verifiers = Background::start(&world, 1, move |iam| verify(iam, watched)).await;
    let mut erasers = JoinSet::new();
    for user in users {
        let (world, iam) = (Arc::clone(&world), world.iam().await);
        erasers.spawn(async move {
            for _ in 0..4 {
                let metadata = fields(&json!({ "email": user.email.as_str() }));
                let entry = AuditEntry { metadata, user_id: Some(user.id), ..world.new_entry(user.tenant_id) };
                world.record(vec![AuditEntry { context: request("192.0.2.1"), ..entry }]).await;
                world.tick();
                let caller = Caller::system(user.tenant_id, "conformance");
                assert!(iam.audit().erase(&caller, user.id).await.unwrap() > 0);
            }
        });
    }
    erasers.join_all().await;
    verifiers.stop().await;
    sequencers.stop().await;
    world.sequence().await;
    world.assert_sequenced(tenant.id).await;
    let text = format!("{:?}", all(&world, tenant.id).await);
    assert!(!text.contains("@example.com") && !text.contains("192.0.2.1"), "{text}");
}

/// Sequencing, retention and purging do not interfere: old entries are removed once, and young entries are sequenced.
pub async fn sequencing_and_retention_do_not_interfere(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenants = [world.tenant("acme").await.id, world.tenant("other").await.id];
    for tenant in tenants {
        let iam = world.iam().await;
        let caller = Caller::system(tenant, "conformance");
        iam.audit().set_retention(&caller, Some(30)).await.unwrap();
        iam.audit().hasten_retention(&caller).await.unwrap();
    }
    let sequencers = Background::start(&world, 2, sequence).await;
    let verifiers = Background::start(&world, 1, move |iam| verify(iam, tenants[0])).await;
    let retainers = Background::start(&world, 2, retain).await;
    let mut writers = JoinSet::new();
    for number in 0..4 {
        let (world, tenant) = (Arc::clone(&world), tenants[number % 2]);
        writers.spawn(async move {
            for _ in 0..20 {
                let old = world.now() - TimeDelta::days(31);
                let entries = world.new_entries(tenant, 3).into_iter();
                world.record(entries.map(|entry| AuditEntry { created_at: old, ..entry }).collect()).await;
                world.tick();
            }
        });
    }
    writers.join_all().await;
    retainers.stop().await;
    verifiers.stop().await;
    sequencers.stop().await;
    world.clock.advance(TimeDelta::days(31));
    for tenant in tenants {
        world.record(world.new_entries(tenant, 3)).await;
    }
    world.sequence().await;
    world.tick();
    world.iam().await.apply_audit_retention().await.unwrap();
    world.sequence().await;
    for tenant in tenants {
        world.assert_sequenced(tenant).await;
        let left: Vec<String> = all(&world, tenant).await.iter().map(|entry| entry.action.to_string()).collect();
        assert_eq!(left, ["DELETE", "SENT", "SENT", "SENT"]);
        assert!(world.head(tenant).await.removed >= 2 + 120);
    }
}

/// Tasks that repeat one operation until they are stopped.
struct Background {
    is_over: Arc<AtomicBool>,
    tasks: JoinSet<()>,
}

impl Background {
    async fn start<F>(world: &World, count: usize, once: impl Fn(Iam) -> F + Clone + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send,
    {
        let (is_over, mut tasks) = (Arc::new(AtomicBool::new(false)), JoinSet::new());
        for _ in 0..count {
            let (iam, once, is_over) = (world.iam().await, once.clone(), Arc::clone(&is_over));
            tasks.spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    once(iam.clone()).await;
                    // Without a pause these tasks would take all capacity of a slow store, and its writers would get
                    // none.
                    tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(2))).await.unwrap();
                }
            });
        }
        Self { is_over, tasks }
    }

    /// Stops the tasks and waits until all have ended. Fails if one of them failed.
    async fn stop(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.tasks.join_all().await;
    }
}

async fn sequence(iam: Iam) {
    assert_eq!(iam.sequence_audit_logs().await.unwrap().broken, []);
}

async fn retain(iam: Iam) {
    iam.apply_audit_retention().await.unwrap();
}

/// Fails if the verification has findings.
async fn verify(iam: Iam, tenant: TenantId) {
    let found = iam.audit().verify(&Caller::system(tenant, "conformance"), &[]).await.unwrap();
    assert_eq!(found.findings, []);
}
