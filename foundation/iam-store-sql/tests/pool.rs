//! The pool, with connections to a file.

#![cfg(test)]

use std::time::Duration;

use futures_util::FutureExt as _;
use iam_model::store_error::StoreError;
use iam_store_sql::error::ErrorCodes;
use iam_store_sql::pool::{Pool, PoolSettings, PooledConnection};
use iam_store_sql::source::{Acquired, Source, Transaction};
use sqlx::Sqlite;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use tempfile::TempDir;
use tokio::time::{advance, pause, resume, sleep, timeout};
use uuid::Uuid;

const PATIENCE: Duration = Duration::from_secs(30);

const BEGIN: &str = "BEGIN IMMEDIATE";
/// Several transactions may be open at the same time, as long as none of them writes.
const BEGIN_READING: &str = "BEGIN";

/// A query that practically never ends, unless its caller is gone when its first row comes.
const ENDLESS_ROWS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";

fn options(directory: &TempDir) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(directory.path().join("test.db")).create_if_missing(true)
}

/// Pools with this many connections to a file with an empty table `t`: with the rules for a file, with those for a
/// server, and one of the host program.
async fn pools(max_connections: u32, begin: &'static str) -> Vec<(Pool<Sqlite>, TempDir)> {
    let settings = PoolSettings::local(max_connections, PATIENCE, begin);
    let mut pools = Vec::new();
    for kind in ["file", "server", "host program"] {
        let directory = TempDir::new().unwrap();
        let pool = match kind {
            "file" => Pool::new(options(&directory), settings),
            "server" => Pool::new(options(&directory), PoolSettings { is_remote: true, ..settings }),
            _ => {
                let host = SqlitePoolOptions::new().max_connections(max_connections).acquire_timeout(PATIENCE);
                Pool::of_host(host.connect_lazy_with(options(&directory)), begin)
            }
        };
        sqlx::query("CREATE TABLE t (c)").execute(&on(&pool)).await.unwrap();
        pools.push((pool, directory));
    }
    pools
}

fn on(pool: &Pool<Sqlite>) -> Source<Sqlite> {
    Source::Pool(pool.clone())
}

async fn begin(pool: &Pool<Sqlite>) -> Transaction<Sqlite> {
    timeout(PATIENCE, on(pool).begin()).await.unwrap().unwrap()
}

async fn rows(pool: &Pool<Sqlite>) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM t").fetch_one(&on(pool)).await.unwrap()
}

#[tokio::test]
async fn a_connection_keeps_its_state_until_its_next_use() {
    for (pool, _directory) in pools(2, BEGIN).await.into_iter().filter(|(pool, _)| pool.is_own()) {
        let temporary = "CREATE TEMP TABLE mine (c)";
        sqlx::query(temporary).execute(&on(&pool)).await.unwrap();
        for _ in 0..3 {
            sqlx::query("SELECT c FROM mine").fetch_all(&on(&pool)).await.unwrap();
        }
        let both = [pool.acquire().await.unwrap(), pool.acquire().await.unwrap()];
        assert!(pool.acquire().now_or_never().is_none());
        both.into_iter().for_each(PooledConnection::give_back);
        pool.acquire().await.unwrap();
    }
}

#[tokio::test]
async fn the_answer_to_a_cancelled_query_reaches_no_other_query() {
    for (pool, _directory) in pools(1, BEGIN).await {
        for patience in [0, 1, 10] {
            let source = on(&pool);
            let endless = sqlx::query(ENDLESS_ROWS).fetch_all(&source);
            assert!(timeout(Duration::from_millis(patience), endless).await.is_err());
            assert_eq!(timeout(PATIENCE, rows(&pool)).await.unwrap(), 0);
        }
    }
}

#[tokio::test]
async fn an_uncommitted_transaction_is_rolled_back_before_the_next_one() {
    for (pool, _directory) in pools(1, BEGIN).await {
        let insert = "INSERT INTO t VALUES (1)";
        for expected in 0..3 {
            let mut dropped = begin(&pool).await;
            sqlx::query(insert).execute(&mut dropped).await.unwrap();
            drop(dropped);
            // Cancelled after any number of steps.
            for steps in 0..4 {
                let mut halfway = Box::pin(async {
                    let mut transaction = begin(&pool).await;
                    sqlx::query(insert).execute(&mut transaction).await.unwrap();
                    std::future::pending::<()>().await;
                });
                for _ in 0..steps {
                    assert!(halfway.as_mut().now_or_never().is_none());
                    sleep(Duration::from_millis(1)).await;
                }
            }
            let mut transaction = begin(&pool).await;
            sqlx::query(insert).execute(&mut transaction).await.unwrap();
            transaction.commit().await.unwrap();
            assert_eq!(rows(&pool).await, expected + 1);
        }
    }
}

