//! The users. The databases themselves generate them.

use std::str::FromStr as _;

use iam_benches::database::{Database, drop_indexes};
use iam_benches::{Outcome, id};
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, query};
use uuid::Uuid;

/// The identifier of the tenant with this number.
pub(crate) fn tenant(number: usize) -> Uuid {
    id(number as u64)
}

/// Fills a new database with one tenant for each of these numbers of users. Each tenant has one Quetzalcoatl.
pub(crate) async fn fill(database: &Database, sizes: &[u64]) -> Outcome {
    match database {
        Database::Postgres(database) => fill_postgres(&mut PgConnection::connect(database.url()).await?, sizes).await,
        Database::Sqlite(file) => fill_sqlite(file.url(), sizes).await,
    }
}

async fn fill_postgres(connection: &mut PgConnection, sizes: &[u64]) -> Outcome {
    connection.execute("SET maintenance_work_mem = '512MB'").await?;
    let indexes = drop_indexes(connection, "iam.users").await?;
    for (number, users) in sizes.iter().enumerate() {
        let tenant = tenant(number);
        let insert = "INSERT INTO iam.tenants VALUES ($1, 'Bench', $1::text, 'ACTIVE', now(), now())";
        query(insert).bind(tenant).execute(&mut *connection).await?;
        let insert = "
            INSERT INTO iam.users
            SELECT
                $1, gen_random_uuid(), first || '.' || last || n || '@example.com', lower(first || '.' || last || n || '@example.com'),
                first, lower(first), last, lower(last),
                CASE n % 100 WHEN 7 THEN 'SUSPENDED' WHEN 8 THEN 'INACTIVE' ELSE 'ACTIVE' END,
                CASE WHEN n % 10 > 0 THEN '2026-01-01'::timestamptz + n * interval '17 s' END,
                '2026-01-01'::timestamptz + n * interval '10 s',
                '2026-01-01'::timestamptz + n * 7919 % $2 * interval '10 s'
            FROM (
                SELECT
                    n,
                    (ARRAY['Maria', 'Jan', 'Grace', 'Ada', 'Linus', 'Barbara', 'Edsger', 'Alan'])[(1 + n * 7919 % 8)::integer]
                        || chr((97 + n * 104729 % 25)::integer) AS first,
                    CASE WHEN n = $2 / 3 THEN 'Quetzalcoatl' ELSE
                        (ARRAY['Muller', 'Smith', 'Hopper', 'Lovelace', 'Torvalds', 'Liskov', 'Turing'])[(1 + n * 31 % 7)::integer]
                            || chr((97 + n * 7 % 25)::integer) || chr((97 + n * 11 % 23)::integer)
                    END AS last
                FROM generate_series(0, $2::bigint - 1) n
            ) people";
        query(insert).bind(tenant).bind(i64::try_from(*users)?).execute(&mut *connection).await?;
    }
    for definition in &indexes {
        connection.execute(AssertSqlSafe(definition.as_str())).await?;
    }
    connection.execute("VACUUM ANALYZE").await?;
    Ok(())
}

async fn fill_sqlite(url: &str, sizes: &[u64]) -> Outcome {
    let options = SqliteConnectOptions::from_str(url)?.synchronous(SqliteSynchronous::Off);
    let mut connection = options.connect().await?;
    connection.execute("PRAGMA cache_size = -1000000").await?;
    for (number, users) in sizes.iter().enumerate() {
        let tenant = tenant(number);
        let insert = "INSERT INTO tenants (id, name, slug, status, created_at, updated_at)
            VALUES (?1, 'Bench', lower(hex(?1)), 'ACTIVE', 0, 0)";
        query(insert).bind(tenant).execute(&mut connection).await?;
        let insert = "
            WITH RECURSIVE numbers (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?2),
            people AS (
                SELECT
                    n,
                    json_extract('[\"Maria\",\"Jan\",\"Grace\",\"Ada\",\"Linus\",\"Barbara\",\"Edsger\",\"Alan\"]',
                        '$[' || (n * 7919 % 8) || ']') || char(97 + n * 104729 % 25) AS first,
                    iif(n = ?2 / 3, 'Quetzalcoatl', json_extract(
                        '[\"Muller\",\"Smith\",\"Hopper\",\"Lovelace\",\"Torvalds\",\"Liskov\",\"Turing\"]',
                        '$[' || (n * 31 % 7) || ']') || char(97 + n * 7 % 25) || char(97 + n * 11 % 23)) AS last
                FROM numbers
            )
            INSERT INTO users (
                number, tenant_id, id, email, email_key, first_name, first_name_key, last_name, last_name_key, status,
                last_login_at, created_at, updated_at
            )
            SELECT
                (SELECT first_user FROM tenants WHERE id = ?1) + n, ?1, randomblob(16),
                first || '.' || last || n || '@example.com', lower(first || '.' || last || n || '@example.com'),
                first, lower(first), last, lower(last),
                CASE n % 100 WHEN 7 THEN 'SUSPENDED' WHEN 8 THEN 'INACTIVE' ELSE 'ACTIVE' END,
                iif(n % 10 > 0, n * 17000, NULL), n * 10000, n * 7919 % ?2 * 10000
            FROM people";
        query(insert).bind(tenant).bind(i64::try_from(*users)?).execute(&mut connection).await?;
    }
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").await?;
    Ok(())
}
