//! PostgreSQL databases for tests.

use std::str::FromStr as _;
use std::time::Duration;

use iam_core::Store as _;
use iam_store_postgres::PostgresStore;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};
use tokio::time::timeout;
use uuid::Uuid;

/// A database on the server that `IAM_TEST_POSTGRES_URL` names.
pub struct TestDatabase {
    server: PgConnectOptions,
    name: String,
    url: String,
}

/// The environment variable that chooses the connections of the tests' stores.
const ROUTE: &str = "IAM_TEST_STORE";

/// The comment on a database that the tests of a process use until the process ends.
const REUSED: &str = "used by several tests";

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

    /// Creates a database with the schema `iam`, without rows. It stays when its process ends, and is removed by a
    /// later call of this function, in any process.
    ///
    /// # Panics
    ///
    /// When `IAM_TEST_POSTGRES_URL` is not set, or the server does not answer.
    pub async fn reused() -> (Self, Vec<PgConnection>) {
        remove_abandoned().await;
        let database = Self::create().await;
        let store = database.store().await;
        database.migrate(&store).await;
        store.close().await;
        let mut owners = database.connect_to_all().await;
        let mark = format!("COMMENT ON DATABASE {} IS '{REUSED}'", database.name);
        let owner = owners.first_mut().expect("there is a connection");
        owner.execute(AssertSqlSafe(mark)).await.expect("a superuser may comment on a database");
        (database, owners)
    }

    async fn create_from(template: &str) -> Self {
        let (server, name) = (server(), new_name());
        // Workers are added to one database at a time: they change what all databases share.
        let mut alone = None;
        if runs_on_citus() {
            let mut connection = PgConnection::connect_with(&server).await.expect("the server answers");
            connection.execute("SELECT pg_advisory_lock(1)").await.expect("the server has locks");
            alone = Some(connection);
        }
        for node in std::iter::once(server.clone()).chain(workers()) {
            execute(&node, format!("CREATE DATABASE {name} TEMPLATE {template}"))
                .await
                .expect("the server creates a database");
            if runs_on_citus() {
                execute(&node.database(&name), "CREATE EXTENSION citus".to_owned()).await.expect("it has Citus");
            }
        }
        if runs_on_citus() {
            execute(&server.clone().database(&name), nodes(&server, &name)).await.expect("the workers answer");
        }
        drop(alone);
        let url = server.clone().database(&name).to_url_lossy().into();
        Self { server, name, url }
    }

    /// Migrates the database, and distributes its tables if the tests run on Citus.
    ///
    /// # Panics
    ///
    /// When a migration fails.
    pub async fn migrate(&self, store: &PostgresStore) {
        let migrated = if runs_on_citus() { store.migrate_distributed().await } else { store.migrate().await };
        migrated.expect("the migrations run");
    }

    /// Connects to the database as a superuser, and to its parts on the workers of Citus.
    ///
    /// # Panics
    ///
    /// When a server does not answer.
    pub async fn connect_to_all(&self) -> Vec<PgConnection> {
        let mut connections = vec![self.connect().await];
        for worker in workers() {
            let options = worker.database(&self.name);
            connections.push(PgConnection::connect_with(&options).await.expect("the worker answers"));
        }
        connections
    }

    /// A pool of another program, whose role is a superuser. It connects when it is first used.
    #[must_use]
    pub fn pool(&self) -> PgPool {
        PgPool::connect_lazy_with(self.server.clone().database(&self.name))
    }

    /// Connects as a superuser.
    ///
    /// # Panics
    ///
    /// When the server does not answer.
    pub async fn connect(&self) -> PgConnection {
        let options = self.server.clone().database(&self.name);
        PgConnection::connect_with(&options).await.expect("the server answers")
    }

    /// The URL of the database, for a superuser.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The URL of the database by way of the pooler, for a superuser.
    ///
    /// # Panics
    ///
    /// When `IAM_TEST_PGBOUNCER_URL` is not set.
    #[must_use]
    pub fn pooler_url(&self) -> String {
        let Ok(url) = std::env::var("IAM_TEST_PGBOUNCER_URL") else {
            panic!("needs PgBouncer: run scripts/test");
        };
        self.copy_at(&url)
    }

    /// A store in this database, by the route that `IAM_TEST_STORE` names: `pgbouncer`, `replicas`, or else directly. With
    /// `citus`, the database has parts on two workers.
    ///
    /// # Panics
    ///
    /// When the server does not answer, or the pooler is needed and there is none.
    pub async fn store(&self) -> PostgresStore {
        let connected = if self.is_behind_pooler() {
            PostgresStore::connect_through_pooler(&self.pooler_url(), &self.url).await
        } else {
            PostgresStore::connect(&self.url).await
        };
        let store = connected.expect("the database answers");
        if std::env::var(ROUTE).is_ok_and(|route| route == "replicas") {
            let urls = self.replica_urls();
            return store.with_replicas(urls.iter().map(String::as_str)).expect("the URLs are valid");
        }
        store
    }

    /// The URLs of the copies of the database on the replicas, for a superuser.
    ///
    /// # Panics
    ///
    /// When `IAM_TEST_REPLICA_URLS` is not set.
    #[must_use]
    pub fn replica_urls(&self) -> Vec<String> {
        let Ok(urls) = std::env::var("IAM_TEST_REPLICA_URLS") else {
            panic!("needs replicas: run scripts/check-replicas");
        };
        urls.split(',').map(|url| self.copy_at(url)).collect()
    }

    /// The URL of the copy of the database on the replica that a test may promote, for a superuser.
    ///
    /// # Panics
    ///
    /// When `IAM_TEST_PROMOTION_URL` is not set.
    #[must_use]
    pub fn promotion_url(&self) -> String {
        let Ok(url) = std::env::var("IAM_TEST_PROMOTION_URL") else {
            panic!("needs replicas: run scripts/check-replicas");
        };
        self.copy_at(&url)
    }

    fn copy_at(&self, server: &str) -> String {
        let server = PgConnectOptions::from_str(server).expect("the server has a URL");
        server.database(&self.name).to_url_lossy().into()
    }

    /// Whether the stores of the tests work through the pooler.
    #[must_use]
    pub fn is_behind_pooler(&self) -> bool {
        std::env::var(ROUTE).is_ok_and(|route| route == "pgbouncer")
    }
}

