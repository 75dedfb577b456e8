//! Long texts, which are read and written beside the async threads
//! (`docs/security.md#work-is-bounded-by-its-tenant`).

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use iam_core::{Caller, Error, Iam};
use serde::Serialize;

use crate::problem::Problem;

/// About how many bytes are read or written on an async thread. It takes a millisecond.
const SHORT: usize = 256 * 1024;

/// About how many bytes an item of a list has that is about a user, a role and an organization.
pub(crate) const ITEM: usize = 400;

/// Returns the response with a value, which has about this many bytes as JSON.
pub(crate) async fn json<T: Serialize>(
    iam: &Iam,
    caller: &Caller,
    size: usize,
    value: impl FnOnce() -> T + Send + 'static,
) -> Result<Response, Problem> {
    Ok(processed(iam, caller, size, move || Json(value()).into_response()).await?)
}

/// Reads or writes a text of about this many bytes: a long one beside the async threads.
pub(crate) async fn processed<T: Send + 'static>(
    iam: &Iam,
    caller: &Caller,
    size: usize,
    process: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    if size <= SHORT { Ok(process()) } else { iam.compute(caller, process).await }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use axum::body::to_bytes;
    use iam_core::TenantId;
    use iam_store_memory::MemoryStore;

    use super::*;

    #[tokio::test]
    async fn a_long_answer_is_written_beside_the_threads_that_answer_requests() {
        let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await.unwrap();
        let caller = Caller::system(TenantId::NONE, "test");
        let here = thread::current().id();
        for (size, expected) in [(0, "true"), (SHORT, "true"), (SHORT + 1, "false")] {
            let is_here = move || thread::current().id() == here;
            let response = json(&iam, &caller, size, is_here).await.unwrap();
            assert_eq!(response.headers()["content-type"], "application/json");
            assert_eq!(to_bytes(response.into_body(), 10).await.unwrap(), expected, "{size}");
        }
    }
}
