//! PostgreSQL databases for tests.

use std::str::FromStr as _;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};
use uuid::Uuid;

/// An empty database on the server that `IAM_TEST_POSTGRES_URL` names; it goes when this is dropped.
pub struct TestDatabase {
    server: PgConnectOptions,
    name: String,
    url: String,
}

impl TestDatabase {
    /// Makes the database.
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

    async fn create_from(template: &str) -> Self {
        let Ok(url) = std::env::var("IAM_TEST_POSTGRES_URL") else {
            panic!("needs PostgreSQL: run scripts/test");
        };
        let server =
            PgConnectOptions::from_str(&url).expect("IAM_TEST_POSTGRES_URL is a URL").disable_statement_logging();
        let name = format!("iam_test_{}", Uuid::new_v4().simple());
        execute(&server, format!("CREATE DATABASE {name} TEMPLATE {template}"))
            .await
            .expect("the server makes a database");
        let url = server.clone().database(&name).to_url_lossy().into();
        Self { server, name, url }
    }

    /// The database's URL, with the rights of a superuser.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// A server that does not answer any more must not keep a test from ending.
const PATIENCE: Duration = Duration::from_secs(10);

impl Drop for TestDatabase {
    /// Drops the database, although a pool may still be connected, and also when the test has failed.
    fn drop(&mut self) {
        let server = self.server.clone();
        let statement = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // A thread of its own, because a runtime cannot be waited for from inside another one.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            runtime.block_on(async { tokio::time::timeout(PATIENCE, execute(&server, statement)).await.ok()?.ok() })
        });
        let _ = dropping.join();
    }
}

async fn execute(server: &PgConnectOptions, statement: String) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect_with(server).await?;
    // Nothing in the statement comes from outside: the name is made above.
    connection.execute(AssertSqlSafe(statement)).await?;
    connection.close().await
}
