//! Millions of audit entries. The databases themselves generate them, without the triggers and without sequencing, and
//! build the indexes at the end.

use std::str::FromStr as _;

use chrono::{DateTime, Utc};
use iam_core::TenantId;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, query, query_as};

use crate::Outcome;
use crate::database::Database;

/// The time of the first entry: 2026-01-01.
pub const START: DateTime<Utc> = DateTime::from_timestamp_millis(1_767_225_600_000).unwrap();
/// The time from the first entry to the last one.
pub const YEAR_MILLIS: u64 = 365 * 24 * 3_600_000;
/// The number of entries in one transaction.
const CHUNK: usize = 250_000;

/// Inserts this number of entries for each of these tenants, spread evenly over the year. Their identifiers are made
/// from numbers. The log must be empty before.
///
/// # Errors
///
/// Errors of the database.
pub async fn fill(database: &Database, tenants: &[(TenantId, u64)]) -> Outcome {
    match database {
        Database::Postgres(database) => fill_postgres(&mut PgConnection::connect(database.url()).await?, tenants).await,
        Database::Sqlite(file) => {
            let options = SqliteConnectOptions::from_str(file.url())?.synchronous(SqliteSynchronous::Off);
            fill_sqlite(&mut options.connect().await?, tenants).await
        }
    }
}

/// The action and the resource type of entry `n`. The numbers go from $2 to below $3, and `h` is a pseudo-random
/// number below 100. Half of the entries are refreshed tokens, one in a hundred is a deletion, and only three of all
/// $4 entries are of the rare kind.
const KINDS: &str = "
    CASE
        WHEN n IN ($4 / 4, $4 / 2, $4 * 3 / 4) THEN 'ERASE'
        WHEN h < 50 THEN 'TOKEN_REFRESH'
        WHEN h < 70 THEN 'LOGIN'
        WHEN h < 90 THEN 'UPDATE'
        WHEN h < 99 THEN 'CREATE'
        ELSE 'DELETE'
    END,
    CASE
        WHEN n IN ($4 / 4, $4 / 2, $4 * 3 / 4) THEN 'TENANT'
        WHEN h < 70 THEN 'SESSION'
        ELSE 'USER'
    END";

/// The columns of an entry.
pub const COLUMNS: &str =
    "tenant_id, id, action, resource_type, resource_id, organization_id, user_id, new_value, metadata,
    correlation_id, ip_address, user_agent, created_at, details_salt, origin_salt";

/// For each transaction: its first entry, the end of its range (exclusive), and the number of all entries.
fn chunks(entries: u64) -> Outcome<impl Iterator<Item = [i64; 3]>> {
    let (entries, chunk) = (i64::try_from(entries)?, i64::try_from(CHUNK)?);
    Ok((0..entries).step_by(CHUNK).map(move |from| [from, (from + chunk).min(entries), entries]))
}

