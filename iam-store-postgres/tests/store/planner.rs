//! What the store does must not depend on the plans that PostgreSQL chooses.

use std::sync::Arc;

use iam_store_postgres::PostgresStore;
use test_support::postgres::TestDatabase;

/// Without these, PostgreSQL joins by nested loops, which it also chooses when it believes that a table is empty.
const OTHER_PLANS: [&str; 5] =
    ["enable_hashagg", "enable_hashjoin", "enable_material", "enable_mergejoin", "enable_sort"];

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_claimed_messages_holds_in_a_nested_loop() {
    let database = TestDatabase::create().await;
    let options = OTHER_PLANS.map(|name| format!("options[{name}]=off")).join("&");
    let separator = if database.url().contains('?') { '&' } else { '?' };
    let store = PostgresStore::connect(&format!("{}{separator}{options}", database.url())).await.unwrap();
    store.migrate().await.unwrap();
    iam_conformance::mail::due_messages_are_claimed_in_order(Arc::new(store)).await;
}
