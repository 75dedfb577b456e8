//! The databases that servers are started on.

use test_support::postgres::TestDatabase;

use crate::process::{Home, Launch, Server};

/// Where a server keeps everything, and a working directory for it.
pub(crate) struct Store {
    home: Home,
    postgres: Option<TestDatabase>,
}

impl Store {
    /// A SQLite file in the working directory.
    pub(crate) fn sqlite() -> Self {
        Self { home: Home::new(), postgres: None }
    }

    /// A PostgreSQL database.
    pub(crate) fn postgres() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { home: Home::new(), postgres: Some(runtime.block_on(TestDatabase::create())) }
    }

    /// The server's binary, about to be run on this.
    pub(crate) fn iam_server(&self) -> Launch {
        let launch = self.home.iam_server();
        match &self.postgres {
            Some(database) => launch.env("IAM_DATABASE_URL", database.url()),
            None => launch,
        }
    }

    pub(crate) fn serve(&self) -> Server {
        self.iam_server().serve()
    }
}
