//! Retention: entries that are marked for removal are removed, and no others.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::Caller;
use iam_model::audit::{AuditEntry, LogHead, PendingRetention, Retention};
use iam_model::change::AuditChange;
use iam_model::clock::Timestamp;
use iam_model::id::{AuditEntryId, TenantId};
use iam_model::store::Store;

use crate::log::all;
use crate::world::World;

/// A retention is read back inside and outside a unit of work. Another tenant has none.
pub async fn retention_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let mut before = Retention::default();
    let pending = |days| Some(PendingRetention { days, from: world.now() + TimeDelta::days(30) });
    for (days, pending) in
        [(Some(1), None), (Some(36_500), pending(1)), (None, pending(36_500)), (None, None), (Some(30), None)]
    {
        let after = Retention { days, pending };
        world.commit(tenant.id, AuditChange::SetRetention { tenant: tenant.id, before, after }).await;
        let expected = LogHead { retention: after, ..LogHead::empty(tenant.id) };
        let found = world.store.log_heads(&[other.id, tenant.id]).await.unwrap();
        assert_eq!(found.iter().collect::<Vec<_>>(), [&expected]);
        assert_eq!(world.locked(tenant.id, async |locks| locks.log_head().await.unwrap()).await, Some(expected));
        assert_eq!(world.locked(other.id, async |locks| locks.log_head().await.unwrap()).await, None);
        before = after;
    }
    assert_eq!(world.store.purge_audit_entries().await.unwrap(), 0);
}

/// A dropped unit of work marks no entries for removal.
pub async fn a_dropped_unit_of_work_marks_nothing_for_removal(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    world.sequence().await;
    let (head, caller) = (world.head(tenant.id).await, Caller::system(tenant.id, "conformance"));
    let mut work = world.begin(caller.author()).await;
    work.apply(set_retention(tenant.id, None, Some(1))).await.unwrap();
    work.apply(world.give_up(tenant.id, 0..1).await).await.unwrap();
    drop(work);
    assert_eq!(world.head(tenant.id).await, head);
    assert_eq!(world.store.purge_audit_entries().await.unwrap(), 0);
    assert_eq!(all(&world, tenant.id).await.len(), 1);
}

/// The first sequence number whose entry was created at a moment or later is found, from any sequence number on. The
/// sequence may differ from the order of time.
pub async fn the_first_entry_since_a_moment_is_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, start) = (world.tenant("acme").await.id, world.now());
    // The fourth entry was created before the second one, and committed after it.
    for seconds in [10, 20, 30, 15, 40] {
        record_at(&world, tenant, start + TimeDelta::seconds(seconds)).await;
        world.sequence().await;
    }
    record_at(&world, tenant, start + TimeDelta::seconds(50)).await;
    for (from, seconds, expected) in [
        (0, 0, Some(0)),
        (0, 10, Some(1)),
        (0, 11, Some(2)),
        (0, 20, Some(2)),
        (3, 20, Some(3)),
        (4, 15, Some(4)),
        (4, 16, Some(5)),
        (0, 31, Some(5)),
        (0, 41, None),
        (6, 0, None),
        (1_000, 0, None),
    ] {
        let moment = start + TimeDelta::seconds(seconds);
        let found = world.locked(tenant, async |locks| locks.first_sequenced_since(from, moment).await.unwrap()).await;
        assert_eq!(found, expected, "{from} {seconds}");
    }
    let none = world.locked(world.id(), async |locks| locks.first_sequenced_since(0, start).await.unwrap()).await;
    assert_eq!(none, None, "in another tenant");
}

/// The next purge removes the entries that are marked for removal. Their leaves stay. Later entries, pending entries
/// and entries of another tenant stay complete, at any age.
pub async fn entries_that_are_marked_for_removal_are_purged(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await.id, world.tenant("other").await.id);
    let mut ids = Vec::new();
    for days in [0, 1, 40, 80, 2, 120] {
        let moment = world.now() + TimeDelta::days(days);
        ids.push(record_at(&world, tenant, moment).await);
        record_at(&world, other, moment).await;
        world.sequence().await;
    }
    let pending = record_at(&world, tenant, world.now()).await;
    let (sequenced, others) = (world.sequenced(tenant).await, all(&world, other).await);
    world.clock.advance(TimeDelta::days(200));
    world.commit(tenant, world.give_up(tenant, 0..4).await).await;
    assert_eq!(world.head(tenant).await.removed, 4);

    assert_eq!(world.store.purge_audit_entries().await.unwrap(), 4);
    assert_eq!(world.store.purge_audit_entries().await.unwrap(), 0, "they are already removed");
    let mut left: Vec<AuditEntryId> = all(&world, tenant).await.into_iter().skip(1).map(|entry| entry.id).collect();
    left.reverse();
    assert_eq!(left, [pending, ids[4], ids[3], ids[5]]);
    let kept = world.sequenced(tenant).await;
    let entries = kept.iter().map(|kept| kept.entry.clone());
    let expected = sequenced.iter().map(|kept| kept.entry.clone().filter(|_| kept.leaf.sequence >= 4));
    assert!(entries.eq(expected), "{kept:?}");
    assert!(kept.iter().map(|kept| &kept.leaf).eq(sequenced.iter().map(|sequenced| &sequenced.leaf)), "leaves stay");
    assert_eq!(world.store.audit_entry(tenant, ids[0]).await.unwrap(), None);
    assert_eq!(world.store.sequence_of(tenant, ids[0]).await.unwrap(), Some(1));
    assert_eq!(world.store.stray_entry(tenant).await.unwrap(), None);
    assert_eq!(all(&world, other).await, others);

    world.sequence().await;
    let verification = world.assert_clean(tenant, &[]).await;
    assert_eq!((verification.sequenced, verification.removed), (9, 4));
    assert_eq!(world.assert_clean(other, &[]).await.removed, 0);
}

