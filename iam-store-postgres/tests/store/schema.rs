//! Rules for every table, including future ones.

use test_support::postgres::TestDatabase;

async fn migrated() -> TestDatabase {
    let database = TestDatabase::create().await;
    database.store().await.migrate().await.unwrap();
    database
}

/// With a unique index without the tenant, one tenant could detect rows of another, and the table could not be
/// sharded by tenant.
#[tokio::test]
async fn every_unique_index_starts_with_the_tenant() {
    let database = migrated().await;
    let others: Vec<String> = sqlx::query_scalar(
        "SELECT c.relname
        FROM pg_index i
        JOIN pg_class c ON c.oid = i.indexrelid
        LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE c.relnamespace = 'iam'::regnamespace AND i.indisunique AND a.attname IS DISTINCT FROM 'tenant_id'
        ORDER BY c.relname",
    )
    .fetch_all(&database.pool())
    .await
    .unwrap();
    let allowed = [
        "_migrations_pkey",
        "domains_verified_key",
        "passkeys_pkey",
        "signing_keys_id_key",
        "signing_keys_pkey",
        "tenants_pkey",
        "tenants_slug_key",
    ];
    assert_eq!(others, allowed);
}

/// A foreign key without the tenant would allow a reference to a row of another tenant.
#[tokio::test]
async fn every_foreign_key_starts_with_the_tenant_on_both_sides() {
    let database = migrated().await;
    let others: Vec<String> = sqlx::query_scalar(
        "SELECT k.conname
        FROM pg_constraint k
        JOIN pg_attribute here ON here.attrelid = k.conrelid AND here.attnum = k.conkey[1]
        JOIN pg_attribute there ON there.attrelid = k.confrelid AND there.attnum = k.confkey[1]
        WHERE k.connamespace = 'iam'::regnamespace
            AND k.contype = 'f'
            AND (
                here.attname <> 'tenant_id'
                OR there.attname <> CASE WHEN k.confrelid = 'iam.tenants'::regclass THEN 'id' ELSE 'tenant_id' END
            )",
    )
    .fetch_all(&database.pool())
    .await
    .unwrap();
    assert_eq!(others, Vec::<String>::new());
}

/// A function that runs with the privileges of its owner must not use other objects than intended, and only roles
/// with a grant may call it.
#[tokio::test]
async fn every_function_has_its_own_search_path_and_must_be_granted() {
    let database = migrated().await;
    let others: Vec<String> = sqlx::query_scalar(
        "SELECT p.proname
        FROM pg_proc p
        WHERE p.pronamespace = 'iam'::regnamespace
            AND (
                NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false)
                OR has_function_privilege('public', p.oid, 'EXECUTE')
            )",
    )
    .fetch_all(&database.pool())
    .await
    .unwrap();
    assert_eq!(others, Vec::<String>::new());
}
