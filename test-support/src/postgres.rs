//! PostgreSQL databases for tests.

use std::str::FromStr as _;
use std::time::Duration;

use iam_core::{Schema, Store as _};
use iam_store_postgres::PostgresStore;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

/// A database on the server that `IAM_TEST_POSTGRES_URL` names.
pub struct TestDatabase {
    server: PgConnectOptions,
    name: String,
    url: String,
    /// Whether a later test may use it.
    is_reused: bool,
}

/// The prefix of the databases that tests have left for other tests. They accept no connections.
const SPARE: &str = "iam_spare_";

impl TestDatabase {
    /// Creates an empty database. It is removed when this is dropped.
    ///
    /// # Panics
    ///
    /// When `IAM_TEST_POSTGRES_URL` is not set, or the server does not answer.
    pub async fn create() -> Self {
        // No session can be connected to template0, so concurrent tests do not disturb each other.
        Self::create_from("template0").await
    }

    /// Creates a copy of this database. No session may be connected to this one.
    ///
    /// # Panics
    ///
    /// When the server does not answer, or a session is connected.
    pub async fn copy(&self) -> Self {
        Self::create_from(&self.name).await
    }

    /// A database whose schema `iam` is up to date and has no rows, for tests that do not change the schema. A test that
    /// passes leaves its database to a later test, because creating and dropping a database takes longer than most
    /// tests.
    ///
    /// # Panics
    ///
    /// When `IAM_TEST_POSTGRES_URL` is not set, or the server does not answer.
    pub async fn migrated() -> Self {
        while let Some(mut spare) = Self::take_spare().await {
            // Another version of the migrations may have left it.
            let store = PostgresStore::connect(spare.url()).await.expect("the database answers");
            if store.schema().await.expect("the database answers") == Schema::UpToDate {
                let database = spare.server.clone().database(&spare.name);
                execute(&database, EMPTY.to_owned()).await.expect("the rows can be deleted");
                store.migrate().await.expect("the migrations run");
                store.close().await;
                spare.is_reused = true;
                return spare;
            }
        }
        let mut database = Self::create().await;
        let store = PostgresStore::connect(database.url()).await.expect("the database answers");
        store.migrate().await.expect("the migrations run");
        store.close().await;
        database.is_reused = true;
        database
    }

    async fn take_spare() -> Option<Self> {
        let server = server();
        let mut connection = PgConnection::connect_with(&server).await.expect("the server answers");
        loop {
            let spare = format!("SELECT datname FROM pg_database WHERE starts_with(datname, '{SPARE}') LIMIT 1");
            let spare = sqlx::query_scalar::<_, String>(AssertSqlSafe(spare));
            let spare = spare.fetch_optional(&mut connection).await.expect("the server answers")?;
            let name = new_name();
            // If two tests take the same database, the second one fails here and tries again.
            let rename = format!("ALTER DATABASE {spare} RENAME TO {name}");
            if connection.execute(AssertSqlSafe(rename)).await.is_ok() {
                let open = format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true");
                connection.execute(AssertSqlSafe(open)).await.expect("the database is there");
                return Some(Self::named(server, name));
            }
        }
    }

    async fn create_from(template: &str) -> Self {
        let (server, name) = (server(), new_name());
        execute(&server, format!("CREATE DATABASE {name} TEMPLATE {template}"))
            .await
            .expect("the server creates a database");
        Self::named(server, name)
    }

    fn named(server: PgConnectOptions, name: String) -> Self {
        let url = server.clone().database(&name).to_url_lossy().into();
        Self { server, name, url, is_reused: false }
    }

    /// A pool of another program, whose role is a superuser. It connects when it is first used.
    #[must_use]
    pub fn pool(&self) -> PgPool {
        PgPool::connect_lazy_with(self.server.clone().database(&self.name))
    }

    /// The URL of the database, for a superuser.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

fn server() -> PgConnectOptions {
    let Ok(url) = std::env::var("IAM_TEST_POSTGRES_URL") else {
        panic!("needs PostgreSQL: run scripts/test");
    };
    PgConnectOptions::from_str(&url).expect("IAM_TEST_POSTGRES_URL is a URL").disable_statement_logging()
}

fn new_name() -> String {
    format!("iam_test_{}", Uuid::new_v4().simple())
}

/// Deletes every row of the schema `iam`, and every partition: the clock of a test may have created one for any month.
/// The role of a replica disables foreign keys and the triggers that protect the audit log.
const EMPTY: &str = "
    BEGIN;
    SET LOCAL session_replication_role = replica;
    DO $$
    DECLARE t record;
    BEGIN
        FOR t IN
            SELECT oid::regclass AS name, relispartition
            FROM pg_class
            WHERE relnamespace = 'iam'::regnamespace AND relkind = 'r' AND relname <> '_migrations'
        LOOP
            IF t.relispartition THEN
                EXECUTE format('DROP TABLE %s', t.name);
            ELSE
                EXECUTE format('DELETE FROM %s', t.name);
            END IF;
        END LOOP;
    END $$;
    COMMIT";

/// The time limit for the removal of a database. A test must end even if the server no longer answers.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(10);

impl Drop for TestDatabase {
    /// Drops the database or leaves it to another test, even if a pool is still connected or the test has failed.
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        let is_spare = self.is_reused && !std::thread::panicking();
        // On a separate thread, because a runtime cannot be blocked on from inside another runtime.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            runtime.block_on(async {
                if is_spare && matches!(timeout(REMOVAL_TIMEOUT, leave(&server, &name)).await, Ok(Ok(()))) {
                    return Some(());
                }
                let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                timeout(REMOVAL_TIMEOUT, execute(&server, drop)).await.ok()?.ok()
            })
        });
        let _ = dropping.join();
    }
}

/// Ends every connection to a database, refuses new ones, and leaves it to another test. A task that the test left
/// running cannot connect to it again: the database has another name when it accepts connections again.
async fn leave(server: &PgConnectOptions, name: &str) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect_with(server).await?;
    connection.execute(AssertSqlSafe(format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"))).await?;
    let end = format!("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{name}'");
    // A connection takes a moment to end. RENAME would check again only after 100 ms.
    while sqlx::query_scalar::<_, i64>(AssertSqlSafe(end.as_str())).fetch_one(&mut connection).await? > 0 {
        sleep(Duration::from_millis(2)).await;
    }
    let spare = format!("{SPARE}{}", Uuid::new_v4().simple());
    connection.execute(AssertSqlSafe(format!("ALTER DATABASE {name} RENAME TO {spare}"))).await?;
    connection.close().await
}

async fn execute(server: &PgConnectOptions, statement: String) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect_with(server).await?;
    // No part of the statement is input: the names are generated above.
    connection.execute(AssertSqlSafe(statement)).await?;
    connection.close().await
}
