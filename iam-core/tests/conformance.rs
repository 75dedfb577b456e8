//! The memory store passes the suite that every store must pass.

use std::sync::Arc;

use iam_core::Store;
use iam_core::memory::MemoryStore;

async fn fixture() -> (Arc<dyn Store>, ()) {
    (Arc::new(MemoryStore::new()), ())
}

iam_core::conformance_suite!(fixture);
