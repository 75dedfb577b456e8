//! What an observer of the store receives.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use iam_core::credential::LoginFailure;
use iam_core::observe::Observer;
use iam_core::store::{AssignmentStore as _, Observed, Store as _};
use iam_core::{StoreError, TenantId};
use iam_store_memory::MemoryStore;

#[derive(Default)]
struct Operations(Mutex<Vec<&'static str>>);

impl Observer for Operations {
    fn store_answered(&self, operation: &'static str, _: Duration, error: Option<&StoreError>) {
        assert!(error.is_none());
        self.0.lock().unwrap().push(operation);
    }

    fn login_failed(&self, _: LoginFailure) {}

    fn password_hashed(&self, _: Duration, _: Duration) {}

    fn password_refused(&self) {}
    fn webhook_attempted(&self, _: iam_core::webhook::DeliveryStatus) {}
}

#[tokio::test]
async fn operations_have_the_names_of_the_methods() {
    let operations = Arc::new(Operations::default());
    let store = Observed::new(Arc::new(MemoryStore::new()), Arc::clone(&operations) as Arc<dyn Observer>);
    store.ping().await.unwrap();
    store.grants_of(TenantId::NONE, &[]).await.unwrap();
    let mut transaction = store.begin(TenantId::NONE).await.unwrap();
    transaction.lock_tenant().await.unwrap();
    transaction.users_by_id(&[]).await.unwrap();
    transaction.commit().await.unwrap();
    let expected = ["ping", "grants_of", "begin", "lock_tenant", "users_by_id", "commit"];
    assert_eq!(*operations.0.lock().unwrap(), expected);
}
