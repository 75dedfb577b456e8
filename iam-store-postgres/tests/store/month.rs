//! The monthly partitions of the audit log: made ahead of time or on demand, and dropped as a whole.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use iam_conformance::World;
use iam_core::audit::{AuditEntry, AuditFilter, AuditStore as _};
use iam_core::{Store as _, TenantId};
use iam_store_postgres::PostgresStore;
use sqlx::Executor as _;
use sqlx::postgres::PgPoolOptions;
use test_support::postgres::TestDatabase;

async fn migrated() -> (PostgresStore, TestDatabase) {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    store.migrate().await.unwrap();
    (store, database)
}

/// Returns the months that have a partition, such as `2026_01`.
async fn months(database: &TestDatabase) -> Vec<String> {
    let months = "SELECT right(c.relname, 7)
        FROM pg_inherits i
        JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'iam.audit_entries'::regclass
        ORDER BY c.relname";
    sqlx::query_scalar(months).fetch_all(&database.pool()).await.unwrap()
}

fn moment(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

async fn record(world: &World, tenant: TenantId, created_at: &str) -> AuditEntry {
    let entry = AuditEntry { created_at: moment(created_at), ..world.new_entry(tenant) };
    world.record(vec![entry.clone()]).await;
    entry
}

#[tokio::test]
async fn this_month_and_the_next_three_are_made_ahead() {
    let (store, database) = migrated().await;
    let present = "SELECT to_char(now() AT TIME ZONE 'UTC' + n * interval '1 month', 'YYYY_MM')
        FROM generate_series(0, 3) n";
    let mut expected: Vec<String> = sqlx::query_scalar(present).fetch_all(&database.pool()).await.unwrap();
    assert_eq!(months(&database).await, expected);
    store.prepare(moment("2041-11-30T23:59:59.999Z")).await.unwrap();
    expected.extend(["2041_11", "2041_12", "2042_01", "2042_02"].map(str::to_owned));
    assert_eq!(months(&database).await, expected);
    store.prepare(moment("2041-12-01T00:00:00Z")).await.unwrap();
    expected.push("2042_03".to_owned());
    assert_eq!(months(&database).await, expected);
}

#[tokio::test]
async fn a_month_is_made_on_demand() {
    let (_, database) = migrated().await;
    // The months are those of UTC, also if a session has another time zone.
    let pool = PgPoolOptions::new().after_connect(|connection, _| {
        Box::pin(async move { connection.execute("SET timezone = 'Pacific/Auckland'").await.map(|_| ()) })
    });
    let store = PostgresStore::from_pool(pool.connect(database.url()).await.unwrap());
    let world = World::new(Arc::new(store.clone()));
    let tenant = world.tenant("acme").await.id;
    let last = record(&world, tenant, "2031-05-31T23:59:59.999Z").await;
    let first = record(&world, tenant, "2031-06-01T00:00:00Z").await;
    world.sequence().await;
    for (entry, month) in [(last, "2031_05"), (first, "2031_06")] {
        assert_eq!(store.audit_entry(tenant, entry.id).await.unwrap(), Some(entry.clone()));
        let partition: String =
            sqlx::query_scalar("SELECT tableoid::regclass::text FROM iam.audit_entries WHERE id = $1")
                .bind(entry.id.as_uuid())
                .fetch_one(&database.pool())
                .await
                .unwrap();
        assert_eq!(partition, format!("iam.audit_entries_{month}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_replicas_make_a_month_once() {
    let (_, database) = migrated().await;
    let mut replicas = tokio::task::JoinSet::new();
    for _ in 0..8 {
        // A replica does not know which months the others make.
        let store = database.store().await;
        replicas.spawn(async move {
            for now in ["2031-01-15T00:00:00Z", "2031-05-01T00:00:00Z"] {
                store.prepare(moment(now)).await.unwrap();
            }
            store.close().await;
        });
    }
    replicas.join_all().await;
    let made: Vec<String> = months(&database).await.into_iter().filter(|month| month.starts_with("2031")).collect();
    assert_eq!(made, (1..=8).map(|month| format!("2031_{month:02}")).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn making_a_month_does_not_block_reads_and_writes() {
    let (store, database) = migrated().await;
    let world = World::new(Arc::new(store.clone()));
    let tenant = world.tenant("acme").await.id;
    store.prepare(moment("2026-01-31T10:00:00Z")).await.unwrap();
    let mut making = database.pool().begin().await.unwrap();
    making.execute("SELECT iam.make_audit_month('2031-01-01')").await.unwrap();
    let entry = record(&world, tenant, "2026-01-31T10:00:00Z").await;
    world.sequence().await;
    assert_eq!(store.audit_entry(tenant, entry.id).await.unwrap(), Some(entry));
    making.commit().await.unwrap();
}

/// Sequences the pending entries, and marks a tenant's entries below a sequence number for removal.
async fn give_up(world: &World, tenant: TenantId, until: u64) {
    world.sequence().await;
    let from = world.head(tenant).await.removed;
    world.commit(tenant, world.give_up(tenant, from..until).await).await;
}

#[tokio::test]
async fn a_month_is_dropped_when_all_its_entries_are_marked_for_removal() {
    let (store, database) = migrated().await;
    let world = World::new(Arc::new(store.clone()));
    let (tenant, other) = (world.tenant("acme").await.id, world.tenant("other").await.id);
    for (tenant, month) in [(tenant, "2025-01"), (other, "2025-01"), (tenant, "2025-02"), (other, "2025-03")] {
        for day in 1..=3 {
            record(&world, tenant, &format!("{month}-{day:02}T00:00:00Z")).await;
        }
    }
    let is_of = async |year: &str| -> Vec<String> {
        months(&database).await.into_iter().filter(|month| month.starts_with(year)).collect()
    };
    // The other tenant keeps its entries in January.
    give_up(&world, tenant, 5).await;
    assert_eq!(store.purge_audit_entries().await.unwrap(), 5);
    assert_eq!(is_of("2025").await, ["2025_01", "2025_02", "2025_03"]);
    assert_eq!(store.purge_audit_entries().await.unwrap(), 0);
    // No tenant keeps entries in January, and the last entry of February is dropped with its month.
    give_up(&world, tenant, 6).await;
    give_up(&world, other, 4).await;
    assert_eq!(store.purge_audit_entries().await.unwrap(), 5);
    assert_eq!(is_of("2025").await, ["2025_03"]);
    let left = store.audit_entries(other, &AuditFilter::default(), None, 100).await.unwrap();
    assert_eq!(left.iter().filter(|entry| entry.action == "SENT").count(), 2);
    assert_eq!(store.purge_audit_entries().await.unwrap(), 0);
    world.sequence().await;
    for tenant in [tenant, other] {
        world.assert_clean(tenant, &[]).await;
    }
    // A dropped month can be made again for an entry that needs it.
    record(&world, tenant, "2025-01-01T00:00:00Z").await;
}

/// A month with a pending entry stays. So does a month with an entry that the service did not insert.
#[tokio::test]
async fn a_month_with_a_pending_entry_is_kept() {
    let (store, _database) = migrated().await;
    let world = World::new(Arc::new(store.clone()));
    let tenant = world.tenant("acme").await.id;
    record(&world, tenant, "2025-01-01T00:00:00Z").await;
    give_up(&world, tenant, 1).await;
    let late = record(&world, tenant, "2025-01-02T00:00:00Z").await;
    assert_eq!(store.purge_audit_entries().await.unwrap(), 1);
    assert_eq!(store.audit_entry(tenant, late.id).await.unwrap(), Some(late));
}

/// The present month stays even if all its entries are marked for removal, because more entries will be written into
/// it.
#[tokio::test]
async fn the_present_month_is_never_dropped() {
    let (store, database) = migrated().await;
    let world = World::new(Arc::new(store.clone()));
    let tenant = world.tenant("acme").await.id;
    let now: DateTime<Utc> = sqlx::query_scalar("SELECT now()").fetch_one(&database.pool()).await.unwrap();
    let before = months(&database).await;
    record(&world, tenant, &now.format("%Y-%m-%dT%H:%M:%SZ").to_string()).await;
    world.sequence().await;
    let sequenced = world.head(tenant).await.leaves;
    give_up(&world, tenant, sequenced).await;
    assert_eq!(store.purge_audit_entries().await.unwrap(), sequenced);
    let present = now.format("%Y_%m").to_string();
    let not_past = |months: Vec<String>| -> Vec<String> { months.into_iter().filter(|m| *m >= present).collect() };
    assert_eq!(not_past(months(&database).await), not_past(before));
}

/// It is better to keep an empty month for some time than to make other transactions wait.
#[tokio::test(flavor = "multi_thread")]
async fn a_month_that_is_being_read_is_emptied_and_dropped_later() {
    let (store, database) = migrated().await;
    let world = World::new(Arc::new(store.clone()));
    let tenant = world.tenant("acme").await.id;
    record(&world, tenant, "2025-01-01T00:00:00Z").await;
    world.sequence().await;
    give_up(&world, tenant, 1).await;
    let given_up = store.audit_entries(tenant, &AuditFilter::default(), None, 100).await.unwrap().len();
    let mut reading = database.pool().begin().await.unwrap();
    reading.execute("SELECT FROM iam.audit_entries").await.unwrap();
    assert_eq!(store.purge_audit_entries().await.unwrap(), 1);
    assert!(months(&database).await.contains(&"2025_01".to_owned()));
    reading.commit().await.unwrap();
    let left = store.audit_entries(tenant, &AuditFilter::default(), None, 100).await.unwrap().len();
    assert_eq!((left, store.purge_audit_entries().await.unwrap()), (given_up - 1, 0));
    assert!(!months(&database).await.contains(&"2025_01".to_owned()));
}

#[tokio::test]
async fn a_month_that_another_replica_is_dropping_is_skipped() {
    let (_, database) = migrated().await;
    let pool = database.pool();
    pool.execute("SELECT iam.make_audit_month('2020-01-01')").await.unwrap();
    let mut other = pool.begin().await.unwrap();
    other.execute("DROP TABLE iam.audit_entries_2020_01").await.unwrap();
    let dropped = tokio::spawn({
        let pool = pool.clone();
        async move {
            let drop = "SELECT iam.drop_given_up_audit_month('2020-01-01')";
            sqlx::query_scalar::<_, Option<i64>>(drop).fetch_one(&pool).await
        }
    });
    let waits =
        "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'iam.audit_entries_2020_01'::regclass)";
    while !dropped.is_finished() && !sqlx::query_scalar::<_, bool>(waits).fetch_one(&pool).await.unwrap() {}
    other.commit().await.unwrap();
    assert_eq!(dropped.await.unwrap().unwrap(), None);
}

#[tokio::test]
async fn a_month_that_another_replica_has_dropped_is_made_again() {
    let (store, database) = migrated().await;
    let world = World::new(Arc::new(store.clone()));
    let tenant = world.tenant("acme").await.id;
    world.sequence().await;
    store.prepare(moment("2025-01-01T00:00:00Z")).await.unwrap();
    let other = database.store().await;
    other.purge_audit_entries().await.unwrap();
    assert!(!months(&database).await.contains(&"2025_01".to_owned()));
    record(&world, tenant, "2025-01-01T00:00:00Z").await;
    world.sequence().await;
    assert!(months(&database).await.contains(&"2025_01".to_owned()));
    world.assert_clean(tenant, &[]).await;
}
