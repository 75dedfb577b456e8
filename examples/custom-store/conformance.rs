//! Every case of the conformance suite, as a separate test. The author of a store writes only the fixture.

use std::sync::Arc;

use iam_model::store::Store;
use tempfile::TempDir;

use crate::store::RedbStore;

async fn fixture() -> (Arc<dyn Store>, TempDir) {
    let directory = tempfile::tempdir().expect("a temporary directory can be created");
    let store = RedbStore::open(&directory.path().join("iam.redb")).await.expect("the new file opens");
    (Arc::new(store), directory)
}

iam_conformance::conformance_suite!(fixture);