#[tokio::test]
async fn the_next_transaction_works_after_sqlite_rolled_one_back() {
    for (pool, _directory) in pools(1, BEGIN).await {
        let mut transaction = begin(&pool).await;
        sqlx::query("ROLLBACK").execute(&mut transaction).await.unwrap();
        transaction.commit().await.unwrap_err();
        begin(&pool).await.commit().await.unwrap();
    }
}

#[tokio::test]
async fn closing_waits_for_connections_in_use() {
    for (pool, _directory) in pools(1, BEGIN).await {
        let mut transaction = begin(&pool).await;
        let closing = tokio::spawn({
            let pool = pool.clone();
            async move { pool.close().await }
        });
        tokio::task::yield_now().await;
        sqlx::query("INSERT INTO t VALUES (1)").execute(&mut transaction).await.unwrap();
        transaction.commit().await.unwrap();
        timeout(PATIENCE, closing).await.unwrap().unwrap();
        assert!(pool.is_closed());
        assert!(matches!(pool.acquire().await, Err(sqlx::Error::PoolClosed)));
        pool.close().await;
    }
}

/// The connection that closes last writes the write-ahead log into the file and removes it.
#[tokio::test]
async fn closing_closes_idle_connections() {
    let directory = TempDir::new().unwrap();
    let options = options(&directory).journal_mode(sqlx::sqlite::SqliteJournalMode::Wal);
    let settings = PoolSettings::local(3, PATIENCE, BEGIN);
    let pool = Pool::<Sqlite>::new(options, settings);
    let all = [pool.acquire().await.unwrap(), pool.acquire().await.unwrap(), pool.acquire().await.unwrap()];
    all.into_iter().for_each(PooledConnection::give_back);
    sqlx::query("CREATE TABLE t (c)").execute(&on(&pool)).await.unwrap();
    let log = directory.path().join("test.db-wal");
    assert!(log.exists());
    pool.close().await;
    assert!(!log.exists());
}

#[tokio::test]
async fn units_of_work_leave_a_quarter_of_the_connections_to_others() {
    for (pool, _directory) in pools(8, BEGIN_READING).await {
        let source = on(&pool);
        let mut units = Vec::new();
        for _ in 0..6 {
            units.push(source.begin_unit_of_work().await.unwrap());
        }
        let waiting = tokio::spawn({
            let source = source.clone();
            async move { source.begin_unit_of_work().await.map(drop) }
        });
        for _ in 0..3 {
            assert_eq!(timeout(PATIENCE, rows(&pool)).await.unwrap(), 0);
        }
        assert!(!waiting.is_finished());
        drop(units);
        timeout(PATIENCE, waiting).await.unwrap().unwrap().unwrap();
    }
}

/// A session that may have left-over state has no later user.
#[tokio::test]
async fn a_detached_connection_does_not_return() {
    for (pool, _directory) in pools(1, BEGIN).await {
        let mut detached = pool.acquire().await.unwrap().detach();
        sqlx::query("CREATE TEMP TABLE mine (c)").execute(&mut detached).await.unwrap();
        sqlx::query("SELECT c FROM mine").fetch_all(&on(&pool)).await.unwrap_err();
        sqlx::query("SELECT c FROM mine").fetch_all(&mut detached).await.unwrap();
    }
}

