//! Audit entries by the million: made by the databases themselves, past the triggers' and the sealer's concern, indexed
//! when all of them are there.

use std::str::FromStr as _;

use chrono::{DateTime, Utc};
use iam_core::TenantId;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, query, query_as};

use crate::Outcome;
use crate::database::Database;

/// When the first entry was made: 2026-01-01.
pub const START: DateTime<Utc> = DateTime::from_timestamp_millis(1_767_225_600_000).unwrap();
/// How long after that the last one was made.
pub const YEAR_MILLIS: u64 = 365 * 24 * 3_600_000;
/// How many entries one transaction inserts.
const CHUNK: usize = 250_000;

/// Gives each of these tenants so many entries, spread evenly over the year, with numbers for identifiers. The log must
/// have none yet.
///
/// # Errors
///
/// What the database says.
pub async fn fill(database: &Database, tenants: &[(TenantId, u64)]) -> Outcome {
    match database {
        Database::Postgres(database) => fill_postgres(&mut PgConnection::connect(database.url()).await?, tenants).await,
        Database::Sqlite(file) => {
            let options = SqliteConnectOptions::from_str(file.url())?.synchronous(SqliteSynchronous::Off);
            fill_sqlite(&mut options.connect().await?, tenants).await
        }
    }
}

/// Of the numbers from $2 on below $3, `h` being a number below a hundred that looks random: half of the entries are
/// refreshed tokens, one in a hundred is a deletion, and three of all are what is rare.
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

/// What an entry has.
pub const COLUMNS: &str =
    "tenant_id, id, action, resource_type, resource_id, organization_id, user_id, new_value, metadata,
    correlation_id, ip_address, user_agent, created_at, details_salt, origin_salt";

/// From which entry to which each transaction goes, and how many there are in all.
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
    // What the planner is to expect goes with an index, and is not what it would be told of the new one.
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
    // In one transaction: a connection that saw the indexes and not what is expected of them would plan without it for ever.
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
