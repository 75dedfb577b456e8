//! The counts that triggers update, when rows are changed without the triggers.

use std::sync::Arc;

use iam_conformance::World;
use iam_core::TenantId;
use iam_core::access::VisibleScope;
use iam_core::page::PageRequest;
use iam_core::user::{UserFilter, UserSort, UserStore as _};
use iam_store_postgres::PostgresStore;
use sqlx::Executor as _;
use test_support::postgres::TestDatabase;

/// A tenant with two users. One of them has a role.
struct Fixture {
    world: World,
    store: PostgresStore,
    tenant: TenantId,
    database: TestDatabase,
}

impl Fixture {
    async fn new() -> Self {
        let database = TestDatabase::create().await;
        let store = database.store().await;
        store.migrate().await.unwrap();
        let world = World::new(Arc::new(store.clone()));
        let tenant = world.tenant("acme").await;
        let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
        world.user(&tenant, "ada@example.com").await;
        let grace = world.user(&tenant, "grace@example.com").await;
        world.give(&grace, &role, None).await;
        Self { world, store, tenant: tenant.id, database }
    }

    async fn run(&self, statements: &'static str) {
        self.database.pool().execute(statements).await.unwrap();
    }

    /// Returns how many users are active, suspended and inactive, and how many role assignments there are.
    async fn counts(&self) -> [i64; 4] {
        let (active, suspended, inactive, assignments) = sqlx::query_as(
            "SELECT
                sum(active_users)::bigint,
                sum(suspended_users)::bigint,
                sum(inactive_users)::bigint,
                sum(role_assignments)::bigint
            FROM iam.tenant_counts
            WHERE tenant_id = $1",
        )
        .bind(self.tenant.as_uuid())
        .fetch_one(&self.database.pool())
        .await
        .unwrap();
        [active, suspended, inactive, assignments]
    }
}

#[tokio::test]
async fn truncating_a_table_resets_its_counts() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.counts().await, [2, 0, 0, 1]);
    fixture.run("TRUNCATE iam.role_assignments").await;
    assert_eq!(fixture.counts().await, [2, 0, 0, 0]);

    let fixture = Fixture::new().await;
    fixture.run("TRUNCATE iam.users CASCADE").await;
    assert_eq!(fixture.counts().await, [0, 0, 0, 0]);
}

#[tokio::test]
async fn the_documented_statements_recount_rows_changed_without_triggers() {
    let book = include_str!("../../../docs/operating.md");
    let statements =
        book.split("```").find_map(|block| block.strip_prefix("sql\n").filter(|sql| sql.contains("counts")));
    let fixture = Fixture::new().await;
    fixture.world.tenant("nobody").await;
    fixture
        .run(
            "SET session_replication_role = replica;
            DELETE FROM iam.role_assignments;
            UPDATE iam.users SET status = 'SUSPENDED' WHERE email_key = 'ada@example.com';
            RESET session_replication_role",
        )
        .await;
    assert_eq!(fixture.counts().await, [2, 0, 0, 1]);
    fixture.run(statements.unwrap()).await;
    assert_eq!(fixture.counts().await, [1, 1, 0, 0]);
}

#[tokio::test]
async fn a_wrong_total_hides_no_user() {
    let fixture = Fixture::new().await;
    fixture.run("UPDATE iam.tenant_counts SET active_users = -7").await;
    let (filter, sort, page) = (UserFilter::default(), UserSort::default(), PageRequest::default());
    let users = fixture
        .store
        .users(fixture.tenant, &filter, &VisibleScope::Tenant, sort, page, fixture.world.now())
        .await
        .unwrap();
    assert_eq!((users.items.len(), users.total), (2, 0));
}
