//! Rules for every table, including future ones.

use iam_store_sql::tenant_deletion::TABLES_OF_TENANTS;
use iam_store_sqlite::SqliteStore;
use sqlx::sqlite::SqlitePool;
use test_support::sqlite::TestFile;

async fn migrated() -> (SqlitePool, TestFile) {
    let file = TestFile::create();
    SqliteStore::open(file.url()).await.unwrap().migrate().await.unwrap();
    (SqlitePool::connect(file.url()).await.unwrap(), file)
}

/// With a unique index without the tenant, one tenant could detect rows of another.
#[tokio::test]
async fn every_unique_index_starts_with_the_tenant() {
    let (pool, _file) = migrated().await;
    let others: Vec<String> = sqlx::query_scalar(
        "SELECT t.name || '.' || coalesce(c.name, '')
        FROM sqlite_schema t
        JOIN pragma_index_list(t.name) i
        JOIN pragma_index_info(i.name) c ON c.seqno = 0
        WHERE t.type = 'table'
            -- The full-text index has its own tables, whose rows belong to no tenant.
            AND t.name NOT LIKE 'user_search%'
            AND i.\"unique\"
            AND c.name IS NOT 'tenant_id'
        ORDER BY 1",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let exceptions = [
        "_iam_migrations.version",
        "domains.name",
        "passkeys.credential_id",
        "signing_keys.id",
        "signing_keys.purpose",
        "tenants.id",
        "tenants.slug",
    ];
    assert_eq!(others, exceptions);
}

/// A table that is forgotten keeps the deletion of a tenant from its end.
#[tokio::test]
async fn a_deleted_tenant_leaves_rows_of_its_log_alone() {
    let (pool, _file) = migrated().await;
    let mut of_tenants: Vec<String> = sqlx::query_scalar(
        "SELECT t.name
        FROM sqlite_schema t
        JOIN pragma_table_info(t.name) c
        WHERE t.type = 'table'
            AND c.name = 'tenant_id'
            AND t.name NOT LIKE 'audit%'
            -- The first is the last to go. The rows of the second go with those of another table.
            AND t.name NOT IN ('tenant_deletions', 'directory_withheld')",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let mut emptied = TABLES_OF_TENANTS.map(str::to_owned);
    of_tenants.sort();
    emptied.sort();
    assert_eq!(of_tenants, emptied);
}

/// The tables with rows about a person that `GET /users/{id}/export` reads.
const EXPORTED: [&str; 19] = [
    "access_requests",
    "api_keys",
    "attributes",
    "audit_entries",
    // Whether there is a password, and how many codes are left.
    "credentials",
    "recovery_codes",
    "directory_group_members",
    "directory_users",
    "eligibilities",
    "factors",
    "identities",
    "invitations",
    "login_attempts",
    "past_assignments",
    "role_assignments",
    "sessions",
    "users",
    // What these hold is in the attributes, and in the entries of the log.
    "attribute_values",
    "legal_holds",
];

/// The tables with rows about a person that it does not read (`docs/operating.md#what-is-held-about-a-person`).
const NOT_EXPORTED: [&str; 7] = [
    // What the log has of them is exported.
    "access_review_items",
    "access_reviews",
    "directory_withheld",
    // They are gone when they expire or are sent.
    "challenges",
    "links",
    "messages",
    "queued_messages",
];

/// A new table with rows about a person must be read by the export of that person, or be named among those that are not.
#[tokio::test]
async fn the_export_of_a_person_considers_every_table_about_persons() {
    let (pool, _file) = migrated().await;
    let about_persons: Vec<String> = sqlx::query_scalar(
        "SELECT DISTINCT t.name
        FROM sqlite_schema t
        JOIN pragma_table_info(t.name) c
        WHERE t.type = 'table'
            AND (c.name LIKE '%user_id%' OR c.name IN ('owner_id', 'subject', 'email', 'email_key', 'requested_by'))
            -- The full-text index has what the users have.
            AND t.name NOT LIKE 'user_search%'
        ORDER BY 1",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let mut considered = [&EXPORTED[..], &NOT_EXPORTED].concat();
    considered.sort_unstable();
    assert_eq!(about_persons, considered);
}

/// A foreign key without the tenant would allow a reference to a row of another tenant.
#[tokio::test]
async fn every_foreign_key_starts_with_the_tenant_on_both_sides() {
    let (pool, _file) = migrated().await;
    let others: Vec<String> = sqlx::query_scalar(
        "SELECT t.name || '.' || k.\"from\"
        FROM sqlite_schema t
        JOIN pragma_foreign_key_list(t.name) k
        WHERE t.type = 'table'
            AND k.seq = 0
            AND (k.\"from\" <> 'tenant_id' OR k.\"to\" <> CASE k.\"table\" WHEN 'tenants' THEN 'id' ELSE 'tenant_id' END)",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert_eq!(others, Vec::<String>::new());
}

/// The planner would ignore statistics with a wrong index name, or for an index that does not exist any more.
#[tokio::test]
async fn the_planner_statistics_match_existing_indexes() {
    let (pool, _file) = migrated().await;
    let statistics: Vec<(String, i64, i64)> = sqlx::query_as(
        "SELECT
            s.tbl || '.' || s.idx,
            (SELECT count(*) FROM pragma_index_info(i.name)),
            length(s.stat) - length(replace(s.stat, ' ', ''))
        FROM sqlite_stat1 s
        LEFT JOIN pragma_index_list(s.tbl) i ON i.name = s.idx
        ORDER BY 1",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert!(!statistics.is_empty());
    for (index, columns, numbers) in statistics {
        // After the number of all rows, there is a number for each column.
        assert_eq!(columns, numbers, "{index}");
    }
}

/// Without STRICT a column takes values of any type.
#[tokio::test]
async fn every_table_is_strict() {
    let (pool, _file) = migrated().await;
    let others: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type = 'table' AND NOT strict AND name NOT LIKE 'sqlite%'",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert_eq!(others, ["_iam_migrations"]);
}
