//! The store operations of a request whose caller is cached, on stores with a change feed.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use iam_core::StoreError;
use iam_core::credential::LoginFailure;
use iam_core::observe::Observer;
use tokio::time::{sleep, timeout};

use crate::app::TestApp;

on_stores!(sqlite: a_read_by_a_cached_caller_needs_one_store_operation);
on_stores!(postgres: a_read_by_a_cached_caller_needs_one_store_operation);

/// An observer that records the store operations.
#[derive(Default)]
struct Operations(Mutex<Vec<&'static str>>);

impl Observer for Operations {
    fn store_answered(&self, operation: &'static str, _: Duration, _: Option<&StoreError>) {
        self.0.lock().unwrap().push(operation);
    }

    fn login_failed(&self, _: LoginFailure) {}

    fn password_hashed(&self, _: Duration, _: Duration) {}

    fn password_refused(&self) {}
    fn webhook_attempted(&self, _: iam_core::webhook::DeliveryStatus) {}
}

async fn a_read_by_a_cached_caller_needs_one_store_operation(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let recorded = Arc::new(Operations::default());
    let app = app.observed(Arc::clone(&recorded) as Arc<dyn Observer>, |_| {}).await;
    let iam = app.iam.clone();
    let following = tokio::spawn(async move { iam.follow_changes().await });
    let path = format!("/users/{}", ada.user);
    let until_cached = async {
        loop {
            recorded.0.lock().unwrap().clear();
            app.get(&path).by(&ada).send().await.ok();
            // Until the change feed is received, and while it is late, the service reads the session, too.
            let mut operations = std::mem::take(&mut *recorded.0.lock().unwrap());
            operations.retain(|operation| *operation != "change_feed");
            match operations[..] {
                ["user_with_attributes"] => break,
                ["session_snapshot", "user_with_attributes"] => {}
                ref other => panic!("unexpected store operations: {other:?}"),
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(30), until_cached).await.unwrap();
    following.abort();
}
