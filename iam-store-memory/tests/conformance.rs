//! The memory store passes the suite that every store must pass.

use std::sync::Arc;

use iam_core::Store;
use iam_store_memory::MemoryStore;

async fn fixture() -> (Arc<dyn Store>, ()) {
    (Arc::new(MemoryStore::new()), ())
}

iam_conformance::conformance_suite!(fixture);
