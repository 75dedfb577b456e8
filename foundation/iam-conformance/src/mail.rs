//! The outbox: messages commit with their change, and one process at a time sends each of them.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::change::{Change, MailChange};
use iam_model::clock::Timestamp;
use iam_model::context::{RequestContext, UserAgent};
use iam_model::id::TenantId;
use iam_model::mail::{MailKind, Message};
use iam_model::store::Store;
use tokio::task::JoinSet;

use crate::world::World;

fn new_message(world: &World, tenant_id: TenantId) -> Message {
    Message {
        id: world.id(),
        tenant_id,
        kind: MailKind::Verify,
        to: "Ada@example.com".parse().unwrap(),
        subject: Some(world.id()),
        link_id: Some(world.id()),
        context: RequestContext::default(),
        attempts: 0,
        next_attempt_at: world.now(),
        created_at: world.now(),
    }
}

fn queue(message: &Message) -> Change {
    MailChange::Queue { message: message.clone(), counted_in: TenantId::NONE, queued_at: vec![message.created_at] }
        .into()
}

async fn claim(world: &World, limit: u32) -> Vec<Message> {
    let (now, until) = (world.now(), world.now() + TimeDelta::minutes(2));
    world.store.claim_messages(now, until, limit).await.unwrap()
}

async fn queued_at(world: &World, kind: MailKind, to: &str) -> Vec<Timestamp> {
    let key = to.parse::<iam_model::validate::Email>().unwrap().key();
    world.locked(world.id(), async |locks| locks.lock_queued_messages(TenantId::NONE, kind, &key).await.unwrap()).await
}

/// A claimed message has everything with which it was queued, and the number of its attempts. It may belong to no
/// tenant.
pub async fn a_message_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let of_user = new_message(&world, tenant.id);
    let of_no_tenant = Message {
        kind: MailKind::Reset,
        subject: None,
        link_id: None,
        context: RequestContext {
            correlation_id: Some("c0ffee".parse().unwrap()),
            ip_address: Some(IpAddr::from([192, 0, 2, 7])),
            user_agent: Some(UserAgent::new("conformance/1.0")),
        },
        ..new_message(&world, TenantId::NONE)
    };
    world.try_commit(tenant.id, [queue(&of_user), queue(&of_no_tenant)]).await.unwrap();
    let claimed =
        |message: Message| Message { attempts: 1, next_attempt_at: world.now() + TimeDelta::minutes(2), ..message };
    let mut found = claim(&world, 100).await;
    found.sort_by_key(|message| message.id);
    assert_eq!(found, [claimed(of_user), claimed(of_no_tenant)]);
}

/// A dropped unit of work queues no message, and counts none.
pub async fn an_uncommitted_message_is_not_sent(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let mut work = world.begin(&World::system(tenant.id)).await;
    work.apply(queue(&new_message(&world, tenant.id))).await.unwrap();
    drop(work);
    assert_eq!(claim(&world, 100).await, []);
    assert!(queued_at(&world, MailKind::Verify, "ada@example.com").await.is_empty());
}

/// Messages are claimed in the order in which they are due, from the exact millisecond on, at most as many as the
/// limit.
pub async fn due_messages_are_claimed_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let due_in = |millis| Message {
        next_attempt_at: world.now() + TimeDelta::milliseconds(millis),
        ..new_message(&world, tenant.id)
    };
    let messages = [due_in(3), due_in(0), due_in(1), due_in(2), due_in(4)];
    world.try_commit(tenant.id, messages.iter().map(queue)).await.unwrap();
    world.clock.advance(TimeDelta::milliseconds(3));
    let ids = |messages: Vec<Message>| messages.into_iter().map(|message| message.id).collect::<BTreeSet<_>>();
    assert_eq!(ids(claim(&world, 2).await), BTreeSet::from([messages[1].id, messages[2].id]));
    assert_eq!(ids(claim(&world, 100).await), BTreeSet::from([messages[3].id, messages[0].id]));
    world.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(ids(claim(&world, 100).await), BTreeSet::from([messages[4].id]));
}

/// A claimed message is claimed again when its claim has expired. Then the former claim can neither postpone nor remove
/// it.
pub async fn a_claim_expires(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    world.commit(tenant.id, queue(&new_message(&world, tenant.id))).await;
    let former = claim(&world, 100).await.remove(0);
    world.clock.advance(TimeDelta::minutes(2) - TimeDelta::milliseconds(1));
    assert_eq!(claim(&world, 100).await, []);
    world.clock.advance(TimeDelta::milliseconds(1));
    let latter = claim(&world, 100).await.remove(0);
    assert_eq!((latter.id, former.attempts, latter.attempts), (former.id, 1, 2));
    world.store.postpone_message(&former, world.now()).await.unwrap();
    world.store.remove_message(&former).await.unwrap();
    assert_eq!(claim(&world, 100).await, []);
    world.clock.advance(TimeDelta::minutes(2));
    assert_eq!(claim(&world, 100).await.len(), 1);
}

