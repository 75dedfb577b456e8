//! A request with an idempotency key takes effect once.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::idempotency::Idempotency;
use iam_core::user::NewUser;
use iam_model::change::{Change, IdempotencyChange};
use iam_model::error::Error;
use iam_model::id::TenantId;
use iam_model::idempotency::IdempotencyRecord;
use iam_model::store::Store;
use iam_model::store_error::StoreError;
use iam_model::user::{UserFilter, UserSort};

use crate::world::World;

fn record(world: &World, tenant_id: TenantId, id: u8, answer: &str) -> IdempotencyRecord {
    IdempotencyRecord { tenant_id, id: [id; 32], request: [9; 32], answer: answer.to_owned(), created_at: world.now() }
}

fn keep(record: &IdempotencyRecord) -> Change {
    IdempotencyChange::Keep(record.clone()).into()
}

async fn kept(world: &World, in_tenant: TenantId, of_tenant: TenantId, id: u8) -> Option<IdempotencyRecord> {
    world.locked(in_tenant, async |locks| locks.lock_idempotency_record(of_tenant, &[id; 32]).await.unwrap()).await
}

/// An answer is read back unchanged, only as an answer of its own tenant, which may be [`TenantId::NONE`].
pub async fn an_answer_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await.id, world.tenant("other").await.id);
    let answer = r#"{"name":"Zoë \u0000 \"quoted\"","numbers":[1,2.5]}"#;
    let (of_tenant, of_no_tenant) = (record(&world, tenant, 1, answer), record(&world, TenantId::NONE, 1, "7"));
    world.try_commit(tenant, [keep(&of_tenant), keep(&of_no_tenant)]).await.unwrap();
    for asked_in in [tenant, other] {
        assert_eq!(kept(&world, asked_in, tenant, 1).await.as_ref(), Some(&of_tenant));
        assert_eq!(kept(&world, asked_in, TenantId::NONE, 1).await.as_ref(), Some(&of_no_tenant));
        assert_eq!(kept(&world, asked_in, other, 1).await, None);
        assert_eq!(kept(&world, asked_in, tenant, 2).await, None);
    }
}

/// A later answer replaces one that has expired and is still stored.
pub async fn a_later_answer_replaces_an_expired_one(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await.id;
    world.commit(tenant, keep(&record(&world, tenant, 1, "1"))).await;
    world.tick();
    let later = IdempotencyRecord { request: [8; 32], ..record(&world, tenant, 1, "2") };
    world.commit(tenant, keep(&later)).await;
    assert_eq!(kept(&world, tenant, tenant, 1).await, Some(later));
}

/// A dropped unit of work stores no answer.
pub async fn a_dropped_unit_of_work_stores_no_answer(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await.id;
    let caller = Caller::system(tenant, "conformance");
    let mut work = world.begin(caller.author()).await;
    work.apply(keep(&record(&world, tenant, 1, "1"))).await.unwrap();
    drop(work);
    assert_eq!(kept(&world, tenant, tenant, 1).await, None);
}

/// Answers that were stored before a moment are removed, in all tenants.
pub async fn old_answers_are_removed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await.id;
    for (id, of) in [(1, tenant), (2, TenantId::NONE), (3, tenant), (4, TenantId::NONE)] {
        world.commit(tenant, keep(&record(&world, of, id, "1"))).await;
        world.clock.advance(TimeDelta::milliseconds(1));
    }
    let moment = world.now() - TimeDelta::milliseconds(2);
    assert_eq!(world.store.remove_idempotency_records(moment, 1_000).await.unwrap(), 2);
    assert_eq!(world.store.remove_idempotency_records(moment, 1_000).await.unwrap(), 0);
    assert_eq!(kept(&world, tenant, tenant, 1).await, None);
    assert_eq!(kept(&world, tenant, TenantId::NONE, 2).await, None);
    assert!(kept(&world, tenant, tenant, 3).await.is_some());
    assert!(kept(&world, tenant, TenantId::NONE, 4).await.is_some());
}

