//! The counts that triggers update, when rows are changed without the triggers.

use std::sync::Arc;

use iam_conformance::World;
use iam_core::access::VisibleScope;
use iam_core::page::PageRequest;
use iam_core::user::{UserFilter, UserSort, UserStore as _};
use iam_store_sqlite::SqliteStore;
use sqlx::Executor as _;
use sqlx::sqlite::SqlitePool;
use test_support::sqlite::TestFile;

#[tokio::test]
async fn a_wrong_total_hides_no_user() {
    let file = TestFile::create();
    let store = SqliteStore::open(file.url()).await.unwrap();
    store.migrate().await.unwrap();
    let world = World::new(Arc::new(store.clone()));
    let tenant = world.tenant("acme").await;
    world.user(&tenant, "ada@example.com").await;
    let other = SqlitePool::connect(file.url()).await.unwrap();
    other.execute("UPDATE tenant_counts SET active_users = -7").await.unwrap();
    let (filter, sort, page) = (UserFilter::default(), UserSort::default(), PageRequest::default());
    let users = store.users(tenant.id, &filter, &VisibleScope::Tenant, sort, page, world.now()).await.unwrap();
    assert_eq!((users.items.len(), users.total), (1, 0));
}
