//! The effects of settings: when signing keys are replaced, and the minimum retention of the audit log.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_conformance::World;
use iam_core::{Caller, Error, Iam, Settings};
use iam_store_memory::MemoryStore;

async fn iam(world: &World, change: impl FnOnce(&mut Settings)) -> Iam {
    let mut settings = world.iam().await.settings().clone();
    change(&mut settings);
    let iam = Iam::builder(Arc::clone(&world.store)).settings(settings).clock(world.clock.clone());
    iam.build().await.unwrap()
}

#[tokio::test]
async fn an_old_signing_key_is_replaced_and_its_private_half_is_erased() {
    let world = World::new(Arc::new(MemoryStore::new()));
    let age = TimeDelta::days(90);
    let iam = iam(&world, |settings| settings.key_rotation = age).await;
    let published = async || iam.public_keys().await.unwrap().len();
    assert!(iam.rotate_keys_when_due().await.unwrap().is_none());
    assert_eq!(published().await, 1);
    world.clock.advance(age);
    let newest = iam.rotate_keys_when_due().await.unwrap().unwrap().id;
    assert_eq!(published().await, 2);
    assert_eq!(iam.erase_replaced_keys().await.unwrap(), 0, "the older key still signs");
    world.clock.advance(TimeDelta::minutes(12));
    assert_eq!((iam.erase_replaced_keys().await.unwrap(), iam.erase_replaced_keys().await.unwrap()), (1, 0));
    assert_ne!(iam.rotate_keys().await.unwrap().id, newest);
    assert_eq!(published().await, 3);
}

#[tokio::test]
async fn a_retention_below_the_minimum_is_refused() {
    for (minimum, days) in [
        (TimeDelta::days(30), 30),
        (TimeDelta::days(30) + TimeDelta::seconds(1), 31),
        (TimeDelta::zero(), 1),
        (TimeDelta::days(-5), 1),
        (TimeDelta::days(100_000), 36_500),
    ] {
        let world = World::new(Arc::new(MemoryStore::new()));
        let iam = iam(&world, |settings| settings.audit_min_retention = minimum).await;
        let caller = Caller::system(world.tenant("acme").await.id, "test");
        let refused = iam.audit().set_retention(&caller, Some(days - 1)).await;
        assert!(matches!(refused, Err(Error::Validation(fields)) if fields[0].field == "retentionDays"), "{minimum}");
        assert!(iam.audit().set_retention(&caller, Some(days)).await.is_ok(), "{minimum}");
    }
}
