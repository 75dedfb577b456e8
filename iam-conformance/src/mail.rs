//! The outbox: messages commit with their change, and one process at a time sends each of them.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::change::{Change, MailChange};
use iam_model::clock::Timestamp;
use iam_model::context::{RequestContext, UserAgent};
use iam_model::id::{MessageId, TenantId};
use iam_model::mail::{Addressee, Lane, MailKind, Message, Recipient};
use iam_model::store::Store;
use iam_model::validate::Email;
use tokio::task::JoinSet;

use crate::world::World;

fn recipient(world: &World, address: &str) -> Addressee {
    Addressee::Recipient { subject: world.id(), address: Recipient::on_record(address.parse().unwrap()) }
}

/// A message to an address of its own.
fn new_message(world: &World, tenant_id: TenantId) -> Message {
    let id: MessageId = world.id();
    Message { to: recipient(world, &format!("User-{id}@example.com")), id, ..message_to_ada(world, tenant_id) }
}

fn message_to_ada(world: &World, tenant_id: TenantId) -> Message {
    Message {
        id: world.id(),
        tenant_id,
        kind: MailKind::Verify,
        to: recipient(world, "Ada@example.com"),
        link_id: Some(world.id()),
        context: RequestContext::default(),
        attempts: 0,
        next_attempt_at: world.now(),
        turn: None,
        claimed_until: None,
        created_at: world.now(),
    }
}

fn queue(message: &Message) -> Change {
    MailChange::Queue { message: message.clone(), counted_in: TenantId::NONE, queued_at: vec![message.created_at] }
        .into()
}

async fn claim(world: &World, limit: u32) -> Vec<Message> {
    let (now, until) = (world.now(), world.now() + TimeDelta::minutes(2));
    let mut claimed = world.store.claim_messages(now, until, limit).await.unwrap();
    claimed.sort_by_key(|message| message.id);
    claimed
}

async fn count(world: &World, tenant: TenantId, lane: Lane) -> Option<Timestamp> {
    world.store.count_sent_message(tenant, lane, world.now(), 5).await.unwrap()
}

async fn queued_at(world: &World, kind: MailKind, to: &str) -> Vec<Timestamp> {
    let key = to.parse::<Email>().unwrap().key();
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
        to: Addressee::Accounts("Grace@example.com".parse::<Email>().unwrap().key()),
        link_id: None,
        context: RequestContext {
            correlation_id: Some("c0ffee".parse().unwrap()),
            ip_address: Some(IpAddr::from([192, 0, 2, 7])),
            user_agent: Some(UserAgent::new("conformance/1.0")),
        },
        ..new_message(&world, TenantId::NONE)
    };
    world.try_commit(tenant.id, [queue(&of_user), queue(&of_no_tenant)]).await.unwrap();
    let until = world.now() + TimeDelta::minutes(2);
    let claimed =
        |message: Message| Message { attempts: 1, next_attempt_at: until, claimed_until: Some(until), ..message };
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

/// Messages of a tenant are claimed in the order in which they are due, from the exact millisecond on, at most as many
/// as the limit.
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
            for _ in 0..40 {
                found.extend(claim(&world, 3).await);
            }
            found
        });
    }
    let mut claimed: Vec<_> = tasks.join_all().await.concat().into_iter().map(|message| message.id).collect();
    claimed.sort();
    assert_eq!(claimed, messages.iter().map(|message| message.id).collect::<Vec<_>>());
}

/// However many messages of one tenant wait, one message of another tenant is claimed with the next ones: not more than
/// four of the first tenant before it. A tenant that comes back begins where the others are.
pub async fn tenants_take_turns(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let messages: Vec<Message> = (0..30).map(|_| new_message(&world, acme.id)).collect();
    world.try_commit(acme.id, messages.iter().map(queue)).await.unwrap();
    let tenants = |claimed: &[Message]| claimed.iter().map(|message| message.tenant_id).collect::<BTreeSet<_>>();
    let mut claimed = claim(&world, 100).await;
    assert_eq!((claimed.len(), tenants(&claimed)), (4, BTreeSet::from([acme.id])));
    for _ in 0..3 {
        world.tick();
        world.commit(other.id, queue(&new_message(&world, other.id))).await;
        let next = claim(&world, 100).await;
        assert_eq!((next.len(), tenants(&next)), (5, BTreeSet::from([acme.id, other.id])));
        claimed.extend(next);
    }
    // A tenant whose messages wait longer does not lose its place.
    world.tick();
    world.try_commit(other.id, (0..9).map(|_| queue(&new_message(&world, other.id)))).await.unwrap();
    loop {
        let next = claim(&world, 3).await;
        if next.is_empty() {
            break;
        }
        claimed.extend(next);
    }
    let own: Vec<_> = claimed.iter().filter(|message| message.tenant_id == acme.id).map(|message| message.id).collect();
    assert_eq!(own, messages.iter().map(|message| message.id).collect::<Vec<_>>());
    assert_eq!(claimed.len(), 30 + 3 + 9);
}