/// A later removal continues where the last one ended, until only the record of the removal is left.
pub async fn a_later_removal_continues_the_earlier_one(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    for (from, until, left) in [(0, 300, 300), (300, 301, 300), (301, 602, 0)] {
        if from == 0 {
            world.record(world.new_entries(tenant.id, 599)).await;
        }
        world.sequence().await;
        world.tick();
        world.commit(tenant.id, world.give_up(tenant.id, from..until).await).await;
        assert_eq!(world.store.purge_audit_entries().await.unwrap(), until - from);
        assert_eq!(all(&world, tenant.id).await.len(), left + 1, "the remaining entries and the record");
        assert_eq!(world.assert_clean(tenant.id, &[]).await.removed, until);
    }
    world.sequence().await;
    world.assert_sequenced(tenant.id).await;
}

/// The service removes the entries that are older than the retention, tenant by tenant. Earlier checkpoints stay
/// valid.
pub async fn retention_is_applied(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (iam, caller) = (world.iam().await, Caller::system(tenant.id, "conformance"));
    for _ in 0..3 {
        for tenant in [&tenant, &other] {
            world.record(world.new_entries(tenant.id, 4)).await;
        }
        world.sequence().await;
        world.clock.advance(TimeDelta::days(20));
    }
    let kept = [iam.audit().checkpoint(&caller).await.unwrap().signed.note];
    assert_eq!(iam.apply_audit_retention().await.unwrap(), 0, "no tenant has set a retention");
    let pending = Some(PendingRetention { days: 30, from: world.now() + TimeDelta::days(30) });
    let set = iam.audit().set_retention(&caller, Some(30)).await.unwrap();
    assert_eq!(set, Retention { days: None, pending });
    assert_eq!(iam.apply_audit_retention().await.unwrap(), 0, "the retention is not in effect yet");
    let hastened = iam.audit().hasten_retention(&caller).await.unwrap();
    assert_eq!(hastened, Retention { days: Some(30), pending: None });
    assert_eq!(iam.audit().retention(&caller).await.unwrap(), hastened);
    assert_eq!(iam.apply_audit_retention().await.unwrap(), 9);
    assert_eq!(iam.apply_audit_retention().await.unwrap(), 0);
    let actions: Vec<String> = all(&world, tenant.id).await.iter().map(|entry| entry.action.to_string()).collect();
    assert_eq!(actions, ["DELETE", "UPDATE", "UPDATE", "SENT", "SENT", "SENT", "SENT"]);
    assert_eq!(all(&world, other.id).await.len(), 13);
    assert_eq!(world.assert_clean(tenant.id, &kept).await.removed, 9);
    world.clock.advance(TimeDelta::days(100));
    assert_eq!(iam.apply_audit_retention().await.unwrap(), 4, "pending entries stay");
    world.sequence().await;
    assert_eq!(iam.apply_audit_retention().await.unwrap(), 3, "old records of removals are removed, too");
    world.sequence().await;
    assert_eq!(world.assert_clean(tenant.id, &kept).await.removed, 16);
    assert_eq!(all(&world, other.id).await.len(), 13);
}

/// A change of the retention that takes effect at once.
pub(super) fn set_retention(tenant: TenantId, before: Option<u32>, after: Option<u32>) -> AuditChange {
    let [before, after] = [before, after].map(|days| Retention { days, pending: None });
    AuditChange::SetRetention { tenant, before, after }
}

async fn record_at(world: &World, tenant: TenantId, created_at: Timestamp) -> AuditEntryId {
    let entry = AuditEntry { created_at, ..world.new_entry(tenant) };
    let id = entry.id;
    world.record(vec![entry]).await;
    id
}