/// Answers with a text are removed in one tenant, also those to clients without one. Others stay.
pub async fn answers_with_a_text_are_forgotten(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await.id, world.tenant("other").await.id);
    let (named, unnamed) = (r#"{"id":"ü_1","name":"%"}"#, r#"{"id":"üx1","ID":"Ü_1"}"#);
    for (of, id, answer) in [(tenant, 1, named), (tenant, 2, unnamed), (other, 3, named), (TenantId::NONE, 4, named)] {
        world.commit(tenant, keep(&record(&world, of, id, answer))).await;
    }
    let forget = |tenant_id| Change::from(IdempotencyChange::Forget { tenant_id, text: r#""id":"ü_1""#.to_owned() });
    world.commit(tenant, forget(tenant)).await;
    assert_eq!(kept(&world, tenant, tenant, 1).await, None);
    for (of, id) in [(tenant, 2), (other, 3), (TenantId::NONE, 4)] {
        assert!(kept(&world, tenant, of, id).await.is_some(), "{id}");
    }
    world.commit(tenant, forget(TenantId::NONE)).await;
    assert_eq!(kept(&world, tenant, TenantId::NONE, 4).await, None);
}

/// Of many concurrent requests that create the same user with one key, one creates it, and all get the same answer.
pub async fn concurrent_repeats_create_one_user(store: Arc<dyn Store>) {
    const REPEATS: usize = 12;
    let world = World::new(store);
    let tenant = world.tenant("acme").await.id;
    let iam = world.iam().await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..REPEATS {
        let iam = iam.clone();
        tasks.spawn(async move {
            let idempotency = Idempotency::new("ada".parse().unwrap(), "make ada");
            let (caller, new) = (Caller::system(tenant, "import"), new_user("ada@example.com"));
            let user = iam.users().create_once(&caller, new, None, None, Some(&idempotency)).await.unwrap();
            (user, idempotency.was_replayed())
        });
    }
    let answers = tasks.join_all().await;
    assert!(answers.iter().all(|(user, _)| *user == answers[0].0));
    assert_eq!(answers.iter().filter(|(_, was_replayed)| !was_replayed).count(), 1);
    let caller = Caller::system(tenant, "test");
    let page = iam.users().list(&caller, &UserFilter::default(), UserSort::default(), Default::default()).await;
    assert_eq!(page.unwrap().items, [answers[0].0.clone()]);
}

/// A repeated key stands for the earlier request only from the same caller, with the same request, and for one day.
pub async fn a_key_belongs_to_one_request(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await.id, world.tenant("other").await.id);
    let iam = world.iam().await;
    let create = async |tenant, reason: &'static str, request: &str, email: &str| {
        let idempotency = Idempotency::new("key".parse().unwrap(), request);
        let caller = Caller::system(tenant, reason);
        let made = iam.users().create_once(&caller, new_user(email), None, None, Some(&idempotency)).await;
        made.map(|user| (user.email.to_string(), idempotency.was_replayed()))
    };
    let made = |email: &str| Ok::<_, Error>((email.to_owned(), false));
    assert_eq!(create(tenant, "import", "a", "a@example.com").await.unwrap(), made("a@example.com").unwrap());
    assert_eq!(create(tenant, "import", "a", "a@example.com").await.unwrap(), ("a@example.com".to_owned(), true));
    let reused = create(tenant, "import", "b", "b@example.com").await;
    assert!(matches!(reused, Err(Error::IdempotencyKeyReused)), "{reused:?}");
    assert_eq!(create(tenant, "other import", "b", "b@example.com").await.unwrap(), made("b@example.com").unwrap());
    assert_eq!(create(other, "import", "b", "b@example.com").await.unwrap(), made("b@example.com").unwrap());
    let idempotency = Idempotency::new("key".parse().unwrap(), "a");
    let role = iam.roles().create_once(&Caller::system(tenant, "import"), new_role(), Some(&idempotency)).await;
    assert!(matches!(role, Err(Error::IdempotencyKeyReused)), "{role:?}");
    world.clock.advance(TimeDelta::hours(24));
    assert_eq!(create(tenant, "import", "a", "a@example.com").await.unwrap(), ("a@example.com".to_owned(), true));
    world.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(create(tenant, "import", "b", "c@example.com").await.unwrap(), made("c@example.com").unwrap());
    assert_eq!(iam.remove_idempotency_records().await.unwrap(), 2);
}

/// A failure is not stored: the same request may succeed later, and another request may use the key.
pub async fn failures_are_not_kept(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    world.user(&tenant, "ada@example.com").await;
    let iam = world.iam().await;
    let idempotency = Idempotency::new("key".parse().unwrap(), "a");
    let caller = Caller::system(tenant.id, "import");
    let create = async |email| iam.users().create_once(&caller, new_user(email), None, None, Some(&idempotency)).await;
    for _ in 0..2 {
        let taken = create("ada@example.com").await;
        assert!(matches!(taken, Err(Error::Conflict(_))), "{taken:?}");
    }
    create("grace@example.com").await.unwrap();
    assert!(!idempotency.was_replayed());
}

/// A concurrent request with the same key waits for the end of the unit of work. A store may refuse it if the wait is
/// too long.
pub async fn a_key_is_locked_until_the_unit_of_work_ends(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await.id;
    let caller = Caller::system(tenant, "conformance");
    let mut work = world.begin(caller.author()).await;
    assert_eq!(work.reads().lock_idempotency_record(tenant, &[1; 32]).await.unwrap(), None);
    let store = Arc::clone(&world.store);
    let waiting = tokio::spawn(async move {
        let mut second = store.begin(tenant).await?;
        second.lock_idempotency_record(tenant, &[1; 32]).await
    });
    tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(100))).await.unwrap();
    assert!(!waiting.is_finished());
    let made = record(&world, tenant, 1, "1");
    work.apply(keep(&made)).await.unwrap();
    work.commit().await.unwrap();
    let found: Result<_, StoreError> = waiting.await.unwrap();
    assert_eq!(found.unwrap(), Some(made));
}

/// A request with a key reads the time after it has waited for its locks. Rights that ended during the wait do not
/// count.
pub async fn a_request_with_a_key_reads_the_time_after_its_locks(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await.id;
    let (iam, caller) = (world.iam().await, Caller::system(tenant, "conformance"));
    let mut work = world.begin(caller.author()).await;
    work.reads().lock_tenant().await.unwrap();
    let idempotency = Idempotency::new("key".parse().unwrap(), "make a role");
    let waiting = tokio::spawn(async move { iam.roles().create_once(&caller, new_role(), Some(&idempotency)).await });
    tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(100))).await.unwrap();
    assert!(!waiting.is_finished());
    world.tick();
    drop(work);
    assert_eq!(waiting.await.unwrap().unwrap().created_at, world.now());
}

fn new_user(email: &str) -> NewUser {
    NewUser {
        email: email.to_owned(),
        password: "Passw0rd!".to_owned().into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    }
}

fn new_role() -> iam_core::role::NewRole {
    iam_core::role::NewRole { name: "READER".to_owned(), ..iam_core::role::NewRole::default() }
}
