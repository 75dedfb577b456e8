//! Webhooks and their deliveries.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::audit::EventFormat;
use iam_model::change::{TenantChange, WebhookChange};
use iam_model::id::WebhookId;
use iam_model::store::Store;
use iam_model::tenant::{Tenant, TenantStatus};
use iam_model::version::Version;
use iam_model::webhook::{
    Delivery, DeliveryProgress, DeliveryStatus, DueWebhook, FormerSalt, Webhook, WebhookBacklog, WebhookSalt,
};

use crate::world::{World, assert_missing};

fn new_webhook(world: &World, tenant: &Tenant) -> Webhook {
    Webhook {
        id: world.id(),
        tenant_id: tenant.id,
        url: "https://example.com/hook".parse().unwrap(),
        types: vec!["USER.*".parse().unwrap()],
        format: EventFormat::Native,
        description: "".parse().unwrap(),
        enabled: true,
        salt: WebhookSalt { current: [1; 32], former: None },
        created_at: world.now(),
        created_by: None,
        version: Version::FIRST,
    }
}

async fn add_after(world: &World, webhook: Webhook, after: u64) -> Webhook {
    world.commit(webhook.tenant_id, WebhookChange::Create { webhook: webhook.clone(), after }).await;
    webhook
}

async fn add(world: &World, tenant: &Tenant) -> Webhook {
    add_after(world, new_webhook(world, tenant), 0).await
}

async fn update(world: &World, before: &Webhook, after: &Webhook) {
    let (before, after) = (Box::new(before.clone()), after.clone());
    world.commit(after.tenant_id, WebhookChange::Update { before, after, reason: None }).await;
}

/// A webhook, read in a unit of work and outside of one.
async fn read(world: &World, webhook: &Webhook) -> Option<Webhook> {
    let committed = world.store.webhook(webhook.tenant_id, webhook.id).await.unwrap();
    let locked = world.locked(webhook.tenant_id, async |locks| locks.lock_webhook(webhook.id).await.unwrap()).await;
    assert_eq!(committed, locked);
    committed
}

async fn count(world: &World, tenant: &Tenant) -> u64 {
    world.locked(tenant.id, async |locks| locks.count_webhooks().await.unwrap()).await
}

async fn is_due(world: &World, webhook: &Webhook) -> bool {
    due(world, webhook).await.is_some()
}

async fn due(world: &World, webhook: &Webhook) -> Option<DueWebhook> {
    let due = world.store.due_webhooks(world.now()).await.unwrap();
    due.into_iter().find(|due| (due.tenant_id, due.id) == (webhook.tenant_id, webhook.id))
}

async fn progress(world: &World, webhook: &Webhook) -> DeliveryProgress {
    let work = world.store.webhook_work(webhook.tenant_id, webhook.id, world.now(), 10).await.unwrap();
    work.unwrap().progress
}

async fn record(world: &World, webhook: &Webhook, before: u64, after: DeliveryProgress, kept: &[Delivery]) -> bool {
    let stored = world.store.webhook(webhook.tenant_id, webhook.id).await.unwrap();
    let version = stored.map_or(webhook.version, |stored| stored.version);
    record_as(world, webhook, version, before, after, kept).await
}

async fn record_as(
    world: &World,
    webhook: &Webhook,
    version: Version,
    before: u64,
    after: DeliveryProgress,
    kept: &[Delivery],
) -> bool {
    world.store.record_deliveries(webhook.tenant_id, webhook.id, version, before, &after, kept).await.unwrap()
}

fn at(attempted: u64) -> DeliveryProgress {
    DeliveryProgress { attempted, ..DeliveryProgress::default() }
}

fn delivered(world: &World, sequence: u64) -> Delivery {
    Delivery {
        sequence,
        entry_id: world.id(),
        event_type: "USER.CREATE".to_owned(),
        attempt: 1,
        status: DeliveryStatus::Delivered,
        http_status: Some(204),
        error: None,
        started_at: world.now(),
        duration_ms: 12,
        next_attempt_at: None,
    }
}