fn server() -> PgConnectOptions {
    let Ok(url) = std::env::var("IAM_TEST_POSTGRES_URL") else {
        panic!("needs PostgreSQL: run scripts/test");
    };
    PgConnectOptions::from_str(&url).expect("IAM_TEST_POSTGRES_URL is a URL").disable_statement_logging()
}

/// Whether the tests run on Citus.
#[must_use]
pub fn runs_on_citus() -> bool {
    std::env::var(ROUTE).is_ok_and(|route| route == "citus")
}

/// The workers of Citus, if the tests run on it.
fn workers() -> Vec<PgConnectOptions> {
    if !runs_on_citus() {
        return Vec::new();
    }
    let Ok(urls) = std::env::var("IAM_TEST_CITUS_WORKER_URLS") else {
        panic!("needs Citus: run scripts/check-citus");
    };
    let worker = |url| PgConnectOptions::from_str(url).expect("a worker has a URL").disable_statement_logging();
    urls.split(',').map(worker).collect()
}

/// The statements that add the workers to a new database. It has few shards, so that its tables are made quickly.
fn nodes(coordinator: &PgConnectOptions, database: &str) -> String {
    let host = |options: &PgConnectOptions| format!("'{}', {}", options.get_host(), options.get_port());
    let add = |worker: PgConnectOptions| format!("SELECT citus_add_node({});", host(&worker));
    let workers: String = workers().into_iter().map(add).collect();
    let coordinator = host(coordinator);
    format!(
        "
        ALTER DATABASE {database} SET citus.shard_count = 4;
        SELECT citus_set_coordinator_host({coordinator});
        {workers}
    "
    )
}

fn new_name() -> String {
    format!("iam_test_{}", Uuid::new_v4().simple())
}

/// Removes the reused databases of processes that have ended. A running process is connected to its databases. Those on
/// Citus stay: its own processes are always connected.
async fn remove_abandoned() {
    let mut connection = PgConnection::connect_with(&server()).await.expect("the server answers");
    let abandoned = format!(
        "SELECT d.datname FROM pg_database d
        WHERE shobj_description(d.oid, 'pg_database') = '{REUSED}'
            AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datid = d.oid)"
    );
    let abandoned = sqlx::query_scalar::<_, String>(AssertSqlSafe(abandoned));
    for name in abandoned.fetch_all(&mut connection).await.expect("the server answers") {
        // Fails if another process removes the same database.
        let _ = connection.execute(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name}"))).await;
    }
}

/// The time limit for the removal of a database. A test must end even if the server no longer answers.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(10);

impl Drop for TestDatabase {
    /// Drops the database even if a pool is still connected or the test has failed.
    fn drop(&mut self) {
        let (servers, name) = ([vec![self.server.clone()], workers()].concat(), self.name.clone());
        // On a separate thread, because a runtime cannot be blocked on from inside another runtime.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            runtime.block_on(async {
                for server in servers {
                    let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                    timeout(REMOVAL_TIMEOUT, execute(&server, drop)).await.ok()?.ok()?;
                }
                Some(())
            })
        });
        let _ = dropping.join();
    }
}

async fn execute(server: &PgConnectOptions, statement: String) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect_with(server).await?;
    // No part of the statement is input: the names are generated above.
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await?;
    connection.close().await
}
