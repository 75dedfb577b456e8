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