fn pending(world: &World, sequence: u64) -> Delivery {
    Delivery {
        status: DeliveryStatus::Pending,
        http_status: Some(500),
        error: Some("\"no\"".to_owned()),
        next_attempt_at: Some(world.now() + TimeDelta::milliseconds(5)),
        ..delivered(world, sequence)
    }
}

/// The webhooks of a tenant are read back newest first, then by identifier, and only in their tenant. Each field has
/// the value that was written.
pub async fn webhooks_are_read_back_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let ada = world.user(&acme, "ada@example.com").await;
    assert_eq!((world.store.webhooks(acme.id).await.unwrap(), count(&world, &acme).await), (vec![], 0));
    let full = Webhook {
        url: "http://127.0.0.1:8000/ä?b=c".parse().unwrap(),
        types: ["USER.*", "ROLE.CREATE", "LETTER.SENT"].map(|text| text.parse().unwrap()).to_vec(),
        format: EventFormat::Ocsf,
        description: "Lager \"7\"".parse().unwrap(),
        enabled: false,
        salt: WebhookSalt {
            current: [7; 32],
            former: Some(FormerSalt { salt: [9; 32], until: world.now() + TimeDelta::milliseconds(7) }),
        },
        created_by: Some(ada.id),
        created_at: world.now() - TimeDelta::days(1),
        ..new_webhook(&world, &acme)
    };
    let full = add_after(&world, full, 0).await;
    let (first, second) = (add(&world, &acme).await, add(&world, &acme).await);
    add(&world, &other).await;
    assert_eq!(world.store.webhooks(acme.id).await.unwrap(), [first.clone(), second.clone(), full.clone()]);
    let mut all = world.locked(acme.id, async |locks| locks.all_webhooks().await.unwrap()).await;
    let mut expected = vec![first, second, full.clone()];
    [&mut all, &mut expected].into_iter().for_each(|webhooks| webhooks.sort_by_key(|webhook| webhook.id));
    assert_eq!(all, expected);
    assert_eq!((count(&world, &acme).await, count(&world, &other).await), (3, 1));
    assert_eq!(read(&world, &full).await, Some(full.clone()));
    assert_eq!(read(&world, &Webhook { tenant_id: other.id, ..full }).await, None);
}

/// A change is read back and raises the version. A change of a webhook that does not exist is refused.
pub async fn changes_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let before = add(&world, &tenant).await;
    let bystander = add(&world, &tenant).await;
    let after = Webhook {
        url: "https://example.org".parse().unwrap(),
        types: vec!["ROLE.*".parse().unwrap()],
        format: EventFormat::Ocsf,
        description: "new".parse().unwrap(),
        enabled: false,
        ..before.clone()
    };
    update(&world, &before, &after).await;
    let expected = Webhook { version: Version::FIRST.next(), ..after.clone() };
    assert_eq!(read(&world, &before).await, Some(expected.clone()));
    let former = Some(FormerSalt { salt: before.salt.current, until: world.now() });
    let rotated = Webhook { salt: WebhookSalt { current: [3; 32], former }, ..expected };
    world.commit(tenant.id, WebhookChange::Rotate { after: rotated.clone() }).await;
    assert_eq!(read(&world, &before).await, Some(Webhook { version: rotated.version.next(), ..rotated }));
    assert_eq!(read(&world, &bystander).await, Some(bystander.clone()));
    world.commit(tenant.id, WebhookChange::Delete(before.clone())).await;
    assert_eq!(read(&world, &before).await, None);
    assert_eq!(world.store.webhooks(tenant.id).await.unwrap(), [bystander]);
    for change in [
        WebhookChange::Update { before: before.clone().into(), after: after.clone(), reason: None },
        WebhookChange::Rotate { after },
        WebhookChange::Replay { webhook: before.clone(), after: 0 },
        WebhookChange::Delete(before),
    ] {
        assert_missing(&world.try_commit(tenant.id, [change.into()]).await);
    }
}