/// Invitations are claimed when no other message is due. A message that comes later goes before those that wait.
pub async fn invitations_come_last(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let invitation = || Message { kind: MailKind::Invitation, ..new_message(&world, acme.id) };
    world.try_commit(acme.id, (0..6).map(|_| queue(&invitation()))).await.unwrap();
    assert_eq!(claim(&world, 1).await[0].kind, MailKind::Invitation);
    let kinds = [
        MailKind::Verify,
        MailKind::Reset,
        MailKind::PasswordChanged,
        MailKind::EmailChanged,
        MailKind::NewLoginBlocked,
        MailKind::FactorAdded,
        MailKind::FactorRemoved,
    ];
    for kind in kinds {
        world.tick();
        for tenant in [acme.id, other.id] {
            world.commit(tenant, queue(&Message { kind, ..new_message(&world, tenant) })).await;
        }
        let next = claim(&world, 100).await;
        assert_eq!(next.iter().map(|message| message.kind).collect::<Vec<_>>(), [kind, kind]);
    }
    assert_eq!(claim(&world, 100).await.len(), 4);
    assert_eq!(claim(&world, 100).await.len(), 1);
}

/// While a message of a kind to an address is in the line or is being sent, no other one is claimed, in any tenant.
/// After a failed attempt, the next one does not wait for it.
pub async fn one_message_of_a_kind_to_an_address_is_sent_at_a_time(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let to = |address: &str, message: Message| Message { to: recipient(&world, address), ..message };
    let first = message_to_ada(&world, acme.id);
    let second = to("aDA@example.com", new_message(&world, other.id));
    let third = Message {
        kind: MailKind::Reset,
        to: Addressee::Accounts(first.to.key()),
        ..new_message(&world, TenantId::NONE)
    };
    world.try_commit(acme.id, [queue(&first), queue(&second), queue(&third)]).await.unwrap();
    let ids = |claimed: &[Message]| claimed.iter().map(|message| message.id).collect::<BTreeSet<_>>();
    let claimed = claim(&world, 100).await;
    assert_eq!(ids(&claimed), BTreeSet::from([first.id, third.id]));
    assert_eq!(claim(&world, 100).await, []);
    let first = claimed.iter().find(|message| message.id == first.id).unwrap();
    world.store.postpone_message(first, world.now() + TimeDelta::minutes(1)).await.unwrap();
    let claimed = claim(&world, 100).await;
    assert_eq!(ids(&claimed), BTreeSet::from([second.id]));
    world.clock.advance(TimeDelta::minutes(1));
    assert_eq!(claim(&world, 100).await, []);
    world.store.remove_message(&claimed[0]).await.unwrap();
    assert_eq!(ids(&claim(&world, 100).await), BTreeSet::from([first.id]));
}

/// A message that was claimed and given back is due as if it had not been claimed.
pub async fn a_claimed_message_is_given_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    world.commit(tenant.id, queue(&new_message(&world, tenant.id))).await;
    let claimed = claim(&world, 100).await.remove(0);
    world.store.return_message(&claimed, world.now() + TimeDelta::hours(1)).await.unwrap();
    world.store.remove_message(&claimed).await.unwrap();
    world.clock.advance(TimeDelta::hours(1) - TimeDelta::milliseconds(1));
    assert_eq!(claim(&world, 100).await, []);
    world.clock.advance(TimeDelta::milliseconds(1));
    let again = claim(&world, 100).await.remove(0);
    assert_eq!((again.id, again.attempts), (claimed.id, 1));
}

/// The messages of a tenant in an hour are counted by lane, for itself, and of concurrent processes none counts beyond
/// the limit.
pub async fn the_messages_of_a_tenant_are_counted(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let mut tasks = JoinSet::new();
    for _ in 0..8 {
        let world = Arc::clone(&world);
        tasks.spawn(async move { count(&world, acme.id, Lane::Invitations).await });
    }
    let ends_at = world.now() + TimeDelta::hours(1);
    let mut refused: Vec<Timestamp> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(refused.len(), 3);
    refused.dedup();
    assert_eq!(refused, [ends_at]);
    for _ in 0..5 {
        assert_eq!(count(&world, acme.id, Lane::Urgent).await, None);
        assert_eq!(count(&world, other.id, Lane::Urgent).await, None);
    }
    world.clock.advance(TimeDelta::hours(1) - TimeDelta::milliseconds(1));
    for (tenant, lane) in [(acme.id, Lane::Urgent), (other.id, Lane::Urgent), (other.id, Lane::Invitations)] {
        assert_eq!(count(&world, tenant, lane).await, Some(ends_at));
    }
    world.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(count(&world, acme.id, Lane::Invitations).await, None);
}

