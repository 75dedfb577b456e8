//! The stores that every test runs on. Each test gets an empty store, which is removed after the test.

use test_support::TestStore;

use crate::app::TestApp;

pub(crate) async fn memory() -> TestApp {
    TestApp::on(TestStore::memory()).await
}

pub(crate) async fn sqlite() -> TestApp {
    TestApp::on(TestStore::sqlite().await).await
}

pub(crate) async fn postgres() -> TestApp {
    TestApp::on(TestStore::postgres().await).await
}

pub(crate) async fn memory_with_mail() -> TestApp {
    memory().await.with_mail().await
}

pub(crate) async fn sqlite_with_mail() -> TestApp {
    sqlite().await.with_mail().await
}

pub(crate) async fn postgres_with_mail() -> TestApp {
    postgres().await.with_mail().await
}