/// A postponed message is due at its new time. A removed message is gone.
pub async fn a_claimed_message_is_postponed_or_removed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (first, second) = (new_message(&world, tenant.id), new_message(&world, tenant.id));
    world.try_commit(tenant.id, [queue(&first), queue(&second)]).await.unwrap();
    let mut claimed = claim(&world, 100).await;
    claimed.sort_by_key(|message| message.id);
    world.store.postpone_message(&claimed[0], world.now() + TimeDelta::minutes(5)).await.unwrap();
    world.store.remove_message(&claimed[1]).await.unwrap();
    world.clock.advance(TimeDelta::minutes(5) - TimeDelta::milliseconds(1));
    assert_eq!(claim(&world, 100).await, []);
    world.clock.advance(TimeDelta::milliseconds(1));
    let again = claim(&world, 100).await;
    assert_eq!(again.iter().map(|message| (message.id, message.attempts)).collect::<Vec<_>>(), [(first.id, 2)]);
}

/// Concurrent processes claim each message once.
pub async fn concurrent_processes_claim_each_message_once(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    let messages: Vec<Message> = (0..40).map(|_| new_message(&world, tenant.id)).collect();
    world.try_commit(tenant.id, messages.iter().map(queue)).await.unwrap();
    let mut tasks = JoinSet::new();
    for _ in 0..4 {
        let world = Arc::clone(&world);
        tasks.spawn(async move {
            let mut found = Vec::new();
            // Another process may hold the last messages for a moment, so an empty answer is not the end.
            for _ in 0..20 {
                found.extend(claim(&world, 3).await);
            }
            found
        });
    }
    let mut claimed: Vec<_> = tasks.join_all().await.concat().into_iter().map(|message| message.id).collect();
    claimed.sort();
    assert_eq!(claimed, messages.iter().map(|message| message.id).collect::<Vec<_>>());
}

/// The moments of messages to an address are read back in every tenant, by kind and in any letter case. Those that are
/// counted in one tenant are separate.
pub async fn messages_to_an_address_are_counted_in_all_tenants(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let first = new_message(&world, acme.id);
    world.commit(acme.id, queue(&first)).await;
    world.tick();
    let second = new_message(&world, other.id);
    let both = vec![first.created_at, second.created_at];
    world
        .commit(other.id, MailChange::Queue { message: second, counted_in: TenantId::NONE, queued_at: both.clone() })
        .await;
    assert_eq!(queued_at(&world, MailKind::Verify, "aDA@example.com").await, both);
    assert!(queued_at(&world, MailKind::Reset, "ada@example.com").await.is_empty());
    assert!(queued_at(&world, MailKind::Verify, "grace@example.com").await.is_empty());
    let third = new_message(&world, acme.id);
    let (kind, to, moments) = (third.kind, third.to.key(), vec![third.created_at]);
    world.commit(acme.id, MailChange::Queue { message: third, counted_in: acme.id, queued_at: moments.clone() }).await;
    let counted = async |counted_in| {
        world.locked(world.id(), async |locks| locks.lock_queued_messages(counted_in, kind, &to).await.unwrap()).await
    };
    assert_eq!((counted(acme.id).await, counted(other.id).await), (moments, Vec::new()));
    assert_eq!(counted(TenantId::NONE).await, both);
}

/// Concurrent units of work in several tenants see each other's messages to an address, the first ones too.
pub async fn concurrent_messages_to_an_address_are_all_counted(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let tenant = world.tenant(&format!("tenant-{number}")).await;
        let world = Arc::clone(&world);
        tasks.spawn(async move {
            let message = new_message(&world, tenant.id);
            let mut work = world.begin(&World::system(tenant.id)).await;
            let mut queued_at =
                work.locks().lock_queued_messages(TenantId::NONE, message.kind, &message.to.key()).await.unwrap();
            queued_at.push(message.created_at);
            work.apply(MailChange::Queue { message, counted_in: TenantId::NONE, queued_at }).await.unwrap();
            work.commit().await.unwrap();
        });
    }
    tasks.join_all().await;
    assert_eq!(queued_at(&world, MailKind::Verify, "ada@example.com").await.len(), 8);
}

/// Counts are removed when none of their messages counts any more.
pub async fn message_counts_are_removed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    for (email, ages) in [("old@example.com", [7_200, 3_601]), ("mixed@example.com", [7_200, 3_600])] {
        let message = Message { to: email.parse().unwrap(), ..new_message(&world, tenant.id) };
        let queued_at = ages.map(|seconds| world.now() - TimeDelta::seconds(seconds)).to_vec();
        world.commit(tenant.id, MailChange::Queue { message, counted_in: TenantId::NONE, queued_at }).await;
    }
    assert_eq!(world.iam().await.remove_message_counts().await.unwrap(), 1);
    assert!(queued_at(&world, MailKind::Verify, "old@example.com").await.is_empty());
    assert_eq!(queued_at(&world, MailKind::Verify, "mixed@example.com").await.len(), 2);
}