/// A unit of work finds the message that waits for the same purpose, in its place in the line too, and gives it a newer
/// link. It does not find one that is being sent.
pub async fn a_waiting_message_is_renewed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let first = message_to_ada(&world, acme.id);
    let blocked = Message { kind: MailKind::Reset, ..new_message(&world, acme.id) };
    world.try_commit(acme.id, [queue(&first), queue(&blocked)]).await.unwrap();
    // Both enter the line, and one of them stays there.
    let claimed = claim(&world, 1).await.remove(0);
    let (being_sent, waiting) = if claimed.id == first.id { (&first, &blocked) } else { (&blocked, &first) };
    let found = async |like: Message| {
        world.locked(acme.id, async |locks| locks.lock_waiting_message(&like, world.now()).await.unwrap()).await
    };
    assert_eq!(found(being_sent.clone()).await, None);
    for unlike in [
        Message { tenant_id: other.id, ..waiting.clone() },
        Message { kind: MailKind::Invitation, ..waiting.clone() },
        Message { to: recipient(&world, "ada@example.com"), ..waiting.clone() },
        Message { to: Addressee::Accounts(waiting.to.key()), ..waiting.clone() },
    ] {
        assert_eq!(found(unlike).await, None);
    }
    world.tick();
    let newer = Message { id: world.id(), link_id: Some(world.id()), created_at: world.now(), ..waiting.clone() };
    let renewed = found(newer.clone()).await.unwrap().renewed_by(&newer);
    assert_eq!(renewed.id, waiting.id);
    world.commit(acme.id, MailChange::Renew { message: renewed }).await;
    let sent = claim(&world, 100).await.remove(0);
    assert_eq!((sent.id, sent.link_id, sent.attempts), (waiting.id, newer.link_id, 1));
    // After its claim has expired, it waits again.
    world.clock.advance(TimeDelta::minutes(2));
    assert_eq!(found(newer).await.map(|message| message.id), Some(waiting.id));
}

/// While a unit of work gives a message a newer link, no process claims it with the former one.
pub async fn a_message_that_is_renewed_is_not_sent_with_its_former_link(store: Arc<dyn Store>) {
    let world = Arc::new(World::new(store));
    let tenant = world.tenant("acme").await;
    for _ in 0..20 {
        let message = new_message(&world, tenant.id);
        world.commit(tenant.id, queue(&message)).await;
        let newer = Message { link_id: Some(world.id()), created_at: world.now(), ..message.clone() };
        let renewing = {
            let (world, newer) = (Arc::clone(&world), newer.clone());
            tokio::spawn(async move {
                let mut work = world.begin(&World::system(tenant.id)).await;
                let Some(waiting) = work.reads().lock_waiting_message(&newer, world.now()).await.unwrap() else {
                    return false;
                };
                work.apply(MailChange::Renew { message: waiting.renewed_by(&newer) }).await.unwrap();
                work.commit().await.unwrap();
                true
            })
        };
        let mut claimed = claim(&world, 1).await;
        let was_renewed = renewing.await.unwrap();
        if claimed.is_empty() {
            claimed = claim(&world, 1).await;
        }
        let expected = if was_renewed { newer.link_id } else { message.link_id };
        assert_eq!((claimed[0].id, claimed[0].link_id), (message.id, expected));
        world.store.remove_message(&claimed[0]).await.unwrap();
    }
}

/// The moments of messages to an address are read back in every tenant, by kind and in any letter case. Those that are
/// counted in one tenant are separate.
pub async fn messages_to_an_address_are_counted_in_all_tenants(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let first = message_to_ada(&world, acme.id);
    world.commit(acme.id, queue(&first)).await;
    world.tick();
    let second = message_to_ada(&world, other.id);
    let both = vec![first.created_at, second.created_at];
    world
        .commit(other.id, MailChange::Queue { message: second, counted_in: TenantId::NONE, queued_at: both.clone() })
        .await;
    assert_eq!(queued_at(&world, MailKind::Verify, "aDA@example.com").await, both);
    assert!(queued_at(&world, MailKind::Reset, "ada@example.com").await.is_empty());
    assert!(queued_at(&world, MailKind::Verify, "grace@example.com").await.is_empty());
    let third = message_to_ada(&world, acme.id);
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
            let message = message_to_ada(&world, tenant.id);
            let mut work = world.begin(&World::system(tenant.id)).await;
            let mut queued_at =
                work.reads().lock_queued_messages(TenantId::NONE, message.kind, &message.to.key()).await.unwrap();
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
        let message = Message { to: recipient(&world, email), ..new_message(&world, tenant.id) };
        let queued_at = ages.map(|seconds| world.now() - TimeDelta::seconds(seconds)).to_vec();
        world.commit(tenant.id, MailChange::Queue { message, counted_in: TenantId::NONE, queued_at }).await;
    }
    assert_eq!(world.iam().await.remove_message_counts().await.unwrap(), 1);
    assert!(queued_at(&world, MailKind::Verify, "old@example.com").await.is_empty());
    assert_eq!(queued_at(&world, MailKind::Verify, "mixed@example.com").await.len(), 2);
}