/// Deliveries are read back by the start of the last attempt, newest first. A later attempt replaces the earlier one.
/// They are removed with their webhook.
pub async fn deliveries_are_read_back_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let (webhook, bystander) = (add(&world, &tenant).await, add(&world, &tenant).await);
    let read =
        async |webhook: &Webhook, limit| world.store.deliveries(webhook.tenant_id, webhook.id, limit).await.unwrap();
    let (first, second, third) = (pending(&world, 1), delivered(&world, 2), delivered(&world, 3));
    assert!(record(&world, &webhook, 0, at(3), &[first.clone(), second.clone(), third.clone()]).await);
    assert_eq!(read(&webhook, 10).await, [third.clone(), second.clone(), first.clone()]);
    world.clock.advance(TimeDelta::milliseconds(1));
    let again = Delivery {
        attempt: 10,
        status: DeliveryStatus::Failed,
        http_status: None,
        error: Some("no connection".to_owned()),
        started_at: world.now(),
        duration_ms: 15_000,
        next_attempt_at: None,
        ..first
    };
    assert!(record(&world, &webhook, 3, at(3), std::slice::from_ref(&again)).await);
    assert_eq!(read(&webhook, 10).await, [again.clone(), third, second]);
    assert_eq!(read(&webhook, 1).await, [again]);
    assert_eq!(read(&bystander, 10).await, []);
    assert_eq!(read(&Webhook { tenant_id: other.id, ..webhook.clone() }, 10).await, []);
    world.commit(tenant.id, WebhookChange::Delete(webhook.clone())).await;
    assert_eq!(read(&webhook, 10).await, []);
}

/// The webhooks of a tenant of which the last attempt has failed are found, newest first, also those that are switched
/// off. One that is switched on again begins anew.
pub async fn failing_webhooks_are_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let older = add(&world, &tenant).await;
    world.tick();
    let (webhook, elsewhere) = (add(&world, &tenant).await, add(&world, &other).await);
    let failing = async || world.store.failing_webhooks(tenant.id).await.unwrap();
    assert_eq!(failing().await, []);
    let failed = DeliveryProgress { failures: 1, ..at(1) };
    for failed_one in [&older, &webhook, &elsewhere] {
        assert!(record(&world, failed_one, 0, failed, &[pending(&world, 1)]).await);
    }
    assert_eq!(failing().await, [webhook.clone(), older.clone()]);
    assert!(record(&world, &older, 1, at(1), &[delivered(&world, 1)]).await);
    assert_eq!(failing().await, std::slice::from_ref(&webhook));
    let off = Webhook { enabled: false, ..webhook.clone() };
    update(&world, &webhook, &off).await;
    assert_eq!(failing().await, [Webhook { version: webhook.version.next(), ..off.clone() }]);
    update(&world, &off, &webhook).await;
    assert_eq!(failing().await, []);
}

/// A webhook is due when its log goes on or an attempt is due. It is not due while it pauses or is switched off, or its
/// tenant is suspended.
pub async fn a_webhook_is_due_when_it_has_something_to_do(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let webhook = add(&world, &tenant).await;
    add(&world, &other).await;
    // Nothing is sequenced yet.
    assert_eq!(world.store.due_webhooks(world.now()).await.unwrap(), []);
    world.sequence().await;
    assert!(!due(&world, &webhook).await.unwrap().is_failing);
    assert_eq!(world.store.due_webhooks(world.now()).await.unwrap().len(), 2);
    let size = world.store.log_heads(&[tenant.id]).await.unwrap()[0].frontier.size();
    assert!(record(&world, &webhook, 0, at(size), &[]).await);
    assert!(!is_due(&world, &webhook).await);

    // An attempt.
    let retry = pending(&world, 1);
    assert!(record(&world, &webhook, size, at(size), std::slice::from_ref(&retry)).await);
    assert!(!is_due(&world, &webhook).await);
    world.clock.advance(TimeDelta::milliseconds(5));
    assert!(is_due(&world, &webhook).await);
    let work = world.store.webhook_work(tenant.id, webhook.id, world.now(), 10).await.unwrap().unwrap();
    assert_eq!((&work.webhook, work.progress, &*work.due), (&webhook, at(size), &[retry.clone()][..]));
    assert!(record(&world, &webhook, size, at(size), &[delivered(&world, 1)]).await);
    assert!(!is_due(&world, &webhook).await);

    // A pause.
    let until = world.now() + TimeDelta::milliseconds(1);
    let paused = DeliveryProgress { attempted: 0, failures: 10, paused_until: Some(until) };
    assert!(record(&world, &webhook, size, paused, &[]).await);
    assert!(!is_due(&world, &webhook).await);
    assert_eq!(progress(&world, &webhook).await, paused);
    world.clock.advance(TimeDelta::milliseconds(1));
    assert!(due(&world, &webhook).await.unwrap().is_failing);

    // A webhook that is switched off, and a suspended tenant.
    let off = Webhook { enabled: false, ..webhook.clone() };
    update(&world, &webhook, &off).await;
    assert!(!is_due(&world, &webhook).await);
    assert!(world.store.webhook_work(tenant.id, webhook.id, world.now(), 10).await.unwrap().is_none());
    update(&world, &off, &webhook).await;
    assert!(is_due(&world, &webhook).await);
    assert_eq!(progress(&world, &webhook).await, at(0));
    let suspended = Tenant { status: TenantStatus::Suspended, ..tenant.clone() };
    world.commit(tenant.id, TenantChange::ChangeStatus { before: tenant.clone(), after: suspended }).await;
    assert!(!is_due(&world, &webhook).await);
    assert!(world.store.webhook_work(tenant.id, webhook.id, world.now(), 10).await.unwrap().is_none());
    let missing: WebhookId = world.id();
    assert!(world.store.webhook_work(tenant.id, missing, world.now(), 10).await.unwrap().is_none());
}