/// Returns which of two connections are left after `pass` and two more uses of the pool: the one that was used first,
/// and the one that was used last.
async fn kept_after(pass: Duration, is_remote: bool) -> [bool; 2] {
    const MARK: &str = "CREATE TEMP TABLE mine (c)";
    const IS_MARKED: &str = "SELECT count(*) > 0 FROM sqlite_temp_schema";
    let directory = TempDir::new().unwrap();
    let settings = PoolSettings { is_remote, ..PoolSettings::local(2, PATIENCE, BEGIN) };
    let pool = Pool::<Sqlite>::new(options(&directory), settings);
    let mut both = [pool.acquire().await.unwrap(), pool.acquire().await.unwrap()];
    for connection in &mut both {
        sqlx::query(MARK).execute(&mut **connection).await.unwrap();
    }
    both.into_iter().for_each(PooledConnection::give_back);
    pause();
    advance(pass).await;
    resume();
    for _ in 0..2 {
        pool.acquire().await.unwrap().give_back();
    }
    let mut last = pool.acquire().await.unwrap();
    let mut first = pool.acquire().await.unwrap();
    let mut kept = [false; 2];
    for (connection, kept) in [&mut first, &mut last].into_iter().zip(&mut kept) {
        *kept = sqlx::query_scalar(IS_MARKED).fetch_one(&mut **connection).await.unwrap();
    }
    kept
}

/// Only the connections to a server: it may be replaced by another one, and idle connections occupy it.
#[tokio::test]
async fn connections_to_a_server_are_closed_when_they_are_old_or_unused() {
    let minute = Duration::from_secs(60);
    for (pass, kept_by_server) in [(9 * minute, [true, true]), (11 * minute, [false, true]), (31 * minute, [false; 2])]
    {
        assert_eq!(kept_after(pass, true).await, kept_by_server, "{pass:?}");
        assert_eq!(kept_after(pass, false).await, [true, true], "{pass:?}");
    }
}

/// Connections in use when a pool is abandoned are closed at the end of their use.
#[tokio::test]
async fn an_abandoned_pool_refuses_waiting_tasks_and_keeps_no_connection() {
    for (pool, _directory) in pools(1, BEGIN).await {
        let mut busy = on(&pool).acquire().await.unwrap();
        let waiting = tokio::spawn({
            let pool = pool.clone();
            async move { pool.acquire().await.map(drop) }
        });
        tokio::task::yield_now().await;
        pool.abandon();
        assert!(matches!(timeout(PATIENCE, waiting).await.unwrap().unwrap(), Err(sqlx::Error::PoolClosed)));
        sqlx::query("SELECT 1").execute(&mut *busy).await.unwrap();
        Acquired::give_back(busy);
        assert!(matches!(pool.acquire().await, Err(sqlx::Error::PoolClosed)));
        if let Some(renewed) = pool.renewed() {
            assert_eq!(rows(&renewed).await, 0);
        }
    }
}

#[tokio::test]
async fn slow_work_of_a_tenant_leaves_half_of_the_connections_to_others() {
    for (pool, _directory) in pools(4, BEGIN_READING).await {
        let [one, other] = [1, 2].map(|tenant| pool.of_tenant(Uuid::from_u128(tenant)));
        let reading = one.acquire().await.unwrap();
        let working = on(&one).begin_unit_of_work().await.unwrap();
        // Neither waits at the pool, where it would be ahead of the other tenant.
        let mut waiting = Box::pin(one.acquire());
        let mut also_waiting = Box::pin(async { on(&one).begin_unit_of_work().await.map(drop) });
        assert!(waiting.as_mut().now_or_never().is_none() && also_waiting.as_mut().now_or_never().is_none());
        let others = [timeout(PATIENCE, other.acquire()).await, timeout(PATIENCE, pool.acquire()).await];
        others.into_iter().for_each(|connection| connection.unwrap().unwrap().give_back());
        working.rollback().await.unwrap();
        timeout(PATIENCE, waiting).await.unwrap().unwrap().give_back();
        timeout(PATIENCE, also_waiting).await.unwrap().unwrap();
        reading.give_back();
    }
}

#[tokio::test]
async fn a_tenant_that_gets_no_connection_in_time_is_told_that_it_is_busy() {
    for (pool, _directory) in pools(4, BEGIN).await {
        let one = pool.of_tenant(Uuid::from_u128(1));
        let held = [one.acquire().await.unwrap(), one.acquire().await.unwrap()];
        pause();
        let Err(error) = one.acquire().await else { panic!("a third connection") };
        resume();
        assert!(matches!(NO_CODES.store_error(error), StoreError::Busy));
        held.into_iter().for_each(PooledConnection::give_back);
    }
}

const NO_CODES: ErrorCodes = ErrorCodes { constraint: |_| None, is_transient: |_| false };
