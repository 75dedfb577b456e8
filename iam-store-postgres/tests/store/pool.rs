//! What the store does when the server goes away.

use std::time::Duration;

use iam_core::tenant::Directory as _;
use iam_core::{Store as _, StoreError};
use iam_store_postgres::PostgresStore;
use sqlx::postgres::PgPool;
use test_support::postgres::TestDatabase;

async fn hang_up(url: &str) {
    let other = PgPool::connect(url).await.unwrap();
    let all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    sqlx::query(all).execute(&other).await.unwrap();
    other.close().await;
}

#[tokio::test]
async fn a_lost_connection_is_passing_and_is_replaced() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.ping().await.unwrap();
    hang_up(database.url()).await;
    let lost = store.ping().await;
    assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
    store.ping().await.unwrap();
}

#[tokio::test]
async fn a_connection_lost_while_it_rested_is_not_even_noticed() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.ping().await.unwrap();
    hang_up(database.url()).await;
    tokio::time::sleep(Duration::from_millis(1200)).await;
    store.ping().await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let refused = PostgresStore::connect(&format!("postgres://nobody@127.0.0.1:{port}/nothing")).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
}

#[tokio::test]
async fn a_closed_store_is_unavailable() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.close().await;
    let closed = store.ping().await;
    assert!(matches!(closed, Err(StoreError::Unavailable(_))), "{closed:?}");
}

/// Whoever holds a lock for too long keeps nobody waiting for ever.
#[tokio::test]
async fn a_lock_that_is_held_for_too_long_is_unavailable() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    store.migrate().await.unwrap();
    let other = PgPool::connect(database.url()).await.unwrap();
    let mut holding = other.begin().await.unwrap();
    sqlx::query("LOCK TABLE iam.tenants").execute(&mut *holding).await.unwrap();
    let waiting = store.is_empty().await;
    assert!(matches!(waiting, Err(StoreError::Unavailable(_))), "{waiting:?}");
    holding.rollback().await.unwrap();
    assert!(store.is_empty().await.unwrap());
}

/// What takes too long is given up; what grows with the data may take its time.
#[tokio::test]
async fn statements_have_a_limit() {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await.unwrap();
    let show = sqlx::query_scalar::<_, String>("SHOW statement_timeout");
    assert_eq!(show.fetch_one(store.pool()).await.unwrap(), "30s");
    store.migrate().await.unwrap();
    let show = sqlx::query_scalar::<_, String>("SHOW lock_timeout");
    assert_eq!(show.fetch_one(store.pool()).await.unwrap(), "10s");
}
