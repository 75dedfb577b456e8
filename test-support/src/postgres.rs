//! PostgreSQL databases for tests.

use std::str::FromStr as _;
use std::time::Duration;

use iam_core::{Schema, Store as _};
use iam_store_postgres::PostgresStore;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

/// A database on the server that `IAM_TEST_POSTGRES_URL` names.
pub struct TestDatabase {
    server: PgConnectOptions,
    name: String,
    url: String,
    /// Whether another test may have it after this one.
    is_reused: bool,
}

/// The databases that a test has left for the next one. Nobody is connected to them, and nobody can be.
const SPARE: &str = "iam_spare_";

impl TestDatabase {
    /// Makes an empty database. It is dropped together with this value.
    ///
    /// # Panics
    ///
    /// When `IAM_TEST_POSTGRES_URL` is not set, or the server does not answer.
    pub async fn create() -> Self {
        // Nobody can be connected to template0, so tests that do this at once do not disturb each other.
        Self::create_from("template0").await
    }

    /// Makes a database that is like this one, to which nobody may be connected.
    ///
    /// # Panics
    ///
    /// When the server does not answer, or somebody is connected.
    pub async fn copy(&self) -> Self {
        Self::create_from(&self.name).await
    }

    /// A database with the schema `iam` up to date and without a row in it, for tests that leave the schema as it is.
    /// A test that passed leaves its database to a later one, because making and dropping a database takes longer than most
    /// tests do.
    ///
    /// # Panics
    ///
    /// When `IAM_TEST_POSTGRES_URL` is not set, or the server does not answer.
    pub async fn migrated() -> Self {
        while let Some(mut spare) = Self::take_spare().await {
            // It may be of another version of the migrations.
            let store = PostgresStore::connect(spare.url()).await.expect("the database answers");
            if store.schema().await.expect("the database answers") == Schema::UpToDate {
                store.pool().execute(EMPTY).await.expect("the rows can be deleted");
                store.migrate().await.expect("the months are made");
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
            // Of two tests that want it, one finds that it has gone.
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
            .expect("the server makes a database");
        Self::named(server, name)
    }

    fn named(server: PgConnectOptions, name: String) -> Self {
        let url = server.clone().database(&name).to_url_lossy().into();
        Self { server, name, url, is_reused: false }
    }

    /// The database's URL, with the rights of a superuser.
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

/// Deletes every row of the schema `iam`, and every partition, which a test's clock may have put anywhere. As a replica does,
/// so that neither foreign keys nor the triggers that protect the audit log stop it.
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

/// A server that does not answer any more must not keep a test from ending.
const PATIENCE: Duration = Duration::from_secs(10);

impl Drop for TestDatabase {
    /// Drops the database or leaves it to another test, although a pool may still be connected, and also when the test has
    /// failed.
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        let is_spare = self.is_reused && !std::thread::panicking();
        // A thread of its own, because a runtime cannot be waited for from inside another one.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            runtime.block_on(async {
                if is_spare && matches!(timeout(PATIENCE, leave(&server, &name)).await, Ok(Ok(()))) {
                    return Some(());
                }
                let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                timeout(PATIENCE, execute(&server, drop)).await.ok()?.ok()
            })
        });
        let _ = dropping.join();
    }
}

/// Ends every connection to a database, lets no other one in, and offers it to the next test. What the test left running
/// cannot reach it any more, since it has another name when it is opened again.
async fn leave(server: &PgConnectOptions, name: &str) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect_with(server).await?;
    connection.execute(AssertSqlSafe(format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"))).await?;
    let end = format!("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{name}'");
    // A connection that ends takes a moment. RENAME would look again after 100 ms only.
    while sqlx::query_scalar::<_, i64>(AssertSqlSafe(end.as_str())).fetch_one(&mut connection).await? > 0 {
        sleep(Duration::from_millis(2)).await;
    }
    let spare = format!("{SPARE}{}", Uuid::new_v4().simple());
    connection.execute(AssertSqlSafe(format!("ALTER DATABASE {name} RENAME TO {spare}"))).await?;
    connection.close().await
}

async fn execute(server: &PgConnectOptions, statement: String) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect_with(server).await?;
    // Nothing in the statement comes from outside: the name is made above.
    connection.execute(AssertSqlSafe(statement)).await?;
    connection.close().await
}