/// At most as many due deliveries are read as asked for, in the order of the log.
pub async fn due_deliveries_come_in_the_order_of_the_log(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let webhook = add(&world, &tenant).await;
    let later = Delivery { next_attempt_at: Some(world.now() + TimeDelta::seconds(9)), ..pending(&world, 2) };
    let kept = [pending(&world, 4), pending(&world, 3), later, pending(&world, 1)];
    assert!(record(&world, &webhook, 0, at(4), &kept).await);
    world.clock.advance(TimeDelta::seconds(1));
    for (limit, expected) in [(10, &[1, 3, 4][..]), (2, &[1, 3])] {
        let work = world.store.webhook_work(tenant.id, webhook.id, world.now(), limit).await.unwrap().unwrap();
        assert_eq!(work.due.iter().map(|delivery| delivery.sequence).collect::<Vec<_>>(), expected);
    }
}

/// A replay goes back, never forward, and ends a pause. A record from before it does not move the webhook again.
pub async fn a_replay_goes_back_and_is_not_undone(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let webhook = add_after(&world, new_webhook(&world, &tenant), 5).await;
    assert_eq!(progress(&world, &webhook).await, at(5));
    let paused = DeliveryProgress { attempted: 7, failures: 12, paused_until: Some(world.now()) };
    assert!(record(&world, &webhook, 5, paused, &[]).await);
    let replay = async |webhook: Webhook, after| {
        let webhook = webhook.changed();
        world.commit(tenant.id, WebhookChange::Replay { webhook: webhook.clone(), after }).await;
        assert_eq!(read(&world, &webhook).await, Some(webhook.clone()));
        webhook
    };
    let replayed = replay(webhook.clone(), 9).await;
    assert_eq!(progress(&world, &webhook).await, at(7));
    // Also to where the webhook is, because events since may have been sent and not recorded yet.
    assert!(!record_as(&world, &webhook, webhook.version, 7, at(8), &[]).await);
    let replayed = replay(replayed, 2).await;
    assert_eq!(progress(&world, &webhook).await, at(2));
    assert!(!record(&world, &webhook, 7, at(8), &[]).await);
    assert_eq!(progress(&world, &webhook).await, at(2));
    assert!(record_as(&world, &webhook, replayed.version, 2, at(3), &[]).await);
    world.commit(tenant.id, WebhookChange::Delete(replayed)).await;
    assert!(!record(&world, &webhook, 3, at(4), &[delivered(&world, 4)]).await);
}