async fn fill_postgres(connection: &mut PgConnection, tenants: &[(TenantId, u64)]) -> Outcome {
    for month in 1..=12 {
        let month = AssertSqlSafe(format!("SELECT iam.make_audit_month('2026-{month:02}-01')"));
        connection.execute(month).await?;
    }
    connection.execute("SET maintenance_work_mem = '1GB'; SET max_parallel_maintenance_workers = 0").await?;
    connection.execute("SET session_replication_role = replica").await?;
    let indexes: Vec<(String, String)> = query_as(
        "SELECT c.relname, pg_get_indexdef(c.oid)
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid = 'iam.audit_entries'::regclass AND NOT i.indisprimary",
    )
    .fetch_all(&mut *connection)
    .await?;
    for (name, _) in &indexes {
        connection.execute(AssertSqlSafe(format!("DROP INDEX iam.{name}"))).await?;
    }
    let id = |number: &str| format!("('00000000-0000-7000-8000-' || lpad(to_hex({number}), 12, '0'))::uuid");
    let insert = format!(
        "INSERT INTO iam.audit_entries ({COLUMNS})
        SELECT $1, {}, {KINDS}, {}::text, CASE WHEN n % 3 = 0 THEN {} END, {},
            '{{\"firstName\": \"Grace\", \"lastName\": \"Hopper\", \"status\": \"ACTIVE\"}}', '{{}}',
            'request-' || n, '192.0.2.7', 'bench/1.0', to_timestamp((1767225600000 + n * ({YEAR_MILLIS} / $4)) / 1000.0),
            decode(md5('details' || n), 'hex'), decode(md5('origin' || n), 'hex')
        FROM (SELECT n, n * 2654435761 % 1000003 % 100 AS h FROM generate_series($2::bigint, $3::bigint - 1) n) numbers",
        id("n"),
        id("n / 5 * 5"),
        id("n % 100"),
        id("n % 100"),
    );
    for (tenant, entries) in tenants {
        for [from, until, entries] in chunks(*entries)? {
            let insert = query(AssertSqlSafe(insert.as_str())).bind(tenant.as_uuid()).bind(from).bind(until);
            insert.bind(entries).execute(&mut *connection).await?;
        }
    }
    for (_, definition) in &indexes {
        connection.execute(AssertSqlSafe(definition.replace(" ON ONLY ", " ON "))).await?;
    }
    connection.execute("VACUUM ANALYZE").await?;
    Ok(())
}

async fn fill_sqlite(connection: &mut SqliteConnection, tenants: &[(TenantId, u64)]) -> Outcome {
    connection.execute("PRAGMA cache_size = -1000000; PRAGMA foreign_keys = OFF").await?;
    let indexes: Vec<(String, String)> = query_as(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'audit_entries' AND sql IS NOT NULL",
    )
    .fetch_all(&mut *connection)
    .await?;
    // The planner's statistics of an index are deleted with the index, and a new index does not get the same
    // statistics.
    connection.execute("CREATE TEMPORARY TABLE expected AS SELECT * FROM sqlite_stat1").await?;
    for (name, _) in &indexes {
        connection.execute(AssertSqlSafe(format!("DROP INDEX {name}"))).await?;
    }
    let id = |number: &str| format!("unhex(printf('00000000000070008000%012x', {number}))");
    let text = |number: &str| format!("printf('00000000-0000-7000-8000-%012x', {number})");
    let insert = format!(
        "WITH RECURSIVE counted (n) AS (SELECT ?2 UNION ALL SELECT n + 1 FROM counted WHERE n + 1 < ?3),
        numbers AS (SELECT n, n * 2654435761 % 1000003 % 100 AS h FROM counted)
        INSERT INTO audit_entries ({COLUMNS})
        SELECT ?1, {}, {}, {}, CASE WHEN n % 3 = 0 THEN {} END, {},
            '{{\"firstName\":\"Grace\",\"lastName\":\"Hopper\",\"status\":\"ACTIVE\"}}', '{{}}',
            'request-' || n, '192.0.2.7', 'bench/1.0', 1767225600000 + n * ({YEAR_MILLIS} / ?4),
            randomblob(16), randomblob(16)
        FROM numbers",
        id("n"),
        KINDS.replace('$', "?"),
        text("n / 5 * 5"),
        id("n % 100"),
        id("n % 100"),
    );
    for (tenant, entries) in tenants {
        for [from, until, entries] in chunks(*entries)? {
            let insert = query(AssertSqlSafe(insert.as_str())).bind(tenant.as_uuid()).bind(from).bind(until);
            insert.bind(entries).execute(&mut *connection).await?;
        }
    }
    // In one transaction: a connection that saw the indexes without their statistics would plan without them for ever.
    connection.execute("BEGIN IMMEDIATE").await?;
    for (_, definition) in &indexes {
        connection.execute(AssertSqlSafe(definition.as_str())).await?;
    }
    connection.execute("DELETE FROM sqlite_stat1; INSERT INTO sqlite_stat1 SELECT * FROM expected").await?;
    connection.execute("COMMIT").await?;
    connection.execute("ANALYZE sqlite_schema").await?;
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").await?;
    Ok(())
}
