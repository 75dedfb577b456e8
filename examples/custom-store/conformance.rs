//! Every case of the suite, as a test of its own. All that a store's author writes is the fixture.

use std::sync::Arc;

use iam_core::Store;
use tempfile::TempDir;

use crate::store::RedbStore;

async fn fixture() -> (Arc<dyn Store>, TempDir) {
    let directory = tempfile::tempdir().expect("there is a place for files");
    let store = RedbStore::open(&directory.path().join("iam.redb")).await.expect("the file is new");
    (Arc::new(store), directory)
}

iam_core::conformance_suite!(fixture);
