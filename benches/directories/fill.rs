//! The users of the directory. The databases themselves generate them.

use std::str::FromStr as _;

use iam_benches::Outcome;
use iam_benches::database::{Database, drop_indexes};
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, query, query_scalar};
use uuid::Uuid;

use crate::person::{attributes, search};

/// The place of the e-mail in a text of which each user has one.
const EMAIL: &str = "@@";

/// Fills the directory of a tenant with this number of users. They are numbered from 1, as by [`id`](iam_benches::id)
/// and [`email`](iam_benches::email).
pub(crate) async fn fill(database: &Database, tenant: Uuid, directory: Uuid, users: u64) -> Outcome {
    let (attributes, search) = (serde_json::to_string(&attributes(EMAIL))?, search(EMAIL).to_string());
    let texts = [attributes.as_str(), search.as_str()];
    let users = i64::try_from(users)?;
    match database {
        Database::Postgres(database) => {
            let mut connection = PgConnection::connect(database.url()).await?;
            fill_postgres(&mut connection, tenant, directory, users, texts).await
        }
        Database::Sqlite(file) => fill_sqlite(file.url(), tenant, directory, users, texts).await,
    }
}

async fn fill_postgres(
    connection: &mut PgConnection,
    tenant: Uuid,
    directory: Uuid,
    users: i64,
    [attributes, search]: [&str; 2],
) -> Outcome {
    connection.execute("SET maintenance_work_mem = '512MB'").await?;
    let indexes = drop_indexes(connection, "iam.users").await?;
    let insert = query(
        "INSERT INTO iam.users (
            tenant_id, id, email, email_key, first_name, first_name_key, last_name, last_name_key, external_id, status,
            created_at, updated_at
        )
        SELECT
            $1, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, email, email, 'Ada', 'ada', 'Lovelace',
            'lovelace', 'person-' || n, 'ACTIVE', created_at, created_at
        FROM (
            SELECT
                n, 'user' || lpad(n::text, 9, '0') || '@example.com' AS email,
                '2026-01-01'::timestamptz + n * interval '1 s' AS created_at
            FROM generate_series(1, $2::bigint) n
        ) people",
    );
    insert.bind(tenant).bind(users).execute(&mut *connection).await?;
    let insert = query(
        "INSERT INTO iam.directory_users (
            tenant_id, user_id, directory_id, user_name, user_name_key, attributes, search, created_at, updated_at
        )
        SELECT
            tenant_id, id, $2, email, email_key, replace($3, $5, email)::json, replace($4, $5, email)::jsonb,
            created_at, updated_at
        FROM iam.users
        WHERE tenant_id = $1 AND external_id IS NOT NULL",
    );
    let insert = insert.bind(tenant).bind(directory).bind(attributes).bind(search).bind(EMAIL);
    insert.execute(&mut *connection).await?;
    for definition in &indexes {
        connection.execute(AssertSqlSafe(definition.as_str())).await?;
    }
    Ok(())
}

async fn fill_sqlite(url: &str, tenant: Uuid, directory: Uuid, users: i64, [attributes, search]: [&str; 2]) -> Outcome {
    let options = SqliteConnectOptions::from_str(url)?.synchronous(SqliteSynchronous::Off);
    let mut connection = options.connect().await?;
    connection.execute("PRAGMA cache_size = -1000000").await?;
    // The last number in the search index. There is no other tenant.
    let last: i64 = query_scalar("SELECT max(number) FROM users").fetch_one(&mut connection).await?;
    let insert = query(
        "WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2),
        people AS (SELECT n, printf('user%09d@example.com', n) AS email, n * 1000 AS created_at FROM numbers)
        INSERT INTO users (
            number, tenant_id, id, email, email_key, first_name, first_name_key, last_name, last_name_key, external_id,
            status, created_at, updated_at
        )
        SELECT
            ?3 + n, ?1, unhex('00000000000070008000' || printf('%012x', n)), email, email, 'Ada', 'ada', 'Lovelace',
            'lovelace', 'person-' || n, 'ACTIVE', created_at, created_at
        FROM people",
    );
    insert.bind(tenant).bind(users).bind(last).execute(&mut connection).await?;
    let insert = query(
        "INSERT INTO directory_users (
            tenant_id, user_id, directory_id, user_name, user_name_key, attributes, search, created_at, updated_at
        )
        SELECT
            tenant_id, id, ?2, email, email_key, replace(?3, ?5, email), replace(?4, ?5, email), created_at, updated_at
        FROM users
        WHERE tenant_id = ?1 AND external_id IS NOT NULL",
    );
    let insert = insert.bind(tenant).bind(directory).bind(attributes).bind(search).bind(EMAIL);
    insert.execute(&mut connection).await?;
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").await?;
    Ok(())
}
