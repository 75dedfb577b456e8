//! What a request asks of a store that tells what changes, when its caller is known.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use iam_core::StoreError;
use iam_core::credential::LoginFailure;
use iam_core::observe::Observer;
use tokio::time::{sleep, timeout};

use crate::app::TestApp;

on_stores!(sqlite: a_read_asks_the_store_once);
on_stores!(postgres: a_read_asks_the_store_once);

#[derive(Default)]
struct Asked(Mutex<Vec<&'static str>>);

impl Observer for Asked {
    fn store_answered(&self, operation: &'static str, _: Duration, _: Option<&StoreError>) {
        self.0.lock().unwrap().push(operation);
    }

    fn login_failed(&self, _: LoginFailure) {}

    fn password_hashed(&self, _: Duration, _: Duration) {}

    fn password_refused(&self) {}
}

async fn a_read_asks_the_store_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let asked = Arc::new(Asked::default());
    let app = app.observed(Arc::clone(&asked) as Arc<dyn Observer>, |_| {}).await;
    let iam = app.iam.clone();
    let following = tokio::spawn(async move { iam.follow_changes().await });
    let path = format!("/users/{}", ada.user);
    let becomes_known = async {
        loop {
            asked.0.lock().unwrap().clear();
            app.get(&path).by(&ada).send().await.ok();
            // Until the feed is heard, and whenever it is late, the session is asked about too.
            let mut operations = std::mem::take(&mut *asked.0.lock().unwrap());
            operations.retain(|operation| *operation != "change_feed");
            match operations[..] {
                ["user"] => break,
                ["session_snapshot", "user"] => {}
                ref other => panic!("the store was asked for {other:?}"),
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(30), becomes_known).await.unwrap();
    following.abort();
}