/// After a replay, deliveries of events that are sent again anyway are not due.
pub async fn deliveries_after_a_replay_are_not_due(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let webhook = add(&world, &tenant).await;
    assert!(record(&world, &webhook, 0, at(9), &[pending(&world, 2), pending(&world, 3)]).await);
    world.clock.advance(TimeDelta::seconds(1));
    let due = async || {
        let work = world.store.webhook_work(tenant.id, webhook.id, world.now(), 10).await.unwrap().unwrap();
        work.due.iter().map(|delivery| delivery.sequence).collect::<Vec<_>>()
    };
    assert_eq!((due().await, is_due(&world, &webhook).await), (vec![2, 3], true));
    let mut replayed = webhook.clone();
    for (after, expected) in [(2, &[2][..]), (1, &[])] {
        replayed = replayed.changed();
        world.commit(tenant.id, WebhookChange::Replay { webhook: replayed.clone(), after }).await;
        assert_eq!((due().await, is_due(&world, &webhook).await), (expected.to_vec(), !expected.is_empty()));
    }
}

/// An event from before a change of the webhook is not recorded as sent: the webhook may now send other events.
pub async fn a_change_is_not_passed_by_a_record_from_before(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let webhook = add(&world, &tenant).await;
    let changed = Webhook { types: vec!["ROLE.*".parse().unwrap()], ..webhook.clone() }.changed();
    update(&world, &webhook, &changed).await;
    assert!(!record_as(&world, &webhook, webhook.version, 0, at(3), &[delivered(&world, 1)]).await);
    assert_eq!(progress(&world, &webhook).await, at(0));
    let kept = world.store.deliveries(tenant.id, webhook.id, 10).await.unwrap();
    assert_eq!(kept.len(), 1, "what was sent is shown");
    assert!(record_as(&world, &webhook, changed.version, 0, at(3), &[]).await);
}

/// The backlog is that of the webhook furthest behind, from the first event that retention has left.
pub async fn the_backlog_is_that_of_the_last_webhook(store: Arc<dyn Store>) {
    let world = World::new(store);
    assert_eq!(world.store.webhook_backlog().await.unwrap(), WebhookBacklog::default());
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let began = world.now();
    let (webhook, ahead) = (add(&world, &acme).await, add(&world, &other).await);
    world.clock.advance(TimeDelta::seconds(3));
    world.user(&acme, "ada@example.com").await;
    world.sequence().await;
    let size = async |tenant: &Tenant| world.store.log_heads(&[tenant.id]).await.unwrap()[0].frontier.size();
    let (long, short) = (size(&acme).await, size(&other).await);
    assert!(record(&world, &ahead, 0, at(short), &[]).await);
    let expected = WebhookBacklog { entries: long, since: Some(began) };
    assert_eq!(world.store.webhook_backlog().await.unwrap(), expected);
    assert!(record(&world, &webhook, 0, at(long - 1), &[]).await);
    let expected = WebhookBacklog { entries: 1, since: Some(began + TimeDelta::seconds(3)) };
    assert_eq!(world.store.webhook_backlog().await.unwrap(), expected);
    update(&world, &webhook, &Webhook { enabled: false, ..webhook.clone() }).await;
    assert_eq!(world.store.webhook_backlog().await.unwrap(), WebhookBacklog::default());
}

/// Deliveries that have ended are removed some time after their last attempt; others stay.
pub async fn ended_deliveries_are_removed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let webhook = add(&world, &tenant).await;
    let old = [delivered(&world, 1), Delivery { status: DeliveryStatus::Failed, ..delivered(&world, 2) }];
    let waiting = pending(&world, 3);
    let before = world.now() + TimeDelta::milliseconds(1);
    let new = Delivery { started_at: before, ..delivered(&world, 4) };
    let kept = [&old[..], &[waiting.clone(), new.clone()]].concat();
    assert!(record(&world, &webhook, 0, at(4), &kept).await);
    assert_eq!(world.store.remove_ended_deliveries(before, 100).await.unwrap(), 2);
    assert_eq!(world.store.remove_ended_deliveries(before, 100).await.unwrap(), 0);
    assert_eq!(world.store.deliveries(tenant.id, webhook.id, 10).await.unwrap(), [new, waiting]);
}
