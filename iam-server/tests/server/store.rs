//! The databases of the servers.

use std::sync::Arc;

use iam_store_postgres::PostgresStore;
use iam_store_sqlite::SqliteStore;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, SqliteConnection, query_scalar};
use test_support::postgres::TestDatabase;

use crate::process::{Home, Launch, Server};

/// The database of servers, and their working directory.
pub(crate) struct Store {
    home: Home,
    postgres: Option<TestDatabase>,
    is_behind_pooler: bool,
}

impl Store {
    /// A SQLite file in the working directory.
    pub(crate) fn sqlite() -> Self {
        Self { home: Home::new(), postgres: None, is_behind_pooler: false }
    }

    /// A PostgreSQL database.
    pub(crate) fn postgres() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let postgres = Some(runtime.block_on(TestDatabase::create()));
        Self { home: Home::new(), postgres, is_behind_pooler: false }
    }

    /// A PostgreSQL database that servers reach through a pooler.
    pub(crate) fn behind_pooler() -> Self {
        Self { is_behind_pooler: true, ..Self::postgres() }
    }

    /// Prepares a run of the server's binary on this database.
    pub(crate) fn iam_server(&self) -> Launch {
        let launch = self.home.iam_server();
        match &self.postgres {
            Some(database) if self.is_behind_pooler => {
                let launch = launch.env("IAM_DATABASE_URL", database.pooler_url());
                launch.env("IAM_DATABASE_DIRECT_URL", database.url())
            }
            Some(database) => launch.env("IAM_DATABASE_URL", database.url()),
            None => launch,
        }
    }

    /// The URL of the PostgreSQL database.
    pub(crate) fn url(&self) -> &str {
        self.postgres.as_ref().unwrap().url()
    }

    pub(crate) fn serve(&self) -> Server {
        self.iam_server().serve()
    }

    /// Changes the database behind the server's back, with all rights.
    pub(crate) fn tamper(&self, sql: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            match &self.postgres {
                Some(database) => {
                    let mut connection = PgConnection::connect(database.url()).await.unwrap();
                    connection.execute("SET session_replication_role = replica; SET search_path = iam").await.unwrap();
                    connection.execute(AssertSqlSafe(sql)).await.unwrap();
                }
                None => {
                    let mut connection = SqliteConnection::connect(&self.sqlite_url()).await.unwrap();
                    let triggers = "SELECT name FROM sqlite_schema WHERE type = 'trigger'";
                    let triggers: Vec<String> = query_scalar(triggers).fetch_all(&mut connection).await.unwrap();
                    for trigger in triggers {
                        connection.execute(AssertSqlSafe(format!("DROP TRIGGER {trigger}"))).await.unwrap();
                    }
                    connection.execute(AssertSqlSafe(sql)).await.unwrap();
                }
            }
        });
    }

    /// Migrates the database and works on it, independently of the servers.
    pub(crate) fn with_store<F: Future<Output = ()>>(&self, work: impl FnOnce(Arc<dyn iam_core::Store>) -> F) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            match &self.postgres {
                Some(database) => {
                    let store = PostgresStore::connect(database.url()).await.unwrap();
                    store.migrate().await.unwrap();
                    work(Arc::new(store)).await;
                }
                None => {
                    let store = SqliteStore::open(&self.sqlite_url()).await.unwrap();
                    store.migrate().await.unwrap();
                    work(Arc::new(store)).await;
                }
            }
        });
    }

    fn sqlite_url(&self) -> String {
        format!("sqlite://{}", self.home.path().join("iam.db").display())
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }
}
