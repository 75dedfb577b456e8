//! Which indexes and rows the lists of the audit log read. The database counts this for the statements of the store.

use std::collections::BTreeMap;

use iam_core::TenantId;
use iam_core::audit::{AuditFilter, AuditStore as _, Cursor};
use iam_store_postgres::PostgresStore;
use sqlx::Executor as _;
use sqlx::postgres::{PgPool, PgPoolOptions};
use test_support::postgres::TestDatabase;

/// Three months of entries of two tenants, with some thousands of entries for each month. The entries of the tenants
/// are alike. Every filter value, except the correlation identifiers, occurs in all months.
const FILL: &str = "
    SELECT iam.make_audit_month(make_date(2026, month, 1)) FROM generate_series(1, 3) month;

    INSERT INTO iam.audit_entries
    SELECT
        ('00000000-0000-7000-8000-00000000000' || tenant)::uuid,
        gen_random_uuid(),
        'ACTION_' || n % 10,
        'TYPE_' || n % 7,
        'resource-' || n % 40,
        CASE WHEN n % 2 = 0 THEN ('00000000-0000-7000-8000-0000000000' || 10 + n % 20)::uuid END,
        ('00000000-0000-7000-8000-0000000000' || 10 + n % 30)::uuid,
        NULL,
        NULL,
        '{}',
        'correlation-' || n,
        NULL,
        NULL,
        '2026-01-01 00:00:00Z'::timestamptz + n * interval '10 minutes',
        decode(md5(''), 'hex'),
        decode(md5(''), 'hex')
    FROM generate_series(1, 2) tenant
    CROSS JOIN generate_series(0, 12900) n;

    ANALYZE;
";

struct Fixture {
    store: PostgresStore,
    pool: PgPool,
    tenant: TenantId,
    _database: TestDatabase,
}

impl Fixture {
    async fn new() -> Self {
        let database = TestDatabase::create().await;
        // With one connection, its counters can be flushed before they are read.
        let pool = PgPoolOptions::new().max_connections(1).connect(database.url()).await.unwrap();
        let store = PostgresStore::from_pool(pool.clone());
        store.migrate().await.unwrap();
        pool.execute(FILL).await.unwrap();
        let tenant = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        Self { store, pool, tenant, _database: database }
    }

    /// Reads the second page of a list, which needs a cursor. Returns its length and what was read for it.
    async fn second_page(&self, filter: &AuditFilter, limit: u32) -> (usize, Read) {
        let first = self.store.audit_entries(self.tenant, filter, None, limit).await.unwrap();
        let cursor = first.last().map(Cursor::after).unwrap();
        let before = self.read().await;
        let page = self.store.audit_entries(self.tenant, filter, Some(cursor), limit).await.unwrap();
        (page.len(), self.read().await.since(&before))
    }

    async fn read(&self) -> Read {
        self.pool.execute("SELECT pg_stat_force_next_flush()").await.unwrap();
        let indexes: Vec<(String, String, i64, i64)> = sqlx::query_as(
            "SELECT
                right(s.relname, 7),
                coalesce(p.relname, i.relname),
                coalesce(s.idx_scan, 0),
                coalesce(s.idx_tup_read, 0)
            FROM pg_stat_user_indexes s
            JOIN pg_class i ON i.oid = s.indexrelid
            LEFT JOIN pg_inherits h ON h.inhrelid = i.oid
            LEFT JOIN pg_class p ON p.oid = h.inhparent
            WHERE s.relname LIKE 'audit\\_entries\\_%'",
        )
        .fetch_all(&self.pool)
        .await
        .unwrap();
        let tables: Vec<(String, i64)> = sqlx::query_as(
            "SELECT right(relname, 7), seq_scan FROM pg_stat_user_tables WHERE relname LIKE 'audit\\_entries\\_%'",
        )
        .fetch_all(&self.pool)
        .await
        .unwrap();
        let indexes = indexes.into_iter().map(|(month, index, scans, rows)| ((month, index), (scans, rows)));
        let tables = tables.into_iter().map(|(month, scans)| ((month, "nothing".to_owned()), (scans, 0)));
        Read(indexes.chain(tables).collect())
    }
}

/// How many scans there were, and how many rows they read, by month and index.
#[derive(Debug)]
struct Read(BTreeMap<(String, String), (i64, i64)>);

impl Read {
    fn since(&self, before: &Self) -> Self {
        let grown = self.0.iter().map(|(key, (scans, rows))| {
            let (scans_before, rows_before) = before.0.get(key).copied().unwrap_or_default();
            (key.clone(), (scans - scans_before, rows - rows_before))
        });
        Self(grown.filter(|(_, grown)| *grown != (0, 0)).collect())
    }

