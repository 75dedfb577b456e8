//! The databases' plans for the pages.

use iam_benches::audit_log::COLUMNS;
use iam_benches::database::Database;
use iam_benches::{Outcome, id};
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, query_as, query_scalar};

/// The searches: by each single filter, by dates, and after a cursor in the middle. `$2` and `?2` stand for a text or
/// an identifier; the second text is the type of `$2` for PostgreSQL.
const SEARCHES: [(&str, &str); 9] = [
    ("", "text"),
    ("action", "text"),
    ("resource_type", "text"),
    ("resource_id", "text"),
    ("user_id", "uuid"),
    ("organization_id", "uuid"),
    ("correlation_id", "text"),
    ("dates", "text"),
    ("cursor", "text"),
];

/// The plans for a page of each search.
pub(crate) async fn plans(database: &Database) -> Outcome<String> {
    let mut plans = String::new();
    for (search, kind) in SEARCHES {
        let plan = match database {
            Database::Postgres(database) => plan_postgres(database.url(), search, kind).await?,
            Database::Sqlite(file) => plan_sqlite(file.url(), search).await?,
        };
        plans.push_str(&format!("{}\n{plan}\n\n", if search.is_empty() { "(no filter)" } else { search }));
    }
    Ok(plans)
}

async fn plan_postgres(url: &str, search: &str, kind: &str) -> Outcome<String> {
    let mut connection = PgConnection::connect(url).await?;
    connection.execute("SET plan_cache_mode = force_generic_plan; SET max_parallel_workers_per_gather = 0").await?;
    let condition = match search {
        "" => String::new(),
        "dates" => "AND created_at >= $3 AND created_at <= $3 + interval '1 day'".to_owned(),
        "cursor" => "AND created_at < '2026-08-01 00:00:00+00' AND (created_at, id) < ($3, $1)".to_owned(),
        filter => format!("AND {filter} = $2"),
    };
    let value = if kind == "uuid" { id(7).to_string() } else { "DELETE".to_owned() };
    let part = |table: &str| {
        format!(
            "(SELECT {COLUMNS}, old_value FROM iam.{table} WHERE tenant_id = $1 {condition}
            ORDER BY created_at DESC, id DESC LIMIT 21)"
        )
    };
    let (unsealed, sequenced) = (part("audit_unsealed"), part("audit_entries"));
    let select = format!(
        "PREPARE page (uuid, {kind}, timestamptz) AS SELECT * FROM ({unsealed} UNION ALL {sequenced}) entry
        ORDER BY created_at DESC, id DESC LIMIT 21"
    );
    connection.execute(AssertSqlSafe(select)).await?;
    let explain = format!(
        "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, SUMMARY OFF) EXECUTE page ('{}', '{value}', '2026-07-02')",
        id(1)
    );
    let lines: Vec<String> = query_scalar(AssertSqlSafe(explain)).fetch_all(&mut connection).await?;
    Ok(lines.join("\n"))
}

async fn plan_sqlite(url: &str, search: &str) -> Outcome<String> {
    let mut connection = SqliteConnection::connect(url).await?;
    let condition = match search {
        "" => String::new(),
        "dates" => "AND created_at >= ?2 AND created_at <= ?2 + 86400000".to_owned(),
        "cursor" => "AND (created_at, id) < (?2, ?3)".to_owned(),
        filter => format!("AND {filter} = ?2"),
    };
    let explain = format!(
        "EXPLAIN QUERY PLAN SELECT * FROM audit_entries WHERE tenant_id = ?1 {condition}
        ORDER BY created_at DESC, id DESC LIMIT 21"
    );
    let rows: Vec<(i64, i64, i64, String)> = query_as(AssertSqlSafe(explain)).fetch_all(&mut connection).await?;
    Ok(rows.into_iter().map(|(.., detail)| detail).collect::<Vec<_>>().join("\n"))
}
