//! Links: one for each purpose and subject, used once.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::change::{Change, LinkChange};
use iam_model::id::TenantId;
use iam_model::link::{Link, LinkPurpose};
use iam_model::store::Store;
use iam_model::store_error::{Constraint, StoreError};
use iam_model::tenant::Tenant;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::world::{World, assert_conflict};

fn new_link(world: &World, tenant: &Tenant, purpose: LinkPurpose, hash: u8) -> Link {
    Link {
        id: world.id(),
        tenant_id: tenant.id,
        purpose,
        subject: Uuid::from_u128(7),
        email: "Ada@example.com".parse().unwrap(),
        token_hash: [hash; 32],
        created_at: world.now(),
        expires_at: world.now() + TimeDelta::hours(24),
    }
}

async fn issue(world: &World, link: &Link) {
    world.commit(link.tenant_id, LinkChange::Issue { link: link.clone(), grants: None }).await;
}

fn end(link: &Link) -> Change {
    LinkChange::End { purpose: link.purpose, subject: link.subject }.into()
}

async fn locked(world: &World, tenant: TenantId, link: &Link) -> Option<Link> {
    world.locked(tenant, async |locks| locks.lock_link(link.purpose, link.subject).await.unwrap()).await
}

/// A link is found by its token, and by its purpose and subject, only in its tenant, also when it has expired.
pub async fn a_link_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let link = new_link(&world, &acme, LinkPurpose::Verify, 1);
    issue(&world, &link).await;
    world.clock.advance(TimeDelta::days(2));
    for (tenant, expected) in [(acme.id, Some(&link)), (other.id, None)] {
        let by_token = world.store.link_by_token(tenant, &[1; 32]).await.unwrap();
        let by_subject = world.store.link(tenant, link.purpose, link.subject).await.unwrap();
        assert_eq!((by_token.as_ref(), by_subject.as_ref()), (expected, expected));
        assert_eq!(locked(&world, tenant, &link).await.as_ref(), expected);
    }
    assert_eq!(world.store.link_by_token(acme.id, &[2; 32]).await.unwrap(), None);
    assert_eq!(world.store.link(acme.id, LinkPurpose::Reset, link.subject).await.unwrap(), None);
    assert_eq!(world.store.link(acme.id, link.purpose, Uuid::from_u128(8)).await.unwrap(), None);
}

/// A newer link replaces the older one of its subject for the same purpose, and no other.
pub async fn a_newer_link_ends_the_older_one(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (older, newer) =
        (new_link(&world, &tenant, LinkPurpose::Verify, 1), new_link(&world, &tenant, LinkPurpose::Verify, 2));
    let reset = new_link(&world, &tenant, LinkPurpose::Reset, 3);
    let of_another = Link { subject: Uuid::from_u128(8), ..new_link(&world, &tenant, LinkPurpose::Verify, 4) };
    for link in [&older, &reset, &of_another] {
        issue(&world, link).await;
    }
    world.tick();
    let newer = Link {
        email: "new@example.com".parse().unwrap(),
        created_at: world.now(),
        expires_at: world.now() + TimeDelta::minutes(30),
        ..newer
    };
    issue(&world, &newer).await;
    for (hash, expected) in [(1, None), (2, Some(newer)), (3, Some(reset)), (4, Some(of_another))] {
        assert_eq!(world.store.link_by_token(tenant.id, &[hash; 32]).await.unwrap(), expected);
    }
}

/// A link that ends is gone. Ending a link that does not exist does nothing.
pub async fn an_ended_link_is_gone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (verify, reset) =
        (new_link(&world, &tenant, LinkPurpose::Verify, 1), new_link(&world, &tenant, LinkPurpose::Reset, 2));
    issue(&world, &verify).await;
    issue(&world, &reset).await;
    for _ in 0..2 {
        world.commit(tenant.id, end(&verify)).await;
        assert_eq!(locked(&world, tenant.id, &verify).await, None);
        assert_eq!(locked(&world, tenant.id, &reset).await.as_ref(), Some(&reset));
    }
}

/// All links of a tenant for a purpose end, and no others.
pub async fn all_links_of_a_tenant_for_a_purpose_end(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let first = new_link(&world, &acme, LinkPurpose::Verify, 1);
    let second = Link { subject: Uuid::from_u128(8), ..new_link(&world, &acme, LinkPurpose::Verify, 2) };
    let reset = new_link(&world, &acme, LinkPurpose::Reset, 3);
    let of_other = new_link(&world, &other, LinkPurpose::Verify, 4);
    for link in [&first, &second, &reset, &of_other] {
        issue(&world, link).await;
    }
    for _ in 0..2 {
        world.commit(acme.id, LinkChange::EndAll { purpose: LinkPurpose::Verify }).await;
        assert_eq!(locked(&world, acme.id, &first).await, None);
        assert_eq!(locked(&world, acme.id, &second).await, None);
        assert_eq!(locked(&world, acme.id, &reset).await.as_ref(), Some(&reset));
        assert_eq!(locked(&world, other.id, &of_other).await.as_ref(), Some(&of_other));
    }
}

/// A link needs a tenant that exists.
pub async fn a_link_of_a_missing_tenant_is_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let link = new_link(&world, &world.new_tenant("acme"), LinkPurpose::Verify, 1);
    let refused =
        world.try_commit(link.tenant_id, [LinkChange::Issue { link: link.clone(), grants: None }.into()]).await;
    assert_conflict(&refused, Constraint::Reference);
}

/// Of many concurrent units of work that use one link, one finds it.
pub async fn a_link_is_used_once_by_concurrent_tasks(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    for round in 0..8 {
        let link = new_link(&world, &tenant, LinkPurpose::Reset, round);
        issue(&world, &link).await;
        let mut tasks = JoinSet::new();
        for _ in 0..8 {
            let (world, link) = (Arc::clone(&world), link.clone());
            tasks.spawn(async move {
                let mut work = world.begin(&World::system(link.tenant_id)).await;
                let found = work.reads().lock_link(link.purpose, link.subject).await?;
                if found.is_some() {
                    work.apply(end(&link)).await?;
                }
                work.commit().await?;
                Ok::<bool, StoreError>(found.is_some())
            });
        }
        let found = tasks.join_all().await.into_iter().map(Result::unwrap).filter(|found| *found).count();
        assert_eq!(found, 1);
    }
}

/// Links are removed from the exact millisecond of their expiry on, at most as many as the limit.
pub async fn expired_links_are_removed(store: Arc<dyn Store>) {
    let world = World::new(store);
    for (number, slug) in ["acme", "other", "third"].into_iter().enumerate() {
        let tenant = world.tenant(slug).await;
        let expires_at = world.now() + TimeDelta::milliseconds(number as i64);
        issue(&world, &Link { expires_at, ..new_link(&world, &tenant, LinkPurpose::Verify, 1) }).await;
    }
    world.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(world.store.remove_expired_links(world.now(), 100).await.unwrap(), 2);
    assert_eq!(world.store.remove_expired_links(world.now(), 100).await.unwrap(), 0);
    world.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(world.iam().await.remove_expired_links().await.unwrap(), 1);
}