    /// The indexes that were scanned, in the months that have entries.
    fn indexes(&self) -> Vec<&str> {
        let filled = self.0.keys().filter(|(month, _)| ("2026_01".."2026_04").contains(&month.as_str()));
        let mut indexes: Vec<&str> = filled.map(|(_, index)| index.as_str()).collect();
        indexes.dedup();
        indexes.sort_unstable();
        indexes.dedup();
        indexes
    }

    fn rows(&self) -> i64 {
        self.0.values().map(|(_, rows)| rows).sum()
    }

    fn months(&self) -> Vec<&str> {
        let mut months: Vec<&str> = self.0.keys().map(|(month, _)| month.as_str()).collect();
        months.dedup();
        months
    }
}

/// How often a statement is planned before its plan may be cached.
const PLANNED: usize = 5;

#[tokio::test]
async fn a_page_of_any_single_filter_is_one_range_of_its_index() {
    let fixture = Fixture::new().await;
    let id = |number| format!("00000000-0000-7000-8000-0000000000{number}");
    let plain = AuditFilter::default;
    for (filter, index) in [
        (plain(), "audit_entries_pkey"),
        (AuditFilter { action: Some("ACTION_3".into()), ..plain() }, "audit_entries_action_idx"),
        (AuditFilter { resource_type: Some("TYPE_3".into()), ..plain() }, "audit_entries_resource_type_idx"),
        (AuditFilter { resource_id: Some("resource-3".into()), ..plain() }, "audit_entries_resource_idx"),
        (AuditFilter { organization_id: Some(id(12).parse().unwrap()), ..plain() }, "audit_entries_organization_idx"),
        (AuditFilter { user_id: Some(id(13).parse().unwrap()), ..plain() }, "audit_entries_user_idx"),
        (AuditFilter { until: Some("2026-02-10T00:00:00Z".parse().unwrap()), ..plain() }, "audit_entries_pkey"),
    ] {
        for _ in 0..PLANNED + 2 {
            let (length, read) = fixture.second_page(&filter, 20).await;
            assert_eq!(length, 20, "{filter:?}");
            assert_eq!(read.indexes(), [index], "{filter:?}");
            // A generic plan compares the newest entries of all months.
            assert!(read.rows() <= 20 + 3, "{filter:?}: {read:?}");
        }
    }
}

#[tokio::test]
async fn the_entries_of_a_request_are_found_by_an_index() {
    let fixture = Fixture::new().await;
    for _ in 0..PLANNED + 2 {
        let filter = AuditFilter { correlation_id: Some("correlation-77".parse().unwrap()), ..AuditFilter::default() };
        let before = fixture.read().await;
        let found = fixture.store.audit_entries(fixture.tenant, &filter, None, 20).await.unwrap();
        let read = fixture.read().await.since(&before);
        assert_eq!((found.len(), read.rows()), (1, 1), "{read:?}");
        assert_eq!(read.indexes(), ["audit_entries_correlation_idx"]);
    }
}

#[tokio::test]
async fn a_month_that_dates_exclude_is_not_read() {
    let fixture = Fixture::new().await;
    for user_id in [None, Some("00000000-0000-7000-8000-000000000013".parse().unwrap())] {
        let from = Some("2026-02-27T00:00:00Z".parse().unwrap());
        let until = Some("2026-02-28T00:00:00Z".parse().unwrap());
        let filter = AuditFilter { user_id, from, until, ..AuditFilter::default() };
        for _ in 0..PLANNED + 2 {
            // There are fewer entries than the limit, so no scan ends before the last month.
            let (length, read) = fixture.second_page(&filter, 1_000).await;
            assert_eq!(length, 0);
            assert_eq!(read.months(), ["2026_02"], "{read:?}");
        }
    }
}

#[tokio::test]
async fn a_month_after_the_cursor_is_not_read() {
    let fixture = Fixture::new().await;
    let filter = AuditFilter { until: Some("2026-03-01T00:00:00Z".parse().unwrap()), ..AuditFilter::default() };
    let entries = fixture.store.audit_entries(fixture.tenant, &filter, None, 10).await.unwrap();
    let cursor = entries.last().map(Cursor::after);
    for _ in 0..PLANNED + 2 {
        let before = fixture.read().await;
        fixture.store.audit_entries(fixture.tenant, &AuditFilter::default(), cursor, 20_000).await.unwrap();
        let read = fixture.read().await.since(&before);
        assert_eq!(read.months(), ["2026_01", "2026_02"], "{read:?}");
    }
}
